"""Sprites: rendered views of one thing with transparency and labels (format: ../README.md)."""

from __future__ import annotations

import functools
import json
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from training.worlds.surveillance.data_folder import check_split, stable_rank
from training.worlds.surveillance.sprite_nouns import (
    CAPTION_NOUN,
    COLOUR_NAME,
    PERSONS,
    SCENERY_INDOORS,
    SCENERY_OUTDOORS,
)

PACKS = ("sprites", "sprites2", "sprites3")  # folders of the data folder; all but the first may be missing
ABOVE = 80  # degrees of elevation from which a man and a woman look alike
HELDOUT_MODELS = 0.12  # fraction of the identities of each noun, in a pack that names no held-out models itself


@dataclass(frozen=True, eq=False)
class Sprite:
    """One rendered view of a model."""

    path: Path
    model: str
    noun: str
    hypernym: str
    subtype: str | None
    colours: tuple[str, ...]  # everyday names, the main one first
    pose: str | None
    needs_seat: bool  # a sitting person without a seat, used as a rider only
    height_m: float
    length_m: float
    elevation: int  # degrees that the camera looks down
    azimuth: int  # degrees; 0 faces the camera
    sunlit: bool
    px_per_m: float
    anchor: tuple[float, float]  # pixel of the footprint's centre
    footprint: np.ndarray  # [4, 2]: pixels of its corners on the ground
    count: int = 1  # of the persons in a sprite of a group
    pack: str = PACKS[0]  # folder of the data folder that the sprite is from


def load_sprites(root: Path, split: str) -> list[Sprite]:
    """The sprites of a split whose noun has a caption word. Lying persons are used if they lie on a floor."""
    return _load(root, split, CAPTION_NOUN)


def load_scenery(root: Path, split: str) -> list[Sprite]:
    """The sprites of a split that are scenery, by their own nouns."""
    return _load(root, split, {noun: noun for noun in SCENERY_INDOORS | SCENERY_OUTDOORS})


def _load(root: Path, split: str, words: dict[str, str]) -> list[Sprite]:
    check_split(split)
    sprites = []
    for pack in (root / name for name in PACKS):
        if (pack / "sprites.json").is_file():
            sprites += [_sprite(pack, r, words) for r in _records(pack, split, words)]
    return sprites


def _records(pack: Path, split: str, words: dict[str, str]) -> list[dict[str, Any]]:
    """The entries of a pack's sprites.json in a split. Held-out models are those that the pack marks, or a share."""
    records = json.loads((pack / "sprites.json").read_text())
    named = {r["model"] for r in records if r.get("heldout")}
    # A lying person without a stated posture lies on a bed that the sprite lacks.
    records = [r for r in records if r["noun"] in words and (r.get("pose") != "lying" or r.get("posture"))]
    heldout = {_identity(model) for model in named} if named else _heldout_identities(records, words)
    return [r for r in records if (_identity(r["model"]) in heldout) == (split == "heldout")]


def _sprite(pack: Path, r: dict[str, Any], words: dict[str, str]) -> Sprite:
    hypernym = {"stroller": "object", "motorcyclist": "vehicle"}.get(r["noun"], r["hypernym"])
    # A rider is named by the vehicle, a vehicle by its paint, and whom an umbrella hides by the umbrella.
    carried = r.get("carried_color") if r["noun"] == "motorcyclist" or r.get("clothes_hidden") else None
    colours = [carried] if carried else r["colors"]
    noun = "scooter" if r.get("subtype") in ("scooter rider", "two on a scooter") else words[r["noun"]]
    if hypernym == "person" and noun in PERSONS and r["elevation"] >= ABOVE:
        noun = "person"
    return Sprite(
        path=pack / r["file"],
        model=r["model"],
        noun=noun,
        hypernym=hypernym,
        subtype=r.get("subtype"),
        colours=tuple(COLOUR_NAME.get(c, c) for c in colours),
        pose=r.get("pose"),
        needs_seat=bool(r.get("needs_seat")),
        height_m=float(r["size_m"][2]),
        length_m=float(r["size_m"][0]),
        elevation=int(r["elevation"]),
        azimuth=int(r["azimuth"]),
        sunlit=r["lighting"] == "sun",
        px_per_m=float(r["px_per_m"]),
        anchor=tuple(r["anchor"]),
        footprint=np.float32(r["footprint"]),
        count=int(r.get("count", 1)),
        pack=pack.name,
    )


def _identity(model: str) -> str:
    """The model without the seat it is on: one person with and without a chair must be in the same split."""
    return model.split("_on_")[0]


def _heldout_identities(records: list[dict[str, Any]], words: dict[str, str]) -> set[str]:
    """About HELDOUT_MODELS of the identities, and at least one of every noun and pose that has two or more."""
    groups: dict[tuple[str, bool, bool], set[str]] = defaultdict(set)
    seated = {_identity(r["model"]) for r in records if r.get("needs_seat")}
    for r in records:
        identity = _identity(r["model"])
        standing = r["hypernym"] != "person" or r.get("pose") in (None, "standing")
        groups[words[r["noun"]], identity in seated, standing].add(identity)
    heldout: set[str] = set()
    for identities in groups.values():
        if len(identities) > 1:
            heldout.update(sorted(identities, key=stable_rank)[: math.ceil(len(identities) * HELDOUT_MODELS)])
    return heldout


@functools.lru_cache(maxsize=1024)
def sprite_pixels(path: Path) -> np.ndarray:
    """uint8 [h, w, 4], RGBA, not premultiplied. Treat as read-only: the array is shared."""
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.ndim != 3 or pixels.shape[2] != 4:
        raise ValueError(f"expected an image with an alpha channel at {path}")
    return cv2.cvtColor(pixels, cv2.COLOR_BGRA2RGBA)
