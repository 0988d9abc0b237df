"""The second look: native-resolution crops of the changed places, what each shows, and what they tell together.

Letters as in model.py; M glances of a batch in one row (B * R).
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.net.config import (
    GLANCE_SIDES,
    KINDS,
    RGB_SCALE,
    ROLES,
    ROLES_OF_KIND,
    GridPosition,
    ModelConfig,
    join_heads,
    split_heads,
)


class Tints(nn.Module):
    """The colour of what a glance shows: all features say where to look (the coat, not the trousers or the road), only RGB says which."""

    POOLS, CHANNELS = 4, 32

    def __init__(self, c: ModelConfig):
        super().__init__()
        self.where = nn.Linear(c.width, self.POOLS)
        self.cell = nn.Conv2d(3, self.CHANNELS, 2, stride=2)
        self.name = nn.Sequential(
            nn.Linear(self.POOLS * self.CHANNELS + 9, 96),
            nn.ReLU(),
            nn.Dropout(c.dropout),
            nn.Linear(96, len(c.colours)),
        )

    def forward(self, rgb: Tensor, tokens: Tensor, inside: Tensor) -> Tensor:
        """rgb [M,2,3,2g,2g] (-1..1), tokens [M,2,G,D], inside [M,G,1] -> logits [M,2,colours]."""
        M = rgb.shape[0]
        rgb = rgb.flatten(0, 1) * RGB_SCALE
        cells = F.relu(self.cell(rgb)).flatten(2).reshape(M, 2, self.CHANNELS, -1)  # [M,2,channels,G]
        weight = torch.softmax(self.where(tokens) + 4 * inside[:, None], 2)  # [M,2,G,pools]
        seen = (cells @ weight).flatten(2)  # [M,2,channels*pools]
        around = F.avg_pool2d(rgb, 2).flatten(
            2
        )  # grey is what is darker than a white wall and lighter than a black car
        light = torch.cat([around.mean(2), around.amax(2), around.amin(2)], 1).reshape(M, 2, 9)
        return self.name(torch.cat([seen, light], -1))


def cell_centres(grid: int, like: Tensor) -> Tensor:
    """x and y of a crop's cells in shares of the crop, row-major: [grid*grid,2]."""
    steps = (torch.arange(grid, device=like.device, dtype=like.dtype) + 0.5) / grid
    return torch.stack([steps.repeat(grid), steps[:, None].expand(grid, grid).reshape(-1)], -1)  # columns run fastest


def inside_box(crop: Tensor, obj: Tensor, grid: int) -> Tensor:
    """Which cells of a crop lie inside the region's box: [...,4] x2 (x, y, w, h, frame units) -> [...,grid*grid] of 0/1, row-major."""
    centres = cell_centres(grid, crop)
    cx, cy = (crop[..., i : i + 1] + crop[..., i + 2 : i + 3] * centres[:, i] for i in (0, 1))
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
    size, foot = (
        obj[..., 2:].clamp(min=1e-3).log(),
        torch.stack([obj[..., 0] + obj[..., 2] / 2, obj[..., 1] + obj[..., 3]], -1),
    )
    grown = size[:, :, None] - size[:, None]
    way = (foot[:, :, None] - foot[:, None]).square().sum(-1).sqrt()
    out += [
        grown[..., 1].abs(),
        (grown[..., 0] - grown[..., 1]).abs(),
        way,
        torch.eye(obj.shape[1], device=obj.device).expand_as(way),
    ]
    centre, spread = (torch.tensor(v, device=obj.device) for v in (SAME_CENTRE, SAME_SPREAD))
    return (torch.stack(out, -1) - centre) / spread


WAY_SHARPNESS = 20.0  # of the softmax that says where in the other frame a cell is
WAYS = 5  # numbers a thing's way is told by, see `told_way`


