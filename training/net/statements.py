"""Many captions of each of a few pairs (graph `statements.onnx`), whose common parts are computed once.

`Captioner.greedy` sees every row of a batch as a pair of its own. The rows about one pair hold few crops in many
combinations, in both directions of time. Here each crop, and each two crops of a pair, are encoded once, and a row is
an index into them. Keys and values are linear in the tokens of the memory, so that a row adds its own terms to shared
ones: the rows of one view read the keys of all crops in one product, and hide the crops that are not theirs.

Letters: P pairs, C crops of each, Z = 2P views of them (every pair as given, then every pair with its frames
exchanged), L rows of each view, B = Z * L rows, R crops of a row, R' of them that words may describe, N tokens of the
full frame, G cells of a crop, S = N + C * G shared tokens of a view, D width, K kinds, E events, H heads, d = D / H.
"""

import torch
from torch import Tensor, nn

from training.contract import START
from training.net.attention import split_heads
from training.net.captioner import Captioner
from training.net.crop_evidence import displacement_features, displacements, same_object_evidence
from training.net.decoder import DecoderLayer

# Channels of `same_object_evidence` with the frames exchanged: best matches of i in j become those of j in i.
EXCHANGED = (1, 0, 2, 4, 3, 5, 6, 7, 8, 9, 10, 11, 12)


def pair_evidence(coarse: Tensor, fine: Tensor, crop: Tensor, obj: Tensor) -> tuple[Tensor, Tensor]:
    """coarse [P,C,2,Cc,g,g], fine [P,C,2,Cf,2g,2g], crop and obj [P,C,4] -> `same_object_evidence` [Z,C,C,13] and
    `displacement_features` [Z,C,C,5].

    With the frames exchanged, crops i and j change places, and what moved within one crop moved the other way.
    """
    evidence = same_object_evidence(coarse, fine, crop, obj)  # [P,C,C,13]
    exchanged = evidence.transpose(1, 2).index_select(-1, torch.tensor(EXCHANGED))
    displacement = displacements(coarse, fine, crop, obj)  # [P,C,C,3]
    within = torch.eye(obj.shape[1])[None, :, :, None]
    both = torch.cat([displacement, displacement * (1 - 2 * within)], 0)
    return torch.cat([evidence, exchanged], 0), displacement_features(both, torch.cat([obj, obj], 0)[:, :, None])


class EncodeRows(nn.Module):
    """Everything that is computed once per sentence; the inputs of the exported graph in their order."""

    def __init__(self, captioner: Captioner):
        super().__init__()
        self.captioner = captioner
        self.described = min(captioner.c.regions, captioner.c.described_crops)  # R'

    def forward(
        self, memory: Tensor, coarse: Tensor, fine: Tensor, crop: Tensor, obj: Tensor, frame_kind: Tensor, rows: Tensor
    ) -> tuple[Tensor, ...]:
        """memory [Z,N,D] and frame_kind [Z,K] of the views; crops as in `pair_evidence`; rows [Z,L,R] (integers): the
        crop of the pair in each slot, -1 = none.

        Returns which crop is in each slot [B,1,R',C] (1 or 0), the mask of the slots [B,1,2R'] (for the cells, then for
        the summaries; 0 or -10000), conditioning [B,D], events to report [B,E], keys and values of each layer as in
        `keys_and_values`, kind logits [B,K].
        """
        crops, layers = self.captioner.crops, self.captioner.layers
        (Z, L), C = rows.shape[:2], crop.shape[1]
        view = torch.arange(Z)[:, None].expand(Z, L).reshape(-1)  # [B]
        slots = rows.flatten(0, 1)  # [B,R]
        mask = (slots >= 0).to(memory)  # [B,R]
        slots, way = slots.clamp(min=0), view[:, None]  # [B,R], [B,1]
        strongest = (torch.arange(slots.shape[1]) < self.described).to(memory)
        evidence, displacement = pair_evidence(coarse, fine, crop, obj)
        between = (way[:, :, None], slots[:, :, None], slots[:, None])  # index of [Z,C,C,...] to [B,R,R,...]
        coarse, fine, crop, obj = (x.flatten(0, 1) for x in (coarse, fine, crop, obj))  # [P*C,...]
        (b, a), (object_b, object_a), colours, place = crops.see(coarse, fine, fine[:, :, -3:], crop, obj)
        given = crops.compare((b, a), (object_b, object_a), colours, place)
        exchanged = crops.compare((a, b), (object_a, object_b), colours.flip(1), place)
        of_views = lambda one, other: torch.cat([one, other]).reshape(Z, C, *one.shape[1:])  # [P*C,...] x2 -> [Z,C,...]
        cells, summary, side_logits = map(of_views, given, exchanged)
        first, last = of_views(object_b, object_a), of_views(object_a, object_b)  # [Z,C,D]: in a view's frames
        for_summary, for_cells, relations = crops.relations(
            (first[way, slots], last[way, slots], of_views(place, place)[way, slots]),
            mask,
            evidence[between],
            displacement[between],
            torch.softmax(side_logits, -1)[way, slots],
            frame_kind[view],
            None,
            mask * strongest,
        )
        described, r = slots[:, : self.described], slice(0, self.described)
        summaries = summary[way, described] + for_summary[:, r]  # [B,R',D]
        kv = [self.keys_and_values(layer, memory, cells, for_cells[:, r], summaries) for layer in layers]
        used = mask[:, None, r]  # [B,1,R']
        which = (described[:, None, :, None] == torch.arange(C)).to(memory) * used[..., None]
        hidden = (torch.cat([used, used], -1) - 1) * 10_000
        return (
            which,
            hidden,
            relations["conditioning"],
            relations["uncovered"],
            *kv[0],
            *kv[1],
            relations["kind_logits"],
        )

    def keys_and_values(
        self, layer: DecoderLayer, memory: Tensor, cells: Tensor, for_cells: Tensor, summaries: Tensor
    ) -> tuple[Tensor, ...]:
        """memory [Z,N,D] and cells [Z,C,G,D] are shared; each row has for_cells (added to its cells) and summaries
        [B,R',D] -> shared keys [Z,H,d,S] and values [Z,H,S,d], keys [B,H,d,2R'] and values [B,H,2R',d] of the rows."""
        to_kv = layer.cross_kv
        shared = torch.cat([to_kv(memory), (cells @ to_kv.weight.T).flatten(1, 2)], 1)  # [Z,S,2D]
        of_rows = to_kv(torch.cat([for_cells, summaries], 1))  # [B,2R',2D]
        heads = [split_heads(one, layer.heads) for both in (shared, of_rows) for one in both.chunk(2, -1)]
        k, v, row_k, row_v = heads
        return k.transpose(-1, -2), v, row_k.transpose(-1, -2), row_v


