"""Features of rendered pairs on disk, so that a training step reads instead of rendering and running the backbone.

    python -m training.data.cache --data ROOT --features features.onnx --out DIR --start S --count N [--split heldout] [--maps difference.onnx]
    python -m training.data.cache --world clevr --features features.onnx --out DIR --start S --count N [--split heldout]

One folder a shard, named by its seeds, holds float16 .npy files (open them with mmap_mode="r") and meta.jsonl, one line a
pair, and made.json, which says with what it was made: a folder takes no other. A shard is renamed into place when it is complete, and complete shards are skipped: stop and start at will. Several
processes may fill one folder with different seeds.

With --maps the glances are at the places that an earlier bundle's maps show, as on the server, and not at the true boxes: what the
captioner will be asked about is then what it learns from.

Sizes: n pairs of a shard, R glances a pair. Second axis 2: before, after.
  coarse [n,2,256,H/16,W/16]       fine [n,2,67,H/8,W/8]          of the whole looks, W x H pixels (--look)
  glance_coarse [n,R,2,256,7,7]    glance_fine [n,R,2,67,14,14]   zero where there is no glance
  glance_box [n,R,4]               glance_object_box [n,R,4]      x, y, width, height as shares of the frame
  glance_mask [n,R]                1 where there is a glance
  masks [n,2,H/8,W/8]              share of each cell that changed
"""

import argparse
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

from training.data.map_regions import glance_regions, map_regions
from training.data.preprocess import COARSE_STRIDE, FINE_STRIDE, GLANCE_SIZE, in_pixels, resize, resize_by_area
from training.data.regions import REGIONS, Region, choose_regions, regions_at, told_objects
from training.inputs import existing_file, existing_folder, open_graph, read_json, refuse_other, sha256
from training.text.captions import write_captions
from training.worlds import PLUGINS, load_world

SEEDS_AT_ONCE = 4  # small: what is rendered together is in memory together
MADE = "made.json"  # of a shard: what made it
# Keep the choice of regions and new words apart from the random numbers that rendered the pair.
REGION_STREAM, WORDING_STREAM = 1, 2


def layout(coarse_dim: int, fine_dim: int, look: tuple[int, int]) -> dict[str, tuple[int, ...]]:
    """Shape of one pair's entry in each array; look: width and height in pixels."""
    glance = (GLANCE_SIZE, GLANCE_SIZE)

    def cells(size: tuple[int, int], stride: int) -> tuple[int, int]:
        return size[1] // stride, size[0] // stride

    return {
        "coarse": (2, coarse_dim, *cells(look, COARSE_STRIDE)),
        "fine": (2, fine_dim, *cells(look, FINE_STRIDE)),
        "glance_coarse": (REGIONS, 2, coarse_dim, *cells(glance, COARSE_STRIDE)),
        "glance_fine": (REGIONS, 2, fine_dim, *cells(glance, FINE_STRIDE)),
        "glance_box": (REGIONS, 4),
        "glance_object_box": (REGIONS, 4),
        "glance_mask": (REGIONS,),
        "masks": (2, *cells(look, FINE_STRIDE)),
    }


