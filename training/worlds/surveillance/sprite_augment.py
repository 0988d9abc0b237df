"""Augmentation of sprites: random warp, texture, cloth brightness and vehicle paint.

There are few models per noun (13 women, 12 cars), and a captioner memorises pixels that it sees again and again. The
augmentation keeps every label true: anchor, footprint, size and colour name.
"""

from __future__ import annotations

import cv2
import numpy as np

FIELD_CELLS = 4  # control points per side of the smooth random fields
WARP = 0.02  # standard deviation of the displacement, as a fraction of the sprite's size
SHADING = 0.10  # standard deviation of the slow variation of brightness, as a fraction of the brightness
SPECKLE = 0.05  # standard deviation of the pixel-wise variation of brightness, likewise
# Range of brightness factors of cloth. The sprites' grey is dark grey and their white is grey, whereas people call
# cloth of any level between black and white grey.
CLOTH_FACTOR = {"grey": (1.0, 1.9), "white": (1.15, 1.6)}
HUED_LEVELS = 40.0  # range of the three channels (levels of 255) from which a pixel counts fully as hued
# Common paints that no sprite has. Paint of the sprite -> new paint and the share that gets it.
REPAINT_SHARE = {
    "white": {"light blue": 0.14, "beige": 0.03},
    "silver": {"light blue": 0.06},
    "red": {"dark red": 0.3},
    "blue": {"dark blue": 0.15},
}
# New paint -> smallest and largest factor per channel.
TINT = {
    "light blue": ((0.62, 0.80, 1.0), (0.84, 0.98, 1.0)),
    "beige": ((1.0, 0.86, 0.66), (1.0, 0.95, 0.84)),
    "dark red": ((0.25,) * 3, (0.5,) * 3),
    "dark blue": ((0.25,) * 3, (0.45,) * 3),
}
PAINT_STREAM = 1  # second element of the seed that draws the paint, so that it is independent of the warp


def augment_sprite(pixels: np.ndarray, seed: int, cloth: str | None = None, warp: float = WARP) -> np.ndarray:
    """A variant of the sprite with other proportions and another texture: uint8 [h, w, 4] RGBA, not premultiplied.

    `cloth` is the colour name of a person's clothes: pixels without hue then get a random brightness of that name.
    `warp` is described at WARP. Pixels at the border do not move, so that anchor and footprint stay valid.
    """
    rng = np.random.default_rng(seed)
    height, width = pixels.shape[:2]
    inner_x = np.minimum(1, 8 * np.minimum(np.linspace(0, 1, width), np.linspace(1, 0, width)))[None]
    inner_y = np.minimum(1, 8 * np.minimum(np.linspace(0, 1, height), np.linspace(1, 0, height)))[:, None]
    inner = np.float32(inner_x * inner_y)  # 0 at the border, 1 from an eighth of the size inwards
    x = np.arange(width, dtype=np.float32)[None] + warp * width * inner * _smooth_field(rng, width, height)
    y = np.arange(height, dtype=np.float32)[:, None] + warp * height * inner * _smooth_field(rng, width, height)
    warped = pixels.astype(np.float32)
    warped[..., :3] *= warped[..., 3:] / 255  # premultiplied, so that transparent pixels do not bleed into the edges
    warped = cv2.remap(warped, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    alpha = warped[..., 3:]
    shade = 1 + SHADING * _smooth_field(rng, width, height)
    shade = shade + SPECKLE * rng.standard_normal((height, width)).astype(np.float32)
    colour = warped[..., :3] / np.maximum(alpha / 255, 1e-3) * shade[..., None]
    if cloth in CLOTH_FACTOR:
        hueless = np.clip(1 - np.ptp(colour, axis=2, keepdims=True) / HUED_LEVELS, 0, 1)
        colour *= 1 + hueless * (np.exp(rng.uniform(*np.log(CLOTH_FACTOR[cloth]))) - 1)
    return np.uint8(np.clip(np.concatenate([colour, alpha], axis=2) + 0.5, 0, 255))


def choose_by_share(shares: dict[str, float], draw: float) -> str | None:
    """The name into whose share a uniform draw (0..1) falls, or None beyond the sum of the shares."""
    for name, share in shares.items():
        draw -= share
        if draw < 0:
            return name
    return None


def repaint(pixels: np.ndarray, colour: str, seed: int) -> tuple[np.ndarray, str]:
    """A vehicle, uint8 [h, w, 4] RGBA, with a paint of REPAINT_SHARE or its own, and the name of that paint.

    Hued paint is replaced in hued pixels only and colourless paint in colourless ones, so that tyres stay black and
    tail lamps red.
    """
    rng = np.random.default_rng([seed, PAINT_STREAM])
    name = choose_by_share(REPAINT_SHARE.get(colour, {}), rng.random())
    if name is None:
        return pixels, colour
    low, high = np.log(TINT[name])
    keeps_hue = len(set(TINT[name][0])) == 1
    spread = 0.0 if keeps_hue else rng.uniform(-0.15, 0.15, 3)
    tint = np.exp(low + (high - low) * np.clip(rng.random() + spread, 0, 1))
    paint = pixels[..., :3].astype(np.float32)
    hued = np.clip(np.ptp(paint, axis=2, keepdims=True) / HUED_LEVELS, 0, 1)
    share = 1 - hued if colour in ("white", "silver") else hued
    paint *= 1 + share * (tint.astype(np.float32) - 1)
    return np.concatenate([np.uint8(np.clip(paint + 0.5, 0, 255)), pixels[..., 3:]], axis=2), name


def _smooth_field(rng: np.random.Generator, width: int, height: int) -> np.ndarray:
    """float32 [h, w] of about unit standard deviation that varies over a quarter of the size."""
    coarse = rng.standard_normal((FIELD_CELLS, FIELD_CELLS)).astype(np.float32)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
