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

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PAD, UNK, START, END = 0, 1, 2, 3
KINDS = ("none", "appear", "disappear", "move", "replace", "multi")
NUISANCES = (
    "lighting", "ir_switch", "shadow", "weather", "compression", "noise", "camera_moved", "defocus", "foliage", "overlay",
)
GLANCE_SIDES = ("before", "after", "both", "none")
ROLES = ("nothing", "came or went", "moved", "replaced")  # what became of that which a frame shows at a glance
# What things can have done in pairs of a kind: roles beside "nothing" in the before frame and in the after frame.
ROLES_OF_KIND = {
    "none": ((), ()), "appear": ((), ("came or went",)), "disappear": (("came or went",), ()), "move": (("moved",), ("moved",)),
    "replace": (("replaced",), ("replaced",)), "multi": (ROLES, ROLES),
}
RGB_SCALE = 3.0  # brings RGB (standard deviation about 0.33) to unit variance


@dataclass
class ModelConfig:
    vocabulary: list[str] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    colours: list[str] = field(default_factory=list)
    coarse_channels: int = 256
    fine_channels: int = 67
    grid: tuple[int, int] = (16, 24)  # rows, columns of the coarse features of the whole look
    glance_grid: int = 7
    regions: int = 3
    width: int = 256
    heads: int = 8
    scorer_layers: int = 2
    decoder_layers: int = 2
    token_pool: int = 2  # coarse cells per token side: 2 turns 16x24 cells into 96 tokens
    map_width: int = 48
    max_length: int = 28
    dropout: float = 0.1
    attention_dropout: float = 0.0  # the paper: 0.1; drawing the random numbers took 8 % of a CPU step
    # --- named departures ---
    matching_per_head: bool = True  # paper Eq. 3: max in every subspace, then mean; the released code sums heads first
    matching_cosine: bool = True  # L2-normalised tokens, CLIP-style temperature; the paper takes raw dot products
    contrast_group: int = 8  # pairs contrasted with each other; the paper takes the whole batch (quadratic)
    contrast_pool: int = 2  # tokens pooled pool x pool before matching; 1 is the paper (16 times the cost on a CPU)
    glances: bool = True  # the second look; False = the paper's single memory
    map_memory: bool = True  # tell the memory where the maps fire
    gate_maps: bool = True  # served maps = map * p(change): a cell changed only if anything did, so silence empties them
    matching_evidence: bool = True  # local feature matching as input of the maps; False = learned difference only
    glance_colour: bool = False  # colours are named from all features and from a path of RGB alone, which cannot learn models by heart
    glance_dropout: float = 0.0  # of the crops' feature channels, the same in both frames: there are few models to learn from
    glance_relations: bool = False  # the glances look at each other: is what has gone here what has come there? (`Relations`)
    told: int = 2  # served sentences tell of so many glances, the strongest; all of them say the kind, and training tells of all

    moved_odds: float = 1.4  # added to the log odds of "the same thing" when served: in made pairs like things go and come twice as often as one moves; chosen on real ones (model card)

    moving_camera: bool = False  # the camera moves between the frames: matching everywhere, not of near cells (clevr_model.py)
    tokens_kept: int = 128  # of a frame, those that show an object; only a moving camera's model leaves any out
    memory_pool: int = 1  # tokens a side of one that the decoder sees; likewise

    @property
    def token_grid(self) -> tuple[int, int]:
        return self.grid[0] // self.token_pool, self.grid[1] // self.token_pool

    @property
    def memory_grid(self) -> tuple[int, int]:
        return self.token_grid[0] // self.memory_pool, self.token_grid[1] // self.memory_pool


