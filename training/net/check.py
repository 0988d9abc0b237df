"""The truth check (the head of `check.onnx`): is a sentence true of a pair, and which of its slots is not?

Every word is compared with every region crop: with what the namer sees there in each frame, where the crop lies, and
what happened in it. A sentence is as true as it is of the crop that it fits best. The hard negatives and the loss are
those of IDC-PCL's fine-grained alignment (Yao et al., AAAI 2022); its cross-attention over all tokens needed far more
steps on our data (training/journal).

Letters: B pairs, K sentences of a pair, L word ids, V words of the vocabulary, R crops (the last one stands for the
full frame), W width of the decoder, C classes of nouns and colours, Q features of a query.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import KINDS, PAD, SLOTS
from training.net.evidence_tokens import (
    EvidenceSizes,
    box_features,
    displacement_of,
    finite_names,
    maps_in_boxes,
    moments_in_boxes,
)

FIRST_TEMPERATURE = 0.5  # of the softmax over the sentences of a pair, learned from here
LEAST = 1e-3  # of a probability, in its logarithm
LOG_SCALE = 0.3  # brings logarithms of probabilities to about unit variance
PLACE, WAY, TOKEN = 13, 4, 24  # features of a crop that words are compared with
EVENT = 11 + WAY + len(KINDS)
NEAR = 0.1  # of the frame: a way of this length is plain
HIDDEN = -10_000.0  # added to the score of a crop that is not used
SHARP = 0.25  # slots are read of the best crop, by a softmax over the crops' scores divided by this


def place_features(box: Tensor) -> Tensor:
    """[...,4] -> [...,PLACE]: of a box, its lower edge, how far from the middle it is, and 1."""
    middle = box[..., :2] + box[..., 2:] / 2 - 0.5
    return torch.cat(
        [box_features(box), box[..., 1:2] + box[..., 3:], 4 * middle**2, torch.ones_like(box[..., :1])], -1
    )


def way_features(maps: Tensor, obj: Tensor, mask: Tensor) -> Tensor:
    """The way of the responses of the change maps, in each crop and in all crops together, which are the two ends of a
    thing that moved far: maps [B,2,h,w], obj [B,R,4], mask [B,R] -> [B,R,WAY], each -1..1."""
    moments = moments_in_boxes(maps, obj) * mask[..., None, None]  # [B,R,2,3]
    each = displacement_of(moments) / obj[..., 2:].clamp(min=0.02)
    joint = displacement_of(moments.sum(1)) / NEAR  # [B,2]
    return torch.tanh(torch.cat([2 * each, joint[:, None].expand_as(each)], -1))


def event_features(present: Tensor, maps: Tensor, ways: Tensor, kinds: Tensor) -> Tensor:
    """present [B,R,2]: probability that each frame shows a thing in the crop; maps [B,R,2]: mean response of its change
    map; ways [B,R,WAY]: `way_features`; kinds [B,KINDS] (probabilities) -> [B,R,EVENT]."""
    before, after = present.split(1, -1)
    map_before, map_after = maps.split(1, -1)
    features = [before, after, before * after, before * (1 - after), after * (1 - before), (1 - before) * (1 - after)]
    features += [map_before, map_after, map_before - map_after, map_before * map_after, torch.ones_like(before), ways]
    return torch.cat([*features, kinds[:, None].expand(-1, present.shape[1], -1)], -1)


class Queries(nn.Module):
    """A vector per word: one of its own and one of its neighbours."""

    def __init__(self, words: int, context: int, size: int):
        super().__init__()
        self.own = nn.Embedding(words, size, padding_idx=PAD)
        self.around = nn.Linear(context, size, bias=False)  # padding adds nothing
        nn.init.normal_(self.own.weight, std=0.03)
        nn.init.zeros_(self.own.weight[PAD])
        nn.init.normal_(self.around.weight, std=0.02)

    def forward(self, ids: Tensor, context: Tensor) -> Tensor:
        """ids [N,L], context [N,L,context], 0 at padding -> [N,Q]: the sum over the words."""
        return self.own(ids).sum(1) + self.around(context).sum(1)


class TruthCheck(nn.Module):
    def __init__(
        self,
        sizes: EvidenceSizes,
        words: int,
        tables: tuple[Tensor, Tensor] | None = None,
        max_length: int = 28,
        context: int = 32,
        dropout: float = 0.1,
    ):
        """words: size of the vocabulary; tables: nouns [V,nouns] and colours [V,colours] of
        `training.text.word_classes`, without which a state must be loaded."""
        super().__init__()
        self.sizes, self.max_length = sizes, max_length
        nouns, colours = tables or (torch.zeros(words, sizes.nouns), torch.zeros(words, sizes.colours))
        self.register_buffer("nouns", nouns)
        self.register_buffer("colours", colours)
        self.embedding = nn.Embedding(words, context, padding_idx=PAD)
        self.near = nn.Conv1d(context, context, 5, padding=2)
        self.nearer = nn.Conv1d(context, context, 5, padding=2)
        self.side = nn.Linear(context, 1)  # of a noun or colour: shown before, or after?
        self.place, self.event = Queries(words, context, PLACE), Queries(words, context, EVENT)
        self.parts = nn.ModuleList([Queries(words, context, TOKEN) for _ in range(3)])  # action, place, count
        self.token = nn.Sequential(
            nn.LayerNorm(sizes.decoder_width), nn.Linear(sizes.decoder_width, TOKEN), nn.Dropout(dropout)
        )
        self.weights = nn.Parameter(torch.tensor([1.0, 3.0, 3.0, 1.0, 1.0]).log())  # of SLOTS in the score
        self.scale, self.offset = nn.Parameter(torch.ones(len(SLOTS))), nn.Parameter(torch.zeros(len(SLOTS)))
        self.bias = nn.Parameter(torch.zeros(()))
        self.log_temperature = nn.Parameter(torch.tensor(FIRST_TEMPERATURE).log())
        self.dropout = nn.Dropout(dropout)

    def crops(self, evidence: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The arguments of `EvidenceTokens` -> what each crop shows of each word's nouns and colours [B,V,R,2 sides,2];
        features of place [B,R,PLACE], event [B,R,EVENT] and tokens [B,R,TOKEN]; hidden [B,R]. R has one more crop: the
        full frame, in which no thing is named."""
        tokens, kind_logits, noun_logits, colour_logits, maps, _, obj, mask = evidence
        B, R, s = mask.shape[0], self.sizes.regions, self.sizes
        N, each = s.frame_grid[0] * s.frame_grid[1], s.crop_grid**2 + 1
        used = mask[:, :, None, None]
        p, q = (torch.softmax(x, -1) * used for x in finite_names(noun_logits, colour_logits, mask))  # [B,R,2,classes]
        p, q = (F.pad(x, (0, 0, 0, 0, 0, 1)) for x in (p, q))  # [B,R+1,2,classes]
        named = torch.stack([p @ self.nouns.T, q @ self.colours.T], -1)  # [B,R+1,2,V,2]
        shown = named.clamp(min=LEAST).log() * LOG_SCALE + 1
        stated = torch.stack([self.nouns.amax(1), self.colours.amax(1)], -1)  # [V,2]: does the word name any?
        shown = (shown * stated).permute(0, 3, 1, 2, 4)  # [B,V,R+1,2,2]
        present = p.sum(-1) - p[..., 0]  # [B,R+1,2]; the first class is "nothing"
        responses = F.pad(maps_in_boxes(maps, obj) * mask[..., None], (0, 0, 0, 1))
        ways = F.pad(way_features(maps, obj, mask), (0, 0, 0, 1))
        event = event_features(present, responses, ways, torch.softmax(kind_logits, -1))
        place = F.pad(place_features(obj) * mask[..., None], (0, 0, 0, 1))
        summary = tokens[:, N:].reshape(B, R, each, -1)[:, :, -1]  # [B,R,W]
        frame = tokens[:, :N].mean(1, keepdim=True)  # [B,1,W]
        hidden = F.pad((mask - 1) * -HIDDEN, (0, 1))
        return shown, place, event, self.token(torch.cat([summary, frame], 1)), hidden

    def forward(self, evidence: tuple[Tensor, ...], ids: Tensor) -> tuple[Tensor, Tensor]:
        """evidence: the arguments of `EvidenceTokens`; ids [B,K,L] -> score [B,K], slot logits [B,K,SLOTS]."""
        shown, place, event, token, hidden = self.crops(evidence)
        B, K, L = ids.shape
        flat = ids.reshape(B * K, L)
        real = (flat != PAD).to(token)[..., None]  # [B*K,L,1]
        x = self.dropout(self.embedding(flat)).transpose(1, 2)  # [B*K,context,L]
        x = F.relu(self.near(x)) * real.transpose(1, 2)  # what follows a sentence does not reach its words
        context = F.relu(self.nearer(x)).transpose(1, 2) * real  # [B*K,L,context]
        after = torch.sigmoid(self.side(context)).reshape(B, K * L, 1, 1)
        picked = shown.flatten(2).gather(1, ids.reshape(B, -1, 1).expand(-1, -1, shown[0, 0].numel()))
        picked = picked.reshape(B, K * L, -1, 2, 2)  # [B,K*L,R,2 sides,2]
        fits = picked[..., 0, :] * (1 - after) + picked[..., 1, :] * after  # [B,K*L,R,2]
        nouns, colours = fits.reshape(B, K, L, -1, 2).sum(2).unbind(-1)  # [B,K,R]

        def compared(queries: Queries, features: Tensor) -> Tensor:
            """[B,K,R]"""
            return queries(flat, context).reshape(B, K, -1) @ features.transpose(1, 2)

        action, where, count = (compared(part, token) for part in self.parts)
        slots = torch.stack(
            [compared(self.event, event) + action, nouns, colours, compared(self.place, place) + where, count], -1
        )  # [B,K,R,SLOTS]
        fit = (slots * self.weights.exp()).sum(-1) + hidden[:, None]  # [B,K,R]
        best = torch.softmax(fit / SHARP, -1)
        score = torch.logsumexp(fit, -1) + self.bias
        return score, (best[..., None] * slots).sum(2) * self.scale + self.offset


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
        # The score of one sentence alone must have a meaning, too.
        "alone": F.binary_cross_entropy_with_logits(score, true, balance),
    }
