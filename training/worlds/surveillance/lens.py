"""Things on the lens or close to it, and light that blinds it: nothing of the scene changes.

    python -m training.worlds pairs --data REAL --scenario lens --split train --count 1000 --out DIR

Each painter takes a frame, float32 [H, W, 3] of levels 0..255, and a random generator, and returns the frame with the
thing. Sizes are fractions of the frame's height. A thing on the lens is out of focus, does not follow the scene, and
covers or refracts it. `with_lens` makes a pair of the scenario "lens" of a pair of real frames.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from training.contract import Pair
from training.worlds.surveillance.real_variations import reduced

Painter = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def blurred(frame: np.ndarray, sigma: float) -> np.ndarray:
    return cv2.GaussianBlur(frame, (0, 0), sigma) if sigma > 0.3 else frame


def covered(frame: np.ndarray, alpha: np.ndarray, colour) -> np.ndarray:
    """alpha float32 [H, W], 0..1; colour: of a pixel, or a frame."""
    return frame * (1 - alpha[..., None]) + np.asarray(colour, np.float32) * alpha[..., None]


def drops(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each drop shows the scene upside down through a wide angle, with a dark rim and a bright spot."""
    h, w = frame.shape[:2]
    out, wide = frame.copy(), blurred(frame, h / rng.uniform(40, 110))
    rim, spot, softness = rng.uniform(0.1, 0.5), rng.uniform(0, 60), rng.uniform(0.08, 0.45)
    size = rng.uniform(0.008, 0.045)
    for _ in range(int(rng.integers(1, 30))):
        r = h * size * float(np.exp(rng.normal(0, 0.4)))
        cx, cy, tall = rng.uniform(0, w), rng.uniform(0, h), rng.uniform(0.9, 1.5)
        x0, x1 = max(0, int(cx - 2 * r)), min(w, int(cx + 2 * r) + 1)
        y0, y1 = max(0, int(cy - 2.4 * r)), min(h, int(cy + 2.4 * r) + 1)
        if x1 - x0 < 3 or y1 - y0 < 3:
            continue
        x, y = np.meshgrid(np.arange(x0, x1, dtype=np.float32), np.arange(y0, y1, dtype=np.float32))
        u, v = (x - cx) / r, (y - cy) / (r * tall)
        u = u * (1 + 0.25 * v)  # hangs: wider below
        q = np.hypot(u, v)
        alpha = np.clip((1 - q) / softness, 0, 1)
        bend = rng.uniform(2, 7)
        seen = cv2.remap(
            wide, cx - (x - cx) * bend, cy - (y - cy) * bend, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
        )
        shade = 1 - rim * np.clip(q, 0, 1) ** 4 + 0.2 * v
        light = spot * np.exp(-(((u + 0.3) / 0.25) ** 2) - ((v + 0.35) / 0.2) ** 2)
        out[y0:y1, x0:x1] = covered(out[y0:y1, x0:x1], alpha, seen * shade[..., None] + light[..., None])
    return out


