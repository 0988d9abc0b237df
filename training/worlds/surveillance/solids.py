"""Renderer of convex solids: perspective, painter's algorithm, flat shading with gradients, antialiased alpha.

Axes of a model in metres: x forwards, y to its left, z up. The origin is the centre of its footprint.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

LONGER_SIDE_PX, PADDING_PX = 152, 3  # size of a drawing without its padding, and the padding
SUPERSAMPLING = 3
# Distance of the camera, as for the rendered sprites: at least MIN_DISTANCE_M, and DISTANCE_PER_LENGTH lengths.
MIN_DISTANCE_M, DISTANCE_PER_LENGTH = 24.0, 2.7
BANDS = 4  # bands of constant brightness in the gradient of a face
TOUCHING_M = 2e-3  # gap below which two solids count as touching
SKY = (0.62, 0.68, 0.74)
CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))
Point = tuple[float, float, float]
GLASS, PAINT, MATT, LAMP = "glass", "paint", "matt", "lamp"


@dataclass(frozen=True)
class Material:
    rgb: tuple[float, float, float]  # 0..1
    finish: str = PAINT


@dataclass(frozen=True)
class Decal:
    """A polygon on a face of a solid.

    For the face "sides" its points are (x, z). For the face of edge i of the profile they are (across, along the edge),
    both in 0..1.
    """

    face: str | int
    points: tuple[tuple[float, float], ...]
    material: Material


@dataclass(frozen=True)
class Solid:
    """A convex profile extruded sideways. The bounding boxes of a layer's solids must not overlap."""

    profile: tuple[tuple[float, float], ...]  # points (x, z)
    low: tuple[float, float]  # smallest and largest y at the bottom
    high: tuple[float, float]  # likewise at the top
    material: Material
    decals: tuple[Decal, ...] = ()


@dataclass(frozen=True)
class Lighting:
    sun: tuple[float, float, float] | None  # direction to the sun: right, towards the camera, up
    sky: float  # 0..1, brightness of the sky that glass reflects


@dataclass(frozen=True)
class Drawing:
    """A rendered model; the fields are those of Sprite."""

    pixels: np.ndarray  # uint8 [h, w, 4], RGBA, not premultiplied
    anchor: tuple[float, float]
    footprint: np.ndarray  # [4, 2]
    px_per_m: float


class _Camera:
    def __init__(self, size: tuple[float, float, float], elevation: float, azimuth: float):
        e, a = math.radians(elevation), math.radians(azimuth)
        self.flat = np.array([math.cos(a), math.sin(a), 0.0])  # towards the camera, along the ground
        back = math.cos(e) * self.flat + np.array([0, 0, math.sin(e)])
        self.right = np.array([-math.sin(a), math.cos(a), 0.0])
        self.axes = np.stack([self.right, np.cross(back, self.right), back])
        self.centre = np.array([0, 0, size[2] / 2])
        self.distance = max(MIN_DISTANCE_M, DISTANCE_PER_LENGTH * size[0])
        self.position = self.centre + self.distance * back

    def project(self, points: np.ndarray) -> np.ndarray:
        """[n, 3] -> [n, 2], scaled so that a metre at the centre is 1; y points down."""
        seen = (points - self.centre) @ self.axes.T
        near = self.distance / (self.distance - seen[:, 2])
        return np.stack([seen[:, 0] * near, -seen[:, 1] * near], axis=1)


