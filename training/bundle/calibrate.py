"""Calibrates a checkpoint on held-out SYNTHETIC pairs (new plates, new models); the development pairs choose nothing.

    python -m training.bundle calibrate --checkpoint RUN/best.pt --heldout CACHE --out calibration.json

Writes for the manifest:
  calibration    Platt scaling of the change logit; operating points (threshold by false-alarm rate, with its recall);
                 the default threshold; a threshold per nuisance; the agreement of features below which two frames
                 show different places
  hedge          the fraction of the probability from which a specific noun is written instead of its wider noun
  heldout        figures of all of it on the same pairs
  calibrated_on  the number of pairs
"""

import argparse
import json
import math

import numpy as np
import torch

from training.contract import NUISANCES, crop_inputs, difference_inputs
from training.data.batches import Batches, Labels
from training.inputs import existing_file, existing_folder, new_file
from training.learn.checkpoint import load_run
from training.learn.heldout import heldout_figures, words_of
from training.learn.logistic import fit_logistic, logit, sigmoid
from training.net.captioner import Captioner
from training.net.difference import Difference
from training.world import World, load_world

RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)  # of false alarms
DEFAULT_RATE = 0.02
LEAST_SCALE = 1e-6  # the manifest takes no scale of 0
NUISANCE_PRECISION = 0.9
LEAST_NAMED = 5  # pairs above a nuisance's threshold that its precision must rest on
HIGHEST_NUISANCE_THRESHOLD = 0.95
DIFFERENT_PLACE_RATE = 0.005  # of pairs of one place, changed or not, that may count as two places
# Precision of "man" and "woman": there are 13 models of each, and a wrong one is worse for the reader than "person".
NOUN_PRECISION = 0.9
HEDGE_SHARES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@torch.no_grad()
def predictions(difference: Difference, data: Batches, batch: int = 50) -> tuple[np.ndarray, ...]:
    """Change logits [n], changed [n], nuisance probabilities [n,Q], nuisances [n,Q], `agreement` [n]."""
    rows = []
    for start in range(0, len(data.cache), batch):
        b = data.batch(list(range(start, min(start + batch, len(data.cache)))), np.random.default_rng(0))
        d = difference(*difference_inputs(b))
        alike = torch.from_numpy(agreement(b["coarse"][:, 0].numpy(), b["coarse"][:, 1].numpy()))
        rows.append((d["change_logit"], b["changed"], torch.sigmoid(d["nuisance_logits"]), b["nuisances"], alike))
    return tuple(torch.cat(column).numpy() for column in zip(*rows))


def platt(logits: np.ndarray, changed: np.ndarray) -> tuple[float, float]:
    """scale, offset of probability = sigmoid(scale * logit + offset); logits [n], changed [n] of 0 and 1.

    Platt, "Probabilistic outputs for support vector machines", 1999.
    """
    positives, negatives = changed.sum(), (1 - changed).sum()
    offset, (scale,) = fit_logistic(logits[:, None], changed > 0, 0, balanced=False, standardised=False)
    if scale > LEAST_SCALE:
        return float(scale), offset
    # A logit that is no evidence of a change, as of a captioner without pictures: all pairs get the share of changes.
    return LEAST_SCALE, float(np.log((positives + 1) / (negatives + 1)))


def logit_of(calibration: dict) -> float:
    """The change logit at which the calibrated probability is the default threshold."""
    change = calibration["change"]
    return float((logit(calibration["threshold"], 1e-9) - change["offset"]) / change["scale"])


def next_above(probability: float) -> float:
    """The lowest number of six digits above it: plain rounding could fall at or below the pair to be left out."""
    millionths = math.floor(probability * 1e6)
    while millionths / 1e6 <= probability:
        millionths += 1
    return millionths / 1e6


def operating_point(probability: np.ndarray, changed: np.ndarray, rate: float) -> dict[str, float]:
    """The lowest threshold of six digits that at most `rate` of the unchanged pairs reach, and its recall."""
    unchanged = np.sort(probability[changed == 0])[::-1]
    allowed = int(np.floor(rate * len(unchanged)))
    threshold = next_above(float(unchanged[allowed])) if allowed < len(unchanged) else 0.0
    return {
        "false_alarm_rate": rate,
        "threshold": threshold,
        "recall": round(float((probability[changed > 0] >= threshold).mean()), 4),
    }


