"""One way of looking at a plate: a crop, a zoom and perhaps a mirroring, with its ground, scale and landmarks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from training.worlds.surveillance.assets import Plate

FRAME_WIDTH = 640
GRID = 4  # pixels per cell of the ground map
METRES_PER_PERSON = 1.7
NEAR_SHARE, NEAR_ZOOM = 0.25, (1.3, 2.6)  # views of a part of the plate, as of cameras that hang close
MOST_UPSCALED = 3.0  # frame pixels a pixel of true detail; more is a blur that no camera gives
FOCAL_PX = 640.0  # of a frame; a field of view of 53 degrees, as most fixed cameras have


@dataclass(eq=False)
class Ground:
    name: str
    allowed: frozenset[str]
    polygon: np.ndarray  # [n, 2], frame pixels
    cells: np.ndarray  # bool [H // GRID, W // GRID]


class View:
    """Coordinates are pixels of the unjittered frame; the canvas is the frame with `margin` pixels on every side."""

    def __init__(self, plate: Plate, rng: np.random.Generator, margin: int):
        self.plate, self.margin, self.width = plate, margin, FRAME_WIDTH
        plate_width, plate_height = plate.size
        fit = FRAME_WIDTH / plate_width
        least = 1.0 if margin == 0 else 1.0 + 2 * margin / FRAME_WIDTH
        zoom = least if rng.random() < 0.4 else least * rng.uniform(1.0, 1.3)
        if rng.random() < NEAR_SHARE:
            zoom = max(zoom, min(rng.uniform(*NEAR_ZOOM), MOST_UPSCALED * plate.detail_width / FRAME_WIDTH))
        full = int(round(plate_height * fit)) // 8 * 8
        self.height = int(rng.choice([full, min(full, 360), min(full, 480)], p=[0.7, 0.2, 0.1])) // 8 * 8
        self.scale = fit * zoom
        self.mirrored = bool(rng.random() < 0.5)
        slack_x = max(0.0, plate_width * self.scale - self.width)
        slack_y = max(0.0, plate_height * self.scale - self.height)
        # The ground is below: a crop keeps the bottom more often than the sky.
        left, top = rng.uniform(0, slack_x), slack_y * rng.beta(2.0, 1.2)
        if self.mirrored:
            self.matrix = np.array([[-self.scale, 0, plate_width * self.scale - left], [0, self.scale, -top]])
        else:
            self.matrix = np.array([[self.scale, 0, -left], [0, self.scale, -top]])
        self.blur = 0.42 * math.sqrt(max(0.0, (self.scale * plate_width / plate.detail_width) ** 2 - 1.0))
        self.grounds = [g for g in map(self._ground, plate.ground) if g.cells.any()]
        self.landmarks = [(phrase, self._box(box)) for phrase, box in plate.landmarks]
        self.avoid = [self._box(box) for box in plate.avoid]

    def canvas(self) -> np.ndarray:
        """uint8 [height + 2 margin, width + 2 margin, 3], RGB: the background."""
        matrix = self.matrix.copy()
        matrix[:, 2] += self.margin
        size = (self.width + 2 * self.margin, self.height + 2 * self.margin)
        return cv2.warpAffine(
            self.plate.pixels(), matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
        )

    def px_per_metre(self, row: float, upright: bool) -> float:
        """Frame pixels per metre for something that stands on `row`; of persons (`upright`) the plate knows better."""
        anchors = self.plate.person_px if upright and self.plate.elevation < 50 else self.plate.px_per_metre
        (row0, size0), (row1, size1) = anchors
        plate_row = (row - self.matrix[1, 2]) / self.scale
        size = size0 + (size1 - size0) * (plate_row - row0) / (row1 - row0)
        if anchors is self.plate.person_px:
            size /= METRES_PER_PERSON * math.cos(math.radians(self.plate.elevation))
        return max(size, 0.0) * self.scale

    def spot(self, ground: Ground, rng: np.random.Generator) -> tuple[float, float]:
        """A point of the ground. Far rows are preferred: there is more ground behind them than their pixels show."""
        rows = np.flatnonzero(ground.cells.any(axis=1))
        row = int(rows[int(len(rows) * rng.beta(1.0, 1.6))])
        column = int(rng.choice(np.flatnonzero(ground.cells[row])))
        return (column + rng.random()) * GRID, (row + rng.random()) * GRID

    def along(self, ground: Ground, x: float, y: float) -> float:
        """Azimuth (sprite convention, degrees) of something at (x, y) that faces along the ground's long axis."""
        points = np.float32([self._floor(px, py) for px, py in ground.polygon])
        (_, _), (width, height), angle = cv2.minAreaRect(points)
        heading = math.radians(angle if width >= height else angle + 90)
        gx, gz = self._floor(x, y)
        sight = math.atan2(gz, gx)
        along, across = math.cos(heading - sight), math.sin(heading - sight)
        # `across` is positive to the left of the line of sight (floor axes: right, away from the camera).
        return math.degrees(math.atan2(across, -along)) % 360

    def _floor(self, x: float, y: float) -> tuple[float, float]:
        """Metres right of and away from the camera, for a camera of FOCAL_PX."""
        ppm = max(self.px_per_metre(y, upright=False), 1.0)
        return (x - self.width / 2) / ppm, FOCAL_PX * self.scale * self.plate.size[0] / FRAME_WIDTH / ppm

    def _ground(self, record: tuple[str, np.ndarray, frozenset[str]]) -> Ground:
        name, polygon, allowed = record
        points = polygon @ self.matrix[:, :2].T + self.matrix[:, 2]
        cells = np.zeros((self.height // GRID, self.width // GRID), np.uint8)
        cv2.fillPoly(cells, [np.int32(np.round(points / GRID))], 1)
        return Ground(name, allowed, points.astype(np.float32), cells.astype(bool))

    def _box(self, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        x, y, w, h = box
        corners = np.array([[x, y], [x + w, y + h]]) @ self.matrix[:, :2].T + self.matrix[:, 2]
        (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
        return float(x0), float(y0), float(x1 - x0), float(y1 - y0)
