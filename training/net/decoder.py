"""The transformer decoder's layers, with a form for whole sentences and one for single steps with caches of fixed size.

Letters: B pairs, T caption slots, t slots at once (T or 1), S memory tokens, D width, H heads, d = D / H.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import END, PAD, START
from training.net.attention import join_heads, split_heads


def sinusoid(length: int, width: int) -> Tensor:
    """Positions of Vaswani et al., "Attention is all you need", 2017: [T,D]."""
    position = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)  # [T,D/2]
    return torch.stack([position.sin(), position.cos()], -1).reshape(length, width)


class DecoderLayer(nn.Module):
    """Self-attention, attention to the memory, feed-forward; as SCORER's released code has it.

    Norms come last, neither attention has an output projection, and the feed-forward is as wide as the model. Masks are
    additive: 0 to see, -10000 not to.
    """

    def __init__(self, width: int, heads: int, dropout: float, attention_dropout: float):
        super().__init__()
        self.heads = heads
        self.self_qkv = nn.Linear(width, 3 * width)
        self.cross_q = nn.Linear(width, width)
        self.cross_kv = nn.Linear(width, 2 * width)
        self.ffn = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width), nn.Dropout(dropout))
        self.norms = nn.ModuleList([nn.LayerNorm(width, eps=1e-6) for _ in range(3)])
        self.dropout = nn.Dropout(attention_dropout)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """q [B,H,t,d], k and v [B,H,S,d], bias broadcast to [B,H,t,S] -> [B,t,D], attention [B,H,t,S]."""
        attention = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias, -1)
        return join_heads(self.dropout(attention) @ v), attention

    def memory_kv(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of the memory, computed once per sentence: [B,S,D] -> [B,H,S,d] x2."""
        k, v = self.cross_kv(memory).chunk(2, -1)
        return split_heads(k, self.heads), split_heads(v, self.heads)

    def finish(self, x: Tensor, attended: Tensor, mk: Tensor, mv: Tensor, memory_bias: Tensor) -> tuple[Tensor, Tensor]:
        """Everything after self-attention: x and attended [B,t,D] -> [B,t,D], attention to the memory [B,t,S]."""
        x = self.norms[0](x + attended)
        c, attention = self.attend(split_heads(self.cross_q(x), self.heads), mk, mv, memory_bias)
        x = self.norms[1](x + c)
        return self.norms[2](x + self.ffn(x)), attention.mean(1)

    def forward(self, x: Tensor, causal: Tensor, mk: Tensor, mv: Tensor, memory_bias: Tensor) -> tuple[Tensor, Tensor]:
        """A whole sentence: x [B,T,D], causal [1,1,T,T], memory_bias [B,1,1,S] -> as `finish`."""
        q, k, v = (split_heads(t, self.heads) for t in self.self_qkv(x).chunk(3, -1))  # [B,H,T,d]
        attended, _ = self.attend(q, k, v, causal)
        return self.finish(x, attended, mk, mv, memory_bias)

    def step(
        self, x: Tensor, k: Tensor, v: Tensor, slot: Tensor, past: Tensor, mk: Tensor, mv: Tensor, memory_bias: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """One word: x [B,1,D], caches k and v [B,H,T,d], slot [T] one-hot at this position, past [T] mask of later ones
        -> [B,1,D], attention to the memory [B,1,S], caches with this word."""
        q, k1, v1 = (split_heads(t, self.heads) for t in self.self_qkv(x).chunk(3, -1))  # [B,H,1,d]
        k = k + k1 * slot[None, None, :, None]
        v = v + v1 * slot[None, None, :, None]
        attended, _ = self.attend(q, k, v, past[None, None, None, :])
        x, attention = self.finish(x, attended, mk, mv, memory_bias)
        return x, attention, k, v


def greedy_decode(
    step: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]], memory: Tensor, length: int
) -> dict[str, Tensor]:
    """Writes up to `length` words per pair of memory [B,S,D], END included.

    step: (last word [B], the one before it [B], slot [T], past [T]) -> log-probability [B] and id [B] of the next word,
    attention [B,S]. Returns ids [B,T] (words, END, PAD ...), log_prob [B,T], length [B] (words without END), attention
    [B,T,S].
    """
    B, device = len(memory), memory.device
    tokens, previous = torch.full((B,), START, device=device), torch.full((B,), PAD, device=device)
    alive = torch.ones(B, dtype=torch.bool, device=device)
    ids, log_prob, attention = [], [], []
    for t in range(length):
        slot = F.one_hot(torch.tensor(t), length).to(memory)
        past = (torch.arange(length, device=device) > t).to(memory) * -10_000
        best, chosen, attended = step(tokens, previous, slot, past)
        previous, tokens = tokens, torch.where(alive, chosen, torch.zeros_like(chosen))
        ids.append(tokens)
        log_prob.append(torch.where(alive, best, torch.zeros_like(best)))
        attention.append(attended * alive[:, None])
        alive = alive & (tokens != END)
    out = torch.stack(ids, 1)  # [B,T]
    return {
        "ids": out,
        "log_prob": torch.stack(log_prob, 1),
        "length": ((out != PAD) & (out != END)).sum(1),
        "attention": torch.stack(attention, 1),
    }
