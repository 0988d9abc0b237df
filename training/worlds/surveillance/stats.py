"""Statistics of sampled pairs beside those of the development pairs, if the data folder has them.

python -m training.worlds stats --data ROOT [--count 300]

Prints object height, brightness, contrast, sharpness and changed area, and the frequency of each kind, noun, colour
and nuisance.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from training.contract import SPLITS
from training.worlds.surveillance.data_folder import data_root
from training.worlds.surveillance.pair_source import SurveillancePairSource
from training.worlds.surveillance.view import FRAME_WIDTH


def measure(before: np.ndarray, after: np.ndarray, boxes: Iterable[tuple[list[float], int]]) -> dict[str, Any]:
    """Measures of a pair. `boxes`: (x, y, w, h) in pixels, each with the index of its frame.

    Heights and areas are fractions of the frame, levels are of 255.
    """
    height, width = before.shape[:2]
    grey = [cv2.cvtColor(f, cv2.COLOR_RGB2GRAY) for f in (before, after)]
    boxes = list(boxes)
    inside = [grey[i][int(y) : int(y + h) + 1, int(x) : int(x + w) + 1].mean() for (x, y, w, h), i in boxes]
    return {
        "brightness": float(np.mean(grey[0])),
        "contrast": float(np.std(grey[0])),
        "sharpness": float(cv2.Laplacian(grey[0], cv2.CV_32F).std()),
        "saturation": float(cv2.cvtColor(before, cv2.COLOR_RGB2HSV)[..., 1].mean()),
        "difference": float(np.mean(cv2.absdiff(*grey))),
        "object_height": [h / height for (_, _, _, h), _ in boxes],
        "object_level_minus_frame": [level - grey[i].mean() for level, (_, i) in zip(inside, boxes)],
        "change_area": [sum(w * h for (_, _, w, h), _ in boxes) / (width * height)] if boxes else [],
    }


def measure_development_pairs(root: Path) -> list[dict[str, Any]]:
    """Measures of the development pairs, whose frames are resized to FRAME_WIDTH."""
    folder = root / "dev_pairs"
    rows = []
    for line in (folder / "pairs.ndjson").read_text().splitlines():
        record = json.loads(line)
        frames, factor = [], 1.0
        for side in ("before", "after"):
            frame = cv2.cvtColor(cv2.imread(str(folder / record[side])), cv2.COLOR_BGR2RGB)
            factor = FRAME_WIDTH / frame.shape[1]
            frames.append(cv2.resize(frame, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA))
        boxes = [
            ([v * factor for v in box], index)
            for index, side in enumerate(("before", "after"))
            for box in record[f"boxes_{side}"]
        ]
        rows.append(measure(*frames, boxes))
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Per measure the median with the 10th and 90th percentile."""
    out = {}
    for key in rows[0]:
        values = np.concatenate([np.atleast_1d(r[key]) for r in rows])
        out[key] = "{1:.3g} ({0:.3g} .. {2:.3g})".format(*np.percentile(values, [10, 50, 90])) if values.size else "-"
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with plates/ and sprites/ (default: SCENEDELTA_DATA)")
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    root = data_root(arguments.data)
    source = SurveillancePairSource(root, arguments.split)
    counts: dict[str, Counter] = {name: Counter() for name in ("kind", "noun", "colour", "where", "nuisance")}
    rows, lengths = [], []
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        pair = source.sample(seed)
        boxes = [(b, 0) for b in pair.boxes_before] + [(b, 1) for b in pair.boxes_after]
        rows.append(measure(pair.before, pair.after, boxes))
        lengths += [len(text.split()) for text in pair.captions]
        counts["kind"][pair.kind] += 1
        counts["nuisance"].update(pair.nuisances)
        for obj in pair.objects:
            for name in ("noun", "colour", "where"):
                counts[name][obj[name]] += 1
    synthetic = summary(rows)
    real = summary(measure_development_pairs(root)) if (root / "dev_pairs").is_dir() else {}
    print(f"{'':26}{'synthetic':34}development   (median, 10th .. 90th percentile)")
    for key, text in synthetic.items():
        print(f"{key:26}{text:34}{real.get(key, '-')}")
    print(f"words per caption: {np.mean(lengths):.1f} on average, {max(lengths)} at most")
    for name, counter in counts.items():
        total = max(sum(counter.values()), 1)
        print(f"{name}: " + ", ".join(f"{k} {100 * n / total:.1f} %" for k, n in counter.most_common(40)))
