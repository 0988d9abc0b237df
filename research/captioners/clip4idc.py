"""CLIP4IDC (Guo et al., AACL 2022): a pair encoder that is first trained to retrieve, and then to caption.

Intra layers see one frame, inter layers both (Eq. 2-4). Stage 1 contrasts pairs with sentences (Eq. 6-8). Stage 2
trains a Transformer whose decoder layer i attends to encoder layer i; its word vectors and positions are those of the
text tower.
Without CLIP's weights: the row shows the order of the two stages, not what 400 million pictures add.

Letters as in base.py. Rows of the memory: class token of before, of after, then the cells.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from research.captioners.base import Architecture, Encoded, Layout, Stage, Start, Tokens, Written
from research.captioners.text import CrossDecoder, WordEmbedding
from research.captioners.transformer import TransformerLayer, causal_mask, quick_gelu
from training.contract import END
from training.net.config import ModelConfig

LARGEST_LOG_SCALE = 4.6052  # CLIP's: similarities are multiplied by 100 at most


@dataclass
class Options:
    tokens: str = "read"
    vision_width: int = 256
    vision_heads: int = 8
    vision_ffn: int = 1024
    intra: int = 3  # layers that see one frame
    inter: int = 3  # layers that see both
    text_layers: int = 3
    layers: int = 3  # of the encoder and of the decoder of stage 2
    ffn: int = 1024
    retrieval: float = 1 / 3  # share of stage 1; 0: captioning from the start


def contrast(similarity: Tensor, alike: Tensor) -> Tensor:
    """InfoNCE in both directions: [B,B] with the true partners on the diagonal.

    alike [B,B]: other pairs of the same sentence, which are no negatives.
    """
    hidden = similarity.masked_fill(alike & ~torch.eye(len(alike), dtype=torch.bool, device=alike.device), -1e4)
    matches = torch.arange(len(similarity), device=similarity.device)
    return (F.cross_entropy(hidden, matches) + F.cross_entropy(hidden.T, matches)) / 2


class Tower(nn.Module):
    """The text Transformer (Eq. 1): the state at END, projected."""

    def __init__(self, c: ModelConfig, layers: int, ffn: int):
        super().__init__()
        D = c.width
        self.embedding = WordEmbedding(len(c.vocabulary), c.max_length, D, learned=True)
        self.layers = nn.ModuleList([TransformerLayer(D, c.heads, ffn, 0.0, True, quick_gelu) for _ in range(layers)])
        self.norm, self.project = nn.LayerNorm(D), nn.Linear(D, D, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        """ids [B,T+1], START first, which says nothing and is left out -> unit vectors [B,D]."""
        ids = ids[:, 1:]
        x = self.embedding(ids)
        causal = causal_mask(ids.shape[1], x)
        for layer in self.layers:
            x, _ = layer(x, causal)
        end = (ids == END).float().argmax(1)  # [B]
        return F.normalize(self.project(self.norm(x[torch.arange(len(x), device=x.device), end])), dim=-1)


class TiedHead(nn.Module):
    """BERT's head: dense layer, GELU, norm, then the word vectors themselves."""

    def __init__(self, word: nn.Embedding):
        super().__init__()
        V, D = word.weight.shape
        self.dense, self.norm, self.bias = nn.Linear(D, D), nn.LayerNorm(D), nn.Parameter(torch.zeros(V))
        self.word = word

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(F.gelu(self.dense(x))) @ self.word.weight.T + self.bias


