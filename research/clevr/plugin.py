"""The CLEVR world as a plug-in of the training core (training/world.py)."""

from pathlib import Path

import torch

from research.clevr import grammar
from research.clevr.family_cache import open_cache
from research.clevr.losses import frame_losses, moving_camera_losses
from research.clevr.model import MovingDifference
from research.clevr.pair_source import ClevrPairSource
from research.clevr.pretraining import coupled_caption, false_captions
from training.contract import USUAL
from training.net.config import ModelConfig
from training.net.difference import Difference
from training.world import Judgement, PairSource, World


def open_source(data: Path | None, split: str, scenario: str = USUAL) -> PairSource:
    """@raises SystemExit if there is no such scenario."""
    if scenario != USUAL:
        raise SystemExit(f"there is no scenario {scenario!r} in this world; known is {USUAL}")
    torch.set_num_threads(1)  # several processes use a CPU better than several threads
    return ClevrPairSource(data, split)


def make_difference(config: ModelConfig) -> Difference:
    return MovingDifference(config) if config.moving_camera else Difference(config)


def extra_losses(outputs: dict, batch: dict[str, torch.Tensor], config: ModelConfig) -> dict[str, torch.Tensor]:
    return moving_camera_losses(outputs, batch, config.token_grid) if config.moving_camera else {}


def judge(caption: str, meta: dict) -> Judgement:
    """Judges a caption by the changed object. `colour` holds if every stated attribute is true."""
    unchanged, (action, noun, attributes) = grammar.judge(caption, changed_object(meta["objects"]))
    return Judgement(unchanged, action, noun, attributes)


def changed_object(objects: list[dict]) -> dict | None:
    """The changed object with its new colour or material as `became`; None for an unchanged pair.

    A cache of families stores `became`. A cache of single pairs stores the old and the new object (see Pair).
    """
    if not objects:
        return None
    old, new = objects[0], objects[-1]
    attribute = grammar.CHANGED_ATTRIBUTE.get(old["change"])
    return {"became": attribute and new[attribute], **old}


WORLD = World(
    name="research.clevr",
    full_frame=(384, 256),
    open_source=open_source,
    open_cache=open_cache,
    make_difference=make_difference,
    judge=judge,
    extra_losses=extra_losses,
    frame_losses=frame_losses,
    false_captions=false_captions,
    coupled_caption=coupled_caption,
)
