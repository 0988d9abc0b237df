"""Figures on cached held-out synthetic pairs, by facts: the caption is parsed back into slots and held to the truth."""

import numpy as np
import torch

from training.data.batches import Batches, crop_inputs
from training.net.captioner import Captioner
from training.net.config import END, PAD
from training.net.difference import Difference
from training.world import World


def words_of(ids: list[int], vocabulary: list[str]) -> str:
    return " ".join(vocabulary[i] for i in ids if i not in (PAD, END))


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Mann-Whitney: probability that a changed pair scores above an unchanged one; ties count half."""
    order = scores.argsort()
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores):
        tie = scores == value
        ranks[tie] = ranks[tie].mean()
    p, n = positive.sum(), (~positive).sum()
    return float((ranks[positive].sum() - p * (p + 1) / 2) / (p * n)) if p and n else float("nan")


@torch.no_grad()
def heldout_figures(
    difference: Difference, captioner: Captioner, data: Batches, world: World, batch: int = 50, threshold: float = 0.0
) -> dict[str, float]:
    """Glances are the cache's (at the true boxes or where a map fires: cache.py); the full serving path is evaluate.py's. threshold: of the change logit."""
    vocabulary, device = data.config.vocabulary, next(difference.parameters()).device
    scores, changed, kinds, facts, places, peaks, empty = [], [], [], [], [], [], []
    for start in range(0, len(data.cache), batch):
        indices = list(range(start, min(start + batch, len(data.cache))))
        b = {name: value.to(device) for name, value in data.batch(indices, np.random.default_rng(0)).items()}
        d = difference(b["coarse"][:, 0], b["fine"][:, 0], b["coarse"][:, 1], b["fine"][:, 1], b.get("evidence"))
        said = captioner.greedy(d["memory"], crop_inputs(b) if captioner.crops is not None else None, d["kind_logits"])
        scores.append(d["change_logit"].cpu().numpy())
        changed.append(b["changed"].cpu().numpy() > 0)
        kind = 1 + said.get("kind_logits", d["kind_logits"])[:, 1:].argmax(
            1
        )  # as served: "none" is the change head's to say
        kinds.append((torch.where(d["change_logit"] > threshold, kind, 0) == b["kind"]).cpu().numpy())
        for i, index in enumerate(indices):
            meta = data.cache.meta[index]
            caption = words_of(said["ids"][i].tolist(), vocabulary)
            judged = world.judge(caption, meta)
            for s, name in enumerate(("map_before", "map_after")):
                mask, predicted = b["masks"][i, s], d[name][i]
                if mask.max() > 0.2:
                    peaks.append(bool(mask.flatten()[predicted.argmax()] > 0.05))
                elif not meta["objects"]:
                    empty.append(bool(predicted.max() < 0.5))
            if meta["objects"]:
                facts.append((judged.action, judged.noun, judged.colour))
                if judged.place is not None:
                    places.append(judged.place)
    s, c = np.concatenate(scores), np.concatenate(changed)
    action, noun, colour = (float(v) for v in np.mean(facts, 0))
    out = {
        "auroc": auroc(s, c),
        "verdict": float(((s > threshold) == c).mean()),
        "kind": float(np.concatenate(kinds).mean()),
        "action": action,
        "noun": noun,
        "colour": colour,
        "pointing": float(np.mean(peaks)),
        "empty": float(np.mean(empty)),
    }
    if places:
        out["place"] = float(np.mean(places))
    out["score"] = (
        out["verdict"] + out["action"] + out["noun"] + 0.5 * (out["colour"] + out.get("place", 0.0)) + out["pointing"]
    )
    return {k: round(v, 4) for k, v in out.items()}
