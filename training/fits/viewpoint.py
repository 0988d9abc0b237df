"""Fits the weights and thresholds of src/viewpoint/fitted.json. `npm run fit:viewpoint` measures, then runs

    python -m training.fits viewpoint --measurements FILE.ndjson --features BUNDLE --out FIT.json \\
      [--known FITTED.json --only tampers|joint]

Figures are of places that chose neither weights nor thresholds: the places are halved, and each half is measured with
the choices of the other half. The weights and thresholds that are written are fitted on all places.
"""

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from training.fits.figures import joint_figures, nuisance_figures, tamper_figures
from training.fits.samples import Samples, as_samples, least_inliers
from training.inputs import existing_file, new_file, read_json, read_ndjson
from training.learn.logistic import cross_fitted_scores, fit_logistic, logit, sigmoid

NUISANCES = ("lighting", "ir_switch", "shadow", "weather", "compression", "noise", "camera_moved")
TAMPERS = ("blocked", "defocused", "darkened", "turned")
PRECISION = 0.9  # of the pairs named with a nuisance, this share has it
FALSE_TAMPER = 0.002  # share of the pairs without tampering that one class may name
KEPT_BY_AGREEMENT = 0.98  # share of the pairs with a tampering whose features agree no more than is let through
ANY_AGREEMENT = 2.0  # more than two frames can agree: in the dark there is nothing that features could contradict
ANOTHER_PLACE = ("blocked", "turned")  # show another place, as features do; the other kinds show the same one
ONE_PLACE = 0.0  # margin that 199 of 200 pairs of one place keep
LEAST_JOINT_SCORE = 0.25  # even among four classes

# Other measurements (colour, streaks, blocks, ...) would only be memorised.
OF_TAMPERING = [
    *("refused", "displacement", "hidden", "structure_kept", "structure_lost", "structure_new", "covered", "detailed"),
    *("level_kept", "correlation", "coarse_correlation", "detail_ratio", "detail_ratio_best", "flat_gained"),
    *("dark_after", "dark_fall", "contrast_after", "contrast_fall", "sharpness_fall", "changed_share", "tone_kept"),
    *("edge_change", "edge_before", "edge_after"),
]
# Softness belongs to a defocused camera alone: the other classes would depend on it and on nothing else.
SOFTNESS = "edge_soft"
# These add nothing to the nuisances.
OF_TAMPERING_ALONE = ("tone_kept", "edge_change", "edge_before", "edge_after", SOFTNESS)
# Whether the camera moved depends on where things are, under any light.
OF_MOTION = ["refused", "displacement", "hidden"]

Bounds = dict[str, float]


class Chosen:
    """Bounds chosen on all samples, which are shipped, and on the other half of the places, which figures are
    counted by."""

    def __init__(self, half: np.ndarray, choose: Callable[[np.ndarray], Bounds]):
        self.half = half
        self.shipped = choose(np.ones(len(half), dtype=bool))
        self.by_half = [choose(half != h) for h in (0, 1)]

    def counted(self, name: str) -> np.ndarray:
        """[n]"""
        return np.array([bounds[name] for bounds in self.by_half])[self.half]


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def fitted_class(names: list[str], rows: np.ndarray, truths: np.ndarray) -> tuple[float, dict[str, float]]:
    offset, weights = fit_logistic(rows, truths)
    return rounded(offset), {name: rounded(weight) for name, weight in zip(names, weights)}


def precise_threshold(scores: np.ndarray, truths: np.ndarray) -> Callable[[np.ndarray], Bounds]:
    """The lowest threshold from 0.5 on at which PRECISION of the named pairs are named rightly."""

    def choose(mask: np.ndarray) -> Bounds:
        for step in range(49):
            named = mask & (scores >= 0.5 + 0.01 * step)
            if named.any() and truths[named].mean() >= PRECISION:
                return {"threshold": rounded(0.5 + 0.01 * step)}
        return {"threshold": 0.99}

    return choose


def rare_thresholds(scores: np.ndarray, samples: Samples, least: float) -> Callable[[np.ndarray], Bounds]:
    """The lowest thresholds from `least` on that FALSE_TAMPER of the pairs without tampering reach, bare or not."""

    def choose(mask: np.ndarray) -> Bounds:
        def threshold(bare: bool) -> float:
            quiet = np.sort(scores[mask & (samples.tamper == "") & (samples.bare == bare)])[::-1]
            reached = quiet[math.floor(FALSE_TAMPER * len(quiet))] if len(quiet) else 0.0
            return rounded(max(least, reached + 1e-4))

        return {"threshold": threshold(False), "bareThreshold": threshold(True)}

    return choose


def most_agreement(name: str, samples: Samples) -> Callable[[np.ndarray], Bounds]:
    """The margin that KEPT_BY_AGREEMENT of the pairs with this tampering do not exceed."""

    def choose(mask: np.ndarray) -> Bounds:
        margins = np.sort(samples.margin[mask & (samples.tamper == name)])
        return {"mostAgreement": rounded(margins[math.ceil(KEPT_BY_AGREEMENT * (len(margins) - 1))])}

    return choose


def fit_nuisances(alike: Samples) -> tuple[dict, list[str]]:
    """Pairs of whole plates whose frames were exposed and coded alike."""
    models, scores, named = {}, {}, {}
    for name in NUISANCES:
        inputs = OF_MOTION if name == "camera_moved" else [n for n in alike.names if n not in OF_TAMPERING_ALONE]
        rows, truths = alike.rows(inputs), alike.nuisance == name
        scores[name] = cross_fitted_scores(rows, truths, alike.half)
        chosen = Chosen(alike.half, precise_threshold(scores[name], truths))
        named[name] = scores[name] >= chosen.counted("threshold")
        offset, weights = fitted_class(inputs, rows, truths)
        models[name] = {"offset": offset, "weights": weights, **chosen.shipped}
    return models, nuisance_figures(alike, scores, named)


