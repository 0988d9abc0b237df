"""SCORER for a camera that moves between the frames: `Difference` with the same outputs, where cells of the same place show other things.

What is kept of the paper: Eq. 1 tokens with learned positions, shared cross-view layers that reconstruct each frame from the other,
token-wise matching, Eq. 7 memory. What is added, because the default model compares cells of the same place:
- the head that finds an object in the other frame also fetches what was read there, so that what differs is a subtraction;
- tokens see the fine cells (an object is as small as 1.5 coarse cells) and their frame's mean (how far the whole frame moved);
- only the tokens that show an object are matched: a seventh of the frame, so a step costs a third;
- maps are read from the matched tokens, and what they point at is told to every memory token;
- the decoder's memory is pooled: which object it is about was pointed out before, and a caption costs a quarter;
- the twin's truth supervises single frames (what each token shows, and where that stands in the scene) and the matching itself.

Letters as in model.py; K tokens kept, P attributes' values.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.net.config import KINDS, NUISANCES, ModelConfig
from training.net.cross_view import CrossViewLayer
from training.net.difference import Difference, mean_of_largest

# What a token's object is, in the order of the reading's logits; clevr_data gives the classes.
READ = {"size": 2, "colour": 8, "material": 2, "shape": 3}
TOLD = 64  # units that tell what differs between a token and its match


class FrameContext(nn.Module):
    """A token's own hidden units and their mean over the frame, post-norm: [B,N,D] -> [B,N,D]."""

    def __init__(self, width: int):
        super().__init__()
        self.own = nn.Linear(width, 2 * width)
        self.frame = nn.Linear(2 * width, 2 * width)
        self.out = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        h = F.relu(self.own(x))
        return self.norm(x + self.out(F.relu(h + self.frame(h.mean(1, keepdim=True)))))


def readings(read: Tensor) -> Tensor:
    """What tokens show, as numbers that can be subtracted: a share for each value of each attribute, and the place. [B,N,1+P+2] -> [B,N,P+2]."""
    parts = read[..., 1:-2].split(list(READ.values()), -1)
    return torch.cat([*(torch.softmax(part, -1) for part in parts), read[..., -2:]], -1)


