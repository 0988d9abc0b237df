"""Reader of family caches (written by cache.py): any two views of a family are a pair."""

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from research.clevr import grammar
from research.clevr.family import UNCHANGED_VIEWS, VIEWS
from research.clevr.rules import ACTION, COLOURS, KIND, MATERIALS, MAX_COORDINATE, MAX_OBJECTS, REVERSED, SHAPES, SIZES
from training.data.shards import Shards

# Values per attribute; a class is an index in such a list. The order of attributes is that of model.ATTRIBUTE_CLASSES.
CLASSES = {
    "size": list(SIZES),
    "colour": list(COLOURS),
    "material": list(MATERIALS),
    "shape": list(SHAPES),
}
SLOTS = MAX_OBJECTS + 1  # objects per view: one may have been added
ARRAYS = ("coarse", "fine", "slots")  # .npy files of a shard


def pairs_of(forward: bool) -> list[tuple[int, int]]:
    """Pairs of view numbers (before, after) of a family.

    Two unchanged views are a pair without a change; an unchanged and a changed view, in either order, are a pair
    with one change.
    """
    if forward:
        return [(0, after) for after in range(1, VIEWS)]
    unchanged, changed = range(UNCHANGED_VIEWS), range(UNCHANGED_VIEWS, VIEWS)
    pairs = [(a, b) for a in unchanged for b in unchanged if a != b]
    return pairs + [pair for a in unchanged for b in changed for pair in ((a, b), (b, a))]


def pair_meta(scene: dict, before: int, after: int) -> dict:
    """Facts of a pair, as in a line of meta.jsonl of a pair cache. `scene` is a line of a family cache's meta.jsonl."""
    views = scene["views"]
    meta = {"scene": scene["scene"], "nuisances": ["camera_moved"], "glances": [], "views": (before, after)}
    changed = max(before, after)
    if changed < UNCHANGED_VIEWS:
        return meta | {"kind": "none", "objects": [], "captions": [grammar.consensus(None)]}
    index_before, index_after = views[changed]["index_before"], views[changed]["index_after"]
    change = views[changed]["change"]
    if before == changed:
        index_before, index_after, change = index_after, index_before, REVERSED[change]
    objects_before, objects_after = views[before]["things"], views[after]["things"]
    obj = objects_before[index_before] if index_before is not None else objects_after[index_after]
    attribute = grammar.CHANGED_ATTRIBUTE.get(change)
    became = attribute and objects_after[index_after][attribute]
    return meta | {
        "kind": KIND[change],
        "captions": [grammar.consensus(change, obj, became)],
        "objects": [
            {
                "change": change,
                "action": ACTION[change],
                "index_before": index_before,
                "index_after": index_after,
                "noun": obj["shape"],
                **{name: obj[name] for name in CLASSES},
                "became": became,
            }
        ],
    }


