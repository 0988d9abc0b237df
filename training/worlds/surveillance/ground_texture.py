"""Ground textures: square patches cut from real plates, and their rendering on the ground plane of a new camera."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from training.text.lexicon import SURFACES
from training.worlds.surveillance.plates import PERSON_HEIGHT_M, Plate, plate_pixels

PATCH_PX_PER_M = 40.0
MIN_PATCH_M = 1.6
MAX_STRUCTURE = 11.0  # standard deviation of the blurred patch in levels: marks and edges would repeat visibly
PAVED = ("on the road", "in the parking lot", "in the street", "in the square", "in the yard")


@dataclass(frozen=True, eq=False)
class Patch:
    """A square of ground seen from above."""

    pixels: np.ndarray  # float32 [n, n, 3], PATCH_PX_PER_M, without large-scale shading
    plate: Plate
    kind: str  # paved | floor | grass | soil


def ground_patches(plates: list[Plate]) -> list[Patch]:
    """One patch per ground polygon that is large, plain, lit by day and seen at a low elevation."""
    found = []
    for plate in plates:
        for name, polygon, _ in plate.ground:
            place = SURFACES.get(name)
            kind = {"on the grass": "grass", "on the ground": "soil", "on the floor": "floor"}.get(
                place or "", "paved" if place in PAVED else ""
            )
            if name in ("garage floor", "warehouse floor"):
                kind = "paved"  # bare concrete, indoors or outdoors
            pixels = _rectify(plate, polygon) if kind and plate.elevation < 25 and plate.time == "day" else None
            if pixels is not None:
                found.append(Patch(pixels, plate, kind))
    return found


def _rectify(plate: Plate, polygon: np.ndarray) -> np.ndarray | None:
    """The largest square of the polygon seen from above; None if it is too small or too structured to be tiled."""
    width, height = plate.size
    (row0, size0), (row1, size1) = plate.px_per_metre
    slope = (size1 - size0) / (row1 - row0)
    bottom = min(float(polygon[:, 1].max()), height - 1.0)
    nearest = size0 + slope * (bottom - row0)
    if slope <= 0 or nearest < 25:
        return None
    focal = 0.8 * width
    side = 8.0
    near = focal / nearest
    # Corners of the square in metres, and their pixels in the plate: the row from its scale, the column from its depth.
    ground = np.float32([[-side / 2, near], [side / 2, near], [side / 2, near + side], [-side / 2, near + side]])
    shown = np.float32([[width / 2 + x * focal / z, row0 + (focal / z - size0) / slope] for x, z in ground])
    n = int(side * PATCH_PX_PER_M)
    above = np.float32([[0, n], [n, n], [n, 0], [0, 0]])
    matrix = cv2.getPerspectiveTransform(shown, above)
    usable = np.zeros((height, width), np.uint8)
    cv2.fillPoly(usable, [np.int32(polygon)], 1)
    for x, y, w, h in plate.avoid:
        usable[max(0, int(y)) : int(y + h), max(0, int(x)) : int(x + w)] = 0
    inside = cv2.warpPerspective(usable, matrix, (n, n), flags=cv2.INTER_NEAREST)
    inside[[0, -1]], inside[:, [0, -1]] = 0, 0
    # Ground beyond 1.8 times the nearest distance has too few rows to be resampled.
    inside[: n - int(0.8 * near * PATCH_PX_PER_M)] = 0
    distance = cv2.distanceTransform(inside, cv2.DIST_C, 3)
    row, column = np.unravel_index(int(distance.argmax()), distance.shape)
    half = int(distance[row, column]) - 1
    if 2 * half < MIN_PATCH_M * PATCH_PX_PER_M:
        return None
    top = cv2.warpPerspective(plate_pixels(plate.path), matrix, (n, n), flags=cv2.INTER_LINEAR)
    patch = top[row - half : row + half, column - half : column + half].astype(np.float32)
    patch = patch - cv2.GaussianBlur(patch, (0, 0), half / 3) + patch.mean(axis=(0, 1))
    return patch if cv2.GaussianBlur(patch.mean(axis=2), (0, 0), 3).std() < MAX_STRUCTURE else None


class Camera:
    """Pinhole camera over the ground plane: X metres to the right, Z metres ahead of the point below the camera."""

    def __init__(self, size: tuple[int, int], elevation: float, focal: float, height_m: float):
        self.size, self.elevation, self.focal, self.height_m = size, elevation, focal, height_m
        e = math.radians(elevation)
        # Ground (X, Z, 1) -> homogeneous pixel.
        axes = np.array(
            [[1, 0, 0], [0, -math.sin(e), self.height_m * math.cos(e)], [0, math.cos(e), self.height_m * math.sin(e)]]
        )
        lens = np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]])
        self.matrix = lens @ axes

    def project(self, points: np.ndarray) -> np.ndarray:
        """[n, 2] metres -> [n, 2] pixels; points must lie in front of the camera."""
        return cv2.perspectiveTransform(np.float64(points)[None], self.matrix)[0]

    def unproject(self, plane: np.ndarray) -> np.ndarray:
        """float32 [2, H, W]: the ground point of each pixel, in metres transformed by `plane` [3, 3]."""
        matrix = np.float32(plane @ np.linalg.inv(self.matrix))
        columns, rows = np.arange(self.size[0], dtype=np.float32), np.arange(self.size[1], dtype=np.float32)[:, None]
        x, y, w = (row[0] * columns + row[1] * rows + row[2] for row in matrix)
        return np.stack([x / w, y / w])

    def ahead(self, row: float) -> float:
        """Z of the ground in the middle of a pixel row."""
        e, v = math.radians(self.elevation), (row - self.size[1] / 2) / self.focal
        return self.height_m * (math.cos(e) - v * math.sin(e)) / (math.sin(e) + v * math.cos(e))

    def px_per_metre(self, row: float) -> float:
        e = math.radians(self.elevation)
        return self.focal / (self.ahead(row) * math.cos(e) + self.height_m * math.sin(e))


def choose_patch(pool: list[Patch], kinds: tuple[str, ...], rng: np.random.Generator) -> Patch:
    present = [k for k in kinds if any(p.kind == k for p in pool)]
    kind = present[int(rng.integers(len(present)))]
    candidates = [p for p in pool if p.kind == kind]
    return candidates[int(rng.integers(len(candidates)))]


def tile_ground(patch: Patch, camera: Camera, rng: np.random.Generator) -> np.ndarray:
    """float32 [H, W, 3]: the patch tiled over the whole plane, as a blend of two tilings with different angles."""
    density = camera.px_per_metre(camera.size[1] / 2)
    pixels = patch.pixels
    sigma = 0.4 * math.sqrt(max(0.0, (PATCH_PX_PER_M / density) ** 2 - 1))
    if sigma > 0.3:
        pixels = cv2.GaussianBlur(pixels, (0, 0), sigma)
    limit = float(pixels.shape[0] - 1)
    tilings = []
    for _ in range(2):
        angle = rng.uniform(0, 2 * math.pi)
        c, s = PATCH_PX_PER_M * math.cos(angle), PATCH_PX_PER_M * math.sin(angle)
        to_patch = np.array([[c, -s, rng.uniform(0, 4000)], [s, c, rng.uniform(0, 4000)], [0, 0, 1]])
        # The coordinates are folded here, because OpenCV mirrors slowly far beyond the border.
        turns = camera.unproject(to_patch) / np.float32(2 * limit)
        x, y = np.float32(limit) * (1 - np.abs(2 * (turns - np.floor(turns)) - 1))
        tilings.append(cv2.remap(pixels, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
    blend = _smooth_field(rng, camera.size, 9)[..., None]
    return tilings[0] * blend + tilings[1] * (1 - blend)


def _smooth_field(rng: np.random.Generator, size: tuple[int, int], cells: int) -> np.ndarray:
    """float32 [H, W] in 0..1, varying over about 1 / cells of the width."""
    coarse = rng.standard_normal((max(3, cells * size[1] // size[0]), cells)).astype(np.float32)
    quarter = cv2.resize(coarse, (size[0] // 4, size[1] // 4), interpolation=cv2.INTER_CUBIC)
    return cv2.resize(1 / (1 + np.exp(-3 * quarter)), size, interpolation=cv2.INTER_LINEAR)


def add_wear(image: np.ndarray, rng: np.random.Generator, wear: float = 1.0) -> np.ndarray:
    """The image as uint8, with random stains and uneven light. `wear` scales their strength."""
    size = (image.shape[1], image.shape[0])
    shade = np.ones(size[::-1], np.float32)
    for cells, depth in ((3, 0.14), (9, 0.05), (40, 0.02)):
        shade *= 1 + wear * depth * (_smooth_field(rng, size, cells) - 0.5) * 2
    return np.uint8(np.clip(image * shade[..., None] * rng.uniform(0.55, 1.15), 0, 255))


def drawn_plate(
    kind: str, base: Patch, camera: Camera, rows: tuple[float, float], image: np.ndarray, **parts: Any
) -> Plate:
    """The plate of an image that was drawn with this ground; the scale is measured at two rows of it, px."""
    scale = tuple((row, camera.px_per_metre(row)) for row in rows)
    person = PERSON_HEIGHT_M * math.cos(math.radians(camera.elevation))
    return Plate(
        id=f"{kind}_{base.plate.id}",
        path=base.plate.path,
        place=base.plate.place,
        time="day",
        size=camera.size,
        detail_width=640.0,
        elevation=camera.elevation,
        person_px=tuple((row, size * person) for row, size in scale),
        px_per_metre=scale,
        avoid=(),
        image=image,
        **parts,
    )
