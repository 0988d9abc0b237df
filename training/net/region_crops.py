"""Encodes the region crops (both frames at their own resolution, at the changed regions) as tokens of the memory.

Letters: B pairs, R region crops of a pair, M = B * R crops in one row, g x g coarse cells of a crop, G = g * g, D
width, Cc, Cf coarse and fine channels. Boxes are x, y, width, height as fractions of the frame. Frame axis: before,
after.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import CROP_SIDES
from training.net.attention import GridPosition
from training.net.config import ModelConfig
from training.net.crop_evidence import displacement_features, displacements, inside_box, same_object_evidence
from training.net.crop_relations import CropRelations

RGB_SCALE = 3.0  # brings RGB (standard deviation about 0.33) to unit variance


class ColourHead(nn.Module):
    """The colour of the object in a crop: all features say which cells count (the coat, not the road), only RGB names
    it."""

    POOLS, CHANNELS = 4, 32

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.where = nn.Linear(c.width, self.POOLS)
        self.cell = nn.Conv2d(3, self.CHANNELS, 2, stride=2)
        pooled = self.POOLS * self.CHANNELS + 9
        self.name = nn.Sequential(
            nn.Linear(pooled, 96), nn.ReLU(), nn.Dropout(c.dropout), nn.Linear(96, len(c.colours))
        )

    def forward(self, rgb: Tensor, tokens: Tensor, inside: Tensor) -> Tensor:
        """rgb [M,2,3,2g,2g] (-1..1), tokens [M,2,G,D], inside [M,G,1] -> logits [M,2,colours]."""
        M = rgb.shape[0]
        rgb = rgb.flatten(0, 1) * RGB_SCALE  # [2M,3,2g,2g]
        cells = F.relu(self.cell(rgb)).flatten(2).reshape(M, 2, self.CHANNELS, -1)  # [M,2,channels,G]
        weight = torch.softmax(self.where(tokens) + 4 * inside[:, None], 2)  # [M,2,G,pools]
        pooled = (cells @ weight).flatten(2)  # [M,2,channels*pools]
        # Grey is darker than a white wall and lighter than a black car, so the light of the whole crop counts too.
        around = F.avg_pool2d(rgb, 2).flatten(2)  # [2M,3,G]
        light = torch.cat([around.mean(2), around.amax(2), around.amin(2)], 1).reshape(M, 2, 9)
        return self.name(torch.cat([pooled, light], -1))


class RegionCrops(nn.Module):
    """Crops of the changed regions in both frames -> G + 1 memory tokens per crop, and labels of what each crop
    shows."""

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.c = c
        D, g = c.width, c.crop_grid
        self.coarse = nn.Linear(c.coarse_channels, D)
        self.fine = nn.Conv2d(c.fine_channels, D, 2, stride=2)
        self.colour_head = ColourHead(c) if c.colour_head else None
        if self.colour_head is not None:
            self.colours_to_summary = nn.Linear(2 * len(c.colours), D)
            nn.init.zeros_(self.colours_to_summary.weight)  # training starts as if this layer were not there
            nn.init.zeros_(self.colours_to_summary.bias)
        self.relations = CropRelations(c) if c.crop_relations else None
        self.inside = nn.Linear(1, D)
        self.position = GridPosition(g, g, D)
        self.box = nn.Linear(8, D)
        self.norm = nn.LayerNorm(D, eps=1e-6)
        self.fuse = nn.Sequential(nn.Linear(3 * D, D), nn.ReLU(), nn.Dropout(c.dropout))
        self.pool = nn.Linear(D, 1)
        self.summary = nn.Linear(3 * D, D)
        self.side = nn.Linear(3 * D, len(CROP_SIDES))
        self.noun = nn.Sequential(nn.Dropout(c.dropout), nn.Linear(D, len(c.nouns)))
        self.colour = nn.Sequential(nn.Dropout(c.dropout), nn.Linear(D, len(c.colours)))

    def cells(self, coarse: Tensor, fine: Tensor, inside: Tensor) -> Tensor:
        """One frame's cells: [M,Cc,g,g], [M,Cf,2g,2g], inside [M,G,1] -> [M,G,D]."""
        x = self.coarse(coarse.flatten(2).transpose(1, 2)) + self.fine(fine).flatten(2).transpose(1, 2)  # [M,G,D]
        return self.norm(x + self.inside(inside) + self.position())

    def see(
        self, coarse: Tensor, fine: Tensor, rgb: Tensor, crop: Tensor, obj: Tensor
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor], Tensor, Tensor]:
        """The parts of crops that both directions of time share: coarse [M,2,Cc,g,g], fine [M,2,Cf,2g,2g], rgb
        [M,2,3,2g,2g], crop and obj [M,4] -> cells [M,G,D] and content [M,D] before and after, logits of the colours
        [M,2,colours], place [M,D]."""
        inside = inside_box(crop, obj, self.c.crop_grid)[..., None]  # [M,G,1]
        b = self.cells(coarse[:, 0], fine[:, 0], inside)  # [M,G,D]
        a = self.cells(coarse[:, 1], fine[:, 1], inside)  # [M,G,D]
        centre, log_size = obj[:, :2] + obj[:, 2:] / 2, obj[:, 2:].clamp(min=1e-3).log() / 4
        place = self.box(torch.cat([obj, centre, log_size], 1))  # [M,D]
        weight = torch.softmax(self.pool(F.relu(b - a) + F.relu(a - b)) + 4 * inside, 1)  # [M,G,1]
        object_b, object_a = (b * weight).sum(1), (a * weight).sum(1)  # [M,D]: the content of each frame
        colours = torch.stack([self.colour(object_b), self.colour(object_a)], 1)  # [M,2,colours]
        if self.colour_head is not None:
            colours = colours + self.colour_head(rgb, torch.stack([b, a], 1), inside)
        return (b, a), (object_b, object_a), colours, place

    def compare(
        self, cells: tuple[Tensor, Tensor], objects: tuple[Tensor, Tensor], colours: Tensor, place: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The outputs of `see` in one direction of time -> cells [M,G,D], summary [M,D], logits of the sides [M,4]."""
        (b, a), (object_b, object_a) = cells, objects
        fused = self.fuse(torch.cat([b, a, b - a], -1)) + place[:, None]  # [M,G,D]
        both = torch.cat([object_b, object_a, (object_b - object_a).abs()], -1)  # [M,3D]
        summary = F.relu(self.summary(both)) + place  # [M,D]
        if self.colour_head is not None:
            summary = summary + self.colours_to_summary(torch.softmax(colours, -1).flatten(1))
        return fused, summary, self.side(both)

    def forward(
        self,
        coarse: Tensor,
        fine: Tensor,
        crop: Tensor,
        obj: Tensor,
        mask: Tensor,
        frame_kind: Tensor | None = None,
        truth: dict[str, Tensor] | None = None,
    ) -> dict[str, Tensor]:
        """coarse [B,R,2,Cc,g,g], fine [B,R,2,Cf,2g,2g] (its last three channels are RGB), crop and obj [B,R,4], mask
        [B,R] (1 = used); frame_kind and truth as in `CropRelations`.

        Returns tokens [B,R*(G+1),D], described [B,R] (1 if the words may describe the crop), side_logits [B,R,4],
        noun_logits and colour_logits [B,R,2,classes], and the outputs of CropRelations if the crops are related.
        """
        B, R = mask.shape
        strongest = (torch.arange(R, device=mask.device) < self.c.described_crops).to(
            mask
        )  # crops come strongest first
        described = mask if self.training else mask * strongest
        if self.relations is not None:
            evidence = same_object_evidence(coarse, fine, crop, obj)
            displacement = displacement_features(displacements(coarse, fine, crop, obj), obj[:, :, None])
        coarse, fine = coarse.flatten(0, 1), fine.flatten(0, 1)  # [M,2,C,...]
        crop, obj = crop.flatten(0, 1), obj.flatten(0, 1)  # [M,4]
        rgb = fine[:, :, -3:]
        if self.training and self.c.crop_dropout > 0:
            coarse, fine = (
                x * F.dropout(torch.ones_like(x[:, :1, :, :1, :1]), self.c.crop_dropout) for x in (coarse, fine)
            )
        (b, a), (object_b, object_a), colours, place = self.see(coarse, fine, rgb, crop, obj)
        cells, summary, side_logits = self.compare((b, a), (object_b, object_a), colours, place)
        side_logits, relations = side_logits.reshape(B, R, -1), {}
        if self.relations is not None:
            objects = tuple(x.reshape(B, R, -1) for x in (object_b, object_a, place))
            sides = torch.softmax(side_logits, -1)
            for_summary, for_cells, relations = self.relations(
                objects, mask, evidence, displacement, sides, frame_kind, truth, described
            )
            summary = summary + for_summary.flatten(0, 1)
            cells = cells + for_cells.flatten(0, 1)[:, None]
        tokens = torch.cat([cells, summary[:, None]], 1).reshape(B, -1, cells.shape[-1])  # [M,G+1,D] -> [B,R*(G+1),D]
        nouns = torch.stack([self.noun(object_b), self.noun(object_a)], 1)  # [M,2,nouns]
        return {
            "tokens": tokens,
            "described": described,
            **relations,
            "side_logits": side_logits,
            "noun_logits": nouns.reshape(B, R, 2, -1),
            "colour_logits": colours.reshape(B, R, 2, -1),
        }