class Features:
    """features.onnx."""

    def __init__(self, path: Path):
        self.session = open_graph(path, "coarse", "fine")
        self.sha256 = sha256(path)
        self.coarse_dim, self.fine_dim = (output.shape[1] for output in self.session.get_outputs())

    def __call__(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """images float32 [B,3,H,W], RGB 0..1 -> coarse [B,C,H/16,W/16], fine [B,C,H/8,W/8]."""
        return tuple(self.session.run(["coarse", "fine"], {"image": images}))


class Maps:
    """difference.onnx of an earlier bundle: where it sees changes."""

    def __init__(self, path: Path):
        self.session = open_graph(path, "map_before", "map_after")

    def __call__(self, coarse: np.ndarray, fine: np.ndarray) -> list[tuple[float, float, float, float]]:
        """coarse [2,C,h,w], fine [2,C,2h,2w] of a pair's whole looks -> at most REGIONS boxes as shares of the frame, strongest first."""
        looks = {
            "coarse_before": coarse[:1],
            "fine_before": fine[:1],
            "coarse_after": coarse[1:],
            "fine_after": fine[1:],
        }
        heats = self.session.run(["map_before", "map_after"], looks)
        return glance_regions(
            [r for side, heat in zip(("before", "after"), heats) for r in map_regions(heat[0], side)], REGIONS
        )


def pair_regions(pair, entry: dict[str, np.ndarray], maps: Maps | None) -> list[Region]:
    """Of the maps where they show any; else of the truth, so that no pair goes by unused."""
    height, width, _ = pair.before.shape
    boxes = maps(entry["coarse"], entry["fine"]) if maps else []
    if boxes:
        return regions_at([in_pixels(box, width, height) for box in boxes], pair.objects, width, height)
    return choose_regions(pair.objects, width, height, np.random.default_rng([pair.seed, REGION_STREAM]))


def pair_entry(pair, features, look: tuple[int, int], maps: Maps | None = None) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays (see the module's table, without n) and the meta line of one `Pair`."""
    frames = (pair.before, pair.after)
    if pair.before.shape != pair.after.shape:
        raise ValueError(f"seed {pair.seed}: frames differ in shape: {pair.before.shape} and {pair.after.shape}")
    height, width, _ = pair.before.shape
    entry = {
        name: np.zeros(shape, np.float32)
        for name, shape in layout(features.coarse_dim, features.fine_dim, look).items()
    }

    looks = np.stack([resize(frame, *look) for frame in frames])  # [2,3,H,W]
    entry["coarse"], entry["fine"] = features(looks)
    fine_height, fine_width = entry["fine"].shape[-2:]
    entry["masks"] = np.stack([resize_by_area(m, fine_width, fine_height) for m in (pair.mask_before, pair.mask_after)])

    regions = pair_regions(pair, entry, maps)
    if regions:
        count = len(regions)
        crops = np.stack([resize(f, GLANCE_SIZE, GLANCE_SIZE, region.crop) for region in regions for f in frames])
        for name, cells in zip(("glance_coarse", "glance_fine"), features(crops)):
            entry[name][:count] = cells.reshape(count, 2, *cells.shape[1:])
        shares = np.array([width, height, width, height])
        entry["glance_box"][:count] = [region.crop / shares for region in regions]
        entry["glance_object_box"][:count] = [region.object_box / shares for region in regions]
        entry["glance_mask"][:count] = 1

    meta = {
        "seed": pair.seed,
        "plate": pair.plate_id,
        "models": pair.models,
        "frame": [width, height],
        "kind": pair.kind,
        "nuisances": pair.nuisances,
        "objects": pair.objects,
        "captions": pair.captions,
        "glances": [{"side": region.side, "before": region.before, "after": region.after} for region in regions],
    }
    if regions:
        told = told_objects(meta, entry["glance_object_box"].tolist(), entry["glance_box"].tolist())
        if len(told) < len(pair.objects):
            meta["captions"] = write_captions(told, pair.nuisances, np.random.default_rng([pair.seed, WORDING_STREAM]))
    return entry, meta


def rendered(world, seeds: range):
    """The pairs of `seeds`, in their order; a world that shares work between pairs gets a few at once."""
    if not hasattr(world, "sample_batch"):
        yield from map(world.sample, seeds)
        return
    for first in range(0, len(seeds), SEEDS_AT_ONCE):
        yield from world.sample_batch(list(seeds[first : first + SEEDS_AT_ONCE]))


def made_with(world: str, split: str, look: tuple[int, int], features: Path, maps: Path | None = None) -> dict:
    """What a shard's content follows from, beside its seeds."""
    return {
        "world": world,
        "split": split,
        "look": list(look),
        "features": sha256(features),
        "maps": sha256(maps) if maps else None,
    }


@contextmanager
def new_shard(out: Path, numbers: range, made: dict | None = None) -> Iterator[Path | None]:
    """A folder to fill, that becomes the shard of `numbers` where all goes well and nothing where not; None if that shard is there.

    made: see `made_with`. A folder's shards are all made with the same, as far as they tell (older ones do not).
    """
    for other in sorted(out.glob(f"[!.]*/{MADE}")):
        refuse_other(read_json(other), made or {}, other.parent, "give another --out")
    folder = out / f"{numbers.start:08d}-{numbers.stop:08d}"
    if folder.exists():
        yield None
        return
    partial = out / f".{folder.name}.{os.getpid()}"
    partial.mkdir(parents=True)
    try:
        yield partial
        if made:
            (partial / MADE).write_text(json.dumps(made) + "\n")
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_shard(
    world, features, seeds: range, out: Path, look: tuple[int, int], maps: Maps | None = None, made: dict | None = None
) -> bool:
    """Renders and writes the pairs of `seeds` into a folder of `out`; False if that shard was complete already."""
    with new_shard(out, seeds, made) as folder:
        if folder is None:
            return False
        arrays = {
            name: open_memmap(folder / f"{name}.npy", "w+", np.float16, (len(seeds), *shape))
            for name, shape in layout(features.coarse_dim, features.fine_dim, look).items()
        }
        with open(folder / "meta.jsonl", "w", encoding="utf-8") as lines:
            for row, pair in enumerate(rendered(world, seeds)):
                entry, meta = pair_entry(pair, features, look, maps)
                for name, array in arrays.items():
                    array[row] = entry[name]
                lines.write(json.dumps(meta, ensure_ascii=False, default=_plain) + "\n")
        for array in arrays.values():
            array.flush()
    return True


def _plain(value):
    """NumPy numbers and arrays as JSON."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"meta holds a {type(value).__name__}, which is not JSON: {value!r}")


def look_size(text: str) -> tuple[int, int]:
    """ "288x192" -> (288, 192). @raises argparse.ArgumentTypeError saying what was expected."""
    width, _, height = text.partition("x")
    if not (
        width.isdigit()
        and height.isdigit()
        and 0 < int(width)
        and 0 < int(height)
        and int(width) % COARSE_STRIDE == int(height) % COARSE_STRIDE == 0
    ):
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT in multiples of {COARSE_STRIDE}")
    return int(width), int(height)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", choices=PLUGINS, default="surveillance")
    parser.add_argument(
        "--data",
        type=existing_folder,
        help="folder with plates/ and sprites/ (default: SCENEDELTA_DATA), if the world needs one",
    )
    parser.add_argument("--features", type=existing_file, required=True, help="features.onnx")
    parser.add_argument(
        "--maps",
        type=existing_file,
        help="difference.onnx of an earlier bundle: glances where its maps fire, not at the true boxes",
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=int, required=True, help="first seed")
    parser.add_argument("--count", type=int, required=True, help="pairs")
    parser.add_argument("--split", choices=("train", "heldout"), default="train")
    parser.add_argument("--shard-size", type=int, default=250)
    parser.add_argument(
        "--look",
        type=look_size,
        metavar="WIDTHxHEIGHT",
        help=f"of the whole look, multiples of {COARSE_STRIDE} (default: the world's)",
    )
    args = parser.parse_args()
    world = load_world(args.world)
    look = args.look or world.full_frame

    features, maps = Features(args.features), Maps(args.maps) if args.maps else None
    source = world.open_source(args.data, args.split)
    made, stop = made_with(args.world, args.split, look, args.features, args.maps), args.start + args.count
    for first in range(args.start, stop, args.shard_size):
        seeds = range(first, min(first + args.shard_size, stop))
        began = time.perf_counter()
        written = write_shard(source, features, seeds, args.out, look, maps, made)
        rate = f"{len(seeds) / (time.perf_counter() - began):.2f} pairs/s" if written else "there already"
        print(f"{seeds.start}..{seeds.stop - 1}: {rate}", flush=True)


if __name__ == "__main__":
    main()
