"""Ground truth of a pair: noun, colour, location and boxes of each change (entries of Pair.objects)."""

from __future__ import annotations

from typing import Any

import numpy as np

from training.text.lexicon import GREYS
from training.worlds.surveillance.changes import Change
from training.worlds.surveillance.composed_frame import ComposedFrame
from training.worlds.surveillance.location_phrases import (
    Box,
    direction_phrases,
    frame_phrases,
    landmark_phrases,
    surface_phrase,
)
from training.worlds.surveillance.placement import PlacedFigure, RejectedSample
from training.worlds.surveillance.plates import PERSON_HEIGHT_M
from training.worlds.surveillance.view import View

SMALL_HEIGHT_PX = 42  # below this height captions use general nouns and leave out colours more often
DARK_LEVEL = 26.0  # mean level (0..255) below which only black and white are named


def describe_changes(
    changes: list[Change],
    before: ComposedFrame,
    after: ComposedFrame,
    view: View,
    landmarks: list[tuple[str, Box]],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Entries of Pair.objects. Raises RejectedSample if a changed figure is not clearly visible."""
    objects: list[dict[str, Any]] = []
    for change in changes:
        sides = [
            (frame, figures, frame is before)
            for frame, figures in ((before, change.before), (after, change.after))
            if figures
        ]
        boxes = [[frame.visible_box(f) for f in figures] for frame, figures, _ in sides]
        levels = [[frame.mean_level(f) for f in figures] for frame, figures, _ in sides]
        grey = any(frame.effects.grey for frame, _, _ in sides)
        if change.action == "moved":
            phrases = _true_directions(change, boxes, view)
            objects.append(_entry("moved", change.before, boxes[0], boxes[1], phrases, min(map(min, levels)), grey, 0))
            continue
        for (_, figures, is_before), found, level in zip(sides, boxes, levels):
            phrases = _location_phrases(figures, found, view, landmarks, rng)
            objects.append(
                _entry(
                    change.action,
                    figures,
                    found if is_before else [],
                    [] if is_before else found,
                    phrases,
                    min(level),
                    grey,
                    int(rng.choice(len(phrases)) if rng.random() < 0.5 else 0),
                )
            )
    return objects


def largest_first(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The objects by decreasing area. The two entries of a replacement keep their order: the old one first."""
    if any(o["action"] == "replaced" for o in objects):
        return objects
    return sorted(objects, key=lambda o: -sum(b[2] * b[3] for b in (*o["boxes_before"], *o["boxes_after"])))


def _true_directions(change: Change, boxes: list[list[list[float]]], view: View) -> list[str]:
    """Directions that are true on the ground and also in the pixels of the frames, whose camera may have moved."""
    start, end = change.before[0], change.after[0]
    on_ground = direction_phrases(start.box, end.box, view.width, start.px_per_metre, end.px_per_metre)
    in_frames = direction_phrases(boxes[0][0], boxes[1][0], view.width, start.px_per_metre, end.px_per_metre)
    agreed = [phrase for phrase in on_ground if phrase in in_frames]
    if not agreed:
        raise RejectedSample
    return agreed


def _location_phrases(
    figures: list[PlacedFigure],
    boxes: list[list[float]],
    view: View,
    landmarks: list[tuple[str, Box]],
    rng: np.random.Generator,
) -> list[str]:
    box = _union(boxes)
    person_share = PERSON_HEIGHT_M * figures[0].px_per_metre / view.height
    in_frame = frame_phrases(tuple(box), view.width, view.height, person_share)
    phrases = [in_frame[i] for i in rng.permutation(len(in_frame))]
    surface = surface_phrase(figures[0].ground.name)
    if surface:
        phrases.insert(0 if rng.random() < 0.3 else len(phrases), surface)
    if len(figures) == 1:
        phrases += landmark_phrases(figures[0].box, landmarks)
    return phrases


def _entry(
    action: str,
    figures: list[PlacedFigure],
    boxes_before: list[list[float]],
    boxes_after: list[list[float]],
    phrases: list[str],
    level: float,
    grey: bool,
    primary: int,
) -> dict[str, Any]:
    """An entry of Pair.objects.

    `level` is the mean level of the darkest figure, `grey` whether a frame that shows them is grey, and `primary` the
    index of the main phrase.
    """
    nouns = {f.figure.noun for f in figures}
    colours = {f.figure.colour for f in figures}
    hypernym = figures[0].figure.hypernym
    noun = nouns.pop() if len(nouns) == 1 else ("person" if hypernym == "person" else "car")
    colour = colours.pop() if len(colours) == 1 else None
    if level < DARK_LEVEL and colour not in ("white", "black"):
        colour = None
    if grey and colour not in GREYS:
        colour = None
    if grey and colour == "silver":
        colour = "grey"
    boxes = boxes_before or boxes_after
    return {
        "noun": noun,
        "hypernym": hypernym,
        "colour": colour,
        "action": action,
        "where": phrases[primary],
        "places": phrases,
        "count": sum(f.figure.count for f in figures),
        "models": sorted({model for f in figures for model in f.figure.models}),
        "packs": sorted({sprite.pack for f in figures for sprite in f.figure.sprites}),
        "small": max(b[3] for b in boxes) < SMALL_HEIGHT_PX,
        "grey": grey,
        "box_before": _union(boxes_before) if boxes_before else None,
        "box_after": _union(boxes_after) if boxes_after else None,
        "boxes_before": boxes_before,
        "boxes_after": boxes_after,
    }


def _union(boxes: list[list[float]]) -> list[float]:
    x0, y0 = min(b[0] for b in boxes), min(b[1] for b in boxes)
    x1, y1 = max(b[0] + b[2] for b in boxes), max(b[1] + b[3] for b in boxes)
    return [x0, y0, x1 - x0, y1 - y0]
