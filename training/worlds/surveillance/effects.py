"""Image effects of one frame: its parameters, and the pipeline that turns a composed canvas into a camera's frame."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import cv2
import numpy as np

from training.worlds.surveillance.camera_motion import warp


@dataclass(frozen=True)
class FrameEffects:
    """Parameters of one frame's effects. Standard deviations are in pixels (blur) or in levels of 0..255 (noise)."""

    homography: np.ndarray  # [3, 3], canvas pixels -> frame pixels
    sway: float = 0.0  # displacement of foliage, standard deviation in pixels
    shadow: float = 0.0  # 0..1, depth of soft shadows
    shadow_cells: int = 10  # control points of the shadows across the width
    hard_shadow: tuple[float, float, int] | None = None  # depth 0..1, direction in degrees, seed of what casts it
    weather: str | None = None  # fog, rain or snow
    weather_amount: float = 0.0  # 0..1
    defocus: float = 0.0  # standard deviation of the blur
    motion_blur: tuple[float, float] = (0.0, 0.0)  # length in pixels, angle in degrees
    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)  # per channel
    gamma: float = 1.0
    saturation: float = 1.0
    grey: bool = False  # an infrared frame: no colour
    vignette: float = 0.0  # 0..1, darkening of the corners
    noise: float = 2.0
    noise_soft: bool = True  # noise of neighbouring pixels is correlated, as after a camera's own denoising
    overlay: tuple[str, int, int, float] | None = None  # text, x, y, size
    rescale: float = 1.0  # resolution of the encoded frame relative to the frame
    quality: int = 85  # of JPEG, 1..100
    seed: int = 0


