"""Scenarios of the surveillance world, and made pairs as labelled pictures."""

import json
import sys

import cv2
import pytest

from training.worlds.surveillance import made_pairs
from training.worlds.surveillance.pair_source import SurveillancePairSource


def test_left_things_are_small_and_come_or_go(surveillance_root):
    source = SurveillancePairSource(surveillance_root, scenario="left")
    kinds = set()
    for seed in range(12):
        pair = source.sample(seed)
        things = [thing for thing in pair.objects if thing["noun"] == "suitcase"]
        boxes = [thing["box_before"] or thing["box_after"] for thing in things]
        assert any(12 <= max(box[2:]) <= 40 for box in boxes)
        assert {thing["action"] for thing in things} <= {"appeared", "disappeared"}
        kinds.add(any(thing["hypernym"] == "person" for thing in pair.objects))
    assert kinds == {True, False}


def test_a_low_sun_shines_outdoors_on_changed_and_unchanged_pairs(surveillance_root):
    source = SurveillancePairSource(surveillance_root, scenario="low-sun")
    indoor = {plate.id for plate in source.plates if plate.indoor}
    pairs = [source.sample(seed) for seed in range(8)]
    assert all("shadow" in pair.nuisances and pair.plate_id not in indoor for pair in pairs)
    assert {pair.kind == "none" for pair in pairs} == {True, False}


@pytest.mark.parametrize("scenario", ["left", "low-sun"])
def test_made_pairs_are_written_with_their_labels(surveillance_root, tmp_path, monkeypatch, scenario):
    arguments = ["made_pairs", "--data", str(surveillance_root), "--split", "train", "--count", "3"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--scenario", scenario, "--out", str(tmp_path)])
    made_pairs.main()
    labels = [json.loads(line) for line in (tmp_path / "pairs.ndjson").read_text().splitlines()]
    assert [label["id"] for label in labels] == [f"{scenario}-{seed}" for seed in range(3)]
    for label in labels:
        frame = cv2.imread(str(tmp_path / label["after"]))
        for x, y, width, height in label["boxes_after"]:
            assert x >= 0 and y >= 0 and x + width <= frame.shape[1] and y + height <= frame.shape[0]
        assert (label["verdict"] == "none") == (label["objects"] == [])
