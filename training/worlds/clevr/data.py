"""Pairs out of cached CLEVR families (clevr_cache.py), with the interface of data.PairCache: any two views of a family are a pair."""

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.data.batches import PairCache, Shards
from training.worlds.clevr import grammar
from training.worlds.clevr.family import SAME, VIEWS
from training.worlds.clevr.rules import COLOURS, MATERIALS, MOST, REACH, REVERSED, SHAPES, SIZES
from training.worlds.clevr.scene import ACTION, KIND

CLASSES = {
    "size": list(SIZES),
    "colour": list(COLOURS),
    "material": list(MATERIALS),
    "shape": list(SHAPES),
}  # in the order of clevr_model.READ
NAMES = ("coarse", "fine", "slots")


def is_family_cache(folder: Path) -> bool:
    return any(folder.glob("*/slots.npy"))


def open_cache(folders: list[Path], forward: bool = False, only: list[str] | None = None):
    """The cache of whichever world the folders hold. `forward`: as the data set has it, from the default view on only (for evaluation);
    `only`: see data.Shards."""
    families = [is_family_cache(folder) for folder in folders]
    if any(families) != all(families):
        raise SystemExit(f"folders of different worlds: {', '.join(map(str, folders))}")
    return FamilyCache(folders, forward, only) if all(families) and folders else PairCache(folders, only)


def pairs_of(forward: bool) -> list[tuple[int, int]]:
    """(before, after) views: nothing changed between two of the first SAME, one thing between one of those and a changed view."""
    if forward:
        return [(0, after) for after in range(1, VIEWS)]
    same, changed = range(SAME), range(SAME, VIEWS)
    return [(a, b) for a in same for b in same if a != b] + [p for a in same for b in changed for p in ((a, b), (b, a))]


def pair_meta(scene: dict, before: int, after: int) -> dict:
    """As cache.pair_entry's meta line, as far as training and the held-out figures read it."""
    views = scene["views"]
    meta = {
        "scene": scene["scene"],
        "world": "clevr",
        "nuisances": ["camera_moved"],
        "glances": [],
        "views": (before, after),
    }
    changed = max(before, after)
    if changed < SAME:
        return meta | {"kind": "none", "objects": [], "captions": [grammar.consensus(None)]}
    backward = before == changed
    old, new = views[before], views[after]
    index_old, index_new = views[changed]["index_before"], views[changed]["index_after"]
    change = views[changed]["change"]
    if backward:
        index_old, index_new, change = index_new, index_old, REVERSED[change]
    thing = old["things"][index_old] if index_old is not None else new["things"][index_new]
    came = {"color": "colour", "material": "material"}.get(change)
    became = came and new["things"][index_new][came]
    return meta | {
        "kind": KIND[change],
        "captions": [grammar.consensus(change, thing, became)],
        "objects": [
            {
                "change": change,
                "action": ACTION[change],
                "index_before": index_old,
                "index_after": index_new,
                "noun": thing["shape"],
                **{name: thing[name] for name in CLASSES},
                "became": became,
            }
        ],
    }


