"""SCORER for a camera that moves between the frames: a `Difference` in which equal cells show different places.

Kept from the paper: tokens with learned positions (Eq. 1), shared cross-view layers that reconstruct each frame from
the other, token-wise matching, and the memory (Eq. 7). The default model compares cells of the same place, so this one
adds:

- The attention head that finds an object in the other frame also fetches the reading of that object, so that the
  difference of two objects is a subtraction.
- A token sees its fine cells, because an object is as small as 1.5 coarse cells, and the mean of its frame, which shows
  how far the camera moved.
- Only tokens that show an object are matched. They are a seventh of the frame, so a step costs a third.
- Change maps are computed from the matched tokens. The tokens that a map points at are added to every memory token.
- The decoder memory is pooled, because its subject is already pointed out. A caption costs a quarter.
- The ground truth supervises the readings of single frames (the object of a token and its position) and the matching.

Letters as in training/net/difference.py; K: kept tokens, P: values of all attributes, E: elements of a discrepancy,
T = DIFFERENCE_WIDTH.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import KINDS, NUISANCES
from training.net.config import ModelConfig
from training.net.cross_view import CrossViewLayer
from training.net.difference import Difference, mean_of_largest

# Number of values per attribute, in the order of the reading's logits; family_cache.CLASSES has the values.
ATTRIBUTE_CLASSES = {"size": 2, "colour": 8, "material": 2, "shape": 3}
DIFFERENCE_WIDTH = 64  # hidden units that encode how a token differs from its match


class FrameContext(nn.Module):
    """Adds hidden units of a token and of the mean over its frame, post-norm: [B,N,D] -> [B,N,D]."""

    def __init__(self, width: int):
        super().__init__()
        self.own = nn.Linear(width, 2 * width)
        self.frame = nn.Linear(2 * width, 2 * width)
        self.out = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        h = F.relu(self.own(x))
        return self.norm(x + self.out(F.relu(h + self.frame(h.mean(1, keepdim=True)))))


def reading_values(read: Tensor) -> Tensor:
    """Readings as numbers that can be subtracted: probability per attribute value, and position.

    [B,N,1+P+2] -> [B,N,P+2]
    """
    parts = read[..., 1:-2].split(list(ATTRIBUTE_CLASSES.values()), -1)
    return torch.cat([*(torch.softmax(part, -1) for part in parts), read[..., -2:]], -1)


class ContextLayer(CrossViewLayer):
    """The paper's cross-view layer and a FrameContext, by which a match can be compared with the frame's other ones."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__(width, heads, dropout)
        self.context = FrameContext(width)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.context(super().forward(x, y))

    def first_head(self, x: Tensor, y: Tensor) -> Tensor:
        """Attention logits of the head that the ground truth supervises: [B,N,D], [B,M,D] -> [B,N,M]."""
        d = self.query.out_features // self.heads
        return self.query(x)[..., :d] @ self.key(y)[..., :d].transpose(1, 2) / d**0.5


def discrepancy(values_x: Tensor, values_y: Tensor, to_y: Tensor, to_x: Tensor) -> Tensor:
    """Difference of each token's reading to that of its match in the other frame: [B,K,E].

    values_x, values_y [B,K,P+2]: readings. to_y, to_x [B,K,K]: attention logits to the other and to the own frame.
    Attention to the own frame averages over the tokens of one object, which reduces noise. Positions are relative to
    the mean shift of the frame, because an error in the camera's motion shifts all positions alike.
    """
    matched = torch.softmax(to_y, -1)
    apart = torch.softmax(to_x, -1) @ (values_x - matched @ values_y)
    values, shift = apart[..., :-2], apart[..., -2:]
    apart = torch.cat([values, shift - shift.mean(1, keepdim=True)], -1)
    return torch.cat([apart.abs(), apart, matched.amax(-1, keepdim=True)], -1)


def gather_tokens(x: Tensor, kept: Tensor) -> Tensor:
    """The tokens of indices `kept` [B,K]: [B,N,D] -> [B,K,D]."""
    return x.gather(1, kept[:, :, None].expand(-1, -1, x.shape[2]))


def scatter_tokens(x: Tensor, kept: Tensor, values: Tensor) -> Tensor:
    """x [B,N,D] with the tokens of indices `kept` [B,K] replaced by `values` [B,K,D]."""
    return x.scatter(1, kept[:, :, None].expand(-1, -1, x.shape[2]), values)


