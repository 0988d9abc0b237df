"""Plates (clean backgrounds) and sprites (rendered objects): what is on disk, and who may use it for what."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

HELDOUT_PLACES = 0.10
HELDOUT_MODELS = 0.12
SPLITS = ("train", "heldout")

# Sprite nouns that are worth a word of their own in a caption; the value is the word. Other sprites are not used.
CAPTION_NOUN = {
    "man": "man",
    "woman": "woman",
    "boy": "boy",
    "girl": "girl",
    "car": "car",
    "truck": "truck",
    "van": "van",
    "bus": "bus",
    "motorcycle": "motorcycle",
    "bicycle": "bicycle",
    "scooter": "scooter",
    "forklift": "forklift",
    "dog": "dog",
    "cat": "cat",
    "horse": "horse",
    "suitcase": "suitcase",
    "backpack": "backpack",
    "handbag": "bag",
    "briefcase": "briefcase",
    "box": "box",
    "cardboard box": "box",
    "open cardboard box": "box",
    "crate": "crate",
    "pallet": "pallet",
    "barrel": "barrel",
    "chair": "chair",
    "folding chair": "chair",
    "office chair": "chair",
    "armchair": "chair",
    "bench": "bench",
    "table": "table",
    "folding table": "table",
    "coffee table": "table",
    "desk": "table",
    "sofa": "sofa",
    "stool": "stool",
    "trash can": "trash can",
    "recycling bin": "trash can",
    "traffic cone": "traffic cone",
    "barrier": "barrier",
    "ladder": "ladder",
    "stroller": "stroller",
    "wheelchair": "wheelchair",
    "wheelbarrow": "wheelbarrow",
    "umbrella": "umbrella",
    "parasol": "umbrella",
    "potted plant": "plant",
    "soccer ball": "ball",
    "basketball": "ball",
    "skateboard": "skateboard",
    "shopping basket": "basket",
    "laundry basket": "basket",
    "television": "television",
    "fire extinguisher": "fire extinguisher",
    "tent": "tent",
    "canopy tent": "tent",
    "shipping container": "container",
}
# What stands around, is hidden and never changes. No caption speaks of it.
SCENERY_INDOORS = frozenset(
    (
        "bar stool",
        "bookcase",
        "clothes rack",
        "computer",
        "dresser",
        "fan",
        "filing cabinet",
        "floor lamp",
        "freezer",
        "guitar",
        "high chair",
        "lamp",
        "microwave",
        "office chair",
        "planter",
        "printer",
        "refrigerator",
        "shelf",
        "speaker",
        "step stool",
        "television",
        "wardrobe",
        "washing machine",
        "water cooler",
        "whiteboard",
    )
)
SCENERY_OUTDOORS = frozenset(
    (
        "bush",
        "deck chair",
        "dog house",
        "fence",
        "fire hydrant",
        "flower box",
        "fountain",
        "hedge",
        "lawn mower",
        "mailbox",
        "parasol",
        "pile of logs",
        "ping-pong table",
        "planter",
        "rock",
        "soccer goal",
        "street lamp",
        "swing",
        "trampoline",
        "tree",
    )
)
COLOUR_NAME = {"gray": "grey", "turquoise": "light blue"}


@dataclass(frozen=True, eq=False)
class Plate:
    """One background. Coordinates are pixels of the file; `scale` rows are anchors for linear interpolation."""

    id: str
    path: Path
    place: str
    indoor: bool
    time: str
    size: tuple[int, int]  # width, height
    detail_width: float  # width in pixels that the picture truly resolves
    elevation: float  # degrees the camera looks down
    person_px: tuple[tuple[float, float], tuple[float, float]]
    px_per_metre: tuple[tuple[float, float], tuple[float, float]]
    ground: tuple[tuple[str, np.ndarray, frozenset[str]], ...]  # name, polygon [n, 2], who may stand there
    landmarks: tuple[tuple[str, tuple[float, float, float, float]], ...]
    avoid: tuple[tuple[float, float, float, float], ...]
    picture: np.ndarray | None = None  # of a made plate; others are read from `path` when needed

    def pixels(self) -> np.ndarray:
        """uint8 [h, w, 3], RGB. Treat as read-only."""
        return plate_pixels(self.path) if self.picture is None else self.picture


@dataclass(frozen=True, eq=False)
class Sprite:
    """One rendered view. `anchor` is the pixel of the footprint's centre, `footprint` its ground corners [4, 2]."""

    path: Path
    model: str
    noun: str
    hypernym: str
    subtype: str | None
    colours: tuple[str, ...]  # everyday names, the main one first
    pose: str | None
    needs_seat: bool
    height_m: float
    length_m: float
    elevation: int
    azimuth: int
    sunlit: bool
    px_per_m: float
    anchor: tuple[float, float]
    footprint: np.ndarray


def data_root(argument: str | os.PathLike | None = None) -> Path:
    """The folder that holds plates/ and sprites/: the argument, else the environment's SCENEDELTA_DATA."""
    root = argument or os.environ.get("SCENEDELTA_DATA")
    if not root:
        raise ValueError("no data folder: pass --data or set SCENEDELTA_DATA to the folder with plates/ and sprites/")
    path = Path(root)
    for needed in ("plates/plates.json", "sprites/sprites.json"):
        if not (path / needed).is_file():
            raise FileNotFoundError(f"expected {needed} under the data folder {path}, found none")
    return path


