"""IDC-PCL (Yao et al., "Image difference captioning with pre-training and contrastive learning", AAAI 2022).

One Transformer reads each frame, a second the pair, a third the pair with the words. Pre-training draws one task per
step: masked words (MLM), masked cells that must be distinguished from other cells (MVCL), and the true sentence among
six false ones (FDA). Fine-tuning predicts masked words from images and earlier words, and whether anything changed. A
word is written by reading a mask behind the words so far.

Norms come first; a Transformer also norms its input and does not norm its output. Ours: a usual layer norm where the
released code divides by the unbiased deviation, and usual waves of position.

Letters as in base.py; M masked cells, F false sentences. Rows of the memory: both summaries (CLS), then the cells.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from research.captioners.base import Architecture, Encoded, Layout, Stage, Start, Tokens, Written
from research.captioners.text import step_behind, words_behind
from research.captioners.transformer import TransformerLayer, stack_heads
from training.contract import END, IGNORE, PAD, UNK
from training.net.config import ModelConfig
from training.net.decoder import sinusoid

FIRST_WORD = 4  # ids below are PAD, UNK, START, END
SUMMARY_B, CELLS_B, SUMMARY_A, CELLS_A, SUMMARY_TEXT, TEXT = range(6)  # types of tokens


@dataclass
class Options:
    tokens: str = "read"
    ffn: int = 1024
    single: int = 1  # layers per Transformer
    pair: int = 1
    cross: int = 3
    pretraining: float = 2 / 3  # share of the steps; 0: fine-tuning from the start
    mlm: float = 8.0  # how often the tasks are drawn
    mvcl: float = 1.0
    fda: float = 2.0
    fda_pairs: int = 4  # pairs per step, with 1 + F sentences each
    masked: float = 0.15
    masked_end: float = 0.15
    alike: float = 0.95  # cosine of two cells from which one is no negative of the other (empty ground)


class Encoder(nn.Module):
    def __init__(self, layers: int, D: int, heads: int, ffn: int, dropout: float):
        super().__init__()
        self.norm = nn.LayerNorm(D, eps=1e-6)
        self.layers = nn.ModuleList([TransformerLayer(D, heads, ffn, dropout, True, F.relu) for _ in range(layers)])

    def forward(self, x: Tensor) -> Tensor:
        return self.states(x)[-1]

    def states(self, x: Tensor) -> list[Tensor]:
        """The input of each layer, and the output of the last: [B,N,D] each."""
        all_states = [self.norm(x)]
        for layer in self.layers:
            all_states.append(layer(all_states[-1])[0])
        return all_states


class IdcPcl(Architecture):
    def __init__(self, c: ModelConfig, tokens: Tokens, options: Options):
        super().__init__(c, tokens)
        D, V, o = c.width, len(c.vocabulary), options
        self.options, self.layout, self.memory_width = o, Layout(sides=2, extra=2), o.cross * D
        self.cache = (o.cross * c.heads, D // c.heads)
        self.image = nn.Linear(tokens.channels, D)
        self.kind = nn.Parameter(torch.randn(6, D) * 0.02)
        self.summary = nn.Parameter(torch.randn(D) * 0.02)  # word vector of all three CLS
        self.word = nn.Embedding(V + 1, D, padding_idx=PAD)  # the last is the mask
        nn.init.normal_(self.word.weight, std=0.02)
        rows = c.token_grid[0] * c.token_grid[1]
        self.register_buffer("position", sinusoid(max(rows, c.max_length + 1), D), persistent=False)
        self.norm, self.dropout = nn.LayerNorm(D, eps=1e-6), nn.Dropout(c.dropout)
        self.single, self.pair, self.cross = (
            Encoder(n, D, c.heads, o.ffn, c.dropout) for n in (o.single, o.pair, o.cross)
        )
        self.out = nn.Linear(D, V)
        self.distractor = nn.Linear(2 * D, 2)  # unchanged, changed
        self.guess, self.guess_norm = nn.Linear(D, D), nn.LayerNorm(D, eps=1e-6)  # MVCL; the way back is `image`
        self.guess_bias = nn.Parameter(torch.zeros(tokens.channels))
        self.mask = V
        tasks = {"mlm": o.mlm, "mvcl": o.mvcl, "fda": o.fda}
        self.stages = (
            Stage("pretraining", o.pretraining, {name: weight for name, weight in tasks.items() if weight}),
            Stage("finetuning", 1 - o.pretraining, {"finetune": 1.0}, rate=0.3),  # the paper: 3e-5 after 1e-4
        )
        if not o.pretraining:
            self.stages = (Stage("finetuning", 1.0, {"finetune": 1.0}),)

    # ------------------------------------------------------------------------------------------------- inputs

    def embed(self, x: Tensor, kind: int) -> Tensor:
        return self.dropout(self.norm(x + self.kind[kind]))

    def images(self, before: Tensor, after: Tensor) -> Tensor:
        """[B,N,C] x2 -> [B,2+2N,D] of the pair's Transformer, the summaries first."""
        sides = []
        for x, kinds in ((before, (SUMMARY_B, CELLS_B)), (after, (SUMMARY_A, CELLS_A))):
            cells = torch.sigmoid(self.image(x)) + self.position[: x.shape[1]]
            summary = self.embed(self.summary.expand(x.shape[0], 1, -1), kinds[0])
            sides.append(self.single(torch.cat([summary, self.embed(cells, kinds[1])], 1)))
        N = before.shape[1]
        x = self.pair(torch.cat(sides, 1))
        return torch.cat([x[:, :1], x[:, N + 1 : N + 2], x[:, 1 : N + 1], x[:, N + 2 :]], 1)

    def words(self, ids: Tensor) -> Tensor:
        """[B,T] -> [B,T,D]."""
        vectors = self.word(ids) * self.c.width**0.5
        return self.embed(vectors + self.position[: ids.shape[1]], TEXT)

    def joint(self, images: Tensor, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Pre-training, where all see all: images [B,2+2N,D], CLS3 [B,D], words [B,T,D]."""
        summary = self.embed(self.summary.expand(len(ids), 1, -1), SUMMARY_TEXT)
        x = self.cross(torch.cat([images, summary, self.words(ids)], 1))
        S = images.shape[1]
        return x[:, :S], x[:, S], x[:, S + 1 :]

    def mask_words(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """ids [B,T+1] with masks, and which of them are to be predicted: 80 % masks, 10 % other words, 10 % as they
        are; at least one per sentence."""
        draw = torch.rand(ids.shape, device=ids.device)
        real = (ids >= FIRST_WORD) | (ids == UNK)
        chosen = real & (draw < self.options.masked)
        ends = (ids == END) & (draw < self.options.masked_end)
        least = (draw + ~real).argmin(1)
        none = ~(chosen | ends).any(1, keepdim=True)
        chosen |= none & F.one_hot(least, ids.shape[1]).bool()
        how = torch.rand(ids.shape, device=ids.device)
        other = torch.randint(FIRST_WORD, len(self.c.vocabulary), ids.shape, device=ids.device)
        written = torch.where(how < 0.8, torch.full_like(ids, self.mask), torch.where(how < 0.9, other, ids))
        masked = torch.where(chosen, written, torch.where(ends, torch.full_like(ids, self.mask), ids))
        return masked, chosen | ends

    # ------------------------------------------------------------------------------------------------- losses

    def losses(self, task: str, b: dict[str, Tensor]) -> tuple[dict[str, Tensor], Encoded | None]:
        before, after, ids = b["before"], b["after"], b["ids"]
        self.watched = {}
        if task == "mlm":
            masked, asked = self.mask_words(ids)
            _, _, words = self.joint(self.images(before, after), masked)
            return {"mlm": self.masked_loss(self.out(words), ids, asked)}, None
        if task == "mvcl":
            return {"mvcl": self.masked_cells(before, after, ids)}, None
        if task == "fda":
            return self.alignment(b), None
        if task != "finetune":
            return super().losses(task, b)
        encoded = self.encode(before, after)
        masked, asked = self.mask_words(ids)
        logits = self.logits(encoded.memory, masked)  # of the same words, not of the next ones
        changed = F.binary_cross_entropy_with_logits(encoded.change_logit, b["changed"])
        return {"finetune": self.masked_loss(logits, ids, asked), "distractor": changed}, encoded

    def masked_loss(self, logits: Tensor, ids: Tensor, asked: Tensor) -> Tensor:
        """Mean over the words asked for, at fixed shapes: logits [B,T,V], ids and asked [B,T]."""
        return F.cross_entropy(logits.flatten(0, 1), ids.masked_fill(~asked, IGNORE).flatten(), ignore_index=IGNORE)

    def masked_cells(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """MVCL in one frame of the batch, temperature 1. Negatives: the batch's other masked cells, and, as the
        released code has it, what is predicted at the cells that are not masked."""
        B, N, C = before.shape
        side = int(torch.rand(()) < 0.5)
        hidden = torch.rand(B, N, device=before.device) < self.options.masked
        hidden[torch.arange(B, device=before.device), torch.randint(N, (B,), device=before.device)] = True
        truth = after if side else before
        seen = truth.masked_fill(hidden[..., None], 0.0)
        z, _, _ = self.joint(self.images(*((before, seen) if side else (seen, after))), ids)
        cells = z[:, 2 + side * N : 2 + (side + 1) * N]  # [B,N,D]
        guess = F.gelu(self.guess(cells))
        guess = F.normalize(self.guess_norm(guess) @ self.image.weight + self.guess_bias, dim=-1)  # [B,N,C]
        unit = F.normalize(truth, dim=-1)
        guessed, others = guess[hidden], torch.cat([unit[hidden], guess[~hidden]])  # [M,C], [B*N,C]
        alike = unit[hidden] @ torch.cat([unit[hidden], unit[~hidden]]).T > self.options.alike
        alike.fill_diagonal_(False)
        logits = (guessed @ others.T).masked_fill(alike, -1e4)
        return F.cross_entropy(logits, torch.arange(len(guessed), device=guessed.device))

    def alignment(self, b: dict[str, Tensor]) -> dict[str, Tensor]:
        """FDA, temperature 1: the true sentence of a changed pair among its false ones."""
        P = min(self.options.fda_pairs, len(b["false_ids"]))
        ids = torch.cat([b["ids"][:P, None], b["false_ids"][:P]], 1)  # [P,1+F,T+1]
        each = self.images(b["before"][:P], b["after"][:P]).repeat_interleave(ids.shape[1], 0)
        images, summary, _ = self.joint(each, ids.flatten(0, 1))
        score = F.cosine_similarity(images[:, :2].mean(1), summary, dim=-1).reshape(P, -1)  # [P,1+F]
        # At temperature 1 the loss cannot fall below .595 with 6 false sentences, so the rank of the true one counts.
        self.watched = {"fda_right": (score.argmax(1) == 0).float().mean()}
        return {"fda": F.cross_entropy(score, torch.zeros(P, dtype=torch.long, device=score.device))}

    # ------------------------------------------------------------------------------------------------- captioning

    def encode(self, before: Tensor, after: Tensor) -> Encoded:
        states = self.cross.states(self.images(before, after))  # images see images alone
        logits = self.distractor(states[-1][:, :2].reshape(before.shape[0], -1))  # [B,2]
        return Encoded(torch.cat(states[:-1], -1), logits[:, 1] - logits[:, 0])

    def logits(self, memory: Tensor, ids: Tensor) -> Tensor:
        """Unlike other architectures: of the words at the masks in ids [B,T], from the images and the words before
        each."""
        _, keys, values = self.start(memory)
        return self.out(words_behind(self.cross.layers, self.cross.norm(self.words(ids)), (keys, values)))

    def start(self, memory: Tensor) -> Start:
        D = self.c.width
        each = [layer.keys_values(memory[..., i * D : (i + 1) * D]) for i, layer in enumerate(self.cross.layers)]
        return Start(memory[:, 0, :1], *stack_heads(each))

    def step(self, token, carried, slot, past, k, v, keys, values) -> Written:
        """Feeds the last word and a mask behind it; the mask leaves nothing in the caches."""
        T = self.c.max_length
        ids = torch.stack([token, torch.full_like(token, self.mask)], 1)  # [B,2]
        at = torch.stack([self.position[:T], self.position[1 : T + 1]], 1)  # [T,2,D]
        x = self.word(ids) * self.c.width**0.5 + (at * slot[:, None, None]).sum(0)
        x = self.cross.norm(self.embed(x, TEXT))
        x, attention, k, v = step_behind(self.cross.layers, x, slot, past, (k, v), (keys, values))
        return Written(self.out(x), attention, carried, k, v)
