"""The fit of the judge, on evidence as `scenedelta evaluate --evidence` writes it."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the fit needs scikit-learn")
from training.fits import colours, judge  # noqa: E402
from training.fits.labelled import Change, LabelledPair, labelled_pairs, matches  # noqa: E402


def box(x: float, width: float = 0.2) -> dict:
    return {"x": x, "y": 0.2, "width": width, "height": 0.2}


def corners(x: float, width: float = 0.2) -> tuple:
    return x, 0.2, x + width, 0.4


MOVED = Change("move", "man", 1, {"before": [corners(0.1)], "after": [corners(0.6)]})
CAME = Change("appear", "car", 1, {"before": [], "after": [corners(0.3)]})
PAIR = LabelledPair("a", "camera", [MOVED, CAME], complete=True, tiny_extra=False)


def event(kind: str, **at: float) -> dict:
    return {"kind": kind, "things": [{"side": side, "box": box(x)} for side, x in at.items()]}


def test_a_box_matches_a_thing_that_it_shows_but_not_by_a_small_part():
    assert matches(corners(0.1), corners(0.12))
    assert matches(corners(0.1, 0.3), corners(0.1))
    assert not matches(corners(0.1, 0.02), corners(0.1))
    assert not matches(corners(0.1), corners(0.4))


def test_a_link_is_true_between_both_ends_of_a_move():
    link = lambda before, after: judge.link_label({"before": box(before), "after": box(after)}, PAIR)
    assert link(0.1, 0.6) is True
    assert link(0.1, 0.3) is False
    assert link(0.8, 0.9) is None


def test_a_label_makes_one_event_true():
    events = [event("move", before=0.1, after=0.6), event("appear", after=0.3), event("appear", after=0.31)]
    assert judge.event_labels(events, PAIR) == [True, True, False]
    assert judge.event_labels([event("disappear", before=0.1)], PAIR) == [False]


def test_events_elsewhere_are_unlabelled_where_labels_are_incomplete():
    partly = LabelledPair("a", "camera", [CAME], complete=False, tiny_extra=False)
    assert judge.event_labels([event("appear", after=0.3), event("appear", after=0.8)], partly) == [True, None]
    tiny = LabelledPair("a", "camera", [CAME], complete=True, tiny_extra=True)
    assert judge.event_labels([event("appear", after=0.8), event("disappear", before=0.3)], tiny) == [None, None]


def drawn(count: int) -> judge.Rows:
    rows, rng = judge.Rows(), np.random.default_rng(0)
    for i in range(count):
        pair = LabelledPair(str(i), f"camera {i % 7}", [], complete=True, tiny_extra=False)
        row = {"score": float(rng.normal()), "part": float(rng.normal()), "near": float(rng.normal())}
        rows.add(row, bool(rng.uniform() < judge.sigmoid(2 * row["score"] + row["part"] - 1)), pair)
    return rows


def test_the_fit_finds_the_weights_but_none_against_sense():
    fitted = judge.linear(drawn(5000), ["score", "part", "near"], ridge=0.1, signs={"part": -1})
    assert fitted["weights"]["score"] == pytest.approx(1.9, abs=0.2)
    assert fitted["weights"]["part"] == 0
    assert fitted["weights"]["near"] == pytest.approx(0, abs=0.1)


def test_made_pairs_count_less_than_real_ones():
    rows = drawn(70)
    rows.made = [i % 2 == 1 for i in range(70)]
    _, _, weights = rows.arrays()
    assert weights[1] == pytest.approx(judge.MADE_WEIGHT * weights[0])


def test_a_camera_that_is_held_out_teaches_nothing_about_itself():
    rows = drawn(70)
    other = [group != "camera 3" for group in rows.groups]
    rows.truths = [truth if is_other else False for truth, is_other in zip(rows.truths, other)]
    scores = judge.held_out("single", rows, ["score", "near"])
    rows.truths = [truth if is_other else True for truth, is_other in zip(rows.truths, other)]
    again = judge.held_out("single", rows, ["score", "near"])
    mask = np.array([judge.fold_of(group) == judge.fold_of("camera 3") for group in rows.groups])
    assert mask.any() and scores[mask] == pytest.approx(again[mask])


def test_pairs_of_both_formats_are_read(tmp_path):
    from PIL import Image

    Image.new("RGB", (100, 50)).save(tmp_path / "a.png")
    frames = '"id": "%s", "before": "a.png", "after": "a.png", "verdict": "%s"'
    thing = '{"noun": "man", "%s": "%s", "boxes_before": [[10, 10, 20, 20]], "boxes_after": []}'
    lines = [
        "{" + frames % ("a", "change") + ', "camera": "x", "objects": [' + thing % ("change", "disappear") + "]}",
        "{" + frames % ("b", "change") + ', "scene": "y", "objects": [' + thing % ("action", "replaced") + "]}",
        "{" + frames % ("c", "none") + ', "scene": "y", "objects": []}',
    ]
    (tmp_path / "pairs.ndjson").write_text("\n".join(lines))
    one, other = labelled_pairs(tmp_path / "pairs.ndjson")
    assert (one.group, one.changes[0].action) == ("x", "disappear")
    assert (other.group, other.changes[0].action) == ("y", "disappear")
    assert one.changes[0].boxes["before"] == [(0.1, 0.2, 0.3, 0.6)]
    assert one.changes[0].is_person


def test_a_colour_is_right_if_the_thing_of_a_true_event_has_it_or_another_name_of_it():
    silver = Change("appear", "car", 1, CAME.boxes, ("silver",))
    pair = LabelledPair("a", "camera", [silver], complete=True, tiny_extra=False)
    said = lambda value, **at: colours.colours_of([event("appear", **at) | {"colour": value}], pair)
    assert said({"value": "grey", "probability": 0.8}, after=0.3) == [(0.8, True)]
    assert said({"value": "black", "probability": 0.7}, after=0.3) == [(0.7, False)]
    assert said({"value": "grey", "probability": 0.8}, after=0.7) == []
    assert said(None, after=0.3) == []


def test_the_share_of_right_colours_is_known_from_levels_with_enough_of_them():
    said = [(0.45, False)] * 10 + [(0.62, True)] * 30
    low, high = [(level, 0.75, 40) for level in (0.4, 0.45)], [(level, 1.0, 30) for level in (0.5, 0.55, 0.6)]
    assert colours.shares(said) == low + high
