"""Words behind and beside a memory: the decoders that the architectures share.

Letters: B pairs, t words at once, T caption slots, S memory rows, D width, H heads, L layers, V words.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from research.captioners.transformer import (
    HIDDEN,
    KeysValues,
    TransformerLayer,
    causal_mask,
    per_layer,
    stack_heads,
    write_slot,
)
from training.contract import PAD
from training.net.decoder import sinusoid


class WordEmbedding(nn.Module):
    """Word vectors plus positions: fixed waves, or learned."""

    def __init__(self, words: int, length: int, width: int, learned: bool = False, scale: float = 1.0):
        super().__init__()
        self.word = nn.Embedding(words, width, padding_idx=PAD)
        nn.init.normal_(self.word.weight, std=0.02)
        self.scale = scale
        if learned:
            self.position = nn.Parameter(torch.randn(length, width) * 0.02)
        else:
            self.register_buffer("position", sinusoid(length, width), persistent=False)  # [T,D]

    def forward(self, ids: Tensor) -> Tensor:
        """A whole sentence: [B,T] -> [B,T,D]."""
        return self.word(ids) * self.scale + self.position[: ids.shape[1]]

    def at(self, ids: Tensor, slot: Tensor) -> Tensor:
        """One word [B] at the position that is 1 in slot [T]: [B,1,D]."""
        return (self.word(ids) * self.scale + (self.position * slot[:, None]).sum(0))[:, None]


class CrossDecoder(nn.Module):
    """Layers with attention to earlier words and to a memory of their own each."""

    def __init__(self, layers: list[TransformerLayer], embedding: WordEmbedding, head: nn.Module):
        super().__init__()
        self.layers, self.embedding, self.head = nn.ModuleList(layers), embedding, head

    def memory_kv(self, memories: list[Tensor]) -> KeysValues:
        """One memory [B,S,W] per layer -> keys and values [B,L*H,S,d]."""
        return stack_heads([layer.memory.keys_values(m) for layer, m in zip(self.layers, memories)])

    def forward(self, ids: Tensor, memory: KeysValues) -> Tensor:
        """Teacher forcing: ids [B,T] -> logits [B,T,V]."""
        x = self.embedding(ids)
        causal = causal_mask(ids.shape[1], x)
        for layer, kv in zip(self.layers, per_layer(memory, len(self.layers))):
            x, _ = layer(x, causal, None, kv)
        return self.head(x)

    def step(self, token: Tensor, slot: Tensor, past: Tensor, cache: KeysValues, memory: KeysValues):
        """One word; caches [B,L*H,T,d]. Returns logits [B,V], attention of the last layer [B,S], caches."""
        x, L, new = self.embedding.at(token, slot), len(self.layers), []
        attention = x
        for layer, kv, kept in zip(self.layers, per_layer(memory, L), per_layer(cache, L)):
            new.append(write_slot(kept, layer.keys_values(x), slot))
            x, attention = layer(x, past, new[-1], kv)
        return self.head(x)[:, 0], attention.mean(1)[:, 0], *stack_heads(new)


def words_behind(layers, x: Tensor, prefix: KeysValues) -> Tensor:
    """Words x [B,T,D] that see a prefix (keys and values [B,L*H,S,d]) and earlier words: [B,T,D]."""
    T, S = x.shape[1], prefix[0].shape[2]
    bias = F.pad(causal_mask(T, x), (S, 0))  # [T,S+T]
    for layer, (pk, pv) in zip(layers, per_layer(prefix, len(layers))):
        k, v = layer.keys_values(x)
        x, _ = layer(x, bias, (torch.cat([pk, k], 2), torch.cat([pv, v], 2)))
    return x


def step_behind(layers, x: Tensor, slot: Tensor, past: Tensor, cache: KeysValues, prefix: KeysValues):
    """`words_behind` for one word with caches [B,L*H,T,d].

    x [B,t,D]: the word, and perhaps tokens after it that leave nothing in the caches (t = 2: a mask to be filled).
    Returns the last token [B,D], its attention to the prefix in the last layer [B,S], caches.
    """
    L, t, S, new = len(layers), int(x.shape[1]), prefix[0].shape[2], []
    attention = x
    itself = [[0.0 if i == j else HIDDEN for j in range(1, t)] for i in range(t)]  # each sees itself
    bias = torch.cat([x.new_zeros(t, S), past[None].expand(t, -1), x.new_tensor(itself)], 1)  # [t,S+T+t-1]
    for layer, (pk, pv), (k, v) in zip(layers, per_layer(prefix, L), per_layer(cache, L)):
        k1, v1 = layer.keys_values(x)  # [B,H,t,d]
        new.append(write_slot((k, v), (k1[:, :, :1], v1[:, :, :1]), slot))
        seen = (torch.cat([pk, new[-1][0], k1[:, :, 1:]], 2), torch.cat([pv, new[-1][1], v1[:, :, 1:]], 2))
        x, attention = layer(x, bias, seen)
    return x[:, -1], attention.mean(1)[:, -1, :S], *stack_heads(new)
