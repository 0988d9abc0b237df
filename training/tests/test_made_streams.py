"""Frames of made cameras, which look at one place for long."""

import json
import sys

import cv2
import numpy as np

from training.worlds.surveillance import made_streams


def written(root, out, monkeypatch, *arguments: str) -> list[dict]:
    monkeypatch.setattr(
        sys, "argv", ["made_streams", "--data", str(root), "--split", "train", *arguments, "--out", str(out)]
    )
    made_streams.main()
    return [json.loads(line) for line in (out / "pairs.ndjson").read_text().splitlines()]


def test_frames_of_a_camera_have_one_before_and_its_size(surveillance_root, tmp_path, monkeypatch):
    labels = written(surveillance_root, tmp_path, monkeypatch, "--cameras", "2", "--frames", "3", "--changed", "2")
    assert {label["scene"] for label in labels} == {"camera-0", "camera-1"}
    for scene in ("camera-0", "camera-1"):
        of_camera = [label for label in labels if label["scene"] == scene]
        assert len({label["before"] for label in of_camera}) == 1
        assert [label["verdict"] for label in of_camera][:3] == ["none"] * 3
        assert {label["verdict"] for label in of_camera[3:]} <= {"change"}
        sizes = {cv2.imread(str(tmp_path / label[side])).shape for label in of_camera for side in ("before", "after")}
        assert len(sizes) == 1


def test_changed_frames_differ_by_more_than_the_noise(surveillance_root, tmp_path, monkeypatch):
    labels = written(surveillance_root, tmp_path, monkeypatch, "--cameras", "3", "--frames", "2", "--changed", "3")
    differences = {"none": [], "change": []}
    for label in labels:
        before, after = (cv2.imread(str(tmp_path / label[side])).astype(np.int16) for side in ("before", "after"))
        differences[label["verdict"]].append(np.percentile(np.abs(after - before), 99))
    assert differences["change"] and np.median(differences["change"]) > np.median(differences["none"])


def test_one_seed_gives_the_same_frames(surveillance_root, tmp_path, monkeypatch):
    pictures = []
    for name in ("one", "two"):
        labels = written(
            surveillance_root, tmp_path / name, monkeypatch, "--cameras", "1", "--frames", "2", "--changed", "1"
        )
        pictures.append([(tmp_path / name / label["after"]).read_bytes() for label in labels])
    assert pictures[0] == pictures[1]
