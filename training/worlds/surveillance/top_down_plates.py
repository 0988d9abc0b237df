"""Plates that look down steeply, made of the ground of others: few real ones do, yet most cameras hang high.

The ground of a source plate is rectified to a patch seen from above, spread over the plane without visible seams,
painted (bays, lanes, verges) and projected through a pinhole camera that looks down by 28 to 62 degrees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from training.text.lexicon import SURFACES
from training.worlds.surveillance.assets import Plate, plate_pixels

PATCH_PX_PER_M = 40.0
MIN_PATCH_M = 1.6
MAX_STRUCTURE = 11.0  # levels of the blurred patch: rails, edges and marks repeat visibly when spread
PAVED = ("on the road", "in the parking lot", "in the street", "in the square", "in the yard")
EVERYBODY = frozenset(("vehicle", "person", "object"))
ON_FOOT = frozenset(("person", "object"))


@dataclass(frozen=True, eq=False)
class Patch:
    pixels: np.ndarray  # float32 [n, n, 3], PATCH_PX_PER_M, without large-scale shading
    plate: Plate
    kind: str  # paved | floor | grass | soil


def patches(plates: list[Plate]) -> list[Patch]:
    """Every usable patch of ground of these plates."""
    found = []
    for plate in plates:
        for name, polygon, _ in plate.ground:
            place = SURFACES.get(name)
            kind = {"on the grass": "grass", "on the ground": "soil", "on the floor": "floor"}.get(
                place or "", "paved" if place in PAVED else ""
            )
            if name in ("garage floor", "warehouse floor"):
                kind = "paved"  # bare concrete, inside or out
            pixels = _rectified(plate, polygon) if kind and plate.elevation < 25 and plate.time == "day" else None
            if pixels is not None:
                found.append(Patch(pixels, plate, kind))
    return found


def _rectified(plate: Plate, polygon: np.ndarray) -> np.ndarray | None:
    """The largest square of the polygon seen from above; None where it cannot be spread unseen."""
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
    # Corners of the metric square, and where the plate shows them: row from its scale, column from its distance.
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
    # Far ground has few rows to stretch: past 1.8 times the nearest distance it would be a smear.
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
    """Pinhole over the plane: X metres to the right, Z metres ahead of the point below the camera."""

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
        """float32 [2, H, W]: where each pixel's ray meets the ground, in the axes that `plane` [3, 3] turns metres to."""
        matrix = np.float32(plane @ np.linalg.inv(self.matrix))
        columns, rows = np.arange(self.size[0], dtype=np.float32), np.arange(self.size[1], dtype=np.float32)[:, None]
        x, y, w = (row[0] * columns + row[1] * rows + row[2] for row in matrix)
        return np.stack([x / w, y / w])

    def ahead(self, row: float) -> float:
        """Z of the ground that the middle of a row shows."""
        e, v = math.radians(self.elevation), (row - self.size[1] / 2) / self.focal
        return self.height_m * (math.cos(e) - v * math.sin(e)) / (math.sin(e) + v * math.cos(e))

    def px_per_metre(self, row: float) -> float:
        e = math.radians(self.elevation)
        return self.focal / (self.ahead(row) * math.cos(e) + self.height_m * math.sin(e))


def _steep_camera(height_px: int, rng: np.random.Generator) -> Camera:
    elevation = float(rng.uniform(28, 42) if rng.random() < 0.6 else rng.uniform(48, 62))
    focal = float(rng.uniform(560, 900))
    central = float(np.exp(rng.uniform(math.log(18), math.log(85))))  # pixels per metre at the centre
    return Camera((640, height_px), elevation, focal, focal / central * math.sin(math.radians(elevation)))


