"""Pairs of real frames of fixed cameras, with known changes: the scenarios "painted", "one-person", "two-people",
"lens", "pieces", "carried" and "two-frames".

    python -m training.data cache --data REAL --scenario painted --features F --maps difference.onnx --out DIR ...
    python -m training.worlds pairs --data REAL --scenario two-people --count 100 --out DIR

REAL is as for `training.data real`; the cameras of tier A train, those of tier B are held out. A labelled thing of one
frame is painted into another frame of its camera where that shows the background, so all its pixels are the camera's
own (after Dwibedi et al., "Cut, paste and learn", ICCV 2017). The background is the median of the camera's frames. The
complete pairs of pairs.ndjson are drawn too, because painting makes no moves. "two-frames" paints nothing: any two
frames of a camera, and all that is labelled in them. Every draw has its own flip, window, light and compression.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from training.contract import Box, Pair, kind_of
from training.data.real import Frames, around_all, complete_pairs, made_pair, noun_of, read_pair, thing_of
from training.data.regions import area, overlap
from training.inputs import read_json
from training.text.lexicon import NOUNS
from training.text.noun_tree import NOTHING
from training.worlds.surveillance.carried import CarriedThings
from training.worlds.surveillance.lens import with_lens
from training.worlds.surveillance.pieces import with_pieces
from training.worlds.surveillance.real_variations import CHANGED, box_parts, reversed_in_time, varied

PAINTED, ONE_PERSON, TWO_PEOPLE = "painted", "one-person", "two-people"  # the scenarios
LENS, PIECES, CARRIED, TWO_FRAMES = "lens", "pieces", "carried", "two-frames"
TIER = {"train": "A", "heldout": "B"}
STREAM = 77  # random stream of a seed
LEAST_FRAMES = 4  # of a camera whose median is taken for its background
DIFFERS = 0.05  # mean absolute difference of RGB (0..1) inside a box, from which a frame shows a thing there
ALIKE = 0.04  # ... up to which a frame shows the background there
ALIKE_AROUND = 0.05  # ... up to which two frames are alike around the box
CHANGED_SHARE = 0.5  # of the pairs with something on the lens
SHARES = {"real": 0.2, "unchanged": 0.12, "painted": 0.68}  # of the draws; real: complete pairs of pairs.ndjson
THINGS = (0.52, 0.35, 0.13)  # probability of one, two and three painted boxes
BESIDE = 0.65  # probability that a further box is looked for beside the first one
COVERED = 0.45  # share of a box that one beside it may cover
CUT_SHARE = 0.35  # of a box's pixels that differ from the background, from which these alone are painted
TRIES = 40  # labels that are tried for a place
ATTEMPTS = 2000  # draws of a seed


@dataclass(frozen=True)
class Label:
    """A labelled box; `box` in pixels."""

    file: str
    box: Box
    noun: str
    label: dict[str, Any]


class PaintedSource:
    """`sample(seed)` draws a pair of one of the cameras."""

    def __init__(self, root: Path | None, split: str, scenario: str = PAINTED):
        if root is None:
            raise ValueError(f"scenario {scenario!r}: pass --data with labelled frames of fixed cameras")
        cameras = {name for name, one in read_json(root / "cameras.json").items() if one["tier"] == TIER[split]}
        self.scenario = scenario
        self.carried = CarriedThings(root.parent, split) if scenario == CARRIED else None
        self.frames = Frames(root, most=250)
        self.things: dict[str, list[Label]] = defaultdict(list)
        self.nothing: dict[str, list[Label]] = defaultdict(list)
        for line in (root / "boxes.ndjson").read_text().splitlines():
            label = json.loads(line)
            noun = noun_of(label["noun"])
            if label["camera"] in cameras and noun:
                kept = self.nothing if noun == NOTHING else self.things
                kept[label["camera"]].append(Label(label["file"], tuple(map(float, label["box"])), noun, label))
        files: dict[str, set[str]] = defaultdict(set)
        for labels in (*self.things.values(), *self.nothing.values()):
            for one in labels:
                files[one.label["camera"]].add(one.file)
        self.files = {camera: sorted(known) for camera, known in files.items() if len(known) >= LEAST_FRAMES}
        self.paintable = sorted(camera for camera in self.files if self.things[camera])
        self.real: dict[str, list[tuple[int, dict[str, Any]]]] = defaultdict(list)
        for number, line in complete_pairs(root, cameras):
            self.real[line["camera"]].append((number, line))
        self.medians: dict[str, np.ndarray] = {}

    def background(self, camera: str) -> np.ndarray:
        """The median of the camera's frames that have the most frequent size: uint8 [H, W, 3]."""
        if camera not in self.medians:
            frames = [self.frames(file) for file in self.files[camera][:40]]
            shapes = [frame.shape for frame in frames]
            usual = max(set(shapes), key=shapes.count)
            self.medians[camera] = np.median([f for f in frames if f.shape == usual], axis=0).astype(np.uint8)
        return self.medians[camera]

    def sample(self, seed: int) -> Pair:
        rng = np.random.default_rng([STREAM, seed])
        if self.scenario == LENS:  # a thing that was cut out has soft edges, as on a lens: only real changes are drawn
            pair = self._real(rng) if self.real and rng.random() < CHANGED_SHARE else self._still(rng)
            return with_lens(varied(pair, seed, rng), rng)
        if self.scenario in (PIECES, CARRIED):
            return self._laid(rng, seed)
        if self.scenario == TWO_FRAMES:
            return varied(self._two_frames(rng), seed, rng)
        draw = "painted" if self.scenario != PAINTED else rng.choice(list(SHARES), p=list(SHARES.values()))
        if draw == "real" and self.real:
            return varied(self._real(rng), seed, rng)
        for _ in range(ATTEMPTS):
            pair = self._painted(rng, draw == "unchanged")
            if pair is not None and self._accepts(pair):
                break
        else:
            raise RuntimeError(f"seed {seed}: no camera shows such a change")
        return varied(pair, seed, rng)

    def _accepts(self, pair: Pair) -> bool:
        if self.scenario == PAINTED:
            return True
        wanted = 1 if self.scenario == ONE_PERSON else 2
        return [(thing["hypernym"], thing["count"]) for thing in pair.objects] == [("person", wanted)]

    def _real(self, rng: np.random.Generator) -> Pair:
        for _ in range(ATTEMPTS):
            camera = _by_root(rng, {name: len(pairs) for name, pairs in self.real.items()})
            pair = read_pair(self.frames, *self.real[camera][rng.integers(len(self.real[camera]))])
            if pair is not None:
                return reversed_in_time(pair) if rng.random() < 0.5 else pair
        raise RuntimeError("no complete pair has two frames of one size")

    def _two_frames(self, rng: np.random.Generator) -> Pair:
        """Any two frames of a camera, whose changes are their labelled things: one that is in both has no region."""
        for _ in range(ATTEMPTS):
            camera = _by_root(rng, {name: len(self.files[name]) for name in self.paintable})
            first, second = (str(file) for file in rng.choice(self.files[camera], 2, replace=False))
            before, after = self.frames(first), self.frames(second)
            things = [one for one in self.things[camera] if one.file in (first, second)]
            if things and before.shape == after.shape:
                objects = [_changed(one, "disappeared" if one.file == first else "appeared") for one in things]
                return made_pair(before, after, objects, camera, 0, "multi")
        raise RuntimeError("no camera has two labelled frames of one size")

    def _still(self, rng: np.random.Generator) -> Pair:
        """One frame twice."""
        camera = str(rng.choice(sorted(self.files)))
        frame, none = self.frames(str(rng.choice(self.files[camera]))), np.zeros((1, 1), np.float32)
        return Pair(frame, frame.copy(), "none", [], none, none, [], [], camera, [camera])

    def _laid(self, rng: np.random.Generator, seed: int) -> Pair:
        for _ in range(ATTEMPTS):
            still = varied(self._still(rng), seed, rng)
            pair = with_pieces(still, rng) if self.carried is None else self.carried.put(still, rng)
            if pair is not None:
                return pair
        raise RuntimeError(f"seed {seed}: nothing that is laid into a frame shows there")

    def _painted(self, rng: np.random.Generator, unchanged: bool) -> Pair | None:
        kept = self.nothing if unchanged else self.things
        camera = _by_root(rng, {name: len(kept[name]) for name in self.paintable if kept[name]})
        labels = kept[camera] if self.scenario == PAINTED else [o for o in kept[camera] if _class_of(o) == "person"]
        if not labels:
            return None
        first = str(rng.choice(sorted({_class_of(one) for one in labels})))  # a road has few people: draw by class
        file = str(rng.choice(self.files[camera]))
        base = self.frames(file)
        if base.shape != self.background(camera).shape:
            return None
        there = [one.box for one in self.things[camera] if one.file == file]
        chosen: list[Label] = []
        for _ in range(1 if unchanged else 1 + int(rng.choice(len(THINGS), p=THINGS))):
            near = chosen[0] if chosen and rng.random() < BESIDE else None
            usable = labels if chosen else [one for one in labels if _class_of(one) == first]
            one = self._fitting(rng, usable, base, file, there, chosen, near)
            chosen += [one] if one else []
        if not chosen:
            return None
        frames = [base.astype(np.float32), base.astype(np.float32)]
        objects, action = [], str(rng.choice(["appeared", "disappeared"]))
        for one in chosen:
            if rng.random() < 0.3:
                action = "appeared" if action == "disappeared" else "disappeared"
            side = 1 if action == "appeared" else 0
            frames[side] = painted(frames[side], self.frames(one.file), one.box, self.background(camera))
            if not unchanged:
                objects.append(_changed(one, action))
        before, after = (np.clip(np.rint(frame), 0, 255).astype(np.uint8) for frame in frames)
        objects = grouped(objects)
        none = np.zeros((1, 1), np.float32)
        return Pair(before, after, kind_of(objects), objects, none, none, [], [], camera, [camera])

    def _fitting(
        self,
        rng: np.random.Generator,
        labels: list[Label],
        base: np.ndarray,
        file: str,
        there: list[Box],
        chosen: list[Label],
        near: Label | None,
    ) -> Label | None:
        """A label whose place in `base`, with things at `there`, is background; if possible beside `near`."""
        background = self.background(labels[0].label["camera"])
        if near is not None:
            labels = [o for o in labels if _class_of(o) == _class_of(near) and _beside(o.box, near.box)] or labels
        for index in rng.permutation(len(labels))[:TRIES]:
            one = labels[index]
            if one.file == file or any(_covers(one.box, box) > 0.1 for box in there):
                continue
            if any(_covers(one.box, other.box) > (COVERED if other is near else 0.1) for other in chosen):
                continue
            shown = self.frames(one.file)
            if shown.shape != base.shape:
                continue
            inside, around = box_parts(one.box, *base.shape[:2])
            if _difference(shown, base, around) > ALIKE_AROUND:
                continue
            if one.noun == NOTHING:
                return one
            if _difference(base, background, inside) < ALIKE and _difference(shown, base, inside) > DIFFERS:
                return one
        return None


