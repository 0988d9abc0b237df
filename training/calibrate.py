"""Calibration of a checkpoint on held-out SYNTHETIC pairs (new plates, new models); the development pairs choose nothing.

    python -m training.calibrate --checkpoint RUN/best.pt --heldout CACHE --out calibration.json

Writes {calibration, calibrated_on}, which the manifest carries: Platt scaling of the change logit (Platt 1999: probability = sigmoid(scale * logit + offset)),
the operating points (threshold on the probability by false-alarm rate, with the recall there), the default threshold, and
a threshold for each nuisance.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from training.data import Batches, Labels, PairCache
from training.model import NUISANCES, Difference
from training.serve import load_run

RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
DEFAULT_RATE = 0.02
PRECISION = 0.9


@torch.no_grad()
def logits_of(difference: Difference, data: Batches, batch: int = 50) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """change logits [n], changed [n], nuisance probabilities [n,Q], nuisances [n,Q]."""
    rows = []
    for start in range(0, len(data.cache), batch):
        b = data.batch(list(range(start, min(start + batch, len(data.cache)))), np.random.default_rng(0))
        d = difference(b["coarse"][:, 0], b["fine"][:, 0], b["coarse"][:, 1], b["fine"][:, 1], b["evidence"])
        rows.append((d["change_logit"], b["changed"], torch.sigmoid(d["nuisance_logits"]), b["nuisances"]))
    return tuple(torch.cat(column).numpy() for column in zip(*rows))


def platt(logits: np.ndarray, changed: np.ndarray) -> tuple[float, float]:
    """Newton steps on the log loss, with Platt's smoothed targets."""
    x = torch.tensor(np.stack([logits, np.ones_like(logits)], 1), dtype=torch.float64)
    positives, negatives = changed.sum(), (1 - changed).sum()
    target = torch.tensor(np.where(changed > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2)), dtype=torch.float64)
    w = torch.tensor([1.0, 0.0], dtype=torch.float64)
    for _ in range(50):
        p = torch.sigmoid(x @ w)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-6 * torch.eye(2, dtype=torch.float64)
        w = w - torch.linalg.solve(hessian, x.T @ (p - target))
    return float(w[0]), float(w[1])


def operating_point(probability: np.ndarray, changed: np.ndarray, rate: float) -> dict[str, float]:
    """The lowest threshold whose share of unchanged pairs at or above it is at most `rate`."""
    quiet = np.sort(probability[changed == 0])[::-1]
    allowed = int(np.floor(rate * len(quiet)))
    threshold = float(np.nextafter(quiet[allowed], 2)) if allowed < len(quiet) else 0.0
    return {"false_alarm_rate": rate, "threshold": round(threshold, 6), "recall": round(float((probability[changed > 0] >= threshold).mean()), 4)}


def trusted(probability: np.ndarray, present: np.ndarray) -> float:
    """The lowest threshold from 0.5 on at which nine of ten named nuisances are there: a wrong reason is worse than none.

    0.95 where no threshold reaches that.
    """
    for threshold in np.linspace(0.5, 0.95, 19):
        said = probability >= threshold
        if said.sum() >= 5 and (present[said] > 0).mean() >= PRECISION:
            return round(float(threshold), 3)
    return 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--heldout", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    difference, captioner, saved = load_run(args.checkpoint)
    data = Batches(PairCache(args.heldout), Labels(**saved["labels"]), captioner.c)
    logits, changed, probabilities, nuisances = logits_of(difference, data)
    scale, offset = platt(logits, changed)
    p = 1 / (1 + np.exp(-(scale * logits + offset)))
    points = [operating_point(p, changed, rate) for rate in RATES]
    calibration = {
        "change": {"scale": round(scale, 6), "offset": round(offset, 6)},
        "threshold": next(point["threshold"] for point in points if point["false_alarm_rate"] == DEFAULT_RATE),
        "operating_points": points,
        "nuisances": {name: trusted(probabilities[:, i], nuisances[:, i]) for i, name in enumerate(NUISANCES)},
    }
    source = {"source": "held-out synthetic pairs", "changed": int(changed.sum()), "unchanged": int((1 - changed).sum())}
    out = {"calibration": calibration, "calibrated_on": source}
    args.out.write_text(json.dumps(out, indent=1) + "\n")
    print(json.dumps(out))


if __name__ == "__main__":
    main()
