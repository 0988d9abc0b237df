"""Pairs of a family cache as the frozen difference graph of a bundle sees them, to train its search vectors.

The graph is run once per pair. A shard gets a folder named by the graph's hash, with float16 arrays of its n pairs:
  memory [n,N,W]   kind_logits [n,K]   maps [n,2,h,w] (before, after)
"""

import os
import shutil
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from research.clevr.family import VIEWS
from research.clevr.family_cache import FamilyCache, pairs_of
from training.contract import DIFFERENCE_IN
from training.inputs import open_graph, read_json, sha256

GRAPH_OUT = ("memory", "kind_logits", "map_before", "map_after")
ARRAYS = ("memory", "kind_logits", "maps")


class FrozenDifference:
    """The difference graph of a bundle, on one thread. @raises SystemExit if the bundle has none."""

    def __init__(self, bundle: Path):
        path = bundle / "difference.onnx"
        self.graph = open_graph(path, *GRAPH_OUT)
        self.grid = tuple(read_json(bundle / "manifest.json", "attention")["attention"]["grid"])  # of the memory
        self.folder = f"evidence-{sha256(path)[:12]}"

    def __call__(self, coarse: np.ndarray, fine: np.ndarray) -> dict[str, np.ndarray]:
        """coarse [B,2,Cc,r,c] and fine [B,2,Cf,2r,2c] -> ARRAYS of B pairs."""
        frames = (features[:, side] for side in (0, 1) for features in (coarse, fine))
        found = dict(zip(GRAPH_OUT, self.graph.run(GRAPH_OUT, dict(zip(DIFFERENCE_IN, frames)))))
        maps = np.stack([found["map_before"], found["map_after"]], 1)
        return {"memory": found["memory"], "kind_logits": found["kind_logits"], "maps": maps}


def derive(shard: Path, graph: FrozenDifference) -> Path:
    """The shard's folder of this graph; it is made if it is missing."""
    folder = shard / graph.folder
    if folder.exists():
        return folder
    coarse, fine = (np.load(shard / f"{name}.npy", mmap_mode="r") for name in ("coarse", "fine"))
    views = np.array(pairs_of(forward=False))  # [pairs,2]
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ARRAYS}
    for first in range(0, len(coarse), VIEWS):
        frames = (np.float32(features[first : first + VIEWS])[views] for features in (coarse, fine))
        for name, values in graph(*frames).items():
            rows[name].append(values.astype(np.float16))
    partial = shard / f".{graph.folder}.{os.getpid()}"
    partial.mkdir()
    for name, values in rows.items():
        np.save(partial / f"{name}.npy", np.concatenate(values))
    try:
        partial.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(partial)
    return folder


class FamilyEvidence(FamilyCache):
    """Random access to the evidence of the pairs of families, in the order of `FamilyCache`."""

    def __init__(self, folders: list[Path], bundle: Path):
        self.graph = FrozenDifference(bundle)
        self.found: list[dict[str, np.ndarray]] = []  # per shard the arrays of its pairs
        self.rows: list[tuple[int, int]] = []  # per pair: shard, row of its arrays
        super().__init__(folders)

    def take(self, shard: Path) -> None:
        super().take(shard)
        folder = derive(shard, self.graph)
        self.found.append({name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS})
        self.rows += [(len(self.found) - 1, row) for row in range(len(self.found[-1]["memory"]))]

    def evidence(self, indices: list[int]) -> tuple[Tensor, ...]:
        """memory [B,N,W], kind_logits [B,K] and maps [B,2,h,w] of some pairs."""
        rows = [self.rows[i] for i in indices]
        stacked = (np.stack([self.found[shard][name][row] for shard, row in rows]) for name in ARRAYS)
        return tuple(torch.from_numpy(values.astype(np.float32)) for values in stacked)
