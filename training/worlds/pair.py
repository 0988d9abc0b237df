"""One training sample: two frames of the same camera and everything that is true about their difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

KINDS = ("none", "appear", "disappear", "move", "replace", "multi")
ACTIONS = ("appeared", "disappeared", "moved", "replaced")
NUISANCES = (
    "lighting",
    "ir_switch",
    "shadow",
    "weather",
    "compression",
    "noise",
    "camera_moved",
    "defocus",
    "foliage",
    "overlay",
)
MASK_STRIDE = 8  # pixels of a frame per cell of a mask, in both directions


KIND_OF_ACTION = {"appeared": "appear", "disappeared": "disappear", "moved": "move", "replaced": "replace"}


def kind_of(objects: list[dict[str, Any]]) -> str:
    """The kind of a pair's changes: the one thing that all of them did, `multi` where they did different things.

    Three cars that came together have appeared: a reader asks first in which direction, and how many is in the sentence.
    """
    kinds = {KIND_OF_ACTION[thing["action"]] for thing in objects}
    return "none" if not kinds else kinds.pop() if len(kinds) == 1 else "multi"


@dataclass
class Pair:
    """H, W = height and width of a frame in pixels; w = W // 8, h = H // 8 (cells of a mask).

    An entry of `objects` is a dict: noun, hypernym (person|vehicle|animal|object), colour (None where a viewer
    could not tell it), action (one of ACTIONS), where (a phrase that is true for the box), places (every such phrase),
    count, box_before and box_after ([x, y, w, h] in pixels of that frame, or None), boxes_before and boxes_after
    (the boxes of each member of a group). Of a replacement both sides are listed, the old one (box_before) first.
    """

    before: np.ndarray  # uint8 [H, W, 3], RGB
    after: np.ndarray  # uint8 [H, W, 3], RGB
    kind: str
    objects: list[dict[str, Any]]
    mask_before: np.ndarray  # float32 [h, w], 0..1: share of the cell that shows what is only in `before`
    mask_after: np.ndarray  # float32 [h, w], likewise for `after`
    nuisances: list[str]
    captions: list[str]
    plate_id: str
    models: list[str] = field(default_factory=list)
    seed: int = 0

    @property
    def boxes_before(self) -> list[list[float]]:
        return [box for thing in self.objects for box in thing["boxes_before"]]

    @property
    def boxes_after(self) -> list[list[float]]:
        return [box for thing in self.objects for box in thing["boxes_after"]]