@torch.no_grad()
def ways(coarse: Tensor, fine: Tensor, crop: Tensor, obj: Tensor) -> Tensor:
    """Which way a thing has gone, if that of the before frame at glance i is that of the after frame at glance j; without parameters.

    As for `same_thing_evidence` -> [B,R,R,3]: right and down in shares of the frame, and how much taller it is now (log). Between two glances the
    boxes tell. Within one the features do: where each cell is found in the other frame, weighted by how much better it matches there than in place
    (what stands still matches in place; on made pairs left and right are then right in 93 %, and in all that moved by a fifth of their width).
    """
    flows = []
    for x in (coarse, fine[:, :, :, :-3]):
        g = x.shape[-1]
        unit = F.normalize(x.flatten(4).transpose(3, 4), dim=-1)  # [B,R,2,G,C]
        alike = unit[:, :, 0] @ unit[:, :, 1].transpose(-1, -2)  # [B,R,G,G]
        in_place = (unit[:, :, 0] * unit[:, :, 1]).sum(-1)
        inside = inside_box(crop, obj, g)
        cells = cell_centres(g, x)
        moved, total = torch.zeros_like(crop[..., :2]), torch.full_like(crop[..., :1], 1e-3)
        for products, sign in ((alike, 1.0), (alike.transpose(-1, -2), -1.0)):
            gain = (products.amax(-1) - in_place).clamp(min=0) * inside  # [B,R,G]
            there = torch.softmax(products * WAY_SHARPNESS, -1) @ cells
            moved = moved + sign * ((there - cells) * gain[..., None]).sum(2)
            total = total + gain.sum(-1, keepdim=True)
        flows.append(moved / total * crop[..., 2:])
    within = F.pad((flows[0] + flows[1]) / 2, (0, 1))  # [B,R,3]
    foot = torch.stack(
        [obj[..., 0] + obj[..., 2] / 2, obj[..., 1] + obj[..., 3], obj[..., 3].clamp(min=1e-3).log()], -1
    )
    between = foot[:, None] - foot[:, :, None]
    here = torch.eye(obj.shape[1], device=obj.device)[None, :, :, None]
    return between * (1 - here) + within[:, :, None] * here


