"""The outputs of the evidence graph: as tokens of one width for the search vectors, and as numbers for the truth check.

Letters: B pairs, S tokens of the decoder (N of the full frame, then G + 1 per region crop), R region crops, G = g * g
cells of a crop, P pools of a crop's cells, W width of the decoder, D width here, K kinds, h x w cells of a change map.
E = N + R * (P + 3) + 1 tokens here. Boxes are x, y, width, height as fractions of the frame. Frame axis 2: before,
after.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import KINDS
from training.net.attention import GridPosition
from training.net.crop_evidence import inside_box

HIDDEN = -10_000.0  # added to the attention to a token that must not be seen
POOLS = 4
INSIDE_BIAS = 2.0  # of a cell in the region's box, in the softmax that pools the cells
LOGIT_SCALE = 0.2  # brings log-probabilities to about unit variance


@dataclass(frozen=True)
class EvidenceSizes:
    """Sizes of a bundle's evidence."""

    nouns: int
    colours: int
    regions: int = 3
    frame_grid: tuple[int, int] = (6, 9)  # rows and columns of the full frame's tokens
    crop_grid: int = 7
    decoder_width: int = 256

    @property
    def concepts(self) -> int:
        """The concepts of `training.net.search.concepts_of`."""
        return self.nouns + self.colours + len(KINDS) + 2


def box_features(box: Tensor) -> Tensor:
    """[...,4] -> [...,9]: the box, its centre, its log size and its aspect."""
    size = box[..., 2:].clamp(min=1e-3).log()
    return torch.cat([box, box[..., :2] + box[..., 2:] / 2, size / 4, (size[..., 1:] - size[..., :1]) / 2], -1)


def moments_in_boxes(maps: Tensor, box: Tensor) -> Tensor:
    """Sums of each change map in each box, and its first moments in x and y, as fractions of the frame: maps
    [B,2,h,w], box [B,R,4] -> [B,R,2,3]. A sum is the mean response times the box's cells, at least a quarter of one."""
    h, w = maps.shape[-2:]

    def inside(start: Tensor, extent: Tensor, cells: int) -> Tensor:
        """Share of each cell that the interval covers, at least half a cell in all: [B,R] -> [B,R,cells]."""
        edges = torch.arange(cells, device=start.device, dtype=start.dtype)
        low, high = start[..., None] * cells, (start + extent.clamp(min=0.5 / cells))[..., None] * cells
        return (torch.minimum(high, edges + 1) - torch.maximum(low, edges)).clamp(min=0)

    def centres(cells: int) -> Tensor:
        return (torch.arange(cells, device=maps.device, dtype=maps.dtype) + 0.5) / cells

    rows, columns = inside(box[..., 1], box[..., 3], h), inside(box[..., 0], box[..., 2], w)
    weight = rows[..., :, None] * columns[..., None, :]  # [B,R,h,w]
    weights = torch.stack([weight, weight * centres(w), weight * centres(h)[:, None]], 2)  # [B,R,3,h,w]
    return (weights.flatten(3).flatten(1, 2) @ maps.flatten(2).transpose(1, 2)).unflatten(1, (-1, 3)).transpose(2, 3)


def maps_in_boxes(maps: Tensor, box: Tensor) -> Tensor:
    """Mean of each change map in each box: maps [B,2,h,w], box [B,R,4] -> [B,R,2]."""
    cells = moments_in_boxes(torch.ones_like(maps), box)[..., 0].clamp(min=1e-3)
    return moments_in_boxes(maps, box)[..., 0] / cells


def displacement_of(moments: Tensor) -> Tensor:
    """From where "before" responds to where "after" does, in fractions of the frame, and less the more the responses
    differ: moments [...,2,3] of `moments_in_boxes`, or sums of them -> [...,2]."""
    sums = moments[..., 0].clamp(min=1e-3)  # [...,2]
    centre = moments[..., 1:] / sums[..., None]  # [...,2 frames,2 axes]
    both = 2 * sums.amin(-1) / sums.sum(-1)
    return (centre[..., 1, :] - centre[..., 0, :]) * both[..., None]


