"""Exposure of a view: how its camera renders sprites, estimated from the background, and the resulting layers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from training.worlds.surveillance.data_folder import stable_rank
from training.worlds.surveillance.figures import Figure
from training.worlds.surveillance.layers import Layer, Sun, Tone
from training.worlds.surveillance.placement import PlacedFigure
from training.worlds.surveillance.sprite_nouns import TWO_WHEELERS
from training.worlds.surveillance.view import View

# The sprites were rendered dim and flat: white paint at 0.58 of full scale, black cloth at 0.12. In real frames
# black coats are at 0 to 0.05, white cars are near the frame's brightest level, and red coats are three times as
# red as the sprites (measured in Lab, JOURNAL.md). Both values are means of a logarithm.
LOG_GAIN, LOG_GAMMA = math.log(1.35), math.log(1.3)
MAX_CHANNEL_GAIN = 1.9
HAZE_SHARE = 0.3  # share of the plate's black level that is added to a figure as haze
MIN_BLUR_PX = 0.35


@dataclass(frozen=True)
class Exposure:
    """How one view is lit and how its camera renders; shared by every figure in the view. Levels are in 0..1."""

    sun: Sun | None
    background: np.ndarray  # uint8 canvas, from which the brightness around a figure is read
    black: float
    white: float
    gain: float  # camera gain relative to the rendering of the sprites
    gamma: float  # above 1: dark tones stay dark
    tint: tuple[float, float, float]
    contact: float  # 0..1, how dark the ground right below a figure is


def estimate_exposure(background: np.ndarray, sun: Sun | None, rng: np.random.Generator) -> Exposure:
    small = cv2.resize(background, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    luminance = small @ np.float32([0.299, 0.587, 0.114])
    black, white = np.percentile(luminance, [1.5, 97])
    mean = small.reshape(-1, 3).mean(axis=0) + 0.02
    # Part of the plate's colour cast is illumination; the rest is the colour of the surfaces.
    tint = np.power(mean / mean.mean(), 0.35)
    contact = rng.uniform(0.25, 0.5) if sun is None else rng.uniform(0.15, 0.35)
    gain, gamma = np.exp(rng.normal(LOG_GAIN, 0.12)), np.exp(rng.normal(LOG_GAMMA, 0.1))
    return Exposure(
        sun,
        background,
        float(black),
        float(white),
        float(gain),
        float(gamma),
        tuple(float(t) for t in tint),
        float(contact),
    )


def make_layer(placed: PlacedFigure, view: View, exposure: Exposure, seed: int) -> Layer:
    """The layer that draws a placed figure. With the same `seed` a figure has the same tone in both frames."""
    rng = np.random.default_rng(seed + _tone_seed(placed.figure))
    margin = view.margin
    matrix = placed.matrix.copy()
    matrix[:, 2] += margin
    fx, fy, fw, fh = placed.footprint_box
    reach = max(fw, 12.0)
    x0, x1 = int(max(0, fx - reach + margin)), int(fx + fw + reach + margin)
    y0, y1 = int(max(0, fy - 4 + margin)), int(fy + fh + 6 + margin)
    patch = exposure.background[y0:y1:2, x0:x1:2]
    ground_level = float(patch.mean()) / 255 if patch.size else 0.4
    tone = figure_tone(exposure, ground_level, placed.figure.sunlit, rng)
    blur = math.hypot(max(view.blur, MIN_BLUR_PX), rng.uniform(0.0, 0.3))
    return Layer(
        pixels=placed.figure.pixels,
        matrix=matrix,
        anchor=placed.figure.anchor,
        footprint=placed.figure.footprint,
        elevation=float(placed.figure.elevation),
        tone=tone,
        blur=blur,
        contact=exposure.contact,
        sun=exposure.sun,
        box_height=_box_height(placed.figure),
    )


def figure_tone(exposure: Exposure, ground_level: float, sunlit: bool, rng: np.random.Generator) -> Tone:
    """Tone curve of a figure on ground of the mean level `ground_level` (0..1)."""
    # Asphalt and floors reflect about 0.4 of full scale under the light that the sprites were rendered in.
    level = 0.6 * ground_level / 0.42 + 0.4 * exposure.white / 0.9
    gain = float(np.clip(level, 0.22, 1.25)) * (0.92 if sunlit else 1.0)
    gain *= exposure.gain * float(np.exp(rng.normal(0, 0.08)))
    lift = min(exposure.black, 0.2) * HAZE_SHARE
    channel_gain = tuple(min(gain * t, MAX_CHANNEL_GAIN) * (1 - lift) for t in exposure.tint)
    return Tone(gain=channel_gain, gamma=exposure.gamma * float(np.exp(rng.normal(0.0, 0.06))), lift=lift)


def _tone_seed(figure: Figure) -> int:
    """Seed that depends on a figure's identity and not on its azimuth, so that a turned figure keeps its tone."""
    return int(stable_rank("/".join((*figure.models, figure.colour))) * 2**20)


def _box_height(figure: Figure) -> float:
    """Height in sprite pixels of figures that cast a box's shadow (vehicles narrow towards the roof), else 0."""
    if figure.hypernym != "vehicle" or figure.noun in TWO_WHEELERS:
        return 0.0
    return 0.85 * figure.height_m * figure.px_per_m