def streaks(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Water that runs down: the scene is displaced and blurred along it."""
    h, w = frame.shape[:2]
    mask = np.zeros((h, w), np.float32)
    for _ in range(int(rng.integers(1, 5))):
        x, y, width = rng.uniform(0, w), rng.uniform(-0.1, 0.5) * h, h * rng.uniform(0.008, 0.03)
        end = y + h * rng.uniform(0.2, 0.8)
        while y < end:
            cv2.circle(mask, (int(x), int(y)), max(1, int(width * rng.uniform(0.7, 1.2))), 1.0, -1, cv2.LINE_AA)
            x, y = x + rng.normal(0, 0.35) * width, y + width * 0.5
    mask = blurred(mask, h / rng.uniform(80, 300))
    x, y = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    bent = cv2.remap(
        blurred(frame, h / 60), x + mask * h * 0.06, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
    )
    return covered(frame, np.clip(mask, 0, 1), bent * rng.uniform(0.8, 1.2))


def patch(rng: np.random.Generator, h: int, w: int, cells: int, share: float) -> np.ndarray:
    """A soft random field, float32 [H, W], 0..1, that covers about `share` of the frame."""
    coarse = rng.standard_normal((max(2, cells * h // w), cells)).astype(np.float32)
    field = cv2.resize(coarse, (w, h), interpolation=cv2.INTER_CUBIC)
    return 1 / (1 + np.exp(-(field - np.quantile(field, 1 - share)) * rng.uniform(3, 10)))


def condensation(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A misted part of the glass, perhaps with fine drops: blurred, brighter, of little contrast."""
    h, w = frame.shape[:2]
    alpha = patch(rng, h, w, int(rng.integers(2, 6)), rng.uniform(0.08, 0.5)) * rng.uniform(0.5, 1)
    mist = blurred(frame, h / rng.uniform(25, 80)) * rng.uniform(0.5, 0.9) + rng.uniform(20, 90)
    if rng.random() < 0.4:
        grain = blurred(rng.standard_normal((h, w)).astype(np.float32), h / rng.uniform(150, 350))
        mist = mist + (grain / grain.std() * rng.uniform(3, 12))[..., None]
    return covered(frame, alpha, mist)


def is_dark(frame: np.ndarray) -> bool:
    return float(frame.mean()) < 95


def spider(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A body of two parts with eight bent legs, sharp if it sits on a dome far from the lens, else out of focus."""
    h, w = frame.shape[:2]
    mask = np.zeros((h, w), np.uint8)
    s, turn = h * rng.uniform(0.02, 0.1), rng.uniform(0, 2 * math.pi)
    x, y = rng.uniform(0.05, 0.95) * w, rng.uniform(0.05, 0.95) * h
    ahead = np.array([math.cos(turn), math.sin(turn)])
    cv2.ellipse(mask, (int(x), int(y)), (int(s * 0.6), int(s * 0.42)), math.degrees(turn), 0, 360, 255, -1, cv2.LINE_AA)
    head = np.array([x, y]) + ahead * s * 0.75
    cv2.circle(mask, tuple(int(v) for v in head), max(1, int(s * 0.28)), 255, -1, cv2.LINE_AA)
    thick = max(1, int(s * rng.uniform(0.05, 0.14)))
    for side in (-1, 1):
        for k in range(4):
            angle = turn + side * (0.5 + 0.62 * k + rng.normal(0, 0.12))
            reach = s * rng.uniform(1.1, 2.1)
            knee = head + 0.55 * reach * np.array([math.cos(angle), math.sin(angle)])
            bend = angle + side * rng.uniform(0.1, 0.7)
            foot = knee + 0.6 * reach * np.array([math.cos(bend), math.sin(bend)])
            cv2.polylines(mask, [np.int32([head, knee, foot])], False, 235, thick, cv2.LINE_AA)
    lit = is_dark(frame) and rng.random() < 0.8
    colour = rng.uniform(190, 255) if lit else rng.uniform(5, 60)
    alpha = blurred(mask.astype(np.float32) / 255, h / rng.choice([400, 220, 150, 100, 70, 45]))
    return covered(frame, alpha * rng.uniform(0.75, 1), [colour, colour, colour * rng.uniform(0.9, 1.02)])


def web(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Threads across the view, out of focus; an infrared lamp makes them glow."""
    h, w = frame.shape[:2]
    mask = np.zeros((h, w), np.float32)
    for _ in range(int(rng.integers(1, 8))):
        ends = [np.array([rng.uniform(0, w), rng.uniform(0, h)]) for _ in range(2)]
        middle = (ends[0] + ends[1]) / 2 + [0, rng.uniform(0, 0.1) * h]
        t = np.linspace(0, 1, 30)[:, None]
        line = (1 - t) ** 2 * ends[0] + 2 * t * (1 - t) * middle + t**2 * ends[1]
        cv2.polylines(mask, [np.int32(line)], False, float(rng.uniform(0.4, 1)), int(rng.integers(1, 5)), cv2.LINE_AA)
    sigma = h / rng.uniform(50, 250)
    mask = blurred(mask, sigma) * min(8.0, 0.7 * sigma + 1)
    level = rng.uniform(170, 250) if is_dark(frame) else rng.uniform(90, 230)
    return covered(frame, np.clip(mask, 0, rng.uniform(0.2, 0.7)), level)


def insect(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Insects in flight near the lens: blobs and streaks, bright in the light of a lamp, dark by day."""
    h, w = frame.shape[:2]
    out = frame
    for _ in range(int(rng.integers(1, 5))):
        mask = np.zeros((h, w), np.float32)
        x, y, r = rng.uniform(0, w), rng.uniform(0, h), h * rng.uniform(0.004, 0.03)
        length, angle = h * rng.choice([0.0, rng.uniform(0.02, 0.3)]), rng.uniform(0, 2 * math.pi)
        curve, beat = rng.normal(0, 1.0), rng.uniform(0, 0.6)
        steps = 1 + int(length / max(1.0, r * 0.4))
        for k in range(steps):
            a = angle + curve * k / steps
            wing = 1 + beat * math.sin(k * 1.3)
            cv2.circle(mask, (int(x), int(y)), max(1, int(r * wing)), 1.0, -1, cv2.LINE_AA)
            x, y = x + math.cos(a) * length / steps, y + math.sin(a) * length / steps
        alpha = blurred(mask, max(0.8, r * rng.uniform(0.2, 0.9))) * rng.uniform(0.4, 1)
        level = rng.uniform(170, 255) if is_dark(frame) and rng.random() < 0.9 else rng.uniform(10, 90)
        out = covered(out, alpha, level)
    return out


def dirt(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Specks, smears and scratches on the glass: dark or milky, partly transparent, without sharp edges."""
    h, w = frame.shape[:2]
    mask = np.zeros((h, w), np.float32)
    for _ in range(int(rng.integers(1, 10))):
        centre = np.array([rng.uniform(0, w), rng.uniform(0, h)])
        if rng.random() < 0.25:
            end = centre + rng.normal(0, 0.15, 2) * h
            cv2.line(mask, tuple(np.int32(centre)), tuple(np.int32(end)), 1.0, int(rng.integers(1, 4)), cv2.LINE_AA)
        else:
            r = h * rng.uniform(0.008, 0.06)
            angles = np.linspace(0, 2 * math.pi, 14, endpoint=False)
            outline = centre + (r * rng.uniform(0.5, 1.3, 14))[:, None] * np.c_[np.cos(angles), np.sin(angles)]
            cv2.fillPoly(mask, [np.int32(outline)], float(rng.uniform(0.4, 1)), cv2.LINE_AA)
    alpha = blurred(mask, h / rng.uniform(40, 160)) * rng.uniform(0.3, 0.95)
    tone = np.array([1, rng.uniform(0.85, 1), rng.uniform(0.6, 1)]) * rng.choice(
        [rng.uniform(15, 70), rng.uniform(120, 200)]
    )
    return covered(frame, alpha, tone)


def near_fall(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rain or snow close to the lens, in the light of a lamp: large soft flakes or long streaks."""
    h, w = frame.shape[:2]
    out, is_rain = frame, rng.random() < 0.5
    slant = rng.normal(0, 0.2)
    for _ in range(int(rng.integers(2, 40))):
        x, y = rng.uniform(0, w), rng.uniform(0, h)
        r = h * rng.uniform(0.003, 0.025)
        length = h * rng.uniform(0.05, 0.3) if is_rain else r * rng.uniform(0, 3)
        box = np.int32(
            [x - 4 * r - abs(slant) * length, y - 4 * r, x + 4 * r + abs(slant) * length, y + length + 4 * r]
        )
        x0, y0, x1, y1 = max(0, box[0]), max(0, box[1]), min(w, box[2]), min(h, box[3])
        if x1 - x0 < 2 or y1 - y0 < 2:
            continue
        mask = np.zeros((y1 - y0, x1 - x0), np.float32)
        ends = [(x - x0, y - y0), (x - x0 + slant * length, y - y0 + length)]
        width = max(1, int(r * (0.5 if is_rain else 2)))
        cv2.line(mask, *(tuple(int(v) for v in end) for end in ends), 1.0, width, cv2.LINE_AA)
        alpha = blurred(mask, max(0.8, r * 0.5)) * rng.uniform(0.2, 0.8)
        out = out.copy() if out is frame else out
        out[y0:y1, x0:x1] = covered(out[y0:y1, x0:x1], alpha, rng.uniform(170, 245))
    return out


def headlights(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Lamps that saturate, their halo, and their cones on the ground; the wet ground mirrors them."""
    h, w = frame.shape[:2]
    out = frame.copy()
    x, y = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    tint = np.array([1.05, 1.0, rng.uniform(0.8, 1.0)], np.float32)
    strength = rng.uniform(0.3, 1.3)
    for _ in range(int(rng.integers(1, 3))):
        cx, cy, turn = rng.uniform(0.05, 0.95) * w, rng.uniform(0.3, 0.95) * h, rng.uniform(-0.5, 0.5)
        rx, ry = w * rng.uniform(0.08, 0.35), h * rng.uniform(0.04, 0.2)
        u = ((x - cx) * math.cos(turn) + (y - cy) * math.sin(turn)) / rx
        v = (-(x - cx) * math.sin(turn) + (y - cy) * math.cos(turn)) / ry
        power = rng.uniform(1.5, 4)
        cone = np.exp(-(np.abs(u) ** power) - np.abs(v) ** power)[..., None]
        out = out * (1 + strength * cone * tint) + rng.uniform(0, 30) * cone
    if rng.random() < 0.4:  # the lamps themselves are out of view or seen: a halo that saturates
        gap = w * rng.uniform(0.01, 0.06)
        cx, cy, r = rng.uniform(0, w), rng.uniform(0.2, 0.8) * h, h * rng.uniform(0.01, 0.05)
        for side in (-1, 1):
            far = np.hypot(x - cx - side * gap, y - cy) / r
            out = out + 300 * (np.exp(-(far**2)) + 0.25 * np.exp(-far / 2.5))[..., None] * tint
            if rng.random() < 0.5:
                out = (
                    out
                    + 120
                    * np.exp(-(((x - cx - side * gap) / (r * 0.8)) ** 2) - np.clip(y - cy, 0, None) / (h * 0.2))[
                        ..., None
                    ]
                    * (y > cy)[..., None]
                )
    return np.clip(out, 0, 255)


def flare(frame: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A bright source near the edge: a veil around it, and a row of ghosts towards the middle."""
    h, w = frame.shape[:2]
    x, y = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    source = np.array([rng.uniform(-0.1, 1.1) * w, rng.uniform(-0.1, 0.4) * h])
    out = (
        frame
        + rng.uniform(60, 250)
        * np.exp(-np.hypot(x - source[0], y - source[1]) / (h * rng.uniform(0.05, 0.3)))[..., None]
    )
    middle = np.array([w / 2, h / 2])
    for k in range(int(rng.integers(0, 5))):
        at = source + (middle - source) * rng.uniform(0.4, 2.0)
        r = h * rng.uniform(0.01, 0.08)
        far = np.hypot(x - at[0], y - at[1]) / r
        ghost = np.clip((1 - far) / rng.uniform(0.15, 0.6), 0, 1)[..., None]
        out = out + ghost * rng.uniform(8, 60) * np.array([rng.uniform(0.5, 1.2), 1, rng.uniform(0.5, 1.2)])
    return np.clip(out, 0, 255)


PAINTERS: dict[str, Painter] = {
    painter.__name__: painter
    for painter in (drops, streaks, condensation, spider, web, insect, dirt, near_fall, headlights, flare)
}
CLEAR = 0.15  # share of the pairs with a lens that is clear in both frames
SIDES = {"after": 0.4, "before": 0.4, "both": 0.2}  # the frames with something on the lens, differently in both
SMALL = 0.3  # share of the pairs that are reduced to a camera of few pixels
SMALL_WIDTHS = (240, 420)


def with_lens(pair: Pair, rng: np.random.Generator) -> Pair:
    """The pair, perhaps with something on the lens: `nuisances` is then ["lens", what]."""
    frames = [pair.before.astype(np.float32), pair.after.astype(np.float32)]
    names: list[str] = []
    if rng.random() >= CLEAR:
        name = str(rng.choice(list(PAINTERS)))
        sides = str(rng.choice(list(SIDES), p=list(SIDES.values())))
        frames = [
            PAINTERS[name](frame, rng) if sides in (side, "both") else frame
            for side, frame in zip(("before", "after"), frames)
        ]
        names = ["lens", name]
    noisy = [np.uint8(np.clip(frame + rng.normal(0, rng.uniform(0.5, 2.5), frame.shape), 0, 255)) for frame in frames]
    pair = replace(pair, before=noisy[0], after=noisy[1], nuisances=names)
    return reduced(pair, int(rng.integers(*SMALL_WIDTHS))) if rng.random() < SMALL else pair
