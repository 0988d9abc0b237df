"""Losses of ground truth that only the CLEVR world has: the object of each token, and matching tokens."""

import torch
import torch.nn.functional as F
from torch import Tensor

from research.clevr.model import ATTRIBUTE_CLASSES

MIN_SHARE = 3 / 16  # of a token: from this share on it counts as showing an object


def token_slots(slots: Tensor, grid: tuple[int, int], count: int) -> tuple[Tensor, Tensor]:
    """Object map [B,4r,4c] (-1 none) -> slot of the largest object in each token, and the share that objects cover.

    Both are [B,r*c]; `grid` is (r, c), `count` the number of slots. The slot is -1 below MIN_SHARE.
    """
    one_hot = F.one_hot(slots + 1, count + 1)[..., 1:].permute(0, 3, 1, 2).float()  # [B,count,4r,4c]
    share = F.avg_pool2d(one_hot, slots.shape[1] // grid[0]).flatten(2)  # [B,count,N]
    largest, slot = share.max(1)
    return torch.where(largest >= MIN_SHARE, slot, -1), share.sum(1)


def reading_loss(read: Tensor, slot: Tensor, share: Tensor, classes: Tensor, positions: Tensor) -> Tensor:
    """Loss of one frame's readings `read` [B,N,1+P+2] (see model.MovingDifference) against slot and share [B,N].

    classes [B,K,4] (in the order of ATTRIBUTE_CLASSES) and positions [B,K,2] are those of the objects.
    """
    shows = F.binary_cross_entropy_with_logits(read[..., 0], (2 * share).clamp(max=1))
    b, n = (slot >= 0).nonzero(as_tuple=True)
    k, seen = slot[b, n], read[b, n, 1:]
    total = 4 * shows + 4 * F.smooth_l1_loss(seen[:, -2:], positions[b, k], beta=0.1)
    parts = seen[:, :-2].split(list(ATTRIBUTE_CLASSES.values()), 1)
    return total + sum(F.cross_entropy(part, classes[b, k, i]) for i, part in enumerate(parts))


def match_loss(logits: Tensor, slot_from: Tensor, slot_to: Tensor, partner: Tensor) -> Tensor:
    """Negative log of the attention that a token puts on tokens of the same object in the other frame.

    logits [B,K,K] and slots [B,K] are those of the kept tokens; partner [B,count]: slot in the other frame, or -1.
    Tokens without a match are ignored.
    """
    wanted = torch.where(slot_from >= 0, partner.gather(1, slot_from.clamp(min=0)), -1)  # [B,K]
    right = (slot_to[:, None] == wanted[..., None]) & (wanted >= 0)[..., None]  # [B,K,K]
    use = right.any(2)
    share = torch.log_softmax(logits, 2).masked_fill(~right, -1e4).logsumexp(2)
    return -share[use].mean() if use.any() else logits.sum() * 0


def moving_camera_losses(d: dict, b: dict[str, Tensor], grid: tuple[int, int]) -> dict[str, Tensor]:
    """Terms `read` and `match`. d: outputs of MovingDifference; b: batch of FamilyCache, pairs and then their reverses.

    Without matching in `d`, only `read`.
    """
    pairs = len(d["read"][0])
    b = {name: b[name][:pairs] for name in ("slots", "classes", "positions", "partner")}
    truth = [token_slots(b["slots"][:, s], grid, b["classes"].shape[2]) for s in (0, 1)]
    read = sum(reading_loss(d["read"][s], *truth[s], b["classes"][:, s], b["positions"][:, s]) for s in (0, 1)) / 2
    if "kept" not in d:
        return {"read": read}
    kept = [slot.gather(1, k) for (slot, _), k in zip(truth, d["kept"])]
    each = [
        match_loss(logits, kept[i % 2], kept[1 - i % 2], b["partner"][:, i % 2])
        for i, logits in enumerate(d["matching"])
    ]
    return {"read": read, "match": torch.stack(each).mean()}


def frame_losses(difference, b: dict[str, Tensor]) -> dict[str, Tensor]:
    """The term `read` alone, at a sixth of the cost of a step.

    For the first `train.read_first` steps: matching needs tokens that read objects.
    """
    read = [difference.read(difference.tokens(b["coarse"][:, s], b["fine"][:, s])) for s in (0, 1)]
    return moving_camera_losses({"read": read}, b, difference.c.token_grid)
