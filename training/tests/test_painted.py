"""Pairs of real frames with painted things: what they show, what their labels state, and who is held out."""

import json

import numpy as np
import pytest
from PIL import Image

from training.contract import MASK_STRIDE
from training.worlds.surveillance.painted import (
    ONE_PERSON,
    PAINTED,
    TWO_FRAMES,
    TWO_PEOPLE,
    PaintedSource,
    grouped,
)
from training.worlds.surveillance.plugin import open_source
from training.worlds.surveillance.real_variations import reversed_in_time

SIZE = (144, 192)  # height and width
PLACES = [(20, 40), (56, 44), (120, 40), (150, 30)]  # left and top of the only thing of a frame


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two cameras of tier A and one of tier B; each has four frames with a man and one without a thing."""
    folder = tmp_path_factory.mktemp("painted")
    (folder / "images").mkdir()
    boxes, pairs = [], []
    for camera in ("gate", "yard", "hidden"):
        texture = np.random.default_rng(len(camera)).integers(80, 110, (*SIZE, 3)).astype(np.uint8)
        for number in range(5):
            frame, name = texture.copy(), f"images/{camera}_{number}.png"
            label = {"id": f"b{len(boxes)}", "file": name, "camera": camera}
            if number < len(PLACES):
                left, top = PLACES[number]
                frame[top : top + 60, left : left + 30] = 230 - 20 * number
                label |= {"box": [left, top, 30, 60], "noun": "man", "colours": ["white"], "top": ["white"], "count": 1}
            else:
                label |= {"box": [80, 60, 30, 30], "noun": "nothing", "colours": [], "count": 0}
            boxes.append(label)
            Image.fromarray(frame).save(folder / name)
        moved = {"noun": "man", "colours": ["white"], "count": 1, "change": "move"}
        ends = {"boxes_before": [[*PLACES[0], 30, 60]], "boxes_after": [[*PLACES[2], 30, 60]]}
        files = {"before": f"images/{camera}_0.png", "after": f"images/{camera}_2.png"}
        pairs.append({"camera": camera, **files, "kind": "move", "complete": True, "objects": [moved | ends]})
    (folder / "boxes.ndjson").write_text("".join(json.dumps(box) + "\n" for box in boxes))
    (folder / "pairs.ndjson").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    tiers = {"gate": "A", "yard": "A", "hidden": "B"}
    (folder / "cameras.json").write_text(json.dumps({name: {"tier": tier} for name, tier in tiers.items()}))
    return folder


def test_any_two_frames_of_a_camera_show_what_is_labelled_in_each_of_them(root):
    source = PaintedSource(root, "train", TWO_FRAMES)
    pairs = [source.sample(seed) for seed in range(12)]
    assert {len(pair.objects) for pair in pairs} == {1, 2}, "one frame of five has no thing"
    for pair in pairs:
        for thing in pair.objects:
            side = "before" if thing["action"] == "disappeared" else "after"
            [(x, y, width, height)] = thing[f"boxes_{side}"]
            part = (slice(round(y), round(y + height)), slice(round(x), round(x + width)))
            assert getattr(pair, side)[part].mean() > 130, "a man is lighter than the ground"


def test_frames_differ_where_the_labels_say_and_nowhere_else(root):
    source = PaintedSource(root, "train")
    kinds = set()
    for seed in range(30):
        pair = source.sample(seed)
        kinds.add(pair.kind)
        difference = np.abs(pair.before.astype(float) - pair.after).mean(2)
        inside = np.zeros(difference.shape, bool)
        for x, y, width, height in (*pair.boxes_before, *pair.boxes_after):
            inside[max(round(y) - 5, 0) : round(y + height) + 5, max(round(x) - 5, 0) : round(x + width) + 5] = True
        assert difference[~inside].mean() < 16, f"seed {seed}: noise, compression and light alone"
        for side, boxes in (("before", pair.boxes_before), ("after", pair.boxes_after)):
            mask = getattr(pair, f"mask_{side}")
            assert mask.shape == tuple(length // MASK_STRIDE for length in difference.shape)
            assert (mask.max() > 0.5) == bool(boxes), f"seed {seed}: the mask of {side}"
        assert bool(pair.objects) == (pair.kind != "none") and pair.captions
    assert {"none", "appear", "disappear", "move"} <= kinds


def test_a_seed_gives_the_same_pair(root):
    one, other = (open_source(root, "train", PAINTED).sample(7) for _ in range(2))
    assert np.array_equal(one.after, other.after) and one.captions == other.captions


def test_cameras_of_tier_b_are_held_out(root):
    train, heldout = PaintedSource(root, "train"), PaintedSource(root, "heldout")
    assert {train.sample(seed).plate_id for seed in range(12)} == {"gate", "yard"}
    assert {heldout.sample(seed).plate_id for seed in range(4)} == {"hidden"}


def test_people_are_counted(root):
    for scenario, number in ((ONE_PERSON, 1), (TWO_PEOPLE, 2)):
        [thing] = PaintedSource(root, "train", scenario).sample(3).objects
        assert thing["count"] == number == len(thing["boxes_before"] or thing["boxes_after"])


def test_only_things_of_one_class_and_action_side_by_side_are_a_group():
    def thing(noun, hypernym, action, x):
        box = [x, 10.0, 20.0, 50.0]
        sides = {"boxes_before": [], "boxes_after": [box], "box_before": None, "box_after": box}
        return {"noun": noun, "hypernym": hypernym, "action": action, "colour": "red", "count": 1, **sides}

    man, woman = thing("man", "person", "appeared", 0), thing("woman", "person", "appeared", 25)
    far, car = thing("man", "person", "appeared", 200), thing("car", "vehicle", "appeared", 50)
    found = grouped([man, woman, far, car])
    assert [(one["noun"], one["count"]) for one in found] == [("person", 2), ("man", 1), ("car", 1)]
    assert found[0]["box_after"] == [0, 10, 45, 50]


def test_time_reversed_exchanges_frames_and_actions(root):
    source = PaintedSource(root, "train")
    pair = next(one for one in map(source.sample, range(40)) if one.kind == "appear")
    back = reversed_in_time(pair)
    assert back.kind == "disappear" and back.boxes_before == pair.boxes_after
    assert np.array_equal(back.before, pair.after)


def test_frames_are_read_when_they_are_drawn(root, monkeypatch):
    monkeypatch.setattr(Image, "open", None)
    assert PaintedSource(root, "train").real
