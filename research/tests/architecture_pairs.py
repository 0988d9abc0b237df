"""Tiny architectures and batches for their tests."""

import torch

from research.captioners.pair_network import PairNetwork, Writer, make_pair
from training.contract import END, NUISANCES, PAD, SPECIALS, START
from training.net.config import ModelConfig
from training.world import load_world

WORDS = [f"w{i}" for i in range(12)]


def tiny_config(architecture: str, **options) -> ModelConfig:
    return ModelConfig(
        architecture=architecture,
        options=options,
        vocabulary=[*SPECIALS, *WORDS],
        coarse_channels=8,
        fine_channels=7,
        grid=(4, 6),
        token_pool=2,
        width=16,
        heads=2,
        map_width=8,
        max_length=6,
        contrast_group=2,
        contrast_pool=1,
        region_crops=False,
        moving_camera=True,
    )


def tiny_pair(c: ModelConfig) -> tuple[PairNetwork, Writer]:
    torch.manual_seed(3)
    difference, writer = make_pair(c, load_world("research.clevr"))
    return difference.eval(), writer.eval()


def tiny_batch(difference: PairNetwork, scenes: int = 4, seed: int = 0) -> dict[str, torch.Tensor]:
    """As SceneBatches.batch: one changed pair per scene, then one unchanged pair per scene."""
    g = torch.Generator().manual_seed(seed)
    N, C, T = 6, difference.kinds.channels, difference.c.max_length
    frames = [torch.randn(scenes, N, C, generator=g) for _ in range(3)]  # default, changed, distractor
    sentence = lambda: [START, *torch.randint(4, 16, (T - 2,), generator=g).tolist(), END, PAD]
    ids = [sentence() for _ in range(scenes)] + [[START, 4, 5, END] + [PAD] * (T - 3)] * scenes
    masks = torch.rand(2 * scenes, 2, 8, 12, generator=g)
    masks[scenes:] = 0
    return {
        "before": torch.cat([frames[0], frames[0]]),
        "after": torch.cat(frames[1:]),
        "ids": torch.tensor(ids),
        "changed": (torch.arange(2 * scenes) < scenes).float(),
        "kind": (torch.arange(2 * scenes) < scenes).long(),
        "masks": masks,
        "nuisances": torch.zeros(2 * scenes, len(NUISANCES)),
        "false_ids": torch.tensor([[sentence() for _ in range(6)] for _ in range(scenes)]),
        "coupled_ids": torch.tensor([sentence() for _ in range(scenes)]),
    }
