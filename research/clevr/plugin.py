"""The CLEVR world as a plug-in of the training core (training/world.py)."""

from pathlib import Path

import torch

from research.clevr import grammar
from research.clevr.family_cache import FamilyCache
from research.clevr.losses import frame_losses, moving_camera_losses
from research.clevr.model import MovingDifference
from research.clevr.pretraining import coupled_caption, false_captions
from training.contract import USUAL
from training.net.config import ModelConfig
from training.net.difference import Difference
from training.world import Judgement, PairSource, World


def open_source(data: Path | None, split: str, scenario: str = USUAL) -> PairSource:
    """@raises SystemExit always: this world has no single pairs."""
    raise SystemExit("this world renders families of views: python -m research.clevr cache")


def make_difference(config: ModelConfig) -> Difference:
    return MovingDifference(config) if config.moving_camera else Difference(config)


def extra_losses(outputs: dict, batch: dict[str, torch.Tensor], config: ModelConfig) -> dict[str, torch.Tensor]:
    return moving_camera_losses(outputs, batch, config.token_grid) if config.moving_camera else {}


def judge(caption: str, meta: dict) -> Judgement:
    """Judges a caption by the changed object. `colour` holds if every stated attribute is true."""
    unchanged, (action, noun, attributes) = grammar.judge(caption, changed_object(meta["objects"]))
    return Judgement(unchanged, action, noun, attributes)


def changed_object(objects: list[dict]) -> dict | None:
    """The changed object with its new colour or material as `became`; None for an unchanged pair."""
    return objects[0] if objects else None


WORLD = World(
    name="research.clevr",
    full_frame=(384, 256),
    open_source=open_source,
    open_cache=FamilyCache,
    make_difference=make_difference,
    judge=judge,
    extra_losses=extra_losses,
    frame_losses=frame_losses,
    false_captions=false_captions,
    coupled_caption=coupled_caption,
)
