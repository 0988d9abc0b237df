"""Batches of scenes in two streams, as SCORER trains: each scene gives a changed and an unchanged pair.

Letters: P scenes, B = 2P pairs, the changed ones first; T caption slots, F false sentences.
"""

import numpy as np
import torch
from torch import Tensor

from research.clevr.family import VIEWS
from research.clevr.family_cache import change_masks
from training.data.batches import Batches, Labels
from training.net.config import ModelConfig
from training.world import World

OTHERS = 40  # captions of other pairs among which the closest are taken as false ones


def labels_of(cache, world: World) -> Labels:
    """Labels whose vocabulary has the words of captions and of coupled sentences."""
    coupled = [world.coupled_caption(cache, i, i) for i in range(0, len(cache), max(1, len(cache) // 1000))]
    return Labels.from_meta([*cache.meta, {"captions": coupled, "glances": []}], world)


class SceneBatches(Batches):
    def __init__(self, cache, labels: Labels, config: ModelConfig, world: World):
        if not hasattr(cache, "two_streams"):
            raise SystemExit("the table needs a cache of scene families (research.clevr.cache)")
        super().__init__(cache, labels, config)
        self.world = world
        self.kept: tuple[str, Tensor, Tensor] | None = None  # see keep

    @torch.no_grad()
    def keep(self, difference, device: torch.device, batch: int = 100) -> None:
        """Keeps every view's tokens (float16 [views,N,C]) and object map on the device, so that a step reads no
        features. difference: a PairNetwork on that device; all have one reading stage, so its kind of tokens counts."""
        if self.kept and self.kept[0] == difference.kinds.kind:
            return
        self.kept, tokens, first = None, None, 0
        for shard in self.cache.shards:
            for start in range(0, len(shard["coarse"]), batch):
                rows = (np.array(shard[name][start : start + batch]) for name in ("coarse", "fine"))
                part = difference.tokens(*(torch.from_numpy(x).to(device).float() for x in rows))
                if tokens is None:
                    views = sum(len(each["coarse"]) for each in self.cache.shards)
                    tokens = part.new_empty(views, *part.shape[1:], dtype=torch.float16)
                tokens[first : first + len(part)] = part
                first += len(part)
        slots = torch.cat([torch.from_numpy(np.array(shard["slots"])) for shard in self.cache.shards])
        self.kept = difference.kinds.kind, tokens, slots.to(device)

    def batch(self, indices: list[int], rng: np.random.Generator) -> dict[str, Tensor]:
        """`Batches.batch`; after `keep`, only what a row of the table reads: tokens `before` and `after` [B,N,C], masks
        and the pairs' targets, the first two on the device."""
        if not self.kept:
            return super().batch(indices, rng)
        _, tokens, slots = self.kept
        first = np.cumsum([0, *(len(shard["coarse"]) for shard in self.cache.shards)])  # view of each shard
        metas, where = [self.cache.meta[i] for i in indices], [self.cache.where[i] for i in indices]
        rows = [[first[s] + row * VIEWS + v for v in m["views"]] for (s, row), m in zip(where, metas)]
        views = torch.tensor(np.array(rows), device=tokens.device)  # [B,2]
        before, after = tokens[views].float().unbind(1)
        masks = change_masks(slots[views], metas)
        return {"before": before, "after": after, "masks": masks} | self.pair_targets(metas, rng)

    def order(self, seed: int, epoch: int) -> np.ndarray:
        """The scenes of an epoch: equal for every row of the table."""
        return np.random.default_rng([seed, epoch]).permutation(self.cache.scenes_count)

    def scenes_of(self, step: int, scenes: int, seed: int) -> list[int]:
        """The scenes of a step, without those after the last whole step of an epoch."""
        count = self.cache.scenes_count
        if count < scenes:
            raise SystemExit(f"the cache has {count} scenes, a step takes {scenes}")
        epoch, at = divmod(step, count // scenes)
        return self.order(seed, epoch)[at * scenes : (at + 1) * scenes].tolist()

    def two_streams(self, scenes: list[int], rng: np.random.Generator) -> dict[str, Tensor]:
        """`Batches.batch` of the two streams, with false_ids [P,F,T+1] and coupled_ids [P,T+1].

        The coupled sentence i is of the first frames of scenes i and i + 1; the last one is followed by the first.
        """
        indices = self.cache.two_streams(scenes, rng)
        b = self.batch(indices, rng)
        P, meta = len(scenes), self.cache.meta
        others = [meta[i]["captions"][0] for i in rng.integers(len(meta), size=OTHERS) if meta[i]["objects"]]
        false = [self.world.false_captions(meta[i], others, rng) for i in indices[:P]]
        b["false_ids"] = torch.tensor([[self.encode(text) for text in texts] for texts in false])
        following = [*indices[1:P], indices[0]]
        coupled = [self.world.coupled_caption(self.cache, i, j) for i, j in zip(indices[:P], following)]
        b["coupled_ids"] = torch.tensor([self.encode(text) for text in coupled])
        return b
