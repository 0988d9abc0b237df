"""Renderer of a model as a sprite: perspective, textures, transparent layers, sky light with occlusion, a sun.

Axes in metres: x forwards, y to the left of the model, z up; the origin is the centre of its footprint. Angles are
those of training/worlds/README.md. Everything is computed from the arguments, so a picture is equal in every run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from training.pictures.rasteriser import rasterise, received_light
from training.pictures.wavefront import Mesh

SUPERSAMPLING = 3
PADDING_PX = 1
LAYERS = 4  # surfaces behind each other that a view ray passes, if they are transparent
OPAQUE = 0.98
GLASS_OPACITY, GLASS_REFLECTION, SKY_COLOUR = 0.6, 0.25, (0.72, 0.78, 0.85)  # of materials that are not opaque
SKY_DIRECTIONS, SHADOW_MAP_PX, SHADOW_BIAS = 32, 192, 0.015  # bias: share of the model's size
GAMMA = 2.2
OVERCAST_SKY, SUNNY_SKY, SUN_LIGHT, BOUNCE = 0.66, 0.40, 0.62, 0.12  # irradiance; 1 makes a white surface white


@dataclass(frozen=True)
class View:
    """A camera that looks at the middle of the model. Degrees and metres."""

    elevation: float
    azimuth: float
    distance: float
    sun: (
        tuple[float, float] | None
    )  # azimuth (0 behind the camera, positive to the right) and elevation; None: overcast


@dataclass(frozen=True, eq=False)
class Picture:
    pixels: np.ndarray  # uint8 [h, w, 4], RGBA, not premultiplied
    px_per_m: float  # at the middle of the model
    anchor: tuple[float, float]  # pixel of the origin
    footprint: np.ndarray  # float64 [4, 2]: pixels of the corners of the footprint
    material: np.ndarray  # int32 [h, w]: material of the nearest surface in the middle of each pixel, -1 = none


def place_model(mesh: Mesh, size_m: tuple[float, float, float], turn: int) -> Mesh:
    """The mesh in metres on the ground. size_m: its length (longer side or x), width and height. turn: degrees about z.

    The models of Sweet Home 3D have y up and face +z. They are scaled per axis, as their catalogue does.
    """
    c, s = round(math.cos(math.radians(turn))), round(math.sin(math.radians(turn)))
    axes = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    corners = mesh.corners @ axes.T
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    extent = np.maximum(high - low, 1e-9)
    length, width, height = size_m
    same = abs(math.log(extent[0] / extent[1]) - math.log(length / width))
    swapped = abs(math.log(extent[0] / extent[1]) - math.log(width / length))
    target = np.array([length, width, height] if same <= swapped else [width, length, height])
    middle = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    normals = (mesh.normals @ axes.T) * (extent / target)
    normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-12)
    return replace(mesh, corners=(corners - middle) * (target / extent), normals=normals)


class ModelRenderer:
    """Renders views of one placed mesh. The light of the sky is prepared once."""

    def __init__(self, mesh: Mesh):
        self.mesh = mesh
        self.low, self.high = mesh.corners.min(axis=(0, 1)), mesh.corners.max(axis=(0, 1))
        self.middle = np.array([0, 0, self.high[2] / 2])
        self.radius = float(np.linalg.norm(self.high - self.low)) / 2
        opacity = np.array([m.opacity for m in mesh.materials])
        self.casting = mesh.corners[opacity[mesh.material] > 0.5]
        self.sky = self._shadow_maps(_sky_directions())

    def draw(self, view: View, max_width: int, max_height: int) -> Picture:
        """The view, as large as the two sizes in pixels allow."""
        e, a = math.radians(view.elevation), math.radians(view.azimuth)
        flat = np.array([math.cos(a), math.sin(a), 0.0])  # towards the camera, along the ground
        right = np.array([-math.sin(a), math.cos(a), 0.0])
        back = math.cos(e) * flat + np.array([0, 0, math.sin(e)])
        axes = np.stack([right, np.cross(back, right), back])

        def project(points: np.ndarray) -> np.ndarray:
            """[..., 3] -> x and y (down) in metres at the middle of the model, and -1 / distance."""
            seen = (points - self.middle) @ axes.T
            away = view.distance - seen[..., 2:]
            near = view.distance / away
            return np.concatenate([seen[..., :1] * near, -seen[..., 1:2] * near, -1 / away], axis=-1)

        screen = project(self.mesh.corners)
        low, high = screen[..., :2].min(axis=(0, 1)), screen[..., :2].max(axis=(0, 1))
        scale = min(max_width / (high[0] - low[0]), max_height / (high[1] - low[1]))
        width, height = (math.ceil(v * scale) + 2 * PADDING_PX for v in high - low)
        origin = PADDING_PX - low * scale
        fine = screen.copy()
        fine[..., :2] = (screen[..., :2] * scale + origin) * SUPERSAMPLING
        sun = None
        if view.sun is not None:
            turn, rise = (math.radians(angle) for angle in view.sun)
            along = math.sin(turn) * right + math.cos(turn) * flat
            direction = math.cos(rise) * along + np.array([0, 0, math.sin(rise)])
            sun = self._shadow_maps(direction[None])
        eye = self.middle + view.distance * back
        rgba, material = self._shade(fine, (width * SUPERSAMPLING, height * SUPERSAMPLING), eye, sun)
        small = cv2.resize(rgba, (width, height), interpolation=cv2.INTER_AREA)
        small[..., :3] = (small[..., :3] / np.maximum(small[..., 3:], 1e-4)) ** (1 / GAMMA)
        pixels = np.uint8(np.clip(np.rint(small * 255), 0, 255))
        pixels[pixels[..., 3] == 0] = 0
        x, y = self.high[:2]
        ground = np.array([[0, 0, 0], [x, -y, 0], [x, y, 0], [-x, y, 0], [-x, -y, 0]])
        marks = project(ground)[:, :2] * scale + origin
        centre = SUPERSAMPLING // 2
        return Picture(
            pixels, scale, tuple(marks[0]), marks[1:], material[centre::SUPERSAMPLING, centre::SUPERSAMPLING]
        )

    def _shade(self, screen, size, eye, sun) -> tuple[np.ndarray, np.ndarray]:
        """Premultiplied linear RGBA, float32 [h, w, 4], and the material of the nearest surface, int32 [h, w]."""
        width, height = size
        result = np.zeros((height, width, 4), np.float32)
        nearest = np.full((height, width), -1, np.int32)
        behind = np.full((height, width), -np.inf)
        for layer in range(LAYERS):
            index, weights, depth = rasterise(screen, width, height, behind)
            shown = index >= 0
            if not shown.any():
                break
            rgb, alpha = self._surface(screen, index[shown], weights[shown], eye, sun)
            left = (1 - result[shown][:, 3]) * alpha
            result[shown] += np.concatenate([rgb * left[:, None], left[:, None]], axis=1)
            if layer == 0:
                nearest[shown] = self.mesh.material[index[shown]]
            behind = np.where(shown & (result[..., 3] < OPAQUE), depth * (1 - 1e-6), np.inf)
        return result, nearest

    def _surface(self, screen, triangle, weights, eye, sun) -> tuple[np.ndarray, np.ndarray]:
        """Linear RGB, float32 [n, 3], and opacity [n] of points of triangles, whose weights are those on the screen."""
        mesh = self.mesh
        share = np.concatenate([1 - weights.sum(axis=1, keepdims=True), weights], axis=1)
        share = share * -screen[triangle, :, 2]  # perspective: divided by the distance
        share = (share / share.sum(axis=1, keepdims=True))[..., None]
        point = (mesh.corners[triangle] * share).sum(axis=1)
        normal = (mesh.normals[triangle] * share).sum(axis=1)
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
        flat = np.cross(
            mesh.corners[triangle, 1] - mesh.corners[triangle, 0], mesh.corners[triangle, 2] - mesh.corners[triangle, 0]
        )
        # Both sides of a face are seen: models are not consistent about its front.
        normal *= np.where((normal * flat).sum(axis=1) < 0, -1, 1)[:, None]
        normal *= np.where((flat * (eye - point)).sum(axis=1) < 0, -1, 1)[:, None]
        colour, alpha = self._albedo(triangle, (mesh.uv[triangle] * share).sum(axis=1))
        level = SUNNY_SKY if sun is not None else OVERCAST_SKY
        light = BOUNCE * (0.5 - 0.5 * normal[:, 2])
        light += level * received_light(point - self.middle, normal, *self.sky) / self.sky[0][:, 2].sum()
        if sun is not None:
            light += SUN_LIGHT * received_light(point - self.middle, normal, *sun)
        rgb = colour**GAMMA * light[:, None]
        glass = (alpha < OPAQUE)[:, None]
        sky = np.array(SKY_COLOUR) ** GAMMA * (0.5 + 0.5 * np.abs(normal[:, 2:]))
        rgb = np.where(glass, rgb * (1 - GLASS_REFLECTION) + sky * GLASS_REFLECTION, rgb)
        return np.float32(rgb), alpha

    def _albedo(self, triangle, uv) -> tuple[np.ndarray, np.ndarray]:
        """Colour as displayed, float64 [n, 3], and opacity [n]."""
        colour, alpha = np.zeros((len(triangle), 3)), np.ones(len(triangle))
        kind = self.mesh.material[triangle]
        for i in np.unique(kind):
            material, covered = self.mesh.materials[i], kind == i
            colour[covered] = material.colour
            if 0 < material.opacity < OPAQUE:
                alpha[covered] = max(material.opacity, GLASS_OPACITY)
            elif material.opacity == 0:
                alpha[covered] = 0
            if material.texture is not None:
                h, w = material.texture.shape[:2]
                x = np.mod(uv[covered, 0], 1) * w
                y = np.mod(1 - uv[covered, 1], 1) * h
                texel = material.texture[np.minimum(y.astype(int), h - 1), np.minimum(x.astype(int), w - 1)]
                colour[covered] = texel[:, :3]
                alpha[covered] *= texel[:, 3]
        return np.clip(colour, 0, 1), alpha

    def _shadow_maps(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
        """The arguments of received_light after the normals, for directions [d, 3]."""
        scale = SHADOW_MAP_PX / (2 * self.radius)
        offset = self.casting - self.middle
        everywhere = np.full((SHADOW_MAP_PX, SHADOW_MAP_PX), -np.inf)
        depths, axes = [], []
        for direction in directions:
            side = np.cross(direction, [0, 0, 1]) if abs(direction[2]) < 0.99 else np.array([1.0, 0, 0])
            side = side / np.linalg.norm(side)
            plane = np.stack([side, np.cross(direction, side)])
            flat = offset @ plane.T * scale + SHADOW_MAP_PX / 2
            seen = np.concatenate([flat, -(offset @ direction)[..., None]], axis=-1)
            depths.append(rasterise(seen, SHADOW_MAP_PX, SHADOW_MAP_PX, everywhere)[2])
            axes.append(plane)
        return directions, np.stack(depths), np.stack(axes), scale, SHADOW_BIAS * 2 * self.radius


def _sky_directions() -> np.ndarray:
    """[SKY_DIRECTIONS, 3]: unit vectors spread evenly over the upper half of the sphere (Fibonacci lattice)."""
    found = []
    for k in range(SKY_DIRECTIONS):
        z = (k + 0.5) / SKY_DIRECTIONS
        turn = k * math.pi * (3 - math.sqrt(5))
        found.append(np.array([math.sqrt(1 - z * z) * math.cos(turn), math.sqrt(1 - z * z) * math.sin(turn), z]))
    return np.stack(found)
