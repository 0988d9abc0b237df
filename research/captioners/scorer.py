"""SCORER (Tu et al., ICCV 2023) on the tokens of the table, out of the layers of training/net.

Switches give the rows of the paper's Tables 6 and 7: `reconstruct = false` is plain subtraction, `contrast = 0` is
representation reconstruction (RR), `cbr` adds cross-modal backward reasoning. The variants of token-wise matching are
`model.matching_per_head`, `matching_cosine`, `contrast_pool` and `contrast_group`. Two ideas of OneDiff are ours here:
`delta_tokens` adds tokens that read several feature levels to the memory, and `coupled` is the share of batches that
caption joined frames of two scenes.

Letters as in base.py.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from research.captioners.base import Architecture, Encoded, Layout, Stage, Start, Tokens, Written
from research.captioners.delta import DeltaModule, spread
from research.captioners.transformer import per_layer, stack_heads
from training.contract import EVENTS, PAD, UNK
from training.net.attention import GridPosition
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.net.cross_view import BackwardReasoning, CrossViewLayer, contrastive_loss
from training.net.losses import caption_loss


@dataclass
class Options:
    tokens: str = "read"
    reconstruct: bool = True  # cross-view layers; False: the memory is made of after - before
    contrast: float = 0.1  # weight of the contrastive loss; 0: not computed
    cbr: float = 0.0  # weight of backward reasoning; the paper's is 0.001 on CLEVR-Change
    delta_tokens: int = 0  # extra rows of the memory; needs tokens = "levels"
    coupled: float = 0.0  # share of batches of coupled samples
    blind: bool = False  # a memory of zeros: how far words get without pictures


class Scorer(Architecture):
    def __init__(self, c: ModelConfig, tokens: Tokens, options: Options):
        super().__init__(c, tokens)
        D = c.width
        self.options, self.memory_width = options, D
        self.layout = Layout(sides=1, extra=options.delta_tokens)
        self.levels = [at for name, at in tokens.levels.items() if name != "read"] if options.delta_tokens else []
        # Only the delta tokens read the other levels.
        self.read = tokens.levels["read"] if options.delta_tokens else slice(0, tokens.channels)
        self.embed = nn.Linear(self.read.stop - self.read.start, D)
        self.position = GridPosition(*c.token_grid, D)
        layers = c.scorer_layers if options.reconstruct else 0
        self.layers = nn.ModuleList([CrossViewLayer(D, c.heads, c.attention_dropout) for _ in range(layers)])
        self.fuse = nn.Linear(2 * D if options.reconstruct else D, D)
        if options.delta_tokens:
            channels = {name: at.stop - at.start for name, at in tokens.levels.items() if name != "read"}
            self.delta = DeltaModule(channels | {"matched": D}, options.delta_tokens, D, c.heads, 2 * D)
        if options.coupled:
            self.stages = (Stage("captioning", 1.0, {"caption": 1 - options.coupled, "coupled": options.coupled}),)
        self.dropout = nn.Dropout(c.dropout)
        self.captioner = Captioner(c)
        self.reasoning = BackwardReasoning(c) if options.cbr else None
        self.cache = (c.decoder_layers * c.heads, D // c.heads)

    def encode(self, before: Tensor, after: Tensor) -> Encoded:
        xb0, xa0 = (self.embed(x[..., self.read]) + self.position() for x in (before, after))  # [B,N,D], paper Eq. 1
        xb, xa, matched = xb0, xa0, (xb0, xa0)
        for layer in self.layers:
            matched = (xb, xa)
            xb, xa = layer(xb, xa), layer(xa, xb)  # simultaneous: both from the old values
        joined = torch.cat([xb, xa], -1) if self.options.reconstruct else xa - xb
        memory = F.relu(self.dropout(self.fuse(joined)))  # paper Eq. 7
        if self.options.delta_tokens:
            levels = [(before[..., at], after[..., at]) for at in self.levels]
            memory = torch.cat([self.delta([*levels, (xb, xa)], self.position()), memory], 1)
        if self.options.blind:
            memory = memory * 0
        return Encoded(memory, None, {"tokens": (xb0, xa0), "matched": matched})

    def losses(self, task: str, b: dict[str, Tensor]) -> tuple[dict[str, Tensor], Encoded | None]:
        self.watched = {}
        if task == "coupled":
            return {"coupled": self.coupled_loss(b["before"], b["coupled_ids"])}, None
        if task != "caption":
            return super().losses(task, b)
        encoded = self.encode(b["before"], b["after"])
        if self.layout.extra:
            self.watched = spread(encoded.memory[:, : self.layout.extra])
        logits, hidden, _ = self.captioner(encoded.memory, None, b["ids"][:, :-1])
        terms = {"caption": caption_loss(logits, b["ids"], 0.0)}
        P = len(b["ids"]) // 2
        streams = slice(P), slice(P, None)  # negatives are of the same stream
        if self.options.contrast and len(self.layers):
            matched = encoded.more["matched"]
            each = [contrastive_loss(self.layers[-1], *(x[s] for x in matched), self.c) for s in streams]
            terms["contrast"] = self.options.contrast * torch.stack(each).mean()
        if self.reasoning is not None:
            words = (b["ids"][:, :-1] != PAD).float()
            sides = encoded.more["tokens"]
            each = [self.reasoning(*(x[s] for x in sides), hidden[s], words[s]) for s in streams]
            terms["cbr"] = self.options.cbr * torch.stack(each).mean()
        return terms, encoded

    def coupled_loss(self, before: Tensor, ids: Tensor) -> Tensor:
        """Scores the first frames of neighbouring scenes as one pair. Its sentences begin with UNK; none is served."""
        first = before[: len(before) // 2]
        memory = self.encode(first, first.roll(-1, 0)).memory
        begun = torch.cat([torch.full_like(ids[:, :1], UNK), ids[:, 1:-1]], 1)
        return caption_loss(self.logits(memory, begun), ids, 0.0)

    def logits(self, memory: Tensor, ids: Tensor) -> Tensor:
        return self.captioner(memory, None, ids)[0]

    def start(self, memory: Tensor) -> Start:
        nothing = torch.zeros_like(
            memory[:, 0, : len(EVENTS)]
        )  # no events to report: the captioner has no region crops
        return Start(nothing, *stack_heads([layer.memory_kv(memory) for layer in self.captioner.layers]))

    def step(self, token, carried, slot, past, k, v, keys, values) -> Written:
        layers = len(self.captioner.layers)
        caches = [x for pair in per_layer((k, v), layers) for x in pair]
        memory = [x for pair in per_layer((keys, values), layers) for x in pair]
        bias, conditioning = keys.new_zeros(1, 1, 1, keys.shape[2]), keys.new_zeros(1, self.c.width)
        scores, attention, carried, new = self.captioner.step(
            token, token, carried, slot, past, caches, memory, bias, conditioning
        )
        return Written(scores, attention, carried, torch.cat(new[::2], 1), torch.cat(new[1::2], 1))
