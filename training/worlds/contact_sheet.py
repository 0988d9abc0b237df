"""Contact sheet: sampled pairs with captions, masks and boxes as one image."""

from __future__ import annotations

import cv2
import numpy as np

from training.contract import MASK_STRIDE, Pair

CELL_WIDTH, CAPTION_LINES, LINE_HEIGHT = 480, 3, 13  # pixels, lines, pixels
MASK_OPACITY = 0.12  # low, so that rendering artefacts stay visible below the mask
BOX_COLOUR = (255, 60, 60)


def panel(pair: Pair) -> np.ndarray:
    """uint8 [h, w, 3], RGB: captions above both frames, masks tinted yellow, boxes of changed objects drawn."""
    frames = []
    for frame, mask, boxes in (
        (pair.before, pair.mask_before, pair.boxes_before),
        (pair.after, pair.mask_after, pair.boxes_after),
    ):
        coverage = cv2.resize(mask, None, fx=MASK_STRIDE, fy=MASK_STRIDE, interpolation=cv2.INTER_NEAREST)[..., None]
        tint = MASK_OPACITY * coverage
        shown = np.uint8(frame * (1 - tint) + tint * np.float32([255, 255, 0]))
        for x, y, w, h in boxes:
            cv2.rectangle(shown, (int(x), int(y)), (int(x + w), int(y + h)), BOX_COLOUR, 1)
        height = round(CELL_WIDTH * frame.shape[0] / frame.shape[1])
        frames.append(cv2.resize(shown, (CELL_WIDTH, height), interpolation=cv2.INTER_AREA))
    head = np.full((LINE_HEIGHT * (CAPTION_LINES + 1) + 4, 2 * CELL_WIDTH, 3), 255, np.uint8)
    title = f"{pair.seed} {pair.kind} {pair.plate_id} [{' '.join(pair.nuisances)}]"
    for line, text in enumerate([title, *pair.captions[:CAPTION_LINES]]):
        position = (2, LINE_HEIGHT * (line + 1) - 2)
        cv2.putText(head, text, position, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1, cv2.LINE_AA)
    return np.concatenate([head, np.concatenate(frames, axis=1)])


def contact_sheet(pairs: list[Pair], columns: int = 2) -> np.ndarray:
    """Panels in columns, uint8 RGB on white."""
    stacks: list[list[np.ndarray]] = [[] for _ in range(columns)]
    for index, pair in enumerate(pairs):
        stacks[index % columns].append(panel(pair))
    merged = [np.concatenate(stack) for stack in stacks if stack]
    tallest = max(m.shape[0] for m in merged)
    padded = [
        cv2.copyMakeBorder(m, 0, tallest - m.shape[0], 0, 8, cv2.BORDER_CONSTANT, value=(255, 255, 255)) for m in merged
    ]
    return np.concatenate(padded, axis=1)
