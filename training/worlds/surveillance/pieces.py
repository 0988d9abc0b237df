"""Pairs of the scenario "pieces": a piece of a frame, of any shape and colour, lies at another place of the same frame.

    python -m training.worlds pairs --data REAL --scenario pieces --split train --count 400 --out DIR

Labelled real pairs show people and vehicles almost alone. Pieces teach that a sharp thing of any other kind lies in the
scene, too: their edges are as sharp as those of the camera, which separates them from things on the lens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from training.contract import Pair
from training.worlds.surveillance.real_variations import reversed_in_time

MOST = 2  # things of a pair
AREA = (0.0006, 0.03)  # of the frame
FILLED = 0.45  # least share of a piece's box that is its own
MOST_TRIES = 200
GONE = 0.35  # share of the pairs whose piece was there before
EDGE = (0.45, 0.8)  # pixels: standard deviation of the blur of a camera
MARGIN = 2  # pixels for this blur
LEAST_CHANGE = 14  # levels, mean over the piece
NOISE = (0.5, 2.0)  # levels: standard deviation, of each frame
RECOLOURED = 0.6  # share of the pieces with another light and colour

Piece = tuple[int, int, np.ndarray]  # left, top, uint8 [H, W]: 1 in the piece
Laid = tuple[np.ndarray, dict[str, Any]]  # the frame with a thing, and the changed object


def segments(frame: np.ndarray, rng: np.random.Generator) -> list[Piece]:
    """Connected parts of one colour, after mean-shift filtering (Comaniciu and Meer, PAMI 2002)."""
    levels = cv2.pyrMeanShiftFiltering(frame, 10, int(rng.integers(14, 30))) // int(rng.integers(16, 40))
    keys = (levels.astype(np.int32) * (10_000, 100, 1)).sum(2)
    height, width = keys.shape
    found: list[Piece] = []
    for key in rng.permutation(np.unique(keys))[:60]:
        count, labels, parts, _ = cv2.connectedComponentsWithStats(np.uint8(keys == key), connectivity=4)
        for i in range(1, count):
            x, y, w, h, area = (int(value) for value in parts[i])
            fits = AREA[0] < area / (width * height) < AREA[1] and w < 0.4 * width and h < 0.5 * height
            if fits and area > FILLED * w * h:
                found.append((x, y, np.uint8(labels[y : y + h, x : x + w] == i)))
    return found


def laid(frame: np.ndarray, piece: Piece, rng: np.random.Generator) -> tuple[np.ndarray, list[float]] | None:
    """The frame float32 [H, W, 3] with the piece at another place, and its box; None if it hardly shows there."""
    x, y, mask = piece
    h, w = mask.shape
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)).astype(np.float32)
    alpha = cv2.GaussianBlur(np.pad(mask, MARGIN), (0, 0), float(rng.uniform(*EDGE)))
    shown = np.pad(frame[y : y + h, x : x + w], ((MARGIN, MARGIN), (MARGIN, MARGIN), (0, 0)), mode="edge")
    if rng.random() < 0.5:
        shown, alpha = shown[:, ::-1], alpha[:, ::-1]
    if rng.random() < RECOLOURED:
        shown = (shown - 128) * rng.uniform(0.8, 1.2) + 128 + rng.normal(0, 18) + rng.normal(0, 12, 3)
    rows, columns = alpha.shape
    if rows > frame.shape[0] or columns > frame.shape[1]:
        return None
    top, left = (int(rng.integers(0, most + 1)) for most in (frame.shape[0] - rows, frame.shape[1] - columns))
    place = (slice(top, top + rows), slice(left, left + columns))
    mixed = frame[place] * (1 - alpha[..., None]) + np.clip(shown, 0, 255) * alpha[..., None]
    if np.abs(mixed - frame[place])[alpha > 0.5].mean() < LEAST_CHANGE:
        return None
    out = frame.copy()
    out[place] = mixed
    return out, [float(left + MARGIN), float(top + MARGIN), float(columns - 2 * MARGIN), float(rows - 2 * MARGIN)]


def with_pieces(pair: Pair, rng: np.random.Generator) -> Pair | None:
    """@param pair one frame twice. @returns None if no piece of the frame shows at another place of it"""
    free = segments(pair.before, rng)

    def lay(frame: np.ndarray, rng: np.random.Generator) -> Laid | None:
        done = laid(frame, free[int(rng.integers(len(free)))], rng)
        return done and (done[0], thing_at(done[1]))

    return with_laid(pair, lay, MOST_TRIES if free else 0, GONE, rng)


def with_laid(
    pair: Pair,
    lay: Callable[[np.ndarray, np.random.Generator], Laid | None],
    tries: int,
    gone: float,
    rng: np.random.Generator,
) -> Pair | None:
    """The pair with one or MOST things, each laid into a frame, with the noise of a camera.

    @param pair one frame twice. @param gone share of the pairs whose things were there before.
    @returns None if `lay` returns no thing that shows in so many tries
    """
    after, things = pair.after.astype(np.float32), []
    wanted = int(rng.integers(1, MOST + 1))
    for _ in range(tries):
        done = lay(after, rng)
        if done is None:
            continue
        after, thing = done
        things.append(thing)
        if len(things) == wanted:
            break
    if not things:
        return None
    noisy = [np.uint8(np.clip(f + rng.normal(0, rng.uniform(*NOISE), f.shape), 0, 255)) for f in (pair.before, after)]
    made = replace(pair, before=noisy[0], after=noisy[1], kind="appear", objects=things)
    return reversed_in_time(made) if rng.random() < gone else made


def thing_at(box: list[float], noun: str = "object") -> dict[str, Any]:
    boxes = {"box_before": None, "box_after": box, "boxes_before": [], "boxes_after": [box]}
    return {"noun": noun, "hypernym": "object", "action": "appeared", "count": 1, **boxes}
