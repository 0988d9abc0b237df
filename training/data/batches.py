"""Cached pairs as training batches: the stored arrays, and targets from each pair's line in meta.jsonl."""

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.contract import CROP_SIDES, END, IGNORE, KINDS, NUISANCES, PAD, ROLES, SPECIALS, START, UNK
from training.data.regions import objects_in_crops
from training.data.shards import Shards
from training.inputs import read_json
from training.net.config import ModelConfig
from training.net.matching import matching_evidence
from training.world import World

ARRAYS = (
    "coarse",
    "fine",
    "glance_coarse",
    "glance_fine",
    "glance_box",
    "glance_object_box",
    "glance_mask",
    "masks",
    "evidence",
)
ROLE_OF = {"appeared": "came or went", "disappeared": "came or went", "moved": "moved", "replaced": "replaced"}


@dataclass
class Labels:
    """The classes of the network's heads. Rare nouns and colours have none; the words teach them."""

    vocabulary: list[str]
    nouns: list[str]
    colours: list[str]
    event_words: dict[str, list[str]] = field(default_factory=dict)  # see World
    event_needs: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def from_meta(cls, meta: list[dict], world: World, least: int = 30) -> "Labels":
        words = sorted({word for m in meta for caption in m["captions"] for word in caption.split()})
        seen = [g[side] for m in meta for g in m["glances"] for side in ("before", "after") if g[side]]
        nouns = Counter(o["noun"] for o in seen)
        colours = Counter(o["colour"] for o in seen if o["colour"])
        return cls(
            [*SPECIALS, *words],
            sorted(n for n, count in nouns.items() if count >= least),
            sorted(c for c, count in colours.items() if count >= least),
            **event_tables(world),
        )

    @classmethod
    def read(cls, path: Path, world: World) -> "Labels":
        """The labels of an earlier run, to keep its vocabulary; the tables of events are the world's."""
        names = ("vocabulary", "nouns", "colours")
        saved = read_json(path, *names)
        return cls(*(saved[name] for name in names), **event_tables(world))


def event_tables(world: World) -> dict[str, dict[str, list[str]]]:
    tables = {"event_words": world.event_words, "event_needs": world.event_needs}
    return {name: {key: list(words) for key, words in table.items()} for name, table in tables.items()}


def derive_evidence(shard: Path, batch: int = 50) -> None:
    """Adds evidence.npy [n,2,EVIDENCE_CHANNELS,h,w] to a shard: it has no parameters, so it is computed only once."""
    target = shard / "evidence.npy"
    if target.exists():
        return
    coarse, fine = (np.load(shard / f"{name}.npy", mmap_mode="r") for name in ("coarse", "fine"))
    parts = []
    for start in range(0, len(coarse), batch):
        c, f = (torch.from_numpy(x[start : start + batch].astype(np.float32)) for x in (coarse, fine))
        parts.append(matching_evidence(f[:, 0], c[:, 0], f[:, 1], c[:, 1]).numpy().astype(np.float16))
    partial = shard / f".evidence.{os.getpid()}.npy"  # another training may write it at the same time
    np.save(partial, np.concatenate(parts))
    os.replace(partial, target)


