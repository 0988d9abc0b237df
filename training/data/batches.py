"""Cached pairs as batches. A cache folder is what cache.py wrote; nothing here renders or looks at a picture."""

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from training.data.regions import glance_objects
from training.inputs import read_json, refuse_other
from training.net.config import CROP_SIDES, END, KINDS, NUISANCES, PAD, ROLES, START, UNK, ModelConfig
from training.net.matching import matching_evidence
from training.world import World

SPECIALS = ("<pad>", "<unk>", "<start>", "<end>")
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
IGNORE = -100  # cross-entropy's own mark for "no target here"


@dataclass
class Labels:
    """What the heads name. Rare nouns and colours have no class of their own; the words of the captions still teach them."""

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
        """Of an earlier run, whose vocabulary is kept. The tables of events are the world's: older runs have none."""
        names = ("vocabulary", "nouns", "colours")
        saved = read_json(path, *names)
        return cls(*(saved[name] for name in names), **event_tables(world))


def event_tables(world: World) -> dict[str, dict[str, list[str]]]:
    tables = {"event_words": world.event_words, "event_needs": world.event_needs}
    return {name: {key: list(words) for key, words in table.items()} for name, table in tables.items()}


def derive_evidence(shard: Path, batch: int = 50) -> None:
    """Adds evidence.npy [n,2,EVIDENCE_CHANNELS,h,w] to a shard: parameter-free, so computed once and not at every visit."""
    target = shard / "evidence.npy"
    if target.exists():
        return
    coarse, fine = (np.load(shard / f"{name}.npy", mmap_mode="r") for name in ("coarse", "fine"))
    parts = []
    for start in range(0, len(coarse), batch):
        c, f = (torch.from_numpy(x[start : start + batch].astype(np.float32)) for x in (coarse, fine))
        parts.append(matching_evidence(f[:, 0], c[:, 0], f[:, 1], c[:, 1]).numpy().astype(np.float16))
    partial = shard / f".evidence.{os.getpid()}.npy"  # another training may be at it
    np.save(partial, np.concatenate(parts))
    os.replace(partial, target)


class Shards:
    """The complete shards of some folders, in the order in which they were taken in. A kind of cache says in `take` what it reads of one.

    `refresh` takes in what was completed since. `known` holds them by a name that another process gives them too: which of the folders, and
    the shard in it. `only` (such names) takes in those and in that order, so that a pair has the number that it had in an earlier process.
    """

    def __init__(self, folders: list[Path], only: list[str] | None = None):
        self.folders, self.known, self.made = (
            folders,
            {},
            {},
        )  # made: world, features and look of the shards that tell (cache.made_with)
        for name, shard in self._found(only).items():
            self._take(name, shard)
        if not self.known:
            raise SystemExit(f"no complete shard in {', '.join(map(str, folders))}")

    def refresh(self) -> None:
        for name, shard in self._found(None).items():
            if name not in self.known:
                self._take(name, shard)

    def take(self, shard: Path) -> None:
        raise NotImplementedError

    def prepare_step(self, indices: list[int], difference: nn.Module, frozen_tokens: bool) -> list[int]:
        """The pairs that a training step on `indices` takes. frozen_tokens: the step leaves the network's tokens as they
        are, so a cache may compute each frame's tokens once."""
        return indices

    def _take(self, name: str, shard: Path) -> None:
        self.known[name] = shard
        if (shard / "made.json").exists():
            made = read_json(shard / "made.json")
            refuse_other(made, self.made, shard, "train on what was made alike")
            self.made |= {part: made[part] for part in ("world", "features", "look") if part in made}
        try:
            self.take(shard)
        except FileNotFoundError as reason:
            raise SystemExit(
                f"{shard}: lacks {Path(reason.filename).name}, expected a shard of training.data.cache"
            ) from None

    def _found(self, only: list[str] | None) -> dict[str, Path]:
        there = {
            f"{number} {folder.resolve().name}/{shard.name}": shard
            for number, folder in enumerate(self.folders, 1)
            for shard in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
        }
        missing = [name for name in only or () if name not in there]
        if missing:
            raise SystemExit(
                f"--cache: lacks {len(missing)} of the {len(only)} shards that this run began with, the first is {missing[0]} (number and name of the folder, shard)"
            )
        return {name: there[name] for name in only} if only else there


