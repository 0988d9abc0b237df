"""Statistics of rendered CLEVR scenes beside those of the original data set.

python -m research.clevr stats [--scenes 40] [--stride 4]

Prints the brightness of the corners, the mean colour per material and colour, and the overlap of objects' boxes
between the two views of a pair. Images are sampled at every stride-th pixel.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
import torch

from research.clevr.pair_source import CHANGED, DEFAULT, ClevrPairSource, box_of, views_of_scenes
from research.clevr.render import HEIGHT, WIDTH, object_map, pixel_grid, shade, to_srgb
from research.clevr.rules import COLOURS, MATERIALS, ChangedScene
from training.contract import SPLITS
from training.data.regions import iou

# Measured on the original data set: median grey level per corner and mean colour, sRGB in 0..255.
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
# IoU of the boxes of an object in the two views of a pair, likewise.
OVERLAP = {"mean": 0.508, "sd": 0.144, "5 %": 0.281, "25 %": 0.408, "50 %": 0.502, "75 %": 0.605, "95 %": 0.755}
CORNERS_PER_HEIGHT = 12  # the side of a corner is the height of the image over this number


def render_default_views(scenes: list[ChangedScene], stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Default views at every stride-th pixel: sRGB in 0..255 [V,h,w,3], slots [V,h,w]."""
    views = views_of_scenes([(scene, DEFAULT) for scene in scenes])
    light, slots = shade(views, *pixel_grid(len(scenes), stride))
    size = len(scenes), HEIGHT // stride, WIDTH // stride
    return (255 * to_srgb(light)).reshape(*size, 3).numpy(), slots.reshape(size).numpy()


def corner_levels(images: np.ndarray) -> dict[str, float]:
    """Median over the images of the mean grey level per corner."""
    n = max(images.shape[1] // CORNERS_PER_HEIGHT, 1)
    grey = images.mean(-1)
    cut = {
        "top left": grey[:, :n, :n],
        "top right": grey[:, :n, -n:],
        "bottom left": grey[:, -n:, :n],
        "bottom right": grey[:, -n:, -n:],
    }
    return {name: float(np.median(part.mean((1, 2)))) for name, part in cut.items()}


def mean_colours(
    scenes: list[ChangedScene], images: np.ndarray, slots: np.ndarray
) -> dict[tuple[str, str], np.ndarray]:
    """Mean sRGB per (material, colour) that occurs in the scenes."""
    pixels = defaultdict(list)
    for scene, image, slot in zip(scenes, images, slots):
        for k, obj in enumerate(scene.before):
            pixels[obj.material, obj.colour].append(image[slot == k])
    return {key: np.concatenate(parts).mean(0) for key, parts in pixels.items()}


def mean_overlap(scene: ChangedScene, stride: int = 1) -> float:
    """Mean IoU of the boxes of each object that both views of a changed pair show."""
    default, changed = object_map(views_of_scenes([(scene, DEFAULT), (scene, CHANGED)]), stride).numpy()
    # After a drop the objects behind the dropped one are one slot lower.
    partner = {
        k: k - (scene.change == "drop" and k > scene.index_before)
        for k in range(len(scene.before))
        if not (scene.change == "drop" and k == scene.index_before)
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
    scenes = ClevrPairSource(split=args.split).draw_scenes(list(range(args.start, args.start + args.scenes)))
    images, slots = render_default_views(scenes, args.stride)
    for name, level in corner_levels(images).items():
        print(f"{name:14} {level:6.1f}   original {CORNERS[name]}")
    found = mean_colours(scenes, images, slots)
    for material in MATERIALS:
        errors = []
        for colour in COLOURS:
            if (material, colour) in found:
                mean, original = found[material, colour], MEAN_COLOUR[material][colour]
                errors.append(mean - original)
                print(f"{material:7} {colour:7} {np.round(mean).astype(int).tolist()}   original {list(original)}")
        print(f"{material}: mean error {np.mean(errors):+.1f}, mean absolute error {np.abs(errors).mean():.1f} levels")
    shared = np.array([mean_overlap(scene) for scene in scenes])
    measured = [shared.mean(), shared.std(), *np.percentile(shared, [5, 25, 50, 75, 95])]
    for (name, expected), value in zip(OVERLAP.items(), measured):
        print(f"IoU between views, {name:5} {value:.3f}   original {expected:.3f}")
    print("objects per scene:", np.mean([len(scene.before) for scene in scenes]).round(2))