class ContextLayer(CrossViewLayer):
    """The paper's cross-view layer, then a FrameContext: whether a match lies where the frame's other matches lead one to expect."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__(width, heads, dropout)
        self.context = FrameContext(width)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.context(super().forward(x, y))

    def first_head(self, x: Tensor, y: Tensor) -> Tensor:
        """Attention logits of the head that the truth supervises: [B,N,D], [B,M,D] -> [B,N,M]."""
        d = self.query.out_features // self.heads
        return self.query(x)[..., :d] @ self.key(y)[..., :d].transpose(1, 2) / d**0.5


def discrepancy(seen_x: Tensor, seen_y: Tensor, to_y: Tensor, to_x: Tensor) -> Tensor:
    """What differs between each token's reading and its match's: [B,K,P+2] x2, attention logits to the other and to the own frame
    [B,K,K] -> [B,K,E].

    The head that finds an object in the other frame finds the rest of it in its own, which averages the noise of single tokens away.
    Places are held to the frame's mean shift: a camera read wrongly moves everything alike.
    """
    matched = torch.softmax(to_y, -1)
    apart = torch.softmax(to_x, -1) @ (seen_x - matched @ seen_y)
    values, shift = apart[..., :-2], apart[..., -2:]
    apart = torch.cat([values, shift - shift.mean(1, keepdim=True)], -1)
    return torch.cat([apart.abs(), apart, matched.amax(-1, keepdim=True)], -1)


class MovingDifference(Difference):
    """`Difference` where the camera moves; `ModelConfig.moving_camera`. Parameters that only the default needs are not made."""

    def __init__(self, c: ModelConfig):
        super().__init__(c)
        D, m = c.width, c.map_width
        if c.token_pool != 1:
            raise ValueError(
                f"moving_camera needs token_pool 1, not {c.token_pool}: two objects fit in a token of two cells"
            )
        del self.map_embed
        self.embed = nn.Sequential(
            nn.Conv2d(c.coarse_channels + 4 * c.fine_channels, D, 1), nn.ReLU(), nn.Conv2d(D, D, 1)
        )
        self.context = FrameContext(D)
        self.layers = nn.ModuleList([ContextLayer(D, c.heads, c.attention_dropout) for _ in range(c.scorer_layers)])
        self.read = nn.Linear(
            D, 1 + sum(READ.values()) + 2
        )  # shows an object; its attributes; x, y on the ground over REACH
        self.differs = nn.Linear(2 * (sum(READ.values()) + 2) + 1, TOLD)
        self.tell = nn.Linear(TOLD, D)
        self.maps = nn.Sequential(nn.Linear(D + TOLD, m), nn.ReLU(), nn.Linear(m, 4))  # of a token's four fine cells
        nn.init.constant_(self.maps[-1].bias, -3.0)
        self.point = nn.Linear(2 * (D + TOLD) + 2, D)
        pooled = 2 * m + 4 + 2 * (D + TOLD)
        self.change = nn.Sequential(nn.Linear(pooled, 64), nn.ReLU(), nn.Linear(64, 1))
        self.kind = nn.Sequential(nn.Linear(pooled, 96), nn.ReLU(), nn.Linear(96, len(KINDS)))
        self.nuisance = nn.Linear(D, len(NUISANCES))

    def tokens(self, coarse: Tensor, fine: Tensor) -> Tensor:
        """[B,Cc,r,c], [B,Cf,2r,2c] -> [B,N,D]. What has the shape of tokens is taken for them: kept from before (clevr_data.keep_tokens)."""
        if coarse.dim() == 3:
            return coarse
        x = (
            self.embed(torch.cat([coarse, F.pixel_unshuffle(fine, 2)], 1)).flatten(2).transpose(1, 2)
        )  # [B,D,r,c] -> [B,N,D]
        return self.context(x + self.position())

    def pooled(self, x: Tensor) -> Tensor:
        """[B,N,D] -> [B,N/pool^2,D]."""
        grid = x.transpose(1, 2).unflatten(2, self.c.token_grid)  # [B,N,D] -> [B,D,rows,columns]
        return F.avg_pool2d(grid, self.c.memory_pool).flatten(2).transpose(1, 2)

    def one_map(self, x: Tensor, told: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens [B,N,D] and what differs there [B,N,T] -> map logits [B,h,w], hidden units [B,N,m], what the map points at [B,D+T]."""
        x = torch.cat([x, told], -1)
        hidden = self.maps[1](self.maps[0](x))
        logits = self.maps[2](hidden)  # [B,N,4]
        pointed = torch.softmax(logits.amax(2), 1)[:, None] @ x
        grid = logits.transpose(1, 2).unflatten(2, self.c.token_grid)
        return F.pixel_shuffle(grid, 2)[:, 0], hidden, pointed[:, 0]

    def forward(
        self,
        coarse_b: Tensor,
        fine_b: Tensor,
        coarse_a: Tensor,
        fine_a: Tensor,
        evidence: Tensor | None = None,
        learn_maps: bool = True,
    ) -> dict[str, Tensor]:
        """As Difference.forward; neither `evidence` (matching of near places) nor `learn_maps` has a meaning here.

        In training each pair is answered both ways round, [pairs; the same pairs reversed]: the layers treat both frames alike, so
        the reversed pair costs its sentence alone.
        """
        c = self.c
        # Dropout here makes single readings unsure, as they are in scenes that were never seen.
        xb0, xa0 = self.dropout(self.tokens(coarse_b, fine_b)), self.dropout(self.tokens(coarse_a, fine_a))
        read_b, read_a = self.read(xb0), self.read(xa0)
        kept_b, kept_a = (r[..., 0].topk(c.tokens_kept, 1).indices for r in (read_b, read_a))  # [B,K]
        pick = lambda x, kept: x.gather(1, kept[:, :, None].expand(-1, -1, x.shape[2]))
        xb, xa = pick(xb0, kept_b), pick(xa0, kept_a)
        seen_b, seen_a = pick(readings(read_b), kept_b), pick(readings(read_a), kept_a)
        first = self.layers[0].first_head
        matching = [first(xb, xa), first(xa, xb)]
        told_b = F.relu(self.differs(discrepancy(seen_b, seen_a, matching[0], first(xb, xb))))
        told_a = F.relu(self.differs(discrepancy(seen_a, seen_b, matching[1], first(xa, xa))))
        xb, xa = xb + self.tell(told_b), xa + self.tell(told_a)
        for layer in self.layers:
            xb, xa = layer(xb, xa), layer(xa, xb)  # simultaneous: both from the old values
        put = lambda x0, kept, x: x0.scatter(1, kept[:, :, None].expand(-1, -1, x0.shape[2]), x)
        whole_b, whole_a = put(xb0, kept_b, xb), put(xa0, kept_a, xa)  # [B,N,D]: the others as they were
        nothing = torch.zeros_like(xb0[..., :1]).repeat(1, 1, TOLD)
        of_b = (whole_b, xb0, *self.one_map(whole_b, put(nothing, kept_b, told_b)))
        of_a = (whole_a, xa0, *self.one_map(whole_a, put(nothing, kept_a, told_a)))
        if self.training:
            of_b, of_a = ([torch.cat(both) for both in zip(*order)] for order in ((of_b, of_a), (of_a, of_b)))
        (whole_b, xb0, lb, hb, pb), (whole_a, xa0, la, ha, pa) = of_b, of_a
        sure = torch.cat([mean_of_largest(lb, 4), mean_of_largest(la, 4)], 1)
        memory = F.relu(
            self.dropout(self.fuse(torch.cat([self.pooled(whole_b), self.pooled(whole_a)], -1)))
        )  # paper Eq. 7
        memory = memory + self.point(torch.cat([pb, pa, sure], 1))[:, None]
        pooled = torch.cat([hb.amax(1), ha.amax(1), sure, mean_of_largest(lb, 32), mean_of_largest(la, 32), pb, pa], 1)
        change_logit = self.change(pooled)[:, 0]
        gate = torch.sigmoid(change_logit)[:, None, None] if c.gate_maps else 1.0
        return {
            "memory": memory,
            "change_logit": change_logit,
            "kind_logits": self.kind(pooled),
            "nuisance_logits": self.nuisance(memory.mean(1)),
            "map_before": torch.sigmoid(lb) * gate,
            "map_after": torch.sigmoid(la) * gate,
            # training only; the exporter drops them; the last three of the pairs one way round
            "logits_before": lb,
            "logits_after": la,
            "tokens": (xb0, xa0),
            "matched": (whole_b, whole_a),
            "read": (read_b, read_a),
            "kept": (kept_b, kept_a),
            "matching": matching,
        }
