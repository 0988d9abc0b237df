"""Draws the correspondence of two frames: cells that show an object, and the cell of "after" that each is matched with.

    python -m research.correspondence draw --bundle models/scorer-clevr --out matches.png before.png after.png

--layer and --head choose the attention, from 1; --head 0 is the mean over heads. A cell of "before" and its partner
have one colour, which depends on the place in "before": a good one shows one pattern on an object in both.
"""

from __future__ import annotations

import argparse

import cv2
import numpy as np

from research.correspondence.graph import Correspondence, CorrespondenceGraph
from training.inputs import existing_file, existing_folder, new_file

CELL = 20  # pixels per side of a drawn cell
GAP = 8  # pixels between the frames
OPACITY = 0.45
WRONG = (220, 30, 30)  # RGB of the outline of a cell whose partner is wrong
LINE_EVERY = 4  # cells per line, so that a line can be followed


def draw(
    before: np.ndarray, after: np.ndarray, found: Correspondence, partners: np.ndarray, wrong: np.ndarray | None = None
) -> np.ndarray:
    """Frames uint8 [h,w,3], RGB -> picture uint8 [rows*CELL, 2*columns*CELL+GAP, 3].

    partners: int [K], of the kept tokens. wrong: bool [K], those whose cell is outlined, if the truth is known.
    """
    rows, columns = found.grid
    size = columns * CELL, rows * CELL
    panels = [cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in (before, after)]
    shown = np.flatnonzero(found.shows_object)
    shown = shown[np.argsort(found.kept_before[shown])]  # row by row, so that lines are spread over the frame
    cells, others = found.kept_before[shown], partners[shown]
    colours = _colours(cells, found.grid)
    for panel, painted in zip(panels, (cells, others)):
        for cell, colour in zip(painted, colours):
            inside = panel[_square(cell, columns)]
            inside[:] = np.rint((1 - OPACITY) * inside + OPACITY * colour)
    if wrong is not None:
        for cell in cells[wrong[shown]]:
            y, x = (part.start for part in _square(cell, columns))
            cv2.rectangle(panels[0], (x + 1, y + 1), (x + CELL - 2, y + CELL - 2), WRONG, 2)
    picture = np.concatenate([panels[0], np.full((size[1], GAP, 3), 255, np.uint8), panels[1]], axis=1)
    for cell, other, colour in list(zip(cells, others, colours))[::LINE_EVERY]:
        start, end = _centre(cell, columns), _centre(other, columns)
        cv2.line(picture, start, (end[0] + size[0] + GAP, end[1]), colour.tolist(), 1, cv2.LINE_AA)
    return picture


def _square(cell: int, columns: int) -> tuple[slice, slice]:
    row, column = divmod(int(cell), columns)
    return slice(row * CELL, (row + 1) * CELL), slice(column * CELL, (column + 1) * CELL)


def _centre(cell: int, columns: int) -> tuple[int, int]:
    y, x = (part.start + CELL // 2 for part in _square(cell, columns))
    return x, y


def _colours(cells: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """The colours of cells [n]: hue by the column, lightness by the row; uint8 [n,3], RGB."""
    row, column = np.divmod(cells, grid[1])
    value = 255 - 130 * row / grid[0]
    hsv = np.stack([170 * column / grid[1], np.full(len(cells), 230), value], 1).astype(np.uint8)
    return cv2.cvtColor(hsv[None], cv2.COLOR_HSV2RGB)[0]


def read_frame(text: str) -> np.ndarray:
    """Type of an argument: uint8 [h,w,3], RGB. @raises SystemExit if the file is no picture."""
    pixels = cv2.imread(str(existing_file(text)), cv2.IMREAD_COLOR)
    if pixels is None:
        raise SystemExit(f"{text}: is not a picture that can be read")
    return pixels[..., ::-1].copy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=read_frame)
    parser.add_argument("after", type=read_frame)
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--layer", type=int, default=1)
    parser.add_argument("--head", type=int, default=1)
    parser.add_argument("--out", type=new_file, required=True, help="picture to write, .png or .webp")
    args = parser.parse_args()
    found = CorrespondenceGraph(args.bundle)(args.before, args.after)
    layers, heads = found.attention.shape[:2]
    if not (1 <= args.layer <= layers and 0 <= args.head <= heads):
        raise SystemExit(f"layer {args.layer}, head {args.head}: expected 1 to {layers}, and 0 to {heads}")
    partners = found.partners(args.layer - 1, args.head - 1 if args.head else None)
    cv2.imwrite(str(args.out), draw(args.before, args.after, found, partners)[..., ::-1])
    print(f"{args.out}: {int(found.shows_object.sum())} cells that show an object")
