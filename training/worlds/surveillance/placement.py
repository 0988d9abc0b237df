"""A figure placed on the ground of a view, and the rules for where a figure may be placed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.text.lexicon import hypernym
from training.worlds.surveillance.figures import Figure
from training.worlds.surveillance.location_phrases import Box
from training.worlds.surveillance.plates import Plate
from training.worlds.surveillance.sprite_nouns import TWO_WHEELERS, UNUSUAL_INDOORS, UNUSUAL_OUTDOORS
from training.worlds.surveillance.view import Ground, View

MIN_HEIGHT_PX, MIN_PERSON_HEIGHT_PX = 8, 12
MAX_HEIGHT, MAX_WIDTH = 0.95, 0.8  # as fractions of the frame
MAX_HEIGHT_ABOVE_FRAME = 0.25  # fraction of a figure's height that may be above the upper edge of the frame
CLEARANCE = 1.1  # least distance of two footprints, as a multiple of the sum of their half sizes


class RejectedSample(Exception):
    """The random draw cannot be used (no free ground, hidden, too little contrast); the caller draws again."""


@dataclass(eq=False)
class PlacedFigure:
    """A figure whose anchor is at (x, y) in frame pixels, drawn at `px_per_metre`."""

    figure: Figure
    x: float
    y: float
    px_per_metre: float
    width_factor: float  # drawn width over the sprite's width, to vary the build of persons
    ground: Ground

    @property
    def matrix(self) -> np.ndarray:
        """Affine transform [2, 3] from sprite pixels to frame pixels."""
        scale_y = self.px_per_metre / self.figure.px_per_m
        anchor_x, anchor_y = self.figure.anchor
        scale_x = scale_y * self.width_factor
        return np.array([[scale_x, 0, self.x - anchor_x * scale_x], [0, scale_y, self.y - anchor_y * scale_y]])

    @property
    def box(self) -> Box:
        """Box of the whole sprite, hidden parts included, as (x, y, width, height) in frame pixels."""
        h, w = self.figure.pixels.shape[:2]
        (x0, y0), (x1, y1) = (self.matrix @ np.array([[0, w], [0, h], [1, 1]], float)).T
        return float(x0), float(y0), float(x1 - x0), float(y1 - y0)

    @property
    def footprint_box(self) -> Box:
        """Bounding box of the footprint on the ground, as (x, y, width, height) in frame pixels."""
        points = self.figure.footprint @ self.matrix[:, :2].T + self.matrix[:, 2]
        (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
        return float(x0), float(y0), float(x1 - x0), float(y1 - y0)


def ground_allows(allowed: frozenset[str], noun: str, indoor: bool) -> bool:
    """Whether ground that allows the hypernyms `allowed` accepts a figure of the noun.

    Animals may be wherever persons may be. Outdoors, two-wheelers may also be where only persons may be.
    """
    if noun in TWO_WHEELERS:
        return "vehicle" in allowed or (not indoor and "person" in allowed)
    kind = hypernym(noun)
    return ("person" if kind == "animal" else kind) in allowed


def plate_allows(plate: Plate, noun: str) -> bool:
    """Whether the noun is usual in the plate's setting and the plate has ground that accepts it."""
    if noun in (UNUSUAL_INDOORS if plate.indoor else UNUSUAL_OUTDOORS):
        return False
    return any(ground_allows(allowed, noun, plate.indoor) for _, _, allowed in plate.ground)


def is_free(candidate: PlacedFigure, others: list[PlacedFigure], view: View) -> bool:
    """Whether the figure has a plausible size and overlaps neither other footprints nor objects of the plate."""
    x, y, w, h = candidate.box
    min_height = MIN_PERSON_HEIGHT_PX if candidate.figure.upright else MIN_HEIGHT_PX
    if not min_height <= h <= MAX_HEIGHT * view.height or w > MAX_WIDTH * view.width:
        return False
    if y < -MAX_HEIGHT_ABOVE_FRAME * h:
        return False
    footprint = candidate.footprint_box
    if any(_footprints_touch(footprint, other.footprint_box) for other in others):
        return False
    for avoid_x, avoid_y, avoid_w, avoid_h in view.avoid:
        # A figure in front of an object of the plate hides it correctly. A figure behind or inside the object
        # would be pasted over it.
        overlap = x < avoid_x + avoid_w and avoid_x < x + w and y < avoid_y + avoid_h and avoid_y < y + h
        if overlap and footprint[1] < avoid_y + avoid_h + 2:
            return False
    return True


def _footprints_touch(a: Box, b: Box) -> bool:
    dx = abs((a[0] + a[2] / 2) - (b[0] + b[2] / 2))
    dy = abs((a[1] + a[3] / 2) - (b[1] + b[3] / 2))
    return dx < CLEARANCE * (a[2] + b[2]) / 2 and dy < CLEARANCE * (a[3] + b[3]) / 2
