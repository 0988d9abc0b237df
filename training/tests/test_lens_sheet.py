"""Gallery of things on the lens."""

import json
import sys

import cv2
import numpy as np

from training.inputs import read_ndjson
from training.worlds import lens_sheet
from training.worlds.surveillance.lens import PAINTERS


def test_each_painter_gives_two_pairs_that_are_drawn_with_their_answers(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    for side in ("before", "after"):
        cv2.imwrite(str(tmp_path / f"{side}.png"), rng.integers(60, 180, (120, 160, 3), np.uint8))
    frames = [str(tmp_path / "before.png"), str(tmp_path / "after.png")]
    out, sheet = tmp_path / "made", tmp_path / "sheet.webp"

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["lens", *frames, "--out", str(out), *options])
        lens_sheet.main()

    run()
    pairs = read_ndjson(out / "pairs.ndjson")
    assert {pair["id"] for pair in pairs} == {f"{name}-{what}" for name in PAINTERS for what in ("still", "changed")}
    assert all((out / pair["after"]).is_file() for pair in pairs)

    box = {"x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}
    answer = {"caption": "Nothing has changed.", "verdict": "none", "regions": [{"side": "after", "box": box}]}
    lines = [json.dumps({"id": pair["id"], **answer}) + "\n" for pair in pairs]
    (out / "predictions.ndjson").write_text("".join(lines))
    run("--sheet", str(sheet))
    height, width, _ = cv2.imread(str(sheet)).shape
    assert width == 4 * (lens_sheet.WIDTH + lens_sheet.GAP)
    assert height > len(pairs) / 4 * lens_sheet.WIDTH / 2