def told_way(way: Tensor, obj: Tensor) -> Tensor:
    """[...,3] of `ways`, [...,4] the thing's box -> [...,WAYS], each within -1..1: in shares of the frame and of the thing's own size."""
    x, y, taller = way.unbind(-1)
    width, height = (obj[..., i].clamp(min=1e-3) for i in (2, 3))
    return torch.tanh(torch.stack([4 * x, 4 * y, 2 * x / width, 2 * y / height, 2 * taller], -1))


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
        self.partner = nn.Parameter(
            torch.ones(c.heads)
        )  # how much a thing looks at what may be itself in the other frame
        self.ffn = nn.Sequential(nn.Linear(D, D), nn.GELU(), nn.Linear(D, D), nn.Dropout(c.dropout))
        self.norms = nn.ModuleList([nn.LayerNorm(D, eps=1e-6) for _ in range(2)])
        self.leave = nn.Linear(2 * D, D)
        self.told = nn.Linear(len(KINDS), D)
        self.told_roles = nn.Linear(2 * len(ROLES), D)
        self.told_cells = nn.Linear(2 * len(ROLES), D)
        self.opening = nn.Linear(len(KINDS) + c.regions * 2 * len(ROLES), D)
        self.opening_ways, self.way_cells = nn.Linear(c.regions * 2 * WAYS, D), nn.Linear(2 * WAYS, D)
        allowed = [
            [[role == "nothing" or role in frame for role in ROLES] for frame in ROLES_OF_KIND[kind]] for kind in KINDS
        ]
        self.register_buffer("allowed", torch.tensor(allowed, dtype=torch.float32), persistent=False)  # [K,2,ROLES]
        for last in (
            self.leave,
            self.told,
            self.told_roles,
            self.told_cells,
            self.opening,
            self.opening_ways,
            self.way_cells,
        ):  # starts as if it were not there
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def links(self, same: Tensor, sides: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """same [B,R,R] (logits), sides [B,R,4] (probabilities as GLANCE_SIDES), mask [B,R] -> whether a glance shows something in a frame [B,R,2],
        and whether what i shows before is what j shows after [B,R,R]."""
        shown = torch.stack([sides[..., 0] + sides[..., 2], sides[..., 1] + sides[..., 2]], -1) * mask[..., None]
        return shown, torch.sigmoid(same) * shown[:, :, None, 0] * shown[:, None, :, 1]

    def roles(self, shown: Tensor, link: Tensor) -> Tensor:
        """[B,R,2] and [B,R,R] of `links` -> logits [B,R,2,ROLES]."""
        here = torch.eye(shown.shape[1], device=shown.device)
        stays, link = (link * here).sum(-1), link * (1 - here)
        mutual = link.square() / (
            link.sum(1, keepdim=True) * link.sum(2, keepdim=True) + 1e-6
        )  # less where another one is as like
        best = lambda x: torch.stack([x.amax(2), x.amax(1)], -1)  # [B,R,R] -> [B,R,2]
        inputs = [
            shown,
            shown.flip(-1),
            stays[..., None].expand_as(shown),
            best(link),
            best(mutual),
            best(link * mutual),
        ]
        return self.role(torch.stack(inputs, -1))

    def gone_and_come(self, way: Tensor, link: Tensor, role: Tensor) -> Tensor:
        """way [B,R,R,WAYS], link [B,R,R], role [B,R,2,ROLES] -> [B,R,2*WAYS]: the way of what each glance shows before and after, to or from where it is
        likeliest to be in the other frame (not a mean: half to the left and half to the right is no way); 0 of what has not moved."""
        gone = surest(link)
        come = surest(link.transpose(1, 2)).transpose(1, 2)
        gone, come = gone / gone.sum(2, keepdim=True), come / come.sum(1, keepdim=True)
        each = torch.stack([(gone[..., None] * way).sum(2), (come[..., None] * way).sum(1)], 2)  # [B,R,2,WAYS]
        return (each * role[..., ROLES.index("moved"), None]).flatten(2)

    def forward(
        self,
        things: tuple[Tensor, Tensor, Tensor],
        mask: Tensor,
        evidence: Tensor,
        way: Tensor,
        sides: Tensor,
        look_kind: Tensor | None,
        truth: dict[str, Tensor] | None,
        told: Tensor,
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """things: what the glances show before and after and where, [B,R,D] each; mask [B,R] (1 = used); evidence of `same_thing_evidence`;
        way [B,R,R,WAYS] of `told_way`; sides [B,R,4] (probabilities); look_kind [B,K]: logits of the whole look, for what is believed together; truth: role [B,R,2] (negative where
        unknown) and kind [B]; told [B,R]: 1 where the words may tell of a glance -> to add to each summary [B,R,D] and to each cell [B,R,D], and
        same [B,R,R], role [B,R,2,ROLES], kind [B,K] logits, opening [B,D] (for every word: what the sentence is about) and owed [B,EVENTS] (how many told
        things have come, gone, moved and been replaced)."""
        before, after, place = things
        B, R, D = before.shape
        same = self.same(evidence)[..., 0] + (self.moved_odds if truth is None else 0.0)
        shown, link = self.links(same, sides, mask)
        role_logits = self.roles(shown, link)
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
            role = torch.where(
                known[..., None], F.one_hot(truth["role"].clamp(min=0), len(ROLES)).to(role), surest(role)
            )
            kind = F.one_hot(truth["kind"], len(KINDS)).to(role)

        entered = (
            torch.stack([self.enter(before) + self.frame[0], self.enter(after) + self.frame[1]], 2) + place[:, :, None]
        )
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
        way = self.gone_and_come(way, link, role) * mask[:, :, None]
        only_told = lambda x: (x * told[:, :, None]).flatten(1)
        opening = self.opening(torch.cat([kind, only_told(roles)], 1)) + self.opening_ways(only_told(way))
        logits = {"same_logits": same, "role_logits": role_logits, "kind_logits": kind_logits}
        return (
            related,
            self.told_cells(roles) + self.way_cells(way),
            {**logits, "opening": opening, "owed": owed_by(role * told[:, :, None, None])},
        )


def owed_by(role: Tensor) -> Tensor:
    """role [B,R,2,ROLES] (0 or 1), of the glances that are told of -> [B,EVENTS]: things that a sentence owes a word. What has moved or been replaced is
    in both frames and one thing."""
    before, after = role.sum(1).unbind(1)  # [B,ROLES]
    came_or_went, both = ROLES.index("came or went"), torch.maximum(before, after)
    return torch.stack(
        [
            after[:, came_or_went],
            before[:, came_or_went],
            both[:, ROLES.index("moved")],
            both[:, ROLES.index("replaced")],
        ],
        1,
    )


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
        if self.relations is not None:
            evidence, way = (
                same_thing_evidence(coarse, fine, crop, obj),
                told_way(ways(coarse, fine, crop, obj), obj[:, :, None]),
            )
        coarse, fine = coarse.flatten(0, 1), fine.flatten(0, 1)
        crop, obj = crop.flatten(0, 1), obj.flatten(0, 1)
        inside = inside_box(crop, obj, self.c.glance_grid)[..., None]
        rgb = fine[:, :, -3:]
        if self.training and self.c.glance_dropout > 0:
            coarse, fine = (
                x * F.dropout(torch.ones_like(x[:, :1, :, :1, :1]), self.c.glance_dropout) for x in (coarse, fine)
            )
        b = self.cells(coarse[:, 0], fine[:, 0], inside)  # [B*R,G,D]
        a = self.cells(coarse[:, 1], fine[:, 1], inside)
        place = self.box(
            torch.cat([obj, obj[:, :2] + obj[:, 2:] / 2, obj[:, 2:].clamp(min=1e-3).log() / 4], 1)
        )  # [B*R,D]
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
            related, for_cells, relations = self.relations(
                things, mask, evidence, way, torch.softmax(side_logits, -1), look_kind, truth, told
            )
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
