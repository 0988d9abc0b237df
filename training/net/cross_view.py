"""SCORER's cross-view layer: reconstructs the tokens of one frame from the other, and scores how well two frames match.

Source: Tu et al., "Self-supervised Cross-view Representation Reconstruction for Change Captioning", ICCV 2023. The
contrastive loss makes a pair's own frames match better than frames of other pairs, whatever the viewpoint.

Letters: B pairs, N tokens of a frame, M tokens of the other, D width, H heads, d = D / H.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.net.attention import join_heads, split_heads
from training.net.config import ModelConfig


class CrossViewLayer(nn.Module):
    """One layer; both directions share its weights (paper Eq. 5-6). Query and key also serve the matching (Eq. 2-3)."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.dropout = nn.Dropout(dropout)
        self.log_scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """x reconstructed from y: [B,N,D], [B,M,D] -> [B,N,D]."""
        q = split_heads(self.query(x), self.heads)  # [B,H,N,d]
        k = split_heads(self.key(y), self.heads)  # [B,H,M,d]
        v = split_heads(self.value(y), self.heads)  # [B,H,M,d]
        attention = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)  # [B,H,N,M]
        return self.norm(x + join_heads(self.dropout(attention) @ v))

    def match(self, x: Tensor, y: Tensor, per_head: bool, cosine: bool) -> Tensor:
        """Token-wise matching of every x_i with every y_j: [B,N,D], [B,N,D] -> [B,B]. Training only: O(B^2 N^2)."""
        q, k = self.query(x), self.key(y)
        q, k = (split_heads(q, self.heads), split_heads(k, self.heads)) if per_head else (q[:, None], k[:, None])
        if cosine:
            q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        B, H, N, d = q.shape
        q = q.permute(1, 0, 2, 3).reshape(H, B * N, d)  # [B,H,N,d] -> [H,B*N,d]
        k = k.permute(1, 0, 2, 3).reshape(H, B * N, d)  # [B,H,N,d] -> [H,B*N,d]
        s = (q @ k.transpose(-1, -2)).reshape(H, B, N, B, N)  # [H,i,n,j,m]
        # max(...).values, not amax: its backward scatters by index instead of building a dense mask
        score = (s.max(4).values.mean(2) + s.max(2).values.mean(3)) / 2  # [H,B,B]
        return score.mean(0) * self.log_scale.clamp(max=4.6052).exp()  # [B,B]; the scale is at most 100, as CLIP's


def info_nce(similarity: Tensor) -> Tensor:
    """[B,B] with the true partners on the diagonal -> scalar."""
    return F.cross_entropy(similarity, torch.arange(len(similarity), device=similarity.device))


def pool_tokens(x: Tensor, c: ModelConfig) -> Tensor:
    """[B,N,D] -> [B,N/pool^2,D]."""
    if c.contrast_pool == 1:
        return x
    rows, columns = c.token_grid
    grid = x.transpose(1, 2).reshape(len(x), -1, rows, columns)  # [B,N,D] -> [B,D,rows,columns]
    return F.avg_pool2d(grid, c.contrast_pool).flatten(2).transpose(1, 2)  # [B,N/pool^2,D]


def contrastive_loss(layer: CrossViewLayer, before: Tensor, after: Tensor, c: ModelConfig) -> Tensor:
    """Paper Eq. 4: mean over both directions and over groups of pairs. before, after [B,N,D] -> scalar.

    before and after are inputs of `layer`. A last group of one pair has no negatives and is left out.
    """
    losses = []
    for b, a in zip(pool_tokens(before, c).split(c.contrast_group), pool_tokens(after, c).split(c.contrast_group)):
        if len(b) > 1:
            losses.append(info_nce(layer.match(b, a, c.matching_per_head, c.matching_cosine)))
            losses.append(info_nce(layer.match(a, b, c.matching_per_head, c.matching_cosine)))
    return torch.stack(losses).mean()


class BackwardReasoning(nn.Module):
    """Cross-modal backward reasoning (paper Eq. 8-12), for training only.

    It predicts the tokens of `after` from those of `before` and the sentence; the prediction must match the real ones.
    Its parameters are trained, as Eq. 13 reads; the released script leaves them at random.
    """

    def __init__(self, c: ModelConfig):
        super().__init__()
        D = c.width
        self.c = c
        self.join = nn.Linear(2 * D, D)
        self.attention = nn.MultiheadAttention(D, c.heads, bias=False, batch_first=True)
        self.out = nn.Linear(D, D)
        self.matching = CrossViewLayer(D, c.heads, 0.0)

    def forward(self, before: Tensor, after: Tensor, hidden: Tensor, words: Tensor) -> Tensor:
        """before, after [B,N,D] (Eq. 1), hidden [B,T,D] of the decoder, words [B,T] 1 at real words -> scalar."""
        c = self.c
        before = pool_tokens(before, c)
        sentence = (hidden * words[:, :, None]).sum(1) / words.sum(1, keepdim=True)  # [B,D], mean over real words
        x = self.join(torch.cat([before, sentence[:, None].expand_as(before)], -1))  # [B,N,D]
        predicted = self.out(self.attention(x, x, x, need_weights=False)[0])  # [B,N,D]
        losses = []
        for p, a in zip(predicted.split(c.contrast_group), pool_tokens(after, c).split(c.contrast_group)):
            if len(p) > 1:
                similarity = self.matching.match(p, a, c.matching_per_head, c.matching_cosine)  # [b,b]
                losses += [info_nce(similarity), info_nce(similarity.T)]
        return torch.stack(losses).mean()
