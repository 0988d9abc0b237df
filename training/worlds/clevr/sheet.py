"""Contact sheet of the CLEVR twin: python -m training.worlds.clevr.sheet --out sheet.png [--seed 0] [--count 12] [--beside FOLDER]

`--beside` a folder of original pictures (480 x 320) puts some of them, untouched, under the twin's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np
import torch

from training.worlds.clevr.render import HEIGHT, WIDTH
from training.worlds.clevr.scene import SPLITS, ClevrWorld
from training.worlds.surveillance.sheet import contact_sheet

COLUMNS = 2


def originals(folder: Path, count: int) -> np.ndarray:
    """uint8 RGB: `count` pictures of the folder, evenly spread over its names, in rows of four."""
    files = sorted(p for p in folder.iterdir() if p.suffix in (".png", ".webp", ".jpg"))
    if not files:
        raise SystemExit(f"{folder}: holds no .png, .webp or .jpg")
    chosen = [files[i] for i in np.linspace(0, len(files) - 1, count).astype(int)]
    pictures = [cv2.resize(cv2.imread(str(f)), (WIDTH, HEIGHT))[..., ::-1] for f in chosen]
    return np.concatenate([np.concatenate(pictures[i : i + 4], 1) for i in range(0, count, 4)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    sheet = contact_sheet(
        ClevrWorld(split=args.split).sample_batch(list(range(args.seed, args.seed + args.count))), COLUMNS
    )
    if args.beside:
        below = originals(args.beside, 8)
        width = max(sheet.shape[1], below.shape[1])
        pad = lambda x: cv2.copyMakeBorder(x, 0, 0, 0, width - x.shape[1], cv2.BORDER_CONSTANT, value=(255, 255, 255))
        sheet = np.concatenate([pad(sheet), pad(below)])
    cv2.imwrite(args.out, sheet[..., ::-1])


if __name__ == "__main__":
    main()
