"""Generator of top-down plates: ground textures of real plates, seen by a camera that looks down by 28 to 86 degrees.

Few real plates look down steeply, although most surveillance cameras hang high. A ground texture is painted (parking
bays, lanes, verges) and projected through a pinhole camera.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from training.worlds.surveillance.ground_texture import Camera, Patch, add_wear, choose_patch, drawn_plate, tile_ground
from training.worlds.surveillance.plates import ANY_HYPERNYM, NO_VEHICLES, Plate

# Share of the cameras, least and most elevation in degrees, least and most pixels per metre at the centre. Cameras of
# the last row hang over doors and aisles.
CAMERAS = ((0.45, (28, 42), (18, 85)), (0.3, (48, 62), (18, 85)), (0.25, (66, 86), (30, 130)))


def _draw_camera(height_px: int, rng: np.random.Generator) -> Camera:
    _, elevations, scales = CAMERAS[int(rng.choice(len(CAMERAS), p=[share for share, *_ in CAMERAS]))]
    elevation = float(rng.uniform(*elevations))
    focal = float(rng.uniform(560, 900))
    central = float(np.exp(rng.uniform(*np.log(scales))))
    return Camera((640, height_px), elevation, focal, focal / central * math.sin(math.radians(elevation)))


def top_down_plate(pool: list[Patch], indoor: bool, rng: np.random.Generator) -> Plate:
    """A generated plate with its image. `pool` must hold a paved patch and, for an indoor plate, a floor."""
    camera = _draw_camera(int(rng.choice([360, 432, 480])), rng)
    base = choose_patch(pool, ("floor",) if indoor else ("paved", "paved", "paved", "paved", "soil", "grass"), rng)
    image = tile_ground(base, camera, rng)
    if indoor:
        ground = [("floor", _whole_frame(camera), NO_VEHICLES)]
    elif base.kind == "grass":
        ground = [("grass", _whole_frame(camera), ANY_HYPERNYM)]
    elif base.kind == "soil":
        ground = [("gravel", _whole_frame(camera), ANY_HYPERNYM)]
    elif rng.random() < 0.5:
        image, ground = _road(image, pool, camera, rng)
    else:
        image = _bays(image, camera, rng) if rng.random() < 0.75 else image
        ground = [("parking lot", _whole_frame(camera), ANY_HYPERNYM)]
    image = add_wear(image, rng)
    height = camera.size[1]
    rows = (0.1 * height, 0.9 * height)
    return drawn_plate("top_down", base, camera, rows, image, indoor=indoor, ground=tuple(ground), landmarks=())


def _whole_frame(camera: Camera) -> np.ndarray:
    width, height = camera.size
    return np.float32([[0, 0], [width, 0], [width, height], [0, height]])


def _paint(image: np.ndarray, camera: Camera, strips: list[np.ndarray], level: float, alpha: float) -> np.ndarray:
    """Blends painted strips (quadrilaterals [4, 2] in metres) that lie in front of the camera into the image."""
    mask = np.zeros(camera.size[::-1], np.float32)
    low = camera.ahead(camera.size[1] * 1.25)
    for strip in strips:
        if strip[:, 1].min() > max(low, 0.05):
            points = np.clip(camera.project(strip), -4000, 4000)
            cv2.fillPoly(mask, [np.int32(np.round(points * 16))], 1.0, lineType=cv2.LINE_AA, shift=4)
    mask = cv2.GaussianBlur(mask, (0, 0), 0.7)[..., None] * alpha
    return image * (1 - mask) + level * mask


def _strip(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-6)
    side = np.array([-along[1], along[0]]) * width / 2
    return np.array([a - side, a + side, b + side, b - side])


def _rotate(yaw: float, centre: float, points: np.ndarray) -> np.ndarray:
    c, s = math.cos(yaw), math.sin(yaw)
    return points @ np.array([[c, s], [-s, c]]) + [0, centre]


def _bays(image: np.ndarray, camera: Camera, rng: np.random.Generator) -> np.ndarray:
    """Rows of parking bays with lanes between them."""
    yaw, centre = float(rng.uniform(-1.6, 1.6)), camera.ahead(camera.size[1] / 2)
    pitch, depth, lane = float(rng.uniform(2.4, 3.0)), float(rng.uniform(4.6, 5.5)), float(rng.uniform(6, 8))
    lean, offset = float(rng.choice([0.0, 0.0, rng.uniform(-1.5, 1.5)])), float(rng.uniform(-6, 6))
    strips = []
    for row in range(-4, 5):
        base = offset + row * (depth + lane)
        for k in range(-14, 15):
            ends = np.array([[k * pitch, base], [k * pitch + lean, base + depth]])
            a, b = _rotate(yaw, centre, ends)
            strips.append(_strip(a, b, 0.12))
    return _paint(image, camera, strips, level=float(rng.uniform(170, 225)), alpha=float(rng.uniform(0.3, 0.85)))


def _road(
    image: np.ndarray, pool: list[Patch], camera: Camera, rng: np.random.Generator
) -> tuple[np.ndarray, list[tuple[str, np.ndarray, frozenset[str]]]]:
    """A road with lane marks between two verges of grass, soil or paving, and its ground polygons."""
    yaw, centre = float(rng.uniform(-1.5, 1.5)), camera.ahead(camera.size[1] / 2)
    lanes = int(rng.integers(2, 5))
    half, offset = lanes * 3.3 / 2, float(rng.uniform(-3, 3))
    beside = choose_patch(pool, ("grass", "grass", "soil", "paved"), rng)
    other = tile_ground(beside, camera, rng)
    # A pixel is road if its ground point, in the axes of the road, lies between the edges.
    x, z = camera.unproject(np.eye(3))
    across = math.cos(yaw) * x + math.sin(yaw) * (z - centre) - offset
    on_road = np.clip((half - np.abs(across)) * 12 + 0.5, 0, 1).astype(np.float32)[..., None]
    image = image * on_road + other * (1 - on_road)
    strips = []
    for k in range(lanes + 1):
        side = offset - half + 0.2 + (2 * half - 0.4) * k / lanes
        edge = k in (0, lanes)
        for start in np.arange(-60, 60, 3.0 if edge else 6.0):
            ends = np.array([[side, start], [side, start + 3.0]])
            a, b = _rotate(yaw, centre, ends)
            strips.append(_strip(a, b, 0.13))
    image = _paint(image, camera, strips, level=float(rng.uniform(170, 225)), alpha=float(rng.uniform(0.3, 0.85)))
    name = {"grass": "grass", "soil": "gravel", "paved": "sidewalk"}[beside.kind]
    ground = []
    for label, inside, allowed in (
        ("road", np.abs(across) < half - 0.4, ANY_HYPERNYM),
        (name, across > half + 0.4, NO_VEHICLES),
        (name, across < -half - 0.4, NO_VEHICLES),
    ):
        contours, _ = cv2.findContours(inside.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for contour in contours:
            if cv2.contourArea(contour) > 2000:
                ground.append((label, cv2.approxPolyDP(contour, 2.0, True)[:, 0].astype(np.float32), allowed))
    return image, ground or [("parking lot", _whole_frame(camera), ANY_HYPERNYM)]
