"""Features of labelled things that fixed cameras saw, in the form of a cache of pairs.

    python -m training.data real --data REAL --features features.onnx --out DIR --tier A [--draws 2]

REAL holds cameras.json, boxes.ndjson, pairs.ndjson and images/ (the fields: training/data/README.md). A labelled box
becomes a pair: its frame, and another frame of the camera that differs there. The other frame has no label at that
place, so it is `unknown` and teaches nothing. Each box is drawn several times, with another error of the box and
another frame. The cameras of a tier are kept apart, so that those of the other are held out whole.

With --pairs the complete pairs of pairs.ndjson are read instead; their regions lie where the maps of --maps respond.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from PIL import Image

from training.contract import USUAL, Box, Pair
from training.data.cache import Features, Maps, layout, meta_line, pair_entry
from training.data.regions import UNKNOWN, Region, jittered, regions_at, union
from training.data.shards import made_with, new_shard
from training.inputs import existing_file, existing_folder
from training.text.lexicon import COLOURS, NOUNS
from training.text.noun_tree import NOTHING
from training.world import load_world

# Nouns of the labels -> nouns of the lexicon. A noun that is in neither is left out.
NOUN_OF = {
    **dict.fromkeys(("nothing", "light or reflection", "shadow"), NOTHING),
    "group of people": "person",
    **dict.fromkeys(("lorry", "pickup"), "truck"),
    "motorcyclist": "motorcycle",
    "other animal": "animal",
    "sign or cone": "object",
    "table": "object",
    "bin": "trash can",
}
COLOUR_OF = {"gray": "grey", "navy": "dark blue", "maroon": "dark red"}
DIFFERS = 0.04  # mean absolute difference of RGB (0..1) inside a box, from which the other frame shows something else
ACTIONS = {"appear": "appeared", "disappear": "disappeared", "move": "moved"}


def noun_of(label: str) -> str | None:
    """The noun of the lexicon, NOTHING, or None for a label that stands for none."""
    noun = NOUN_OF.get(label, label)
    return noun if noun == NOTHING or noun in NOUNS else None


def colour_of(label: dict) -> str | None:
    """The first colour, of a person that of the upper clothes; None if the lexicon has no such word."""
    words = [COLOUR_OF.get(word, word) for word in (label.get("top") or label["colours"])]
    return words[0] if words and words[0] in COLOURS else None


def thing_of(label: dict, noun: str, action: str, before: list[Box], after: list[Box]) -> dict:
    """An object of a `Pair`."""
    around = lambda boxes: list(around_all(boxes)) if boxes else None
    return {
        **{"noun": noun, "hypernym": NOUNS[noun][1], "colour": colour_of(label), "action": action},
        **{"places": [], "where": None, "count": label["count"] or 4},
        **{"boxes_before": before, "boxes_after": after},
        **{"box_before": around(before), "box_after": around(after)},
    }


def around_all(boxes: list[Box]) -> Box:
    """The smallest box around all of them."""
    first, *others = (tuple(map(float, box)) for box in boxes)
    for box in others:
        first = union(first, box)
    return first


class Frames:
    """The frames of a folder, decoded once each while they are used in a row."""

    def __init__(self, root: Path, most: int = 40):
        self.root, self.most, self.kept = root, most, {}

    def __call__(self, file: str) -> np.ndarray:
        if file not in self.kept:
            if len(self.kept) >= self.most:
                self.kept.pop(next(iter(self.kept)))
            self.kept[file] = np.asarray(Image.open(self.root / file).convert("RGB"))
        return self.kept[file]


def made_pair(before: np.ndarray, after: np.ndarray, objects: list[dict], camera: str, number: int, kind: str) -> Pair:
    none = np.zeros((before.shape[0] // 8, before.shape[1] // 8), np.float32)
    return Pair(before, after, kind, objects, none, none, [], [], camera, [camera], number)


def box_pairs(root: Path, cameras: set[str], draws: int) -> Iterator[tuple[Pair, list[Region]]]:
    """The labelled boxes, each drawn at most `draws` times with another frame of its camera."""
    boxes = [json.loads(line) for line in (root / "boxes.ndjson").read_text().splitlines()]
    files = defaultdict(set)
    for box in boxes:
        files[box["camera"]].add(box["file"])
    frames, number = Frames(root), 0
    for box in sorted((box for box in boxes if box["camera"] in cameras), key=lambda box: (box["camera"], box["file"])):
        noun = noun_of(box["noun"])
        if noun is None:
            continue
        rng = np.random.default_rng([34, int(box["id"][1:])])
        shown = frames(box["file"])
        height, width, _ = shown.shape
        others = sorted(files[box["camera"]] - {box["file"]})
        drawn = 0
        for other in rng.permutation(others):
            if drawn == draws:
                break
            hidden = frames(str(other))
            if hidden.shape != shown.shape or not _differs(shown, hidden, box["box"]):
                continue
            is_after = bool(rng.random() < 0.5)
            place = jittered(tuple(map(float, box["box"])), width, height, rng)
            label = tuple(map(float, box["box"]))
            sides = ([], [label]) if is_after else ([label], [])
            objects = (
                [] if noun == NOTHING else [thing_of(box, noun, "appeared" if is_after else "disappeared", *sides)]
            )
            [region] = regions_at([place], objects, width, height)
            region = _unlabelled(region, "before" if is_after else "after")
            kind = ("appear" if is_after else "disappear") if objects else "none"
            pair = (hidden, shown) if is_after else (shown, hidden)
            yield made_pair(*pair, objects, box["camera"], number, kind), [region]
            number, drawn = number + 1, drawn + 1


def _unlabelled(region: Region, side: str) -> Region:
    """The region with an unknown content of one frame."""
    before, after = (UNKNOWN if name == side else getattr(region, name) for name in ("before", "after"))
    return Region(region.object_box, region.crop, before, after)


def _differs(a: np.ndarray, b: np.ndarray, box: list[float]) -> bool:
    x, y, width, height = (round(value) for value in box)
    part = (slice(max(y, 0), y + height), slice(max(x, 0), x + width))
    return float(np.abs(a[part].astype(np.float32) - b[part]).mean()) / 255 >= DIFFERS


def complete_pairs(root: Path, cameras: set[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The complete pairs of pairs.ndjson whose objects all have a noun of the lexicon, with their line numbers."""
    for number, line in enumerate((root / "pairs.ndjson").read_text().splitlines()):
        pair = json.loads(line)
        nouns = [noun_of(label["noun"]) for label in pair["objects"]]
        if pair["camera"] in cameras and pair["complete"] and not {None, NOTHING} & set(nouns):
            yield number, pair


