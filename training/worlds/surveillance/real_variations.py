"""Variations of a pair of real frames: time reversed, a window, a flip, other light, another size and compression.

Boxes, places, masks and captions follow the frames.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from training.contract import MASK_STRIDE, Box, Pair, kind_of
from training.data.real import around_all
from training.text.captions import write_captions
from training.worlds.surveillance.ground_truth import SMALL_HEIGHT_PX, largest_first
from training.worlds.surveillance.location_phrases import direction_phrases, frame_phrases

CHANGED = 0.08  # difference of a pixel, in 0..1, from which it belongs to a thing
REVERSED = {"appeared": "disappeared", "disappeared": "appeared"}


def reversed_in_time(pair: Pair) -> Pair:
    objects = [
        {
            **thing,
            "action": REVERSED.get(thing["action"], thing["action"]),
            **{f"{name}_before": thing[f"{name}_after"] for name in ("box", "boxes")},
            **{f"{name}_after": thing[f"{name}_before"] for name in ("box", "boxes")},
        }
        for thing in pair.objects
    ]
    return Pair(
        pair.after,
        pair.before,
        kind_of(objects),
        objects,
        pair.mask_after,
        pair.mask_before,
        [],
        [],
        pair.plate_id,
        pair.models,
    )


def varied(pair: Pair, seed: int, rng: np.random.Generator) -> Pair:
    """The pair in a window of its frames, perhaps flipped, with places, captions and masks; other light and
    compression in each frame."""
    height, width, _ = pair.before.shape
    boxes = [*pair.boxes_before, *pair.boxes_after]
    left, top, w, h = _window(boxes, width, height, rng)
    flip = rng.random() < 0.5

    def moved(box: list[float]) -> list[float]:
        x0, y0 = max(box[0] - left, 0.0), max(box[1] - top, 0.0)
        x1, y1 = min(box[0] + box[2] - left, float(w)), min(box[1] + box[3] - top, float(h))
        return [w - x1 if flip else x0, y0, max(x1 - x0, 1.0), max(y1 - y0, 1.0)]

    frames = [
        np.ascontiguousarray(f[top : top + h, left : left + w][:, :: -1 if flip else 1])
        for f in (pair.before, pair.after)
    ]
    objects = []
    for thing in pair.objects:
        sides = {f"boxes_{side}": [moved(box) for box in thing[f"boxes_{side}"]] for side in ("before", "after")}
        around = {
            name.replace("boxes", "box"): list(around_all(found)) if found else None for name, found in sides.items()
        }
        objects.append({**thing, **sides, **around})
    objects = [_placed(thing, w, h, rng) for thing in largest_first(objects)]
    masks = [
        _mask(frames, [box for thing in objects for box in thing[f"boxes_{side}"]]) for side in ("before", "after")
    ]
    light = rng.uniform(0.85, 1.15)
    frames = [_taken(frame, light * rng.uniform(0.94, 1.06), rng) for frame in frames]
    captions = write_captions(objects, [], rng)
    return Pair(*frames, kind_of(objects), objects, *masks, [], captions, pair.plate_id, pair.models, seed)


def reduced(pair: Pair, width: int) -> Pair:
    """The pair at most `width` pixels wide, with its boxes."""
    factor = width / pair.before.shape[1]
    if factor >= 1:
        return pair
    size = width, round(pair.before.shape[0] * factor)
    frames = [cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in (pair.before, pair.after)]
    objects = [
        {
            **thing,
            **{f"boxes_{s}": [[v * factor for v in box] for box in thing[f"boxes_{s}"]] for s in ("before", "after")},
        }
        for thing in pair.objects
    ]
    return replace(pair, before=frames[0], after=frames[1], objects=objects)


def box_parts(box: Box, height: int, width: int) -> tuple[tuple[slice, slice], np.ndarray]:
    """The pixels inside the box as slices, and a mask of those in a frame around it."""
    x, y, w, h = box
    inside = slice(max(round(y), 0), max(round(y + h), 1)), slice(max(round(x), 0), max(round(x + w), 1))
    edge = max(3, round(0.12 * min(w, h)))
    around = np.zeros((height, width), bool)
    around[
        max(inside[0].start - edge, 0) : inside[0].stop + edge, max(inside[1].start - edge, 0) : inside[1].stop + edge
    ] = 1
    around[inside] = 0
    return inside, around


def _window(boxes: list[list[float]], width: int, height: int, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """A window of the frame's shape around all boxes: left, top, width, height."""
    scale = 1.0 if rng.random() < 0.4 else float(rng.uniform(0.6, 1))
    if boxes:
        x, y, w, h = around_all(boxes)
        scale = min(1.0, max(scale, 1.15 * w / width, 1.15 * h / height))
    ww, hh = round(scale * width), round(scale * height)
    lowest, highest = (0, 0), (width - ww, height - hh)
    if boxes:
        lowest = max(0, int(x + w) - ww), max(0, int(y + h) - hh)
        highest = min(width - ww, int(x)), min(height - hh, int(y))
    left, top = (
        int(rng.integers(low, high + 1)) if high >= low else max(0, min(low, full))
        for low, high, full in zip(lowest, highest, (width - ww, height - hh))
    )
    return left, top, ww, hh


def _placed(thing: dict[str, Any], width: int, height: int, rng: np.random.Generator) -> dict[str, Any]:
    """The thing with the phrases that are true of its place, or of its way if it moved."""
    boxes = thing["boxes_before"] or thing["boxes_after"]
    tall = max(box[3] for box in (*thing["boxes_before"], *thing["boxes_after"]))
    if thing["action"] == "moved" and thing["box_before"] and thing["box_after"]:
        old, new = thing["box_before"], thing["box_after"]
        places = direction_phrases(tuple(old), tuple(new), width, (old[2] * old[3]) ** 0.5, (new[2] * new[3]) ** 0.5)
    else:
        share = tall / height * (1.0 if thing["hypernym"] == "person" else 1.1)
        found = frame_phrases(around_all(boxes), width, height, share)
        places = [found[i] for i in rng.permutation(len(found))]
    small = tall < SMALL_HEIGHT_PX
    return {**thing, "places": places, "where": places[0] if places else None, "small": small}


def _mask(frames: list[np.ndarray], boxes: list[list[float]]) -> np.ndarray:
    """Share of each cell that the boxes cover and in which the frames differ: float32 [h, w]."""
    height, width, _ = frames[0].shape
    covered = np.zeros((height, width), np.float32)
    for box in boxes:
        covered[box_parts(tuple(box), height, width)[0]] = 1
    differs = np.abs(frames[0].astype(np.int16) - frames[1]).max(2) > CHANGED * 255
    closed = cv2.morphologyEx((covered * differs).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
    return cv2.resize(
        closed.astype(np.float32), (width // MASK_STRIDE, height // MASK_STRIDE), interpolation=cv2.INTER_AREA
    )


def _taken(frame: np.ndarray, light: float, rng: np.random.Generator) -> np.ndarray:
    """The frame in another light, with noise and compressed anew."""
    levels = frame.astype(np.float32) * light + rng.normal(0, rng.uniform(0, 3), frame.shape)
    levels = np.clip(levels, 0, 255).astype(np.uint8)
    quality = int(rng.integers(55, 96))
    _, data = cv2.imencode(".jpg", levels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.ascontiguousarray(cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1])
