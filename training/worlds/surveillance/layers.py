"""Compositor: draws a list of layers over a background, back to front, with shadows and occlusion.

A layer holds everything that a renderer needs (pixels, transform, shadow, tone). The compositor draws no random
numbers, so that another renderer (batched on a GPU, for example) can take the same list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np


@dataclass(frozen=True)
class Sun:
    """Direction of the sun. Azimuth 0 is behind the camera, positive to the right; both angles are in degrees."""

    azimuth: float
    elevation: float  # above the horizon
    strength: float  # 0..1, share of the light that a cast shadow removes


@dataclass(frozen=True)
class Tone:
    """Tone curve: out = lift + gain * in ** gamma, per channel, levels in 0..1."""

    gain: tuple[float, float, float]
    gamma: float
    lift: float


@dataclass
class Layer:
    """One figure as the compositor draws it."""

    pixels: np.ndarray  # uint8 [h, w, 4], RGBA, not premultiplied
    matrix: np.ndarray  # affine transform [2, 3] from sprite pixels to canvas pixels
    anchor: tuple[float, float]  # sprite pixel of the footprint's centre
    footprint: np.ndarray  # [4, 2], sprite pixels of its corners on the ground
    elevation: float  # degrees that the camera looks down
    tone: Tone
    blur: float  # standard deviation in canvas pixels
    contact: float  # 0..1, how dark the ground right below the figure is
    sun: Sun | None
    box_height: float = 0.0  # sprite pixels; above 0 the layer casts the shadow of a box, else that of its silhouette


@dataclass
class RenderedLayer:
    """Alpha of one layer in its own window of the canvas, whose upper left corner is (x, y)."""

    x: int
    y: int
    visible: np.ndarray  # float32 [h, w], 0..1, after occlusion by later layers
    total: float  # sum of alpha before occlusion and cropping at the canvas


def render(background: np.ndarray, layers: list[Layer]) -> tuple[np.ndarray, list[RenderedLayer]]:
    """The background, uint8 [H, W, 3] RGB, with the layers drawn over it in order; and the visible alpha per layer."""
    canvas = background.copy()
    rendered: list[RenderedLayer] = []
    for layer in layers:
        _draw_shadows(canvas, layer)
        rgb, alpha, x, y, total = _project(layer, canvas.shape[1], canvas.shape[0])
        for earlier in rendered:
            _occlude(earlier, alpha, x, y)
        h, w = alpha.shape
        if h and w:
            window = canvas[y : y + h, x : x + w]
            blended = window * (1.0 - alpha[..., None]) + rgb
            canvas[y : y + h, x : x + w] = np.clip(blended + 0.5, 0, 255).astype(np.uint8)
        rendered.append(RenderedLayer(x, y, alpha.copy(), total))
    return canvas, rendered


def _occlude(earlier: RenderedLayer, alpha: np.ndarray, x: int, y: int) -> None:
    """Removes from an earlier layer's visible alpha the part that a later layer hides."""
    h, w = alpha.shape
    eh, ew = earlier.visible.shape
    x0, y0 = max(x, earlier.x), max(y, earlier.y)
    x1, y1 = min(x + w, earlier.x + ew), min(y + h, earlier.y + eh)
    if x0 < x1 and y0 < y1:
        earlier.visible[y0 - earlier.y : y1 - earlier.y, x0 - earlier.x : x1 - earlier.x] *= (
            1.0 - alpha[y0 - y : y1 - y, x0 - x : x1 - x]
        )


def _project(layer: Layer, width: int, height: int) -> tuple[np.ndarray, np.ndarray, int, int, float]:
    """The layer in canvas pixels: premultiplied RGB (0..255), alpha (0..1), corner x, y of the window, total alpha."""
    pixels, matrix = layer.pixels, layer.matrix
    scale = math.sqrt(abs(matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0]))
    source = pixels.astype(np.float32) / 255.0
    alpha = source[..., 3:]
    tone = layer.tone
    rgb = tone.lift + np.float32(tone.gain) * np.power(source[..., :3], tone.gamma)
    premultiplied = np.concatenate([np.clip(rgb, 0, 1) * alpha * 255.0, alpha], axis=2)
    # One Gaussian prevents aliasing when the sprite shrinks and matches the sharpness of the plate.
    sigma = math.hypot(0.45 * math.sqrt(max(0.0, 1 / scale**2 - 1.0)), layer.blur / scale)
    pad = int(3 * sigma) + 2
    premultiplied = cv2.copyMakeBorder(premultiplied, pad, pad, pad, pad, cv2.BORDER_CONSTANT)
    if sigma > 0.2:
        premultiplied = cv2.GaussianBlur(premultiplied, (0, 0), sigma)
    ph, pw = premultiplied.shape[:2]
    corners = np.array([[0, 0], [pw, 0], [0, ph], [pw, ph]], np.float64) - pad
    placed = corners @ matrix[:, :2].T + matrix[:, 2]
    x0, y0 = np.floor(placed.min(axis=0)).astype(int)
    x1, y1 = np.ceil(placed.max(axis=0)).astype(int)
    area = float(premultiplied[..., 3].sum()) * scale**2
    x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, width), min(y1, height)
    if x0 >= x1 or y0 >= y1:
        return np.zeros((0, 0, 3), np.float32), np.zeros((0, 0), np.float32), 0, 0, area
    local = matrix.copy()
    local[:, 2] -= matrix[:, :2] @ np.array([pad, pad])
    local[:, 2] -= [x0, y0]
    warped = cv2.warpAffine(premultiplied, local, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)
    return warped[..., :3], np.clip(warped[..., 3], 0.0, 1.0), int(x0), int(y0), area