def fit_tampers(judgeable: Samples) -> tuple[dict, dict[str, np.ndarray], dict[str, Chosen]]:
    """Pairs that also show bare places and drift. @returns models, cross-fitted scores, bounds"""
    models, scores, bounds = {}, {}, {}
    for name in TAMPERS:
        inputs = [*OF_TAMPERING, SOFTNESS] if name == "defocused" else OF_TAMPERING
        rows, truths = judgeable.rows(inputs), judgeable.tamper == name
        scores[name] = cross_fitted_scores(rows, truths, judgeable.half)
        bounds[name] = Chosen(judgeable.half, rare_thresholds(scores[name], judgeable, 0.5))
        offset, weights = fitted_class(inputs, rows, truths)
        models[name] = {"offset": offset, "weights": weights, **bounds[name].shipped}
    return models, scores, bounds


def known_tampers(known: dict, judgeable: Samples) -> tuple[dict, dict[str, np.ndarray], dict[str, Chosen]]:
    """The same from the weights and thresholds of an earlier fit."""
    scores, bounds = {}, {}
    for name, model in known.items():
        names = list(model["weights"])
        logits = model["offset"] + judgeable.rows(names) @ np.array([model["weights"][n] for n in names])
        scores[name] = sigmoid(logits)
        shipped = {key: model[key] for key in ("threshold", "bareThreshold")}
        bounds[name] = Chosen(judgeable.half, lambda _, shipped=shipped: shipped)
    return known, scores, bounds


def fit_joint(
    judgeable: Samples, scores: dict[str, np.ndarray], bounds: dict[str, Chosen]
) -> tuple[dict, dict[str, np.ndarray]]:
    """Evidence with features: a logistic regression of the evidence's logit and the margin. @returns models, named
    [n]"""
    models, named = {}, {}
    for name in TAMPERS:
        if name in ANOTHER_PLACE:
            rows = np.stack([logit(scores[name]), judgeable.margin], axis=1)
            truths = judgeable.tamper == name
            joint_scores = cross_fitted_scores(rows, truths, judgeable.half)
            offset, weights = fitted_class(["evidence", "agreement"], rows, truths)
            most = Chosen(judgeable.half, lambda _: {"mostAgreement": ONE_PLACE})
            thresholds = Chosen(judgeable.half, rare_thresholds(joint_scores, judgeable, LEAST_JOINT_SCORE))
        else:
            joint_scores, offset, weights = scores[name], 0.0, {"evidence": 1.0, "agreement": 0.0}
            any_margin = name == "darkened"
            choose = (lambda _: {"mostAgreement": ANY_AGREEMENT}) if any_margin else most_agreement(name, judgeable)
            most, thresholds = Chosen(judgeable.half, choose), bounds[name]
        reached = joint_scores >= bound_of(thresholds, judgeable)
        named[name] = reached & (judgeable.margin <= most.counted("mostAgreement"))
        models[name] = {"offset": offset, **weights, **most.shipped, **thresholds.shipped}
    return models, named


def bound_of(chosen: Chosen, samples: Samples) -> np.ndarray:
    """[n] the threshold that counts for each sample: that of bare places or of the others"""
    return np.where(samples.bare, chosen.counted("bareThreshold"), chosen.counted("threshold"))


def fit(lines: list[dict], features: str, known: dict | None = None, only: str = "all") -> dict:
    """@param features name and version of the bundle; known: an earlier fit, which keeps what `only` leaves out"""
    if only == "all":
        least, unrelated = least_inliers(lines)
        count = len(unrelated)
        print(f"unrelated views agree on at most {unrelated[-1]} corners ({count} pairs): leastInliers {least}")
    else:
        least = known["leastInliers"]
        lines = [line for line in lines if line["set"] == "mixed"]
    samples = as_samples(lines, least)
    sets = np.array([line["set"] for line in lines if line["set"] != "noise"])
    mixed = samples.where(sets == "mixed")
    judgeable = mixed.where(mixed.judgeable)
    figures = dict(known["figures"]) if known else {}
    nuisances = known["nuisances"] if known else {}
    if only == "all":
        nuisances, figures["nuisances"] = fit_nuisances(samples.where(sets == "alike"))
    if only == "joint":
        tampers, scores, bounds = known_tampers(known["tampers"], judgeable)
    else:
        tampers, scores, bounds = fit_tampers(judgeable)
        alone = {name: scores[name] >= bound_of(bounds[name], judgeable) for name in TAMPERS}
        figures["tampers"] = tamper_figures(mixed, alone)
    joint, joined = fit_joint(judgeable, scores, bounds)
    if only == "joint":
        features += "; evidence of an earlier fit to the same places"
    figures["joint"] = joint_figures(mixed, joined, features)
    return {"figures": figures, "leastInliers": least, "nuisances": nuisances, "tampers": tampers, "joint": joint}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measurements", type=existing_file, required=True)
    parser.add_argument("--features", required=True, help="name and version of the bundle whose features were compared")
    parser.add_argument("--out", type=new_file, required=True)
    parser.add_argument("--known", type=Path, help="an earlier fit, which keeps what --only leaves out")
    parser.add_argument("--only", choices=("all", "tampers", "joint"), default="all")
    args = parser.parse_args()
    if args.only != "all" and args.known is None:
        raise SystemExit(f"--only {args.only} needs --known")
    known = read_json(args.known, "figures", "nuisances", "tampers", "leastInliers") if args.known else None
    result = fit(read_ndjson(args.measurements), args.features, known, args.only)
    for line in (line for lines in result["figures"].values() for line in lines):
        print(line)
    args.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