class PairCache(Shards):
    """Random access to the pairs that training.data.cache wrote."""

    def __init__(self, folders: list[Path], only: list[str] | None = None):
        self.shards: list[dict[str, np.ndarray]] = []
        self.meta: list[dict] = []
        self.where: list[tuple[int, int]] = []
        super().__init__(folders, only)

    def take(self, shard: Path) -> None:
        derive_evidence(shard)
        arrays = {name: np.load(shard / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
        lines = [json.loads(line) for line in (shard / "meta.jsonl").read_text().splitlines()]
        if len(lines) != len(arrays["coarse"]):
            raise SystemExit(f"{shard}: {len(lines)} lines in meta.jsonl, {len(arrays['coarse'])} pairs in coarse.npy")
        self.where += [(len(self.shards), row) for row in range(len(lines))]
        self.shards.append(arrays)
        self.meta += lines

    def __len__(self) -> int:
        return len(self.where)

    def arrays(self, indices: list[int]) -> dict[str, Tensor]:
        """The stored arrays, float16."""
        out = {}
        for name in ARRAYS:
            stacked = np.stack([self.shards[s][name][row] for s, row in (self.where[i] for i in indices)])
            out[name] = torch.from_numpy(stacked)
        return out


class Batches:
    """Batches with targets. `rng` chooses one of a pair's captions per batch."""

    def __init__(self, cache: Shards, labels: Labels, config: ModelConfig):
        self.cache, self.config = cache, config
        found = tuple(cache.shards[0]["coarse"].shape[-2:])
        if found != tuple(config.grid):
            raise SystemExit(
                f"the cache holds full frames of {found} cells, the config says {tuple(config.grid)} (rows, columns)"
            )
        self.word = {w: i for i, w in enumerate(labels.vocabulary)}
        self.noun = {n: i for i, n in enumerate(labels.nouns)}
        self.colour = {c: i for i, c in enumerate(labels.colours)}

    def encode(self, caption: str) -> list[int]:
        """START w1 .. wn END, cut to the model's length, padded: T + 1 ids."""
        T = self.config.max_length
        ids = [START, *(self.word.get(w, UNK) for w in caption.split())][:T] + [END]
        return ids + [PAD] * (T + 1 - len(ids))

    def batch(
        self, indices: list[int], rng: np.random.Generator, device: torch.device | str = "cpu"
    ) -> dict[str, Tensor]:
        """The cache's arrays [B,...] with ids [B,T+1], kind [B], changed [B], nuisances [B,Q] and the crops' targets
        (`crop_targets`)."""
        b = self.cache.arrays(indices)
        metas = [self.cache.meta[i] for i in indices]
        b |= self.crop_targets(metas, b)
        b |= self.pair_targets(metas, rng)
        moved = {name: value.to(device) for name, value in b.items()}  # as stored: half of the bytes
        return {name: value.float() if value.dtype == torch.float16 else value for name, value in moved.items()}

    def pair_targets(self, metas: list[dict], rng: np.random.Generator) -> dict[str, Tensor]:
        """ids [B,T+1], kind [B], changed [B] and nuisances [B,Q]."""
        kind = torch.tensor([KINDS.index(m["kind"]) for m in metas])
        return {
            "ids": torch.tensor([self.encode(m["captions"][rng.integers(len(m["captions"]))]) for m in metas]),
            "kind": kind,
            "changed": (kind != 0).float(),
            "nuisances": torch.tensor([[float(n in m["nuisances"]) for n in NUISANCES] for m in metas]),
        }

    def crop_targets(self, metas: list[dict], arrays: dict[str, Tensor]) -> dict[str, Tensor]:
        """Classes of what each crop shows, IGNORE if unknown: side [B,R], noun, colour, role [B,R,2] (before, after),
        and same [B,R,R]: 1 if the object of crop i before moved to crop j."""
        B, R = len(metas), self.config.regions
        side = torch.full((B, R), IGNORE)
        noun, colour = torch.full((B, R, 2), IGNORE), torch.full((B, R, 2), IGNORE)
        role = torch.zeros((B, R, 2), dtype=torch.long)
        same = torch.full((B, R, R), IGNORE)
        for i, m in enumerate(metas):
            if not m["glances"]:  # CLEVR families have no crops, nor their arrays
                continue
            boxes = (arrays[name][i].tolist() for name in ("glance_object_box", "glance_box"))
            objects = objects_in_crops(m, *boxes)[:R]
            for r, (crop, shown) in enumerate(zip(m["glances"], objects)):
                side[i, r] = CROP_SIDES.index(crop["side"])
                for s, (name, thing) in enumerate(zip(("before", "after"), shown)):
                    role[i, r, s] = ROLES.index(ROLE_OF[thing["action"]]) if thing else IGNORE if crop[name] else 0
                    if crop[name]:
                        noun[i, r, s] = self.noun.get(crop[name]["noun"], IGNORE)
                        colour[i, r, s] = self.colour.get(crop[name]["colour"], IGNORE)
                earlier = shown[0]
                for q, (_, later) in enumerate(objects):
                    if earlier and later:
                        same[i, r, q] = int(earlier is later and earlier["action"] == "moved")
        return {"side": side, "noun": noun, "colour": colour, "role": role, "same": same}