def _draw_shadows(canvas: np.ndarray, layer: Layer) -> None:
    """Darkens the ground below the layer (contact shadow) and where its cast shadow falls."""
    ground = layer.footprint @ layer.matrix[:, :2].T + layer.matrix[:, 2]
    size = float(max(np.ptp(ground[:, 0]), np.ptp(ground[:, 1]) * 2, 4.0))
    if layer.contact > 0:
        _darken_polygon(canvas, ground, layer.contact, sigma=0.06 * size + layer.blur)
    if layer.sun is not None and layer.box_height > 0:
        _cast_box(canvas, layer, layer.sun)
    elif layer.sun is not None:
        _cast_silhouette(canvas, layer, layer.sun)


def _darken_polygon(canvas: np.ndarray, points: np.ndarray, strength: float, sigma: float) -> None:
    pad = int(3 * sigma) + 2
    x0, y0 = np.maximum(np.floor(points.min(axis=0)).astype(int) - pad, 0)
    x1, y1 = np.minimum(np.ceil(points.max(axis=0)).astype(int) + pad, [canvas.shape[1], canvas.shape[0]])
    if x0 >= x1 or y0 >= y1:
        return
    mask = np.zeros((y1 - y0, x1 - x0), np.float32)
    hull = cv2.convexHull(np.float32(points - [x0, y0]))
    cv2.fillConvexPoly(mask, np.int32(np.round(hull * 16)), 1.0, shift=4, lineType=cv2.LINE_AA)
    _darken(canvas, cv2.GaussianBlur(mask, (0, 0), max(sigma, 0.5)) * strength, x0, y0)


def _cast_box(canvas: np.ndarray, layer: Layer, sun: Sun) -> None:
    """Shadow of a box: the convex hull of its footprint and of its roof projected on the ground."""
    reach = layer.box_height / math.tan(math.radians(sun.elevation))
    away = np.array(
        [
            -math.sin(math.radians(sun.azimuth)) * reach,
            -math.cos(math.radians(sun.azimuth)) * reach * math.sin(math.radians(layer.elevation)),
        ]
    )
    outline = np.concatenate([layer.footprint, layer.footprint + away])
    points = outline @ layer.matrix[:, :2].T + layer.matrix[:, 2]
    _darken_polygon(canvas, points, sun.strength, sigma=0.8 + layer.blur)


def _cast_silhouette(canvas: np.ndarray, layer: Layer, sun: Sun) -> None:
    """Shadow of the silhouette: a point above the anchor moves away from the sun in proportion to its height."""
    tilt = math.radians(layer.elevation)
    reach = 1.0 / (math.tan(math.radians(sun.elevation)) * math.cos(tilt))
    side = -math.sin(math.radians(sun.azimuth)) * reach
    depth = -math.cos(math.radians(sun.azimuth)) * reach * math.sin(tilt)
    ax, ay = layer.anchor
    # x' = x + side * (ay - y), y' = ay + depth * (ay - y), still in sprite pixels.
    shear = np.array([[1.0, -side, side * ay], [0.0, -depth, ay + depth * ay], [0.0, 0.0, 1.0]])
    matrix = np.vstack([layer.matrix, [0, 0, 1]]) @ shear
    alpha = layer.pixels[..., 3]
    h, w = alpha.shape
    corners = np.array([[0, 0, 1], [w, 0, 1], [0, h, 1], [w, h, 1]], np.float64) @ matrix[:2].T
    pad = 6
    x0, y0 = np.maximum(np.floor(corners.min(axis=0)).astype(int) - pad, 0)
    x1, y1 = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + pad, [canvas.shape[1], canvas.shape[0]])
    if x0 >= x1 or y0 >= y1:
        return
    matrix[:2, 2] -= [x0, y0]
    mask = cv2.warpAffine(alpha, matrix[:2], (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)
    mask = cv2.GaussianBlur(mask, (0, 0), 0.8 + layer.blur).astype(np.float32) * (sun.strength / 255.0)
    _darken(canvas, mask, x0, y0)


def _darken(canvas: np.ndarray, mask: np.ndarray, x: int, y: int) -> None:
    h, w = mask.shape
    window = canvas[y : y + h, x : x + w]
    canvas[y : y + h, x : x + w] = (window * (1.0 - mask[..., None]) + 0.5).astype(np.uint8)
