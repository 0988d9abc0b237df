"""Writes rendered pairs as pictures and labels, so that `scenedelta evaluate` measures the service on them.

    python -m training.worlds pairs --data ROOT --scenario left --count 300 --out DIR

DIR gets images/ and pairs.ndjson, in the format of lab/README.md. Pairs of the held-out split have models
and places that no training has seen.
"""

from __future__ import annotations

import argparse
import json
from itertools import count
from pathlib import Path

import cv2

from training.contract import SPLITS, USUAL, Pair
from training.inputs import existing_folder
from training.worlds.surveillance.painted import TWO_FRAMES
from training.worlds.surveillance.plugin import ALL_SCENARIOS, open_source

JPEG_QUALITY = 95  # the frames have the artefacts of their camera already


# `places`: all true ones, by which training.fits.facts calibrates places. `models` and `packs`: names and
# folders of the thing's sprites, if it has any, by which scripts/find-mistakes.mjs gives figures per pack.
OBJECT_KEYS = ("noun", "colour", "count", "action", "where", "places", "models", "packs", "boxes_before", "boxes_after")


def label_of(pair: Pair, name: str, made: bool) -> dict:
    """The pair's line in pairs.ndjson. name: its id, and the beginning of its files. made: something is drawn in it."""
    return {
        "id": name,
        "scene": pair.plate_id,
        "before": f"images/{name}_before.jpg",
        "after": f"images/{name}_after.jpg",
        "references": pair.captions,
        "width": pair.before.shape[1],
        "height": pair.before.shape[0],
        "verdict": "change" if pair.objects else "none",
        "kind": pair.kind,
        "boxes_before": pair.boxes_before,
        "boxes_after": pair.boxes_after,
        "nuisance": pair.nuisances,
        "objects": [{key: thing[key] for key in OBJECT_KEYS if key in thing} for thing in pair.objects],
        "made": made,
    }


def write_pair(pair: Pair, name: str, out: Path, made: bool) -> dict:
    """Writes both pictures into `out` and returns the label."""
    label = label_of(pair, name, made)
    for side in ("before", "after"):
        picture = cv2.cvtColor(getattr(pair, side), cv2.COLOR_RGB2BGR)
        cv2.imwrite(str(out / label[side]), picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return label


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=existing_folder, help="folder of the data (default: SCENEDELTA_DATA)")
    parser.add_argument("--split", choices=SPLITS, default="heldout")
    parser.add_argument("--scenario", choices=ALL_SCENARIOS, default=USUAL)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=300, help="pairs")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    source = open_source(args.data, args.split, args.scenario)
    (args.out / "images").mkdir(parents=True, exist_ok=True)
    with open(args.out / "pairs.ndjson", "w", encoding="utf-8") as lines:
        seeds, made = count(args.seed), 0
        while made < args.count:
            seed = next(seeds)
            try:
                pair = source.sample(seed)
            except RuntimeError as reason:  # no place of the split shows such a thing at that size
                print(f"left out: {reason}", flush=True)
                continue
            label = write_pair(pair, f"{args.scenario}-{seed}", args.out, args.scenario != TWO_FRAMES)
            lines.write(json.dumps(label, ensure_ascii=False) + "\n")
            made += 1
    print(f"{args.count} pairs in {args.out}")
