"""An architecture with the interfaces of net.Difference and net.Captioner, so that it is calibrated, exported, served
and judged as they are.

Letters as in base.py; h x w is the grid of the change maps.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from research.captioners import make_architecture, options_of
from research.captioners.base import Architecture, Encoded, Tokens
from research.captioners.graph_parts import StartSentence, WriteWord
from training.contract import KINDS, NUISANCES, START
from training.net.config import ModelConfig
from training.net.decoder import greedy_decode
from training.world import World

READER_SIZES = dict(width=128, heads=4, token_pool=1)  # the reading stage of research/clevr/clevr-cpu.toml


def make_reader(c: ModelConfig, world: World) -> nn.Module:
    """The frozen single-frame reading stage: the world's network before it compares frames."""
    sizes = ModelConfig(
        grid=c.grid, coarse_channels=c.coarse_channels, fine_channels=c.fine_channels,
        region_crops=False, moving_camera=True, **READER_SIZES,
    )  # fmt: skip
    return world.make_difference(sizes)


def tokens_of(c: ModelConfig) -> Tokens:
    """Channels of the tokens that c.architecture asks for, one token for token_pool x token_pool coarse cells."""
    kind, p = options_of(c).tokens, c.token_pool
    sizes = {"fine": c.fine_channels * (2 * p) ** 2, "coarse": c.coarse_channels * p**2, "read": READER_SIZES["width"]}
    sizes["read"] *= p**2
    kinds = {"read": ("read",), "raw": ("fine", "coarse"), "levels": ("fine", "coarse", "read")}
    if kind not in kinds:
        raise SystemExit(f"{c.architecture}: there are no tokens {kind!r}; known are {', '.join(kinds)}")
    levels, at = {}, 0
    for name in kinds[kind]:
        levels[name] = slice(at, at + sizes[name])
        at += sizes[name]
    return Tokens(kind, levels, at)


class AnswerHeads(nn.Module):
    """Change, kind, nuisances and maps from a memory that gets no gradient of them."""

    def __init__(self, c: ModelConfig, network: Architecture):
        super().__init__()
        self.c, self.layout = c, network.layout
        W, m, cells = network.memory_width, c.map_width, (2 * c.token_pool) ** 2
        self.scale = nn.LayerNorm(W, eps=1e-6)
        self.map = nn.Sequential(nn.Linear(W, m), nn.ReLU(), nn.Linear(m, 2 * cells))
        nn.init.constant_(self.map[-1].bias, -3.0)
        self.change = nn.Sequential(nn.Linear(2 * W, 64), nn.ReLU(), nn.Linear(64, 1))
        self.kind = nn.Sequential(nn.Linear(2 * W, 96), nn.ReLU(), nn.Linear(96, len(KINDS)))
        self.nuisance = nn.Linear(2 * W, len(NUISANCES))

    def forward(self, encoded: Encoded) -> dict[str, Tensor]:
        """The outputs of net.Difference, without `tokens` and `matched`."""
        memory = self.scale(encoded.memory.detach())  # [B,S,W]
        sides = memory[:, self.layout.extra :].unflatten(1, (self.layout.sides, -1))  # [B,sides,N,W]
        both = self.map(sides).chunk(2, -1)  # [B,sides,N,cells]: of before, of after
        logits = []
        for side, values in zip((0, self.layout.sides - 1), both):
            grid = values[:, side].transpose(1, 2).unflatten(2, self.c.token_grid)  # [B,cells,rows,columns]
            logits.append(F.pixel_shuffle(grid, 2 * self.c.token_pool)[:, 0])  # [B,h,w]
        pooled = torch.cat([memory.mean(1), memory.amax(1)], -1)  # [B,2W]
        change = self.change(pooled)[:, 0] if encoded.change_logit is None else encoded.change_logit
        gate = torch.sigmoid(change)[:, None, None] if self.c.gate_maps else 1.0
        return {
            "memory": encoded.memory,
            "change_logit": change,
            "kind_logits": self.kind(pooled),
            "nuisance_logits": self.nuisance(pooled),
            "map_before": torch.sigmoid(logits[0]) * gate,
            "map_after": torch.sigmoid(logits[1]) * gate,
            "logits_before": logits[0],
            "logits_after": logits[1],
        }


