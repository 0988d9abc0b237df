"""Features of rendered pairs on disk, so that a training step reads instead of rendering and running the backbone.

    python -m training.data cache --data ROOT --features features.onnx --out DIR --start S --count N \
        [--split heldout] [--maps difference.onnx] [--scenario low-sun]

One folder per shard (shards.py), named by its seeds, holds float16 .npy files (open them with mmap_mode="r"),
meta.jsonl (one line per pair) and made.json. Several processes may fill one cache with different seeds.

With --maps the region crops lie where an earlier bundle's maps respond, as in the service, and not at the true boxes:
the captioner is then trained on the crops that it will get.

Sizes: n pairs of a shard, R region crops per pair; the full frame has W x H pixels. Second axis 2: before, after.
  coarse [n,2,256,H/16,W/16]       fine [n,2,67,H/8,W/8]          of the full frames
  glance_coarse [n,R,2,256,7,7]    glance_fine [n,R,2,67,14,14]   of the region crops; zero if there is none
  glance_box [n,R,4]               glance_object_box [n,R,4]      x, y, width, height as fractions of the frame
  glance_mask [n,R]                1 if there is a crop
  masks [n,2,H/8,W/8]              fraction of each cell that changed
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

from training.contract import COARSE_STRIDE, FINE_STRIDE, USUAL, Pair
from training.data.map_regions import crop_boxes, map_regions
from training.data.preprocess import CROP_SIZE, in_pixels, resize, resize_by_area
from training.data.regions import REGIONS, Region, choose_regions, described_objects, regions_at
from training.data.shards import made_with, new_shard
from training.inputs import existing_file, existing_folder, open_graph, sha256
from training.text.captions import write_captions
from training.world import PairSource, load_world

# Random streams of a seed beside the one that renders the pair: choice of the regions, wording.
REGION_STREAM, WORDING_STREAM = 1, 2


def layout(coarse_dim: int, fine_dim: int, full_frame: tuple[int, int]) -> dict[str, tuple[int, ...]]:
    """Shape of one pair's entry in each array; full_frame: width and height in pixels."""
    crop = (CROP_SIZE, CROP_SIZE)

    def cells(size: tuple[int, int], stride: int) -> tuple[int, int]:
        return size[1] // stride, size[0] // stride

    return {
        "coarse": (2, coarse_dim, *cells(full_frame, COARSE_STRIDE)),
        "fine": (2, fine_dim, *cells(full_frame, FINE_STRIDE)),
        "glance_coarse": (REGIONS, 2, coarse_dim, *cells(crop, COARSE_STRIDE)),
        "glance_fine": (REGIONS, 2, fine_dim, *cells(crop, FINE_STRIDE)),
        "glance_box": (REGIONS, 4),
        "glance_object_box": (REGIONS, 4),
        "glance_mask": (REGIONS,),
        "masks": (2, *cells(full_frame, FINE_STRIDE)),
    }


