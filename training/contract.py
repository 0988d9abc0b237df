"""The names and sizes that worlds, texts, data, networks and graphs agree on. Imports no other module of training.

The order of KINDS, NUISANCES, SLOTS and the special tokens is that of the model's outputs: a new name goes last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

USUAL = "usual"  # the scenario of the mixture that trains
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


# --- texts
PAD, UNK, START, END = 0, 1, 2, 3  # ids of the special tokens
SPECIALS = ("<pad>", "<unk>", "<start>", "<end>")
SLOTS = ("action", "noun", "colour", "place", "count")
MAX_WORDS = 32  # with END
BUCKETS = 4096  # rows of n-grams; row 0 is none

# --- classes of region crops
CROP_SIDES = ("before", "after", "both", "none")  # the frames whose region crop shows a changed object
ROLES = ("nothing", "came or went", "moved", "replaced")  # role of the object that a crop shows in one frame
EVENTS = ("appeared", "disappeared", "moved", "replaced")  # events that a clause reports
# Roles that objects can have in pairs of a kind, beside "nothing": in the before frame, in the after frame.
ROLES_OF_KIND = {
    "none": ((), ()),
    "appear": ((), ("came or went",)),
    "disappear": (("came or went",), ()),
    "move": (("moved",), ("moved",)),
    "replace": (("replaced",), ("replaced",)),
    "multi": (ROLES, ROLES),
}
IGNORE = -100  # ignore_index of torch's cross-entropy

# --- pixels and cells
COARSE_STRIDE, FINE_STRIDE = 16, 8  # pixels per side of a feature cell
Box = tuple[float, float, float, float]  # x, y, width, height


# --- tensors of the graphs (the bundle format)
DIFFERENCE_IN = ("coarse_before", "fine_before", "coarse_after", "fine_after")
DIFFERENCE_OUT = ("memory", "change_logit", "kind_logits", "nuisance_logits", "map_before", "map_after")
CROP_IN = ("glance_coarse", "glance_fine", "glance_box", "object_box", "glance_mask")
# The difference graph's kind_logits, an input of captioners whose crops are related.
FRAME_KIND = "look_kind_logits"
# Inputs of statements.onnx, which captions one pair: its crops, and rows of indices into them.
STATEMENTS_IN = ("memory", *CROP_IN[:4], FRAME_KIND, "rows", "clauses")
CAPTION_OUT = ("ids", "log_prob", "length", "attention")


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


@dataclass(frozen=True)
class Clause:
    """One statement. In a replacement, `noun` is the former object and `new` (noun, colour, count) the present one."""

    action: str
    noun: str
    colour: str | None
    where: str | None
    count: int = 1
    new: tuple[str, str | None, int] | None = None


def difference_inputs(b: dict[str, Tensor]) -> tuple[Tensor | None, ...]:
    """The arguments of `Difference` out of a batch."""
    coarse, fine = b["coarse"], b["fine"]  # [B,2,...]
    return coarse[:, 0], fine[:, 0], coarse[:, 1], fine[:, 1], b.get("evidence")


def crop_inputs(b: dict[str, Tensor]) -> tuple[Tensor, ...] | None:
    """The arguments of `RegionCrops` out of a batch; None if its cache has no region crops."""
    if "glance_coarse" not in b:
        return None
    return b["glance_coarse"], b["glance_fine"], b["glance_box"], b["glance_object_box"], b["glance_mask"]
