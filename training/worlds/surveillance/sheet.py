"""Contact sheet of sampled pairs: python -m training.worlds.surveillance.sheet --data ROOT --seed 0 --count 24 --out sheet.png"""

from __future__ import annotations

import argparse

import cv2
import numpy as np

from training.worlds.pair import MASK_STRIDE, Pair
from training.worlds.surveillance.data_folder import SPLITS
from training.worlds.surveillance.pair_source import SurveillancePairSource

CELL_WIDTH, CAPTION_LINES, LINE_HEIGHT = 480, 3, 13
TINT = 0.12  # faint: what gives a synthetic object away must stay visible
CHANGED = (255, 60, 60)


def panel(pair: Pair) -> np.ndarray:
    """uint8 [h, w, 3]: captions above both frames, masks tinted, boxes drawn."""
    frames = []
    for frame, mask, boxes in (
        (pair.before, pair.mask_before, pair.boxes_before),
        (pair.after, pair.mask_after, pair.boxes_after),
    ):
        coverage = cv2.resize(mask, None, fx=MASK_STRIDE, fy=MASK_STRIDE, interpolation=cv2.INTER_NEAREST)[..., None]
        shown = np.uint8(frame * (1 - TINT * coverage) + TINT * coverage * np.float32([255, 255, 0]))
        for x, y, w, h in boxes:
            cv2.rectangle(shown, (int(x), int(y)), (int(x + w), int(y + h)), CHANGED, 1)
        height = round(CELL_WIDTH * frame.shape[0] / frame.shape[1])
        frames.append(cv2.resize(shown, (CELL_WIDTH, height), interpolation=cv2.INTER_AREA))
    head = np.full((LINE_HEIGHT * (CAPTION_LINES + 1) + 4, 2 * CELL_WIDTH, 3), 255, np.uint8)
    title = f"{pair.seed} {pair.kind} {pair.plate_id} [{' '.join(pair.nuisances)}]"
    for line, text in enumerate([title, *pair.captions[:CAPTION_LINES]]):
        cv2.putText(
            head, text, (2, LINE_HEIGHT * (line + 1) - 2), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1, cv2.LINE_AA
        )
    return np.concatenate([head, np.concatenate(frames, axis=1)])


def contact_sheet(pairs: list[Pair], columns: int = 2) -> np.ndarray:
    """Panels in columns, each column as long as its pairs need."""
    stacks: list[list[np.ndarray]] = [[] for _ in range(columns)]
    for index, pair in enumerate(pairs):
        stacks[index % columns].append(panel(pair))
    merged = [np.concatenate(stack) for stack in stacks if stack]
    tallest = max(m.shape[0] for m in merged)
    padded = [
        cv2.copyMakeBorder(m, 0, tallest - m.shape[0], 0, 8, cv2.BORDER_CONSTANT, value=(255, 255, 255)) for m in merged
    ]
    return np.concatenate(padded, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with plates/ and sprites/ (default: SCENEDELTA_DATA)")
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--changed", action="store_true", help="leave out unchanged pairs")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    source = SurveillancePairSource(arguments.data, arguments.split)
    pairs: list[Pair] = []
    seed = arguments.seed
    while len(pairs) < arguments.count:
        pair = source.sample(seed)
        seed += 1
        if pair.kind != "none" or not arguments.changed:
            pairs.append(pair)
    cv2.imwrite(arguments.out, cv2.cvtColor(contact_sheet(pairs), cv2.COLOR_RGB2BGR))


if __name__ == "__main__":
    main()
