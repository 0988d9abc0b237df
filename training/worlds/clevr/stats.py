"""Whether the CLEVR twin looks like the original in numbers: python -m training.worlds.clevr.stats [--scenes 40] [--stride 4]

Prints, beside what was measured of the original: brightness in the corners, mean colour of each material and colour, and how much
objects' boxes overlap between the two views of a pair. Nothing is written; pictures are sampled at every stride-th pixel.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
import torch

from training.data.regions import iou
from training.worlds.clevr.render import HEIGHT, WIDTH, object_map, pixel_grid, shade, to_srgb
from training.worlds.clevr.rules import COLOURS, MATERIALS
from training.worlds.clevr.scene import CHANGED, DEFAULT, SPLITS, ClevrWorld, box_of, views_of_drafts

# Of the original renderer, sRGB 0..255.
CORNERS = {"top left": 105, "top right": 103, "bottom left": 123, "bottom right": 145}
MEAN_COLOUR = {
    "rubber": {
        "gray": (85, 84, 83),
        "red": (113, 54, 54),
        "blue": (61, 79, 124),
        "green": (52, 92, 43),
        "brown": (101, 78, 47),
        "purple": (101, 58, 117),
        "cyan": (61, 125, 123),
        "yellow": (137, 132, 64),
    },
    "metal": {
        "gray": (67, 66, 65),
        "red": (95, 43, 42),
        "blue": (47, 62, 100),
        "green": (37, 71, 28),
        "brown": (76, 58, 33),
        "purple": (77, 41, 92),
        "cyan": (45, 99, 100),
        "yellow": (110, 106, 50),
    },
}
OVERLAP = {"mean": 0.508, "sd": 0.144, "5 %": 0.281, "25 %": 0.408, "50 %": 0.502, "75 %": 0.605, "95 %": 0.755}
CORNER_SHARE = 12  # a corner is a square of this part of the height


def look(drafts: list, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Default views of the drafts at every stride-th pixel: sRGB 0..255 [V,h,w,3], slots [V,h,w]."""
    views = views_of_drafts([(draft, DEFAULT) for draft in drafts], "cpu")
    light, slots = shade(views, *pixel_grid(len(drafts), views.eye.device, stride))
    size = len(drafts), HEIGHT // stride, WIDTH // stride
    return (255 * to_srgb(light)).reshape(*size, 3).numpy(), slots.reshape(size).numpy()


def corner_levels(pictures: np.ndarray) -> dict[str, float]:
    """Median over the pictures of the grey level in each corner."""
    n = max(pictures.shape[1] // CORNER_SHARE, 1)
    grey = pictures.mean(-1)
    cut = {
        "top left": grey[:, :n, :n],
        "top right": grey[:, :n, -n:],
        "bottom left": grey[:, -n:, :n],
        "bottom right": grey[:, -n:, -n:],
    }
    return {name: float(np.median(part.mean((1, 2)))) for name, part in cut.items()}


def mean_colours(drafts: list, pictures: np.ndarray, slots: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Mean sRGB of all pixels of a material and colour, for those that came up."""
    pixels = defaultdict(list)
    for draft, picture, slot in zip(drafts, pictures, slots):
        for k, thing in enumerate(draft.before):
            pixels[thing.material, thing.colour].append(picture[slot == k])
    return {key: np.concatenate(parts).mean(0) for key, parts in pixels.items()}


def overlaps(draft, stride: int = 1) -> float:
    """Mean IoU of the boxes of the objects that both views of a changed pair show."""
    default, changed = object_map(views_of_drafts([(draft, DEFAULT), (draft, CHANGED)], "cpu"), stride).numpy()
    # A dropped object leaves no box after; those behind it in the list move up one slot.
    partner = {
        k: k - (draft.change == "drop" and k > draft.changed_before)
        for k in range(len(draft.before))
        if not (draft.change == "drop" and k == draft.changed_before)
    }
    return float(np.mean([iou(box_of(default == k), box_of(changed == after)) for k, after in partner.items()]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--scenes", type=int, default=40)
    parser.add_argument("--start", type=int, default=0, help="number of the first scene")
    parser.add_argument("--stride", type=int, default=4)
    args = parser.parse_args()
    torch.set_num_threads(1)
    drafts = ClevrWorld(split=args.split).drafts(list(range(args.start, args.start + args.scenes)))
    pictures, slots = look(drafts, args.stride)
    for name, level in corner_levels(pictures).items():
        print(f"{name:14} {level:6.1f}   original {CORNERS[name]}")
    found = mean_colours(drafts, pictures, slots)
    for material in MATERIALS:
        errors = []
        for colour in COLOURS:
            if (material, colour) in found:
                mean = found[material, colour]
                errors.append(mean - MEAN_COLOUR[material][colour])
                print(
                    f"{material:7} {colour:7} {np.round(mean).astype(int).tolist()}   original {list(MEAN_COLOUR[material][colour])}"
                )
        print(f"{material}: mean error {np.mean(errors):+.1f}, mean absolute error {np.abs(errors).mean():.1f} levels")
    shared = np.array([overlaps(draft) for draft in drafts])
    measured = [shared.mean(), shared.std(), *np.percentile(shared, [5, 25, 50, 75, 95])]
    for (name, expected), value in zip(OVERLAP.items(), measured):
        print(f"IoU between views, {name:5} {value:.3f}   original {expected:.3f}")
    print("objects a scene:", np.mean([len(d.before) for d in drafts]).round(2))


if __name__ == "__main__":
    main()
