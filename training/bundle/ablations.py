"""Writes copies of a bundle, each without one of its parts, so that `scenedelta evaluate` shows what the part adds.

python -m training.bundle ablations --bundle models/scorer-surveillance --out DIR
MODELS_DIR=DIR bin/scenedelta.js evaluate pairs.ndjson --bundle without-check --swapped
"""

from __future__ import annotations

import argparse
import copy
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from training.bundle.manifest import replace_manifest
from training.inputs import existing_folder, read_json, sha256

NAMES = "names.onnx"
SHIFT = "noun_shift"  # begin of the name of the initialiser with the prior of people's words


def _drop(manifest: dict, part: str, *graphs: str) -> None:
    manifest.pop(part, None)
    for graph in graphs:
        entry = manifest["graphs"].pop(graph, None)
        if entry is not None:
            manifest["files"].pop(entry["file"])


def _without_names(manifest: dict) -> None:
    """Nouns and colours are the decoder's words."""
    _drop(manifest, "names", "names")


def _without_check(manifest: dict) -> None:
    _drop(manifest, "check", "check")


def _without_decoder(manifest: dict) -> None:
    """The decoder's words are no evidence for a noun or a colour."""
    manifest["names"].pop("decoder", None)


def _without_levels(manifest: dict) -> None:
    """A word has to be as probable as `truth`, instead of all written words together."""
    manifest["names"].pop("levels", None)


def _without_facts(manifest: dict) -> None:
    """Clauses and places have the scores of their words."""
    manifest["calibration"].pop("facts", None)


def _without_single_cells(manifest: dict) -> None:
    manifest["regions"].pop("strong", None)


def _unchanged(manifest: dict) -> None:
    """The part is in a graph."""


PARTS: dict[str, Callable[[dict], None]] = {
    "names": _without_names,
    "prior": _unchanged,
    "decoder": _without_decoder,
    "levels": _without_levels,
    "facts": _without_facts,
    "check": _without_check,
    "single-cells": _without_single_cells,
}


def without_prior(source: Path, target: Path) -> None:
    """Writes the names graph with a shift of 0. Raises ValueError if it has no shift."""
    model = onnx.load(source)
    shifts = [i for i in model.graph.initializer if i.name.startswith(SHIFT)]
    if not shifts:
        raise ValueError(f"{source} has no initialiser {SHIFT}, expected the namer's prior")
    for shift in shifts:
        shift.CopyFrom(numpy_helper.from_array(np.zeros_like(numpy_helper.to_array(shift)), shift.name))
    onnx.save(model, target)


def write_without(bundle: Path, part: str, out: Path) -> Path:
    """Writes the bundle without the part into a folder of `out` and returns the folder."""
    manifest = copy.deepcopy(read_json(bundle / "manifest.json", "files", "graphs", "calibration"))
    PARTS[part](manifest)
    folder = out / f"without-{part}"
    folder.mkdir(parents=True, exist_ok=True)
    for file in manifest["files"]:
        shutil.copyfile(bundle / file, folder / file)
    if part == "prior":
        without_prior(bundle / NAMES, folder / NAMES)
        manifest["files"][NAMES] = sha256(folder / NAMES)
    replace_manifest(folder, {**manifest, "name": folder.name})
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    args = parser.parse_args()
    for part in args.parts:
        print(write_without(args.bundle, part, args.out))
