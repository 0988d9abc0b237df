"""The difference encoder (graph `difference.onnx`): where something changed, and the decoder memory of the full frame.

    features (frozen)   frame -> coarse [B,Cc,H/16,W/16], fine [B,Cf,H/8,W/8]
    Difference          features of both frames -> memory, logits of change, kind and nuisances, two change maps

SCORER (cross_view.py) makes the memory. Beyond the paper: matching evidence (matching.py), supervised maps, heads.

Letters: B pairs, N tokens of a frame, D width, m map width, h x w the map grid (stride 8), Cc, Cf coarse and fine
channels. Suffixes: _b before, _a after.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import KINDS, NUISANCES
from training.net.attention import GridPosition
from training.net.config import ModelConfig
from training.net.cross_view import CrossViewLayer
from training.net.matching import EVIDENCE_CHANNELS, matching_evidence

# One frame: its tokens after the layers [B,N,D], and the logits [B,h,w] and hidden values [B,m,h,w] of its map.
Side = tuple[Tensor, tuple[Tensor, Tensor]]


class ChangeMaps(nn.Module):
    """One change map per frame, with equal weights for both directions (inputs swapped).

    map_before: in before, and gone, moved or replaced in after. map_after: the reverse. An appearance is in map_after
    alone.
    """

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.c = c
        m = c.map_width
        evidence = EVIDENCE_CHANNELS if c.matching_evidence else 0
        self.fine = nn.Conv2d(c.fine_channels, m, 1)
        self.coarse = nn.Conv2d(c.coarse_channels, m, 1)
        self.mix = nn.Conv2d(4 * m + evidence, m, 1)
        self.body = nn.ModuleList([nn.Conv2d(m, m, 3, padding=p, dilation=p) for p in (1, 2, 4, 1)])
        self.norms = nn.ModuleList([nn.GroupNorm(4, m) for _ in self.body])
        self.logit = nn.Conv2d(m, 1, 1)
        nn.init.constant_(self.logit.bias, -3.0)

    def one_way(
        self, fine: tuple[Tensor, Tensor], coarse: tuple[Tensor, Tensor], evidence: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """fine, coarse: of this frame and of the other, [B,m,h,w] each -> map logits [B,h,w], hidden [B,m,h,w]."""
        parts = [*fine, *coarse]  # differences are linear in them, so `mix` can compute those itself
        x = F.relu(self.mix(torch.cat(parts if evidence is None else [*parts, evidence], 1)))  # [B,m,h,w]
        for conv, norm in zip(self.body, self.norms):
            x = x + F.relu(norm(conv(x)))  # [B,m,h,w]
        return self.logit(x)[:, 0], x

    def forward(self, fine_b: Tensor, coarse_b: Tensor, fine_a: Tensor, coarse_a: Tensor, evidence: Tensor | None):
        """evidence [B,2,EVIDENCE_CHANNELS,h,w], or None to compute it here (training reads it from the cache)."""
        fb, fa = self.fine(fine_b), self.fine(fine_a)  # [B,m,h,w]
        gb, ga = (F.interpolate(self.coarse(x), scale_factor=2.0, mode="nearest") for x in (coarse_b, coarse_a))
        eb = ea = None
        if self.c.matching_evidence:
            if evidence is None:
                evidence = matching_evidence(fine_b, coarse_b, fine_a, coarse_a)
            eb, ea = evidence[:, 0], evidence[:, 1]
        return self.one_way((fb, fa), (gb, ga), eb), self.one_way((fa, fb), (ga, gb), ea)


def mean_of_largest(logits: Tensor, k: int) -> Tensor:
    """Mean of the k largest cells: [B,h,w] -> [B,1]. A change may be one person far off, so no plain mean."""
    return logits.flatten(1).topk(k, 1).values.mean(1, keepdim=True)


def channel_statistics(features: Tensor) -> Tensor:
    """Mean and standard deviation of each channel: [B,C,h,w] -> [B,2C]."""
    deviation = (features.var((2, 3), unbiased=False) + 1e-6).sqrt()
    return torch.cat([features.mean((2, 3)), deviation], 1)


class Difference(nn.Module):
    """Features of both frames -> decoder memory, logits and maps."""

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.c = c
        D = c.width
        self.embed = nn.Conv2d(c.coarse_channels, D, c.token_pool, stride=c.token_pool)  # paper Eq. 1, on pooled cells
        self.position = GridPosition(*c.token_grid, D)
        self.layers = nn.ModuleList([CrossViewLayer(D, c.heads, c.attention_dropout) for _ in range(c.scorer_layers)])
        self.fuse = nn.Linear(2 * D, D)
        self.dropout = nn.Dropout(c.dropout)
        self.maps = ChangeMaps(c)
        self.map_embed = nn.Linear(2, D)
        pooled = 4 * c.map_width + 4 + D
        self.change = nn.Sequential(nn.Linear(pooled, 64), nn.ReLU(), nn.Linear(64, 1))
        self.kind = nn.Sequential(nn.Linear(pooled, 96), nn.ReLU(), nn.Linear(96, len(KINDS)))
        frame_statistics = 4 * c.fine_channels
        self.nuisance = nn.Sequential(nn.Linear(D + frame_statistics, 128), nn.ReLU(), nn.Linear(128, len(NUISANCES)))

    def tokens(self, coarse: Tensor) -> Tensor:
        return self.embed(coarse).flatten(2).transpose(1, 2) + self.position()  # [B,D,rows,columns] -> [B,N,D]

    def joined(self, before: Side, after: Side) -> tuple[Tensor, Tensor]:
        """Both frames -> memory [B,N,D], and what the heads read [B,4m+4+D]."""
        c, (xb, (lb, hb)), (xa, (la, ha)) = self.c, before, after
        memory = F.relu(self.dropout(self.fuse(torch.cat([xb, xa], -1))))  # [B,N,D], paper Eq. 7
        if c.map_memory:
            both = torch.sigmoid(torch.stack([lb, la], 1))  # [B,2,h,w]
            response = F.max_pool2d(both, 2 * c.token_pool)  # [B,2,rows,columns] of the tokens
            memory = memory + self.map_embed(response.flatten(2).transpose(1, 2))  # [B,N,D]
        hidden = [hb.amax((2, 3)), ha.amax((2, 3)), hb.mean((2, 3)), ha.mean((2, 3))]  # [B,m] each
        largest = [mean_of_largest(logits, k) for k in (4, 32) for logits in (lb, la)]  # [B,1] each
        return memory, torch.cat([*hidden, *largest, memory.mean(1)], 1)

    def exchanged(self, before: Side, after: Side) -> dict[str, Tensor]:
        """`sides` of a run -> memory and kind logits of the same pair with its frames exchanged. Both frames have equal
        weights, so that nothing before needs a second run."""
        memory, pooled = self.joined(after, before)
        return {"exchanged_memory": memory, "exchanged_kind_logits": self.kind(pooled)}

    def forward(
        self,
        coarse_b: Tensor,
        fine_b: Tensor,
        coarse_a: Tensor,
        fine_a: Tensor,
        evidence: Tensor | None = None,
        learn_maps: bool = True,
    ) -> dict[str, Tensor]:
        """coarse [B,Cc,h/2,w/2], fine [B,Cf,h,w], evidence as in ChangeMaps.

        learn_maps=False: the maps are settled and give no gradient, which halves a CPU step.
        """
        c = self.c
        xb0, xa0 = self.tokens(coarse_b), self.tokens(coarse_a)  # [B,N,D]
        xb, xa, last_inputs = xb0, xa0, (xb0, xa0)
        for layer in self.layers:
            last_inputs = (xb, xa)
            xb, xa = layer(xb, xa), layer(xa, xb)  # simultaneous: both from the old values

        with torch.set_grad_enabled(torch.is_grad_enabled() and learn_maps):
            before, after = self.maps(fine_b, coarse_b, fine_a, coarse_a, evidence)
            lb, la = before[0], after[0]  # [B,h,w]
        mb, ma = torch.sigmoid(lb), torch.sigmoid(la)  # [B,h,w]
        memory, pooled = self.joined((xb, before), (xa, after))
        change_logit = self.change(pooled)[:, 0]  # [B]
        gate = torch.sigmoid(change_logit)[:, None, None] if c.gate_maps else 1.0
        statistics = [memory.mean(1), channel_statistics(fine_b), channel_statistics(fine_a)]
        return {
            "memory": memory,
            "change_logit": change_logit,
            "kind_logits": self.kind(pooled),  # [B,K]
            "nuisance_logits": self.nuisance(torch.cat(statistics, 1)),  # [B,Q]
            "map_before": mb * gate,
            "map_after": ma * gate,
            # training only; the exporter drops them
            "logits_before": lb,
            "logits_after": la,
            "tokens": (xb0, xa0),
            "matched": last_inputs,
            "sides": ((xb, before), (xa, after)),  # for `exchanged`
        }