def read_pair(frames: Frames, number: int, pair: dict[str, Any]) -> Pair | None:
    """A pair of `complete_pairs` with its frames; None if their sizes differ."""
    before, after = frames(pair["before"]), frames(pair["after"])
    if before.shape != after.shape:
        return None
    objects = [
        thing_of(label, noun_of(label["noun"]), ACTIONS[label["change"]], label["boxes_before"], label["boxes_after"])
        for label in pair["objects"]
    ]
    return made_pair(before, after, objects, pair["camera"], number, pair["kind"])


def real_pairs(root: Path, cameras: set[str]) -> Iterator[tuple[Pair, None]]:
    frames = Frames(root)
    for number, line in complete_pairs(root, cameras):
        pair = read_pair(frames, number, line)
        if pair is not None:
            yield pair, None


def write_shards(
    entries: Iterator[tuple[Pair, list[Region] | None]],
    first: int,
    features: Features,
    out: Path,
    full_frame: tuple[int, int],
    maps: Maps | None,
    made: dict,
    size: int = 250,
) -> int:
    """Writes shards of at most `size` pairs, numbered from `first`. Returns the number of pairs."""
    rows: list[tuple[dict[str, np.ndarray], dict]] = []
    count = 0

    def flush() -> None:
        with new_shard(out, range(first + count - len(rows), first + count), made) as folder:
            if folder is not None:
                for name, shape in layout(features.coarse_dim, features.fine_dim, full_frame).items():
                    array = open_memmap(folder / f"{name}.npy", "w+", np.float16, (len(rows), *shape))
                    array[:] = np.stack([entry[name] for entry, _ in rows])
                    array.flush()
                (folder / "meta.jsonl").write_text("".join(meta_line(meta) for _, meta in rows), encoding="utf-8")
        rows.clear()

    for pair, regions in entries:
        rows.append(pair_entry(pair, features, full_frame, maps, regions))
        count += 1
        if len(rows) == size:
            flush()
            print(f"{count} pairs", flush=True)
    if rows:
        flush()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=existing_folder, required=True)
    parser.add_argument("--features", type=existing_file, required=True, help="features.onnx")
    parser.add_argument("--maps", type=existing_file, help="difference.onnx: regions of complete pairs")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tier", choices=("A", "B"), required=True)
    parser.add_argument("--draws", type=int, default=2, help="of each box")
    parser.add_argument("--pairs", action="store_true", help="the complete pairs instead of the boxes")
    args = parser.parse_args()
    listed = json.loads((args.data / "cameras.json").read_text())
    cameras = {name for name, camera in listed.items() if camera["tier"] == args.tier}
    world = load_world("surveillance")
    features, maps = Features(args.features), Maps(args.maps) if args.maps else None
    made = made_with("surveillance", f"real, tier {args.tier}", world.full_frame, args.features, args.maps, USUAL)
    source = real_pairs(args.data, cameras) if args.pairs else box_pairs(args.data, cameras, args.draws)
    print(write_shards(source, 0, features, args.out, world.full_frame, maps, made), "pairs")


if __name__ == "__main__":
    main()
