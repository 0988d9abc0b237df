"""The namer (graph `names.onnx`): which thing each frame shows in a region crop, and its colour.

A frame is named from its own picture, beside that of the other frame, by one function for both frames. So a thing gets
the same name whether it came or went: swapping the frames swaps the outputs. "nothing" is a name too: nothing that
changed. The words for a name that is not certain are the tree of `training.text.noun_tree`.

Letters: M region crops, g x g coarse cells of a crop, G = g * g, C channels, D width, P pools, N nouns, K colours.
Boxes are x, y, width, height as fractions of the frame. Frame axis: before, after.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.net.crop_evidence import inside_box

POOLS = 4
INSIDE_BIAS = 3.0  # of a cell in the region's box, in the softmax that pools the cells
RGB_SCALE = 3.0  # brings RGB (standard deviation about 0.33) to unit variance


class Namer(nn.Module):
    def __init__(
        self,
        nouns: int,
        colours: int,
        width: int = 128,
        coarse_channels: int = 256,
        fine_channels: int = 67,
        dropout: float = 0.3,
        channel_dropout: float = 0.2,
    ):
        super().__init__()
        D = width
        self.channel_dropout = channel_dropout
        self.coarse = nn.Linear(coarse_channels, D)
        self.fine = nn.Conv2d(fine_channels, D, 2, stride=2)
        self.norm = nn.LayerNorm(D)
        self.relate = nn.Sequential(nn.Linear(3 * D + 2, D), nn.ReLU(), nn.Dropout(dropout))
        self.where = nn.Linear(D, POOLS)
        self.size = nn.Linear(3, 16)
        self.noun = nn.Sequential(
            nn.Linear(POOLS * D + 16, 2 * D), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * D, nouns)
        )
        # Colours: fine cells, chosen by both frames' features, named by their RGB beside that of the whole crop.
        self.paint_where = nn.Sequential(nn.Conv2d(2 * fine_channels + 1, 32, 1), nn.ReLU(), nn.Conv2d(32, POOLS, 1))
        self.paint = nn.Sequential(nn.Conv2d(3, 32, 1), nn.ReLU())
        self.colour = nn.Sequential(
            nn.Linear(POOLS * (32 + 3) + 9 + 2 * D, D), nn.ReLU(), nn.Dropout(dropout), nn.Linear(D, colours)
        )
        self.register_buffer("noun_scale", torch.ones(()))  # of the logits, fitted by `calibrate`
        self.register_buffer("colour_scale", torch.ones(()))
        self.register_buffer("noun_shift", torch.zeros(nouns))  # of the prior: training.text.noun_prior

    def cells(self, coarse: Tensor, fine: Tensor) -> Tensor:
        """One frame's cells: [M,C,g,g], [M,C,2g,2g] -> [M,G,D]."""
        return self.norm(self.coarse(coarse.flatten(2).transpose(1, 2)) + self.fine(fine).flatten(2).transpose(1, 2))

    def forward(self, coarse: Tensor, fine: Tensor, crop: Tensor, box: Tensor) -> tuple[Tensor, Tensor]:
        """coarse [M,2,C,g,g], fine [M,2,C,2g,2g] (its last three channels are RGB, -1..1), crop and box [M,4] -> noun
        logits [M,2,N] and colour logits [M,2,K], whose softmax is calibrated."""
        rgb = fine[:, :, -3:] * RGB_SCALE
        if self.training and self.channel_dropout > 0:
            coarse, fine = (
                x * F.dropout(torch.ones_like(x[:, :1, :, :1, :1]), self.channel_dropout) for x in (coarse, fine)
            )
        g = coarse.shape[-1]
        inside = inside_box(crop, box, g)[..., None]  # [M,G,1]
        inside_fine = inside_box(crop, box, 2 * g).reshape(-1, 1, 2 * g, 2 * g)
        cells = [self.cells(coarse[:, side], fine[:, side]) for side in (0, 1)]
        # The box's aspect and its sides in the frame distinguish a person from a car, and a far car from a toy.
        size = torch.cat([box[:, 2:].clamp(min=1e-3).log(), (box[:, 3:] / box[:, 2:3].clamp(min=1e-3)).log()], 1)
        size = F.relu(self.size(size))
        nouns, colours = [], []
        for side in (0, 1):
            here, there = cells[side], cells[1 - side]
            alike = F.cosine_similarity(here, there, dim=-1)[..., None]  # [M,G,1]
            x = self.relate(torch.cat([here, here - there, here * there, alike, inside], -1))  # [M,G,D]
            weight = torch.softmax(self.where(x) + INSIDE_BIAS * inside, 1)  # [M,G,P]
            pooled = (weight.transpose(1, 2) @ x).flatten(1)  # [M,P*D]
            nouns.append(self.noun(torch.cat([pooled, size], 1)))
            seen = torch.cat([fine[:, side], fine[:, side] - fine[:, 1 - side], inside_fine], 1)
            chosen = self.paint_where(seen) + INSIDE_BIAS * inside_fine  # [M,P,2g,2g]
            chosen = torch.softmax(chosen.flatten(2), -1)  # [M,P,4G]
            own_rgb = rgb[:, side]
            paint = torch.cat([self.paint(own_rgb), own_rgb], 1).flatten(2)  # [M,32+3,4G]
            painted = (chosen @ paint.transpose(1, 2)).flatten(1)  # [M,P*35]
            # Grey is darker than a white wall and lighter than a black car, so the light of the whole crop counts.
            flat = own_rgb.flatten(2)
            light = torch.cat([flat.mean(2), flat.amax(2), flat.amin(2)], 1)  # [M,9]
            colours.append(self.colour(torch.cat([painted, light, pooled[:, : 2 * x.shape[-1]]], 1)))
        return torch.stack(nouns, 1) * self.noun_scale + self.noun_shift, torch.stack(colours, 1) * self.colour_scale
