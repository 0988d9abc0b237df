"""Plates: backgrounds without changeable things, with their ground, scale and landmarks (format: ../README.md)."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from training.worlds.surveillance.data_folder import check_split, stable_rank

HELDOUT_PLACES = 0.10  # fraction of the places of each setting
PERSON_HEIGHT_M = 1.7
# Hypernyms that a ground polygon accepts; animals are accepted like persons.
ANY_HYPERNYM = frozenset(("vehicle", "person", "object"))
NO_VEHICLES = frozenset(("person", "object"))

Anchors = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Plate:
    """One background. All coordinates are pixels of the file."""

    id: str
    path: Path
    place: str
    indoor: bool
    time: str
    size: tuple[int, int]  # width, height
    detail_width: float  # width in pixels that the image really resolves
    elevation: float  # degrees that the camera looks down
    person_px: Anchors  # (row, height of a person in px) twice; linear between them and beyond
    px_per_metre: Anchors  # (row, px per metre) twice, likewise
    ground: tuple[tuple[str, np.ndarray, frozenset[str]], ...]  # name, polygon [n, 2], hypernyms that it accepts
    landmarks: tuple[tuple[str, tuple[float, float, float, float]], ...]  # phrase, box
    avoid: tuple[tuple[float, float, float, float], ...]  # boxes of objects that a figure must not be pasted over
    image: np.ndarray | None = None  # only of generated plates; the others are read from `path` when needed

    def pixels(self) -> np.ndarray:
        """uint8 [h, w, 3], RGB. Treat as read-only: the array is shared."""
        return plate_pixels(self.path) if self.image is None else self.image


def load_plates(root: Path, split: str, shippable_only: bool = True) -> list[Plate]:
    """The plates of a split that have ground. Plates that share a camera with the development pairs are left out.

    `shippable_only` leaves out plates whose licence forbids shipping a model that is trained on them.
    """
    check_split(split)
    records = json.loads((root / "plates" / "plates.json").read_text())["plates"]
    records = [r for r in records if not r["dev_scene"] and (r["shippable"] or not shippable_only)]
    # Ranked per setting, so that even a small held-out split has indoor and outdoor places.
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


def _anchors(raw: list[list[float]]) -> Anchors:
    first, last = raw[0], raw[-1]
    return (float(first[0]), float(first[1])), (float(last[0]), float(last[1]))


@functools.lru_cache(maxsize=128)
def plate_pixels(path: Path) -> np.ndarray:
    """uint8 [h, w, 3], RGB. Treat as read-only: the array is shared."""
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if pixels is None:
        raise ValueError(f"expected an image at {path}")
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
