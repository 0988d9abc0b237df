"""Calibration of a checkpoint on held-out SYNTHETIC pairs (new plates, new models); the development pairs choose nothing.

    python -m training.bundle.calibrate --checkpoint RUN/best.pt --heldout CACHE --out calibration.json

Writes {calibration, hedge, heldout, calibrated_on}, which the manifest carries: Platt scaling of the change logit (Platt 1999: probability = sigmoid(scale * logit + offset)),
the operating points (threshold on the probability by false-alarm rate, with the recall there), the default threshold, and
a threshold for each nuisance, and from which agreement of the features on two frames are taken for the same place. Beside them `hedge`: from which share of the probability on a noun is said and not the wider one; and `heldout`: the figures of it all on
the same pairs.
"""

import argparse
import json
import math

import numpy as np
import torch

from training.checkpoint import load_run
from training.data.batches import Batches, Labels, crop_inputs
from training.heldout import heldout_figures, words_of
from training.inputs import existing_file, existing_folder, new_file
from training.net.captioner import Captioner
from training.net.config import NUISANCES
from training.net.difference import Difference
from training.world import World
from training.worlds import load_world

RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
DEFAULT_RATE = 0.02
PRECISION = 0.9
STRANGE_SHARE = 0.005  # of pairs of one place, changed or not, that may look like two places
NOUN_PRECISION = 0.9  # of "man" and "woman": there are 13 models of each to learn from, and who is told wrong is worse off than with "person"
SHARES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@torch.no_grad()
def beliefs(difference: Difference, data: Batches, batch: int = 50) -> tuple[np.ndarray, ...]:
    """change logits [n], changed [n], nuisance probabilities [n,Q], nuisances [n,Q], `agreement` [n]."""
    rows = []
    for start in range(0, len(data.cache), batch):
        b = data.batch(list(range(start, min(start + batch, len(data.cache)))), np.random.default_rng(0))
        d = difference(b["coarse"][:, 0], b["fine"][:, 0], b["coarse"][:, 1], b["fine"][:, 1], b.get("evidence"))
        alike = torch.from_numpy(agreement(b["coarse"][:, 0].numpy(), b["coarse"][:, 1].numpy()))
        rows.append((d["change_logit"], b["changed"], torch.sigmoid(d["nuisance_logits"]), b["nuisances"], alike))
    return tuple(torch.cat(column).numpy() for column in zip(*rows))


def platt(logits: np.ndarray, changed: np.ndarray) -> tuple[float, float]:
    """Newton steps with backtracking on the log loss, with Platt's smoothed targets (Lin, Lin and Weng, "A note on Platt's
    probabilistic outputs for support vector machines", 2007: without backtracking the steps run away where the classes hardly overlap)."""
    x = torch.tensor(np.stack([logits, np.ones_like(logits)], 1), dtype=torch.float64)
    positives, negatives = changed.sum(), (1 - changed).sum()
    target = torch.tensor(
        np.where(changed > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2)), dtype=torch.float64
    )
    loss = lambda w: torch.nn.functional.binary_cross_entropy_with_logits(x @ w, target, reduction="sum")
    w = torch.zeros(2, dtype=torch.float64)
    for _ in range(100):
        p = torch.sigmoid(x @ w)
        gradient = x.T @ (p - target)
        if gradient.abs().max() < 1e-6:
            break
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-9 * torch.eye(2, dtype=torch.float64)
        step = torch.linalg.solve(hessian, gradient)
        size = next(
            (s for s in 0.5 ** torch.arange(40.0) if loss(w - s * step) < loss(w) - 1e-4 * s * (gradient @ step)), 0.0
        )
        w = w - size * step
    return float(w[0]), float(w[1])


def logit_of(calibration: dict) -> float:
    """The change logit at which the calibrated probability is the default threshold."""
    odds = calibration["threshold"] / (1 - calibration["threshold"])
    return float((np.log(odds) - calibration["change"]["offset"]) / calibration["change"]["scale"])


def above(probability: float) -> float:
    """The lowest number of six digits that is above it: rounded, it could be at or below the pair that it is to leave out."""
    millionths = math.floor(probability * 1e6)
    while millionths / 1e6 <= probability:
        millionths += 1
    return millionths / 1e6


def operating_point(probability: np.ndarray, changed: np.ndarray, rate: float) -> dict[str, float]:
    """The lowest threshold of six digits whose share of unchanged pairs at or above it is at most `rate`, and the recall at just that."""
    quiet = np.sort(probability[changed == 0])[::-1]
    allowed = int(np.floor(rate * len(quiet)))
    threshold = above(float(quiet[allowed])) if allowed < len(quiet) else 0.0
    return {
        "false_alarm_rate": rate,
        "threshold": threshold,
        "recall": round(float((probability[changed > 0] >= threshold).mean()), 4),
    }


