"""Copies of a bundle without one of its parts."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from training.bundle.ablations import PARTS, write_without
from training.inputs import sha256

BUNDLE = Path(__file__).parents[2] / "models/scorer-surveillance"


def shift_of(folder: Path) -> np.ndarray:
    model = onnx.load(folder / "names.onnx")
    return next(numpy_helper.to_array(i) for i in model.graph.initializer if i.name.startswith("noun_shift"))


@pytest.mark.parametrize("part", PARTS)
def test_a_copy_differs_in_one_part_and_names_its_files(tmp_path: Path, part: str):
    folder = write_without(BUNDLE, part, tmp_path)
    original, copy = (json.loads((of / "manifest.json").read_text()) for of in (BUNDLE, folder))
    assert copy["name"] == folder.name == f"without-{part}"
    assert copy["files"] == {file: sha256(folder / file) for file in copy["files"]}
    assert {graph["file"] for graph in copy["graphs"].values()} == set(copy["files"])
    assert copy != {**original, "name": copy["name"]}
    if part == "prior":
        assert shift_of(BUNDLE).any() and not shift_of(folder).any()
