"""Labelled things of fixed cameras: what becomes of boxes and pairs, how cameras are drawn and held out."""

import json

import numpy as np
import pytest
from PIL import Image

from training.data.real import box_pairs, colour_of, noun_of, real_pairs
from training.data.regions import UNKNOWN
from training.text.noun_tree import NOTHING

BOX = [20, 20, 30, 30]


def label(number, noun, file, box=BOX, **more):
    return {
        **{"id": f"b{number}", "file": file, "camera": file.split("/")[1].split("_")[0], "box": box, "noun": noun},
        **{"colours": ["red"], "count": 1},
        **more,
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two cameras; their second frame differs from the first and the third inside BOX alone."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "images").mkdir()
    for camera in ("gate", "yard"):
        for number in range(3):
            frame = np.full((100, 120, 3), 90, np.uint8)
            if number == 1:
                frame[20:50, 20:50] = 200
            Image.fromarray(frame).save(folder / f"images/{camera}_{number}.png")
    boxes = [
        label(1, "van", "images/gate_1.png"),
        label(2, "nothing", "images/gate_0.png", colours=[], count=0),
        label(3, "van", "images/gate_1.png", box=[80, 60, 20, 20]),  # no frame differs here
        label(4, "something else", "images/gate_1.png"),
        label(6, "something else", "images/gate_2.png"),
        label(7, "something else", "images/yard_2.png"),
        label(5, "man", "images/yard_1.png", top=["navy"]),
    ]
    (folder / "boxes.ndjson").write_text("".join(json.dumps(box) + "\n" for box in boxes))
    moved = {"noun": "lorry", "colours": ["white"], "count": 1, "change": "appear", "boxes_before": []}
    pair = {"camera": "gate", "before": "images/gate_0.png", "after": "images/gate_1.png", "kind": "appear"}
    pairs = [
        pair | {"complete": True, "objects": [moved | {"boxes_after": [BOX]}]},
        pair | {"complete": False, "objects": []},
    ]
    (folder / "pairs.ndjson").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return folder


def test_a_box_is_shown_by_its_frame_and_unknown_in_the_other(root):
    found = list(box_pairs(root, {"gate"}, draws=4))
    vans = [(pair, regions[0]) for pair, regions in found if pair.objects]
    assert len(vans) == 2, "the third frame and the first lack it; each is taken once"
    for pair, region in vans:
        shown, other = ("after", "before") if pair.kind == "appear" else ("before", "after")
        assert getattr(region, shown)["noun"] == "van" and getattr(region, other) == UNKNOWN
        assert getattr(pair, shown)[30, 30, 0] == 200 and getattr(pair, other)[30, 30, 0] == 90
        assert pair.objects[0]["colour"] == "red" and pair.models == ["gate"]


def test_a_box_of_nothing_teaches_that_there_is_nothing(root):
    [(pair, [region])] = [one for one in box_pairs(root, {"gate"}, draws=4) if not one[0].objects]
    assert pair.kind == "none"
    assert sorted(map(str, (region.before, region.after))) == ["None", UNKNOWN]


def test_other_cameras_stay_out(root):
    assert {pair.models[0] for pair, _ in box_pairs(root, {"yard"}, draws=1)} == {"yard"}
    assert list(real_pairs(root, {"yard"})) == []


def test_a_complete_pair_keeps_its_boxes(root):
    [(pair, regions)] = real_pairs(root, {"gate"})
    assert regions is None, "its regions are where the maps respond"
    [thing] = pair.objects
    assert (thing["noun"], thing["action"], thing["box_before"], thing["box_after"]) == ("truck", "appeared", None, BOX)


def test_words_of_the_labels_are_those_of_the_lexicon():
    assert [noun_of(word) for word in ("lorry", "shadow", "other animal", "light or reflection", "something else")] == [
        "truck",
        NOTHING,
        "animal",
        NOTHING,
        None,
    ]
    assert (
        colour_of({"colours": ["gray"]}) == "grey" and colour_of({"colours": ["red"], "top": ["navy"]}) == "dark blue"
    )
    assert colour_of({"colours": []}) is None


def test_a_camera_with_many_boxes_is_drawn_less_than_its_share():
    pytest.importorskip("torch")
    from training.namer import ByCamera

    class Data:
        models = [["busy"]] * 90 + [["quiet"]] * 10

    drawn = ByCamera(Data())(np.random.default_rng(1), 4000)
    assert (drawn >= 90).mean() == pytest.approx(0.25, abs=0.03), "the square roots of 90 and 10 are as 3 to 1"


def test_cameras_of_one_place_are_held_out_at_once():
    pytest.importorskip("torch")
    from training.namer_cameras import folds_of

    fold = folds_of(["room_bed"] * 5 + ["room_bed_wide"] * 4 + ["den"] * 3 + ["door"] * 2, 2)
    assert fold["room_bed"] == fold["room_bed_wide"] != fold["den"] == fold["door"]


def test_answers_count_classes_and_the_mean_of_cameras():
    pytest.importorskip("torch")
    from training.namer_cameras import report, summary

    rows = [{"camera": "a", "shows": 1.0, "right noun": 1.0}] * 3 + [{"camera": "b", "shows": 1.0, "right noun": 0.0}]
    found = summary(rows)
    assert (found["count"], found["cameras"]) == (4, 2)
    assert (found["right noun"], found["right noun, by camera"]) == (0.75, 0.5)
    assert "right colour" not in found
    listed = {
        "a": {"view": "high", "setting": "outdoor", "time": "day"},
        "b": {"view": "side", "setting": "outdoor", "time": "IR"},
    }
    groups = report([row | {"noun": "car"} for row in rows], listed)
    assert {name: group["count"] for name, group in groups.items()} == {
        **{"all": 4, "noun: car": 4, "setting: outdoor": 4},
        **{"view: high": 3, "view: side": 1, "time: day": 3, "time: IR": 1},
    }