def draw_solids(
    layers: list[list[Solid]],
    flanks: list[Solid],
    size: tuple[float, float, float],
    elevation: float,
    azimuth: float,
    lighting: Lighting,
    rng: np.random.Generator,
) -> Drawing:
    """Draws layers over each other, and the solids of a layer from far to near. `size`: length, width, height.

    `flanks` are flat solids on the left and right side, in front of everything if their side faces the camera.
    """
    camera = _Camera(size, elevation, azimuth)
    eye = tuple(float(v) for v in camera.position)
    in_view = [s for s in flanks if s.low[0] * eye[1] > 0 and abs(eye[1]) > abs(s.low[1])]
    shapes, colours = [], []
    for layer in (*layers, in_view):
        # Random numbers are drawn for hidden faces too, so that a face keeps its own at every azimuth.
        unevenness = {id(s): rng.normal(1, 0.025, len(s.profile) + 2).tolist() for s in layer}
        for solid in _far_to_near(layer, camera.position):
            for points, colour in _faces(solid, camera, eye, size[2], lighting, unevenness[id(solid)]):
                shapes.append(points)
                colours.append(colour)
    flat = camera.project(np.array([point for shape in shapes for point in shape]))
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = LONGER_SIDE_PX / float((high - low).max())
    width, height = (int(math.ceil(v)) + 2 * PADDING_PX for v in (high - low) * scale)
    origin = -low * scale + PADDING_PX
    fixed = np.int32(np.round(((flat * scale + origin) * SUPERSAMPLING - 0.5) * 16))
    canvas = np.zeros((height * SUPERSAMPLING, width * SUPERSAMPLING, 4), np.uint8)
    start = 0
    for points, colour in zip(shapes, colours):
        cv2.fillConvexPoly(canvas, fixed[start : start + len(points)], colour, shift=4)
        start += len(points)
    small = cv2.resize(canvas.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA)
    small[..., :3] /= np.maximum(small[..., 3:] / 255, 1e-3)
    length, across = size[0] / 2, size[1] / 2
    ground = np.array(
        [[0, 0, 0], [length, -across, 0], [length, across, 0], [-length, across, 0], [-length, -across, 0]]
    )
    marks = camera.project(ground) * scale + origin
    return Drawing(
        np.uint8(np.clip(small + 0.5, 0, 255)), (float(marks[0, 0]), float(marks[0, 1])), np.float32(marks[1:]), scale
    )


def _far_to_near(solids: list[Solid], eye: np.ndarray) -> list[Solid]:
    """The solids in an order in which none is drawn after a solid that may hide it."""
    bounds = []
    for s in solids:
        (x0, z0), (x1, z1) = np.min(s.profile, axis=0), np.max(s.profile, axis=0)
        bounds.append(((x0, min(s.low[0], s.high[0]), z0), (x1, max(s.low[1], s.high[1]), z1)))
    low, high = np.array(bounds).reshape(-1, 2, 3).transpose(1, 0, 2)
    # If a plane separates two solids, the one on the far side from the eye cannot hide the other.
    behind = (high[:, None] <= low[None] + TOUCHING_M) & (eye > low[None] - TOUCHING_M)
    ahead = (low[:, None] >= high[None] - TOUCHING_M) & (eye < high[None] + TOUCHING_M)
    may_hide = ~(behind | ahead).any(axis=2)  # [i, j]: i hides part of j
    must_wait = may_hide & ~may_hide.T
    waits_for = must_wait.sum(axis=1)
    distance = np.linalg.norm((low + high) / 2 - eye, axis=1)
    order = []
    for _ in solids:
        chosen = int(np.argmax(distance - 1e3 * waits_for))
        distance[chosen] = -np.inf
        waits_for -= must_wait[:, chosen]
        order.append(solids[chosen])
    return order


def _faces(
    solid: Solid, camera: _Camera, eye: Point, height: float, lighting: Lighting, unevenness: list[float]
) -> Iterator[tuple[list[Point], tuple[int, ...]]]:
    """Visible polygons of a solid in drawing order: points and RGBA. Plain floats are faster than such small arrays."""
    profile, count = solid.profile, len(solid.profile)
    z0, z1 = min(z for _, z in profile), max(z for _, z in profile)

    def on_side(x: float, z: float, side: int) -> Point:
        t = (z - z0) / max(z1 - z0, 1e-6)
        return x, solid.low[side] * (1 - t) + solid.high[side] * t, z

    right, left = ([on_side(x, z, side) for x, z in profile] for side in (0, 1))
    middle = tuple(sum(axis) / (2 * count) for axis in zip(*right, *left))
    thin = solid.low[1] - solid.low[0] < TOUCHING_M  # its edges are invisible
    for face in range(count if thin else 0, count + 2):
        following = (face + 1) % count
        if face < count:
            a, b, c, d = right[face], left[face], left[following], right[following]
        else:
            a, b, c = (right if face == count else left)[:3]
        normal = _normal(a, b, c, middle)
        if sum(n * (e - p) for n, e, p in zip(normal, eye, a)) <= 0:
            continue
        place = face if face < count else "sides"
        outline = CORNERS if face < count else profile
        light = _light(normal, camera, lighting) * unevenness[face]
        for polygon, material in (
            (outline, solid.material),
            *((m.points, m.material) for m in solid.decals if m.face == place),
        ):
            for along, part in _bands(polygon, material):
                if face < count:
                    points = [
                        tuple(
                            (1 - v) * ((1 - u) * p + u * q) + v * ((1 - u) * s + u * r)
                            for p, q, r, s in zip(a, b, c, d)
                        )
                        for u, v in part
                    ]
                else:
                    points = [on_side(x, z, face - count) for x, z in part]
                level = sum(p[2] for p in points) / (len(points) * height)
                yield points, _colour(material, light, normal[2], along, level, lighting)


