"""Figures on cached held-out synthetic pairs, by facts: each caption is parsed back and compared with the truth.

Region crops are those of the cache (at the true boxes or where maps respond, see training.data.cache). The service's
own path, on real pairs, is measured by training.evaluate.
"""

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from training.contract import END, PAD, crop_inputs, difference_inputs
from training.data.batches import Batches
from training.net.captioner import Captioner
from training.net.difference import Difference
from training.world import World

SEEN_COVERAGE = 0.2  # coverage of its best cell from which a change counts as visible in a map
HIT_COVERAGE = 0.05  # coverage of a cell at which the map's peak counts as a hit
EMPTY_BELOW = 0.5  # maximum of the map of an unchanged pair


def words_of(ids: list[int], vocabulary: list[str]) -> str:
    return " ".join(vocabulary[i] for i in ids if i not in (PAD, END))


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """NaN if there is only one class."""
    return float(roc_auc_score(positive, scores)) if positive.any() and not positive.all() else float("nan")


@torch.no_grad()
def heldout_figures(
    difference: Difference,
    captioner: Captioner,
    data: Batches,
    world: World,
    batch: int = 50,
    threshold: float = 0.0,
) -> dict[str, float]:
    """Rates in 0..1 over the pairs to which they apply, and their weighted sum, `score`. threshold: of the change
    logit.

    verdict, kind: over all pairs; action, noun, colour, place: `Judgement` of the first clause, over changed pairs;
    pointing: the peak of each map lies in the change; empty: maps of unchanged pairs are.
    """
    device = next(difference.parameters()).device
    scores, changed, kinds, facts, places, peaks, empty = [], [], [], [], [], [], []
    for start in range(0, len(data.cache), batch):
        indices = list(range(start, min(start + batch, len(data.cache))))
        b = data.batch(indices, np.random.default_rng(0), device)
        d = difference(*difference_inputs(b))
        crops = crop_inputs(b)
        written = captioner.greedy(d["memory"], crops, d["kind_logits"])
        scores.append(d["change_logit"].cpu().numpy())
        changed.append(b["changed"].cpu().numpy() > 0)
        kind = 1 + written.get("kind_logits", d["kind_logits"])[:, 1:].argmax(
            1
        )  # as served: the change head says "none"
        kinds.append((torch.where(d["change_logit"] > threshold, kind, 0) == b["kind"]).cpu().numpy())
        for i, index in enumerate(indices):
            meta = data.cache.meta[index]
            for s, name in enumerate(("map_before", "map_after")):
                mask, predicted = b["masks"][i, s], d[name][i]
                if mask.max() > SEEN_COVERAGE:
                    peaks.append(bool(mask.flatten()[predicted.argmax()] > HIT_COVERAGE))
                elif not meta["objects"]:
                    empty.append(bool(predicted.max() < EMPTY_BELOW))
            if meta["objects"]:
                judged = world.judge(words_of(written["ids"][i].tolist(), data.config.vocabulary), meta)
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
    secondary = 0.5 * (out["colour"] + out.get("place", 0.0))
    out["score"] = out["verdict"] + out["action"] + out["noun"] + secondary + out["pointing"]
    return {k: round(v, 4) for k, v in out.items()}