def _changed(one: Label, action: str) -> dict[str, Any]:
    boxes = ([], [list(one.box)]) if action == "appeared" else ([list(one.box)], [])
    return thing_of(one.label, one.noun, action, *boxes)


def painted(frame: np.ndarray, shown: np.ndarray, box: Box, background: np.ndarray) -> np.ndarray:
    """The frame with what `shown` has in the box, softly cut out: the pixels that differ from the background, or the
    whole box if these are few. The light follows the frame's around the box."""
    (rows, columns), around = box_parts(box, *frame.shape[:2])
    margin = max(2, round(0.06 * min(box[2], box[3])))
    differs = np.abs(shown[rows, columns].astype(np.int16) - background[rows, columns]).max(2) > CHANGED * 255
    cut = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((2 * margin + 1, 2 * margin + 1)))
    mask = np.zeros(frame.shape[:2], np.float32)
    mask[rows, columns] = cut if cut.mean() > CUT_SHARE else 1
    mask = cv2.GaussianBlur(cv2.dilate(mask, np.ones((margin, margin))), (0, 0), margin / 2)[..., None]
    light = np.mean(frame[around], 0) - np.mean(shown[around].astype(np.float32), 0)
    return frame * (1 - mask) + (shown + light) * mask


def _covers(a: Box, b: Box) -> float:
    """Share of the smaller box that lies in the other."""
    return overlap(a, b) / min(area(a), area(b))


