"""Registry of nuisances: differences between the two frames that leave the scene unchanged.

How to add a class of nuisance:

1. Append its name to NUISANCES in training/contract.py. The position is the index of the model's nuisance output,
   so new names go last.
2. Give FrameEffects (effects.py) the parameters that it needs, neutral by default, and apply them in `apply_effects`.
3. Write a function here, decorated with `@nuisance(...)`, that draws those parameters for one frame or for both.

The registry then draws it for training pairs under the name that the function has. The order of registration decides
the order of random draws, so a new nuisance changes every pair, and caches have to be rendered again. The README of
training/worlds lists the files outside this folder that may name nuisances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from training.contract import NUISANCES
from training.worlds.surveillance.camera_motion import (
    MARGIN,
    VISIBLE_MOTION_PX,
    corner_displacement,
    draw_homography,
    shift,
)
from training.worlds.surveillance.effects import FrameEffects

BEFORE, AFTER = 0, 1


@dataclass
class PairEffects:
    """Effects of both frames, and the names of the nuisances that a viewer would notice."""

    before: FrameEffects
    after: FrameEffects
    names: list[str] = field(default_factory=list)


@dataclass
class EffectsDraw:
    """The effects of a pair while nuisances are drawn."""

    rng: np.random.Generator
    frames: list[FrameEffects]  # before, after
    affected: int  # the frame with the nuisances that fall on one frame only: BEFORE or AFTER
    low_sun: bool = False  # shadows are those of a low sun

    @property
    def other(self) -> int:
        return 1 - self.affected

    def set(self, frame: int, **parameters) -> None:
        self.frames[frame] = replace(self.frames[frame], **parameters)


@dataclass(frozen=True)
class Nuisance:
    """`draw` sets the effects of a pair in which the nuisance is strong."""

    draw: Callable[[EffectsDraw], None]
    weight: float  # relative frequency among the strong nuisances
    outdoor_only: bool


REGISTRY: dict[str, Nuisance] = {}


def nuisance(weight: float = 1.0, outdoor_only: bool = False):
    """Decorator that registers a function as the nuisance of its name, which must be in NUISANCES."""

    def register(draw: Callable[[EffectsDraw], None]) -> Callable[[EffectsDraw], None]:
        if draw.__name__ not in NUISANCES:
            raise ValueError(f"nuisance {draw.__name__!r} is not in NUISANCES of training/contract.py: {NUISANCES}")
        REGISTRY[draw.__name__] = Nuisance(draw, weight, outdoor_only)
        return draw

    return register


@nuisance(weight=2.5)
def lighting(pair: EffectsDraw) -> None:
    """One frame is brighter or darker, with another tint and another gamma."""
    rng, frame = pair.rng, pair.frames[pair.affected]
    factor = float(np.exp(rng.choice([-1, 1]) * rng.uniform(0.15, 0.6)))
    tint = _draw_gain(rng, 0.0, 0.06)
    pair.set(
        pair.affected,
        gain=tuple(g * t * factor for g, t in zip(frame.gain, tint)),
        gamma=frame.gamma * float(np.exp(rng.normal(0, 0.2))),
    )


@nuisance(weight=0.7)
def ir_switch(pair: EffectsDraw) -> None:
    """One frame is infrared (grey, vignetted, noisy) and the other one in colour."""
    rng = pair.rng
    pair.set(
        pair.affected,
        grey=True,
        vignette=float(rng.uniform(0.2, 0.7)),
        noise=float(rng.uniform(3, 9)),
        gamma=float(np.exp(rng.normal(0, 0.25))),
    )
    pair.set(pair.other, grey=False, vignette=0.0)


HARD_SHADOW_SHARE = 0.4  # of the pairs with shadows
HOURS_APART, DEGREES_PER_HOUR = (1.0, 4.0), 15.0


@nuisance(weight=1.6, outdoor_only=True)
def shadow(pair: EffectsDraw) -> None:
    """Shadows of clouds or trees, in one frame or differently in both; or those of a low sun, some hours apart."""
    rng = pair.rng
    if pair.low_sun or rng.random() < HARD_SHADOW_SHARE:
        depth, direction, seed = float(rng.uniform(0.3, 0.7)), float(rng.uniform(0, 360)), int(rng.integers(2**31))
        pair.set(pair.affected, hard_shadow=(depth, direction, seed))
        if rng.random() < 0.7:
            turn = float(rng.choice([-1, 1]) * rng.uniform(*HOURS_APART) * DEGREES_PER_HOUR)
            pair.set(pair.other, hard_shadow=(depth * float(rng.uniform(0.8, 1.2)), direction + turn, seed))
        return
    cells, depth = int(rng.choice([4, 7, 18, 36])), float(rng.uniform(0.25, 0.6))
    pair.set(pair.affected, shadow=depth, shadow_cells=cells)
    if rng.random() < 0.5:
        pair.set(pair.other, shadow=depth, shadow_cells=cells)


@nuisance(outdoor_only=True)
def weather(pair: EffectsDraw) -> None:
    """Fog, rain or snow in one frame, sometimes also in the other one."""
    rng = pair.rng
    kind, amount = str(rng.choice(["fog", "rain", "snow"])), float(rng.uniform(0.3, 1.0))
    pair.set(pair.affected, weather=kind, weather_amount=amount)
    if rng.random() < 0.3:
        pair.set(pair.other, weather=kind, weather_amount=amount * float(rng.uniform(0.5, 1.2)))


@nuisance()
def compression(pair: EffectsDraw) -> None:
    """Strong JPEG artefacts at a reduced resolution, in one frame or in both."""
    for frame in {pair.affected, int(pair.rng.integers(2))}:
        pair.set(frame, quality=int(pair.rng.integers(15, 34)), rescale=float(pair.rng.uniform(0.5, 0.9)))


@nuisance()
def noise(pair: EffectsDraw) -> None:
    """Strong sensor noise, in one frame or in both."""
    for frame in {pair.affected, int(pair.rng.integers(2))}:
        pair.set(frame, noise=float(pair.rng.uniform(7, 16)))


@nuisance(weight=2.0)
def camera_moved(pair: EffectsDraw) -> None:
    """Camera motion. Nothing is drawn here: `draw_effects` gets the size of the motion, on which the view depends."""


@nuisance()
def defocus(pair: EffectsDraw) -> None:
    """One frame is out of focus or blurred by motion."""
    rng = pair.rng
    if rng.random() < 0.5:
        pair.set(pair.affected, defocus=float(rng.uniform(1.5, 3.5)))
    else:
        pair.set(pair.affected, motion_blur=(float(rng.uniform(4, 11)), float(rng.uniform(0, 180))))


@nuisance(outdoor_only=True)
def foliage(pair: EffectsDraw) -> None:
    """Foliage moves in strong wind."""
    pair.set(AFTER, sway=float(pair.rng.uniform(1.2, 4.0)))


def draw_strong(rng: np.random.Generator, indoor: bool, changed: bool) -> list[str]:
    """Names of the nuisances that are strong in a pair: none to three of them, more in unchanged pairs."""
    count = int(rng.choice(4, p=[0.5, 0.32, 0.14, 0.04] if changed else [0.3, 0.4, 0.22, 0.08]))
    names = [name for name, entry in REGISTRY.items() if not (indoor and entry.outdoor_only)]
    weights = np.array([REGISTRY[name].weight for name in names])
    return [str(n) for n in rng.choice(names, size=count, replace=False, p=weights / weights.sum())]


def draw_effects(
    rng: np.random.Generator,
    size: tuple[int, int],
    motion: str,
    strong: list[str],
    time: str,
    indoor: bool,
    identical: bool,
    low_sun: bool = False,
) -> PairEffects:
    """Effects of both frames: effects of the camera, mild differences, and the `strong` nuisances.

    `size` is (width, height) of the frame, `motion` a key of MARGIN, `time` that of the plate ("day" or another).
    With `identical` the frames differ in their encoding alone. With `low_sun` a strong shadow is that of a low sun.
    """
    width, height = size
    base = draw_camera(rng, size, MARGIN[motion], time)
    if identical:
        return PairEffects(base, replace(base, quality=int(rng.integers(60, 96))))

    seed, quality = int(rng.integers(2**31)), int(np.clip(base.quality + rng.integers(-10, 11), 15, 95))
    after = replace(base, seed=seed, quality=quality)
    names: list[str] = []
    if base.overlay:
        after = replace(after, overlay=(draw_clock(rng), *base.overlay[1:]))
        names.append("overlay")
    mild = _draw_gain(rng, 0.03, 0.01)
    after = replace(after, gain=tuple(a * b for a, b in zip(after.gain, mild)))
    pair = EffectsDraw(rng, [base, after], affected=int(rng.integers(2)), low_sun=low_sun)

    homography = draw_homography(rng, motion, width, height)
    pair.set(pair.affected, homography=homography @ base.homography)
    if corner_displacement(homography, width, height) > VISIBLE_MOTION_PX:
        names.append("camera_moved")
    if not indoor:  # a light wind, which is too weak for the label `foliage`
        pair.set(AFTER, sway=float(rng.choice([0.0, rng.uniform(0.2, 0.8)])))
    for name in strong:
        REGISTRY[name].draw(pair)
        if name != "camera_moved":  # labelled above, by the displacement that was really drawn
            names.append(name)
    return PairEffects(*pair.frames, names)


def draw_camera(rng: np.random.Generator, size: tuple[int, int], margin: int, time: str) -> FrameEffects:
    """Effects that both frames share: the rendering of the camera, and in some pairs an overlaid clock."""
    effects = FrameEffects(
        homography=shift(-margin, -margin),
        gain=_draw_gain(rng, 0.06, 0.025),
        gamma=float(np.exp(rng.normal(0, 0.08))),
        saturation=float(rng.uniform(0.4, 1.1)),
        noise=float(rng.uniform(0.8, 4.5) if time == "day" else rng.uniform(2, 7)),
        noise_soft=rng.random() < 0.6,
        defocus=float(max(0.0, rng.normal(0.2, 0.3))),
        quality=int(rng.integers(55, 96)),
        rescale=float(rng.choice([1.0, rng.uniform(0.6, 1.0)])),
        grey=rng.random() < (0.03 if time == "day" else 0.2),
        seed=int(rng.integers(2**31)),
    )
    if effects.grey:
        effects = replace(effects, vignette=float(rng.uniform(0.1, 0.5)))
    if rng.random() < 0.3:
        effects = replace(effects, overlay=_draw_overlay(rng, *size))
    return effects


def _draw_gain(rng: np.random.Generator, overall: float, tint: float) -> tuple[float, float, float]:
    """Gain per channel; `overall` and `tint` are standard deviations of the logarithm, common and per channel."""
    common = rng.normal(0, overall)
    return tuple(float(np.exp(common + rng.normal(0, tint))) for _ in range(3))


def draw_clock(rng: np.random.Generator) -> str:
    return (
        f"{rng.integers(2019, 2027)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d} "
        f"{rng.integers(24):02d}:{rng.integers(60):02d}:{rng.integers(60):02d}"
    )


def _draw_overlay(rng: np.random.Generator, width: int, height: int) -> tuple[str, int, int, float]:
    """Text, position and size of an overlaid clock, as in FrameEffects.overlay."""
    size = float(rng.uniform(0.4, 0.7))
    x = int(rng.choice([8, width - int(380 * size)]))
    y = int(rng.choice([8 + int(24 * size), height - 10]))
    return draw_clock(rng), x, y, size
