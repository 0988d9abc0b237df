"""A labelled pair: two frames of one camera, with the ground truth of their difference. Shared by all worlds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

SPLITS = ("train", "heldout")
KINDS = ("none", "appear", "disappear", "move", "replace", "multi")  # the index is that of the model's kind output
# The index is that of the model's nuisance output, so new names go last (see surveillance/nuisances.py).
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
KIND_OF_ACTION = {"appeared": "appear", "disappeared": "disappear", "moved": "move", "replaced": "replace"}
MASK_STRIDE = 8  # frame pixels per cell of a mask, in both directions


def kind_of(objects: list[dict[str, Any]]) -> str:
    """The kind of a pair with these objects (as in Pair): "none", the kind that all share, or "multi".

    Three cars that arrived together are "appear". Their number is a matter of the caption.
    """
    kinds = {KIND_OF_ACTION[obj["action"]] for obj in objects}
    return "none" if not kinds else kinds.pop() if len(kinds) == 1 else "multi"


@dataclass
class Pair:
    """H, W: height and width of a frame in pixels; h = H // 8, w = W // 8: cells of a mask.

    An entry of `objects` is a changed object, or a group that changed together. Keys: noun; hypernym (person,
    vehicle, animal or object); colour (None if a viewer cannot see it); action (a key of KIND_OF_ACTION); places
    (every location or direction phrase that is true of it); where (one of them, or None); count; models and packs (of
    its sprites in the surveillance world: their names, and the folders that hold them); boxes_before and
    boxes_after (a box [x, y, w, h] in pixels per member of the group and frame); box_before and box_after (the box
    around them, or None). A replacement has two entries: the old object, which has box_before, and then the new one.
    """

    before: np.ndarray  # uint8 [H, W, 3], RGB
    after: np.ndarray  # uint8 [H, W, 3], RGB
    kind: str  # of KINDS
    objects: list[dict[str, Any]]
    mask_before: np.ndarray  # float32 [h, w], 0..1: share of each cell that shows an object only `before` has there
    mask_after: np.ndarray  # float32 [h, w], likewise for `after`
    nuisances: list[str]  # of NUISANCES
    captions: list[str]
    plate_id: str
    models: list[str] = field(default_factory=list)  # of the sprites in the pair
    seed: int = 0

    @property
    def boxes_before(self) -> list[list[float]]:
        return [box for obj in self.objects for box in obj["boxes_before"]]

    @property
    def boxes_after(self) -> list[list[float]]:
        return [box for obj in self.objects for box in obj["boxes_after"]]
