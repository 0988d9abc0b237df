"""MCCFormers (Qiu et al., "Describing and localizing multiple changes with Transformers", ICCV 2021).

D (default): co-attention layers in which each frame attends to the other; the memory holds both frames side by side.
S (`joint = true`): one encoder over the tokens of both frames; the memory has a row per token.

Letters as in base.py.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from research.captioners.base import Architecture, Encoded, Layout, Start, Tokens, Written
from research.captioners.text import CrossDecoder, WordEmbedding
from research.captioners.transformer import TransformerLayer
from training.net.config import ModelConfig


@dataclass
class Options:
    tokens: str = "read"
    joint: bool = False  # MCCFormers-S
    layers: int = 2
    ffn: int = 1024
    decoder_ffn: int = 2048


class MccFormers(Architecture):
    def __init__(self, c: ModelConfig, tokens: Tokens, options: Options):
        super().__init__(c, tokens)
        D, V, rows = c.width, len(c.vocabulary), c.token_grid[0] * c.token_grid[1]
        self.joint = options.joint
        W = D if self.joint else 2 * D
        self.layout, self.memory_width = Layout(sides=2 if self.joint else 1), W
        self.embed = nn.Linear(tokens.channels, D)
        self.position = nn.Parameter(torch.randn(rows, D) * 0.02)  # one vector per cell, equal in both frames
        self.frame = nn.Parameter(torch.randn(2, 1, D) * 0.02) if self.joint else None
        layer = lambda *sizes: TransformerLayer(*sizes, c.dropout, False, F.relu)
        self.layers = nn.ModuleList([layer(D, c.heads, options.ffn) for _ in range(options.layers)])
        self.decoder = CrossDecoder(
            [
                TransformerLayer(W, c.heads, options.decoder_ffn, c.dropout, False, F.relu, W)
                for _ in range(c.decoder_layers)
            ],
            WordEmbedding(V, c.max_length, W),
            nn.Linear(W, V),
        )
        self.cache = (c.decoder_layers * c.heads, W // c.heads)

    def encode(self, before: Tensor, after: Tensor) -> Encoded:
        xb, xa = (self.embed(x) + self.position for x in (before, after))  # [B,N,D]
        if self.joint:
            x = torch.cat([xb + self.frame[0], xa + self.frame[1]], 1)
            for layer in self.layers:
                x, _ = layer(x)
            return Encoded(x)
        for layer in self.layers:
            kb, ka = layer.keys_values(xb), layer.keys_values(xa)
            xb, xa = layer(xb, 0.0, ka)[0], layer(xa, 0.0, kb)[0]
        return Encoded(torch.cat([xb, xa], -1))

    def logits(self, memory: Tensor, ids: Tensor) -> Tensor:
        return self.decoder(ids, self.start(memory)[1:])

    def start(self, memory: Tensor) -> Start:
        return Start(memory[:, 0, :1], *self.decoder.memory_kv([memory] * len(self.decoder.layers)))

    def step(self, token, carried, slot, past, k, v, keys, values) -> Written:
        logits, attention, k, v = self.decoder.step(token, slot, past, (k, v), (keys, values))
        return Written(logits, attention, carried, k, v)
