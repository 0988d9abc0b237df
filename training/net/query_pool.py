"""Learned queries that pool any number of tokens by attention. Letters: B rows, S tokens, D width, H heads."""

import torch
from torch import Tensor, nn

from training.net.attention import split_heads


class QueryPool(nn.Module):
    """Base of the networks that give a change its vector."""

    def __init__(self, width: int, queries: int, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.query = nn.Parameter(torch.randn(queries, width) * 0.3)
        self.keys_values = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(queries * width)

    def pooled(self, seen: Tensor, bias: Tensor) -> Tensor:
        """seen [B,S,D], bias [B,S] (added to the attention) -> [B,queries*D]."""
        k, v = (split_heads(t, self.heads) for t in self.keys_values(seen).chunk(2, -1))  # [B,H,S,d]
        q = split_heads(self.query[None], self.heads)  # [1,H,queries,d]
        weight = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias[:, None, None], -1)
        return self.norm((weight @ v).transpose(1, 2).reshape(seen.shape[0], -1))