def steep_plate(pool: list[Patch], indoor: bool, rng: np.random.Generator) -> Plate:
    """A new plate, its picture included. `pool` must hold a paved patch, and for indoor ones a floor."""
    camera = _steep_camera(int(rng.choice([360, 432, 480])), rng)
    base = choose(pool, ("floor",) if indoor else ("paved", "paved", "paved", "paved", "soil", "grass"), rng)
    picture = spread(base, camera, rng)
    if indoor:
        ground = [("floor", _whole(camera), ON_FOOT)]
    elif base.kind == "grass":
        ground = [("grass", _whole(camera), EVERYBODY)]
    elif base.kind == "soil":
        ground = [("gravel", _whole(camera), EVERYBODY)]
    elif rng.random() < 0.5:
        picture, ground = _road(picture, pool, camera, rng)
    else:
        picture = _bays(picture, camera, rng) if rng.random() < 0.75 else picture
        ground = [("parking lot", _whole(camera), EVERYBODY)]
    picture = uneven(picture, rng)
    height = camera.size[1]
    rows = (0.1 * height, 0.9 * height)
    scale = tuple((r, camera.px_per_metre(r)) for r in rows)
    shrink = 1.7 * math.cos(math.radians(camera.elevation))
    return Plate(
        id=f"steep_{base.plate.id}",
        path=base.plate.path,
        place=base.plate.place,
        indoor=indoor,
        time="day",
        size=camera.size,
        detail_width=640.0,
        elevation=camera.elevation,
        person_px=tuple((r, s * shrink) for r, s in scale),
        px_per_metre=scale,
        ground=tuple(ground),
        landmarks=(),
        avoid=(),
        picture=picture,
    )


def choose(pool: list[Patch], kinds: tuple[str, ...], rng: np.random.Generator) -> Patch:
    present = [k for k in kinds if any(p.kind == k for p in pool)]
    kind = present[int(rng.integers(len(present)))]
    candidates = [p for p in pool if p.kind == kind]
    return candidates[int(rng.integers(len(candidates)))]