def trusted(probability: np.ndarray, present: np.ndarray) -> float:
    """The lowest threshold from 0.5 on at which nine of ten named nuisances are there: a wrong reason is worse than none.

    0.95 where no threshold reaches that.
    """
    if present.all():  # it was never seen to be absent
        return 0.95
    for threshold in np.linspace(0.5, 0.95, 19):
        said = probability >= threshold
        if said.sum() >= 5 and (present[said] > 0).mean() >= PRECISION:
            return round(float(threshold), 3)
    return 0.95


@torch.no_grad()
def fit_hedge(difference: Difference, captioner: Captioner, data: Batches, world: World, batch: int = 50) -> dict:
    """The lowest of SHARES at which nine of ten nouns that have a wider one are right; the table of all of them beside it."""
    if not world.wider_nouns.keys() & set(captioner.c.vocabulary):
        return {"share": 0.0, "table": []}
    changed = [i for i, m in enumerate(data.cache.meta) if m["objects"]]
    inputs = []
    for start in range(0, len(changed), batch):
        indices = changed[start : start + batch]
        b = data.batch(indices, np.random.default_rng(0))
        d = difference(b["coarse"][:, 0], b["fine"][:, 0], b["coarse"][:, 1], b["fine"][:, 1], b.get("evidence"))
        inputs.append(
            (indices, (d["memory"], crop_inputs(b) if captioner.crops is not None else None, d["kind_logits"]))
        )
    table = []
    for share in SHARES:
        captioner.hedge(world.wider_nouns, share)
        right, first_nouns = [], 0
        for indices, seen in inputs:
            ids = captioner.greedy(*seen)["ids"].tolist()
            for index, row in zip(indices, ids):
                judged = world.judge(words_of(row, captioner.c.vocabulary), data.cache.meta[index])
                first_nouns += judged.first_noun is not None
                if judged.first_noun in world.wider_nouns:
                    right.append(judged.literal_noun)
        table.append(
            {
                "share": share,
                "precision": round(float(np.mean(right)) if right else 1.0, 4),
                "specific": round(len(right) / max(1, first_nouns), 4),
            }
        )
    captioner.hedge(world.wider_nouns, 0.0)
    good = [row for row in table if row["precision"] >= NOUN_PRECISION]
    return {"share": (good[0] if good else max(table, key=lambda row: row["precision"]))["share"], "table": table}


def agreement(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Median over the cells of the cosine of both frames' coarse features: [n,C,h,w] x2 -> [n]. Two places share next to nothing."""
    b, a = (x.reshape(*x.shape[:2], -1).astype(np.float32) for x in (before, after))
    norms = np.linalg.norm(b, axis=1) * np.linalg.norm(a, axis=1)
    return np.median((b * a).sum(1) / np.maximum(norms, 1e-6), axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=existing_file, required=True)
    parser.add_argument("--heldout", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--out", type=new_file, required=True)
    parser.add_argument(
        "--rate", type=float, choices=RATES, default=DEFAULT_RATE, help="of false alarms, at the default threshold"
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    difference, captioner, saved = load_run(args.checkpoint)
    world = load_world(saved["config"]["world"])
    data = Batches(world.open_cache(args.heldout, forward=True), Labels(**saved["labels"]), captioner.c)
    logits, changed, probabilities, nuisances, alike = beliefs(difference, data)
    scale, offset = (
        round(v, 6) for v in platt(logits, changed)
    )  # as the manifest has them, so that thresholds are of what is served
    p = 1 / (1 + np.exp(-(scale * logits + offset)))
    points = [operating_point(p, changed, rate) for rate in RATES]
    calibration = {
        "change": {"scale": scale, "offset": offset},
        "threshold": next(point["threshold"] for point in points if point["false_alarm_rate"] == args.rate),
        "operating_points": points,
        "least_agreement": round(float(np.quantile(alike, STRANGE_SHARE)), 4),
        "nuisances": {name: trusted(probabilities[:, i], nuisances[:, i]) for i, name in enumerate(NUISANCES)},
    }
    source = {
        "source": "held-out synthetic pairs",
        "changed": int(changed.sum()),
        "unchanged": int((1 - changed).sum()),
    }
    hedge = fit_hedge(difference, captioner, data, world)
    captioner.hedge(world.wider_nouns, hedge["share"])
    figures = heldout_figures(difference, captioner, data, world, threshold=logit_of(calibration))
    out = {"calibration": calibration, "hedge": hedge, "heldout": figures, "calibrated_on": source}
    args.out.write_text(json.dumps(out, indent=1) + "\n")
    print(json.dumps(out))


if __name__ == "__main__":
    main()
