"""Many captions of one pair at once (graph `statements.onnx`): what its rows have in common is computed once.

`Captioner.greedy` sees every row of a batch as a pair of its own. The rows about one pair hold few crops in many
combinations, in both directions of time. Here each crop, and each pair of crops, is encoded once, and a row is an index
into them. Keys and values are linear in the tokens of the memory, so that a row adds its own terms to shared ones.

Letters: C crops of the pair, B rows, R crops of a row, R' of them that words may describe, Z = 2 directions of time
(as given, frames exchanged), N tokens of the full frame, G cells of a crop, S = N + R' * (G + 1), D width, K kinds, E
events, H heads, d = D / H.
"""

import torch
from torch import Tensor, nn

from training.net.attention import split_heads
from training.net.captioner import Captioner
from training.net.crop_evidence import displacement_features, displacements, same_object_evidence
from training.net.decoder import DecoderLayer

# Channels of `same_object_evidence` with the frames exchanged: best matches of i in j become those of j in i.
EXCHANGED = (1, 0, 2, 4, 3, 5, 6, 7, 8, 9, 10, 11, 12)


def pair_evidence(coarse: Tensor, fine: Tensor, crop: Tensor, obj: Tensor) -> tuple[Tensor, Tensor]:
    """coarse [C,2,Cc,g,g], fine [C,2,Cf,2g,2g], crop and obj [C,4] -> `same_object_evidence` [Z,C,C,13] and
    `displacement_features` [Z,C,C,5].

    With the frames exchanged, crops i and j change places, and what moved within one crop moved the other way.
    """
    coarse, fine, crop, obj = coarse[None], fine[None], crop[None], obj[None]
    evidence = same_object_evidence(coarse, fine, crop, obj)  # [1,C,C,13]
    exchanged = evidence.transpose(1, 2).index_select(-1, torch.tensor(EXCHANGED))
    displacement = displacements(coarse, fine, crop, obj)  # [1,C,C,3]
    within = torch.eye(obj.shape[1])[None, :, :, None]
    both = torch.cat([displacement, displacement * (1 - 2 * within)], 0)
    return torch.cat([evidence, exchanged], 0), displacement_features(both, obj[:, :, None])


class EncodeRows(nn.Module):
    """Everything that is computed once per sentence; the inputs of the exported graph in their order."""

    def __init__(self, captioner: Captioner):
        super().__init__()
        self.captioner = captioner
        self.described = min(captioner.c.regions, captioner.c.described_crops)  # R'

    def forward(
        self, memory: Tensor, coarse: Tensor, fine: Tensor, crop: Tensor, obj: Tensor, frame_kind: Tensor, rows: Tensor
    ) -> tuple[Tensor, ...]:
        """memory [Z,N,D] and frame_kind [Z,K] of the pair; crops as in `pair_evidence`; rows [B,1+R] (integers): the
        direction, then the crop in each slot, -1 = none.

        Returns the mask of the memory [B,1,1,S], conditioning [B,D], events to report [B,E], keys and values of each
        layer as in `keys_and_values`, kind logits [B,K].
        """
        crops, layers = self.captioner.crops, self.captioner.layers
        direction, slots = rows[:, 0], rows[:, 1:]
        mask = (slots >= 0).to(memory)  # [B,R]
        slots, way = slots.clamp(min=0), direction[:, None]  # [B,R], [B,1]
        strongest = (torch.arange(slots.shape[1]) < self.described).to(memory)
        evidence, displacement = pair_evidence(coarse, fine, crop, obj)
        between = (way[:, :, None], slots[:, :, None], slots[:, None])  # index of [Z,C,C,...] to [B,R,R,...]
        (b, a), (object_b, object_a), colours, place = crops.see(coarse, fine, fine[:, :, -3:], crop, obj)
        given = crops.compare((b, a), (object_b, object_a), colours, place)
        exchanged = crops.compare((a, b), (object_a, object_b), colours.flip(1), place)
        cells, summary, side_logits = (torch.stack(both, 0) for both in zip(given, exchanged))  # [Z,C,...]
        objects = torch.stack([torch.stack([object_b, object_a]), torch.stack([object_a, object_b])])  # [Z,2,C,D]
        for_summary, for_cells, relations = crops.relations(
            (objects[:, 0][way, slots], objects[:, 1][way, slots], place[slots]),
            mask,
            evidence[between],
            displacement[between],
            torch.softmax(side_logits, -1)[way, slots],
            frame_kind[direction],
            None,
            mask * strongest,
        )
        described, r = slots[:, : self.described], slice(0, self.described)
        row = (way, described)  # index of [Z,C,...] to [B,R',...]
        summaries = summary[row] + for_summary[:, r]  # [B,R',D]
        kv = [
            self.keys_and_values(layer, memory, cells, summaries, for_cells[:, r], direction, row) for layer in layers
        ]
        hidden = (mask[:, r] - 1) * 10_000  # [B,R']
        each = cells.shape[2] + 1
        hidden = hidden[:, :, None].expand(-1, -1, each).reshape(hidden.shape[0], -1)
        bias = torch.cat([torch.zeros_like(memory[:, :, 0])[direction], hidden], 1)[:, None, None]
        return bias, relations["conditioning"], relations["uncovered"], *kv[0], *kv[1], relations["kind_logits"]

    def keys_and_values(
        self,
        layer: DecoderLayer,
        memory: Tensor,
        cells: Tensor,
        summary: Tensor,
        for_cells: Tensor,
        direction: Tensor,
        row: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, Tensor]:
        """memory [Z,N,D] and cells [Z,C,G,D] are shared; summary and for_cells [B,R',D] are of the rows -> keys
        [B,H,d,S] and values [B,H,S,d]. Keys are transposed here, and not again for every word."""
        to_kv = layer.cross_kv
        shared = cells @ to_kv.weight.T  # [Z,C,G,2D]
        of_cells = shared[row] + to_kv(for_cells)[:, :, None]  # [B,R',G,2D]
        of_crops = torch.cat([of_cells, to_kv(summary)[:, :, None]], 2)  # [B,R',G+1,2D]
        of_frame = to_kv(memory)[direction]  # [B,N,2D]
        k, v = torch.cat([of_frame, of_crops.flatten(1, 2)], 1).chunk(2, -1)  # [B,S,D]
        return split_heads(k, layer.heads).transpose(-1, -2), split_heads(v, layer.heads)


class AppendWord(nn.Module):
    """One word of every row, with caches that grow."""

    def __init__(self, captioner: Captioner):
        super().__init__()
        self.captioner = captioner

    def forward(self, tokens, previous, uncovered, position, k0, v0, k1, v1, mk0, mv0, mk1, mv1, bias, conditioning):
        """position [D]; k, v [B,H,t,d]; mk [B,H,d,S], mv [B,H,S,d]. Returns the word [B], its log-probability [B], its
        attention [B,S], the events to report [B,E] and the caches."""
        first, second = self.captioner.layers
        x, uncovered = self.captioner.enter(tokens, previous, uncovered, position, conditioning)
        x, _, k0, v0 = first.append(x, k0, v0, mk0.transpose(-1, -2), mv0, bias)
        x, attended, k1, v1 = second.append(x, k1, v1, mk1.transpose(-1, -2), mv1, bias)
        best, token = self.captioner.choose(self.captioner.word_scores(x))
        return token, best, attended[:, 0], uncovered, k0, v0, k1, v1