def _normal(a: Point, b: Point, c: Point, inside: Point) -> Point:
    """Unit normal of the plane through a, b and c that points away from `inside`."""
    ux, uy, uz = (q - p for p, q in zip(a, b))
    vx, vy, vz = (q - p for p, q in zip(b, c))
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = math.sqrt(x * x + y * y + z * z) or 1.0
    if x * (a[0] - inside[0]) + y * (a[1] - inside[1]) + z * (a[2] - inside[2]) < 0:
        size = -size
    return x / size, y / size, z / size


def _bands(
    outline: tuple[tuple[float, float], ...], material: Material
) -> list[tuple[float, list[tuple[float, float]]]]:
    """The polygon and smaller and smaller upper parts of it, each with its start along the face (0..1)."""
    bands = [(0.0, list(outline))]
    if material.finish not in (PAINT, GLASS) or len(outline) > 8:
        return bands
    values = [v for _, v in outline]
    low, high = min(values), max(values)
    for band in range(1, BANDS):
        part = _above(bands[-1][1], low + (high - low) * band / BANDS)
        if len(part) < 3:
            break
        bands.append((band / (BANDS - 1), part))
    return bands


def _above(polygon: list[tuple[float, float]], level: float) -> list[tuple[float, float]]:
    """The part of a convex polygon whose second coordinate is at least `level`."""
    kept = []
    for (u0, v0), (u1, v1) in zip(polygon, polygon[1:] + polygon[:1]):
        if v0 >= level:
            kept.append((u0, v0))
        if (v0 >= level) != (v1 >= level):
            t = (level - v0) / (v1 - v0)
            kept.append((u0 + t * (u1 - u0), level))
    return kept


def _light(normal: Point, camera: _Camera, lighting: Lighting) -> float:
    """Brightness of a face with that normal, about 0.4 to 1."""
    up = normal[2]
    facing = float(normal[0] * camera.flat[0] + normal[1] * camera.flat[1])
    if lighting.sun is None:
        return 0.58 + 0.2 * up + 0.05 * facing
    across = float(normal[0] * camera.right[0] + normal[1] * camera.right[1])
    direct = sum(s * n for s, n in zip(lighting.sun, (across, facing, up)))
    return 0.43 + 0.12 * up + 0.42 * max(0.0, direct)


def _colour(
    material: Material, light: float, up: float, along: float, height: float, lighting: Lighting
) -> tuple[int, ...]:
    """RGBA of a band that begins `along` its face and is `height` (0..1) above the ground."""
    up = max(0.0, up)
    if material.finish == LAMP:
        gain, veil = 0.55 + 0.5 * light, 0.0
    elif material.finish == GLASS:  # inclined glass reflects the sky, upright glass the surroundings
        veil = lighting.sky * (0.12 + 0.5 * up + 0.16 * along)
        gain = (0.5 + light) * (1 - veil)
    else:
        gain, veil = light * (0.78 + 0.22 * min(1.0, height / 0.4)), 0.0  # darker near the ground: dirt and less light
        if material.finish == PAINT:
            gain, veil = gain * (0.95 + 0.1 * along), 0.1 * (0.4 + up) * (0.8 + 0.4 * along)
    return (*(int(255 * min(1.0, v * gain + veil * s)) for v, s in zip(material.rgb, SKY)), 255)
