"""Figures of a fit as lines of text, which fitted.json carries."""

import numpy as np

from training.fits.samples import Samples


def percent(outcomes: np.ndarray) -> str:
    return f"{100 * outcomes.mean() if len(outcomes) else 0:.1f} % of {len(outcomes)}"


def pairs_of(samples: Samples) -> str:
    return f"{len(samples)} pairs of {len(set(samples.place))} places"


def nuisance_figures(alike: Samples, scores: dict[str, np.ndarray], named: dict[str, np.ndarray]) -> list[str]:
    """@param scores, named per nuisance [n]: the cross-fitted score, and whether it reaches the threshold"""
    names = np.array(list(scores))
    strongest = names[np.argmax(np.stack(list(scores.values())), axis=0)]
    altered = alike.nuisance != ""
    falsely = np.any([named[name] & (alike.nuisance != name) for name in names], axis=0)

    def of(name: str) -> str:
        with_it = alike.nuisance == name
        share = percent(strongest[with_it] == name).split(" of ")[0]
        return f"  {name}: strongest {share}, named {percent(named[name][with_it])}"

    return [
        f"nuisances: {pairs_of(alike)}; figures are of places that chose neither weights nor thresholds",
        f"strongest nuisance is the true one: {percent((strongest == alike.nuisance)[altered])}",
        *(of(name) for name in names),
        f"  falsely named: {percent(falsely)}",
    ]


def tamper_figures(mixed: Samples, named: dict[str, np.ndarray]) -> list[str]:
    return [f"tampering: {pairs_of(mixed)}", *tampering("evidence alone", mixed, named)]


def joint_figures(mixed: Samples, named: dict[str, np.ndarray], features: str) -> list[str]:
    """@param features name and version of the bundle whose features were compared, and what else the reader must
    know"""
    return [f"joint: {pairs_of(mixed)}, features of {features}", *tampering("joint", mixed, named)]


def tampering(how: str, mixed: Samples, named: dict[str, np.ndarray]) -> list[str]:
    """@param named per kind [judgeable pairs]; pairs that are not judgeable are never named"""
    any_named = np.any(list(named.values()), axis=0)
    tamper = mixed.tamper[mixed.judgeable]
    everywhere = np.zeros(len(mixed), dtype=bool)
    everywhere[mixed.judgeable] = any_named
    return [
        f"{how}: tampering found, of places that showed something before: {percent(any_named[tamper != ''])}",
        *(f"  {name}: {percent(any_named[tamper == name])}" for name in named),
        f"{how}: falsely called tampering: {percent(everywhere[mixed.tamper == ''])}",
    ]
