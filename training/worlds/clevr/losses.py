"""Terms that only the CLEVR twin has the truth for: what each token shows, and which tokens of the two frames show the same object."""

import torch
import torch.nn.functional as F
from torch import Tensor

from training.worlds.clevr.model import READ

SHOWN = 3 / 16  # share of a token from which on it counts as showing an object


def token_slots(slots: Tensor, grid: tuple[int, int], most: int) -> tuple[Tensor, Tensor]:
    """Samples of which object is seen, [B,4r,4c] (-1 none) -> the object that each token shows most (-1: less than SHOWN), and the share
    of the token that objects cover: [B,r*c] both."""
    one_hot = F.one_hot(slots + 1, most + 1)[..., 1:].permute(0, 3, 1, 2).float()  # [B,most,4r,4c]
    share = F.avg_pool2d(one_hot, slots.shape[1] // grid[0]).flatten(2)  # [B,most,N]
    largest, slot = share.max(1)
    return torch.where(largest >= SHOWN, slot, -1), share.sum(1)


def read_loss(read: Tensor, slot: Tensor, share: Tensor, things: Tensor, places: Tensor) -> Tensor:
    """read [B,N,1+P+2]; things [B,K,4] classes in the order of READ, places [B,K,2]; of one frame."""
    shows = F.binary_cross_entropy_with_logits(read[..., 0], (2 * share).clamp(max=1))
    b, n = (slot >= 0).nonzero(as_tuple=True)
    k, seen = slot[b, n], read[b, n, 1:]
    total = 4 * shows + 4 * F.smooth_l1_loss(seen[:, -2:], places[b, k], beta=0.1)
    parts = seen[:, :-2].split(list(READ.values()), 1)
    return total + sum(F.cross_entropy(part, things[b, k, i]) for i, part in enumerate(parts))


def match_loss(logits: Tensor, slot_from: Tensor, slot_to: Tensor, partner: Tensor) -> Tensor:
    """Attention of each token on an object must lie on tokens of the same object in the other frame, wherever that is.

    logits [B,K,K], slots [B,K] of the kept tokens, partner [B,most]: an object's number in the other frame, -1 if it isn't there.
    """
    wanted = torch.where(slot_from >= 0, partner.gather(1, slot_from.clamp(min=0)), -1)  # [B,K]
    right = (slot_to[:, None] == wanted[..., None]) & (wanted >= 0)[..., None]  # [B,K,K]
    use = right.any(2)
    share = torch.log_softmax(logits, 2).masked_fill(~right, -1e4).logsumexp(2)
    return -share[use].mean() if use.any() else logits.sum() * 0


def moving_losses(d: dict, b: dict[str, Tensor], grid: tuple[int, int]) -> dict[str, Tensor]:
    """d: outputs of MovingDifference in training, b: a batch of clevr_data, pairs and then the same pairs reversed."""
    pairs = len(d["read"][0])
    b = {name: b[name][:pairs] for name in ("slots", "things", "places", "partner")}
    truth = [token_slots(b["slots"][:, s], grid, b["things"].shape[2]) for s in (0, 1)]
    read = sum(read_loss(d["read"][s], *truth[s], b["things"][:, s], b["places"][:, s]) for s in (0, 1)) / 2
    if "kept" not in d:
        return {"read": read}
    kept = [slot.gather(1, k) for (slot, _), k in zip(truth, d["kept"])]
    each = [
        match_loss(logits, kept[i % 2], kept[1 - i % 2], b["partner"][:, i % 2])
        for i, logits in enumerate(d["matching"])
    ]
    return {"read": read, "match": torch.stack(each).mean()}


def reading_losses(difference, b: dict[str, Tensor]) -> dict[str, Tensor]:
    """Single frames alone, a sixth of a step's cost: before a model can read objects there is nothing to match (`train.read_first`)."""
    read = [difference.read(difference.tokens(b["coarse"][:, s], b["fine"][:, s])) for s in (0, 1)]
    return moving_losses({"read": read}, b, difference.c.token_grid)
