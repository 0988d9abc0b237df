"""Scene rules of CLEVR-Change: which objects a scene has, where they are placed, and what may change. No rendering.

Lengths are in Blender units; x and y lie on the ground, z is up. All random numbers come from the generator argument.
Source: the public scene generators of CLEVR (Johnson et al., CVPR 2017) and CLEVR-Change (Park et al., ICCV 2019).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from training.contract import KIND_OF_ACTION

SIZES = {"large": 0.7, "small": 0.35}  # radius, or half the side of a cube
SHAPES = ("cube", "sphere", "cylinder")
MATERIALS = ("rubber", "metal")
COLOURS = {  # divided by 255 these are linear RGB, not sRGB
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}
CHANGES = ("color", "material", "add", "drop", "move")  # in the spelling of the data set
# Action of training/contract.py for each change of the data set.
ACTION = {"add": "appeared", "drop": "disappeared", "move": "moved", "color": "replaced", "material": "replaced"}
KIND = {change: KIND_OF_ACTION[action] for change, action in ACTION.items()}
REVERSED = {"add": "drop", "drop": "add", "move": "move", "color": "color", "material": "material"}
MIN_OBJECTS, MAX_OBJECTS = 3, 10  # before the change

MAX_COORDINATE = 3.0  # of |x| and |y| of an object
MIN_GAP = 0.25  # between the outlines of two objects
MIN_AXIS_DISTANCE = 0.4  # of two objects along left-right and front-behind, so that every relation is clear
MIN_MOVE = 0.4
MAX_TRIES = 50  # positions that are tried per object

EYE = np.array([7.4811, -6.5076, 5.3437])  # camera position before its jitter; the camera always aims at the origin
EYE_JITTER = 2.0
LAMP_JITTER = 1.0

# Unit vectors on the ground, for the camera before its jitter.
DIRECTIONS = {"behind": np.array([-0.7545, 0.6563]), "right": np.array([0.6563, 0.7545])}
DIRECTIONS |= {"front": -DIRECTIONS["behind"], "left": -DIRECTIONS["right"]}


@dataclass(frozen=True)
class SceneObject:
    """An object of a scene. `turn` is its rotation about z in radians."""

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


Scene = list[SceneObject]


class NoFreePlace(Exception):
    """No tried position of an object is free; the scene has to be drawn again."""


def are_free(positions: np.ndarray, radius: float, others: Scene) -> np.ndarray:
    """Which positions [n,2] keep the minimum distances to all other objects: bool [n]."""
    if not others:
        return np.ones(len(positions), bool)
    steps = positions[:, None] - np.array([[o.x, o.y] for o in others])  # [n,others,2]
    gaps = np.hypot(*np.moveaxis(steps, -1, 0)) - radius - np.array([o.radius for o in others])
    along = np.abs(steps @ np.stack([DIRECTIONS["behind"], DIRECTIONS["right"]], 1))  # [n,others,2]
    return (gaps >= MIN_GAP).all(1) & (along >= MIN_AXIS_DISTANCE).all((1, 2))


def draw_position(
    radius: float, others: Scene, rng: np.random.Generator, away_from: SceneObject | None = None
) -> tuple[float, float]:
    """A free position (x, y), at least MIN_MOVE from `away_from`. Raises NoFreePlace."""
    positions = rng.uniform(-MAX_COORDINATE, MAX_COORDINATE, (MAX_TRIES, 2))
    free = are_free(positions, radius, others)
    if away_from:
        free &= np.hypot(*(positions - [away_from.x, away_from.y]).T) >= MIN_MOVE
    if not free.any():
        raise NoFreePlace
    x, y = positions[free.argmax()]
    return float(x), float(y)


def draw_object(others: Scene, rng: np.random.Generator) -> SceneObject:
    size, colour, material, shape = (str(rng.choice(list(names))) for names in (SIZES, COLOURS, MATERIALS, SHAPES))
    x, y = draw_position(SIZES[size], others, rng)
    return SceneObject(size, colour, material, shape, x, y, float(rng.uniform(0, 2 * np.pi)))


def draw_scene(count: int, rng: np.random.Generator) -> Scene:
    scene: Scene = []
    while len(scene) < count:
        try:
            scene.append(draw_object(scene, rng))
        except NoFreePlace:
            scene = []
    return scene


def apply_change(change: str, before: Scene, rng: np.random.Generator) -> tuple[Scene, int | None, int | None]:
    """The scene after a random change of that kind, and the changed object's index before and after.

    Raises NoFreePlace for an addition or a move without a free position, ValueError for an unknown change.
    """
    if change == "add":
        return [*before, draw_object(before, rng)], None, len(before)
    index = int(rng.integers(len(before)))
    old, others = before[index], before[:index] + before[index + 1 :]
    if change == "drop":
        return others, index, None
    if change == "move":
        x, y = draw_position(old.radius, others, rng, away_from=old)
        new = replace(old, x=x, y=y)
    elif change == "color":
        new = replace(old, colour=str(rng.choice([c for c in COLOURS if c != old.colour])))
    elif change == "material":
        new = replace(old, material=next(m for m in MATERIALS if m != old.material))
    else:
        raise ValueError(f"unknown change {change!r}, expected one of {', '.join(CHANGES)}")
    return [new if i == index else unchanged for i, unchanged in enumerate(before)], index, index
