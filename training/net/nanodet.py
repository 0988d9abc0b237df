"""NanoDet-g (RangiLyu, 2021; Apache-2.0): a detector of the 80 classes of COCO, of 34 convolutions.

Stages of strides 4 to 32 as in CSPNet (Wang et al., 2020), a path aggregation network (Liu et al., 2018), and heads
that give a score per class and the distances of the four sides of a box as distributions (Li et al., Generalized
Focal Loss, 2020).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

STRIDES = (8, 16, 32)
CLASSES = 80
# A distance is the mean of a distribution over 0..10 strides.
BINS = 11
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


class Stage(nn.Module):
    """Pairs of 3x3 convolutions, whose results are joined with the input of the stage."""

    def __init__(self, inputs: int, width: int, stride: int, pairs: int):
        super().__init__()
        half = width // 2
        self.first = _conv(inputs, width, stride)
        self.pairs = nn.ModuleList(nn.ModuleList((_conv(width, half), _conv(half, half))) for _ in range(pairs))
        self.last = _conv(width, width)

    def forward(self, x: Tensor) -> Tensor:
        first = x = _leaky(self.first(x))
        for one, two in self.pairs:
            a = _leaky(one(x))
            x = torch.cat([_leaky(two(a)), a], 1)
        return torch.cat([_leaky(self.last(x)), first], 1)


class NanoDet(nn.Module):
    """image [M,3,S,S], RGB 0..1, S a multiple of 32 -> scores [M,P,80], 0..1, and boxes [M,P,4] in pixels.

    P: the cells of the three strides, one after the other. A box is left, top, right, bottom, and may leave the image.
    """

    def __init__(self):
        super().__init__()
        self.stem = _conv(3, 32, 2)
        self.stages = nn.ModuleList(
            [Stage(32, 32, 1, 1), Stage(64, 64, 2, 2), Stage(128, 128, 2, 2), Stage(256, 256, 2, 3)]
        )
        self.lateral = nn.ModuleList(nn.Conv2d(inputs, 128, 1) for inputs in (128, 256, 512))
        self.heads = nn.ModuleList(
            nn.ModuleList((_conv(128, 128), nn.Conv2d(128, CLASSES + 4 * BINS, 1))) for _ in STRIDES
        )
        self.register_buffer("mean", torch.tensor(MEAN).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor(STD).view(1, 3, 1, 1))

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        x = functional.max_pool2d(_leaky(self.stem((image - self.mean) / self.std)), 3, 2, 1)
        levels = []
        for stage in self.stages:
            x = stage(x)
            levels.append(x)
        low, middle, high = (lateral(x) for lateral, x in zip(self.lateral, levels[1:], strict=True))
        middle = middle + _scaled(high, 2)
        low = low + _scaled(middle, 2)
        middle = middle + _scaled(low, 0.5)
        high = high + _scaled(middle, 0.5)
        outputs = [
            _decoded(predict(_leaky(head(x))), stride)
            for (head, predict), x, stride in zip(self.heads, (low, middle, high), STRIDES, strict=True)
        ]
        scores, boxes = zip(*outputs, strict=True)
        return torch.cat(scores, 1), torch.cat(boxes, 1)


def _conv(inputs: int, outputs: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, stride, 1)


def _leaky(x: Tensor) -> Tensor:
    return functional.leaky_relu(x, 0.1)


def _scaled(x: Tensor, factor: float) -> Tensor:
    return functional.interpolate(x, scale_factor=factor, mode="bilinear", align_corners=False)


def _decoded(x: Tensor, stride: int) -> tuple[Tensor, Tensor]:
    """[M,80+44,h,w] to scores [M,h*w,80] and boxes [M,h*w,4]."""
    rows, columns = x.shape[2:]
    scores, sides = x.flatten(2).split([CLASSES, 4 * BINS], 1)
    bins = torch.arange(float(BINS)).view(1, 1, BINS, 1)
    distances = (sides.unflatten(1, (4, BINS)).softmax(2) * bins).sum(2).transpose(1, 2) * stride  # [M,h*w,4]
    y, x = torch.meshgrid(*(torch.arange(size, dtype=torch.float32) for size in (rows, columns)), indexing="ij")
    centres = torch.stack([x.flatten(), y.flatten()], 1) * stride + (stride - 1) / 2  # [h*w,2]
    corners = torch.cat([centres - distances[..., :2], centres + distances[..., 2:]], -1)
    return scores.sigmoid().transpose(1, 2), corners


def load_convolutions(detector: NanoDet, kernels: list[Tensor], biases: list[Tensor]) -> NanoDet:
    """Fills the detector in place with kernels [kh,kw,in,out], in the order of the network, that take BGR.

    @raises ValueError if they are of another network
    """
    convolutions = [module for module in detector.modules() if isinstance(module, nn.Conv2d)]
    if len(kernels) != len(convolutions):
        raise ValueError(f"{len(kernels)} convolutions, NanoDet-g has {len(convolutions)}")
    for convolution, kernel, bias in zip(convolutions, kernels, biases, strict=True):
        weight = kernel.permute(3, 2, 0, 1)
        if weight.shape != convolution.weight.shape:
            raise ValueError(f"a kernel of {tuple(weight.shape)}, expected {tuple(convolution.weight.shape)}")
        convolution.weight.data.copy_(weight)
        convolution.bias.data.copy_(bias)
    detector.stem.weight.data = detector.stem.weight.data.flip(1)
    return detector