def precision_threshold(probability: np.ndarray, present: np.ndarray) -> float:
    """The lowest threshold from 0.5 on at which NUISANCE_PRECISION of the named nuisances are present: a wrong reason
    is worse than none. HIGHEST_NUISANCE_THRESHOLD if no threshold reaches that, or if the nuisance was never absent."""
    if present.all():
        return HIGHEST_NUISANCE_THRESHOLD
    for threshold in np.linspace(0.5, HIGHEST_NUISANCE_THRESHOLD, 19):
        named = probability >= threshold
        if named.sum() >= LEAST_NAMED and (present[named] > 0).mean() >= NUISANCE_PRECISION:
            return round(float(threshold), 3)
    return HIGHEST_NUISANCE_THRESHOLD


@torch.no_grad()
def fit_hedge(difference: Difference, captioner: Captioner, data: Batches, world: World, batch: int = 50) -> dict:
    """The lowest of HEDGE_SHARES at which NOUN_PRECISION of the specific nouns are right, and the table of all shares.

    Each row has the precision and the fraction of first clauses whose noun is specific.
    """
    if not world.wider_nouns.keys() & set(captioner.c.vocabulary):
        return {"share": 0.0, "table": []}
    changed = [i for i, m in enumerate(data.cache.meta) if m["objects"]]
    inputs = []
    for start in range(0, len(changed), batch):
        indices = changed[start : start + batch]
        b = data.batch(indices, np.random.default_rng(0))
        d = difference(*difference_inputs(b))
        crops = crop_inputs(b)
        inputs.append((indices, (d["memory"], crops, d["kind_logits"])))
    table = []
    for share in HEDGE_SHARES:
        captioner.hedge(world.wider_nouns, share)
        right, first_nouns = [], 0
        for indices, arguments in inputs:
            for index, ids in zip(indices, captioner.greedy(*arguments)["ids"].tolist()):
                judged = world.judge(words_of(ids, captioner.c.vocabulary), data.cache.meta[index])
                first_nouns += judged.first_noun is not None
                if judged.first_noun in world.wider_nouns:
                    right.append(judged.literal_noun)
        precision = round(float(np.mean(right)) if right else 1.0, 4)
        table.append({"share": share, "precision": precision, "specific": round(len(right) / max(1, first_nouns), 4)})
    captioner.hedge(world.wider_nouns, 0.0)
    good = [row for row in table if row["precision"] >= NOUN_PRECISION]
    best = good[0] if good else max(table, key=lambda row: row["precision"])
    return {"share": best["share"], "table": table}


def agreement(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Median over the cells of the cosine of both frames' coarse features: [n,C,h,w] x2 -> [n]; near 0 for two
    places."""
    b, a = (x.reshape(*x.shape[:2], -1).astype(np.float32) for x in (before, after))  # [n,C,h*w]
    norms = np.linalg.norm(b, axis=1) * np.linalg.norm(a, axis=1)
    return np.median((b * a).sum(1) / np.maximum(norms, 1e-6), axis=1)


def calibrate(difference: Difference, data: Batches, rate: float) -> tuple[dict, dict]:
    """calibration and calibrated_on of the manifest. rate: of false alarms, one of RATES, at the default threshold."""
    logits, changed, probabilities, nuisances, alike = predictions(difference, data)
    scale, offset = (round(v, 6) for v in platt(logits, changed))  # rounded first: thresholds are of served values
    p = sigmoid(scale * logits + offset)
    points = [operating_point(p, changed, each) for each in RATES]
    calibration = {
        "change": {"scale": scale, "offset": offset},
        "threshold": points[RATES.index(rate)]["threshold"],
        "operating_points": points,
        "least_agreement": round(float(np.quantile(alike, DIFFERENT_PLACE_RATE)), 4),
        "nuisances": {
            name: precision_threshold(probabilities[:, i], nuisances[:, i]) for i, name in enumerate(NUISANCES)
        },
    }
    counts = {"changed": int(changed.sum()), "unchanged": int((1 - changed).sum())}
    return calibration, {"source": "held-out synthetic pairs", **counts}


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
    calibration, calibrated_on = calibrate(difference, data, args.rate)
    hedge = fit_hedge(difference, captioner, data, world)
    captioner.hedge(world.wider_nouns, hedge["share"])
    figures = heldout_figures(difference, captioner, data, world, threshold=logit_of(calibration))
    out = {"calibration": calibration, "hedge": hedge, "heldout": figures, "calibrated_on": calibrated_on}
    args.out.write_text(json.dumps(out, indent=1) + "\n")
    print(json.dumps(out))
