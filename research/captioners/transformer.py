"""Transformer layers of the captioners in research/captioners: one class for encoders, decoders and language models.

Keys and values are arguments, so that they can be cached.

Letters: B pairs, N tokens, M tokens that they attend to, D width, H heads, d = D / H. Masks are additive: 0 to see,
-10000 not to.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.net.attention import join_heads, split_heads

HIDDEN = -10_000.0
KeysValues = tuple[Tensor, Tensor]  # [B,H,M,d] each


def causal_mask(length: int, like: Tensor) -> Tensor:
    """[length,length]: each token sees itself and those before it."""
    return torch.full((length, length), HIDDEN, device=like.device, dtype=like.dtype).triu(1)


def quick_gelu(x: Tensor) -> Tensor:
    """CLIP's approximation of GELU."""
    return x * torch.sigmoid(1.702 * x)


class Attention(nn.Module):
    """Multi-head attention of Vaswani et al., "Attention is all you need", 2017."""

    def __init__(self, width: int, heads: int, dropout: float, memory_width: int | None = None):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(memory_width or width, 2 * width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def keys_values(self, y: Tensor) -> KeysValues:
        """[B,M,memory_width] -> [B,H,M,d] x2."""
        k, v = self.key_value(y).chunk(2, -1)
        return split_heads(k, self.heads), split_heads(v, self.heads)

    def forward(self, x: Tensor, k: Tensor, v: Tensor, bias: Tensor | float = 0.0) -> tuple[Tensor, Tensor]:
        """x [B,N,D], k and v [B,H,M,d], bias broadcast to [B,H,N,M] -> [B,N,D], attention [B,H,N,M]."""
        q = split_heads(self.query(x), self.heads)  # [B,H,N,d]
        attention = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias, -1)
        return self.out(join_heads(self.dropout(attention) @ v)), attention


class TransformerLayer(nn.Module):
    """Attention to tokens, perhaps attention to a memory, and feed-forward; the norms come first or last."""

    def __init__(
        self,
        width: int,
        heads: int,
        ffn: int,
        dropout: float,
        norm_first: bool,
        activation=F.gelu,
        memory_width: int | None = None,
    ):
        super().__init__()
        self.norm_first, self.activation = norm_first, activation
        self.attention = Attention(width, heads, dropout)
        self.memory = Attention(width, heads, dropout, memory_width) if memory_width else None
        self.up, self.down = nn.Linear(width, ffn), nn.Linear(ffn, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width, eps=1e-6) for _ in range(3 if memory_width else 2)])
        self.dropout = nn.Dropout(dropout)

    def keys_values(self, y: Tensor) -> KeysValues:
        """Keys and values of tokens y [B,M,D] as an input of this layer."""
        return self.attention.keys_values(self.norms[0](y) if self.norm_first else y)

    def forward(
        self,
        x: Tensor,
        bias: Tensor | float = 0.0,
        seen: KeysValues | None = None,
        memory: KeysValues | None = None,
    ) -> tuple[Tensor, Tensor]:
        """x [B,N,D]; bias: mask of the attention to `seen`, the tokens that x attends to (default: x itself); memory:
        keys and values of the memory, for layers that have one.

        Returns [B,N,D] and the attention [B,H,N,M] to the memory, or to `seen` in a layer without memory.
        """
        k, v = seen or self.keys_values(x)
        weights: list[Tensor] = []

        def attend(module: Attention, y: Tensor, kv: KeysValues, mask: Tensor | float) -> Tensor:
            out, attention = module(y, *kv, mask)
            weights.append(attention)
            return out

        x = self._residual(0, x, lambda y: attend(self.attention, y, (k, v), bias))
        if self.memory is not None and memory is not None:
            x = self._residual(1, x, lambda y: attend(self.memory, y, memory, 0.0))
        x = self._residual(-1, x, lambda y: self.down(self.dropout(self.activation(self.up(y)))))
        return x, weights[-1]

    def _residual(self, norm: int, x: Tensor, part) -> Tensor:
        if self.norm_first:
            return x + self.dropout(part(self.norms[norm](x)))
        return self.norms[norm](x + self.dropout(part(x)))


def stack_heads(pairs: list[KeysValues]) -> KeysValues:
    """Keys and values of L layers side by side: L x [B,H,M,d] -> [B,L*H,M,d] x2."""
    return torch.cat([k for k, _ in pairs], 1), torch.cat([v for _, v in pairs], 1)


def per_layer(kv: KeysValues, layers: int) -> list[KeysValues]:
    """The reverse of `stack_heads`."""
    return list(zip(kv[0].chunk(layers, 1), kv[1].chunk(layers, 1)))


def write_slot(cache: KeysValues, new: KeysValues, slot: Tensor) -> KeysValues:
    """Caches [B,H,T,d] with the keys and values [B,H,1,d] of one word at the slot that is 1 in slot [T]."""
    at = slot[None, None, :, None]
    return cache[0] + new[0] * at, cache[1] + new[1] * at
