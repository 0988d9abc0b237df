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
COLOURLESS = 40.0  # levels between the largest and the smallest channel, above which neither cloth nor paint is grey
# The sprites' cars have none of these paints, which one meets every day. Name of a paint -> names it may become and how often.
REPAINTED = {
    "white": {"light blue": 0.14, "beige": 0.03},
    "silver": {"light blue": 0.06},
    "red": {"dark red": 0.3},
    "blue": {"dark blue": 0.15},
}
# Darkest and lightest of what each channel of the old paint is multiplied by.
TINT = {
    "light blue": ((0.62, 0.80, 1.0), (0.84, 0.98, 1.0)),
    "beige": ((1.0, 0.86, 0.66), (1.0, 0.95, 0.84)),
    "dark red": ((0.25,) * 3, (0.5,) * 3),
    "dark blue": ((0.25,) * 3, (0.45,) * 3),
}
PAINT_STREAM = 1  # keeps the paint apart from the other random numbers of a variation


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
    shade = (
        1 + SHADING * _smooth(rng, width, height) + SPECKLE * rng.standard_normal((height, width)).astype(np.float32)
    )
    colour = picture[..., :3] / np.maximum(alpha / 255, 1e-3) * shade[..., None]
    if cloth in LIGHTER_CLOTH:
        hueless = np.clip(1 - np.ptp(colour, axis=2, keepdims=True) / COLOURLESS, 0, 1)
        colour *= 1 + hueless * (np.exp(rng.uniform(*np.log(LIGHTER_CLOTH[cloth]))) - 1)
    return np.uint8(np.clip(np.concatenate([colour, alpha], axis=2) + 0.5, 0, 255))


def one_of(chances: dict[str, float], pick: float) -> str | None:
    """The name that `pick` (uniform in 0..1) falls to, of names with their chances; None beyond their sum."""
    for name, chance in chances.items():
        pick -= chance
        if pick < 0:
            return name
    return None


def repainted(pixels: np.ndarray, colour: str, seed: int) -> tuple[np.ndarray, str]:
    """A vehicle's picture, uint8 [h, w, 4], RGBA, and the name of its paint, in and out: some get a paint that no sprite has.

    What is repainted has a hue where the old paint has one and none where it has none, so tyres stay black and lamps red.
    """
    rng = np.random.default_rng([seed, PAINT_STREAM])
    name = one_of(REPAINTED.get(colour, {}), rng.random())
    if name is None:
        return pixels, colour
    low, high = np.log(TINT[name])
    spread = rng.uniform(-0.15, 0.15, 3) if len(set(TINT[name][0])) > 1 else 0.0  # what only gets darker keeps its hue
    tint = np.exp(low + (high - low) * np.clip(rng.random() + spread, 0, 1))
    paint = pixels[..., :3].astype(np.float32)
    hued = np.clip(np.ptp(paint, axis=2, keepdims=True) / COLOURLESS, 0, 1)
    share = 1 - hued if colour in ("white", "silver") else hued
    paint *= 1 + share * (tint.astype(np.float32) - 1)
    return np.concatenate([np.uint8(np.clip(paint + 0.5, 0, 255)), pixels[..., 3:]], axis=2), name


def _smooth(rng: np.random.Generator, width: int, height: int) -> np.ndarray:
    """float32 [h, w] of about unit deviation, varying over a quarter of the size."""
    coarse = rng.standard_normal((CELLS, CELLS)).astype(np.float32)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
