"""Putting figures on the ground of a view: where they fit, how large, how lit, and the layer that draws them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from training.text.grammar import hypernym
from training.worlds.surveillance.assets import Plate
from training.worlds.surveillance.layers import Layer, Sun, Tone
from training.worlds.surveillance.location_phrases import Box
from training.worlds.surveillance.sprite_sampler import TWO_WHEELERS, UNUSUAL_INDOORS, UNUSUAL_OUTDOORS, Figure
from training.worlds.surveillance.view import Ground, View

MIN_HEIGHT_PX, MIN_PERSON_HEIGHT_PX = 8, 12
MAX_HEIGHT, MAX_WIDTH = 0.95, 0.8  # of the frame
CLEARANCE = 1.1  # of the sum of two half footprints
# The sprites were rendered dim and flat: white paint at 0.58 of full scale, black cloth at 0.12. In real frames black coats are at 0 to 0.05, white
# cars near the frame's brightest, red coats three times as red as the sprites came out (measured in Lab, JOURNAL.md). Mean logarithms.
KEY, GAMMA = math.log(1.35), math.log(1.3)
BRIGHTEST = 1.9  # gain of a channel
LIFT = 0.3  # of the plate's black: haze in front of things that stand close by


@dataclass(eq=False)
class Actor:
    """A figure that stands at (x, y), frame pixels, `size` frame pixels a metre tall."""

    figure: Figure
    x: float
    y: float
    size: float
    stretch: float  # width over true width; people differ
    ground: Ground

    @property
    def matrix(self) -> np.ndarray:
        """[2, 3], sprite pixel -> frame pixel."""
        scale = self.size / self.figure.px_per_m
        ax, ay = self.figure.anchor
        wide = scale * self.stretch
        return np.array([[wide, 0, self.x - ax * wide], [0, scale, self.y - ay * scale]])

    @property
    def box(self) -> Box:
        h, w = self.figure.pixels.shape[:2]
        (x0, y0), (x1, y1) = (self.matrix @ np.array([[0, w], [0, h], [1, 1]], float)).T
        return float(x0), float(y0), float(x1 - x0), float(y1 - y0)

    @property
    def foot(self) -> Box:
        """Bounding box of the footprint on the ground."""
        points = self.figure.footprint @ self.matrix[:, :2].T + self.matrix[:, 2]
        (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
        return float(x0), float(y0), float(x1 - x0), float(y1 - y0)


def may_stand(allowed: frozenset[str], noun: str, indoor: bool) -> bool:
    """Whether ground that allows these hypernyms takes something of the noun."""
    if noun in TWO_WHEELERS:
        return "vehicle" in allowed or (not indoor and "person" in allowed)
    kind = hypernym(noun)
    return ("person" if kind == "animal" else kind) in allowed


def suits(plate: Plate, noun: str) -> bool:
    if noun in (UNUSUAL_INDOORS if plate.indoor else UNUSUAL_OUTDOORS):
        return False
    return any(may_stand(allowed, noun, plate.indoor) for _, _, allowed in plate.ground)


def fits(actor: Actor, others: list[Actor], view: View) -> bool:
    """Whether the actor has a sensible size and stands clear of the others and of what the plate already shows."""
    x, y, w, h = actor.box
    least = MIN_PERSON_HEIGHT_PX if actor.figure.upright else MIN_HEIGHT_PX
    if not least <= h <= MAX_HEIGHT * view.height or w > MAX_WIDTH * view.width or y + h < 0.1 * h:
        return False
    if y < -0.25 * h:
        return False
    foot = actor.foot
    if any(_touch(foot, other.foot) for other in others):
        return False
    for ax, ay, aw, ah in view.avoid:
        # In front of a thing one may stand and hide it; behind or inside it one would be pasted over it.
        overlap = x < ax + aw and ax < x + w and y < ay + ah and ay < y + h
        if overlap and foot[1] < ay + ah + 2:
            return False
    return True


def _touch(a: Box, b: Box) -> bool:
    dx = abs((a[0] + a[2] / 2) - (b[0] + b[2] / 2))
    dy = abs((a[1] + a[3] / 2) - (b[1] + b[3] / 2))
    return dx < CLEARANCE * (a[2] + b[2]) / 2 and dy < CLEARANCE * (a[3] + b[3]) / 2


@dataclass(frozen=True)
class Light:
    """How this view is lit and how its camera renders: shared by everything in it."""

    sun: Sun | None
    background: np.ndarray  # uint8 canvas, to read brightness from
    black: float  # 0..1
    white: float  # 0..1
    key: float  # the camera's gain over what sprites were rendered in
    gamma: float  # above 1: darks stay dark, as cameras render them
    tint: tuple[float, float, float]
    contact: float


def read_light(background: np.ndarray, sun: Sun | None, rng: np.random.Generator) -> Light:
    small = cv2.resize(background, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    luminance = small @ np.float32([0.299, 0.587, 0.114])
    black, white = np.percentile(luminance, [1.5, 97])
    mean = small.reshape(-1, 3).mean(axis=0) + 0.02
    # Half of the plate's cast: the rest is what the place is painted in.
    tint = np.power(mean / mean.mean(), 0.35)
    contact = rng.uniform(0.25, 0.5) if sun is None else rng.uniform(0.15, 0.35)
    key, gamma = np.exp(rng.normal(KEY, 0.12)), np.exp(rng.normal(GAMMA, 0.1))
    return Light(
        sun,
        background,
        float(black),
        float(white),
        float(key),
        float(gamma),
        tuple(float(t) for t in tint),
        float(contact),
    )


def to_layer(actor: Actor, view: View, light: Light, seed: int) -> Layer:
    """The same actor with the same `seed` looks the same in both frames."""
    rng = np.random.default_rng(seed)
    margin = view.margin
    matrix = actor.matrix.copy()
    matrix[:, 2] += margin
    fx, fy, fw, fh = actor.foot
    reach = max(fw, 12.0)
    x0, x1 = int(max(0, fx - reach + margin)), int(fx + fw + reach + margin)
    y0, y1 = int(max(0, fy - 4 + margin)), int(fy + fh + 6 + margin)
    patch = light.background[y0:y1:2, x0:x1:2]
    around = float(patch.mean()) / 255 if patch.size else 0.4
    tone = exposed(light, around, actor.figure.sunlit, rng)
    blur = math.hypot(max(view.blur, 0.35), rng.uniform(0.0, 0.3))
    return Layer(
        pixels=actor.figure.pixels,
        matrix=matrix,
        anchor=actor.figure.anchor,
        footprint=actor.figure.footprint,
        elevation=float(actor.figure.elevation),
        tone=tone,
        blur=blur,
        contact=light.contact,
        sun=light.sun,
        bulk=_bulk(actor.figure),
    )


def exposed(light: Light, around: float, sunlit: bool, rng: np.random.Generator) -> Tone:
    """Of a thing that stands where the ground is `around` bright (0..1)."""
    # Asphalt and floors reflect about 0.4 of full scale under the light that sprites were rendered in.
    exposure = 0.6 * around / 0.42 + 0.4 * light.white / 0.9
    gain = float(np.clip(exposure, 0.22, 1.25)) * (0.92 if sunlit else 1.0)
    gain *= light.key * float(np.exp(rng.normal(0, 0.08)))
    lift = min(light.black, 0.2) * LIFT
    channel = tuple(min(gain * t, BRIGHTEST) * (1 - lift) for t in light.tint)
    return Tone(gain=channel, gamma=light.gamma * float(np.exp(rng.normal(0.0, 0.06))), lift=lift)


def _bulk(figure: Figure) -> float:
    """Height in sprite pixels of box-like figures; vehicles narrow towards the roof."""
    if figure.hypernym != "vehicle" or figure.noun in TWO_WHEELERS:
        return 0.0
    return 0.85 * figure.height_m * figure.px_per_m
