"""The terms of the training loss: one function per term, each returning a scalar. Their weights are in the config.

Letters: B pairs, T caption slots, V words, R region crops, h x w the map grid.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from training.contract import IGNORE, PAD, crop_inputs, difference_inputs
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.net.cross_view import BackwardReasoning, contrastive_loss
from training.net.difference import Difference


def map_loss(logits: Tensor, coverage: Tensor) -> Tensor:
    """Balanced cross-entropy plus soft Dice of one side's map: logits and coverage (0..1) [B,h,w].

    A far person covers part of one cell, so a cell counts fully from half coverage on. Dice is over the maps that
    contain a change; cross-entropy alone keeps the other maps empty.
    """
    target = (2 * coverage).clamp(max=1)
    each = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    weight = 1 + 4 * target
    bce = (each * weight).mean((1, 2)).mean()
    p = torch.sigmoid(logits)
    has = (target.amax((1, 2)) > 0.3).float()
    dice = 1 - (2 * (p * target).sum((1, 2)) + 1) / (p.sum((1, 2)) + target.sum((1, 2)) + 1)
    return 4 * bce + (dice * has).sum() / has.sum().clamp(min=1)


def caption_loss(logits: Tensor, ids: Tensor, smoothing: float) -> Tensor:
    """Mean over real words; logits [B,T,V], ids [B,T+1] with START first."""
    target = ids[:, 1:].masked_fill(ids[:, 1:] == PAD, IGNORE)
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, label_smoothing=smoothing)


def class_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy over the targets that are known; 0 if a batch has none."""
    known = target != IGNORE
    return F.cross_entropy(logits[known], target[known]) if known.any() else logits.sum() * 0


def all_losses(
    difference: Difference,
    captioner: Captioner,
    cbr: BackwardReasoning,
    b: dict[str, Tensor],
    smoothing: float,
    extra_losses: Callable[[dict, dict[str, Tensor], ModelConfig], dict[str, Tensor]],
    learn_maps: bool = True,
) -> dict[str, Tensor]:
    d = difference(*difference_inputs(b), learn_maps)
    crops = crop_inputs(b)
    logits, hidden, seen = captioner(d["memory"], crops, b["ids"][:, :-1], b)
    words = (b["ids"][:, :-1] != PAD).float()
    terms = {
        "caption": caption_loss(logits, b["ids"], smoothing),
        "map": map_loss(d["logits_before"], b["masks"][:, 0]) + map_loss(d["logits_after"], b["masks"][:, 1]),
        "change": F.binary_cross_entropy_with_logits(d["change_logit"], b["changed"]),
        "kind": F.cross_entropy(d["kind_logits"], b["kind"]),
        "nuisance": F.binary_cross_entropy_with_logits(d["nuisance_logits"], b["nuisances"]),
        "contrast": contrastive_loss(difference.layers[-1], *d["matched"], difference.c),
        "cbr": cbr(*d["tokens"], hidden, words),
    }
    terms |= extra_losses(d, b, difference.c)
    if seen:
        terms["side"] = class_loss(seen["side_logits"], b["side"])
        terms["noun"] = class_loss(seen["noun_logits"], b["noun"])
        terms["colour"] = class_loss(seen["colour_logits"], b["colour"])
    if "kind_logits" in seen:
        terms["crops_kind"] = F.cross_entropy(seen["kind_logits"], b["kind"])
        terms["role"] = class_loss(seen["role_logits"], b["role"].masked_fill(b["glance_mask"][..., None] == 0, IGNORE))
        known = b["same"] != IGNORE
        terms["same"] = (
            F.binary_cross_entropy_with_logits(seen["same_logits"][known], b["same"][known].float())
            if known.any()
            else seen["same_logits"].sum() * 0
        )
    return terms
