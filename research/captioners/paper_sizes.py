"""The architectures at the sizes of their papers or released configs, for counting and single steps; never trained."""

from dataclasses import dataclass, field

import torch

from research.captioners import make_architecture
from research.captioners.base import Architecture, Tokens
from training.contract import SPECIALS
from training.net.config import ModelConfig


@dataclass(frozen=True)
class Paper:
    cells: tuple[int, int]  # rows and columns of a frame's tokens
    channels: int  # of a token
    words: int
    model: dict
    options: dict = field(default_factory=dict)


PAPERS = {
    # ResNet-101 conv4 with two coordinates; 76 words of CLEVR-Change.
    "scorer": Paper((14, 14), 1026, 76, {"width": 512, "heads": 8, "max_length": 24}, {"cbr": 0.001}),
    "duda": Paper((14, 14), 1026, 76, {"width": 512, "heads": 8, "max_length": 24}),
    "mccformers": Paper(
        (14, 14), 1024, 76, {"width": 512, "heads": 4, "max_length": 24}, {"ffn": 2048, "decoder_ffn": 4096}
    ),
    # ResNet-101 conv5.
    "idc_pcl": Paper((7, 7), 2048, 76, {"width": 512, "heads": 8, "max_length": 40, "dropout": 0.2}, {"ffn": 2048}),
    # Pixels of 32 x 32 patches, and CLIP's words.
    "clip4idc": Paper(
        (7, 7),
        3 * 32 * 32,
        49_408,
        {"width": 512, "heads": 8, "max_length": 32},
        {
            "vision_width": 768,
            "vision_heads": 12,
            "vision_ffn": 3072,
            "intra": 9,
            "inter": 3,
            "text_layers": 12,
            "layers": 3,
            "ffn": 2048,
        },
    ),
    # Three levels of ViT-L/14; a language model of Vicuna-7B's width and depth with this project's layers.
    "onediff": Paper(
        (24, 24),
        3 * 1024,
        32_000,
        {"width": 4096, "heads": 32, "max_length": 128},
        {"delta": 32, "delta_width": 768, "delta_heads": 12, "delta_ffn": 3072, "layers": 32, "ffn": 16_512},
    ),
}


def paper_network(name: str, device: str = "cpu") -> Architecture:
    """device "meta" allocates nothing, which suffices for counting."""
    paper = PAPERS[name]
    levels = {"all": slice(0, paper.channels)}
    if name == "onediff":
        third = paper.channels // 3
        levels = {key: slice(i * third, (i + 1) * third) for i, key in enumerate(("fine", "coarse", "read"))}
    c = ModelConfig(
        architecture=name,
        options=paper.options,
        vocabulary=[*SPECIALS, *(f"w{i}" for i in range(paper.words - len(SPECIALS)))],
        grid=paper.cells,
        token_pool=1,
        contrast_pool=1,
        region_crops=False,
        moving_camera=True,
        **paper.model,
    )
    with torch.device(device):
        return make_architecture(c, Tokens("paper", levels, paper.channels))
