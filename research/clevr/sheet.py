"""Contact sheet of sampled pairs of the CLEVR world.

    python -m research.clevr sheet --out sheet.png [--seed 0] [--count 12] [--beside FOLDER]

With `--beside FOLDER` the sheet ends with eight images of the original data set, resized to the size of a frame.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np
import torch

from research.clevr.pair_source import ClevrPairSource
from research.clevr.render import HEIGHT, WIDTH
from training.contract import SPLITS
from training.worlds.contact_sheet import contact_sheet


def original_images(folder: Path, count: int) -> np.ndarray:
    """uint8 RGB: `count` images of the folder, evenly spread over its file names, in rows of four."""
    files = sorted(p for p in folder.iterdir() if p.suffix in (".png", ".webp", ".jpg"))
    if not files:
        raise SystemExit(f"{folder}: holds no .png, .webp or .jpg")
    chosen = [files[i] for i in np.linspace(0, len(files) - 1, count).astype(int)]
    images = [cv2.resize(cv2.imread(str(f)), (WIDTH, HEIGHT))[..., ::-1] for f in chosen]
    return np.concatenate([np.concatenate(images[i : i + 4], 1) for i in range(0, count, 4)])


def pad_to_width(image: np.ndarray, width: int) -> np.ndarray:
    right = width - image.shape[1]
    return cv2.copyMakeBorder(image, 0, 0, 0, right, cv2.BORDER_CONSTANT, value=(255, 255, 255))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=12, help="pairs")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="images of the original data set")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    source = ClevrPairSource(split=args.split)
    sheet = contact_sheet(source.sample_batch(list(range(args.seed, args.seed + args.count))))
    if args.beside:
        below = original_images(args.beside, 8)
        width = max(sheet.shape[1], below.shape[1])
        sheet = np.concatenate([pad_to_width(sheet, width), pad_to_width(below, width)])
    cv2.imwrite(args.out, sheet[..., ::-1])
