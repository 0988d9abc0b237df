"""SCORER with a second glance: the change captioner, top to bottom.

    features (frozen, backbone.py)   frame -> coarse [B,Cc,H/16,W/16], fine [B,Cf,H/8,W/8]
    Difference                       both frames' features -> memory, change / kind / nuisance logits, two change maps: WHERE
    Captioner                        memory + glances (native-resolution crops of the changed places) -> words: WHAT

Sources: SCORER + CBR (Tu et al., "Self-supervised Cross-view Representation Reconstruction for Change Captioning", ICCV
2023) for the multi-head token-wise matching, the cross-view reconstruction, the decoder and the cross-modal backward
reasoning. Beyond the paper: matching evidence, supervised maps, change / kind / nuisance heads, glances. Every place where
paper and released code differ, or where we leave both, is a field of `ModelConfig` (ablated in JOURNAL.md).

Letters: B pairs, N tokens of the whole look, D width, H heads, d = D/H, R glances a pair, G cells of a glance, T caption
slots, V words, h x w the map grid (stride 8), s in {before, after}.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.net.config import (
    END,
    EVENTS,
    KINDS,
    NUISANCES,
    PAD,
    START,
    GridPosition,
    ModelConfig,
    join_heads,
    split_heads,
)
from training.net.crops import Glances

# --------------------------------------------------------------------------------------------- SCORER: matching and reconstruction


class ScorerLayer(nn.Module):
    """One cross-view layer; both directions share its weights (paper Eq. 5-6). Q and K also serve the matching (Eq. 2-3)."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.dropout = nn.Dropout(dropout)
        self.log_scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """x reconstructed from y: [B,N,D], [B,M,D] -> [B,N,D]."""
        q = split_heads(self.query(x), self.heads)
        k = split_heads(self.key(y), self.heads)
        v = split_heads(self.value(y), self.heads)
        attention = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)  # [B,H,N,M]
        return self.norm(x + join_heads(self.dropout(attention) @ v))

    def match(self, x: Tensor, y: Tensor, per_head: bool, cosine: bool) -> Tensor:
        """Token-wise matching of every x_i with every y_j: [B,N,D], [B,N,D] -> [B,B]. Training only: O(B^2 N^2)."""
        q, k = self.query(x), self.key(y)
        q, k = (split_heads(q, self.heads), split_heads(k, self.heads)) if per_head else (q[:, None], k[:, None])
        if cosine:
            q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        B, H, N, d = q.shape
        q = q.permute(1, 0, 2, 3).reshape(H, B * N, d)  # [B,H,N,d] -> [H,B*N,d]
        k = k.permute(1, 0, 2, 3).reshape(H, B * N, d)
        s = (q @ k.transpose(-1, -2)).reshape(H, B, N, B, N)  # [H,i,n,j,m]
        # max(...).values, not amax: its backward scatters by index instead of building a dense mask
        score = (s.max(4).values.mean(2) + s.max(2).values.mean(3)) / 2  # [H,B,B]
        return score.mean(0) * self.log_scale.clamp(max=4.6052).exp()


def info_nce(similarity: Tensor) -> Tensor:
    return F.cross_entropy(similarity, torch.arange(len(similarity), device=similarity.device))


def pool_tokens(x: Tensor, c: ModelConfig) -> Tensor:
    """[B,N,D] -> [B,N/pool^2,D]."""
    if c.contrast_pool == 1:
        return x
    rows, columns = c.token_grid
    grid = x.transpose(1, 2).reshape(len(x), -1, rows, columns)  # [B,N,D] -> [B,D,rows,columns]
    return F.avg_pool2d(grid, c.contrast_pool).flatten(2).transpose(1, 2)


def in_groups(x: Tensor, size: int) -> list[Tensor]:
    """Whole groups of `size` (a rest of one has no negatives and is left out)."""
    return [g for g in x.split(size) if len(g) > 1]


# --------------------------------------------------------------------------------------------------- where: evidence and maps