class PairCache(Shards):
    """Random access to the pairs of surveillance shards."""

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
        out = {}
        for name in ARRAYS:
            stacked = np.stack([self.shards[s][name][row] for s, row in (self.where[i] for i in indices)])
            out[name] = torch.from_numpy(stacked.astype(np.float32))
        return out


class Batches:
    """Batches with targets. `rng` chooses one of a pair's captions a visit."""

    def __init__(self, cache: PairCache, labels: Labels, config: ModelConfig):
        self.cache, self.config = cache, config
        found = tuple(cache.shards[0]["coarse"].shape[-2:])
        if found != tuple(config.grid):
            raise SystemExit(
                f"the cache holds whole looks of {found} cells, the config says {tuple(config.grid)} (rows, columns)"
            )
        self.word = {w: i for i, w in enumerate(labels.vocabulary)}
        self.noun = {n: i for i, n in enumerate(labels.nouns)}
        self.colour = {c: i for i, c in enumerate(labels.colours)}

    def encode(self, caption: str) -> list[int]:
        """START w1 .. wn END, cut to the model's length, padded: T + 1 ids."""
        T = self.config.max_length
        ids = [START, *(self.word.get(w, UNK) for w in caption.split())][:T] + [END]
        return ids + [PAD] * (T + 1 - len(ids))

    def batch(self, indices: list[int], rng: np.random.Generator) -> dict[str, Tensor]:
        b = self.cache.arrays(indices)
        metas = [self.cache.meta[i] for i in indices]
        R = self.config.regions
        side = torch.full((len(metas), R), IGNORE)
        noun = torch.full((len(metas), R, 2), IGNORE)
        colour = torch.full((len(metas), R, 2), IGNORE)
        role = torch.zeros((len(metas), R, 2), dtype=torch.long)
        same = torch.full((len(metas), R, R), IGNORE)
        for i, m in enumerate(metas):
            if not m["glances"]:  # of CLEVR there are none, nor their arrays
                continue
            things = glance_objects(m, b["glance_object_box"][i].tolist(), b["glance_box"][i].tolist())[:R]
            for r, (glance, shown) in enumerate(zip(m["glances"], things)):
                side[i, r] = CROP_SIDES.index(glance["side"])
                for s, (name, thing) in enumerate(zip(("before", "after"), shown)):
                    role[i, r, s] = ROLES.index(ROLE_OF[thing["action"]]) if thing else IGNORE if glance[name] else 0
                    if glance[name]:
                        noun[i, r, s] = self.noun.get(glance[name]["noun"], IGNORE)
                        colour[i, r, s] = self.colour.get(glance[name]["colour"], IGNORE)
                earlier = shown[0]
                for q, (_, later) in enumerate(things):
                    if earlier and later:
                        same[i, r, q] = int(earlier is later and earlier["action"] == "moved")
        b["ids"] = torch.tensor([self.encode(m["captions"][rng.integers(len(m["captions"]))]) for m in metas])
        b["kind"] = torch.tensor([KINDS.index(m["kind"]) for m in metas])
        b["changed"] = (b["kind"] != 0).float()
        b["nuisances"] = torch.tensor([[float(n in m["nuisances"]) for n in NUISANCES] for m in metas])
        b["side"], b["noun"], b["colour"], b["role"], b["same"] = side, noun, colour, role, same
        return b


def crop_inputs(b: dict[str, Tensor]) -> tuple[Tensor, ...]:
    return b["glance_coarse"], b["glance_fine"], b["glance_box"], b["glance_object_box"], b["glance_mask"]