def stable_rank(text: str) -> float:
    """A number in 0..1 that depends on the text alone, the same on every machine and in every run."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def _anchors(raw: list[list[float]]) -> tuple[tuple[float, float], tuple[float, float]]:
    first, last = raw[0], raw[-1]
    return (float(first[0]), float(first[1])), (float(last[0]), float(last[1]))


def load_plates(root: Path, split: str, shippable_only: bool = True) -> list[Plate]:
    """Plates of a split. Those that share a camera with the development pairs are never returned."""
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}, expected one of {SPLITS}")
    records = json.loads((root / "plates" / "plates.json").read_text())["plates"]
    records = [r for r in records if not r["dev_scene"] and (r["shippable"] or not shippable_only)]
    # Ranked per setting, so that a small held-out part still has both indoor and outdoor places.
    heldout: set[str] = set()
    for setting in ("indoor", "outdoor"):
        places = sorted({r["place"] for r in records if r["setting"] == setting}, key=stable_rank)
        heldout.update(places[: max(1, round(len(places) * HELDOUT_PLACES))] if len(places) > 1 else [])
    plates = []
    for r in records:
        if (r["place"] in heldout) != (split == "heldout") or not r["ground"]:
            continue
        plates.append(
            Plate(
                id=r["id"],
                path=root / r["file"],
                place=r["place"],
                indoor=r["setting"] == "indoor",
                time=r["time"],
                size=(r["width"], r["height"]),
                detail_width=float(str(r["native_width"]).lstrip("~")),
                elevation=float(r["camera_elevation"]),
                person_px=_anchors(r["person_px"]),
                px_per_metre=_anchors(r["px_per_metre"]),
                ground=tuple((g["name"], np.float32(g["polygon"]), frozenset(g["allowed"])) for g in r["ground"]),
                landmarks=tuple((m["phrase"], tuple(m["box"])) for m in r["landmarks"]),
                avoid=tuple(tuple(box) for box in r["avoid"]),
            )
        )
    return plates


def _identity(model: str) -> str:
    """The figure behind a model: the same person on a chair and without it must not end up in both splits."""
    return model.split("_on_")[0]


def _heldout_models(records: list[dict[str, Any]], words: dict[str, str]) -> set[str]:
    """About HELDOUT_MODELS of the figures, at least one of every word (and pose) that has two or more."""
    groups: dict[tuple[str, bool, bool], set[str]] = defaultdict(set)
    seated = {_identity(r["model"]) for r in records if r.get("needs_seat")}
    for r in records:
        figure = _identity(r["model"])
        standing = r["hypernym"] != "person" or r.get("pose") in (None, "standing")
        groups[words[r["noun"]], figure in seated, standing].add(figure)
    heldout: set[str] = set()
    for figures in groups.values():
        if len(figures) > 1:
            heldout.update(sorted(figures, key=stable_rank)[: math.ceil(len(figures) * HELDOUT_MODELS)])
    return heldout


def load_sprites(root: Path, split: str) -> list[Sprite]:
    """Sprites of a split whose noun has a caption word; lying figures are left out."""
    return _load(root, split, CAPTION_NOUN)


def load_scenery(root: Path, split: str) -> list[Sprite]:
    """Sprites of a split that only ever stand around, by their own nouns."""
    return _load(root, split, {noun: noun for noun in SCENERY_INDOORS | SCENERY_OUTDOORS})


def _load(root: Path, split: str, words: dict[str, str]) -> list[Sprite]:
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}, expected one of {SPLITS}")
    records = json.loads((root / "sprites" / "sprites.json").read_text())
    records = [r for r in records if r["noun"] in words and r.get("pose") != "lying"]
    heldout = _heldout_models(records, words)
    sprites = []
    for r in records:
        if (_identity(r["model"]) in heldout) != (split == "heldout"):
            continue
        sprites.append(
            Sprite(
                path=root / "sprites" / r["file"],
                model=r["model"],
                noun=words[r["noun"]],
                hypernym="object" if r["noun"] == "stroller" else r["hypernym"],
                subtype=r.get("subtype"),
                colours=tuple(COLOUR_NAME.get(c, c) for c in r["colors"]),
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
            )
        )
    return sprites


@functools.lru_cache(maxsize=1024)
def sprite_pixels(path: Path) -> np.ndarray:
    """uint8 [h, w, 4], RGBA, not premultiplied. Treat as read-only: the array is shared."""
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.ndim != 3 or pixels.shape[2] != 4:
        raise ValueError(f"expected a picture with an alpha channel at {path}")
    return cv2.cvtColor(pixels, cv2.COLOR_BGRA2RGBA)


@functools.lru_cache(maxsize=128)
def plate_pixels(path: Path) -> np.ndarray:
    """uint8 [h, w, 3], RGB. Treat as read-only: the array is shared."""
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if pixels is None:
        raise ValueError(f"expected a picture at {path}")
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