def finite_names(noun_logits: Tensor, colour_logits: Tensor, mask: Tensor) -> list[Tensor]:
    """Both [B,R,2,classes] with zeros in unused slots, of which the namer gives no numbers: it takes the logarithm of
    the height of their box."""
    used = mask[:, :, None, None] > 0
    return [torch.where(used, logits, torch.zeros_like(logits)) for logits in (noun_logits, colour_logits)]


class EvidenceTokens(nn.Module):
    """The decoder's tokens, those of crops pooled; a token of names per crop and frame, and one of the kind."""

    def __init__(self, sizes: EvidenceSizes, width: int = 128, dropout: float = 0.1):
        super().__init__()
        D, self.sizes = width, sizes
        self.decoder = nn.Sequential(nn.LayerNorm(sizes.decoder_width), nn.Linear(sizes.decoder_width, D))
        self.frame_position = GridPosition(*sizes.frame_grid, D)
        self.cell_where = nn.Linear(D, POOLS)
        self.part = nn.Parameter(torch.randn(POOLS + 1, D) * 0.1)  # the pools and the summary of a crop
        self.crop = nn.Parameter(torch.randn(sizes.regions, D) * 0.02)
        self.side = nn.Parameter(torch.randn(2, D) * 0.5)
        named = 2 * (sizes.nouns + sizes.colours) + 9 + 2
        self.names = nn.Sequential(nn.Linear(named, D), nn.ReLU(), nn.Dropout(dropout), nn.Linear(D, D))
        self.kind = nn.Linear(2 * len(KINDS), D)
        self.norm = nn.LayerNorm(D)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        tokens: Tensor,
        kind_logits: Tensor,
        noun_logits: Tensor,
        colour_logits: Tensor,
        maps: Tensor,
        crop: Tensor,
        obj: Tensor,
        mask: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """tokens [B,S,W], kind_logits [B,K], noun_logits [B,R,2,nouns], colour_logits [B,R,2,colours], maps
        [B,2,h,w], crop and obj [B,R,4], mask [B,R] (1 = used) -> tokens [B,E,D] and what is added to the
        attention to each, [B,E].
        """
        s, B = self.sizes, tokens.shape[0]
        N, R, G = s.frame_grid[0] * s.frame_grid[1], s.regions, s.crop_grid**2
        x = self.decoder(tokens)  # [B,S,D]
        frame = x[:, :N] + self.frame_position()
        inside = inside_box(crop, obj, s.crop_grid)[..., None]  # [B,R,G,1]
        cells, summary = x[:, N:].reshape(B, R, G + 1, -1).split((G, 1), 2)
        weight = torch.softmax(self.cell_where(cells) + INSIDE_BIAS * inside, 2)  # [B,R,G,P]
        parts = torch.cat([weight.transpose(2, 3) @ cells, summary], 2) + self.part + self.crop[:, None]  # [B,R,P+1,D]
        # Both frames' map responses, the own frame's first: a thing that is in one frame alone shows there.
        response = maps_in_boxes(maps, obj)  # [B,R,2]
        response = torch.stack([response, response.flip(-1)], 2)  # [B,R,2,2]
        box = box_features(obj)[:, :, None].expand(-1, -1, 2, -1)  # [B,R,2,9]
        said = [F.log_softmax(x, -1) for x in finite_names(noun_logits, colour_logits, mask)]  # [B,R,2,classes]
        named = torch.cat([*(p.exp() for p in said), *(p * LOGIT_SCALE for p in said), box, response], -1)
        names = self.names(named) + self.crop[:, None] + self.side  # [B,R,2,D]
        kind = F.log_softmax(kind_logits, -1)
        kind = self.kind(torch.cat([kind.exp(), kind * LOGIT_SCALE], -1))[:, None]  # [B,1,D]
        all_tokens = torch.cat([frame, parts.flatten(1, 2), names.flatten(1, 2), kind], 1)
        unused = (mask - 1) * -HIDDEN  # [B,R]
        hidden = [
            torch.zeros_like(tokens[:, :N, 0]),
            unused[:, :, None].expand(-1, -1, POOLS + 1).flatten(1),
            unused[:, :, None].expand(-1, -1, 2).flatten(1),
            torch.zeros_like(kind_logits[:, :1]),
        ]
        return self.dropout(self.norm(all_tokens)), torch.cat(hidden, 1)
