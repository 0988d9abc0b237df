"""Sightings: the region crops of cached pairs with what each frame shows there, to train the namer."""

import copy
import json
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.contract import IGNORE
from training.data.regions import UNKNOWN, objects_in_crops
from training.data.shards import Shards
from training.text.noun_tree import HYPERNYMS, NOTHING, ONE_CLASS, wider_noun

ARRAYS = ("glance_coarse", "glance_fine", "glance_box", "glance_object_box")


class Sightings(Shards):
    """All region crops of some cache folders, in memory: about 110 kB each.

    `arrays[name]` has one row per crop: see `training.data.cache`. `shown` holds per crop and frame the noun and the
    colour (None if it is unknown) of the thing that changed there, (NOTHING, None), or None if the crop shows a part of
    a thing beside its box.
    """

    def __init__(self, folders: list[Path]):
        self.rows: dict[str, list[np.ndarray]] = {name: [] for name in ARRAYS}
        self.shown: list[tuple[tuple[str, str | None] | None, ...]] = []
        self.models: list[list[str]] = []
        super().__init__(folders)
        self.arrays = {name: np.concatenate(rows) for name, rows in self.rows.items()}

    def take(self, shard: Path) -> None:
        lines = [json.loads(line) for line in (shard / "meta.jsonl").read_text().splitlines()]
        arrays = {name: np.load(shard / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
        taken: list[tuple[int, int]] = []
        for row, meta in enumerate(lines):
            boxes = [np.float32(arrays[name][row]).tolist() for name in ("glance_object_box", "glance_box")]
            at_box = objects_in_crops(meta, *boxes)
            for crop, (glance, things) in enumerate(zip(meta["glances"], at_box)):
                self.shown.append(shown_by(glance, things))
                self.models.append(meta["models"])
                taken.append((row, crop))
        for name, array in arrays.items():
            self.rows[name].append(np.stack([array[row, crop] for row, crop in taken]))

    def __len__(self) -> int:
        return len(self.shown)

    def only(self, chosen: np.ndarray) -> "Sightings":
        """The crops of a mask [n]."""
        part = copy.copy(self)
        rows = np.flatnonzero(chosen)
        part.arrays = {name: array[rows] for name, array in self.arrays.items()}
        part.shown, part.models = ([column[row] for row in rows] for column in (self.shown, self.models))
        return part

    def names(self, least: int) -> tuple[list[str], list[str]]:
        """NOTHING, the nouns of at least `least` sightings and the hypernyms, which stand for rarer ones; and the
        colours of at least `least` sightings."""
        seen = [one for crop in self.shown for one in crop if one]
        nouns = Counter(noun for noun, _ in seen if noun != NOTHING)
        colours = Counter(colour for _, colour in seen if colour)
        frequent = {noun for noun, count in nouns.items() if count >= least}
        return [NOTHING, *sorted(frequent | set(HYPERNYMS))], sorted(
            c for c, count in colours.items() if count >= least
        )

    def targets(self, nouns: list[str], colours: list[str]) -> tuple[Tensor, Tensor]:
        """Indices of noun and colour, [n,2] each: IGNORE if unknown, the next wider noun for one that has none."""
        noun_of, colour_of = ({word: i for i, word in enumerate(words)} for words in (nouns, colours))
        noun, colour = (torch.full((len(self), 2), IGNORE) for _ in range(2))
        for i, crop in enumerate(self.shown):
            for side, one in enumerate(crop):
                if one:
                    name = one[0]
                    while name not in noun_of:
                        name = wider_noun(name)
                    noun[i, side] = noun_of[name]
                    colour[i, side] = colour_of.get(one[1], IGNORE)
        return noun, colour

    def batch(self, indices: np.ndarray, flip: bool = False) -> tuple[Tensor, ...]:
        """The namer's arguments for these crops; flip: mirrored left to right."""
        coarse, fine, crop, box = (torch.from_numpy(np.float32(self.arrays[name][indices])) for name in ARRAYS)
        if flip:
            coarse, fine = coarse.flip(-1), fine.flip(-1)
            crop, box = (torch.cat([1 - b[:, :1] - b[:, 2:3], b[:, 1:]], 1) for b in (crop, box))
        return coarse, fine, crop, box


def shown_by(glance: dict, things: tuple[dict | None, dict | None]) -> tuple[tuple[str, str | None] | None, ...]:
    """The entry of `Sightings.shown` for a crop: its meta entry, and the things at its box (`objects_in_crops`)."""
    return tuple(
        None
        if glance[side] == UNKNOWN
        else (NOTHING, None)
        if glance[side] is None
        else (ONE_CLASS.get(thing["noun"], thing["noun"]), thing["colour"])
        if thing
        else None
        for side, thing in zip(("before", "after"), things)
    )
