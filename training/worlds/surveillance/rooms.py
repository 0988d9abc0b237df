"""Generator of indoor plates: a room with one or two plain walls, wall fittings and a floor tiled from a real one.

Few real plates are indoors, and their resolution is low.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from training.worlds.surveillance.ground_texture import Camera, Patch, add_wear, choose_patch, drawn_plate, tile_ground
from training.worlds.surveillance.plates import NO_VEHICLES, Plate

WALL_LENGTH_M = 60.0  # beyond any frame
WALL_HEIGHT_M = 8.0  # likewise
FLOOR_KINDS = ("floor", "floor", "floor", "paved")  # of ground textures, by frequency
# fmt: off
WALL_COLOURS = (
    (236, 234, 228), (222, 216, 204), (205, 208, 212), (190, 186, 178), (176, 190, 200), (214, 206, 178),
    (160, 164, 160), (198, 178, 160), (120, 128, 136),
)
# fmt: on
TRIM_COLOURS = ((92, 62, 40), (132, 94, 60), (176, 140, 98), (226, 224, 218), (70, 74, 80))
MIN_FLOOR_SHARE = 0.2  # of the frame's height


class _Room:
    """The image of a room while it is drawn.

    Coordinates are metres: x to the right, up from the floor, z ahead. The back wall is the plane z = `depth`.
    """

    def __init__(self, camera: Camera, depth: float, image: np.ndarray):
        self.camera, self.depth, self.image = camera, depth, image

    def project(self, x: float, up: float, z: float) -> tuple[float, float]:
        camera, e = self.camera, math.radians(self.camera.elevation)
        drop = camera.height_m - up
        ahead = z * math.cos(e) + drop * math.sin(e)
        below = drop * math.cos(e) - z * math.sin(e)
        return camera.size[0] / 2 + camera.focal * x / ahead, camera.size[1] / 2 + camera.focal * below / ahead

    def fill(
        self, corners: list[tuple[float, float, float]], colour: np.ndarray | tuple[int, ...], softness: float = 0.6
    ) -> None:
        """Fills a flat quadrilateral with corners (x, up, z)."""
        points = np.clip([self.project(*c) for c in corners], -8000, 8000)
        mask = np.zeros(self.image.shape[:2], np.float32)
        cv2.fillPoly(mask, [np.int32(np.round(points * 16))], 1.0, lineType=cv2.LINE_AA, shift=4)
        mask = cv2.GaussianBlur(mask, (0, 0), softness)[..., None]
        self.image = self.image * (1 - mask) + np.float32(colour) * mask

    def fill_on_back_wall(
        self, x0: float, x1: float, up0: float, up1: float, colour: np.ndarray | tuple[int, ...]
    ) -> list[float]:
        """Fills a rectangle on the back wall and returns its box [x, y, w, h] in pixels."""
        z = self.depth
        self.fill([(x0, up0, z), (x1, up0, z), (x1, up1, z), (x0, up1, z)], colour)
        (left, bottom), (right, top) = self.project(x0, up0, z), self.project(x1, up1, z)
        return [left, top, right - left, bottom - top]


def room_plate(pool: list[Patch], rng: np.random.Generator) -> Plate:
    """A generated plate with its image. `pool` must hold a floor."""
    height = int(rng.choice([360, 432, 480]))
    camera = _draw_camera(height, rng)
    depth = float(rng.uniform(2.5, 7.0))
    floor_row = _wall_base_row(camera, depth)
    while floor_row > (1 - MIN_FLOOR_SHARE) * height:
        depth *= 1.25
        floor_row = _wall_base_row(camera, depth)
    base = choose_patch(pool, FLOOR_KINDS, rng)
    room = _Room(camera, depth, tile_ground(base, camera, rng) * np.float32(rng.uniform(0.8, 1.1)))
    tone = np.float32(WALL_COLOURS[int(rng.integers(len(WALL_COLOURS)))]) * np.float32(rng.uniform(0.8, 1.05))
    room.fill_on_back_wall(-WALL_LENGTH_M, WALL_LENGTH_M, 0.0, WALL_HEIGHT_M, tone)
    if rng.random() < 0.7:
        room.fill_on_back_wall(
            -WALL_LENGTH_M, WALL_LENGTH_M, 0.0, float(rng.uniform(0.06, 0.15)), _draw_colour(TRIM_COLOURS, rng)
        )
    half = 0.5 * camera.size[0] * depth / camera.focal  # half of the visible width of the back wall in metres
    landmarks = _draw_wall_fittings(room, half, rng)
    floor = [(0.0, floor_row + 6), (640.0, floor_row + 6), (640.0, height), (0.0, height)]
    if rng.random() < 0.45:
        floor = _side_wall(room, float(half * rng.uniform(0.55, 1.0)), bool(rng.random() < 0.5), tone, rng) or floor
    image = add_wear(cv2.GaussianBlur(room.image, (0, 0), 0.5), rng, wear=0.5)
    rows = (0.5 * (floor_row + height), 0.98 * height)
    ground = (("floor", np.float32(floor), NO_VEHICLES),)
    return drawn_plate("room", base, camera, rows, image, indoor=True, ground=ground, landmarks=tuple(landmarks))


def _draw_camera(height: int, rng: np.random.Generator) -> Camera:
    elevation = float(rng.uniform(2, 24))
    return Camera((640, height), elevation, float(rng.uniform(420, 820)), float(rng.uniform(1.5, 2.9)))


def _wall_base_row(camera: Camera, depth: float) -> float:
    return float(camera.project(np.array([[0.0, depth]]))[0, 1])


def _draw_colour(colours: tuple[tuple[int, ...], ...], rng: np.random.Generator) -> np.ndarray:
    return np.float32(colours[int(rng.integers(len(colours)))]) * np.float32(rng.uniform(0.75, 1.1))


def _draw_wall_fittings(
    room: _Room, half: float, rng: np.random.Generator
) -> list[tuple[str, tuple[float, float, float, float]]]:
    """Draws up to three doors, windows, screens, posters or pillars on the back wall.

    Returns the landmarks among them, which a caption may name, as in Plate.landmarks.
    """
    landmarks: list[tuple[str, tuple[float, float, float, float]]] = []
    for slot in rng.permutation(4)[: int(rng.integers(0, 4))]:
        middle = half * (-0.75 + 0.5 * slot) + float(rng.normal(0, 0.1))
        fitting = str(rng.choice(["door", "window", "screen", "poster", "pillar"]))
        if fitting == "door":
            box = room.fill_on_back_wall(middle - 0.48, middle + 0.48, 0.0, 2.08, _draw_colour(TRIM_COLOURS, rng))
            room.fill_on_back_wall(middle - 0.42, middle + 0.42, 0.02, 2.02, _draw_colour(TRIM_COLOURS, rng))
        elif fitting == "window":
            wide, foot = float(rng.uniform(0.4, 0.9)), float(rng.uniform(0.7, 1.1))
            box = room.fill_on_back_wall(
                middle - wide, middle + wide, foot, foot + 1.2, _draw_colour(TRIM_COLOURS, rng)
            )
            for side in (-1, 1):
                room.fill_on_back_wall(
                    middle + side * wide / 2 - 0.44 * wide,
                    middle + side * wide / 2 + 0.44 * wide,
                    foot + 0.06,
                    foot + 1.14,
                    rng.uniform((90, 110, 130), (250, 252, 255)),
                )
        elif fitting == "screen":
            box = room.fill_on_back_wall(middle - 0.6, middle + 0.6, 1.1, 1.85, (28, 29, 32))
        elif fitting == "poster":
            box = room.fill_on_back_wall(middle - 0.35, middle + 0.35, 1.0, 1.9, rng.uniform(30, 245, 3))
            for _ in range(int(rng.integers(1, 5))):
                x, up = middle + rng.uniform(-0.3, 0.05), rng.uniform(1.05, 1.6)
                room.fill_on_back_wall(
                    x, x + rng.uniform(0.1, 0.25), up, up + rng.uniform(0.05, 0.25), rng.uniform(20, 250, 3)
                )
        else:
            grey = float(rng.uniform(110, 225))
            box = room.fill_on_back_wall(middle - 0.25, middle + 0.2, 0.0, WALL_HEIGHT_M, (grey, grey, grey * 0.98))
            room.fill_on_back_wall(
                middle + 0.2, middle + 0.3, 0.0, WALL_HEIGHT_M, (grey * 0.8, grey * 0.8, grey * 0.79)
            )
        if fitting in ("door", "window", "pillar"):
            landmarks.append((f"the {fitting}", (box[0], box[1], box[2], box[3])))
    return landmarks


def _side_wall(
    room: _Room, x: float, left: bool, tone: np.ndarray, rng: np.random.Generator
) -> list[tuple[float, float]] | None:
    """Draws a wall from the back towards the camera.

    Returns the remaining floor polygon, or None if it is too narrow.
    """
    x = -x if left else x
    e = math.radians(room.camera.elevation)
    near = max(0.35, 0.35 - room.camera.height_m * math.tan(e))  # in front of the camera, at any mounting height
    room.fill(
        [(x, 0.0, room.depth), (x, WALL_HEIGHT_M, room.depth), (x, WALL_HEIGHT_M, near), (x, 0.0, near)],
        tone * np.float32(rng.uniform(0.72, 0.92)),
    )
    back, front = room.project(x, 0.0, room.depth), room.project(x, 0.0, near)
    width, height = room.camera.size
    far = 0.0 if left else float(width)
    edge = (max(front[0], -4 * width), front[1]) if left else (min(front[0], 5 * width), front[1])
    other = float(width) - far
    if abs(back[0] - other) < 0.3 * width:
        return None
    return [
        (other, back[1] + 6),
        (back[0] + (8 if left else -8), back[1] + 6),
        edge,
        (other, max(edge[1], float(height))),
    ]
