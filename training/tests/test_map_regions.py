"""The same cases as test/model/regions.test.ts."""

import json
from pathlib import Path

import numpy as np
import pytest

from training.data.map_regions import crop_boxes, map_regions

CASES = json.loads((Path(__file__).parents[2] / "test/fixtures/glances.json").read_text())


def heat(rows: list[str]) -> np.ndarray:
    """Rows of digits, tenths of 1; '.' is 0."""
    return np.array([[0 if c == "." else int(c) / 10 for c in row] for row in rows], np.float32)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_crop_boxes_equal_those_of_the_service(case):
    regions = [r for side in ("before", "after") for r in map_regions(heat(case[side]), side)]
    assert crop_boxes(regions, 3) == [pytest.approx(box) for box in case["boxes"]]


def test_area_is_that_of_the_cells():
    (region,) = map_regions(heat(["99......", ".99.....", "..99...."]), "after")
    assert region.area == 6 / 24
    assert region.box == (0, 0, 0.5, 1)
