"""Delta tokens, after OneDiff (Hu et al., ACCV 2024): learned queries that read several feature levels of both frames.

Letters as in base.py; Q delta tokens.
"""

import torch
from torch import Tensor, nn

from research.captioners.transformer import TransformerLayer


class DeltaModule(nn.Module):
    """Q queries, and per level a layer of self-attention and one of attention to both frames; BERT's layers."""

    def __init__(self, channels: dict[str, int], queries: int, width: int, heads: int, ffn: int):
        """channels: of each level, in the order in which the queries read them."""
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, queries, width) * 0.02)
        self.enter = nn.ModuleDict({name: nn.Linear(size, width) for name, size in channels.items()})
        self.side = nn.Parameter(torch.randn(2, 1, width) * 0.02)
        layers = lambda: nn.ModuleList([TransformerLayer(width, heads, ffn, 0.0, False) for _ in channels])
        self.within, self.cross = layers(), layers()

    def forward(self, levels: list[tuple[Tensor, Tensor]], position: Tensor | float = 0.0) -> Tensor:
        """Before and after of each level, [B,N,C] -> [B,Q,W]. position [N,W]: added to the tokens of all levels."""
        x = self.queries.expand(levels[0][0].shape[0], -1, -1)
        for within, cross, enter, pair in zip(self.within, self.cross, self.enter.values(), levels):
            x, _ = within(x)
            frames = [enter(y) + position + self.side[i] for i, y in enumerate(pair)]
            x, _ = cross(x, 0.0, cross.keys_values(torch.cat(frames, 1)))
        return x


@torch.no_grad()
def spread(tokens: Tensor) -> dict[str, Tensor]:
    """Standard deviations of [B,Q,W] over the queries of a pair and over the pairs of a query. 0: all are alike."""
    return {"delta_spread_queries": tokens.std(1).mean(), "delta_spread_pairs": tokens.std(0).mean()}