class PairNetwork(nn.Module):
    """Features of both frames -> the outputs of net.Difference."""

    def __init__(self, c: ModelConfig, world: World):
        super().__init__()
        self.c, self.kinds = c, tokens_of(c)
        self.reader = make_reader(c, world).requires_grad_(False)
        self.network = make_architecture(c, self.kinds)
        self.heads = AnswerHeads(c, self.network)

    @torch.no_grad()
    def tokens(self, coarse: Tensor, fine: Tensor) -> Tensor:
        """coarse [B,Cc,r,c], fine [B,Cf,2r,2c] -> [B,N,C], by the kind of tokens that the architecture asks for."""
        p, parts = self.c.token_pool, []
        if "fine" in self.kinds.levels:
            parts += [F.pixel_unshuffle(fine, 2 * p), F.pixel_unshuffle(coarse, p)]
        if "read" in self.kinds.levels:
            read = self.reader.eval().tokens(coarse, fine)  # [B,r*c,D]
            grid = read.transpose(1, 2).reshape(read.shape[0], read.shape[2], *self.c.grid)  # [B,D,r,c]
            parts.append(F.pixel_unshuffle(grid, p))
        return torch.cat(parts, 1).flatten(2).transpose(1, 2)  # [B,C,rows,columns] -> [B,N,C]

    def forward(
        self,
        coarse_b: Tensor,
        fine_b: Tensor,
        coarse_a: Tensor,
        fine_a: Tensor,
        evidence: Tensor | None = None,
        learn_maps: bool = True,
    ) -> dict[str, Tensor]:
        """As net.Difference.forward; `evidence` and `learn_maps` are ignored."""
        return self.heads(self.network.encode(self.tokens(coarse_b, fine_b), self.tokens(coarse_a, fine_a)))


class Writer(nn.Module):
    """Memory -> words, with the interface of net.Captioner. The network is that of the PairNetwork."""

    def __init__(self, network: Architecture):
        super().__init__()
        self.c, self.network, self.cache = network.c, network, network.cache

    def hedge(self, wider: dict[str, str], share: float) -> None:
        """@raises SystemExit unless share is 0: no compared architecture writes a wider word."""
        if share:
            raise SystemExit(f"{self.c.architecture}: hedging by {share} is not implemented, expected 0")

    def choose(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B,V] -> log-probability and id of the likeliest word that may be written: [B] x2."""
        forbidden = torch.zeros_like(scores)
        forbidden[:, : START + 1] = -10_000.0  # PAD, UNK and START
        best, token = torch.log_softmax(scores + forbidden, -1).max(-1)
        return best, token

    def graph_parts(self) -> tuple[StartSentence, WriteWord]:
        """The parts of the exported decode loop."""
        return StartSentence(self.network), WriteWord(self)

    @torch.no_grad()
    def greedy(self, memory: Tensor, crops=None, frame_kind: Tensor | None = None) -> dict[str, Tensor]:
        """As net.Captioner.greedy, without crops."""
        carried, keys, values = self.network.start(memory)
        h, d = self.network.cache
        k = v = memory.new_zeros(len(memory), h, self.c.max_length, d)

        def step(token: Tensor, previous: Tensor, slot: Tensor, past: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            nonlocal carried, k, v
            logits, attended, carried, k, v = self.network.step(token, carried, slot, past, k, v, keys, values)
            return *self.choose(logits), attended

        return greedy_decode(step, memory, self.c.max_length)


def make_pair(c: ModelConfig, world: World) -> tuple[PairNetwork, Writer]:
    difference = PairNetwork(c, world)
    return difference, Writer(difference.network)