class AppendWord(nn.Module):
    """One word of every row, with caches that grow. Sizes are numbers here: the graph reads no shape for every word."""

    def __init__(self, captioner: Captioner):
        super().__init__()
        c = captioner.c
        self.captioner = captioner
        self.heads, self.d = captioner.cache
        self.N, self.G, self.R = c.memory_grid[0] * c.memory_grid[1], c.crop_grid**2, min(c.regions, c.described_crops)
        forbidden = torch.zeros(len(c.vocabulary))
        forbidden[: START + 1] = -10_000.0  # as in `Captioner.word_scores`
        self.register_buffer("forbidden", forbidden)

    def forward(self, tokens, previous, uncovered, position, k0, v0, k1, v1, *memory):
        """position [D]; k, v [B,H,t,d]; memory: four keys and values of each layer as in `keys_and_values`, and which,
        hidden and conditioning of `EncodeRows`. Returns the word [B], its log-probability [B], its attention as in
        `attend`, but the mean of the heads, the events to report [B,E] and the caches."""
        *of_layers, which, hidden, conditioning = memory
        captioner = self.captioner
        first, second = captioner.layers
        uncovered = uncovered - captioner.event_of_word(tokens, previous)
        x = captioner.embed_words(tokens, position, conditioning, uncovered)  # [B,D]
        x, _, k0, v0 = self.apply_layer(first, x, k0, v0, (*of_layers[:4], which, hidden))
        x, attended, k1, v1 = self.apply_layer(second, x, k1, v1, (*of_layers[4:], which, hidden))
        best, token = captioner.choose(torch.log_softmax(captioner.logits(x) + self.forbidden, -1))
        return token, best, attended.mean(1), uncovered, k0, v0, k1, v1

    def apply_layer(self, layer: DecoderLayer, x: Tensor, k: Tensor, v: Tensor, memory: tuple[Tensor, ...]):
        """As `DecoderLayer.step`: x [B,D] -> [B,D], attention to the memory as in `attend`, caches with this word."""
        q, k1, v1 = (self.of_heads(one) for one in layer.self_qkv(x).split(self.heads * self.d, -1))  # [B,H,1,d]
        k, v = torch.cat([k, k1], 2), torch.cat([v, v1], 2)
        attended = torch.softmax(q @ k.transpose(-1, -2) / self.d**0.5, -1) @ v
        x = layer.norms[0](x + attended.reshape(-1, self.heads * self.d))
        attended, attention = self.attend(layer.cross_q(x), *memory)
        x = layer.norms[1](x + attended)
        return layer.norms[2](x + layer.ffn(x)), attention, k, v

    def of_heads(self, x: Tensor) -> Tensor:
        """[B,D] -> [B,H,1,d]"""
        return x.reshape(-1, self.heads, 1, self.d)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, row_k: Tensor, row_v: Tensor, which: Tensor, hidden: Tensor):
        """q [B,D], keys and values as in `keys_and_values` -> [B,D], attention to the frame, the cells of the slots and
        their summaries [B,H,N+R'*(G+1)]."""
        H, d, N, G, R, Z = self.heads, self.d, self.N, self.G, self.R, k.shape[0]
        of_views = q.reshape(Z, -1, H, d).transpose(1, 2)  # [Z,H,L,d]
        shared = (of_views @ k / d**0.5).transpose(1, 2).reshape(-1, H, k.shape[3])  # [B,H,S]
        of_rows = (self.of_heads(q) @ row_k / d**0.5)[:, :, 0] + hidden  # [B,H,2R']: for cells, then of summaries
        cells = which @ shared[..., N:].reshape(q.shape[0], H, -1, G) + of_rows[..., :R, None]  # [B,H,R',G]
        attention = torch.softmax(torch.cat([shared[..., :N], cells.flatten(2), of_rows[..., R:]], -1), -1)
        cells = attention[..., N:-R].reshape(-1, H, R, G)
        of_crops = (which.transpose(-1, -2) @ cells).flatten(2)  # [B,H,C*G]
        seen = torch.cat([attention[..., :N], of_crops], -1).reshape(Z, -1, H, k.shape[3]).transpose(1, 2) @ v
        weights = torch.cat([cells.sum(-1), attention[..., -R:]], -1)  # [B,H,2R']
        return seen.transpose(1, 2).reshape(-1, H * d) + (weights[:, :, None] @ row_v).reshape(-1, H * d), attention