def shifted(x: Tensor, dy: int, dx: int) -> Tensor:
    """x moved so that cell (r, c) holds x(r+dy, c+dx); outside is 0: [B,C,h,w] -> [B,C,h,w]."""
    h, w = x.shape[-2:]
    p = F.pad(x, (max(-dx, 0), max(dx, 0), max(-dy, 0), max(dy, 0)))
    top, left = max(dy, 0), max(dx, 0)
    return p[..., top : top + h, left : left + w]


def matching_distance(x: Tensor, y: Tensor, radii: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """1 - cosine of every cell to its best match in the other frame within r cells, for each r: [B,C,h,w] x2 -> 2 x [B,len(radii),h,w].

    By itself it tells changed pairs from unchanged ones without any training (JOURNAL.md, "Backbone"); here it is evidence that the maps
    start from. No parameters. A cell outside the frame matches with cosine 0.
    """
    x, y = F.normalize(x, dim=1), F.normalize(y, dim=1)
    best: list[Tensor] = []
    levels: tuple[list[Tensor], list[Tensor]] = ([], [])
    for radius in range(max(radii) + 1):
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if max(abs(dy), abs(dx)) != radius:
                    continue
                c = (x * shifted(y, dy, dx)).sum(1, keepdim=True)  # [B,1,h,w]: x(r, c) with y(r+dy, c+dx)
                both = [c, shifted(c, -dy, -dx)]  # the same products, seen from y
                best = both if not best else [torch.maximum(a, b) for a, b in zip(best, both)]
        if radius in radii:
            for level, b in zip(levels, best):
                level.append(1 - b)
    return torch.cat(levels[0], 1), torch.cat(levels[1], 1)


FINE_RADII = (0, 1, 2)
COARSE_RADII = (0, 1, 2)
EVIDENCE_CHANNELS = 2 * (len(FINE_RADII) + len(COARSE_RADII))


@torch.no_grad()
def matching_evidence(fine_b: Tensor, coarse_b: Tensor, fine_a: Tensor, coarse_a: Tensor) -> Tensor:
    """Distances of each frame's cells to the other frame, and those less the frame's mean (a global nuisance raises them everywhere).

    fine [B,Cf,h,w] (its last three channels, RGB, are left out), coarse [B,Cc,h/2,w/2] -> [B,2,EVIDENCE_CHANNELS,h,w].
    """
    fine = matching_distance(fine_b[:, :-3], fine_a[:, :-3], FINE_RADII)
    coarse = matching_distance(coarse_b, coarse_a, COARSE_RADII)
    sides = []
    for f, g in zip(fine, coarse):
        e = torch.cat([f, F.interpolate(g, scale_factor=2.0, mode="nearest")], 1)
        sides.append(torch.cat([e, e - e.mean((2, 3), keepdim=True)], 1))
    return torch.stack(sides, 1)


class ChangeMaps(nn.Module):
    """Per-frame change maps at stride 8, the same weights for both directions (inputs swapped).

    map_before: there in before, gone (moved, replaced) in after; map_after: the reverse. An appearance lives in map_after only.
    """

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.c = c
        m = c.map_width
        evidence = EVIDENCE_CHANNELS if c.matching_evidence else 0
        self.fine = nn.Conv2d(c.fine_channels, m, 1)
        self.coarse = nn.Conv2d(c.coarse_channels, m, 1)
        self.mix = nn.Conv2d(4 * m + evidence, m, 1)
        self.body = nn.ModuleList([nn.Conv2d(m, m, 3, padding=p, dilation=p) for p in (1, 2, 4, 1)])
        self.norms = nn.ModuleList([nn.GroupNorm(4, m) for _ in self.body])
        self.logit = nn.Conv2d(m, 1, 1)
        nn.init.constant_(self.logit.bias, -3.0)

    def one_way(
        self, f: tuple[Tensor, Tensor], g: tuple[Tensor, Tensor], evidence: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        parts = [f[0], f[1], g[0], g[1]]  # their differences are linear in them, so `mix` can take those itself
        x = F.relu(self.mix(torch.cat(parts if evidence is None else [*parts, evidence], 1)))
        for conv, norm in zip(self.body, self.norms):
            x = x + F.relu(norm(conv(x)))
        return self.logit(x)[:, 0], x  # [B,h,w], [B,m,h,w]

    def forward(self, fine_b: Tensor, coarse_b: Tensor, fine_a: Tensor, coarse_a: Tensor, evidence: Tensor | None):
        """evidence [B,2,EVIDENCE_CHANNELS,h,w] where it was computed before (training reads it from the cache)."""
        fb, fa = self.fine(fine_b), self.fine(fine_a)
        gb, ga = (F.interpolate(self.coarse(x), scale_factor=2.0, mode="nearest") for x in (coarse_b, coarse_a))
        eb = ea = None
        if self.c.matching_evidence:
            if evidence is None:
                evidence = matching_evidence(fine_b, coarse_b, fine_a, coarse_a)
            eb, ea = evidence[:, 0], evidence[:, 1]
        return self.one_way((fb, fa), (gb, ga), eb), self.one_way((fa, fb), (ga, gb), ea)


def strongest(logits: Tensor, k: int) -> Tensor:
    """Mean of the k largest cells: [B,h,w] -> [B,1]. A change is as small as one person far off, so no plain mean."""
    return logits.flatten(1).topk(k, 1).values.mean(1, keepdim=True)


# ------------------------------------------------------------------------------------------------------------------ difference


class Difference(nn.Module):
    """Features of both frames -> decoder memory, logits, maps (the serving graph `difference.onnx`)."""

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.c = c
        D = c.width
        self.embed = nn.Conv2d(c.coarse_channels, D, c.token_pool, stride=c.token_pool)  # paper Eq. 1, on pooled cells
        self.position = GridPosition(*c.token_grid, D)
        self.layers = nn.ModuleList([ScorerLayer(D, c.heads, c.attention_dropout) for _ in range(c.scorer_layers)])
        self.fuse = nn.Linear(2 * D, D)
        self.dropout = nn.Dropout(c.dropout)
        self.maps = ChangeMaps(c)
        self.map_embed = nn.Linear(2, D)
        pooled = 4 * c.map_width + 4 + D
        self.change = nn.Sequential(nn.Linear(pooled, 64), nn.ReLU(), nn.Linear(64, 1))
        self.kind = nn.Sequential(nn.Linear(pooled, 96), nn.ReLU(), nn.Linear(96, len(KINDS)))
        self.nuisance = nn.Sequential(
            nn.Linear(D + 4 * c.fine_channels, 128), nn.ReLU(), nn.Linear(128, len(NUISANCES))
        )

    def tokens(self, coarse: Tensor) -> Tensor:
        return self.embed(coarse).flatten(2).transpose(1, 2) + self.position()  # [B,D,r,c] -> [B,N,D]

    def forward(
        self,
        coarse_b: Tensor,
        fine_b: Tensor,
        coarse_a: Tensor,
        fine_a: Tensor,
        evidence: Tensor | None = None,
        learn_maps: bool = True,
    ) -> dict[str, Tensor]:
        """learn_maps=False: the maps are settled and give no gradient, which halves a CPU step."""
        c = self.c
        xb0, xa0 = self.tokens(coarse_b), self.tokens(coarse_a)
        xb, xa, last = xb0, xa0, (xb0, xa0)
        for layer in self.layers:
            last = (xb, xa)
            xb, xa = layer(xb, xa), layer(xa, xb)  # simultaneous: both from the old values
        memory = F.relu(self.dropout(self.fuse(torch.cat([xb, xa], -1))))  # paper Eq. 7

        with torch.set_grad_enabled(torch.is_grad_enabled() and learn_maps):
            (lb, hb), (la, ha) = self.maps(fine_b, coarse_b, fine_a, coarse_a, evidence)
        mb, ma = torch.sigmoid(lb), torch.sigmoid(la)
        if c.map_memory:
            fired = F.max_pool2d(torch.stack([mb, ma], 1), 2 * c.token_pool)  # [B,2,rows,columns] of the tokens
            memory = memory + self.map_embed(fired.flatten(2).transpose(1, 2))
        pooled = torch.cat(
            [
                hb.amax((2, 3)),
                ha.amax((2, 3)),
                hb.mean((2, 3)),
                ha.mean((2, 3)),
                strongest(lb, 4),
                strongest(la, 4),
                strongest(lb, 32),
                strongest(la, 32),
                memory.mean(1),
            ],
            1,
        )
        spread = lambda f: torch.cat([f.mean((2, 3)), (f.var((2, 3), unbiased=False) + 1e-6).sqrt()], 1)
        change_logit = self.change(pooled)[:, 0]
        gate = torch.sigmoid(change_logit)[:, None, None] if c.gate_maps else 1.0
        return {
            "memory": memory,
            "change_logit": change_logit,
            "kind_logits": self.kind(pooled),
            "nuisance_logits": self.nuisance(torch.cat([memory.mean(1), spread(fine_b), spread(fine_a)], 1)),
            "map_before": mb * gate,
            "map_after": ma * gate,
            # training only; the exporter drops them
            "logits_before": lb,
            "logits_after": la,
            "tokens": (xb0, xa0),
            "matched": last,
        }

    def contrastive_loss(self, matched: tuple[Tensor, Tensor]) -> Tensor:
        """Paper Eq. 4 on the last layer's inputs: a pair's own frames match better than those of other pairs."""
        layer, c = self.layers[-1], self.c
        losses = []
        xb, xa = (pool_tokens(x, c) for x in matched)
        for b, a in zip(in_groups(xb, c.contrast_group), in_groups(xa, c.contrast_group)):
            losses.append(info_nce(layer.match(b, a, c.matching_per_head, c.matching_cosine)))
            losses.append(info_nce(layer.match(a, b, c.matching_per_head, c.matching_cosine)))
        return torch.stack(losses).mean()


# --------------------------------------------------------------------------------------------------------------------- decoder


def sinusoid(length: int, width: int) -> Tensor:
    position = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([position.sin(), position.cos()], -1).reshape(length, width)


class DecoderLayer(nn.Module):
    """Post-norm, no output projection after either attention, FFN as wide as the model, as the reference has it."""

    def __init__(self, width: int, heads: int, dropout: float, attention_dropout: float):
        super().__init__()
        self.heads = heads
        self.self_qkv = nn.Linear(width, 3 * width)
        self.cross_q = nn.Linear(width, width)
        self.cross_kv = nn.Linear(width, 2 * width)
        self.ffn = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width), nn.Dropout(dropout))
        self.norms = nn.ModuleList([nn.LayerNorm(width, eps=1e-6) for _ in range(3)])
        self.dropout = nn.Dropout(attention_dropout)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """[B,H,t,d] x [B,H,S,d] with an additive bias (0 or -10000) -> [B,t,D], attention [B,H,t,S]."""
        attention = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias, -1)
        return join_heads(self.dropout(attention) @ v), attention

    def memory_kv(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        k, v = self.cross_kv(memory).chunk(2, -1)
        return split_heads(k, self.heads), split_heads(v, self.heads)

    def finish(self, x: Tensor, attended: Tensor, mk: Tensor, mv: Tensor, memory_bias: Tensor) -> tuple[Tensor, Tensor]:
        x = self.norms[0](x + attended)
        c, attention = self.attend(split_heads(self.cross_q(x), self.heads), mk, mv, memory_bias)
        x = self.norms[1](x + c)
        return self.norms[2](x + self.ffn(x)), attention.mean(1)  # [B,t,D], [B,t,S]

    def forward(self, x: Tensor, causal: Tensor, mk: Tensor, mv: Tensor, memory_bias: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (split_heads(t, self.heads) for t in self.self_qkv(x).chunk(3, -1))
        attended, _ = self.attend(q, k, v, causal)
        return self.finish(x, attended, mk, mv, memory_bias)

    def step(
        self, x: Tensor, k: Tensor, v: Tensor, slot: Tensor, past: Tensor, mk: Tensor, mv: Tensor, memory_bias: Tensor
    ):
        """One word. k, v [B,H,T,d]: caches of fixed size; slot [T] one-hot of this position; past [T] additive mask."""
        q, k1, v1 = (split_heads(t, self.heads) for t in self.self_qkv(x).chunk(3, -1))  # [B,H,1,d]
        k = k + k1 * slot[None, None, :, None]
        v = v + v1 * slot[None, None, :, None]
        attended, _ = self.attend(q, k, v, past[None, None, None, :])
        x, attention = self.finish(x, attended, mk, mv, memory_bias)
        return x, attention, k, v


def over_the_crops(attention: Tensor, B: int, T: int, N: int, R: int, G: int) -> Tensor:
    """A glance's summary token has looked at the whole crop, so what it got is spread over its cells: [B,T,N+R*(G+1)] -> [B,T,N+R*G].

    The exported graph scripts it, so that there is one place that does it.
    """
    whole = attention[:, :, :N]
    seen = attention[:, :, N:].reshape(B, T, R, G + 1)
    cells = seen[:, :, :, :G] + seen[:, :, :, G:] / G
    return torch.cat([whole, cells.reshape(B, T, R * G)], 2)


class Captioner(nn.Module):
    """Memory and glances -> words (the serving graph `caption.onnx` runs `greedy` inside one Loop; see export.py)."""

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.c = c
        D, V = c.width, len(c.vocabulary)
        self.glances = Glances(c) if c.glances else None
        self.embedding = nn.Embedding(V, D, padding_idx=PAD)
        self.register_buffer("positions", sinusoid(c.max_length, D), persistent=False)
        self.hedging = 0.0  # see `hedge`
        self.owing = nn.Linear(2 * len(EVENTS), D) if c.glances and c.glance_relations else None
        words, needs = c.event_words, c.event_needs
        self.register_buffer(
            "reports",  # [V,EVENTS]: the event that a word reports
            torch.tensor([[float(word in words.get(event, ())) for event in EVENTS] for word in c.vocabulary]),
            persistent=False,
        )
        tables = {
            "is_conditional": set(needs),  # words that report their event only after one of `is_auxiliary`
            "is_auxiliary": {word for before in needs.values() for word in before},
        }
        for name, members in tables.items():
            table = torch.tensor([[float(word in members)] for word in c.vocabulary])  # [V,1]
            self.register_buffer(name, table, persistent=False)
        self.project = nn.Linear(D, D)
        self.norm = nn.LayerNorm(D, eps=1e-6)
        self.dropout = nn.Dropout(c.dropout)
        self.layers = nn.ModuleList(
            [DecoderLayer(D, c.heads, c.dropout, c.attention_dropout) for _ in range(c.decoder_layers)]
        )
        self.logits = nn.Linear(D, V)
        for module in [self.embedding, self.project, self.logits, *self.layers.modules()]:
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(
                    module.weight, std=0.02 if isinstance(module, nn.Embedding) else module.weight.shape[1] ** -0.5
                )
                if isinstance(module, nn.Linear):
                    nn.init.zeros_(module.bias)
        if self.owing is not None:  # starts as if it were not there
            nn.init.zeros_(self.owing.weight)
            nn.init.zeros_(self.owing.bias)

    def hedge(self, wider: dict[str, str], share: float) -> None:
        """From now on a word with less than `share` of the probability of all that is as wide is said as its wider word: "person"
        where man and woman are as likely. (Deng et al., "Hedging your bets", CVPR 2012.) Words are those of the vocabulary; 0 = never."""
        place = {word: i for i, word in enumerate(self.c.vocabulary)}
        up = torch.arange(len(place))
        for word, general in wider.items():
            if word in place and general in place:
                up[place[word]] = place[general]
        members = F.one_hot(up, len(place)).float()  # [V,V]: row i has its 1 at the wider word of i
        self.hedging = share
        self.register_buffer("wider", up, persistent=False)
        self.register_buffer("members", members, persistent=False)

    def choose(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities [B,V] -> (that of the word to say [B], its id [B])."""
        best, token = scores.max(-1)
        if self.hedging <= 0:
            return best, token
        general = self.wider[token]  # a word without a wider one is its own
        together = (scores.exp() @ self.members).gather(1, general[:, None])[:, 0]  # of the wider word and all below it
        unsure = (best.exp() < self.hedging * together) & (general != token)
        return torch.where(unsure, together.clamp(max=1).log(), best), torch.where(unsure, general, token)

    def remember(
        self,
        memory: Tensor,
        glances: tuple[Tensor, ...] | None,
        look_kind: Tensor | None = None,
        truth: dict[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Memory of the whole look and the glances' tokens, with the additive mask of glances not told of, what is added to every word, and what the
        sentence owes: [B,S,D], [B,1,1,S], [B,D], [B,EVENTS]. look_kind and truth: see `Relations`."""
        bias, opening, owed = (
            memory.new_zeros(memory.shape[:2]),
            torch.zeros_like(memory[:, 0]),
            torch.zeros_like(memory[:, 0, : len(EVENTS)]),
        )
        if self.glances is None or glances is None:
            return memory, bias[:, None, None], opening, owed, {}
        seen = self.glances(*glances, look_kind, truth)
        told = seen["told"]
        each = seen["tokens"].shape[1] // told.shape[1]
        empty = (told[:, :, None].expand(-1, -1, each).reshape(told.shape[0], -1) - 1) * 10_000  # 0 told of, -10000 not
        tokens, bias = torch.cat([memory, seen["tokens"]], 1), torch.cat([bias, empty], 1)[:, None, None]
        return tokens, bias, seen.get("opening", opening), seen.get("owed", owed), seen

    def told_by(self, ids: Tensor, previous: Tensor) -> Tensor:
        """Which fate a word tells, given the word before it: [...] x2 -> [...,EVENTS] of 0 and 1. On the left is not has left."""
        return self.reports[ids] * (1 - self.is_conditional[ids] * (1 - self.is_auxiliary[previous]))

    def embed_words(self, ids: Tensor, positions: Tensor, opening: Tensor, owed: Tensor) -> Tensor:
        """ids [...], opening [...,D] or as wide, owed [...,EVENTS]: what is still to be told once the word is said. The opening belongs to every word: what a
        sentence is to tell may not be forgotten on the way, and what it has told not be told again."""
        words = self.norm(self.dropout(self.project(self.embedding(ids) + positions))) + opening
        return words if self.owing is None else words + self.owing(torch.cat([owed / 2, (owed > 0.5).to(owed)], -1))

    def forward(
        self, memory: Tensor, glances: tuple[Tensor, ...] | None, ids: Tensor, truth: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Teacher forcing. ids [B,T] = START w1 .., truth as in `Relations` -> logits [B,T,V] of the next word, last hidden [B,T,D], glance logits."""
        memory, bias, opening, owed, seen = self.remember(memory, glances, None, truth)
        T = ids.shape[1]
        told = self.told_by(ids, F.pad(ids, (1, 0))[:, :T]).cumsum(1)  # [B,T,EVENTS]
        causal = torch.full((T, T), -10_000.0, device=ids.device).triu(1)[None, None]
        x = self.embed_words(ids, self.positions[:T], opening[:, None], owed[:, None] - told)
        for layer in self.layers:
            x, _ = layer(x, causal, *layer.memory_kv(memory), bias)
        return self.logits(x), x, seen

    def step(
        self,
        tokens: Tensor,
        previous: Tensor,
        owed: Tensor,
        slot: Tensor,
        past: Tensor,
        caches: list[Tensor],
        memory: list[Tensor],
        bias: Tensor,
        opening: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        """One greedy step. tokens and previous [B]: the last word and the one before; owed [B,EVENTS] before it, opening [B,D] -> log-probabilities [B,V],
        attention [B,S] of the last layer, owed after it, new caches."""
        position = (self.positions * slot[:, None]).sum(0)
        owed = owed - self.told_by(tokens, previous)
        x = self.embed_words(tokens, position, opening, owed)[:, None]  # [B,1,D]
        new = []
        for i, layer in enumerate(self.layers):
            x, attention, k, v = layer.step(
                x, caches[2 * i], caches[2 * i + 1], slot, past, memory[2 * i], memory[2 * i + 1], bias
            )
            new += [k, v]
        logits = self.logits(x)[:, 0]
        forbidden = torch.zeros_like(logits)
        forbidden[:, : START + 1] = -10_000.0  # PAD, UNK and START are never said
        return torch.log_softmax(logits + forbidden, -1), attention[:, 0], owed, new

    @torch.no_grad()
    def greedy(
        self, memory: Tensor, glances: tuple[Tensor, ...] | None, look_kind: Tensor | None = None
    ) -> dict[str, Tensor]:
        """look_kind [B,K]: kind_logits of the whole look -> ids [B,T] (words, END, PAD...), log_prob [B,T], length [B] (words without END), attention [B,T,N+R*G]
        of the memory's cells and of each glance's, kind_logits [B,K]?."""
        N = memory.shape[1]
        memory, bias, opening, owed, seen = self.remember(memory, glances, look_kind)
        B, S, D = memory.shape
        T, H = self.c.max_length, self.c.heads
        kv = [t for layer in self.layers for t in layer.memory_kv(memory)]
        caches = [memory.new_zeros(B, H, T, D // H) for _ in range(2 * len(self.layers))]
        tokens, previous = torch.full((B,), START, device=memory.device), torch.full((B,), PAD, device=memory.device)
        alive = torch.ones(B, dtype=torch.bool, device=memory.device)
        ids, log_prob, attention = [], [], []
        for t in range(T):
            slot = F.one_hot(torch.tensor(t), T).to(memory)
            past = (torch.arange(T, device=memory.device) > t).to(memory) * -10_000
            scores, looked, owed, caches = self.step(tokens, previous, owed, slot, past, caches, kv, bias, opening)
            previous, (best, tokens) = tokens, self.choose(scores)
            tokens = torch.where(alive, tokens, torch.zeros_like(tokens))
            ids.append(tokens)
            log_prob.append(torch.where(alive, best, torch.zeros_like(best)))
            attention.append(looked * alive[:, None])
            alive = alive & (tokens != END)
        out, looked_at = torch.stack(ids, 1), torch.stack(attention, 1)
        if S > N:
            looked_at = over_the_crops(looked_at, B, T, N, self.c.regions, self.c.glance_grid**2)
        return {
            "ids": out,
            "log_prob": torch.stack(log_prob, 1),
            "length": ((out != PAD) & (out != END)).sum(1),
            "attention": looked_at,
            **{name: seen[name] for name in ("kind_logits",) if name in seen},  # [B,K]
        }


class BackwardReasoning(nn.Module):
    """CBR (paper Eq. 8-12): from "before" and the sentence, imagine "after"; it must match the real one. Training only.

    Its parameters are optimised (the released script leaves them at random: decided for Eq. 13's reading).
    """

    def __init__(self, c: ModelConfig):
        super().__init__()
        D = c.width
        self.c = c
        self.join = nn.Linear(2 * D, D)
        self.attention = nn.MultiheadAttention(D, c.heads, bias=False, batch_first=True)
        self.out = nn.Linear(D, D)
        self.matching = ScorerLayer(D, c.heads, 0.0)

    def forward(self, before: Tensor, after: Tensor, hidden: Tensor, words: Tensor) -> Tensor:
        """before, after [B,N,D] (Eq. 1 outputs), hidden [B,T,D], words [B,T] 1/0 -> loss."""
        before = pool_tokens(before, self.c)
        sentence = (hidden * words[:, :, None]).sum(1) / words.sum(1, keepdim=True)  # mean over real words
        x = self.join(torch.cat([before, sentence[:, None].expand_as(before)], -1))
        imagined = self.out(self.attention(x, x, x, need_weights=False)[0])
        losses = []
        after = pool_tokens(after, self.c)
        for i, a in zip(in_groups(imagined, self.c.contrast_group), in_groups(after, self.c.contrast_group)):
            r = self.matching.match(i, a, self.c.matching_per_head, self.c.matching_cosine)
            losses += [info_nce(r), info_nce(r.T)]
        return torch.stack(losses).mean()
