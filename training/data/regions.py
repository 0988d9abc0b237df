"""Region crops of a training pair: where they lie, and which changed object each frame shows there.

They lie where the maps of an earlier bundle respond, as in the service (map_regions.py), or, without one, at the true
boxes: jittered, with distractors where nothing changed. All boxes are (x, y, width, height) in pixels.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from training.contract import Box
from training.data.preprocess import crop_square, in_pixels

REGIONS = 3  # per pair, at most
SAME_PLACE_IOU = 0.1  # a box before and a box after that overlap more are one region, as they are in the maps
JITTER = 0.15  # error of a box's position and size, as a fraction of its size
DISTRACTOR_CHANGED, DISTRACTOR_UNCHANGED = 0.25, 0.35  # probability of a region where nothing changed
AT_BOX_IOU = 0.25  # of a region and an object, from which the crop is at that object
DESCRIPTION = ("noun", "hypernym", "colour")
UNKNOWN = "unknown"  # the content of a frame without a label at a crop


@dataclass
class Region:
    object_box: Box  # jittered, inside the frame
    crop: Box  # the square that is cropped from both frames
    before: dict[str, Any] | str | None  # noun, hypernym, colour of the changed object that `before` shows in the crop
    after: dict[str, Any] | str | None  # None: no object; or UNKNOWN

    @property
    def side(self) -> str:
        """Which frames show a changed object here: before, after, both or none."""
        before, after = (bool(thing) and thing != UNKNOWN for thing in (self.before, self.after))
        if before and after:
            return "both"
        return "before" if before else "after" if after else "none"


def area(box: Box) -> float:
    return box[2] * box[3]


def overlap(a: Box, b: Box) -> float:
    """Area of the intersection."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return max(width, 0) * max(height, 0)


def iou(a: Box, b: Box) -> float:
    shared = overlap(a, b)
    return shared / (area(a) + area(b) - shared) if shared else 0.0


def union(a: Box, b: Box) -> Box:
    """The smallest box around both."""
    x, y = min(a[0], b[0]), min(a[1], b[1])
    return x, y, max(a[0] + a[2], b[0] + b[2]) - x, max(a[1] + a[3], b[1] + b[3]) - y


def changed_places(objects: list[dict[str, Any]]) -> list[Box]:
    """Boxes of the changes, largest first; a place that changed in both frames (small move, replacement) is one box."""
    places = []
    later = [thing["box_after"] for thing in objects if thing["box_after"]]
    for thing in objects:
        box = thing["box_before"]
        if not box:
            continue
        best = max(later, key=lambda other: iou(box, other), default=None)
        if best is not None and iou(box, best) > SAME_PLACE_IOU:
            later.remove(best)
            box = union(box, best)
        places.append(tuple(box))
    return sorted([*places, *map(tuple, later)], key=area, reverse=True)


def choose_regions(objects: list[dict[str, Any]], width: int, height: int, rng: np.random.Generator) -> list[Region]:
    """At most REGIONS regions of a frame of width x height, by area descending, for the `objects` of a `Pair`."""
    boxes = [jittered(box, width, height, rng) for box in changed_places(objects)[:REGIONS]]
    chance = DISTRACTOR_CHANGED if objects else DISTRACTOR_UNCHANGED
    if len(boxes) < REGIONS and rng.random() < chance:
        boxes.append(_inside(_anywhere(width, height, rng), width, height))
    return regions_at(sorted(boxes, key=area, reverse=True), objects, width, height)


def regions_at(boxes: list[Box], objects: list[dict[str, Any]], width: int, height: int) -> list[Region]:
    """The regions of `boxes` in their order, with the object of `objects` that each frame shows there."""
    regions = []
    for box in boxes:
        crop = crop_square(box, width, height)
        seen = (seen_object(box, crop, objects, side) for side in ("before", "after"))
        regions.append(Region(box, crop, *(thing and {key: thing[key] for key in DESCRIPTION} for thing in seen)))
    return regions


def seen_object(box: Box, crop: Box, objects: list[dict[str, Any]], side: str) -> dict[str, Any] | None:
    """The object that fits `box` best, of those in view in the frame `side`: half of an object lies in the crop, or it
    fills a quarter of the crop."""
    key = f"box_{side}"
    in_view = [
        thing
        for thing in objects
        if thing[key] and overlap(crop, thing[key]) > min(0.5 * area(thing[key]), 0.25 * area(crop))
    ]
    return max(in_view, key=lambda thing: iou(box, thing[key]), default=None)


def objects_in_crops(meta: dict, boxes: list[Box], crops: list[Box]) -> list[tuple[dict | None, dict | None]]:
    """The pair's object that each frame shows in each crop: at the region's box, not beside it. meta: the pair's line
    in meta.jsonl; boxes and crops as fractions of the frame."""
    found = []
    for box, crop in zip(boxes[: len(meta["glances"])], crops):
        box, crop = (in_pixels(shares, *meta["frame"]) for shares in (box, crop))
        seen = [(seen_object(box, crop, meta["objects"], side), f"box_{side}") for side in ("before", "after")]
        found.append(tuple(thing if thing and iou(box, thing[key]) > AT_BOX_IOU else None for thing, key in seen))
    return found


def described_objects(meta: dict, boxes: list[Box], crops: list[Box]) -> list[dict[str, Any]]:
    """The pair's objects that a crop is at, in a replacement both or neither; all objects if no crop is at any.

    Captions describe these alone: a sentence about an object outside every crop would train the captioner to invent.
    """
    seen = [thing for shown in objects_in_crops(meta, boxes, crops) for thing in shown if thing]
    described = []
    remaining = iter(meta["objects"])
    for thing in remaining:
        one = [thing, next(remaining)] if thing["action"] == "replaced" else [thing]
        described += one if any(other is thing for thing in one for other in seen) else []
    return described or meta["objects"]


def jittered(box: Box, frame_width: int, frame_height: int, rng: np.random.Generator) -> Box:
    """The box with the error of a region, inside the frame."""
    x, y, width, height = box
    new_width, new_height = np.array([width, height]) * rng.uniform(1 - JITTER, 1 + JITTER, 2)
    centre_x, centre_y = np.array([x + width / 2, y + height / 2]) + rng.uniform(-JITTER, JITTER, 2) * [width, height]
    return _inside(
        (centre_x - new_width / 2, centre_y - new_height / 2, new_width, new_height), frame_width, frame_height
    )


def _anywhere(width: int, height: int, rng: np.random.Generator) -> Box:
    longer = np.exp(rng.uniform(np.log(0.03), np.log(0.3))) * width
    shape = rng.uniform(0.4, 1, 2)
    box_width, box_height = longer * shape / shape.max()
    return rng.uniform(0, 1) * (width - box_width), rng.uniform(0, 1) * (height - box_height), box_width, box_height


def _inside(box: Box, width: int, height: int) -> Box:
    """The part of the box inside the frame, at least one pixel."""
    left, top = min(max(box[0], 0), width - 1), min(max(box[1], 0), height - 1)
    right, bottom = min(box[0] + box[2], width), min(box[1] + box[3], height)
    return tuple(float(v) for v in (left, top, max(right - left, 1), max(bottom - top, 1)))
