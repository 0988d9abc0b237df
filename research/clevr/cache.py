"""Writes caches of scene families: features on disk, as training.data.cache does for single pairs.

    python -m research.clevr cache --features features.onnx --out DIR --start S --count N [--split heldout]

S and N count scenes. A shard is a folder with n = scenes x VIEWS views, those of a scene next to each other:
  coarse.npy [n,256,16,24], fine.npy [n,67,32,48]   float16, features of the full frames
  slots.npy [n,64,96]                               int8: slot at the centre of every 5x5 pixels, -1 none
  meta.jsonl                                        one line per scene: the objects of its views and the changes
A shard is renamed into place when it is complete, and complete shards are skipped, so that the command can be stopped
and started again. family_cache.py reads shards.
"""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from research.clevr.family import VIEWS, Family, draw_family
from research.clevr.plugin import WORLD
from research.clevr.render import render
from training.contract import SPLITS
from training.data.cache import Features
from training.data.preprocess import resize
from training.data.shards import made_with, new_shard
from training.inputs import existing_file

SLOT_STRIDE = 5  # pixels


def scene_meta(scene: int, family: Family) -> dict:
    """The line of a scene in meta.jsonl. Its objects are under `things`."""
    views = [
        {
            "change": view.change,
            "index_before": view.index_before,
            "index_after": view.index_after,
            "eye": view.eye.tolist(),
            "things": [asdict(obj) for obj in view.objects],
        }
        for view in family.views
    ]
    return {"scene": scene, "views": views}


def write_shard(features: Features, scenes: range, split: str, out: Path, made: dict | None = None) -> bool:
    """Renders a shard. Returns False if it was complete already."""
    with new_shard(out, scenes, made) as folder:
        if folder is None:
            return False
        arrays, lines = {"coarse": [], "fine": [], "slots": []}, []
        for scene in scenes:
            family = draw_family(scene, split)
            images, slots = render(family.to_views())
            for image, slot in zip(images.numpy(), slots.numpy()):
                coarse, fine = features(resize(image, *WORLD.full_frame)[None])
                arrays["coarse"].append(coarse[0].astype(np.float16))
                arrays["fine"].append(fine[0].astype(np.float16))
                arrays["slots"].append(
                    slot[SLOT_STRIDE // 2 :: SLOT_STRIDE, SLOT_STRIDE // 2 :: SLOT_STRIDE].astype(np.int8)
                )
            lines.append(scene_meta(scene, family))
        for name, parts in arrays.items():
            np.save(folder / f"{name}.npy", np.stack(parts))
        (folder / "meta.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=existing_file, required=True, help="features.onnx")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=int, required=True, help="first scene")
    parser.add_argument("--count", type=int, required=True, help="scenes")
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--shard-size", type=int, default=25, help="scenes")
    args = parser.parse_args()
    torch.set_num_threads(1)
    features, stop = Features(args.features), args.start + args.count
    made = made_with("clevr families", args.split, WORLD.full_frame, args.features)
    for first in range(args.start, stop, args.shard_size):
        scenes = range(first, min(first + args.shard_size, stop))
        began, cpu = time.perf_counter(), time.process_time()
        if write_shard(features, scenes, args.split, args.out, made):
            per_view = 1 / (len(scenes) * VIEWS)
            print(
                f"scenes {scenes.start}..{scenes.stop - 1}: {(time.perf_counter() - began) * per_view:.2f} s per view, "
                f"{(time.process_time() - cpu) * per_view:.2f} CPU-s",
                flush=True,
            )
