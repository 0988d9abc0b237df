"""The data folder of the surveillance world (plates/ and sprites/), and the deterministic train / held-out split."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from training.contract import SPLITS


def data_root(argument: str | os.PathLike | None = None) -> Path:
    """Path of the folder that holds plates/ and sprites/: `argument`, else the environment variable SCENEDELTA_DATA.

    Raises ValueError if neither is set and FileNotFoundError if plates.json or sprites.json is missing.
    """
    root = argument or os.environ.get("SCENEDELTA_DATA")
    if not root:
        raise ValueError("no data folder: pass --data or set SCENEDELTA_DATA to the folder with plates/ and sprites/")
    path = Path(root)
    for needed in ("plates/plates.json", "sprites/sprites.json"):
        if not (path / needed).is_file():
            raise FileNotFoundError(f"expected {needed} under the data folder {path}, found none")
    return path


def check_split(split: str) -> None:
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}, expected one of {SPLITS}")


def stable_rank(text: str) -> float:
    """A number in 0..1 that depends on the text alone, so that it is equal on every machine and in every run."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
