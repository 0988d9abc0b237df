"""Scene family: one CLEVR scene with every kind of change, so that one rendered view serves many pairs.

A family has the unchanged scene in three views (a default and two distractors) and, per kind of change, one view of
the scene with that change. Eight views give 6 unchanged and 30 changed pairs; rendered pair by pair, as the data set
is, eight views would give four pairs. Every view has its own camera; all share the lamps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from research.clevr import rules
from research.clevr.optics import Views
from research.clevr.render import object_map, views_of
from research.clevr.rules import Scene
from training.contract import SPLITS

DISTRACTORS = 2
UNCHANGED_VIEWS = 1 + DISTRACTORS  # the first ones of a family; the very first is the default view
VIEWS = UNCHANGED_VIEWS + len(rules.CHANGES)
MAX_TRIES = 20  # per view, before the whole scene is drawn again
FAMILY_STREAM = 2  # last element of the seed
MIN_PIXELS = 200  # visible pixels of every object in each view
# Most scenes fail the check by far. A sparse count comes first: every SPARSE_STRIDE-th pixel, with a lower minimum.
SPARSE_STRIDE, SPARSE_MIN_PIXELS = 4, 130


@dataclass(frozen=True)
class FamilyView:
    """One view. Without a `change` it shows the unchanged scene."""

    objects: Scene
    eye: np.ndarray  # [3]
    change: str | None = None
    index_before: int | None = None  # of the changed object; None if it was added
    index_after: int | None = None  # None if it was dropped


@dataclass(frozen=True)
class Family:
    views: list[FamilyView]
    lamp_offsets: np.ndarray  # [3,3]

    def to_views(self) -> Views:
        return views_of(
            [view.objects for view in self.views],
            np.array([view.eye for view in self.views]),
            np.array([self.lamp_offsets] * len(self.views)),
        )


class HiddenObject(Exception):
    """In all cameras that were tried, some object shows too few pixels."""


def shows_every_object(objects: Scene, eye: np.ndarray) -> bool:
    """Whether each object shows MIN_PIXELS, counted on every second pixel after a sparse count."""
    views = views_of([objects], eye[None], np.zeros((1, 3, 3)))
    for stride, minimum in ((SPARSE_STRIDE, SPARSE_MIN_PIXELS), (2, MIN_PIXELS)):
        slots = object_map(views, stride)
        if min(int((slots == k).sum()) * stride**2 for k in range(len(objects))) < minimum:
            return False
    return True


def draw_family(number: int, split: str) -> Family:
    """The family of that number; equal in every run."""
    rng = np.random.default_rng([number, SPLITS.index(split), FAMILY_STREAM])
    # Drawn before the first attempt, so that rejections do not make crowded scenes rarer.
    count = int(rng.integers(rules.MIN_OBJECTS, rules.MAX_OBJECTS + 1))
    while True:
        try:
            return Family(_draw_views(count, rng), rng.uniform(-rules.LAMP_JITTER, rules.LAMP_JITTER, (3, 3)))
        except HiddenObject:
            continue


def _draw_views(count: int, rng: np.random.Generator) -> list[FamilyView]:
    unchanged, default = rules.draw_scene(count, rng), rules.EYE + _draw_jitter(rng)
    if not shows_every_object(unchanged, default):
        raise HiddenObject
    views = [FamilyView(unchanged, default)]
    for change in [None] * DISTRACTORS + list(rules.CHANGES):
        for _ in range(MAX_TRIES):
            try:
                objects, old, new = rules.apply_change(change, unchanged, rng) if change else (unchanged, None, None)
            except rules.NoFreePlace:
                continue
            eye = default + _draw_jitter(rng)
            if shows_every_object(objects, eye):
                views.append(FamilyView(objects, eye, change, old, new))
                break
        else:
            raise HiddenObject
    return views


def _draw_jitter(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-rules.EYE_JITTER, rules.EYE_JITTER, 3)
