"""The pieces that every attention layer shares. Letters: B batch, N tokens, D width, H heads, d = D / H."""

import torch
from torch import Tensor, nn


def split_heads(x: Tensor, heads: int) -> Tensor:
    B, N, D = x.shape
    return x.reshape(B, N, heads, D // heads).transpose(1, 2)  # [B,N,D] -> [B,H,N,d]


def join_heads(x: Tensor) -> Tensor:
    B, H, N, d = x.shape
    return x.transpose(1, 2).reshape(B, N, H * d)  # [B,H,N,d] -> [B,N,D]


class GridPosition(nn.Module):
    """Learned position of each cell of a grid: a column table and a row table, half the width each.

    Both frames get the same positions; there is no embedding of before and after.
    """

    def __init__(self, rows: int, columns: int, width: int):
        super().__init__()
        self.column = nn.Parameter(torch.randn(columns, width // 2) * 0.02)
        self.row = nn.Parameter(torch.randn(rows, width // 2) * 0.02)

    def forward(self) -> Tensor:
        rows, columns = self.row.shape[0], self.column.shape[0]
        c = self.column[None, :, :].expand(rows, -1, -1)  # [rows,columns,D/2]
        r = self.row[:, None, :].expand(-1, columns, -1)  # [rows,columns,D/2]
        return torch.cat([c, r], -1).reshape(1, rows * columns, -1)  # [1,N,D], row-major
