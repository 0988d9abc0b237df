"""Cached pairs as a bundle's frozen graphs see them: the training data of the truth check and the search vectors.

The graphs are run once per pair. A shard gets a folder named by the graphs' hash, with float16 arrays of n pairs:
  tokens [n,S,W]   kind_logits [n,K]   noun_logits [n,R,2,nouns]   colour_logits [n,R,2,colours]   (the evidence graph)
  maps [n,2,h,w]   of difference.onnx (before, after)
and words.json: per pair what the decoder writes about each region crop alone, as it is served.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor

from training.contract import CROP_IN, DIFFERENCE_IN
from training.data.evidence_graph import EVIDENCE_OUT, evidence_graph
from training.data.regions import described_objects, objects_in_crops
from training.data.shards import Shards
from training.inputs import open_graph, read_json, sha256
from training.net.evidence_tokens import EvidenceSizes
from training.text.truth import Unit, units_of

CROP_ARRAYS = ("glance_coarse", "glance_fine", "glance_box", "glance_object_box", "glance_mask")
ARRAYS = (*EVIDENCE_OUT, "maps")
KEPT = ("glance_box", "glance_object_box", "glance_mask")  # of the cache itself


def session_of(graph: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """A graph in memory, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])


class FrozenGraphs:
    """The graphs of a bundle that a pair passes through, on one thread."""

    def __init__(self, bundle: Path):
        manifest = read_json(bundle / "manifest.json", "vocabulary", "graphs", "names")
        self.vocabulary = manifest["vocabulary"]
        self.difference = open_graph(bundle / "difference.onnx", "memory", "kind_logits", "map_before", "map_after")
        self.caption = open_graph(bundle / "caption.onnx", "ids", "length")
        self.names = {"noun": manifest["names"]["nouns"], "colour": manifest["names"]["colours"]}
        self.evidence = session_of(evidence_graph(bundle))
        parts = "".join(sha256(bundle / f"{name}.onnx") for name in ("difference", "caption", "names"))
        self.folder = "evidence-" + hashlib.sha256(parts.encode()).hexdigest()[:12]

    def __call__(self, frames: tuple[np.ndarray, ...], crops: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
        """frames: coarse [2,C,h,w] and fine of one pair; crops: CROP_ARRAYS of the pair -> ARRAYS, without n."""
        feed = dict(zip(DIFFERENCE_IN, (x[side : side + 1] for side in (0, 1) for x in frames)))
        names = ["memory", "kind_logits", "map_before", "map_after"]
        memory, kind, *maps = self.difference.run(names, feed)
        feed = {"memory": memory, "look_kind_logits": kind} | dict(zip(CROP_IN, (x[None] for x in crops)))
        found = dict(zip(EVIDENCE_OUT, (x[0] for x in self.evidence.run(EVIDENCE_OUT, feed))))
        return found | {"maps": np.concatenate(maps), "memory": memory, "look_kind_logits": kind}

    def words(self, found: dict[str, np.ndarray], crops: tuple[np.ndarray, ...]) -> list[str]:
        """The decoder's words about each crop alone."""
        count = int(crops[-1].sum())
        if count == 0:
            return []
        alone = [np.zeros((count, *x.shape), np.float32) for x in crops]
        for slot, x in zip(alone[:-1], crops):
            slot[:, 0] = x[:count]
        alone[-1][:, 0] = 1
        feed = {name: found[name].repeat(count, 0) for name in ("memory", "look_kind_logits")}
        ids, lengths = self.caption.run(["ids", "length"], feed | dict(zip(CROP_IN, alone)))
        return [" ".join(self.vocabulary[i] for i in row[:length]) for row, length in zip(ids, lengths)]


def derive(shard: Path, graphs: FrozenGraphs) -> Path:
    """The shard's folder of these graphs; it is made if it is missing. @raises FileNotFoundError if a file lacks."""
    folder = shard / graphs.folder
    if folder.exists():
        return folder
    arrays = {name: np.load(shard / f"{name}.npy", mmap_mode="r") for name in ("coarse", "fine", *CROP_ARRAYS)}
    rows, words = {name: [] for name in ARRAYS}, []
    for row in range(len(arrays["coarse"])):
        pair = {name: np.float32(array[row]) for name, array in arrays.items()}
        crops = tuple(pair[name] for name in CROP_ARRAYS)
        found = graphs((pair["coarse"], pair["fine"]), crops)
        for name in ARRAYS:
            rows[name].append(found[name].astype(np.float16))
        words.append(graphs.words(found, crops))
    partial = shard / f".{graphs.folder}.{os.getpid()}"
    partial.mkdir()
    for name, values in rows.items():
        np.save(partial / f"{name}.npy", np.stack(values))
    (partial / "words.json").write_text(json.dumps(words))
    try:
        partial.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(partial)
    return folder


def told_units(meta: dict, described: list[dict], boxes: list, crops: list) -> list[tuple[Unit, list[int]]]:
    """The units of the described objects with the crops that are at one of their objects."""
    at = objects_in_crops(meta, boxes, crops)
    return [
        (unit, [crop for crop, shown in enumerate(at) if any(thing is one for thing in unit for one in shown)])
        for unit in units_of(described)
    ]


class Evidence(Shards):
    """Random access to the evidence of cached pairs; `meta` as in the cache, with `words`, `described` (the objects
    that a region crop is at) and `told` (see `told_units`)."""

    def __init__(self, folders: list[Path], bundle: Path):
        self.graphs = FrozenGraphs(bundle)
        self.shards: list[dict[str, np.ndarray]] = []
        self.meta: list[dict] = []
        self.where: list[tuple[int, int]] = []
        super().__init__(folders)

    def take(self, shard: Path) -> None:
        folder = derive(shard, self.graphs)
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
        arrays |= {name: np.load(shard / f"{name}.npy") for name in KEPT}
        lines = [json.loads(line) for line in (shard / "meta.jsonl").read_text().splitlines()]
        words = json.loads((folder / "words.json").read_text())
        boxes, crops = (np.float32(arrays[name]).tolist() for name in ("glance_object_box", "glance_box"))
        for meta, said, *regions in zip(lines, words, boxes, crops, strict=True):
            described = described_objects(meta, *regions)
            self.meta.append(
                meta | {"words": said, "described": described, "told": told_units(meta, described, *regions)}
            )
        self.where += [(len(self.shards), row) for row in range(len(lines))]
        self.shards.append(arrays)

    def __len__(self) -> int:
        return len(self.where)

    def arrays(self, indices: list[int]) -> dict[str, Tensor]:
        """ARRAYS and KEPT of some pairs."""
        rows = [self.where[i] for i in indices]
        return {
            name: torch.from_numpy(np.stack([self.shards[s][name][row] for s, row in rows]).astype(np.float32))
            for name in (*ARRAYS, *KEPT)
        }


def evidence_inputs(b: dict[str, Tensor], blind: bool = False) -> tuple[Tensor, ...]:
    """The arguments of `EvidenceTokens` out of `Evidence.arrays`; blind: zeros."""
    names = ("tokens", "kind_logits", "noun_logits", "colour_logits", "maps", "glance_box", "glance_object_box")
    inputs = (*(b[name] for name in names), b["glance_mask"])
    return tuple(torch.zeros_like(x) for x in inputs) if blind else inputs


def sizes_of(data: Evidence) -> EvidenceSizes:
    b = data.arrays([0])
    return EvidenceSizes(b["noun_logits"].shape[-1], b["colour_logits"].shape[-1], b["noun_logits"].shape[1])
