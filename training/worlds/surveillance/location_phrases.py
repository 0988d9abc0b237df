"""Location phrases: how a caption says where a box is or how it moved. Every phrase returned is true of the box."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from training.text.lexicon import LANDMARKS, SURFACES

# The ranges of the centre in which each word is true, shared with the service.
THIRDS = json.loads((Path(__file__).parents[3] / "src/language/tables/thirds.json").read_text(encoding="utf-8"))
Box = tuple[float, float, float, float]  # x, y, width, height in frame pixels


def frame_phrases(box: Box, width: int, height: int, share: float) -> list[str]:
    """Phrases relative to the frame.

    `share` is the height of a person at this depth over the height of the frame.
    """
    x, y, w, h = box
    cx, cy = (x + w / 2) / width, (y + h / 2) / height
    phrases: list[str] = []
    if cx < THIRDS["left"][1]:
        phrases.append("on the left")
    elif cx > THIRDS["right"][0]:
        phrases.append("on the right")
    if THIRDS["middle"][0] <= cx <= THIRDS["middle"][1]:
        phrases.append("in the middle")
    if (y + h) / height > 0.82 and share > 0.25:
        phrases.append("in the foreground")
    if share < 0.12 and (y + h) / height < 0.5 and h / height < 0.2:
        phrases += ["in the background", "in the distance"]
    if cy < 0.36 and cx < 0.34:
        phrases.append("at the upper left")
    elif cy < 0.36 and cx > 0.66:
        phrases.append("at the upper right")
    elif cy > 0.64 and cx < 0.34:
        phrases.append("at the lower left")
    elif cy > 0.64 and cx > 0.66:
        phrases.append("at the lower right")
    elif cy < 0.3:
        phrases.append("at the top")
    elif cy > 0.72:
        phrases.append("at the bottom")
    if x <= 2 and cx < 0.15:
        phrases.append("at the left edge")
    elif x + w >= width - 2 and cx > 0.85:
        phrases.append("at the right edge")
    return phrases or ["on the left" if cx < 0.5 else "on the right"]


def landmark_phrases(box: Box, landmarks: list[tuple[str, Box]]) -> list[str]:
    """Phrases such as "by the fence" if the box is right beside the only landmark of that noun."""
    nouns = [_landmark_noun(phrase) for phrase, _ in landmarks]
    x, y, w, h = box
    phrases: list[str] = []
    for noun, (_, (lx, ly, lw, lh)) in zip(nouns, landmarks):
        if noun is None or nouns.count(noun) > 1:
            continue
        gap = max(lx - (x + w), x - (lx + lw), 0.0)
        foot = y + h
        near_rows = ly - 0.1 * h < foot < ly + lh + 0.5 * h
        if gap < 0.6 * max(w, 0.5 * h) and near_rows and lw < 12 * w:
            phrases.append(f"by the {noun}")
    return phrases


def surface_phrase(ground_name: str) -> str | None:
    """Phrase of a ground polygon's name, for example "on the road"; None if no phrase is known."""
    return SURFACES.get(ground_name)


def _landmark_noun(phrase: str) -> str | None:
    words = phrase.split(" on the ")[0].split()
    for length in (2, 1):
        noun = " ".join(words[-length:])
        if noun in LANDMARKS:
            return noun
    return None


def direction_phrases(before: Box, after: Box, width: int, before_size: float, after_size: float) -> list[str]:
    """Phrases for the motion of a box, the clearest first; empty if the motion is too small.

    `before_size` and `after_size` are the scales at the two positions, in pixels per metre.
    """
    shift = ((after[0] + after[2] / 2) - (before[0] + before[2] / 2)) / width
    growth = after_size / before_size
    sideways, depthways = [], []
    side = "left" if shift < 0 else "right"
    if abs(shift) >= 0.07:
        sideways.append(f"to the {side}")
    elif abs(shift) >= 0.025:
        sideways.append(f"slightly to the {side}")
    if growth > 1.15:
        depthways = ["closer", "towards the camera"]
    elif growth < 0.87:
        depthways = ["further away", "away from the camera"]
    if abs(np.log(growth)) > 4 * abs(shift):
        return depthways + sideways
    return sideways + depthways
