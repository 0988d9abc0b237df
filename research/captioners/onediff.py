"""After OneDiff (Hu et al., ACCV 2024): delta tokens over several feature levels, in front of a causal language model.

Visual delta module: learned queries alternate self-attention and attention to one level of both frames, from fine to
read. Both frames' tokens and the delta tokens are the prefix of the words. Stage I joins frames of two scenes to a pair
whose sentence describes both (coupled samples).

Ours, because the paper does not say: a vector per side on each level, the prefix order before, after, delta. Ours,
because of size: a language model of four layers that is trained from the start, instead of a frozen Vicuna-7B.

Letters as in base.py; Q delta tokens. Rows of the memory: delta tokens, then the cells.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from research.captioners.base import Architecture, Encoded, Layout, Stage, Start, Tokens, Written
from research.captioners.delta import DeltaModule
from research.captioners.text import WordEmbedding, step_behind, words_behind
from research.captioners.transformer import TransformerLayer, causal_mask, stack_heads
from training.net.attention import GridPosition
from training.net.config import ModelConfig
from training.net.decoder import sinusoid
from training.net.losses import caption_loss


@dataclass
class Options:
    tokens: str = "levels"
    delta: int = 32
    delta_width: int = 256
    delta_heads: int = 8
    delta_ffn: int = 1024
    layers: int = 4  # of the language model
    ffn: int = 1024
    coupled: float = 1 / 3  # share of stage I; 0: without coupled samples


class OneDiff(Architecture):
    def __init__(self, c: ModelConfig, tokens: Tokens, options: Options):
        super().__init__(c, tokens)
        D, rows = c.width, c.token_grid[0] * c.token_grid[1]
        self.layout, self.memory_width = Layout(sides=2, extra=options.delta), D
        self.cache = (options.layers * c.heads, D // c.heads)
        self.last = last = list(tokens.levels.values())[-1]
        self.image = nn.Sequential(nn.Linear(last.stop - last.start, D), nn.GELU(), nn.Linear(D, D))
        self.position, self.side = GridPosition(*c.token_grid, D), nn.Parameter(torch.randn(2, 1, D) * 0.02)
        self.levels = list(tokens.levels.values())
        channels = {name: at.stop - at.start for name, at in tokens.levels.items()}
        sizes = options.delta, options.delta_width, options.delta_heads, options.delta_ffn
        self.delta = DeltaModule(channels, *sizes) if options.delta else None
        self.leave = nn.Linear(options.delta_width, D) if options.delta else None
        self.register_buffer("order", sinusoid(2 * rows + options.delta, D), persistent=False)
        self.embedding = WordEmbedding(len(c.vocabulary), c.max_length, D)
        self.layers = nn.ModuleList(
            [TransformerLayer(D, c.heads, options.ffn, c.dropout, True) for _ in range(options.layers)]
        )
        self.norm, self.out = nn.LayerNorm(D), nn.Linear(D, len(c.vocabulary))
        self.stages = (
            Stage("coupled", options.coupled, {"coupled": 1.0}),
            Stage("captioning", 1 - options.coupled, {"caption": 1.0}),
        )
        if not options.coupled:
            self.stages = self.stages[1:]

    def encode(self, before: Tensor, after: Tensor) -> Encoded:
        frames = [self.image(x[..., self.last]) + self.position() + self.side[i] for i, x in enumerate((before, after))]
        if self.delta is None:
            return Encoded(torch.cat(frames, 1))
        delta = self.leave(self.delta([(before[..., at], after[..., at]) for at in self.levels]))
        return Encoded(torch.cat([delta, *frames], 1))

    def losses(self, task: str, b: dict[str, Tensor]) -> tuple[dict[str, Tensor], Encoded | None]:
        if task != "coupled":
            return super().losses(task, b)
        P = len(b["before"]) // 2
        first = b["before"][:P]
        encoded = self.encode(first, first.roll(-1, 0))  # the frame of the next scene
        return {
            "coupled": caption_loss(self.logits(encoded.memory, b["coupled_ids"][:, :-1]), b["coupled_ids"], 0)
        }, None

    def logits(self, memory: Tensor, ids: Tensor) -> Tensor:
        _, keys, values = self.start(memory)
        return self.out(self.norm(words_behind(self.layers, self.embedding(ids), (keys, values))))

    def start(self, memory: Tensor) -> Start:
        """Runs the language model over the prefix; keys and values in the order of the memory's rows."""
        Q = self.layout.extra
        x = torch.cat([memory[:, Q:], memory[:, :Q]], 1) + self.order
        S, kv = self.order.shape[0], []
        causal = causal_mask(S, x)
        for layer in self.layers:
            k, v = layer.keys_values(x)
            kv.append(tuple(torch.cat([y[:, :, S - Q :], y[:, :, : S - Q]], 2) for y in (k, v)))
            x, _ = layer(x, causal, (k, v))
        return Start(memory[:, 0, :1], *stack_heads(kv))

    def step(self, token, carried, slot, past, k, v, keys, values) -> Written:
        x = self.embedding.at(token, slot)
        x, attention, k, v = step_behind(self.layers, x, slot, past, (k, v), (keys, values))
        return Written(self.out(self.norm(x)), attention, carried, k, v)
