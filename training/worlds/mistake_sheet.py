"""Contact sheets of wrong answers: both frames with the regions of the service and the true boxes, and both sentences.

    python -m training.worlds mistakes MISTAKES.ndjson --scenes '^(h|s|room_h|top_down_h|top_down_s)_' --out DIR

MISTAKES.ndjson is written by scripts/find-mistakes.mjs. Every group gets up to --count pictures, evenly spread over its
mistakes; a pair is shown once. Two groups are on a sheet, DIR/mistakes-N.webp. --scenes: a regular expression of the
scenes whose pictures may be shown; the made pairs are composed of plates of which not all may be copied.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from pathlib import Path

import cv2
import numpy as np

from training.inputs import existing_file, read_ndjson

# Title of a group -> the kinds of mistake in it (lab/figures/mistakes.ts).
GROUPS = {
    "missed": ("missed",),
    "false alarm": ("false-alarm", "tamper"),
    "wrong kind": ("wrong-kind",),
    "wrong noun": ("wrong-noun",),
    "wrong colour": ("wrong-colour",),
    "wrong place": ("wrong-place",),
    "wrong count": ("wrong-count",),
    "false clause": ("false-clause",),
}
GROUPS_PER_SHEET = 2
FRAME_WIDTH, FRAME_HEIGHT, GAP = 360, 240, 8  # pixels of one frame, and of the gap between panels
LINE_HEIGHT, LINES_PER_SENTENCE, CHARACTERS = 14, 2, 104
FONT, FONT_SCALE = cv2.FONT_HERSHEY_SIMPLEX, 0.37
SAID, TRUE, BLACK = (220, 30, 30), (20, 130, 40), (0, 0, 0)  # RGB
QUALITY = 70  # of the WebP files


def spread(items: list, count: int) -> list:
    """`count` of the items at equal distances, or all of them if there are fewer."""
    if len(items) <= count:
        return items
    return [items[round(k * (len(items) - 1) / max(1, count - 1))] for k in range(count)]


def choose(mistakes: list[dict], count: int) -> dict[str, list[dict]]:
    """Per group up to `count` mistakes. The rarest group chooses first, so that a pair of two groups is in it."""
    having = {group: [m for m in mistakes if set(kinds) & set(m["mistakes"])] for group, kinds in GROUPS.items()}
    chosen: dict[str, list[dict]] = {}
    taken: set[str] = set()
    for group in sorted(GROUPS, key=lambda name: len(having[name])):
        chosen[group] = spread([m for m in having[group] if m["id"] not in taken], count)
        taken.update(m["id"] for m in chosen[group])
    return {group: chosen[group] for group in GROUPS}


def _frame(path: Path, boxes: list[list[float]], regions: list[dict]) -> np.ndarray:
    """uint8 [FRAME_HEIGHT, FRAME_WIDTH, 3], RGB. boxes: true ones in pixels; regions: of the service, in fractions."""
    pixels = cv2.imread(str(existing_file(str(path))), cv2.IMREAD_COLOR)
    height, width = pixels.shape[:2]
    shown = cv2.resize(pixels, (FRAME_WIDTH, FRAME_HEIGHT), interpolation=cv2.INTER_AREA)[..., ::-1].copy()
    scale = np.array([FRAME_WIDTH, FRAME_HEIGHT] * 2)
    fractions = [np.array(box) / [width, height, width, height] for box in boxes]
    found = [np.array([region["box"][key] for key in ("x", "y", "width", "height")]) for region in regions]
    for box, colour, margin in [(b, TRUE, 2) for b in fractions] + [(b, SAID, 0) for b in found]:
        x, y, w, h = np.rint(box * scale).astype(int)
        cv2.rectangle(shown, (int(x - margin), int(y - margin)), (int(x + w + margin), int(y + h + margin)), colour, 1)
    return shown


def _sentence(head: np.ndarray, line: int, text: str, colour: tuple[int, int, int]) -> None:
    for offset, part in enumerate(textwrap.wrap(text, CHARACTERS)[:LINES_PER_SENTENCE]):
        position = (2, LINE_HEIGHT * (line + offset + 1) - 3)
        cv2.putText(head, part, position, FONT, FONT_SCALE, colour, 1, cv2.LINE_AA)


def panel(mistake: dict, group: str, label: dict, folder: Path) -> np.ndarray:
    """uint8 [h, w, 3], RGB: the group, the caption, a reference, and both frames below."""
    head = np.full((LINE_HEIGHT * (1 + 2 * LINES_PER_SENTENCE), 2 * FRAME_WIDTH, 3), 255, np.uint8)
    _sentence(head, 0, f"{group}: {mistake['id']}, {label['scene']}", BLACK)
    _sentence(head, 1, f"said: {mistake['caption']}", SAID)
    _sentence(head, 1 + LINES_PER_SENTENCE, f"true: {label['references'][0]}", TRUE)
    frames = [
        _frame(
            folder / label[side],
            label.get(f"boxes_{side}") or [],
            [region for region in mistake["regions"] if region["side"] == side],
        )
        for side in ("before", "after")
    ]
    picture = np.concatenate([head, np.concatenate(frames, axis=1)])
    return cv2.copyMakeBorder(picture, 0, GAP, 0, GAP, cv2.BORDER_CONSTANT, value=(255, 255, 255))


def sheet(panels: list[np.ndarray]) -> np.ndarray:
    """The panels in two columns, uint8 RGB on white; the first half of them on the left."""
    rows = (len(panels) + 1) // 2
    blank = np.full_like(panels[0], 255)
    columns = [panels[:rows], panels[rows:] + [blank] * (2 * rows - len(panels))]
    return np.concatenate([np.concatenate(column) for column in columns], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mistakes", type=existing_file)
    parser.add_argument("--scenes", type=re.compile, default=re.compile(""), help="scenes that may be shown")
    parser.add_argument("--count", type=int, default=5, help="pictures per group")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    mistakes = read_ndjson(args.mistakes)
    files = sorted({mistake["pairs"] for mistake in mistakes})
    labels = {file: {label["id"]: label for label in read_ndjson(existing_file(file))} for file in files}
    labelled = [(mistake, labels[mistake["pairs"]].get(mistake["id"])) for mistake in mistakes]
    if missing := [mistake["id"] for mistake, label in labelled if label is None]:
        raise SystemExit(f"{args.mistakes}: pair {missing[0]!r} is not in the file that it names")
    allowed = [mistake for mistake, label in labelled if args.scenes.search(label["scene"] or "")]
    chosen = choose(allowed, args.count)
    args.out.mkdir(parents=True, exist_ok=True)
    for number, first in enumerate(range(0, len(GROUPS), GROUPS_PER_SHEET), 1):
        panels = [
            panel(mistake, group, labels[mistake["pairs"]][mistake["id"]], Path(mistake["pairs"]).parent)
            for group in tuple(GROUPS)[first : first + GROUPS_PER_SHEET]
            for mistake in chosen[group]
        ]
        if not panels:
            continue
        path = args.out / f"mistakes-{number}.webp"
        cv2.imwrite(str(path), sheet(panels)[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
        print(f"{path}: {len(panels)} mistakes")
    print(", ".join(f"{group} {len(chosen[group])}" for group in GROUPS))
