"""The truth check (the head of `check.onnx`): is a sentence true of a pair, and which of its slots is not?

A bidirectional reader of the sentence that attends to the evidence, after the fine-grained alignment of IDC-PCL (Yao et
al., AAAI 2022) with its hard negatives; here the sentence reads the pair at once, so no vectors are compared.

Letters: B pairs, K sentences of a pair, L word ids, T = L + 1 (a summary token first), S tokens of evidence, D width, H
heads, d = D / H.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.net.attention import join_heads, split_heads
from training.net.config import PAD
from training.net.evidence_tokens import HIDDEN, EvidenceSizes, EvidenceTokens
from training.text.truth import SLOTS

FIRST_TEMPERATURE = 0.1  # of the softmax over the sentences of a pair, learned from here


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


class ReaderBlock(nn.Module):
    """Self-attention among the words, cross-attention to the evidence, a feed-forward layer; norms first."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.words, self.evidence = Attention(width, heads), Attention(width, heads)
        self.ffn = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, padded: Tensor, evidence: Tensor, hidden: Tensor) -> Tensor:
        """x [B*K,T,D], padded [B*K,T] and hidden [B,S] (added to the attention), evidence [B,S,D] -> [B*K,T,D]."""
        y = self.norms[0](x)
        x = x + self.words(y, y, padded)
        y = self.norms[1](x).reshape(evidence.shape[0], -1, x.shape[-1])  # [B,K*T,D]
        x = x + self.dropout(self.evidence(y, evidence, hidden)).reshape(x.shape)
        return x + self.ffn(self.norms[2](x))


class TruthCheck(nn.Module):
    def __init__(
        self,
        sizes: EvidenceSizes,
        words: int,
        max_length: int = 28,
        width: int = 128,
        heads: int = 4,
        blocks: int = 2,
        dropout: float = 0.1,
    ):
        super().__init__()
        self.evidence = EvidenceTokens(sizes, width, dropout)
        self.embedding = nn.Embedding(words, width)
        nn.init.normal_(self.embedding.weight, std=0.05)
        self.summary = nn.Parameter(torch.randn(width) * 0.05)
        self.position = nn.Parameter(torch.randn(max_length, width) * 0.05)
        self.blocks = nn.ModuleList([ReaderBlock(width, heads, dropout) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width)
        self.score = nn.Linear(width, 1)
        nn.init.zeros_(self.score.weight)  # the temperature is low at first: random scores would be far apart
        self.slots = nn.Linear(width, len(SLOTS))
        self.log_temperature = nn.Parameter(torch.tensor(FIRST_TEMPERATURE).log())
        self.dropout = nn.Dropout(dropout)

    def forward(self, evidence: tuple[Tensor, ...], ids: Tensor) -> tuple[Tensor, Tensor]:
        """evidence: the arguments of `EvidenceTokens`; ids [B,K,L] -> score [B,K], slot logits [B,K,SLOTS]."""
        seen, hidden = self.evidence(*evidence)
        return self.read(seen, hidden, ids)

    def read(self, seen: Tensor, hidden: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        """As `forward`, of the outputs of `EvidenceTokens`."""
        B, K, L = ids.shape
        ids = ids.reshape(B * K, L)
        words = self.dropout(self.embedding(ids) + self.position[:L])
        x = torch.cat([self.summary.expand(B * K, 1, -1), words], 1)  # [B*K,T,D]
        padded = F.pad((ids == PAD).to(x) * HIDDEN, (1, 0))  # [B*K,T]
        for block in self.blocks:
            x = block(x, padded, seen, hidden)
        x = self.norm(x[:, 0])  # [B*K,D]
        return self.score(x).reshape(B, K), self.slots(x).reshape(B, K, -1)


def check_loss(score: Tensor, slots: Tensor, labels: Tensor, log_temperature: Tensor) -> dict[str, Tensor]:
    """Terms of the loss. score [B,K], of which the first sentence is the only true one; slots and labels [B,K,SLOTS],
    negative where the truth is unknown or nothing is stated."""
    true = torch.zeros_like(score)
    true[:, 0] = 1
    known = labels >= 0
    balance = 1 + true * (score.shape[1] - 2)  # the true sentence counts as much as the false ones together
    return {
        "rank": F.cross_entropy(score * torch.exp(-log_temperature), torch.zeros_like(labels[:, 0, 0]).long()),
        "slots": F.binary_cross_entropy_with_logits(slots[known], labels[known].to(slots)),
        # The score of one sentence alone has a meaning, too: somebody may ask about just one.
        "alone": F.binary_cross_entropy_with_logits(score, true, balance),
    }
