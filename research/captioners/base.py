"""The interface of the captioners that the table compares (research/captioners/table.py).

An architecture sees tokens of both frames, and gives a decoder memory and, if its paper has one, a logit of change. The
heads that a paper lacks are added on stopped gradients (pair_network.py), so that every architecture exports the graphs
of a bundle.

Letters: B pairs, N tokens of a frame, C channels of a token, S memory rows = extra + sides * N, W memory width, T
caption slots, V words, E numbers that the decoder carries, h x d heads and width of its caches.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor, nn

from training.net.config import ModelConfig
from training.net.losses import caption_loss


@dataclass(frozen=True)
class Layout:
    """Rows of the memory: `extra` that show no place, then the cells of each side in the order before, after.

    sides 1: a cell is of both frames.
    """

    sides: int
    extra: int = 0


@dataclass(frozen=True)
class Stage:
    """Part of a training. Each step draws one of the tasks by its weight."""

    name: str
    share: float  # of the row's steps
    tasks: dict[str, float]
    rate: float = 1.0  # factor of the learning rate


CAPTIONING = Stage("captioning", 1.0, {"caption": 1.0})


class Encoded(NamedTuple):
    memory: Tensor  # [B,S,W]
    change_logit: Tensor | None = None  # [B], if the paper has one
    more: dict[str, Tensor] = {}  # what only the architecture's own losses read


class Start(NamedTuple):
    """Everything that the decoder computes once per sentence."""

    carried: Tensor  # [B,E], from word to word
    keys: Tensor  # [B,h,S,...], whatever the steps read of the memory
    values: Tensor


class Written(NamedTuple):
    logits: Tensor  # [B,V]
    attention: Tensor  # [B,S]
    carried: Tensor  # [B,E]
    k: Tensor  # [B,h,T,d]
    v: Tensor


@dataclass
class Tokens:
    """Which tokens of the frames an architecture gets: `read` of the frozen reading stage, `raw` features, or both."""

    kind: str = "read"
    levels: dict[str, slice] = field(default_factory=dict)  # channels of each feature level
    channels: int = 0


class Architecture(nn.Module):
    """Subclasses set the attributes below in __init__, and implement the methods."""

    layout: Layout
    memory_width: int
    cache: tuple[int, int]  # h, d
    stages: tuple[Stage, ...] = (CAPTIONING,)

    def __init__(self, c: ModelConfig, tokens: Tokens):
        super().__init__()
        self.c, self.tokens = c, tokens
        self.watched: dict[str, Tensor] = {}  # of the last task, for the log: no part of the loss

    def encode(self, before: Tensor, after: Tensor) -> Encoded:
        """Tokens [B,N,C] of both frames -> memory, change logit."""
        raise NotImplementedError

    def losses(self, task: str, b: dict[str, Tensor]) -> tuple[dict[str, Tensor], Encoded | None]:
        """Weighted terms of one task of a stage, and what was encoded of all pairs of the batch, if anything.

        b: `SceneBatches.batch` of research/captioners/scenes.py.
        """
        if task != "caption":
            raise ValueError(f"{type(self).__name__} has no task {task!r}")
        encoded = self.encode(b["before"], b["after"])
        return {"caption": caption_loss(self.logits(encoded.memory, b["ids"][:, :-1]), b["ids"], 0.0)}, encoded

    def start(self, memory: Tensor) -> Start:
        """memory [B,S,W], as `encode` gives it.

        `start` and `step` are exported as a script, in which tensors have no known rank: no flatten, no unflatten.
        """
        raise NotImplementedError

    def step(
        self, token: Tensor, carried: Tensor, slot: Tensor, past: Tensor, k: Tensor, v: Tensor, keys: Tensor,
        values: Tensor,
    ) -> Written:  # fmt: skip
        """The word after `token` [B].

        slot [T]: 1 at the token's position. past [T]: mask of the positions after it. k, v: caches, zero at first.
        """
        raise NotImplementedError

    def vectors(self, before: Tensor, after: Tensor, ids: Tensor) -> tuple[Tensor, Tensor] | None:
        """Unit vectors [B,D] of pairs and of sentences [B,T+1], for retrieval; None if the paper has none."""
        return None

    def logits(self, memory: Tensor, ids: Tensor) -> Tensor:
        """Teacher forcing: ids [B,T] = START w1 .. -> logits of the next words [B,T,V]."""
        raise NotImplementedError