class MovingDifference(Difference):
    """`Difference` for `ModelConfig.moving_camera`, without the parameters that only the default model uses.

    The names of the parameters are those of existing checkpoints.
    """

    def __init__(self, c: ModelConfig):
        super().__init__(c)
        D, m, T, P = c.width, c.map_width, DIFFERENCE_WIDTH, sum(ATTRIBUTE_CLASSES.values())
        if c.token_pool != 1:
            raise ValueError(
                f"moving_camera needs token_pool 1, not {c.token_pool}: two objects fit in a token of two cells"
            )
        del self.map_embed
        channels = c.coarse_channels + 4 * c.fine_channels
        self.embed = nn.Sequential(nn.Conv2d(channels, D, 1), nn.ReLU(), nn.Conv2d(D, D, 1))
        self.context = FrameContext(D)
        self.layers = nn.ModuleList([ContextLayer(D, c.heads, c.attention_dropout) for _ in range(c.scorer_layers)])
        # Reading: whether a token shows an object, its attributes, its x and y on the ground over MAX_COORDINATE.
        self.read = nn.Linear(D, 1 + P + 2)
        self.differs = nn.Linear(2 * (P + 2) + 1, T)
        self.tell = nn.Linear(T, D)
        self.maps = nn.Sequential(nn.Linear(D + T, m), nn.ReLU(), nn.Linear(m, 4))  # of a token's four fine cells
        nn.init.constant_(self.maps[-1].bias, -3.0)
        self.point = nn.Linear(2 * (D + T) + 2, D)
        pooled = 2 * m + 4 + 2 * (D + T)
        self.change = nn.Sequential(nn.Linear(pooled, 64), nn.ReLU(), nn.Linear(64, 1))
        self.kind = nn.Sequential(nn.Linear(pooled, 96), nn.ReLU(), nn.Linear(96, len(KINDS)))
        self.nuisance = nn.Linear(D, len(NUISANCES))

    def tokens(self, coarse: Tensor, fine: Tensor) -> Tensor:
        """[B,Cc,r,c], [B,Cf,2r,2c] -> [B,N,D]. A `coarse` [B,N,D] already is tokens (FamilyCache.keep_tokens)."""
        if coarse.dim() == 3:
            return coarse
        x = self.embed(torch.cat([coarse, F.pixel_unshuffle(fine, 2)], 1))  # [B,D,r,c]
        x = x.flatten(2).transpose(1, 2)  # [B,D,r,c] -> [B,N,D]
        return self.context(x + self.position())

    def pooled(self, x: Tensor) -> Tensor:
        """[B,N,D] -> [B,N/pool^2,D]."""
        grid = x.transpose(1, 2).unflatten(2, self.c.token_grid)  # [B,N,D] -> [B,D,rows,columns]
        return F.avg_pool2d(grid, self.c.memory_pool).flatten(2).transpose(1, 2)

    def one_map(self, x: Tensor, difference: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Change map of one frame from its tokens [B,N,D] and their differences [B,N,T].

        Returns map logits [B,h,w], hidden units [B,N,m] and the mean token that the map points at [B,D+T].
        """
        x = torch.cat([x, difference], -1)
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
        """As Difference.forward. `evidence` (matching of nearby places) and `learn_maps` are ignored.

        In training the outputs are those of the pairs and then those of the same pairs reversed. The layers treat both
        frames alike, so a reversed pair costs only its caption.
        """
        c = self.c
        # Dropout makes some readings uncertain, as they are in new scenes.
        xb0, xa0 = self.dropout(self.tokens(coarse_b, fine_b)), self.dropout(self.tokens(coarse_a, fine_a))
        read_b, read_a = self.read(xb0), self.read(xa0)
        kept_b, kept_a = (read[..., 0].topk(c.tokens_kept, 1).indices for read in (read_b, read_a))  # [B,K]
        xb, xa = gather_tokens(xb0, kept_b), gather_tokens(xa0, kept_a)
        values_b = gather_tokens(reading_values(read_b), kept_b)
        values_a = gather_tokens(reading_values(read_a), kept_a)
        first = self.layers[0].first_head
        matching = [first(xb, xa), first(xa, xb)]
        difference_b = F.relu(self.differs(discrepancy(values_b, values_a, matching[0], first(xb, xb))))  # [B,K,T]
        difference_a = F.relu(self.differs(discrepancy(values_a, values_b, matching[1], first(xa, xa))))
        xb, xa = xb + self.tell(difference_b), xa + self.tell(difference_a)
        for layer in self.layers:
            xb, xa = layer(xb, xa), layer(xa, xb)  # simultaneous: both from the old values
        whole_b, whole_a = scatter_tokens(xb0, kept_b, xb), scatter_tokens(xa0, kept_a, xa)  # [B,N,D]
        zeros = torch.zeros_like(xb0[..., :1]).repeat(1, 1, DIFFERENCE_WIDTH)  # tokens that are not kept do not differ
        of_b = (whole_b, xb0, *self.one_map(whole_b, scatter_tokens(zeros, kept_b, difference_b)))
        of_a = (whole_a, xa0, *self.one_map(whole_a, scatter_tokens(zeros, kept_a, difference_a)))
        if self.training:
            of_b, of_a = ([torch.cat(both) for both in zip(*order)] for order in ((of_b, of_a), (of_a, of_b)))
        (whole_b, xb0, lb, hb, pb), (whole_a, xa0, la, ha, pa) = of_b, of_a
        peaks = torch.cat([mean_of_largest(lb, 4), mean_of_largest(la, 4)], 1)
        both = torch.cat([self.pooled(whole_b), self.pooled(whole_a)], -1)
        memory = F.relu(self.dropout(self.fuse(both)))  # paper Eq. 7
        memory = memory + self.point(torch.cat([pb, pa, peaks], 1))[:, None]
        pooled = torch.cat([hb.amax(1), ha.amax(1), peaks, mean_of_largest(lb, 32), mean_of_largest(la, 32), pb, pa], 1)
        change_logit = self.change(pooled)[:, 0]
        gate = torch.sigmoid(change_logit)[:, None, None] if c.gate_maps else 1.0
        return {
            "memory": memory,
            "change_logit": change_logit,
            "kind_logits": self.kind(pooled),
            "nuisance_logits": self.nuisance(memory.mean(1)),
            "map_before": torch.sigmoid(lb) * gate,
            "map_after": torch.sigmoid(la) * gate,
            # For training only, not exported. The last three are of the pairs without their reverses.
            "logits_before": lb,
            "logits_after": la,
            "tokens": (xb0, xa0),
            "matched": (whole_b, whole_a),
            "read": (read_b, read_a),
            "kept": (kept_b, kept_a),
            "matching": matching,
        }
