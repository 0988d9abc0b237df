"""The CLEVR twin as a plug-in of the training core."""

from pathlib import Path

import torch

from training.net.config import ModelConfig
from training.net.difference import Difference
from training.world import Judgement, PairSource, World
from training.worlds.clevr import grammar
from training.worlds.clevr.data import open_cache
from training.worlds.clevr.losses import moving_losses, reading_losses
from training.worlds.clevr.model import MovingDifference
from training.worlds.clevr.scene import ClevrWorld


def open_source(data: Path | None, split: str) -> PairSource:
    torch.set_num_threads(1)  # as for the features: run several processes instead
    return ClevrWorld(data, split)


def make_difference(config: ModelConfig) -> Difference:
    return MovingDifference(config) if config.moving_camera else Difference(config)


def extra_losses(outputs: dict, batch: dict[str, torch.Tensor], config: ModelConfig) -> dict[str, torch.Tensor]:
    return moving_losses(outputs, batch, config.token_grid) if config.moving_camera else {}


def judge(caption: str, meta: dict) -> Judgement:
    """`colour` holds if everything that the caption states of the object is true."""
    changed = meta["objects"][0] if meta["objects"] else None
    unchanged, (action, noun, everything) = grammar.judge(caption, changed)
    return Judgement(unchanged, action, noun, everything)


WORLD = World(
    name="clevr",
    full_frame=(384, 256),
    open_source=open_source,
    open_cache=open_cache,
    make_difference=make_difference,
    judge=judge,
    extra_losses=extra_losses,
    frame_losses=reading_losses,
)