def apply_effects(canvas: np.ndarray, effects: FrameEffects, size: tuple[int, int]) -> np.ndarray:
    """The frame, uint8 [H, W, 3] RGB, of a composed canvas. `size` is (width, height) of the frame."""
    width, height = size
    rng = np.random.default_rng(effects.seed + 1)
    if effects.shadow > 0:
        canvas = _multiply_levels(canvas, _soft_shadow(rng, canvas.shape, effects))
    if effects.hard_shadow:
        canvas = _multiply_levels(canvas, _hard_shadow(canvas.shape, *effects.hard_shadow))
    frame = warp(canvas, effects.homography, size)
    if effects.weather:
        frame = _apply_weather(rng, frame, effects)
    if effects.defocus > 0.25:
        frame = cv2.GaussianBlur(frame, (0, 0), effects.defocus)
    if effects.motion_blur[0] > 1:
        frame = cv2.filter2D(frame, -1, _motion_kernel(*effects.motion_blur))
    frame = _apply_tone(frame, effects)
    if effects.vignette > 0:
        frame = _multiply_levels(frame, _vignette(width, height, effects.vignette))
    if effects.noise > 0:
        frame = _add_noise(rng, frame, effects)
    if effects.overlay:
        frame = np.ascontiguousarray(frame)
        text, x, y, scale = effects.overlay
        for colour, thickness in (((10, 10, 10), 3), ((240, 240, 240), 1)):
            cv2.putText(frame, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, colour, thickness, cv2.LINE_AA)
    if effects.rescale < 0.97:
        reduced = (max(8, int(width * effects.rescale)), max(8, int(height * effects.rescale)))
        frame = cv2.resize(
            cv2.resize(frame, reduced, interpolation=cv2.INTER_AREA), size, interpolation=cv2.INTER_LINEAR
        )
    _, coded = cv2.imencode(".jpg", cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, effects.quality])
    return cv2.cvtColor(cv2.imdecode(coded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


def sway_foliage(background: np.ndarray, effects: FrameEffects) -> np.ndarray:
    """The background with moved foliage: smooth displacements where it is textured and not bluish."""
    if effects.sway <= 0:
        return background
    rng = np.random.default_rng(effects.seed)
    h, w = background.shape[:2]
    small = cv2.resize(background, (w // 4, h // 4), interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    texture = cv2.GaussianBlur(np.abs(cv2.Laplacian(grey, cv2.CV_32F)), (0, 0), 5)
    greenish = (small[..., 1] >= small[..., 2].astype(np.int16) - 2).astype(np.float32)
    weight = cv2.GaussianBlur(np.clip((texture - 8) / 12, 0, 1) * greenish, (0, 0), 2)
    shape = (h // 4, w // 4)
    shifts = []
    for _ in range(2):
        coarse = rng.standard_normal((max(2, h // 24), max(2, w // 24))).astype(np.float32)
        shifts.append(cv2.resize(coarse, shape[::-1], interpolation=cv2.INTER_CUBIC) * weight * effects.sway)
    dx, dy = (cv2.resize(s, (w, h), interpolation=cv2.INTER_LINEAR) for s in shifts)
    columns, rows = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    return cv2.remap(background, columns + dx, rows + dy, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)


def _multiply_levels(frame: np.ndarray, factor: np.ndarray) -> np.ndarray:
    return np.clip(frame * factor[..., None] + 0.5, 0, 255).astype(np.uint8)


def _soft_shadow(rng: np.random.Generator, shape: tuple[int, ...], effects: FrameEffects) -> np.ndarray:
    h, w = shape[:2]
    cells = effects.shadow_cells
    coarse = rng.standard_normal((max(3, cells * h // w), cells)).astype(np.float32)
    smooth = cv2.resize(coarse, (w // 4, h // 4), interpolation=cv2.INTER_CUBIC)
    # Fine shadows are those of a tree, on a part of the ground. Coarse shadows are those of clouds.
    extent = rng.standard_normal((3, 4)).astype(np.float32)
    local = cv2.resize(extent, (w // 4, h // 4), interpolation=cv2.INTER_CUBIC) if cells > 10 else np.ones_like(smooth)
    depth = effects.shadow / (1 + np.exp(-(smooth - 0.2) * 4)) / (1 + np.exp(-(local - 0.4) * 8))
    return 1.0 - cv2.resize(depth, (w, h), interpolation=cv2.INTER_LINEAR)


def _hard_shadow(shape: tuple[int, ...], depth: float, direction: float, seed: int) -> np.ndarray:
    """Shadows of a low sun, float32 [h, w]: a row of roofs and a few poles outside the frame cast them along
    `direction`. One seed gives the same casters, so that another direction is another hour."""
    h, w = shape[:2]
    rng = np.random.default_rng(seed)
    # Far longer than the frame, so that only what is cast ends inside it.
    reach, along = 2.0 * math.hypot(h, w), math.radians(direction)
    cast, across = np.array([math.cos(along), math.sin(along)]), np.array([-math.sin(along), math.cos(along)])
    mask = np.zeros((h, w), np.uint8)
    base = np.array([rng.uniform(0, w), rng.uniform(0.2 * h, h)])

    def band(start: float, end: float, length: float) -> None:
        corners = [base + across * start, base + across * end]
        corners += [corner + cast * length for corner in reversed(corners)]
        corners[0], corners[1] = corners[0] - cast * reach, corners[1] - cast * reach
        cv2.fillPoly(mask, [np.int32(np.round(corners))], 255, cv2.LINE_AA)

    if rng.random() < 0.6:  # roofs of different heights
        edges = np.sort(rng.uniform(-w, w, int(rng.integers(2, 7))))
        for start, end in zip(edges, edges[1:]):
            band(start, end, rng.uniform(-0.3, 0.3) * w)
    for _ in range(int(rng.integers(1, 6))):  # poles, trunks, persons out of view
        start, width = rng.uniform(-w, w), rng.uniform(0.004, 0.04) * w
        band(start, start + width, rng.uniform(0.1, 0.9) * w)
    soft = cv2.GaussianBlur(mask, (0, 0), float(rng.uniform(0.5, 2.5)))
    return np.float32(1) - np.float32(depth / 255) * soft


def _apply_weather(rng: np.random.Generator, frame: np.ndarray, effects: FrameEffects) -> np.ndarray:
    h, w = frame.shape[:2]
    amount = effects.weather_amount
    if effects.weather == "fog":
        # Fog is denser towards the top of the frame, which is further away.
        depth = np.linspace(1.0, 0.35, h, dtype=np.float32) * (0.25 + 0.5 * amount)
        veil = np.float32(rng.uniform(150, 215) * np.array([1.0, 1.0, 1.02]))
        return np.clip(frame * (1 - depth[:, None, None]) + veil * depth[:, None, None], 0, 255).astype(np.uint8)
    particles = np.zeros((h, w), np.float32)
    count = int(w * h * (0.0015 if effects.weather == "rain" else 0.002) * amount)
    particles[rng.integers(0, h, count), rng.integers(0, w, count)] = rng.uniform(0.4, 1.0, count)
    if effects.weather == "rain":
        length = rng.uniform(9, 24)
        particles = cv2.filter2D(particles, -1, _motion_kernel(length, 90 + rng.uniform(-20, 20)) * length * 0.35)
        veil = 190.0
    else:
        particles = cv2.GaussianBlur(particles, (0, 0), rng.uniform(0.8, 1.6)) * 7
        veil = 235.0
    alpha = np.clip(particles, 0, 0.75)[..., None]
    return np.clip(frame * (1 - alpha) + veil * alpha, 0, 255).astype(np.uint8)


def _motion_kernel(length: float, angle: float) -> np.ndarray:
    size = int(length) | 1
    kernel = np.zeros((size, size), np.float32)
    half, centre = length / 2, size // 2
    dx, dy = half * math.cos(math.radians(angle)), half * math.sin(math.radians(angle))
    cv2.line(
        kernel,
        (int(round(centre - dx)), int(round(centre - dy))),
        (int(round(centre + dx)), int(round(centre + dy))),
        1.0,
    )
    return kernel / kernel.sum()


def _apply_tone(frame: np.ndarray, effects: FrameEffects) -> np.ndarray:
    if effects.grey:
        # A silicon sensor is more sensitive to red and near infrared than the eye.
        frame = cv2.cvtColor(cv2.transform(frame, np.float32([[0.45, 0.42, 0.13]])), cv2.COLOR_GRAY2RGB)
    elif abs(effects.saturation - 1) > 0.05:
        luma = np.float32([[0.299, 0.587, 0.114]] * 3)
        frame = cv2.transform(frame, effects.saturation * np.eye(3, dtype=np.float32) + (1 - effects.saturation) * luma)
    levels = np.arange(256, dtype=np.float32) / 255
    gain = (float(np.mean(effects.gain)),) * 3 if effects.grey else effects.gain
    table = np.stack([np.power(np.clip(levels * g, 0, 1), effects.gamma) for g in gain], axis=1)
    return cv2.LUT(frame, np.uint8(np.clip(table * 255 + 0.5, 0, 255))[None])


@functools.lru_cache(maxsize=16)
def _radius(width: int, height: int) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2


def _vignette(width: int, height: int, depth: float) -> np.ndarray:
    return 1.0 - depth * _radius(width, height)


@functools.lru_cache(maxsize=2)
def _noise_bank(soft: bool) -> np.ndarray:
    """Unit noise, float32 [1024, 1280, 3], of which random windows are used: fresh noise would dominate the cost."""
    bank = np.random.default_rng(0).standard_normal((1024, 1280, 3), dtype=np.float32)
    if soft:
        bank = cv2.GaussianBlur(bank, (0, 0), 0.8)
        bank /= bank.std()
    return bank


def _add_noise(rng: np.random.Generator, frame: np.ndarray, effects: FrameEffects) -> np.ndarray:
    h, w = frame.shape[:2]
    bank = _noise_bank(effects.noise_soft)
    y, x = int(rng.integers(bank.shape[0] - h)), int(rng.integers(bank.shape[1] - w))
    unit = bank[y : y + h, x : x + w]
    if effects.grey:
        unit = np.repeat(unit[..., :1], 3, axis=2)
    return np.clip(frame + unit * effects.noise + 0.5, 0, 255).astype(np.uint8)
