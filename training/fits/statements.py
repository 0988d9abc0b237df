"""Events of the service beside the labels of their pairs: what `scenedelta evaluate --evidence` wrote.

A line of evidence is {id, swapped, evidence}; src/pipeline/judge-evidence.ts has its keys. Boxes
are (x, y, width, height) in fractions of the frame.
"""

from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from training.contract import Box
from training.inputs import read_ndjson

MIN_OVERLAP = 0.25  # share of the smaller box that a region and a thing have in common at least
REVERSED = {
    "appeared": "disappeared",
    "to the left": "to the right",
    "slightly to the left": "slightly to the right",
    "closer": "further away",
    "towards the camera": "away from the camera",
}
REVERSED |= {way: other for other, way in REVERSED.items()}


def described_pairs(pairs: Path, evidence: Path) -> Iterator[tuple[dict, bool, list[dict]]]:
    """Label, whether the frames were exchanged, and events, per line of evidence of a changed pair.

    @raises SystemExit naming a line whose pair the labels lack
    """
    labels = {label["id"]: label | {"folder": pairs.parent} for label in read_ndjson(pairs)}
    for line in read_ndjson(evidence):
        label = labels.get(line["id"])
        if label is None:
            raise SystemExit(f"{evidence}: pair {line['id']!r} is not in {pairs}")
        if label["boxes_before"] or label["boxes_after"]:
            yield label, line["swapped"], (line.get("evidence") or {"events": []})["events"]


def fractions(boxes: list[Box], label: dict, side: str) -> list[Box]:
    """Boxes in pixels of the frame -> in fractions of it."""
    size = (label["width"], label["height"]) if "width" in label else Image.open(label["folder"] / label[side]).size
    width, height = size
    return [(x / width, y / height, w / width, h / height) for x, y, w, h in boxes]


def labelled_boxes(label: dict, swapped: bool) -> dict[str, list[Box]]:
    """All changed boxes per frame, as the pair was seen."""
    boxes = {side: fractions(label[f"boxes_{side}"], label, side) for side in ("before", "after")}
    return {"before": boxes["after"], "after": boxes["before"]} if swapped else boxes


def things_of(label: dict, swapped: bool) -> list[dict]:
    """Action, places, count and boxes of the labelled things, as the pair was seen; a replaced thing came or left."""
    things = []
    for thing in label["objects"]:
        action = thing["action"]
        if action == "replaced":
            action = "appeared" if not thing["boxes_before"] else "disappeared"
        words = (action, *thing["places"])
        action, *places = (REVERSED.get(word, word) for word in words) if swapped else words
        boxes = labelled_boxes(label | {f"boxes_{s}": thing[f"boxes_{s}"] for s in ("before", "after")}, swapped)
        things.append({"action": action, "places": places, "count": thing["count"], "boxes": boxes})
    return things


def overlap(a: Box, b: Box) -> bool:
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return min(width, height) > 0 and width * height > MIN_OVERLAP * min(a[2] * a[3], b[2] * b[3])


def shows(boxes: dict[str, list[Box]], region: dict) -> bool:
    """Whether an end of an event is at one of the boxes of its frame."""
    box = tuple(region["box"][key] for key in ("x", "y", "width", "height"))
    return any(overlap(other, box) for other in boxes[region["side"]])
