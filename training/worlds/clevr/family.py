"""One CLEVR scene and everything that may happen to it, so that a picture serves many pairs.

A family is the scene as it was (a default and two distractor views) and, for each kind of change, one view of it changed. Eight
pictures give 6 unchanged and 30 changed pairs; drawn pair by pair as the data set does, eight pictures give four. Every view has
its own camera; the lamps are the scene's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.worlds.clevr import rules
from training.worlds.clevr.render import object_map, views_of
from training.worlds.clevr.scene import GLANCE_LEAST, GLANCE_STRIDE, LEAST_PIXELS, SPLITS

DISTRACTORS = 2
SAME = 1 + DISTRACTORS  # views of the scene as it was; the first is the default
VIEWS = SAME + len(rules.CHANGES)
TRIES = 20  # of a view until every object shows, before the scene is drawn anew
FAMILY_STREAM = 2  # keeps these scenes apart from those of ClevrWorld


@dataclass(frozen=True)
class FamilyView:
    """`change` None: the scene as it was. `index_before` and `index_after`: the changed object's, as in Draft."""

    things: list[rules.Thing]
    eye: np.ndarray  # [3]
    change: str | None = None
    index_before: int | None = None
    index_after: int | None = None


@dataclass(frozen=True)
class Family:
    views: list[FamilyView]
    lamp_offsets: np.ndarray  # [3,3]

    def tensors(self):
        count = len(self.views)
        return views_of(
            [v.things for v in self.views], np.array([v.eye for v in self.views]), np.array([self.lamp_offsets] * count)
        )


class Hidden(Exception):
    """Some object shows too little in every camera that was tried."""


def shows_all(things: list[rules.Thing], eye: np.ndarray) -> bool:
    """Whether each object shows LEAST_PIXELS, counted on every second one; a coarser look first, because most views fail by far."""
    views = views_of([things], eye[None], np.zeros((1, 3, 3)))
    for stride, least in ((GLANCE_STRIDE, GLANCE_LEAST), (2, LEAST_PIXELS)):
        slots = object_map(views, stride)
        if min(int((slots == k).sum()) * stride**2 for k in range(len(things))) < least:
            return False
    return True


def draw_family(scene: int, split: str) -> Family:
    """The family of that number; the same in every run."""
    rng = np.random.default_rng([scene, SPLITS.index(split), FAMILY_STREAM])
    count = int(
        rng.integers(rules.FEWEST, rules.MOST + 1)
    )  # before the first attempt: full scenes must not come up less often
    while True:
        try:
            return Family(_draw_views(count, rng), rng.uniform(-rules.LAMP_JITTER, rules.LAMP_JITTER, (3, 3)))
        except Hidden:
            continue


def _draw_views(count: int, rng: np.random.Generator) -> list[FamilyView]:
    before, default = rules.draw_scene(count, rng), rules.EYE + _jitter(rng)
    if not shows_all(before, default):
        raise Hidden
    views = [FamilyView(before, default)]
    for change in [None] * DISTRACTORS + list(rules.CHANGES):
        for _ in range(TRIES):
            try:
                things, old, new = rules.apply_change(change, before, rng) if change else (before, None, None)
            except rules.NoRoom:
                continue
            eye = default + _jitter(rng)
            if shows_all(things, eye):
                views.append(FamilyView(things, eye, change, old, new))
                break
        else:
            raise Hidden
    return views


def _jitter(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-rules.EYE_JITTER, rules.EYE_JITTER, 3)