def _difference(a: np.ndarray, b: np.ndarray, part: Any) -> float:
    """Mean absolute difference in 0..1; 1 for an empty part."""
    if not a[part].size:
        return 1.0
    return float(np.abs(a[part].astype(np.float32) - b[part]).mean()) / 255


def _class_of(one: Label) -> str:
    return NOTHING if one.noun == NOTHING else NOUNS[one.noun][1]


def _beside(a: Box, b: Box) -> bool:
    """Whether the boxes have like sizes and lie side by side, at most a width apart."""
    gap = max(a[0] - (b[0] + b[2]), b[0] - (a[0] + a[2]))
    feet = abs((a[1] + a[3]) - (b[1] + b[3]))
    return gap < max(a[2], b[2]) and feet < 0.5 * max(a[3], b[3]) and 0.5 < a[3] / b[3] < 2


def grouped(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Things of one class and action that are side by side become one entry, as people describe them."""
    groups: list[dict[str, Any]] = []
    for thing in objects:
        key = "boxes_after" if thing["boxes_after"] else "boxes_before"
        other = next(
            (
                group
                for group in groups
                if (group["hypernym"], group["action"]) == (thing["hypernym"], thing["action"])
                and any(_beside(thing[key][0], box) for box in group[key])
            ),
            None,
        )
        if other is None:
            groups.append(thing)
            continue
        if other["noun"] != thing["noun"]:
            other["noun"] = {"person": "person", "vehicle": "car"}.get(thing["hypernym"], other["noun"])
        other["colour"] = other["colour"] if other["colour"] == thing["colour"] else None
        other["count"] += thing["count"]
        other[key] = [*other[key], *thing[key]]
        other[key.replace("boxes", "box")] = list(around_all(other[key]))
    return groups


def _by_root(rng: np.random.Generator, counts: dict[str, int]) -> str:
    """A camera by the square root of its number of labels: one camera holds a quarter of them."""
    weight = np.sqrt(np.array(list(counts.values()), float))
    return str(rng.choice(list(counts), p=weight / weight.sum()))