def spread(patch: Patch, camera: Camera, rng: np.random.Generator) -> np.ndarray:
    """float32 [H, W, 3]: the patch over the whole plane. Two turned mirrored tilings hide each other's period."""
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
        # Folded here: mirroring far beyond the border is what OpenCV does slowly.
        turns = camera.unproject(to_patch) / np.float32(2 * limit)
        x, y = np.float32(limit) * (1 - np.abs(2 * (turns - np.floor(turns)) - 1))
        tilings.append(cv2.remap(pixels, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
    blend = _smooth(rng, camera.size, 9)[..., None]
    return tilings[0] * blend + tilings[1] * (1 - blend)


def _smooth(rng: np.random.Generator, size: tuple[int, int], cells: int) -> np.ndarray:
    """float32 [H, W] in 0..1, varying over about 1 / cells of the width."""
    coarse = rng.standard_normal((max(3, cells * size[1] // size[0]), cells)).astype(np.float32)
    quarter = cv2.resize(coarse, (size[0] // 4, size[1] // 4), interpolation=cv2.INTER_CUBIC)
    return cv2.resize(1 / (1 + np.exp(-3 * quarter)), size, interpolation=cv2.INTER_LINEAR)


def uneven(picture: np.ndarray, rng: np.random.Generator, wear: float = 1.0) -> np.ndarray:
    """Worn, stained, unevenly lit."""
    size = (picture.shape[1], picture.shape[0])
    shade = np.ones(size[::-1], np.float32)
    for cells, depth in ((3, 0.14), (9, 0.05), (40, 0.02)):
        shade *= 1 + wear * depth * (_smooth(rng, size, cells) - 0.5) * 2
    return np.uint8(np.clip(picture * shade[..., None] * rng.uniform(0.55, 1.15), 0, 255))


def _whole(camera: Camera) -> np.ndarray:
    width, height = camera.size
    return np.float32([[0, 0], [width, 0], [width, height], [0, height]])


def _paint(picture: np.ndarray, camera: Camera, strips: list[np.ndarray], level: float, alpha: float) -> np.ndarray:
    """Fills metric quadrilaterals [4, 2] that are in front of the camera."""
    mask = np.zeros(camera.size[::-1], np.float32)
    low = camera.ahead(camera.size[1] * 1.25)
    for strip in strips:
        if strip[:, 1].min() > max(low, 0.05):
            points = np.clip(camera.project(strip), -4000, 4000)
            cv2.fillPoly(mask, [np.int32(np.round(points * 16))], 1.0, lineType=cv2.LINE_AA, shift=4)
    mask = cv2.GaussianBlur(mask, (0, 0), 0.7)[..., None] * alpha
    return picture * (1 - mask) + level * mask


def _strip(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-6)
    side = np.array([-along[1], along[0]]) * width / 2
    return np.array([a - side, a + side, b + side, b - side])


def _turn(yaw: float, centre: float, points: np.ndarray) -> np.ndarray:
    c, s = math.cos(yaw), math.sin(yaw)
    return points @ np.array([[c, s], [-s, c]]) + [0, centre]


def _bays(picture: np.ndarray, camera: Camera, rng: np.random.Generator) -> np.ndarray:
    """Rows of parking bays with lanes between them."""
    yaw, centre = float(rng.uniform(-1.6, 1.6)), camera.ahead(camera.size[1] / 2)
    pitch, depth, lane = float(rng.uniform(2.4, 3.0)), float(rng.uniform(4.6, 5.5)), float(rng.uniform(6, 8))
    lean, offset = float(rng.choice([0.0, 0.0, rng.uniform(-1.5, 1.5)])), float(rng.uniform(-6, 6))
    strips = []
    for row in range(-4, 5):
        base = offset + row * (depth + lane)
        for k in range(-14, 15):
            ends = np.array([[k * pitch, base], [k * pitch + lean, base + depth]])
            a, b = _turn(yaw, centre, ends)
            strips.append(_strip(a, b, 0.12))
    return _paint(picture, camera, strips, level=float(rng.uniform(170, 225)), alpha=float(rng.uniform(0.3, 0.85)))


def _road(
    picture: np.ndarray, pool: list[Patch], camera: Camera, rng: np.random.Generator
) -> tuple[np.ndarray, list[tuple[str, np.ndarray, frozenset[str]]]]:
    """A road with lane marks between two verges of grass, soil or other paving."""
    yaw, centre = float(rng.uniform(-1.5, 1.5)), camera.ahead(camera.size[1] / 2)
    lanes = int(rng.integers(2, 5))
    half, offset = lanes * 3.3 / 2, float(rng.uniform(-3, 3))
    beside = choose(pool, ("grass", "grass", "soil", "paved"), rng)
    other = spread(beside, camera, rng)
    # Which pixels are road: intersect each with the plane and turn it into the road's own axes.
    x, z = camera.unproject(np.eye(3))
    across = math.cos(yaw) * x + math.sin(yaw) * (z - centre) - offset
    on_road = np.clip((half - np.abs(across)) * 12 + 0.5, 0, 1).astype(np.float32)[..., None]
    picture = picture * on_road + other * (1 - on_road)
    strips = []
    for k in range(lanes + 1):
        side = offset - half + 0.2 + (2 * half - 0.4) * k / lanes
        edge = k in (0, lanes)
        for start in np.arange(-60, 60, 3.0 if edge else 6.0):
            ends = np.array([[side, start], [side, start + 3.0]])
            a, b = _turn(yaw, centre, ends)
            strips.append(_strip(a, b, 0.13))
    picture = _paint(picture, camera, strips, level=float(rng.uniform(170, 225)), alpha=float(rng.uniform(0.3, 0.85)))
    name = {"grass": "grass", "soil": "gravel", "paved": "sidewalk"}[beside.kind]
    ground = []
    for label, inside, allowed in (
        ("road", np.abs(across) < half - 0.4, EVERYBODY),
        (name, across > half + 0.4, ON_FOOT),
        (name, across < -half - 0.4, ON_FOOT),
    ):
        contours, _ = cv2.findContours(inside.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for contour in contours:
            if cv2.contourArea(contour) > 2000:
                ground.append((label, cv2.approxPolyDP(contour, 2.0, True)[:, 0].astype(np.float32), allowed))
    return picture, ground or [("parking lot", _whole(camera), EVERYBODY)]