def split_heads(x: Tensor, heads: int) -> Tensor:
    B, N, D = x.shape
    return x.reshape(B, N, heads, D // heads).transpose(1, 2)  # [B,N,D] -> [B,H,N,d]


def join_heads(x: Tensor) -> Tensor:
    B, H, N, d = x.shape
    return x.transpose(1, 2).reshape(B, N, H * d)  # [B,H,N,d] -> [B,N,D]


class GridPosition(nn.Module):
    """Learned column and row tables, column half first; the same for both frames (no before/after type embedding)."""

    def __init__(self, rows: int, columns: int, width: int):
        super().__init__()
        self.column = nn.Parameter(torch.randn(columns, width // 2) * 0.02)
        self.row = nn.Parameter(torch.randn(rows, width // 2) * 0.02)

    def forward(self) -> Tensor:
        rows, columns = self.row.shape[0], self.column.shape[0]
        c = self.column[None, :, :].expand(rows, -1, -1)
        r = self.row[:, None, :].expand(-1, columns, -1)
        return torch.cat([c, r], -1).reshape(1, rows * columns, -1)  # [1,N,D], row-major


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

    The untrained change detector of the design notes, here as evidence that the maps start from. No parameters. A cell outside
    the frame matches with cosine 0.
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

    def one_way(self, f: tuple[Tensor, Tensor], g: tuple[Tensor, Tensor], evidence: Tensor | None) -> tuple[Tensor, Tensor]:
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
        self.nuisance = nn.Sequential(nn.Linear(D + 4 * c.fine_channels, 128), nn.ReLU(), nn.Linear(128, len(NUISANCES)))

    def tokens(self, coarse: Tensor) -> Tensor:
        return self.embed(coarse).flatten(2).transpose(1, 2) + self.position()  # [B,D,r,c] -> [B,N,D]

    def forward(
        self, coarse_b: Tensor, fine_b: Tensor, coarse_a: Tensor, fine_a: Tensor, evidence: Tensor | None = None, learn_maps: bool = True
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
                hb.amax((2, 3)), ha.amax((2, 3)), hb.mean((2, 3)), ha.mean((2, 3)),
                strongest(lb, 4), strongest(la, 4), strongest(lb, 32), strongest(la, 32), memory.mean(1),
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
            "logits_before": lb, "logits_after": la, "tokens": (xb0, xa0), "matched": last,
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


def make_difference(c: ModelConfig) -> Difference:
    """The one that the config asks for."""
    if not c.moving_camera:
        return Difference(c)
    from training.clevr_model import MovingDifference

    return MovingDifference(c)


# --------------------------------------------------------------------------------------------------------------------- glances


class Tints(nn.Module):
    """The colour of what a glance shows: all features say where to look (the coat, not the trousers or the road), only RGB says which."""

    POOLS, CHANNELS = 4, 32

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.where = nn.Linear(c.width, self.POOLS)
        self.cell = nn.Conv2d(3, self.CHANNELS, 2, stride=2)
        self.name = nn.Sequential(nn.Linear(self.POOLS * self.CHANNELS + 9, 96), nn.ReLU(), nn.Dropout(c.dropout), nn.Linear(96, len(c.colours)))

    def forward(self, rgb: Tensor, tokens: Tensor, inside: Tensor) -> Tensor:
        """rgb [M,2,3,2g,2g] (-1..1), tokens [M,2,G,D], inside [M,G,1] -> logits [M,2,colours]."""
        M = rgb.shape[0]
        rgb = rgb.flatten(0, 1) * RGB_SCALE
        cells = F.relu(self.cell(rgb)).flatten(2).reshape(M, 2, self.CHANNELS, -1)  # [M,2,channels,G]
        weight = torch.softmax(self.where(tokens) + 4 * inside[:, None], 2)  # [M,2,G,pools]
        seen = (cells @ weight).flatten(2)  # [M,2,channels*pools]
        around = F.avg_pool2d(rgb, 2).flatten(2)  # grey is what is darker than a white wall and lighter than a black car
        light = torch.cat([around.mean(2), around.amax(2), around.amin(2)], 1).reshape(M, 2, 9)
        return self.name(torch.cat([seen, light], -1))


def inside_box(crop: Tensor, obj: Tensor, grid: int) -> Tensor:
    """Which cells of a crop lie inside the region's box: [...,4] x2 (x, y, w, h, frame units) -> [...,grid*grid] of 0/1, row-major."""
    steps = (torch.arange(grid, device=crop.device, dtype=crop.dtype) + 0.5) / grid
    cx = crop[..., 0:1] + crop[..., 2:3] * steps.repeat(grid)  # columns run fastest
    cy = crop[..., 1:2] + crop[..., 3:4] * steps[:, None].expand(grid, grid).reshape(-1)
    x, y, w, h = (obj[..., i : i + 1] for i in range(4))
    return ((cx >= x) & (cx <= x + w) & (cy >= y) & (cy <= y + h)).to(crop.dtype)


# Mean and standard deviation of each channel of `same_thing_evidence`, on training pairs: only there so that they learn at one pace.
SAME_CENTRE = (0.44, 0.44, 0.5, 0.52, 0.52, 0.57, 0.19, 0.19, 0.04, 0.35, 0.38, 0.31, 0.27)
SAME_SPREAD = (0.19, 0.19, 0.24, 0.14, 0.14, 0.23, 0.17, 0.17, 0.04, 0.44, 0.49, 0.27, 0.44)


@torch.no_grad()
def same_thing_evidence(coarse: Tensor, fine: Tensor, crop: Tensor, obj: Tensor) -> Tensor:
    """How alike that which was here before and that which is there now are, without parameters: nothing to learn by heart.

    coarse [B,R,2,Cc,g,g], fine [B,R,2,Cf,2g,2g] (its last three channels are RGB), crop and obj [B,R,4] -> [B,R,R,13], standardised:
    at [:, i, j] the thing of the before frame at glance i with that of the after frame at glance j. Three measures on coarse and three on fine
    features (each cell's best match there, and back; cosine of the means), colour apart, lightness apart, hue apart, and how differently large and
    wide they are, how far apart, and whether both are one place. A cell counts by how much it differs between the frames.
    """
    out = []
    for x in (coarse, fine[:, :, :, :-3]):
        grid = x.shape[-1]
        cells = x.flatten(4).transpose(3, 4)  # [B,R,2,G,C]
        unit = F.normalize(cells, dim=-1)
        differs = (1 - (unit[:, :, 0] * unit[:, :, 1]).sum(-1)).clamp(min=0)  # [B,R,G]
        weight = differs * inside_box(crop, obj, grid) + 1e-6
        weight = weight / weight.sum(-1, keepdim=True)
        products = unit[:, :, None, 0] @ unit[:, None, :, 1].transpose(-1, -2)  # [B,R,R,G,G]
        unseen = -2 * (weight < 1e-4).to(x)  # below every cosine: what is not part of the thing matches nothing
        there = ((products + unseen[:, None, :, None, :]).amax(-1) * weight[:, :, None]).sum(-1)
        back = ((products + unseen[:, :, None, :, None]).amax(-2) * weight[:, None]).sum(-1)
        mean = F.normalize((cells * weight[:, :, None, :, None]).sum(3), dim=-1)  # [B,R,2,C]
        out += [there, back, mean[:, :, 0] @ mean[:, :, 1].transpose(-1, -2)]
    rgb = (fine[:, :, :, -3:].flatten(4) * weight[:, :, None, None]).sum(-1)  # [B,R,2,3], by the fine cells' weights
    apart = rgb[:, :, None, 0] - rgb[:, None, :, 1]  # [B,R,R,3]
    light = apart.mean(-1)
    out += [apart.abs().mean(-1), light.abs(), (apart - light[..., None]).abs().mean(-1)]
    size, foot = obj[..., 2:].clamp(min=1e-3).log(), torch.stack([obj[..., 0] + obj[..., 2] / 2, obj[..., 1] + obj[..., 3]], -1)
    grown = size[:, :, None] - size[:, None]
    way = (foot[:, :, None] - foot[:, None]).square().sum(-1).sqrt()
    out += [grown[..., 1].abs(), (grown[..., 0] - grown[..., 1]).abs(), way, torch.eye(obj.shape[1], device=obj.device).expand_as(way)]
    centre, spread = (torch.tensor(v, device=obj.device) for v in (SAME_CENTRE, SAME_SPREAD))
    return (torch.stack(out, -1) - centre) / spread


class Relations(nn.Module):
    """What the glances tell together. One glance cannot tell "moved" from "one gone, another come"; two that show the same thing can.

    Whether they do is asked of evidence that nothing can be learned by heart from (a model that was free to learn told 99.8 % of its training
    pairs' kinds and 83 % of new ones). Few parameters lead from there to the role of each thing and from the roles to the kind; the words learn
    from the true roles and kind, so that they say what these say. When served, the roles are the likeliest that the kind allows.
    """

    def __init__(self, c: ModelConfig):
        super().__init__()
        D, self.heads, self.moved_odds = c.width, c.heads, c.moved_odds
        self.same = nn.Sequential(nn.Linear(len(SAME_CENTRE), 16), nn.ReLU(), nn.Linear(16, 1))
        self.role = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, len(ROLES)))
        self.kind = nn.Sequential(nn.Linear(4 * (len(ROLES) - 1), 32), nn.ReLU(), nn.Linear(32, len(KINDS)))
        self.enter = nn.Linear(D, D)
        self.frame = nn.Parameter(torch.randn(2, D) * 0.02)
        self.qkv = nn.Linear(D, 3 * D)
        self.partner = nn.Parameter(torch.ones(c.heads))  # how much a thing looks at what may be itself in the other frame
        self.ffn = nn.Sequential(nn.Linear(D, D), nn.GELU(), nn.Linear(D, D), nn.Dropout(c.dropout))
        self.norms = nn.ModuleList([nn.LayerNorm(D, eps=1e-6) for _ in range(2)])
        self.leave = nn.Linear(2 * D, D)
        self.told = nn.Linear(len(KINDS), D)
        self.told_roles = nn.Linear(2 * len(ROLES), D)
        self.told_cells = nn.Linear(2 * len(ROLES), D)
        self.opening = nn.Linear(len(KINDS) + c.regions * 2 * len(ROLES), D)
        allowed = [[[role == "nothing" or role in frame for role in ROLES] for frame in ROLES_OF_KIND[kind]] for kind in KINDS]
        self.register_buffer("allowed", torch.tensor(allowed, dtype=torch.float32), persistent=False)  # [K,2,ROLES]
        for last in (self.leave, self.told, self.told_roles, self.told_cells, self.opening):  # starts as if it were not there
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def roles(self, same: Tensor, sides: Tensor, mask: Tensor) -> Tensor:
        """same [B,R,R] (logits), sides [B,R,4] (probabilities as GLANCE_SIDES), mask [B,R] -> logits [B,R,2,ROLES]."""
        shown = torch.stack([sides[..., 0] + sides[..., 2], sides[..., 1] + sides[..., 2]], -1) * mask[..., None]  # [B,R,2]
        link = torch.sigmoid(same) * shown[:, :, None, 0] * shown[:, None, :, 1]
        here = torch.eye(mask.shape[1], device=mask.device)
        stays, link = (link * here).sum(-1), link * (1 - here)
        mutual = link.square() / (link.sum(1, keepdim=True) * link.sum(2, keepdim=True) + 1e-6)  # less where another one is as like
        best = lambda x: torch.stack([x.amax(2), x.amax(1)], -1)  # [B,R,R] -> [B,R,2]
        inputs = [shown, shown.flip(-1), stays[..., None].expand_as(shown), best(link), best(mutual), best(link * mutual)]
        return self.role(torch.stack(inputs, -1))

    def forward(
        self,
        things: tuple[Tensor, Tensor, Tensor],
        mask: Tensor,
        evidence: Tensor,
        sides: Tensor,
        look_kind: Tensor | None,
        truth: dict[str, Tensor] | None,
        told: Tensor,
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """things: what the glances show before and after and where, [B,R,D] each; mask [B,R] (1 = used); evidence of `same_thing_evidence`;
        sides [B,R,4] (probabilities); look_kind [B,K]: logits of the whole look, for what is believed together; truth: role [B,R,2] (negative where
        unknown) and kind [B]; told [B,R]: 1 where the words may tell of a glance -> to add to each summary [B,R,D] and to each cell [B,R,D], and
        same [B,R,R], role [B,R,2,ROLES], kind [B,K] logits and opening [B,D] (for every word: what the sentence is about)."""
        before, after, place = things
        B, R, D = before.shape
        same = self.same(evidence)[..., 0] + (self.moved_odds if truth is None else 0.0)
        role_logits = self.roles(same, sides, mask)
        role = torch.softmax(role_logits, -1)
        used = mask[:, :, None, None]
        count = mask.sum(1)[:, None, None].clamp(min=1)
        likely = (role * used)[..., 1:]
        kind_logits = self.kind(torch.cat([likely.amax(1), likely.sum(1) / count], -1).flatten(1))
        if truth is None:
            kind_logits = kind_logits if look_kind is None else kind_logits + look_kind
            kind = F.pad(surest(kind_logits[:, 1:]), (1, 0))  # asked only where something changed
            role = surest(role * (kind @ self.allowed.flatten(1)).reshape(B, 1, 2, -1))
        else:
            known = truth["role"] >= 0
            role = torch.where(known[..., None], F.one_hot(truth["role"].clamp(min=0), len(ROLES)).to(role), surest(role))
            kind = F.one_hot(truth["kind"], len(KINDS)).to(role)

        entered = torch.stack([self.enter(before) + self.frame[0], self.enter(after) + self.frame[1]], 2) + place[:, :, None]
        x = entered.transpose(1, 2).reshape(B, 2 * R, D)  # first all of the before frame
        each = torch.cat([mask, mask], 1)
        none = torch.zeros_like(same)
        across = torch.cat([torch.cat([none, same], 2), torch.cat([same.transpose(1, 2), none], 2)], 1)
        bias = (each[:, None, None] - 1) * 10_000 + across[:, None] * self.partner[:, None, None]
        q, k, v = (split_heads(t, self.heads) for t in self.qkv(x).chunk(3, -1))
        x = self.norms[0](x + join_heads(torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias, -1) @ v))
        x = self.norms[1](x + self.ffn(x)) * each[:, :, None]
        roles = (role * used).flatten(2)  # [B,R,2*ROLES]
        related = self.leave(torch.cat(x.chunk(2, 1), -1)) + self.told(kind)[:, None] + self.told_roles(roles)
        opening = self.opening(torch.cat([kind, (roles * told[:, :, None]).flatten(1)], 1))
        logits = {"same_logits": same, "role_logits": role_logits, "kind_logits": kind_logits}
        return related, self.told_cells(roles), {**logits, "opening": opening}


def surest(x: Tensor) -> Tensor:
    """1 at the largest of the last dimension, else 0."""
    return (x == x.amax(-1, keepdim=True)).to(x)


class Glances(nn.Module):
    """Crops of the changed places in both frames -> G + 1 memory tokens a glance, and what each crop shows."""

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.c = c
        D, g = c.width, c.glance_grid
        self.coarse = nn.Linear(c.coarse_channels, D)
        self.fine = nn.Conv2d(c.fine_channels, D, 2, stride=2)
        self.tints = Tints(c) if c.glance_colour else None
        if self.tints is not None:
            self.tell_colour = nn.Linear(2 * len(c.colours), D)
            nn.init.zeros_(self.tell_colour.weight)  # starts as if it were not there
            nn.init.zeros_(self.tell_colour.bias)
        self.relations = Relations(c) if c.glance_relations else None
        self.inside = nn.Linear(1, D)
        self.position = GridPosition(g, g, D)
        self.box = nn.Linear(8, D)
        self.norm = nn.LayerNorm(D, eps=1e-6)
        self.fuse = nn.Sequential(nn.Linear(3 * D, D), nn.ReLU(), nn.Dropout(c.dropout))
        self.pool = nn.Linear(D, 1)
        self.summary = nn.Linear(3 * D, D)
        self.side = nn.Linear(3 * D, len(GLANCE_SIDES))
        self.noun = nn.Sequential(nn.Dropout(c.dropout), nn.Linear(D, len(c.nouns)))
        self.colour = nn.Sequential(nn.Dropout(c.dropout), nn.Linear(D, len(c.colours)))

    def cells(self, coarse: Tensor, fine: Tensor, inside: Tensor) -> Tensor:
        """[M,Cc,g,g], [M,Cf,2g,2g] -> [M,G,D]."""
        x = self.coarse(coarse.flatten(2).transpose(1, 2)) + self.fine(fine).flatten(2).transpose(1, 2)
        return self.norm(x + self.inside(inside) + self.position())

    def forward(
        self,
        coarse: Tensor,
        fine: Tensor,
        crop: Tensor,
        obj: Tensor,
        mask: Tensor,
        look_kind: Tensor | None = None,
        truth: dict[str, Tensor] | None = None,
    ) -> dict[str, Tensor]:
        """coarse [B,R,2,Cc,g,g], fine [B,R,2,Cf,2g,2g], crop and obj [B,R,4], mask [B,R] -> tokens [B,R*(G+1),D] + logits,
        told [B,R]: the glances that the words may tell of. look_kind and truth: see `Relations`; without truth the tokens tell what is believed."""
        B, R = mask.shape
        told = mask if self.training else mask * (torch.arange(R, device=mask.device) < self.c.told).to(mask)
        evidence = same_thing_evidence(coarse, fine, crop, obj) if self.relations is not None else None
        coarse, fine = coarse.flatten(0, 1), fine.flatten(0, 1)
        crop, obj = crop.flatten(0, 1), obj.flatten(0, 1)
        inside = inside_box(crop, obj, self.c.glance_grid)[..., None]
        rgb = fine[:, :, -3:]
        if self.training and self.c.glance_dropout > 0:
            coarse, fine = (x * F.dropout(torch.ones_like(x[:, :1, :, :1, :1]), self.c.glance_dropout) for x in (coarse, fine))
        b = self.cells(coarse[:, 0], fine[:, 0], inside)  # [B*R,G,D]
        a = self.cells(coarse[:, 1], fine[:, 1], inside)
        place = self.box(torch.cat([obj, obj[:, :2] + obj[:, 2:] / 2, obj[:, 2:].clamp(min=1e-3).log() / 4], 1))  # [B*R,D]
        cells = self.fuse(torch.cat([b, a, b - a], -1)) + place[:, None]
        weight = torch.softmax(self.pool(F.relu(b - a) + F.relu(a - b)) + 4 * inside, 1)  # [B*R,G,1]
        sb, sa = (b * weight).sum(1), (a * weight).sum(1)  # [B*R,D]: what each frame shows there
        both = torch.cat([sb, sa, (sb - sa).abs()], -1)
        summary = F.relu(self.summary(both)) + place
        colours = torch.stack([self.colour(sb), self.colour(sa)], 1)
        if self.tints is not None:
            colours = colours + self.tints(rgb, torch.stack([b, a], 1), inside)
            summary = summary + self.tell_colour(torch.softmax(colours, -1).flatten(1))
        side_logits, relations = self.side(both).reshape(B, R, -1), {}
        if self.relations is not None:
            things = tuple(x.reshape(B, R, -1) for x in (sb, sa, place))
            related, for_cells, relations = self.relations(things, mask, evidence, torch.softmax(side_logits, -1), look_kind, truth, told)
            summary = summary + related.flatten(0, 1)
            cells = cells + for_cells.flatten(0, 1)[:, None]
        tokens = torch.cat([cells, summary[:, None]], 1).reshape(B, -1, cells.shape[-1])  # [B,R*(G+1),D]
        return {
            "tokens": tokens,
            "told": told,
            **relations,
            "side_logits": side_logits,
            "noun_logits": torch.stack([self.noun(sb), self.noun(sa)], 1).reshape(B, R, 2, -1),
            "colour_logits": colours.reshape(B, R, 2, -1),
        }


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

    def step(self, x: Tensor, k: Tensor, v: Tensor, slot: Tensor, past: Tensor, mk: Tensor, mv: Tensor, memory_bias: Tensor):
        """One word. k, v [B,H,T,d]: caches of fixed size; slot [T] one-hot of this position; past [T] additive mask."""
        q, k1, v1 = (split_heads(t, self.heads) for t in self.self_qkv(x).chunk(3, -1))  # [B,H,1,d]
        k = k + k1 * slot[None, None, :, None]
        v = v + v1 * slot[None, None, :, None]
        attended, _ = self.attend(q, k, v, past[None, None, None, :])
        x, attention = self.finish(x, attended, mk, mv, memory_bias)
        return x, attention, k, v


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
        self.project = nn.Linear(D, D)
        self.norm = nn.LayerNorm(D, eps=1e-6)
        self.dropout = nn.Dropout(c.dropout)
        self.layers = nn.ModuleList([DecoderLayer(D, c.heads, c.dropout, c.attention_dropout) for _ in range(c.decoder_layers)])
        self.logits = nn.Linear(D, V)
        for module in [self.embedding, self.project, self.logits, *self.layers.modules()]:
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02 if isinstance(module, nn.Embedding) else module.weight.shape[1] ** -0.5)
                if isinstance(module, nn.Linear):
                    nn.init.zeros_(module.bias)

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
        self, memory: Tensor, glances: tuple[Tensor, ...] | None, look_kind: Tensor | None = None, truth: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Memory of the whole look and the glances' tokens, with the additive mask of glances not told of, and what is added to every word:
        [B,S,D], [B,1,1,S], [B,D]. look_kind and truth: see `Relations`."""
        bias, opening = memory.new_zeros(memory.shape[:2]), torch.zeros_like(memory[:, 0])
        if self.glances is None or glances is None:
            return memory, bias[:, None, None], opening, {}
        seen = self.glances(*glances, look_kind, truth)
        told = seen["told"]
        each = seen["tokens"].shape[1] // told.shape[1]
        empty = (told[:, :, None].expand(-1, -1, each).reshape(told.shape[0], -1) - 1) * 10_000  # 0 told of, -10000 not
        return torch.cat([memory, seen["tokens"]], 1), torch.cat([bias, empty], 1)[:, None, None], seen.get("opening", opening), seen

    def embed_words(self, ids: Tensor, positions: Tensor, opening: Tensor) -> Tensor:
        """The opening belongs to every word: what a sentence is to tell may not be forgotten on the way."""
        return self.norm(self.dropout(self.project(self.embedding(ids) + positions))) + opening

    def forward(
        self, memory: Tensor, glances: tuple[Tensor, ...] | None, ids: Tensor, truth: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Teacher forcing. ids [B,T] = START w1 .., truth as in `Relations` -> logits [B,T,V] of the next word, last hidden [B,T,D], glance logits."""
        memory, bias, opening, seen = self.remember(memory, glances, None, truth)
        T = ids.shape[1]
        causal = torch.full((T, T), -10_000.0, device=ids.device).triu(1)[None, None]
        x = self.embed_words(ids, self.positions[:T], opening[:, None])
        for layer in self.layers:
            x, _ = layer(x, causal, *layer.memory_kv(memory), bias)
        return self.logits(x), x, seen

    def step(self, tokens: Tensor, slot: Tensor, past: Tensor, caches: list[Tensor], memory: list[Tensor], bias: Tensor, opening: Tensor):
        """One greedy step. tokens [B], opening [B,D] -> log-probabilities [B,V], attention [B,S] of the last layer, new caches."""
        position = (self.positions * slot[:, None]).sum(0)
        x = self.embed_words(tokens, position, opening)[:, None]  # [B,1,D]
        new = []
        for i, layer in enumerate(self.layers):
            x, attention, k, v = layer.step(x, caches[2 * i], caches[2 * i + 1], slot, past, memory[2 * i], memory[2 * i + 1], bias)
            new += [k, v]
        logits = self.logits(x)[:, 0]
        forbidden = torch.zeros_like(logits)
        forbidden[:, :START + 1] = -10_000.0  # PAD, UNK and START are never said
        return torch.log_softmax(logits + forbidden, -1), attention[:, 0], new

    @torch.no_grad()
    def greedy(self, memory: Tensor, glances: tuple[Tensor, ...] | None, look_kind: Tensor | None = None) -> dict[str, Tensor]:
        """look_kind [B,K]: kind_logits of the whole look -> ids [B,T] (words, END, PAD...), log_prob [B,T], length [B] (words without END), attention [B,T,S], kind_logits [B,K]?."""
        memory, bias, opening, seen = self.remember(memory, glances, look_kind)
        B, S, D = memory.shape
        T, H = self.c.max_length, self.c.heads
        kv = [t for layer in self.layers for t in layer.memory_kv(memory)]
        caches = [memory.new_zeros(B, H, T, D // H) for _ in range(2 * len(self.layers))]
        tokens = torch.full((B,), START, device=memory.device)
        alive = torch.ones(B, dtype=torch.bool, device=memory.device)
        ids, log_prob, attention = [], [], []
        for t in range(T):
            slot = F.one_hot(torch.tensor(t), T).to(memory)
            past = (torch.arange(T, device=memory.device) > t).to(memory) * -10_000
            scores, looked, caches = self.step(tokens, slot, past, caches, kv, bias, opening)
            best, tokens = self.choose(scores)
            tokens = torch.where(alive, tokens, torch.zeros_like(tokens))
            ids.append(tokens)
            log_prob.append(torch.where(alive, best, torch.zeros_like(best)))
            attention.append(looked * alive[:, None])
            alive = alive & (tokens != END)
        out = torch.stack(ids, 1)
        return {
            "ids": out,
            "log_prob": torch.stack(log_prob, 1),
            "length": ((out != PAD) & (out != END)).sum(1),
            "attention": torch.stack(attention, 1),
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
