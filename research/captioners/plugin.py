"""The CLEVR world with the networks of this folder: the world of the table's checkpoints (training/world.py)."""

from dataclasses import replace

from torch import nn

from research.captioners.pair_network import make_pair
from research.clevr.plugin import WORLD as CLEVR
from training.net.config import ModelConfig


def make_networks(c: ModelConfig) -> tuple[nn.Module, nn.Module]:
    return make_pair(c, CLEVR)


WORLD = replace(CLEVR, name="research.captioners", make_networks=make_networks)
