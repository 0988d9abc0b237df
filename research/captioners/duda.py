"""DUDA (Park et al., "Robust change captioning", ICCV 2019): dual spatial attention and a dynamic speaker.

A sigmoid attention per frame, computed from the frame and the difference after - before, pools each frame to one
vector. The speaker weighs the vectors of before, difference and after anew for each word; a word's heatmap is the
frame's attention times that weight. The paper's small reward for the speaker's entropy is left out.

Letters as in base.py.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from research.captioners.base import Architecture, Encoded, Layout, Start, Tokens, Written
from training.contract import PAD
from training.net.config import ModelConfig


@dataclass
class Options:
    tokens: str = "read"
    sparse: float = 2.5e-3  # weight of the mean attention, so that it marks few cells


class Lstm(nn.Module):
    """One step of a long short-term memory, in operations that export: x [B,X], h and c [B,D] -> h, c."""

    def __init__(self, inputs: int, width: int):
        super().__init__()
        self.gates = nn.Linear(inputs + width, 4 * width)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        i, f, o, g = self.gates(torch.cat([x, h], 1)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class Duda(Architecture):
    def __init__(self, c: ModelConfig, tokens: Tokens, options: Options):
        super().__init__(c, tokens)
        D = c.width
        self.options, self.layout, self.memory_width, self.cache = options, Layout(sides=2), D + 1, (1, 1)
        self.image = nn.Linear(tokens.channels, D)
        self.embed, self.norm, self.attend = nn.Linear(2 * D, D), nn.GroupNorm(min(32, D), D), nn.Linear(D, 1)
        self.dropout = nn.Dropout(0.5)
        self.join = nn.Linear(3 * D, D)
        self.choose = Lstm(2 * D, D)  # which vector the next word is about
        self.weigh = nn.Linear(D, 3)
        self.word = nn.Embedding(len(c.vocabulary), D, padding_idx=PAD)
        self.speak = Lstm(2 * D, D)
        self.out = nn.Linear(D, len(c.vocabulary))

    def encode(self, before: Tensor, after: Tensor) -> Encoded:
        xb, xa = self.image(before), self.image(after)  # [B,N,D]

        def side(x: Tensor) -> Tensor:
            hidden = self.norm(self.embed(torch.cat([x, xa - xb], -1)).transpose(1, 2)).transpose(1, 2)
            return torch.cat([x, torch.sigmoid(self.attend(self.dropout(F.relu(hidden))))], -1)  # [B,N,D+1]

        return Encoded(torch.cat([side(xb), side(xa)], 1))

    def losses(self, task: str, b: dict[str, Tensor]) -> tuple[dict[str, Tensor], Encoded | None]:
        terms, encoded = super().losses(task, b)
        terms["sparse"] = self.options.sparse * encoded.memory[..., -1].mean()
        return terms, encoded

    def logits(self, memory: Tensor, ids: Tensor) -> Tensor:
        carried, keys, values = self.start(memory)
        nothing, out = keys, []
        for t in range(ids.shape[1]):
            logits, _, carried, _, _ = self.step(ids[:, t], carried, nothing, nothing, nothing, nothing, keys, values)
            out.append(logits)
        return torch.stack(out, 1)

    def start(self, memory: Tensor) -> Start:
        """keys [B,1,2N,1]: attention of the cells, 1 per frame. values [B,1,3,D]: before, difference, after."""
        x, a = memory[..., :-1], memory[..., -1:]  # [B,2N,D], [B,2N,1]
        N = self.c.token_grid[0] * self.c.token_grid[1]
        before, after = (x * a)[:, :N].sum(1), (x * a)[:, N:].sum(1)  # [B,D]
        share = torch.cat([side / side.sum(1, keepdim=True).clamp(min=1e-6) for side in (a[:, :N], a[:, N:])], 1)
        nothing = before.repeat(1, 4) * 0  # hidden state and cell of both LSTMs
        return Start(nothing, share[:, None], torch.stack([before, after - before, after], 1)[:, None])

    def step(self, token, carried, slot, past, k, v, keys, values) -> Written:
        N = self.c.token_grid[0] * self.c.token_grid[1]
        vectors = values[:, 0]  # [B,3,D]
        h_choose, c_choose, h_speak, c_speak = carried.chunk(4, 1)
        joined = F.relu(self.join(vectors.reshape(-1, 3 * self.c.width)))  # [B,D]
        h_choose, c_choose = self.choose(torch.cat([joined, h_speak], 1), h_choose, c_choose)
        weight = torch.softmax(self.weigh(h_choose), -1)  # [B,3]
        about = (weight[:, :, None] * vectors).sum(1)
        h_speak, c_speak = self.speak(torch.cat([self.word(token), about], 1), h_speak, c_speak)
        sides = weight[:, ::2] + weight[:, 1:2] / 2  # [B,2]: the difference is of both frames
        attention = keys[:, 0, :, 0] * torch.cat([sides[:, :1].expand(-1, N), sides[:, 1:].expand(-1, N)], 1)  # [B,2N]
        return Written(self.out(h_speak), attention, torch.cat([h_choose, c_choose, h_speak, c_speak], 1), k, v)