class FamilyCache(Shards):
    """Random access to the pairs of the families' shards."""

    def __init__(self, folders: list[Path], forward: bool = False, only: list[str] | None = None):
        self.forward = forward
        self.shards: list[dict[str, np.ndarray]] = []
        self.scenes: list[list[dict]] = []
        self.meta: list[dict] = []
        self.where: list[tuple[int, int]] = []  # shard, scene of the shard
        self.reverse: list[int] = []
        self.tokens: list[torch.Tensor] = []  # a shard's [pictures,N,D]; see keep_tokens
        super().__init__(folders, only)

    def take(self, shard: Path) -> None:
        self.shards.append({name: np.load(shard / f"{name}.npy", mmap_mode="r") for name in NAMES})
        scenes = [json.loads(line) for line in (shard / "meta.jsonl").read_text().splitlines()]
        if len(scenes) * VIEWS != len(self.shards[-1]["coarse"]):
            raise SystemExit(
                f"{shard}: {len(scenes)} scenes in meta.jsonl, {len(self.shards[-1]['coarse'])} pictures in coarse.npy"
            )
        self.scenes.append(scenes)
        for row, scene in enumerate(scenes):
            pairs = pairs_of(self.forward)
            self.meta += [pair_meta(scene, *pair) for pair in pairs]
            if not self.forward:
                self.reverse += [len(self.where) + pairs.index(pair[::-1]) for pair in pairs]
            self.where += [(len(self.shards) - 1, row)] * len(pairs)

    def __len__(self) -> int:
        return len(self.meta)

    @torch.no_grad()
    def keep_tokens(self, difference, batch: int = 50) -> None:
        """From now on `coarse` is the model's tokens of each picture [B,2,N,D] and `fine` is empty: for steps that leave the tokens as
        they are. They are computed once a picture; until `drop_tokens`."""
        device = next(difference.parameters()).device
        for shard in self.shards[len(self.tokens) :]:
            parts = []
            for start in range(0, len(shard["coarse"]), batch):
                look = (
                    torch.from_numpy(shard[name][start : start + batch].astype(np.float32)).to(device)
                    for name in ("coarse", "fine")
                )
                parts.append(difference.tokens(*look).cpu())
            self.tokens.append(torch.cat(parts))

    def drop_tokens(self) -> None:
        self.tokens = []

    def prepare_step(self, indices: list[int], difference, frozen_tokens: bool) -> list[int]:
        if not difference.c.moving_camera:
            return indices
        self.keep_tokens(difference) if frozen_tokens else self.drop_tokens()
        return self.both_ways(indices)

    def both_ways(self, indices: list[int]) -> list[int]:
        """The pairs, then the same pairs reversed, as MovingDifference learns them."""
        return indices + [self.reverse[i] for i in indices]

    def arrays(self, indices: list[int]) -> dict[str, Tensor]:
        """coarse, fine [B,2,...] (of the pairs one way round where the rest are their reverses); slots [B,2,64,96]; masks [B,2,32,48] of the changed object; things [B,2,MOST+1,4] classes, places
        [B,2,MOST+1,2] (-1..1) of the objects; partner [B,2,MOST+1]: an object's number in the other frame or -1."""
        rows = [(*self.where[i], self.meta[i]) for i in indices]
        out = {}
        half = len(rows) // 2
        mirrored = half > 0 and not self.forward and [self.reverse[i] for i in indices[:half]] == indices[half:]
        if self.tokens:
            pictures = [
                [self.tokens[s][row * VIEWS + v] for v in m["views"]]
                for s, row, m in rows[: half if mirrored else None]
            ]
            out["coarse"] = torch.stack([torch.stack(pair) for pair in pictures])
            out["fine"] = torch.empty(len(pictures), 2, 0)
        for name in ("slots",) if self.tokens else NAMES:
            needed = rows[:half] if mirrored and name != "slots" else rows
            pictures = np.stack([[self.shards[s][name][row * VIEWS + v] for v in m["views"]] for s, row, m in needed])
            out[name] = torch.from_numpy(pictures.astype(np.int64 if name == "slots" else np.float32))
        things, places = (
            np.zeros((len(rows), 2, MOST + 1, len(CLASSES)), np.int64),
            np.zeros((len(rows), 2, MOST + 1, 2), np.float32),
        )
        partner, changed = np.full((len(rows), 2, MOST + 1), -1), np.full((len(rows), 2), -2)
        for i, (s, row, m) in enumerate(rows):
            frames = [self.scenes[s][row]["views"][v]["things"] for v in m["views"]]
            for f, frame in enumerate(frames):
                for k, thing in enumerate(frame):
                    things[i, f, k] = [values.index(thing[name]) for name, values in CLASSES.items()]
                    places[i, f, k] = thing["x"] / REACH, thing["y"] / REACH
            gone, new = (
                (m["objects"][0]["index_before"], m["objects"][0]["index_after"]) if m["objects"] else (None, None)
            )
            changed[i] = [-2 if gone is None else gone, -2 if new is None else new]
            for a, b in partners(len(frames[0]), len(frames[1]), gone, new):
                partner[i, 0, a], partner[i, 1, b] = b, a
        out["things"], out["places"], out["partner"] = map(torch.from_numpy, (things, places, partner))
        of_changed = (out["slots"] == torch.from_numpy(changed)[:, :, None, None]).float()
        out["masks"] = torch.nn.functional.avg_pool2d(of_changed, 2)
        return out


def partners(before: int, after: int, gone: int | None, new: int | None) -> list[tuple[int, int]]:
    """Numbers of the same object in two frames of `before` and `after` objects. A removed or added object leaves a gap in its list."""
    if before == after:
        return [(k, k) for k in range(before)]
    rest_before = [k for k in range(before) if not (after < before and k == gone)]
    rest_after = [k for k in range(after) if not (before < after and k == new)]
    return list(zip(rest_before, rest_after, strict=True))
