"""Batches of scenes in two streams, as SCORER trains: each scene gives a changed and an unchanged pair.

Letters: P scenes, B = 2P pairs, the changed ones first; T caption slots, F false sentences.
"""

import numpy as np
import torch
from torch import Tensor

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
