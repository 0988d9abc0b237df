"""Search vectors: a change (`pair.onnx`) and a text (`text.onnx`) as unit vectors that are near if the text is true.

After the retrieval stage of CLIP4IDC (Guo et al., AACL 2022), on the frozen evidence of a bundle. The evidence keeps
before and after apart, because a plain mean of both frames loses which way a thing went.

Letters: B changes, S tokens of evidence, Q texts, L words of a text, M n-grams of a word, D width, V size of a vector.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import BUCKETS, END, MAX_WORDS, PAD
from training.net.attention import join_heads, split_heads
from training.net.check import PLACE, WAY, place_features, way_features
from training.net.evidence_tokens import HIDDEN, EvidenceSizes, EvidenceTokens, finite_names

DIMENSIONS = 128
TEXT_WIDTH = 256
FIRST_SCALE = 12.0  # of the cosines in the loss, learned from here
LARGEST_SCALE = 50.0


class QueryPool(nn.Module):
    """Learned queries that pool any number of tokens by attention. H: heads."""

    def __init__(self, width: int, queries: int, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.query = nn.Parameter(torch.randn(queries, width) * 0.3)
        self.keys_values = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(queries * width)

    def pooled(self, seen: Tensor, bias: Tensor) -> Tensor:
        """seen [B,S,D], bias [B,S] (added to the attention) -> [B,queries*D]."""
        k, v = (split_heads(t, self.heads) for t in self.keys_values(seen).chunk(2, -1))  # [B,H,S,d]
        q = split_heads(self.query[None], self.heads)  # [1,H,queries,d]
        weight = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias[:, None, None], -1)
        return self.norm((weight @ v).transpose(1, 2).reshape(seen.shape[0], -1))


class PairVector(QueryPool):
    """Learned queries pool the evidence of a change, and correct a vector of its concepts."""

    def __init__(
        self, sizes: EvidenceSizes, concepts: nn.Parameter, width: int = 128, queries: int = 8, dropout: float = 0.1
    ):
        """concepts [C,V]: a vector per concept, shared with the texts."""
        super().__init__(width, queries)
        self.evidence = EvidenceTokens(sizes, width, dropout)
        self.concepts = concepts
        named = 2 * (sizes.nouns + sizes.colours)
        self.enter = nn.Linear(queries * width + len(concepts) + PLACE + WAY + named, 2 * width)
        self.out = nn.Sequential(nn.GELU(), nn.Dropout(dropout), nn.Linear(2 * width, DIMENSIONS))
        nn.init.zeros_(self.out[-1].weight)  # training starts from the concepts

    def forward(self, *evidence: Tensor) -> Tensor:
        """The arguments of `EvidenceTokens` -> [B,V]."""
        seen, hidden = self.evidence(*evidence)
        pooled = self.pooled(seen, hidden)  # [B,queries*D]
        _, kind_logits, nouns, colours, maps, _, obj, mask = evidence
        shown = concepts_of(kind_logits, nouns, colours, mask)
        where = torch.cat([place_features(obj), way_features(maps, obj, mask)], -1) * mask[..., None]
        where = where.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)  # [B,PLACE+WAY]
        alone = shown_alone(nouns, colours, mask).flatten(1)  # [B,2*(nouns+colours)]
        more = self.out(self.enter(torch.cat([pooled, shown, where, alone], 1)))
        return F.normalize(shown @ self.concepts + more, dim=-1)


def shown_alone(noun_logits: Tensor, colour_logits: Tensor, mask: Tensor) -> Tensor:
    """Arguments of `EvidenceTokens` -> how much each frame shows each noun and colour that the other frame does
    not show at the same place, 0..1: [B,2,nouns+colours]. A replacement has both of them, in this order."""
    names = [torch.softmax(x, -1) for x in finite_names(noun_logits, colour_logits, mask)]  # [B,R,2,classes]
    shown = torch.cat(names, -1) * mask[:, :, None, None]
    return (shown - shown.flip(2)).clamp(min=0).amax(1)


def concepts_of(kind_logits: Tensor, noun_logits: Tensor, colour_logits: Tensor, mask: Tensor) -> Tensor:
    """Arguments of `EvidenceTokens` -> how much a change shows each concept, 0..1: [B,C]. Concepts are the namer's
    classes of nouns (the first is "nothing", which counts for nothing) and colours, the kinds, and that a thing is in
    the later frame alone, or in the earlier one."""
    nouns, colours = (torch.softmax(x, -1) for x in finite_names(noun_logits, colour_logits, mask))
    nothing = 1 - (1 - nouns[..., :1]) * mask[:, :, None, None]  # [B,R,2,1], 1 in unused slots
    nouns = torch.cat([torch.zeros_like(nothing), nouns[..., 1:]], -1) * mask[:, :, None, None]
    shown = torch.cat([nouns, colours * (1 - nothing)], -1).flatten(1, 2).amax(1)  # [B,nouns+colours]
    before, after = (1 - nothing[..., 0]).unbind(2)  # [B,R]
    side = torch.stack([(after * (1 - before)).amax(1), (before * (1 - after)).amax(1)], 1)  # [B,2]
    return torch.cat([shown, torch.softmax(kind_logits, -1), side], 1)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.keys_values = nn.Linear(width, 2 * width)

    def forward(self, x: Tensor, seen: Tensor, bias: Tensor) -> Tensor:
        """x [B,Q,D] attends to seen [B,S,D]; bias [B,S] -> [B,Q,D]."""
        q = split_heads(self.query(x), self.heads)  # [B,H,Q,d]
        k, v = (split_heads(t, self.heads) for t in self.keys_values(seen).chunk(2, -1))  # [B,H,S,d]
        weight = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias[:, None, None], -1)
        return self.out(join_heads(weight @ v))


class TextBlock(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.attention = Attention(width, heads)
        self.ffn = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, padded: Tensor) -> Tensor:
        """x [Q,L,D], padded [Q,L] (added to the attention) -> [Q,L,D]."""
        y = self.norms[0](x)
        x = x + self.dropout(self.attention(y, y, padded))
        return x + self.dropout(self.ffn(self.norms[1](x)))


class TextVector(nn.Module):
    """Word rows and hashed n-grams, two layers, read at the END token; they correct a vector of the concepts that the
    words name."""

    def __init__(
        self,
        table: Tensor,
        concepts: nn.Parameter,
        width: int = TEXT_WIDTH,
        grams: int = 64,
        heads: int = 4,
        blocks: int = 2,
        dropout: float = 0.1,
    ):
        """table [words,C]: 1 if a word names a concept; concepts [C,V]."""
        super().__init__()
        words = len(table)
        self.concepts = concepts
        self.register_buffer("table", table)
        self.word = nn.Embedding(words, width, padding_idx=PAD)
        self.gram = nn.Embedding(BUCKETS, grams, padding_idx=0)
        self.from_grams = nn.Linear(grams, width)
        self.position = nn.Parameter(torch.randn(MAX_WORDS, width) * 0.02)
        for table in (self.word, self.gram):
            nn.init.normal_(table.weight, std=0.1)
            nn.init.zeros_(table.weight[PAD])
        self.blocks = nn.ModuleList([TextBlock(width, heads, dropout) for _ in range(blocks)])
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, DIMENSIONS))
        nn.init.zeros_(self.out[-1].weight)  # training starts from the concepts
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, grams: Tensor) -> Tensor:
        """ids [Q,L], grams [Q,L,M] -> [Q,V]."""
        rows = self.gram(grams).sum(2) / (grams > 0).sum(2, keepdim=True).clamp(min=1).to(self.position)  # [Q,L,grams]
        x = self.dropout(self.word(ids) + self.from_grams(rows) + self.position[: ids.shape[1]])
        padded = (ids == PAD).to(x) * HIDDEN  # [Q,L]
        for block in self.blocks:
            x = block(x, padded)
        end = (ids == END).to(x)[:, None]  # [Q,1,L]
        named = F.embedding(ids, self.table).amax(1)  # [Q,C]
        # A wide name such as "vehicle" is about one thing, too.
        named = named / named.square().sum(1, keepdim=True).sqrt().clamp(min=1)
        return F.normalize(named @ self.concepts + self.out((end @ x)[:, 0]), dim=-1)


class SearchVectors(nn.Module):
    def __init__(self, sizes: EvidenceSizes, words: int, table: Tensor | None = None):
        """words: size of the vocabulary; table: as `TextVector`, without which a state must be loaded."""
        super().__init__()
        concepts = nn.Parameter(torch.randn(sizes.concepts, DIMENSIONS) * DIMENSIONS**-0.5)
        self.pair = PairVector(sizes, concepts)
        named = torch.zeros(words, sizes.concepts) if table is None else table
        self.text = TextVector(named, concepts)
        self.log_scale = nn.Parameter(torch.tensor(FIRST_SCALE).log())

    def scale(self) -> Tensor:
        return self.log_scale.exp().clamp(max=LARGEST_SCALE)


def search_loss(cosines: Tensor, left_out: Tensor, inverted: Tensor, scale: Tensor) -> dict[str, Tensor]:
    """Contrastive loss both ways. cosines [B,Q] of changes and texts; text i is about change i; left_out [B,Q]:
    1 where another text is true of a change, or may be; inverted [B]: cosine of a change and the inverse of its own
    text, one more negative of each change."""
    logits = cosines * scale + left_out * HIDDEN
    about = torch.arange(len(cosines))
    with_inverse = torch.cat([logits, inverted[:, None] * scale], 1)
    ahead = (cosines.diagonal() - inverted) * scale  # of its inverse
    return {
        "to_text": F.cross_entropy(with_inverse, about),
        "to_pair": F.cross_entropy(logits.T, about),
        "inverse": F.softplus(-ahead).mean(),
    }
