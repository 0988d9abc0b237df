"""Pairs of the scenario "carried": a rendered bag, box or case is put down in a frame of a real camera, or taken.

    python -m training.worlds pairs --data REAL --scenario carried --split train --count 300 --out DIR

The sprites lie beside REAL. Labelled real pairs show almost no things that people leave. These teach that a thing of a
colour of its own, as sharp as the camera sees, lies in the scene.
"""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np

from training.contract import Pair
from training.worlds.surveillance.pieces import MARGIN, Laid, thing_at, with_laid
from training.worlds.surveillance.sprite_nouns import CARRIED
from training.worlds.surveillance.sprites import Sprite, load_sprites, sprite_pixels

WIDTH = (0.018, 0.12)  # longer side of a thing, of the frame's width
ENLARGED = 1.2  # most, of a sprite
SKY = 0.15  # of the frame's height, in which nothing is put down
EDGE = (0.45, 0.9)  # pixels: standard deviation of the blur of a camera
MIDDLE, GAIN = 115, (0.25, 1.5)  # levels: light in which a sprite is as rendered; bounds of its gain elsewhere
SHADOW = (0.1, 0.6)  # darkest part of the shadow on the ground
GREY = 3  # levels: mean deviation from grey up to which a frame is of an infrared camera
LEAST_CHANGE = 12  # levels, mean over the thing
GONE = 0.4  # share of the pairs whose thing was there before
TRIES = 50


class CarriedThings:
    """`put(pair, rng)` puts things into a pair that shows one frame twice."""

    def __init__(self, sprites: Path, split: str):
        self.models: dict[str, dict[str, list[Sprite]]] = {}
        for sprite in load_sprites(sprites, split):
            if sprite.noun in CARRIED:
                self.models.setdefault(sprite.noun, {}).setdefault(sprite.model, []).append(sprite)
        if not self.models:
            raise ValueError(f"{sprites}: no sprites of {', '.join(CARRIED)}, expected some in the split {split!r}")

    def put(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        """@returns None if no thing shows"""
        return with_laid(pair, self._lay, TRIES, GONE, rng)

    def _lay(self, frame: np.ndarray, rng: np.random.Generator) -> Laid | None:
        noun = str(rng.choice(sorted(self.models)))
        views = self.models[noun][str(rng.choice(sorted(self.models[noun])))]
        done = put_down(frame, sprite_pixels(views[int(rng.integers(len(views)))].path), rng)
        return done and (done[0], thing_at(done[1], noun))


def put_down(frame: np.ndarray, pixels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, list[float]] | None:
    """The frame float32 [H, W, 3] with a sprite uint8 [h, w, 4] and its shadow, and its box; None: it hardly shows."""
    height, width = frame.shape[:2]
    ys, xs = np.nonzero(pixels[..., 3] > 40)
    thing = pixels[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1].astype(np.float32)
    longest = width * math.exp(rng.uniform(*map(math.log, WIDTH)))
    scale = min(ENLARGED, longest / max(thing.shape[:2]))
    thing[..., :3] *= thing[..., 3:] / 255
    thing = cv2.resize(thing, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    margin = max(MARGIN, round(0.3 * thing.shape[1]))  # for the blur and the shadow
    thing = np.pad(thing[:, :: -1 if rng.random() < 0.5 else 1], ((margin, margin), (margin, margin), (0, 0)))
    thing = cv2.GaussianBlur(thing, (0, 0), float(rng.uniform(*EDGE)))
    rows, columns = thing.shape[:2]
    if rows > height or columns > width:
        return None
    left = int(rng.integers(0, width - columns + 1))
    top = int(rng.integers(int(SKY * (height - rows)), height - rows + 1))
    place = (slice(top, top + rows), slice(left, left + columns))
    under, alpha = frame[place], thing[..., 3:] / 255
    colours = thing[..., :3] * np.clip(under.mean() / MIDDLE, *GAIN) * rng.uniform(0.8, 1.15) * rng.uniform(0.9, 1.1, 3)
    if np.abs(frame - frame.mean(2, keepdims=True)).mean() < GREY:
        colours = np.repeat(colours.mean(2, keepdims=True), 3, 2)
    mixed = np.clip(under * (1 - shadow(rows, columns, margin, rng)) * (1 - alpha) + colours, 0, 255)
    if np.abs(mixed - under).mean(2)[alpha[..., 0] > 0.5].mean() < LEAST_CHANGE:
        return None
    out = frame.copy()
    out[place] = mixed
    return out, [float(v) for v in (left + margin, top + margin, columns - 2 * margin, rows - 2 * margin)]


def shadow(rows: int, columns: int, margin: int, rng: np.random.Generator) -> np.ndarray:
    """float32 [rows, columns, 1]: share of the light that a soft ellipse at the foot of a thing takes."""
    w, h = columns - 2 * margin, rows - 2 * margin
    dark = np.zeros((rows, columns), np.float32)
    middle = (columns // 2, rows - margin - max(1, h // 8))
    cv2.ellipse(dark, middle, (max(2, int(0.55 * w)), max(1, h // 6)), 0, 0, 360, 1, -1)
    return cv2.GaussianBlur(dark, (0, 0), max(1.0, margin / 4))[..., None] * rng.uniform(*SHADOW)
