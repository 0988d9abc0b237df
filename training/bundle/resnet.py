"""The frozen network: a bottleneck ResNet v1 up to stage conv4, and 1x1 projections of two of its stages.

Differences from torchvision's ResNet-50, all of the published Keras weights: the stride of stages 3 to 5 sits on the
first 1x1 convolution, convolutions have biases, and batch norm is folded into them (`keras_weights.py`).

Letters: B batch, H W image size (multiples of 16), C channels.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CAFFE_MEAN_RGB = (123.68, 116.779, 103.939)
BLOCKS = (3, 4, 6, 3)  # bottlenecks in stages conv2 to conv5
COARSE_DIM, FINE_DIM = 256, 64
STRIDE = 16  # input sizes are multiples of this


class Bottleneck(nn.Module):
    """1x1 (stride here: v1), 3x3, 1x1 to four times the width, added to the input or to its projection."""

    def __init__(self, channels: int, width: int, stride: int, project: bool):
        super().__init__()
        self.a = nn.Conv2d(channels, width, 1, stride)
        self.b = nn.Conv2d(width, width, 3, padding=1)
        self.c = nn.Conv2d(width, 4 * width, 1)
        self.shortcut = nn.Conv2d(channels, 4 * width, 1, stride) if project else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.c(F.relu(self.b(F.relu(self.a(x))))) + self.shortcut(x))


class ResNet(nn.Module):
    """Bottleneck ResNet v1 with batch norm folded into the convolutions.

    image [B,3,H,W], RGB 0..1 -> one map for each stage, conv2 first: [B,4*width,H/4,W/4], [B,8*width,H/8,W/8], ...
    """

    def __init__(self, blocks: tuple[int, ...] = BLOCKS[:3], width: int = 64):
        super().__init__()
        self.register_buffer("mean", torch.tensor(CAFFE_MEAN_RGB).view(1, 3, 1, 1) / 255)
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3)
        self.stages = nn.ModuleList()
        channels = width
        for index, count in enumerate(blocks):
            stage_width = width * 2**index
            stage = nn.Sequential()
            for block in range(count):
                stride = 2 if block == 0 and index > 0 else 1
                stage.append(Bottleneck(channels, stage_width, stride, project=block == 0))
                channels = 4 * stage_width
            self.stages.append(stage)

    def forward(self, image: Tensor) -> list[Tensor]:
        # Padding with minus infinity, as max_pool2d does, equals Keras's zero padding: the input is not negative.
        x = F.max_pool2d(F.relu(self.conv1(image - self.mean)), 3, stride=2, padding=1)  # [B,width,H/4,W/4]
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps


class FeatureExtractor(nn.Module):
    """image [B,3,H,W], RGB 0..1, H and W multiples of 16
    -> coarse [B,coarse_dim,H/16,W/16], fine [B,fine_dim+3,H/8,W/8].

    coarse projects conv4; fine projects conv3 and appends the 8x8 mean of the RGB, mapped to -1..1. No gradients.
    """

    def __init__(self, backbone: ResNet, coarse_dim: int = COARSE_DIM, fine_dim: int = FINE_DIM):
        super().__init__()
        self.backbone = backbone
        fine_channels, coarse_channels = (stage[-1].c.out_channels for stage in backbone.stages[1:3])
        self.coarse = nn.Conv2d(coarse_channels, coarse_dim, 1)
        self.fine = nn.Conv2d(fine_channels, fine_dim, 1)
        self.requires_grad_(False)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        _, conv3, conv4 = self.backbone(image)
        colour = F.avg_pool2d(image, 8) * 2 - 1
        return self.coarse(conv4), torch.cat([self.fine(conv3), colour], dim=1)
