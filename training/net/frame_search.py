"""The vector of a change in a bundle without region crops: it reads what the difference graph gives of the full frame.

Letters: B changes, N cells of the decoder memory, W its width, K kinds, h x w cells of a change map, D width here,
V size of a vector. Map axis 1: before, after.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import KINDS
from training.net.attention import GridPosition
from training.net.query_pool import QueryPool


@dataclass(frozen=True)
class FrameSizes:
    """Sizes of what the vector reads."""

    memory_width: int
    grid: tuple[int, int]  # rows and columns of the memory

    @property
    def concepts(self) -> int:
        """The kinds: words and a frame without crops share no other concept."""
        return len(KINDS)


class FrameTokens(nn.Module):
    """A token per cell of the memory with the responses of both maps there, and one token of the kind."""

    def __init__(self, sizes: FrameSizes, width: int, dropout: float):
        super().__init__()
        self.grid = sizes.grid
        self.memory = nn.Sequential(nn.LayerNorm(sizes.memory_width), nn.Linear(sizes.memory_width, width))
        self.position = GridPosition(*sizes.grid, width)
        self.maps = nn.Linear(4, width)
        self.kind = nn.Linear(2 * len(KINDS), width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, memory: Tensor, kind_logits: Tensor, maps: Tensor) -> Tensor:
        """memory [B,N,W], kind_logits [B,K], maps [B,2,h,w] -> [B,N+1,D]."""
        rows, columns = self.grid
        of_rows = maps.unflatten(2, (rows, -1))  # [B,2,rows,h/rows,w]
        largest = of_rows.amax(3).unflatten(3, (columns, -1)).amax(4)  # [B,2,rows,columns]
        mean = of_rows.mean(3).unflatten(3, (columns, -1)).mean(4)
        responses = torch.cat([largest, mean], 1).flatten(2).transpose(1, 2)  # [B,N,4]
        seen = self.memory(memory) + self.position() + self.maps(responses)  # [B,N,D]
        kind = self.kind(torch.cat([kind_logits, torch.softmax(kind_logits, -1)], 1))[:, None]  # [B,1,D]
        return self.dropout(self.norm(torch.cat([seen, kind], 1)))


class FramePairVector(QueryPool):
    """Learned queries pool the tokens of a change, and correct a vector of its kind."""

    def __init__(
        self, sizes: FrameSizes, concepts: nn.Parameter, width: int = 128, queries: int = 8, dropout: float = 0.1
    ):
        """concepts [K,V]: a vector per kind, shared with the texts."""
        super().__init__(width, queries)
        self.concepts, self.sizes = concepts, sizes
        self.evidence = FrameTokens(sizes, width, dropout)
        self.enter = nn.Linear(queries * width + len(KINDS), 2 * width)
        self.out = nn.Sequential(nn.GELU(), nn.Dropout(dropout), nn.Linear(2 * width, concepts.shape[1]))
        nn.init.zeros_(self.out[-1].weight)  # training starts from the concepts

    def forward(self, memory: Tensor, kind_logits: Tensor, maps: Tensor) -> Tensor:
        """The arguments of `FrameTokens` -> [B,V]."""
        seen = self.evidence(memory, kind_logits, maps)  # [B,N+1,D]
        kind = torch.softmax(kind_logits, -1)
        more = self.out(self.enter(torch.cat([self.pooled(seen, torch.zeros_like(seen[..., 0])), kind], 1)))
        return F.normalize(kind @ self.concepts + more, dim=-1)