class Features:
    """The frozen backbone, features.onnx, on one thread."""

    def __init__(self, path: Path):
        self.session = open_graph(path, "coarse", "fine")
        self.sha256 = sha256(path)
        self.coarse_dim, self.fine_dim = (output.shape[1] for output in self.session.get_outputs())

    def __call__(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """images float32 [B,3,H,W], RGB 0..1 -> coarse [B,C,H/16,W/16], fine [B,C,H/8,W/8]."""
        return tuple(self.session.run(["coarse", "fine"], {"image": images}))


class Maps:
    """The change maps of an earlier bundle, difference.onnx."""

    def __init__(self, path: Path):
        self.session = open_graph(path, "map_before", "map_after")

    def __call__(self, coarse: np.ndarray, fine: np.ndarray) -> list[tuple[float, float, float, float]]:
        """coarse [2,C,h,w], fine [2,C,2h,2w] of a pair's full frames -> at most REGIONS boxes as fractions of the
        frame, strongest first."""
        frames = {
            "coarse_before": coarse[:1],
            "fine_before": fine[:1],
            "coarse_after": coarse[1:],
            "fine_after": fine[1:],
        }
        heats = self.session.run(["map_before", "map_after"], frames)
        regions = [r for side, heat in zip(("before", "after"), heats) for r in map_regions(heat[0], side)]
        return crop_boxes(regions, REGIONS)


def pair_regions(pair, entry: dict[str, np.ndarray], maps: Maps | None) -> list[Region]:
    """Regions of the maps if they show any; else of the truth, so that every pair is of use."""
    height, width, _ = pair.before.shape
    boxes = maps(entry["coarse"], entry["fine"]) if maps else []
    if boxes:
        return regions_at([in_pixels(box, width, height) for box in boxes], pair.objects, width, height)
    return choose_regions(pair.objects, width, height, np.random.default_rng([pair.seed, REGION_STREAM]))


def pair_entry(
    pair: Pair,
    features: Features,
    full_frame: tuple[int, int],
    maps: Maps | None = None,
    regions: list[Region] | None = None,
) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays (see the module's table, without n) and the meta line of one `Pair`.

    regions: of the crops; None: those of `pair_regions`.
    """
    frames = (pair.before, pair.after)
    if pair.before.shape != pair.after.shape:
        raise ValueError(f"seed {pair.seed}: frames differ in shape: {pair.before.shape} and {pair.after.shape}")
    height, width, _ = pair.before.shape
    entry = {
        name: np.zeros(shape, np.float32)
        for name, shape in layout(features.coarse_dim, features.fine_dim, full_frame).items()
    }

    resized = np.stack([resize(frame, *full_frame) for frame in frames])  # [2,3,H,W]
    entry["coarse"], entry["fine"] = features(resized)
    fine_height, fine_width = entry["fine"].shape[-2:]
    entry["masks"] = np.stack([resize_by_area(m, fine_width, fine_height) for m in (pair.mask_before, pair.mask_after)])

    regions = pair_regions(pair, entry, maps) if regions is None else regions
    if regions:
        count = len(regions)
        crops = np.stack([resize(f, CROP_SIZE, CROP_SIZE, region.crop) for region in regions for f in frames])
        for name, cells in zip(("glance_coarse", "glance_fine"), features(crops)):
            entry[name][:count] = cells.reshape(count, 2, *cells.shape[1:])
        size = np.array([width, height, width, height])
        entry["glance_box"][:count] = [region.crop / size for region in regions]
        entry["glance_object_box"][:count] = [region.object_box / size for region in regions]
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
    if regions and pair.captions:
        described = described_objects(meta, entry["glance_object_box"].tolist(), entry["glance_box"].tolist())
        if len(described) < len(pair.objects):
            meta["captions"] = write_captions(
                described, pair.nuisances, np.random.default_rng([pair.seed, WORDING_STREAM])
            )
    return entry, meta


def write_shard(
    source: PairSource,
    features: Features,
    seeds: range,
    out: Path,
    full_frame: tuple[int, int],
    maps: Maps | None = None,
    made: dict | None = None,
) -> bool:
    """Renders the pairs of `seeds` and writes their shard into `out`; False if that shard was complete already."""
    with new_shard(out, seeds, made) as folder:
        if folder is None:
            return False
        arrays = {
            name: open_memmap(folder / f"{name}.npy", "w+", np.float16, (len(seeds), *shape))
            for name, shape in layout(features.coarse_dim, features.fine_dim, full_frame).items()
        }
        with open(folder / "meta.jsonl", "w", encoding="utf-8") as lines:
            for row, pair in enumerate(map(source.sample, seeds)):
                entry, meta = pair_entry(pair, features, full_frame, maps)
                for name, array in arrays.items():
                    array[row] = entry[name]
                lines.write(meta_line(meta))
        for array in arrays.values():
            array.flush()
    return True


def meta_line(meta: dict) -> str:
    """The line of a pair in meta.jsonl."""
    return json.dumps(meta, ensure_ascii=False, default=_plain) + "\n"


def _plain(value):
    """NumPy numbers and arrays as JSON."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"meta holds a {type(value).__name__}, which is not JSON: {value!r}")


def frame_size(text: str) -> tuple[int, int]:
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
    parser.add_argument("--world", default="surveillance")
    parser.add_argument(
        "--data",
        type=existing_folder,
        help="folder with plates/ and sprites/ (default: SCENEDELTA_DATA), if the world needs one",
    )
    parser.add_argument("--features", type=existing_file, required=True, help="features.onnx")
    parser.add_argument(
        "--maps",
        type=existing_file,
        help="difference.onnx of an earlier bundle: region crops where its maps respond, not at the true boxes",
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=int, required=True, help="first seed")
    parser.add_argument("--count", type=int, required=True, help="pairs")
    parser.add_argument("--split", choices=("train", "heldout"), default="train")
    parser.add_argument("--scenario", default=USUAL, help="which pairs of the world (default: its usual mixture)")
    parser.add_argument("--shard-size", type=int, default=250)
    parser.add_argument(
        "--full-frame",
        type=frame_size,
        metavar="WIDTHxHEIGHT",
        help=f"size of the network's full frame, multiples of {COARSE_STRIDE} (default: the world's)",
    )
    args = parser.parse_args()
    world = load_world(args.world)
    full_frame = args.full_frame or world.full_frame

    features, maps = Features(args.features), Maps(args.maps) if args.maps else None
    source = world.open_source(args.data, args.split, args.scenario)
    made, stop = (
        made_with(args.world, args.split, full_frame, args.features, args.maps, args.scenario),
        args.start + args.count,
    )
    for first in range(args.start, stop, args.shard_size):
        seeds = range(first, min(first + args.shard_size, stop))
        began = time.perf_counter()
        written = write_shard(source, features, seeds, args.out, full_frame, maps, made)
        rate = f"{len(seeds) / (time.perf_counter() - began):.2f} pairs/s" if written else "there already"
        print(f"{seeds.start}..{seeds.stop - 1}: {rate}", flush=True)
