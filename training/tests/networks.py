"""Small random networks and their inputs, for the tests."""

import torch

from training.contract import SPECIALS
from training.net.config import ModelConfig


def small_config(**changes) -> ModelConfig:
    sizes = dict(
        vocabulary=[*SPECIALS, *(f"w{i}" for i in range(12))],
        nouns=["car", "man"],
        colours=["red"],
        coarse_channels=8,
        fine_channels=7,
        width=16,
        heads=2,
        map_width=8,
        max_length=6,
        regions=2,
        contrast_group=2,
    )
    return ModelConfig(**{**sizes, **changes})


def random_frames(c: ModelConfig, batch: int, seed: int = 0) -> list[torch.Tensor]:
    """The arguments of Difference: coarse and fine features, before and after."""
    g = torch.Generator().manual_seed(seed)
    h, w = c.grid
    one = lambda channels, k: torch.randn(batch, channels, h * k, w * k, generator=g)
    return [one(c.coarse_channels, 1), one(c.fine_channels, 2), one(c.coarse_channels, 1), one(c.fine_channels, 2)]


def random_crops(c: ModelConfig, batch: int, mask: list[float], seed: int = 1) -> tuple[torch.Tensor, ...]:
    """The arguments of RegionCrops; mask: 1 per used crop."""
    g = torch.Generator().manual_seed(seed)
    q, R = c.crop_grid, c.regions
    box = torch.tensor([0.2, 0.2, 0.4, 0.4]).expand(batch, R, 4)
    return (
        torch.randn(batch, R, 2, c.coarse_channels, q, q, generator=g),
        torch.randn(batch, R, 2, c.fine_channels, 2 * q, 2 * q, generator=g),
        box,
        torch.tensor([0.3, 0.3, 0.2, 0.2]).expand(batch, R, 4),
        torch.tensor([mask] * batch),
    )


TINY_CONFIG = """
name = "tiny"
world = "surveillance"
[model]
grid = [4, 6]
coarse_channels = 4
fine_channels = 5
width = 16
heads = 2
map_width = 8
max_length = 6
contrast_group = 2
[train]
batch = 4
steps = 6
learning_rate = 1e-3
warmup = 3
weight_decay = 0.01
clip = 1.0
settle_maps = 3
label_smoothing = 0.05
evaluate_every = 1
average = 0.5
kind_weights = {}
[train.weights]
caption = 1.0
map = 1.0
change = 1.0
kind = 0.3
nuisance = 0.5
contrast = 0.02
cbr = 0.02
side = 0.3
noun = 0.7
colour = 0.5
"""
