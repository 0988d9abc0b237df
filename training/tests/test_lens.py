"""Things on the lens: their painters, and the fit that separates them from the scene."""

import json

import numpy as np
import pytest

from training.contract import Pair
from training.worlds.surveillance.carried import CarriedThings, put_down
from training.worlds.surveillance.lens import PAINTERS, with_lens
from training.worlds.surveillance.pieces import with_pieces
from training.worlds.surveillance.real_variations import reduced

pytest.importorskip("sklearn", reason="the fit needs scikit-learn")
from training.fits import lens  # noqa: E402


def frame(level: int = 120) -> np.ndarray:
    texture = np.random.default_rng(1).integers(-40, 40, (90, 120, 1))
    return np.clip(level + np.repeat(np.repeat(texture, 1, 2), 3, 2), 0, 255).astype(np.float32)


@pytest.mark.parametrize("name", PAINTERS)
@pytest.mark.parametrize("level", [50, 150])
def test_a_painter_changes_some_pixels_and_stays_in_range(name, level):
    before, changed = frame(level), []
    for seed in range(6):
        after = PAINTERS[name](before.copy(), np.random.default_rng(seed))
        assert after.shape == before.shape
        assert np.isfinite(after).all() and after.min() >= -1 and after.max() < 400
        changed.append(np.abs(np.clip(after, 0, 255) - before).max() > 4)
    assert sum(changed) >= 3


def pair() -> Pair:
    boxes = {"boxes_before": [], "boxes_after": [[30.0, 30.0, 20.0, 40.0]]}
    thing = {"noun": "man", "action": "appeared", **boxes}
    none = np.zeros((1, 1), np.float32)
    shown = frame().astype(np.uint8)
    return Pair(shown, shown.copy(), "appear", [thing], none, none, [], ["a man has appeared"], "yard")


def test_pairs_name_what_is_on_the_lens_and_keep_their_changes():
    drawn = [with_lens(pair(), np.random.default_rng(seed)) for seed in range(60)]
    assert {len(one.nuisances) for one in drawn} == {0, 2}
    assert all(one.nuisances[1] in PAINTERS for one in drawn if one.nuisances)
    assert all(one.objects and one.kind == "appear" for one in drawn)
    assert {one.before.shape[1] for one in drawn} == {120}  # narrower than a camera of few pixels


def test_a_reduced_pair_has_reduced_boxes():
    small = reduced(pair(), 60)
    assert small.after.shape == (45, 60, 3)
    assert small.objects[0]["boxes_after"] == [[15.0, 15.0, 10.0, 20.0]]
    assert reduced(small, 600) is small


PAIR = lens.LensPair("1", "yard", False, None, {})


def region(x: float, steep: float) -> dict:
    row = dict.fromkeys(lens.COLUMNS.split(), 0.0) | {"ownSteep": steep}
    return {"side": "after", "box": {"x": x, "y": 0.1, "width": 0.2, "height": 0.2}, "row": row, "probability": 0.5}


