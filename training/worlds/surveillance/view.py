"""View of a plate: a random crop, zoom and mirroring, with the ground, scale and landmarks in frame pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from training.worlds.surveillance.plates import PERSON_HEIGHT_M, Plate

FRAME_WIDTH = 640
GRID = 4  # pixels per cell of the ground map
NEAR_SHARE, NEAR_ZOOM = 0.25, (1.3, 2.6)  # share and zoom of views of a part of the plate, as of low cameras
MAX_UPSCALING = 3.0  # frame pixels per pixel of resolved detail
FOCAL_PX = 640.0  # focal length in frame pixels: a field of view of 53 degrees, typical of fixed cameras


@dataclass(eq=False)
class Ground:
    """A ground polygon of the plate in frame pixels."""

    name: str
    allowed: frozenset[str]  # hypernyms that it accepts
    polygon: np.ndarray  # [n, 2], frame pixels
    cells: np.ndarray  # bool [H // GRID, W // GRID]: which cells of the frame it covers


class View:
    """The part of a plate that the camera sees. Coordinates are pixels of the frame before any camera motion.

    The canvas is the frame with `margin` pixels on every side, so that a moved camera finds background there.
    """

    def __init__(self, plate: Plate, rng: np.random.Generator, margin: int):
        self.plate, self.margin, self.width = plate, margin, FRAME_WIDTH
        plate_width, plate_height = plate.size
        fit = FRAME_WIDTH / plate_width
        min_zoom = 1.0 if margin == 0 else 1.0 + 2 * margin / FRAME_WIDTH
        zoom = min_zoom if rng.random() < 0.4 else min_zoom * rng.uniform(1.0, 1.3)
        if rng.random() < NEAR_SHARE:
            zoom = max(zoom, min(rng.uniform(*NEAR_ZOOM), MAX_UPSCALING * plate.detail_width / FRAME_WIDTH))
        full = int(round(plate_height * fit)) // 8 * 8
        self.height = int(rng.choice([full, min(full, 360), min(full, 480)], p=[0.7, 0.2, 0.1])) // 8 * 8
        self.scale = fit * zoom
        self.mirrored = bool(rng.random() < 0.5)
        slack_x = max(0.0, plate_width * self.scale - self.width)
        slack_y = max(0.0, plate_height * self.scale - self.height)
        # A crop keeps the lower part of the plate (ground) more often than the upper part (sky).
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
        """The background: uint8 [height + 2 margin, width + 2 margin, 3], RGB."""
        matrix = self.matrix.copy()
        matrix[:, 2] += self.margin
        size = (self.width + 2 * self.margin, self.height + 2 * self.margin)
        return cv2.warpAffine(
            self.plate.pixels(), matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
        )

    def px_per_metre(self, row: float, upright: bool) -> float:
        """Frame pixels per metre for a figure that stands on frame row `row`.

        For `upright` figures (persons) the heights of persons in the plate are more exact than its ground scale.
        """
        anchors = self.plate.person_px if upright and self.plate.elevation < 50 else self.plate.px_per_metre
        (row0, size0), (row1, size1) = anchors
        plate_row = (row - self.matrix[1, 2]) / self.scale
        size = size0 + (size1 - size0) * (plate_row - row0) / (row1 - row0)
        if anchors is self.plate.person_px:
            size /= PERSON_HEIGHT_M * math.cos(math.radians(self.plate.elevation))
        return max(size, 0.0) * self.scale

    def sample_point(self, ground: Ground, rng: np.random.Generator) -> tuple[float, float]:
        """A random point (x, y) on the ground. Far rows are preferred, because their pixels cover more ground."""
        rows = np.flatnonzero(ground.cells.any(axis=1))
        row = int(rows[int(len(rows) * rng.beta(1.0, 1.6))])
        column = int(rng.choice(np.flatnonzero(ground.cells[row])))
        return (column + rng.random()) * GRID, (row + rng.random()) * GRID

    def heading_azimuth(self, ground: Ground, x: float, y: float) -> float:
        """Azimuth of a figure at (x, y) that faces along the ground's long axis, in degrees as in Sprite."""
        points = np.float32([self._floor_point(px, py) for px, py in ground.polygon])
        (_, _), (width, height), angle = cv2.minAreaRect(points)
        heading = math.radians(angle if width >= height else angle + 90)
        gx, gz = self._floor_point(x, y)
        sight = math.atan2(gz, gx)
        along, across = math.cos(heading - sight), math.sin(heading - sight)
        # `across` is positive to the left of the line of sight (floor axes: right, away from the camera).
        return math.degrees(math.atan2(across, -along)) % 360

    def _floor_point(self, x: float, y: float) -> tuple[float, float]:
        """Floor coordinates in metres (right of the camera, away from it) of a frame pixel, for FOCAL_PX."""
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
