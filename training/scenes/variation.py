"""No two of a model look the same: there are 13 women and 12 cars to draw from, and a model that learns them by heart knows only them."""

from __future__ import annotations

import cv2
import numpy as np

CELLS = 4  # of the smooth random fields, a side
STRAY = 0.02  # standard deviation of how far a part of the outline moves, of the sprite's size
SHADING = 0.10  # standard deviation of the cloth's or the paint's unevenness, of its brightness
SPECKLE = 0.05  # of fine texture
# How much lighter cloth may be than the sprites', whose grey is dark grey and whose white is grey: people call any cloth between black and white
# grey, and white what is hardly darker than a wall.
LIGHTER_CLOTH = {"grey": (1.0, 1.9), "white": (1.15, 1.6)}
COLOURLESS = 40.0  # levels between the largest and the smallest channel, above which cloth is not grey


def varied(pixels: np.ndarray, seed: int, cloth: str | None = None, stray: float = STRAY) -> np.ndarray:
    """uint8 [h, w, 4], RGBA, not premultiplied, in and out: other proportions and another texture, the same colour names.

    cloth: the colour name of somebody's clothes. What has no hue is cloth, and as light as any of that name. stray: see STRAY.

    The border stays in place, so anchor and footprint stay true.
    """
    rng = np.random.default_rng(seed)
    height, width = pixels.shape[:2]
    rise = np.minimum(1, 8 * np.minimum(np.linspace(0, 1, width), np.linspace(1, 0, width)))[None]
    fall = np.minimum(1, 8 * np.minimum(np.linspace(0, 1, height), np.linspace(1, 0, height)))[:, None]
    still = np.float32(rise * fall)
    x = np.arange(width, dtype=np.float32)[None] + stray * width * still * _smooth(rng, width, height)
    y = np.arange(height, dtype=np.float32)[:, None] + stray * height * still * _smooth(rng, width, height)
    picture = pixels.astype(np.float32)
    picture[..., :3] *= picture[..., 3:] / 255  # else the colour of what cannot be seen creeps in at the edges
    picture = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    alpha = picture[..., 3:]
    shade = 1 + SHADING * _smooth(rng, width, height) + SPECKLE * rng.standard_normal((height, width)).astype(np.float32)
    colour = picture[..., :3] / np.maximum(alpha / 255, 1e-3) * shade[..., None]
    if cloth in LIGHTER_CLOTH:
        hueless = np.clip(1 - np.ptp(colour, axis=2, keepdims=True) / COLOURLESS, 0, 1)
        colour *= 1 + hueless * (np.exp(rng.uniform(*np.log(LIGHTER_CLOTH[cloth]))) - 1)
    return np.uint8(np.clip(np.concatenate([colour, alpha], axis=2) + 0.5, 0, 255))


def _smooth(rng: np.random.Generator, width: int, height: int) -> np.ndarray:
    """float32 [h, w] of about unit deviation, varying over a quarter of the size."""
    coarse = rng.standard_normal((CELLS, CELLS)).astype(np.float32)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
