"""Shards of a cache: complete folders of arrays, and what each was made with.

A cache folder holds one folder per shard: float16 .npy files, meta.jsonl and made.json. A shard is renamed into place
when it is complete, so writing may stop and resume at any time, and several processes may fill one cache.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from training.contract import USUAL
from training.inputs import read_json, refuse_other, sha256

if TYPE_CHECKING:  # writing a cache does without torch
    from torch import Tensor, nn

MADE = "made.json"  # what made a shard; shards of old caches have none


def made_with(
    world: str,
    split: str,
    full_frame: tuple[int, int],
    features: Path,
    maps: Path | None = None,
    scenario: str = USUAL,
) -> dict:
    """The content of made.json: everything, besides its seeds, that determines the content of a shard."""
    return {
        "world": world,
        "split": split,
        "look": list(full_frame),
        "features": sha256(features),
        "maps": sha256(maps) if maps else None,
        "scenario": scenario,
    }


@contextmanager
def new_shard(out: Path, numbers: range, made: dict | None = None) -> Iterator[Path | None]:
    """A folder to fill, which becomes the shard of `numbers` unless the block raises; None if that shard exists.

    made: see `made_with`. @raises SystemExit if the cache holds a shard that was made with something else.
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


class Shards:
    """The complete shards of some cache folders, in the order in which they were taken in. Subclasses read the pairs.

    `refresh` takes in shards completed since. `known` holds the shards by a name that is equal in every process: number
    and name of the cache folder, and the shard. `only` (such names) takes in those alone and in that order, so that a
    pair has the number that it had in an earlier process. `meta` holds a dict per pair.
    """

    meta: list[dict]

    def __init__(self, folders: list[Path], only: list[str] | None = None):
        self.folders: list[Path] = folders
        self.known: dict[str, Path] = {}
        self.made: dict = {}  # world, features and look, which all shards that state them share
        for name, shard in self._found(only).items():
            self._take(name, shard)
        if not self.known:
            raise SystemExit(f"no complete shard in {', '.join(map(str, folders))}")

    def refresh(self) -> None:
        for name, shard in self._found(None).items():
            if name not in self.known:
                self._take(name, shard)

    def take(self, shard: Path) -> None:
        """Reads a shard. @raises FileNotFoundError if it lacks a file."""
        raise NotImplementedError

    def arrays(self, indices: list[int]) -> dict[str, Tensor]:
        """The stored arrays of some pairs, as float32 [B,...]."""
        raise NotImplementedError

    def prepare_step(self, indices: list[int], difference: nn.Module, frozen_tokens: bool) -> list[int]:
        """The pairs that a training step on `indices` takes.

        frozen_tokens: the step leaves the network's tokens as they are, so a cache may compute each frame's tokens
        once.
        """
        return indices

    def _take(self, name: str, shard: Path) -> None:
        self.known[name] = shard
        if (shard / MADE).exists():
            made = read_json(shard / MADE)
            refuse_other(made, self.made, shard, "train on what was made alike")
            self.made |= {part: made[part] for part in ("world", "features", "look") if part in made}
        try:
            self.take(shard)
        except FileNotFoundError as reason:
            missing = Path(reason.filename).name
            raise SystemExit(f"{shard}: lacks {missing}, expected a shard of training.data.cache") from None

    def _found(self, only: list[str] | None) -> dict[str, Path]:
        found = {
            f"{number} {folder.resolve().name}/{shard.name}": shard
            for number, folder in enumerate(self.folders, 1)
            for shard in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
        }
        missing = [name for name in only or () if name not in found]
        if missing:
            raise SystemExit(
                f"--cache: lacks {len(missing)} of the {len(only)} shards that this run began with, "
                f"the first is {missing[0]} (number and name of the folder, shard)"
            )
        return {name: found[name] for name in only} if only else found