def test_the_fit_learns_from_labelled_regions_alone(tmp_path):
    rng, lines, evidence = np.random.default_rng(0), [], []
    from PIL import Image

    for side in ("before", "after"):
        Image.new("RGB", (100, 100)).save(tmp_path / f"{side}.png")
    thing = {"noun": "man", "action": "appeared", "count": 1, "boxes_after": [[10, 10, 20, 20]]}
    files = {"before": "before.png", "after": "after.png", "made": True}
    for i in range(120):
        on_lens = i % 3 == 0
        kind = {"verdict": "none", "objects": []} if on_lens else {"verdict": "change", "objects": [thing]}
        nuisance = ["lens", "drops"] if on_lens else ["noise"]
        lines.append({"id": str(i), "scene": f"camera {i % 7}", "nuisance": nuisance, **kind, **files})
        regions = [region(0.1, float(rng.normal(-1 if on_lens else 1, 0.4))), *([] if on_lens else [region(0.6, -5.0)])]
        evidence.append({"id": str(i), "swapped": False, "evidence": {"regions": regions}})
    for name, rows in (("pairs", lines), ("evidence", evidence)):
        (tmp_path / f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows, of = lens.collect([tmp_path / "pairs.ndjson"], [tmp_path / "evidence.ndjson"])
    assert len(rows.truths) == len(of) == 120  # a region beside the change, without anything on the lens, is unknown
    assert sum(rows.truths) == 80
    scores, truths = lens.held_out(rows, lens.fit, lens.apply), np.array(rows.truths)
    assert (scores[truths] >= 0.5).mean() >= 0.97
    assert (scores[~truths] < 0.5).mean() > 0.8
    assert "unchanged, drops: called a change" in "\n".join(lens.figures(scores, of, truths))


def test_written_trees_answer_as_those_that_were_fitted():
    from sklearn.ensemble import GradientBoostingClassifier

    rng, rows = np.random.default_rng(0), lens.Rows(["a", "b"])
    for _ in range(300):
        a, b = rng.normal(size=2)
        rows.add({"a": a, "b": b}, bool(a * b + rng.normal(0, 0.3) > 0), PAIR)
    table, truths = np.array(rows.rows, np.float32), np.array(rows.truths)
    weights = np.where(truths, 1.0, truths.sum() / (~truths).sum())
    rule = {"n_estimators": lens.TREES, "max_depth": lens.DEPTH, "learning_rate": lens.RATE}
    rule |= {"min_samples_leaf": lens.LEAF, "subsample": lens.SHARE, "random_state": 0}
    model = GradientBoostingClassifier(**rule).fit(table, truths, weights)
    expected = model.predict_proba(table)[:, 1]
    differs = np.abs(lens.apply(lens.fit(rows), rows) - expected) > 0.001  # levels are rounded
    assert differs.mean() < 0.05


def test_two_models_are_averaged_in_log_odds():
    one = {"trees": [[["a", 0.5, 1, 2], -1.0, 2.0]], "offset": 0.4, "beside": "its own"}
    other = {"trees": [[["a", 1.5, 1, 2], 3.0, -2.0]], "offset": -0.2, "beside": "another"}
    both, rows = lens.averaged(one, other), lens.Rows(["a"])
    for value in (0.0, 1.0, 2.0):
        rows.add({"a": value}, True, PAIR)
    expected = (lens.log_odds(lens.apply(one, rows)) + lens.log_odds(lens.apply(other, rows))) / 2
    np.testing.assert_allclose(lens.log_odds(lens.apply(both, rows)), expected, atol=1e-3)
    assert both["beside"] == "its own"


def test_a_piece_of_a_frame_lies_at_another_place():
    frame = np.full((120, 160, 3), 120, np.uint8)
    frame[20:40, 30:55] = (200, 40, 40)
    none = np.zeros((1, 1), np.float32)
    still = Pair(frame, frame.copy(), "none", [], none, none, [], [], "yard", ["yard"])
    pairs = [with_pieces(still, np.random.default_rng(seed)) for seed in range(12)]
    made = [pair for pair in pairs if pair is not None]
    assert len(made) >= 6 and {pair.kind for pair in made} == {"appear", "disappear"}
    for pair in made:
        for thing in pair.objects:
            (x, y, w, h), *_ = [*thing["boxes_before"], *thing["boxes_after"]]
            part = (slice(int(y), int(y + h)), slice(int(x), int(x + w)))
            changed = np.abs(pair.before[part].astype(int) - pair.after[part]).max(2)
            assert (changed > 10).mean() > 0.4


def test_a_carried_thing_is_put_down_in_a_frame_and_its_box_is_around_it():
    sprite = np.zeros((40, 60, 4), np.uint8)
    sprite[8:32, 10:50] = (200, 30, 30, 255)
    street = np.full((240, 320, 3), 120, np.float32)
    done = [put_down(street, sprite, np.random.default_rng(seed)) for seed in range(12)]
    made = [one for one in done if one is not None]
    assert len(made) >= 10
    for after, (x, y, w, h) in made:
        assert 0.015 * 320 < max(w, h) < 0.15 * 320
        inside = np.abs(after - street)[int(y) : int(y + h), int(x) : int(x + w)].max(2)
        assert (inside > 12).mean() > 0.6
    grey = np.abs(made[0][0] - made[0][0].mean(2, keepdims=True)).max()
    assert grey < 1, "a frame of an infrared camera has no colours"


def test_a_pack_without_carried_things_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no sprites of bag"):
        CarriedThings(tmp_path, "train")
