"""Labelled changes of real pairs: what changed how, and where, in fractions of the frame.

A line of pairs has `objects`, each with a noun, boxes per frame in pixels, and what happened to it.
"""

from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from training.inputs import read_ndjson

ACTIONS = {"appear": "appear", "disappear": "disappear", "move": "move"}
ACTIONS |= {"appeared": "appear", "disappeared": "disappear", "moved": "move"}
PEOPLE = set("person man woman child boy girl people cyclist motorcyclist worker".split()) | {"group of people"}
# Placings of a camera in one room are held out together.
ROOMS = {"room_blue_wide": "room_blue", "room_bed_front": "room_bed", "room_bed_wide": "room_bed", "lab_mat": "canteen"}
ROOMS |= {"floor_table_wide": "floor_table", "tfl_piccadilly_night": "tfl_piccadilly_wide"}

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Change:
    action: str
    noun: str
    count: int
    boxes: dict[str, list[Box]]  # by the frame
    colours: tuple[str, ...] = ()  # all that are true of it; empty: no label says so

    @property
    def is_person(self) -> bool:
        return self.noun in PEOPLE

    def shows(self, side: str, box: dict) -> bool:
        """Whether a box of a frame is this thing, not a small part of it."""
        return any(matches(corners(box), label) for label in self.boxes[side])

    def is_of(self, event: dict) -> bool:
        """Whether an event of the service is this change."""
        return self.action == event["kind"] and all(self.shows(t["side"], t["box"]) for t in event["things"])

    def touches(self, side: str, box: dict) -> bool:
        return any(shared(corners(box), label) > 0 for label in self.boxes[side])


@dataclass(frozen=True)
class LabelledPair:
    id: str
    group: str  # the camera, or the room
    changes: list[Change]
    complete: bool  # all visible changes are labelled
    tiny_extra: bool  # something else that is far off or at the edge changed, too
    made: bool = False  # rendered, or painted from real pictures


def labelled_pairs(path: Path) -> list[LabelledPair]:
    """The changed pairs."""
    pairs = []
    for line in read_ndjson(path):
        if line["verdict"] != "change":
            continue
        camera = line.get("camera") or line.get("scene")
        changes = changes_of(path, line)
        flags = line.get("complete") is not False, bool(line.get("tiny_extra")), bool(line.get("made"))
        pairs.append(LabelledPair(line["id"], ROOMS.get(camera, camera), changes, *flags))
    return pairs


def changes_of(path: Path, line: dict) -> list[Change]:
    """@param path of the file of pairs, beside which the pictures of the line lie"""
    sizes = {side: Image.open(path.parent / line[side]).size for side in ("before", "after")}
    return [change_of(thing, sizes) for thing in line["objects"]]


def change_of(thing: dict, sizes: dict[str, tuple[int, int]]) -> Change:
    boxes = {
        side: [
            (x / width, y / height, (x + w) / width, (y + h) / height)
            for x, y, w, h in thing.get(f"boxes_{side}") or []
        ]
        for side, (width, height) in sizes.items()
    }
    action = thing.get("action") or thing["change"]
    if action == "replaced":
        action = "disappear" if boxes["before"] else "appear"
    most = max(len(boxes["before"]), len(boxes["after"]), thing.get("count") or 1)
    several = thing["noun"] == "group of people" or thing.get("count", 1) is None
    colours = tuple(thing.get("top") or thing.get("colours") or [])
    return Change(ACTIONS.get(action, action), thing["noun"] or "", max(most, 4 if several else 1), boxes, colours)


def corners(box: dict) -> Box:
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def shared(a: Box, b: Box) -> float:
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(0.0, width) * max(0.0, height)


def matches(box: Box, label: Box) -> bool:
    """A box of the service ends at cells of the change map and may be larger, or hold the changed part alone."""
    area = lambda b: (b[2] - b[0]) * (b[3] - b[1])
    both = shared(box, label)
    if both == 0:
        return False
    of_box, of_label = both / area(box), both / area(label)
    return (
        both / (area(box) + area(label) - both) >= 0.3
        or (of_label >= 0.6 and of_box >= 0.15)
        or (of_box >= 0.8 and of_label >= 0.25)
    )