class Clip4Idc(Architecture):
    def __init__(self, c: ModelConfig, tokens: Tokens, options: Options):
        super().__init__(c, tokens)
        D, W, rows = c.width, options.vision_width, c.token_grid[0] * c.token_grid[1]
        self.layout, self.memory_width = Layout(sides=2, extra=2), options.layers * D
        self.cache = (options.layers * c.heads, D // c.heads)
        started = lambda *shape: nn.Parameter(torch.randn(*shape) * W**-0.5)
        block = lambda: TransformerLayer(W, options.vision_heads, options.vision_ffn, 0.0, True, quick_gelu)
        self.embed = nn.Linear(tokens.channels, W, bias=False)
        self.summary, self.position = started(1, 1, W), started(1 + rows, W)
        self.frame, self.joint = started(2, 1, W), started(2 + 2 * rows, W)
        self.norms = nn.ModuleList([nn.LayerNorm(W) for _ in range(3)])  # before, between and after the layers
        self.intra = nn.ModuleList([block() for _ in range(options.intra)])
        self.inter = nn.ModuleList([block() for _ in range(options.inter)])
        self.project = nn.Linear(W, D, bias=False)
        self.text = Tower(c, options.text_layers, options.ffn)
        self.log_scale = nn.Parameter(torch.tensor(2.6593))  # CLIP's start: 1 / 0.07
        self.encoder = nn.ModuleList(
            [TransformerLayer(D, c.heads, options.ffn, c.dropout, False) for _ in range(options.layers)]
        )
        layers = [TransformerLayer(D, c.heads, options.ffn, c.dropout, False, F.gelu, D) for _ in self.encoder]
        self.decoder = CrossDecoder(layers, self.text.embedding, TiedHead(self.text.embedding.word))
        share = options.retrieval
        self.stages = (Stage("retrieval", share, {"retrieval": 1.0}), Stage("captioning", 1 - share, {"caption": 1.0}))
        if not share:
            self.stages = self.stages[1:]

    def pairs(self, before: Tensor, after: Tensor) -> Tensor:
        """W F of Eq. 5: [B,N,C] x2 -> [B,2+2N,D], the class tokens first."""
        x = torch.stack([before, after], 1)  # [B,2,N,C]
        B, _, N, _ = x.shape
        x = self.embed(x).reshape(2 * B, N, -1)
        x = torch.cat([self.summary.expand(2 * B, -1, -1), x], 1) + self.position
        x = self.norms[0](x)
        for layer in self.intra:
            x, _ = layer(x)
        x = (x.reshape(B, 2, N + 1, -1) + self.frame).reshape(B, 2 * (N + 1), -1) + self.joint
        x = self.norms[1](x)
        for layer in self.inter:
            x, _ = layer(x)
        x = self.project(self.norms[2](x))
        return torch.cat([x[:, :1], x[:, N + 1 : N + 2], x[:, 1 : N + 1], x[:, N + 2 :]], 1)

    def vectors(self, before: Tensor, after: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        return F.normalize(self.pairs(before, after)[:, :2].mean(1), dim=-1), self.text(ids)

    def encode(self, before: Tensor, after: Tensor) -> Encoded:
        x, each = self.pairs(before, after), []
        for layer in self.encoder:
            x, _ = layer(x)
            each.append(x)
        return Encoded(torch.cat(each, -1))

    def losses(self, task: str, b: dict[str, Tensor]) -> tuple[dict[str, Tensor], Encoded | None]:
        if task != "retrieval":
            return super().losses(task, b)
        P = len(b["before"]) // 2  # changed pairs; each row after them has the same scene's distractor view
        view = torch.rand(P, 1, 1, device=b["before"].device) < 0.5
        before = torch.where(view, b["after"][P:], b["before"][:P])
        pair, text = self.vectors(before, b["after"][:P], b["ids"][:P])
        alike = (b["ids"][:P, None] == b["ids"][None, :P]).all(-1)
        scale = self.log_scale.clamp(max=LARGEST_LOG_SCALE).exp()
        return {"retrieval": contrast(scale * pair @ text.T, alike)}, None

    def logits(self, memory: Tensor, ids: Tensor) -> Tensor:
        return self.decoder(ids, self.start(memory)[1:])

    def start(self, memory: Tensor) -> Start:
        D = self.c.width
        each = [memory[..., i * D : (i + 1) * D] for i in range(len(self.encoder))]
        return Start(memory[:, 0, :1], *self.decoder.memory_kv(each))

    def step(self, token, carried, slot, past, k, v, keys, values) -> Written:
        logits, attention, k, v = self.decoder.step(token, slot, past, (k, v), (keys, values))
        return Written(logits, attention, carried, k, v)
