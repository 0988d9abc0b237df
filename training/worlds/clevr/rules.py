"""What stands where in a CLEVR-Change scene and what may change: the generator's rules, without any picture.

Units are Blender's; x and y lie on the ground, z is up. Everything random comes from the generator that is passed in.
Source: the public scene generators of CLEVR (Johnson et al., CVPR 2017) and CLEVR-Change (Park et al., ICCV 2019).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

SIZES = {"large": 0.7, "small": 0.35}  # radius, or half the side of a cube
SHAPES = ("cube", "sphere", "cylinder")
MATERIALS = ("rubber", "metal")
COLOURS = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}  # / 255 is linear, not sRGB
CHANGES = ("color", "material", "add", "drop", "move")  # as the data set spells them
REVERSED = {"add": "drop", "drop": "add", "move": "move", "color": "color", "material": "material"}
FEWEST, MOST = 3, 10  # objects before the change

REACH = 3.0  # |x|, |y| of an object
GAP = 0.25  # between the outlines of two objects
AXIS_MARGIN = 0.4  # along left-right and front-behind, so that a relation is never a close call
RELATION_MARGIN = 0.2  # beyond which "left of" and the like are said
MOVE_LEAST = 0.4
PLACING_TRIES = 50

EYE = np.array([7.4811, -6.5076, 5.3437])  # the camera before its jitter; it always aims at the origin
EYE_JITTER = 2.0
LAMP_JITTER = 1.0

# Of the camera before its jitter, on the ground.
DIRECTIONS = {"behind": np.array([-0.7545, 0.6563]), "right": np.array([0.6563, 0.7545])}
DIRECTIONS |= {"front": -DIRECTIONS["behind"], "left": -DIRECTIONS["right"]}


@dataclass(frozen=True)
class Thing:
    """An object of a scene; `turn` about z in radians."""

    size: str
    colour: str
    material: str
    shape: str
    x: float
    y: float
    turn: float

    @property
    def radius(self) -> float:
        return SIZES[self.size]

    def has(self, attributes: dict[str, str]) -> bool:
        return all(getattr(self, name) == value for name, value in attributes.items())


@dataclass(frozen=True)
class Draft:
    """A scene before and after one change, seen thrice. `changed_before` and `changed_after` index the changed object."""

    change: str
    before: list[Thing]
    after: list[Thing]
    changed_before: int | None
    changed_after: int | None
    eyes: np.ndarray  # [3,3]: of the default, the changed and the distractor view
    lamp_offsets: np.ndarray  # [3,3]: of the key, the fill and the back lamp, the same in all three views


class NoRoom(Exception):
    """An object found no place; the scene has to be drawn anew."""


def relation_holds(name: str, thing: Thing, anchor: Thing) -> bool:
    """Whether `thing` is left of, right of, in front of or behind `anchor`, for the camera before its jitter."""
    step = np.array([thing.x - anchor.x, thing.y - anchor.y])
    return bool(step @ DIRECTIONS[name] > RELATION_MARGIN)


def fits(spots: np.ndarray, radius: float, others: list[Thing]) -> np.ndarray:
    """Which of the spots [n,2] leave enough room to all others: bool [n]."""
    if not others:
        return np.ones(len(spots), bool)
    steps = spots[:, None] - np.array([[o.x, o.y] for o in others])  # [n,others,2]
    gaps = np.hypot(*np.moveaxis(steps, -1, 0)) - radius - np.array([o.radius for o in others])
    along = np.abs(steps @ np.stack([DIRECTIONS["behind"], DIRECTIONS["right"]], 1))  # [n,others,2]
    return (gaps >= GAP).all(1) & (along >= AXIS_MARGIN).all((1, 2))


def place(
    radius: float, others: list[Thing], rng: np.random.Generator, away_from: Thing | None = None
) -> tuple[float, float]:
    """The first free one of PLACING_TRIES spots; with `away_from` at least MOVE_LEAST from that object."""
    spots = rng.uniform(-REACH, REACH, (PLACING_TRIES, 2))
    free = fits(spots, radius, others)
    if away_from:
        free &= np.hypot(*(spots - [away_from.x, away_from.y]).T) >= MOVE_LEAST
    if not free.any():
        raise NoRoom
    x, y = spots[free.argmax()]
    return float(x), float(y)


def draw_thing(others: list[Thing], rng: np.random.Generator) -> Thing:
    size, colour, material, shape = (str(rng.choice(list(names))) for names in (SIZES, COLOURS, MATERIALS, SHAPES))
    return Thing(size, colour, material, shape, *place(SIZES[size], others, rng), float(rng.uniform(0, 2 * np.pi)))


def draw_scene(count: int, rng: np.random.Generator) -> list[Thing]:
    things: list[Thing] = []
    while len(things) < count:
        try:
            things.append(draw_thing(things, rng))
        except NoRoom:
            things = []
    return things


def apply_change(
    change: str, before: list[Thing], rng: np.random.Generator
) -> tuple[list[Thing], int | None, int | None]:
    """The objects after the change, and the changed one's index before (None: added) and after (None: dropped)."""
    if change == "add":
        return [*before, draw_thing(before, rng)], None, len(before)
    index = int(rng.integers(len(before)))
    thing, others = before[index], before[:index] + before[index + 1 :]
    if change == "drop":
        return others, index, None
    if change == "move":
        x, y = place(thing.radius, others, rng, away_from=thing)
        new = replace(thing, x=x, y=y)
    elif change == "color":
        new = replace(thing, colour=str(rng.choice([c for c in COLOURS if c != thing.colour])))
    elif change == "material":
        new = replace(thing, material=next(m for m in MATERIALS if m != thing.material))
    else:
        raise ValueError(f"unknown change {change!r}, expected one of {', '.join(CHANGES)}")
    return [new if i == index else old for i, old in enumerate(before)], index, index


def draw(change: str, count: int, rng: np.random.Generator) -> Draft:
    """A scene of `count` objects with that change; whether everything can be seen is for the renderer to say."""
    while True:
        before = draw_scene(count, rng)
        try:
            after, changed_before, changed_after = apply_change(change, before, rng)
        except NoRoom:
            continue
        eye = EYE + rng.uniform(-EYE_JITTER, EYE_JITTER, 3)
        moved = eye + rng.uniform(-EYE_JITTER, EYE_JITTER, (2, 3))  # each starts from the jittered default, as measured
        return Draft(
            change,
            before,
            after,
            changed_before,
            changed_after,
            np.vstack([eye, moved]),
            rng.uniform(-LAMP_JITTER, LAMP_JITTER, (3, 3)),
        )
