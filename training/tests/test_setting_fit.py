"""The fit of the setting of a frame."""

import json

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the fit needs scikit-learn")
from training.fits import setting  # noqa: E402


def test_the_first_frames_of_each_camera_are_read_with_their_setting(tmp_path):
    line = lambda i, camera, where: {"camera": camera, "setting": where, "before": f"{i}.jpg", "after": f"{i + 1}.jpg"}
    lines = [line(i, "room_blue_wide", "indoor") for i in range(9)] + [line(20, "road", "outdoor")]
    (tmp_path / "pairs.ndjson").write_text("\n".join(map(json.dumps, lines)))
    frames = setting.frames_of_pairs(tmp_path / "pairs.ndjson")
    assert [file.name for file, _, _ in frames] == [f"{i}.jpg" for i in (0, 1, 2, 3, 4, 5, 20, 21)]
    assert {(group, indoor) for _, group, indoor in frames} == {("room_blue", True), ("road", False)}


def test_plates_that_may_not_ship_or_show_a_development_scene_teach_nothing(tmp_path):
    plate = {"file": "plates/a.jpg", "place": "a", "setting": "outdoor", "shippable": True, "dev_scene": False}
    plates = [plate, plate | {"shippable": False}, plate | {"dev_scene": True}]
    (tmp_path / "plates.json").write_text(json.dumps({"plates": plates}))
    assert len(setting.frames_of_plates(tmp_path / "plates.json")) == 1


def test_figures_are_of_cameras_that_were_held_out():
    rng = np.random.default_rng(0)
    groups = [f"camera {i % 30}" for i in range(180)]
    truths = np.array([i % 30 < 12 for i in range(180)])
    rows = rng.normal(size=(180, 4)) + np.outer(truths, [3, 0, 0, 0])
    first, second = setting.figures(rows, truths, groups)
    assert first.startswith("setting: 180 frames, 72 indoors, AUROC 0.9")
    offset, weights = setting.fit(rows, truths)
    assert weights[0] > 0.5 and abs(weights[1]) < weights[0] / 2
