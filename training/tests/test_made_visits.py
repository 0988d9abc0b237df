"""Frames of made busy places, with the way of each thing."""

import json
import sys
from types import SimpleNamespace

import cv2
import numpy as np

from training.worlds.surveillance import made_visits


def written(root, out, monkeypatch) -> dict:
    monkeypatch.setattr(made_visits, "SECONDS", 30)
    arguments = ["--data", str(root), "--split", "train", "--streams", "1", "--seed", "3", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["made_visits", *arguments])
    made_visits.main()
    return json.loads((out / "stream-000" / "truth.json").read_text())


def test_things_have_ways_within_the_frame_and_objects_have_owners(surveillance_root, tmp_path, monkeypatch):
    truth = written(surveillance_root, tmp_path, monkeypatch)
    frames = sorted((tmp_path / "stream-000" / "frames").iterdir())
    assert len(frames) == 30 and truth["things"]
    for thing in truth["things"]:
        seconds = [second for second, _, _ in thing["path"]]
        assert len(seconds) >= made_visits.LEAST_FRAMES and seconds == sorted(set(seconds))
        assert all(0 <= x <= 1 and 0 <= y <= 1 for _, x, y in thing["path"])
    assert {one["by"] for one in truth["objects"]} <= {thing["id"] for thing in truth["things"]}
    assert len({cv2.imread(str(frame)).shape for frame in frames}) == 1


def test_nobody_slides_along_who_lies_sits_or_falls(surveillance_root):
    source = made_visits.open_source(surveillance_root, "train")
    place = made_visits.BusyPlace(source, np.random.default_rng(3))
    poses = iter(["lying", "sitting on a chair", "falling", "walking"])
    drawn = []

    def drawing(_nouns):
        drawn.append(SimpleNamespace(sprites=(SimpleNamespace(pose=next(poses)),)))
        return drawn[-1]

    place._figure = drawing
    assert place._walker() is drawn[3]


def test_one_seed_gives_the_same_stream(surveillance_root, tmp_path, monkeypatch):
    one, two = (written(surveillance_root, tmp_path / name, monkeypatch) for name in ("one", "two"))
    assert one == two


def test_a_place_with_too_little_ground_is_drawn_again(surveillance_root, tmp_path, monkeypatch):
    walk, calls = made_visits.BusyPlace._walk, []

    def refusing(place):
        calls.append(place)
        if len(calls) == 1:
            raise made_visits.RejectedSample
        walk(place)

    monkeypatch.setattr(made_visits.BusyPlace, "_walk", refusing)
    assert written(surveillance_root, tmp_path, monkeypatch)["things"]