class FamilyCache(Shards):
    """Random access to the pairs of families. Letters: B pairs, N tokens, D width; see `arrays`."""

    def __init__(self, folders: list[Path], forward: bool = False, only: list[str] | None = None):
        self.forward = forward
        self.shards: list[dict[str, np.ndarray]] = []
        self.scenes: list[list[dict]] = []  # per shard the lines of meta.jsonl
        self.meta: list[dict] = []  # per pair
        self.where: list[tuple[int, int]] = []  # per pair: shard, scene of the shard
        self.reverse: list[int] = []  # per pair the index of its reverse; empty if `forward`
        self.tokens: list[Tensor] = []  # per shard [views,N,D]; see keep_tokens
        super().__init__(folders, only)

    def take(self, shard: Path) -> None:
        self.shards.append({name: np.load(shard / f"{name}.npy", mmap_mode="r") for name in ARRAYS})
        scenes = [json.loads(line) for line in (shard / "meta.jsonl").read_text().splitlines()]
        rows = len(self.shards[-1]["coarse"])
        if len(scenes) * VIEWS != rows:
            raise SystemExit(
                f"{shard}: {rows} views in coarse.npy, expected {VIEWS} per line of meta.jsonl, which has {len(scenes)}"
            )
        self.scenes.append(scenes)
        pairs = pairs_of(self.forward)
        for row, scene in enumerate(scenes):
            self.meta += [pair_meta(scene, *pair) for pair in pairs]
            if not self.forward:
                self.reverse += [len(self.where) + pairs.index(pair[::-1]) for pair in pairs]
            self.where += [(len(self.shards) - 1, row)] * len(pairs)

    def __len__(self) -> int:
        return len(self.meta)

    @torch.no_grad()
    def keep_tokens(self, difference, batch: int = 50) -> None:
        """Computes the network's tokens of every view once, for training steps that do not update the tokens.

        Until `drop_tokens`, `arrays` returns tokens [B,2,N,D] as `coarse` and an empty `fine`.
        """
        device = next(difference.parameters()).device
        for shard in self.shards[len(self.tokens) :]:
            parts = []
            for start in range(0, len(shard["coarse"]), batch):
                features = (
                    torch.from_numpy(shard[name][start : start + batch].astype(np.float32)).to(device)
                    for name in ("coarse", "fine")
                )
                parts.append(difference.tokens(*features).cpu())
            self.tokens.append(torch.cat(parts))

    def drop_tokens(self) -> None:
        self.tokens = []

    def prepare_step(self, indices: list[int], difference, frozen_tokens: bool) -> list[int]:
        if not difference.c.moving_camera:
            return indices
        self.keep_tokens(difference) if frozen_tokens else self.drop_tokens()
        return self.with_reverses(indices)

    @property
    def scenes_count(self) -> int:
        return len(self.where) // len(pairs_of(self.forward))

    def two_streams(self, scenes: list[int], rng: np.random.Generator) -> list[int]:
        """One changed pair per scene, then one unchanged pair per scene, both from the same view of the unchanged
        scene; needs a cache that is not `forward`. Every view of the unchanged scene may be the first."""
        pairs = pairs_of(self.forward)
        changed, unchanged = [], []
        for scene in scenes:
            first, other = rng.permutation([0, rng.integers(1, UNCHANGED_VIEWS)]).tolist()
            after = int(rng.integers(UNCHANGED_VIEWS, VIEWS))
            changed.append(scene * len(pairs) + pairs.index((first, after)))
            unchanged.append(scene * len(pairs) + pairs.index((first, other)))
        return changed + unchanged

    def largest_thing(self, index: int) -> dict:
        """The object that covers most of the first frame of a pair, of the meta line."""
        (shard, row), view = self.where[index], self.meta[index]["views"][0]
        slots = self.shards[shard]["slots"][row * VIEWS + view]
        counts = np.bincount(slots[slots >= 0], minlength=1)
        return self.scenes[shard][row]["views"][view]["things"][int(counts.argmax())]

    def with_reverses(self, indices: list[int]) -> list[int]:
        """The pairs, then the same pairs reversed, as MovingDifference is trained."""
        return indices + [self.reverse[i] for i in indices]

    def arrays(self, indices: list[int]) -> dict[str, Tensor]:
        """Tensors of B pairs; the second axis is the frame (before, after).

        coarse, fine [B,2,...]: features. If the second half of `indices` is the reverse of the first, the first
        half alone. slots [B,2,64,96]: object per sampled pixel, -1 none. masks [B,2,32,48]: share of each cell that
        shows the changed object. classes [B,2,SLOTS,4]: attribute classes per object. positions [B,2,SLOTS,2]: x, y
        on the ground over MAX_COORDINATE. partner [B,2,SLOTS]: the object's index in the other frame, or -1.
        """
        rows = [(*self.where[i], self.meta[i]) for i in indices]
        half = len(rows) // 2
        mirrored = half > 0 and not self.forward and [self.reverse[i] for i in indices[:half]] == indices[half:]
        once = rows[:half] if mirrored else rows
        out = {}
        if self.tokens:
            tokens = [[self.tokens[s][row * VIEWS + v] for v in m["views"]] for s, row, m in once]
            out["coarse"] = torch.stack([torch.stack(pair) for pair in tokens])
            out["fine"] = torch.empty(len(tokens), 2, 0)
        else:
            out["coarse"], out["fine"] = (self._stack(name, once, np.float32) for name in ("coarse", "fine"))
        out["slots"] = self._stack("slots", rows, np.int64)
        classes = np.zeros((len(rows), 2, SLOTS, len(CLASSES)), np.int64)
        positions = np.zeros((len(rows), 2, SLOTS, 2), np.float32)
        partner = np.full((len(rows), 2, SLOTS), -1)
        for i, (s, row, m) in enumerate(rows):
            frames = [self.scenes[s][row]["views"][v]["things"] for v in m["views"]]
            for f, objects in enumerate(frames):
                for k, obj in enumerate(objects):
                    classes[i, f, k] = [values.index(obj[name]) for name, values in CLASSES.items()]
                    positions[i, f, k] = obj["x"] / MAX_COORDINATE, obj["y"] / MAX_COORDINATE
            for a, b in partners(len(frames[0]), len(frames[1]), *changed_slots(m)):
                partner[i, 0, a], partner[i, 1, b] = b, a
        out["classes"], out["positions"], out["partner"] = map(torch.from_numpy, (classes, positions, partner))
        out["masks"] = change_masks(out["slots"], [m for _, _, m in rows])
        return out

    def _stack(self, name: str, rows: list[tuple[int, int, dict]], dtype: type) -> Tensor:
        """One array of both frames of each pair: [rows,2,...]."""
        frames = [[self.shards[s][name][row * VIEWS + v] for v in m["views"]] for s, row, m in rows]
        return torch.from_numpy(np.stack(frames).astype(dtype))


def changed_slots(meta: dict) -> tuple[int | None, int | None]:
    """Slots of a pair's changed object before and after; None if the frame lacks it."""
    truth = meta["objects"][0] if meta["objects"] else {"index_before": None, "index_after": None}
    return truth["index_before"], truth["index_after"]


def change_masks(slots: Tensor, metas: list[dict]) -> Tensor:
    """`masks` of `FamilyCache.arrays` out of its `slots` [B,2,64,96], on their device."""
    changed = [[-2 if slot is None else slot for slot in changed_slots(m)] for m in metas]  # -2 is no slot at all
    of_changed = (slots == torch.tensor(changed, device=slots.device)[:, :, None, None]).float()
    return torch.nn.functional.avg_pool2d(of_changed, 2)


def partners(before: int, after: int, removed: int | None, added: int | None) -> list[tuple[int, int]]:
    """Index pairs of the same object in two frames of `before` and `after` objects.

    `removed` is the index before of a removed object, `added` the index after of an added one; both leave a gap.
    """
    if before == after:
        return [(k, k) for k in range(before)]
    rest_before = [k for k in range(before) if not (after < before and k == removed)]
    rest_after = [k for k in range(after) if not (before < after and k == added)]
    return list(zip(rest_before, rest_after, strict=True))
