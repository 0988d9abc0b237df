"""The captioner (graph `caption.onnx`): decoder memory and region crops -> words.

A conditioning vector (what the sentence is about) and a coverage embedding (which events it has not reported yet; Tu et
al., "Modeling coverage for neural machine translation", 2016) are added to every word, so that a sentence reports each
event once. The English words behind the events are tables of `ModelConfig`.

Letters: B pairs, N tokens of the full frame, R region crops, G cells of a crop, S = N + R * (G + 1) memory tokens, D
width, H heads, d = D / H, T caption slots, V words, E events, K kinds. Masks are additive: 0 to see, -10000 not to.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import EVENTS, PAD, START
from training.net.config import ModelConfig
from training.net.decoder import DecoderLayer, greedy_decode, sinusoid
from training.net.region_crops import RegionCrops


def expand_crop_attention(attention: Tensor, B: int, T: int, N: int, R: int, G: int) -> Tensor:
    """Attention to a crop's summary token, spread evenly over the crop's cells: [B,T,N+R*(G+1)] -> [B,T,N+R*G].

    The summary pools the whole crop. The exported graph contains this function as a script.
    """
    frame = attention[:, :, :N]
    crops = attention[:, :, N:].reshape(B, T, R, G + 1)
    cells = crops[:, :, :, :G] + crops[:, :, :, G:] / G  # [B,T,R,G]
    return torch.cat([frame, cells.reshape(B, T, R * G)], 2)


def membership(vocabulary: list[str], words: set[str]) -> Tensor:
    """1 at each word of the vocabulary that is in `words`, else 0: [V,1]."""
    return torch.tensor([[float(word in words)] for word in vocabulary])


class Captioner(nn.Module):
    def __init__(self, c: ModelConfig):
        super().__init__()
        self.c = c
        D, V = c.width, len(c.vocabulary)
        self.crops = RegionCrops(c) if c.region_crops else None
        self.embedding = nn.Embedding(V, D, padding_idx=PAD)
        self.register_buffer("positions", sinusoid(c.max_length, D), persistent=False)  # [T,D]
        self.hedge_share = 0.0  # see `hedge`
        self.coverage = nn.Linear(2 * len(EVENTS), D) if c.relates_crops else None
        reports = [membership(c.vocabulary, set(c.event_words.get(event, ()))) for event in EVENTS]
        self.register_buffer("reports", torch.cat(reports, 1), persistent=False)  # [V,E]: the event a word reports
        # A conditional word reports its event only directly after an auxiliary ("has left", but "on the left").
        auxiliaries = {word for before in c.event_needs.values() for word in before}
        self.register_buffer("is_conditional", membership(c.vocabulary, set(c.event_needs)), persistent=False)
        self.register_buffer("is_auxiliary", membership(c.vocabulary, auxiliaries), persistent=False)
        self.project = nn.Linear(D, D)
        self.norm = nn.LayerNorm(D, eps=1e-6)
        self.dropout = nn.Dropout(c.dropout)
        self.layers = nn.ModuleList(
            [DecoderLayer(D, c.heads, c.dropout, c.attention_dropout) for _ in range(c.decoder_layers)]
        )
        self.logits = nn.Linear(D, V)
        self.initialise()

    @property
    def cache(self) -> tuple[int, int]:
        """Heads and width of one layer's cache of keys or values."""
        return self.c.heads, self.c.width // self.c.heads

    def initialise(self) -> None:
        nn.init.normal_(self.embedding.weight, std=0.02)
        for module in [self.project, self.logits, *self.layers.modules()]:
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
                nn.init.zeros_(module.bias)
        if self.coverage is not None:  # training starts as if this layer were not there
            nn.init.zeros_(self.coverage.weight)
            nn.init.zeros_(self.coverage.bias)

    # ------------------------------------------------------------------------------------------- choice of a word

    def hedge(self, wider: dict[str, str], share: float) -> None:
        """From now on, write the wider word for a specific one that has less than `share` of the probability of all
        words with that wider word: "person" if man and woman are equally likely. 0 turns it off.

        Deng et al., "Hedging your bets: optimizing accuracy-specificity trade-offs in large scale visual recognition",
        CVPR 2012. wider: specific word -> wider word; pairs outside the vocabulary are ignored.
        """
        place = {word: i for i, word in enumerate(self.c.vocabulary)}
        up = torch.arange(len(place))  # [V]: the wider word of each; its own id if it has none
        for word, general in wider.items():
            if word in place and general in place:
                up[place[word]] = place[general]
        self.hedge_share = share
        self.register_buffer("wider", up, persistent=False)
        self.register_buffer(
            "members", F.one_hot(up, len(place)).float(), persistent=False
        )  # [V,V]: 1 at its wider word

    def choose(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities [B,V] -> those of the chosen words [B], their ids [B]."""
        best, token = scores.max(-1)
        if self.hedge_share <= 0:
            return best, token
        general = self.wider[token]
        of_group = (scores.exp() @ self.members).gather(1, general[:, None])[
            :, 0
        ]  # [B]: the wider word and all below it
        unsure = (best.exp() < self.hedge_share * of_group) & (general != token)
        return torch.where(unsure, of_group.clamp(max=1).log(), best), torch.where(unsure, general, token)

    # ------------------------------------------------------------------------------------------- inputs of the decoder

    def encode_memory(
        self,
        memory: Tensor,
        crops: tuple[Tensor, ...] | None,
        frame_kind: Tensor | None = None,
        truth: dict[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """memory [B,N,D] of Difference; crops: the arguments of `RegionCrops`; frame_kind, truth as in `CropRelations`.

        Returns all memory tokens [B,S,D], their mask [B,1,1,S] (crops that are not described are hidden), the
        conditioning vector [B,D], the coverage counts [B,E] (events to report) and all outputs of RegionCrops.
        """
        bias = memory.new_zeros(memory.shape[:2])  # [B,N]
        conditioning, uncovered = torch.zeros_like(memory[:, 0]), torch.zeros_like(memory[:, 0, : len(EVENTS)])
        if self.crops is None or crops is None:
            return memory, bias[:, None, None], conditioning, uncovered, {}
        seen = self.crops(*crops, frame_kind, truth)
        described = seen["described"]  # [B,R]
        each = seen["tokens"].shape[1] // described.shape[1]  # G + 1
        hidden = (described[:, :, None].expand(-1, -1, each).reshape(described.shape[0], -1) - 1) * 10_000
        tokens, bias = torch.cat([memory, seen["tokens"]], 1), torch.cat([bias, hidden], 1)[:, None, None]
        return tokens, bias, seen.get("conditioning", conditioning), seen.get("uncovered", uncovered), seen

    def event_of_word(self, ids: Tensor, previous: Tensor) -> Tensor:
        """The event that a word reports after the word before it: [...] x2 -> [...,E] of 0 and 1."""
        return self.reports[ids] * (1 - self.is_conditional[ids] * (1 - self.is_auxiliary[previous]))

    def embed_words(self, ids: Tensor, positions: Tensor, conditioning: Tensor, uncovered: Tensor) -> Tensor:
        """ids [...], positions [...,D], conditioning [...,D] -> [...,D]. uncovered [...,E]: events still to report
        after the word."""
        words = self.norm(self.dropout(self.project(self.embedding(ids) + positions))) + conditioning
        if self.coverage is None:
            return words
        return words + self.coverage(torch.cat([uncovered / 2, (uncovered > 0.5).to(uncovered)], -1))

    # ------------------------------------------------------------------------------------------- training and inference

    def forward(
        self, memory: Tensor, crops: tuple[Tensor, ...] | None, ids: Tensor, truth: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Teacher forcing. ids [B,T] = START w1 .. -> logits of the next words [B,T,V], last hidden [B,T,D], outputs of
        RegionCrops."""
        memory, bias, conditioning, uncovered, seen = self.encode_memory(memory, crops, None, truth)
        T = ids.shape[1]
        reported = self.event_of_word(ids, F.pad(ids, (1, 0))[:, :T]).cumsum(1)  # [B,T,E]
        causal = torch.full((T, T), -10_000.0, device=ids.device).triu(1)[None, None]  # [1,1,T,T]
        x = self.embed_words(ids, self.positions[:T], conditioning[:, None], uncovered[:, None] - reported)  # [B,T,D]
        for layer in self.layers:
            x, _ = layer(x, causal, *layer.memory_kv(memory), bias)
        return self.logits(x), x, seen

    def step(
        self,
        tokens: Tensor,
        previous: Tensor,
        uncovered: Tensor,
        slot: Tensor,
        past: Tensor,
        caches: list[Tensor],
        memory: list[Tensor],
        bias: Tensor,
        conditioning: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        """One greedy step. tokens, previous [B]: the last word and the one before it; uncovered [B,E] before that word;
        slot, past and caches as in DecoderLayer.step, memory: keys and values, both per layer in one list.

        Returns log-probabilities [B,V], attention [B,S] of the last layer, uncovered after the word, new caches.
        """
        position = (self.positions * slot[:, None]).sum(0)  # [D]
        x, uncovered = self.enter(tokens, previous, uncovered, position, conditioning)
        new = []
        for i, layer in enumerate(self.layers):
            (k, v), (mk, mv) = caches[2 * i : 2 * i + 2], memory[2 * i : 2 * i + 2]
            x, attention, k, v = layer.step(x, k, v, slot, past, mk, mv, bias)
            new += [k, v]
        return self.word_scores(x), attention[:, 0], uncovered, new

    def enter(
        self, tokens: Tensor, previous: Tensor, uncovered: Tensor, position: Tensor, conditioning: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The input of the layers at one word [B,1,D], and the events to report after it [B,E]; position [D]."""
        uncovered = uncovered - self.event_of_word(tokens, previous)
        return self.embed_words(tokens, position, conditioning, uncovered)[:, None], uncovered

    def word_scores(self, x: Tensor) -> Tensor:
        """Output of the layers at one word [B,1,D] -> log-probabilities of the next word [B,V]."""
        logits = self.logits(x)[:, 0]  # [B,V]
        forbidden = torch.zeros_like(logits)
        forbidden[:, : START + 1] = -10_000.0  # PAD, UNK and START are never written
        return torch.log_softmax(logits + forbidden, -1)

    @torch.no_grad()
    def greedy(
        self, memory: Tensor, crops: tuple[Tensor, ...] | None, frame_kind: Tensor | None = None
    ) -> dict[str, Tensor]:
        """memory, crops, frame_kind as in `encode_memory` -> ids [B,T] (words, END, PAD ...), log_prob [B,T], length
        [B] (words without END), attention [B,T,N+R*G] to the frame's tokens and the crops' cells; kind_logits [B,K] if
        the crops are related."""
        N = memory.shape[1]
        memory, bias, conditioning, uncovered, seen = self.encode_memory(memory, crops, frame_kind)
        B, S, D = memory.shape
        T, H = self.c.max_length, self.c.heads
        kv = [t for layer in self.layers for t in layer.memory_kv(memory)]
        caches = [memory.new_zeros(B, H, T, D // H) for _ in range(2 * len(self.layers))]

        def step(tokens: Tensor, previous: Tensor, slot: Tensor, past: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            nonlocal uncovered, caches
            scores, attended, uncovered, caches = self.step(
                tokens, previous, uncovered, slot, past, caches, kv, bias, conditioning
            )
            return *self.choose(scores), attended

        written = greedy_decode(step, memory, T)
        if S > N:
            crops_spread = (B, T, N, self.c.regions, self.c.crop_grid**2)
            written["attention"] = expand_crop_attention(written["attention"], *crops_spread)
        return written | ({"kind_logits": seen["kind_logits"]} if "kind_logits" in seen else {})
