"""Rewrites the captions and kinds of a cache from the facts stored beside them, without rendering.

    python -m training.data reword DIR [DIR ...]

Use it after a change of the grammar. A pair's captions follow from its seed, so a second run changes nothing.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np

from training.contract import Box, kind_of
from training.data.cache import WORDING_STREAM
from training.data.regions import described_objects
from training.inputs import existing_folder
from training.text.captions import write_captions


def reworded(meta: dict, boxes: list[Box], crops: list[Box]) -> dict:
    """A line of meta.jsonl with its pair's `glance_object_box` and `glance_box`."""
    described = described_objects(meta, boxes, crops)
    captions = write_captions(described, meta["nuisances"], np.random.default_rng([meta["seed"], WORDING_STREAM]))
    return {**meta, "kind": kind_of(meta["objects"]), "captions": captions}


def reword_shard(shard: Path) -> int:
    """Number of pairs; the file is replaced as a whole."""
    target, partial = shard / "meta.jsonl", shard / ".meta.partial.jsonl"
    needed = ("glance_object_box.npy", "glance_box.npy", target.name)
    missing = [name for name in needed if not (shard / name).is_file()]
    if missing:
        raise SystemExit(
            f"{shard}: lacks {', '.join(missing)}, expected what training.data.cache wrote for the surveillance world"
        )
    boxes, crops = (np.load(shard / name).tolist() for name in needed[:2])
    pairs = zip(target.read_text(encoding="utf-8").splitlines(), boxes, crops, strict=True)
    lines = [json.dumps(reworded(json.loads(line), *crops), ensure_ascii=False) for line, *crops in pairs]
    partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.replace(partial, target)
    return len(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "caches",
        type=existing_folder,
        nargs="+",
        metavar="DIR",
        help="what training.data.cache wrote for the surveillance world",
    )
    args = parser.parse_args()
    for cache in args.caches:
        shards = sorted(p for p in cache.iterdir() if p.is_dir() and not p.name.startswith("."))
        if not shards:
            raise SystemExit(f"{cache}: has no complete shard, expected a folder that training.data.cache wrote")
        print(f"{cache}: {sum(map(reword_shard, shards))} pairs", flush=True)
