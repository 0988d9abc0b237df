"""Search vectors: a change (`pair.onnx`) and a text (`text.onnx`) as unit vectors that are near if the text is true.

After the retrieval stage of CLIP4IDC (Guo et al., AACL 2022), on the frozen evidence of a bundle. The evidence keeps
before and after apart, because a plain mean of both frames forgets which way a thing went.

Letters: B changes, S tokens of evidence, Q texts, L words of a text, M n-grams of a word, D width, V size of a vector.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.net.attention import split_heads
from training.net.check import Attention
from training.net.config import END, PAD
from training.net.evidence_tokens import HIDDEN, EvidenceSizes, EvidenceTokens
from training.text.search_words import BUCKETS, MAX_WORDS

DIMENSIONS = 128
FIRST_SCALE = 12.0  # of the cosines in the loss, learned from here
LARGEST_SCALE = 50.0


class PairVector(nn.Module):
    """Learned queries pool the evidence of a change."""

    def __init__(self, sizes: EvidenceSizes, width: int = 128, queries: int = 8, heads: int = 4, dropout: float = 0.1):
        super().__init__()
        self.evidence = EvidenceTokens(sizes, width, dropout)
        self.heads = heads
        self.query = nn.Parameter(torch.randn(queries, width) * 0.3)
        self.keys_values = nn.Linear(width, 2 * width)
        self.pooled = nn.Sequential(
            nn.LayerNorm(queries * width),
            nn.Linear(queries * width, 2 * width),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(2 * width, DIMENSIONS),
        )

    def forward(self, *evidence: Tensor) -> Tensor:
        """The arguments of `EvidenceTokens` -> [B,V]."""
        seen, hidden = self.evidence(*evidence)
        B = seen.shape[0]
        k, v = (split_heads(t, self.heads) for t in self.keys_values(seen).chunk(2, -1))  # [B,H,S,d]
        q = split_heads(self.query[None], self.heads)  # [1,H,queries,d]
        weight = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + hidden[:, None, None], -1)
        pooled = (weight @ v).transpose(1, 2).reshape(B, -1)  # [B,queries*D]
        return F.normalize(self.pooled(pooled), dim=-1)


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
    """Word rows and hashed n-grams, two layers, read at the END token."""

    def __init__(self, words: int, width: int = 256, grams: int = 64, heads: int = 4, blocks: int = 2, dropout=0.1):
        super().__init__()
        self.word = nn.Embedding(words, width, padding_idx=PAD)
        self.gram = nn.Embedding(BUCKETS, grams, padding_idx=0)
        self.from_grams = nn.Linear(grams, width)
        self.position = nn.Parameter(torch.randn(MAX_WORDS, width) * 0.02)
        for table in (self.word, self.gram):
            nn.init.normal_(table.weight, std=0.1)
            nn.init.zeros_(table.weight[PAD])
        self.blocks = nn.ModuleList([TextBlock(width, heads, dropout) for _ in range(blocks)])
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, DIMENSIONS))
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, grams: Tensor) -> Tensor:
        """ids [Q,L], grams [Q,L,M] -> [Q,V]."""
        rows = self.gram(grams).sum(2) / (grams > 0).sum(2, keepdim=True).clamp(min=1).to(self.position)  # [Q,L,grams]
        x = self.dropout(self.word(ids) + self.from_grams(rows) + self.position[: ids.shape[1]])
        padded = (ids == PAD).to(x) * HIDDEN  # [Q,L]
        for block in self.blocks:
            x = block(x, padded)
        end = (ids == END).to(x)[:, None]  # [Q,1,L]
        return F.normalize(self.out((end @ x)[:, 0]), dim=-1)


class SearchVectors(nn.Module):
    def __init__(self, sizes: EvidenceSizes, words: int):
        super().__init__()
        self.pair, self.text = PairVector(sizes), TextVector(words)
        self.log_scale = nn.Parameter(torch.tensor(FIRST_SCALE).log())

    def scale(self) -> Tensor:
        return self.log_scale.exp().clamp(max=LARGEST_SCALE)


def search_loss(cosines: Tensor, left_out: Tensor, inverted: Tensor, scale: Tensor) -> dict[str, Tensor]:
    """Contrastive loss both ways. cosines [B,Q] of changes and texts, of which text i is about change i; left_out [B,Q]:
    1 where another text is true of a change, or may be; inverted [B]: cosine of a change and the inverse of its own
    text, one more negative of each change."""
    logits = cosines * scale + left_out * HIDDEN
    own = torch.arange(len(cosines))
    with_inverse = torch.cat([logits, inverted[:, None] * scale], 1)
    return {"to_text": F.cross_entropy(with_inverse, own), "to_pair": F.cross_entropy(logits.T, own)}
