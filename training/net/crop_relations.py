"""Relates the region crops of a pair: which show the same object, what happened to each, and the kind of the change.

Two crops separate "moved" from "one disappeared, another appeared"; one crop cannot. The decision rests on evidence
without parameters (crop_evidence.py): a network that was free to learn classified 99.8 % of its training pairs and 83 %
of new ones. Few parameters lead from the evidence to the role of each object and from the roles to the kind. The words
are trained on the true roles and kind, so that they follow these at inference, where the roles are the likeliest that
the kind allows.

Letters: B pairs, R region crops of a pair, D width, K kinds, F displacement features, E events. Frame axis: before,
after.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.contract import KINDS, ROLES, ROLES_OF_KIND
from training.net.attention import join_heads, split_heads
from training.net.config import ModelConfig
from training.net.crop_evidence import DISPLACEMENT_FEATURES, SAME_CENTRE


def hard_argmax(x: Tensor) -> Tensor:
    """1 at the largest of the last dimension, else 0."""
    return (x == x.amax(-1, keepdim=True)).to(x)


def largest_of_rows_and_columns(x: Tensor) -> Tensor:
    """[B,R,R] -> [B,R,2]."""
    return torch.stack([x.amax(2), x.amax(1)], -1)


def count_events(role: Tensor) -> Tensor:
    """Coverage counts: how many objects a sentence must report per event.

    role [B,R,2,ROLES] of 0 and 1, in the crops that the sentence describes -> [B,E]. An object that moved or was
    replaced is in both frames and counts once.
    """
    before, after = role.sum(1).unbind(1)  # [B,ROLES]
    came_or_went, both = ROLES.index("came or went"), torch.maximum(before, after)
    moved, replaced = both[:, ROLES.index("moved")], both[:, ROLES.index("replaced")]
    return torch.stack([after[:, came_or_went], before[:, came_or_went], moved, replaced], 1)


class CropRelations(nn.Module):
    def __init__(self, c: ModelConfig):
        super().__init__()
        D, self.heads, self.same_object_bias = c.width, c.heads, c.same_object_bias
        self.same = nn.Sequential(nn.Linear(len(SAME_CENTRE), 16), nn.ReLU(), nn.Linear(16, 1))
        self.role = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, len(ROLES)))
        self.kind = nn.Sequential(nn.Linear(4 * (len(ROLES) - 1), 32), nn.ReLU(), nn.Linear(32, len(KINDS)))
        self.enter = nn.Linear(D, D)
        self.frame = nn.Parameter(torch.randn(2, D) * 0.02)
        self.qkv = nn.Linear(D, 3 * D)
        self.partner = nn.Parameter(torch.ones(c.heads))  # attention to what may be the same object in the other frame
        self.ffn = nn.Sequential(nn.Linear(D, D), nn.GELU(), nn.Linear(D, D), nn.Dropout(c.dropout))
        self.norms = nn.ModuleList([nn.LayerNorm(D, eps=1e-6) for _ in range(2)])
        self.leave = nn.Linear(2 * D, D)
        self.kind_to_summary = nn.Linear(len(KINDS), D)
        self.roles_to_summary = nn.Linear(2 * len(ROLES), D)
        self.roles_to_cells = nn.Linear(2 * len(ROLES), D)
        self.to_conditioning = nn.Linear(len(KINDS) + c.regions * 2 * len(ROLES), D)
        self.displacements_to_conditioning = nn.Linear(c.regions * 2 * DISPLACEMENT_FEATURES, D)
        self.displacements_to_cells = nn.Linear(2 * DISPLACEMENT_FEATURES, D)
        allowed = [
            [[role == "nothing" or role in frame for role in ROLES] for frame in ROLES_OF_KIND[kind]] for kind in KINDS
        ]
        self.register_buffer("allowed", torch.tensor(allowed, dtype=torch.float32), persistent=False)  # [K,2,ROLES]
        for last in self.outputs():  # zero, so that training starts as if these layers were not there
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def outputs(self) -> list[nn.Linear]:
        """The layers through which this module reaches the decoder."""
        return [
            self.leave,
            self.kind_to_summary,
            self.roles_to_summary,
            self.roles_to_cells,
            self.to_conditioning,
            self.displacements_to_conditioning,
            self.displacements_to_cells,
        ]

    def links(self, same: Tensor, sides: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """same [B,R,R] (logits), sides [B,R,4] (probabilities in the order of CROP_SIDES), mask [B,R] (1 = used)
        -> probability that a crop shows an object in a frame [B,R,2], and that the object of crop i before is that of
        crop j after [B,R,R]."""
        shown = torch.stack([sides[..., 0] + sides[..., 2], sides[..., 1] + sides[..., 2]], -1) * mask[..., None]
        return shown, torch.sigmoid(same) * shown[:, :, None, 0] * shown[:, None, :, 1]

    def roles(self, shown: Tensor, link: Tensor) -> Tensor:
        """[B,R,2] and [B,R,R] of `links` -> logits [B,R,2,ROLES]."""
        same_crop = torch.eye(shown.shape[1], device=shown.device)
        stays, link = (link * same_crop).sum(-1), link * (1 - same_crop)  # [B,R], [B,R,R]
        # Less than link if another crop is as alike: a link counts fully only if it is the only one on both sides.
        mutual = link.square() / (link.sum(1, keepdim=True) * link.sum(2, keepdim=True) + 1e-6)  # [B,R,R]
        inputs = [
            shown,
            shown.flip(-1),
            stays[..., None].expand_as(shown),
            largest_of_rows_and_columns(link),
            largest_of_rows_and_columns(mutual),
            largest_of_rows_and_columns(link * mutual),
        ]
        return self.role(torch.stack(inputs, -1))  # [B,R,2,6] -> [B,R,2,ROLES]

    def moved_features(self, features: Tensor, link: Tensor, role: Tensor) -> Tensor:
        """Displacement features of the object of each crop before and after; 0 for an object that did not move.

        features [B,R,R,F], link [B,R,R], role [B,R,2,ROLES] -> [B,R,2*F]. They are those of the likeliest partner, not
        a mean: half to the left and half to the right is no displacement.
        """
        to = hard_argmax(link)  # [B,R,R]
        origin = hard_argmax(link.transpose(1, 2)).transpose(1, 2)  # [B,R,R]
        to, origin = to / to.sum(2, keepdim=True), origin / origin.sum(1, keepdim=True)
        each = torch.stack([(to[..., None] * features).sum(2), (origin[..., None] * features).sum(1)], 2)  # [B,R,2,F]
        return (each * role[..., ROLES.index("moved"), None]).flatten(2)

    def attend(self, before: Tensor, after: Tensor, place: Tensor, same: Tensor, mask: Tensor) -> Tensor:
        """Attention among all objects of both frames: [B,R,D] x3, same [B,R,R], mask [B,R] -> per crop [B,R,2D]."""
        B, R, D = before.shape
        frames = [self.enter(before) + self.frame[0], self.enter(after) + self.frame[1]]
        entered = torch.stack(frames, 2) + place[:, :, None]  # [B,R,2,D]
        x = entered.transpose(1, 2).reshape(B, 2 * R, D)  # [B,R,2,D] -> [B,2R,D], the before frame first
        used = torch.cat([mask, mask], 1)  # [B,2R]
        zero = torch.zeros_like(same)
        across = torch.cat([torch.cat([zero, same], 2), torch.cat([same.transpose(1, 2), zero], 2)], 1)  # [B,2R,2R]
        bias = (used[:, None, None] - 1) * 10_000 + across[:, None] * self.partner[:, None, None]  # [B,H,2R,2R]
        q, k, v = (split_heads(t, self.heads) for t in self.qkv(x).chunk(3, -1))  # [B,H,2R,d]
        x = self.norms[0](x + join_heads(torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias, -1) @ v))
        x = self.norms[1](x + self.ffn(x)) * used[:, :, None]  # [B,2R,D]
        return torch.cat(x.chunk(2, 1), -1)

    def forward(
        self,
        objects: tuple[Tensor, Tensor, Tensor],
        mask: Tensor,
        evidence: Tensor,
        displacement: Tensor,
        sides: Tensor,
        frame_kind: Tensor | None,
        truth: dict[str, Tensor] | None,
        described: Tensor,
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """objects: content of the crops before and after, and their place, [B,R,D] each; mask [B,R] (1 = used);
        evidence [B,R,R,13] of `same_object_evidence`; displacement [B,R,R,F] of `displacement_features`; sides [B,R,4]
        (probabilities); frame_kind [B,K]: kind logits of the full frame, added to those of the crops; truth: role
        [B,R,2] (negative if unknown) and kind [B], in training; described [B,R]: 1 if the words may describe a crop.

        Returns the terms to add to each crop's summary token [B,R,D] and to each of its cells [B,R,D], and same_logits
        [B,R,R], role_logits [B,R,2,ROLES], kind_logits [B,K], conditioning [B,D] (the subject of the sentence, added to
        every word), uncovered [B,E] (`count_events` of the described crops).
        """
        before, after, place = objects
        B = before.shape[0]
        same = self.same(evidence)[..., 0] + (self.same_object_bias if truth is None else 0.0)  # [B,R,R]
        shown, link = self.links(same, sides, mask)
        role_logits = self.roles(shown, link)
        role = torch.softmax(role_logits, -1)  # [B,R,2,ROLES]
        used = mask[:, :, None, None]
        count = mask.sum(1)[:, None, None].clamp(min=1)
        likely = (role * used)[..., 1:]  # [B,R,2,ROLES-1], without "nothing"
        kind_logits = self.kind(torch.cat([likely.amax(1), likely.sum(1) / count], -1).flatten(1))  # [B,K]
        if truth is None:
            kind_logits = kind_logits if frame_kind is None else kind_logits + frame_kind
            kind = F.pad(hard_argmax(kind_logits[:, 1:]), (1, 0))  # not "none": crops exist only if something changed
            role = hard_argmax(role * (kind @ self.allowed.flatten(1)).reshape(B, 1, 2, -1))
        else:
            known = truth["role"] >= 0  # [B,R,2]
            true_role = F.one_hot(truth["role"].clamp(min=0), len(ROLES)).to(role)
            role = torch.where(known[..., None], true_role, hard_argmax(role))
            kind = F.one_hot(truth["kind"], len(KINDS)).to(role)

        roles = (role * used).flatten(2)  # [B,R,2*ROLES]
        attended = self.leave(self.attend(before, after, place, same, mask))  # [B,R,D]
        for_summary = attended + self.kind_to_summary(kind)[:, None] + self.roles_to_summary(roles)
        moved = self.moved_features(displacement, link, role) * mask[:, :, None]  # [B,R,2*F]
        for_cells = self.roles_to_cells(roles) + self.displacements_to_cells(moved)
        described_roles, described_moves = ((x * described[:, :, None]).flatten(1) for x in (roles, moved))
        conditioning = self.to_conditioning(torch.cat([kind, described_roles], 1))
        conditioning = conditioning + self.displacements_to_conditioning(described_moves)
        return (
            for_summary,
            for_cells,
            {
                "same_logits": same,
                "role_logits": role_logits,
                "kind_logits": kind_logits,
                "conditioning": conditioning,
                "uncovered": count_events(role * described[:, :, None, None]),
            },
        )
