"""Measurements of made pairs: one NDJSON line per pair, written by scripts/fit-viewpoint.mjs."""

import math
from dataclasses import dataclass

import numpy as np

CHANCE = 0.99  # share of pairs without a common view that agree on no more corners by chance
SAFETY = 3  # times as many are required
LEAST_BORNE = 8  # corners; twice the four unknowns of a similarity


@dataclass(frozen=True)
class Samples:
    """Columns over n pairs."""

    names: list[str]  # of the m measurements
    measurements: np.ndarray  # [n, m]
    nuisance: np.ndarray  # [n] name, "" for none
    tamper: np.ndarray  # [n] name, "" for none
    place: np.ndarray  # [n]
    half: np.ndarray  # [n] 0 or 1: each place belongs to one half
    judgeable: np.ndarray  # [n] bool: `before` has enough corners for a tamper decision
    bare: np.ndarray  # [n] bool: few tiles of `before` have detail
    margin: np.ndarray  # [n] agreement of the features minus the bundle's least_agreement; NaN if not measured

    def __len__(self) -> int:
        return len(self.half)

    def rows(self, names: list[str]) -> np.ndarray:
        """[n, len(names)]"""
        return self.measurements[:, [self.names.index(name) for name in names]]

    def where(self, mask: np.ndarray) -> "Samples":
        columns = ("nuisance", "tamper", "place", "half", "judgeable", "bare", "margin")
        return Samples(self.names, self.measurements[mask], *(getattr(self, name)[mask] for name in columns))


def least_inliers(lines: list[dict]) -> tuple[int, list[int]]:
    """Fewest corners that must agree on a motion, and how many agreed in pairs that share no view, in ascending
    order."""
    unrelated = sorted(line["inliers"] for line in lines if line["set"] == "noise" or line.get("variant") == "turned")
    by_chance = unrelated[math.floor(CHANCE * (len(unrelated) - 1))]
    return max(LEAST_BORNE, math.ceil(SAFETY * (by_chance + 1))), unrelated


def as_samples(lines: list[dict], least: int) -> Samples:
    """Pairs on whose motion fewer than `least` corners agree count as refused."""
    pairs = [line for line in lines if line["set"] != "noise"]
    suffixes = ["_if_refused" if line["inliers"] < least else "" for line in pairs]
    places = sorted({line["place"] for line in pairs})
    names = list(pairs[0]["measurements"])
    measured = [line["measurements" + suffix] for line, suffix in zip(pairs, suffixes)]
    return Samples(
        names=names,
        measurements=np.array([[row[name] for name in names] for row in measured], dtype=float),
        nuisance=np.array([line["nuisance"] or "" for line in pairs]),
        tamper=np.array([line["tamper"] or "" for line in pairs]),
        place=np.array([line["place"] for line in pairs]),
        half=np.array([places.index(line["place"]) % 2 for line in pairs]),
        judgeable=np.array([line["judgeable"] for line in pairs]),
        bare=np.array([line["bare" + suffix] for line, suffix in zip(pairs, suffixes)]),
        margin=np.array([np.nan if line["margin"] is None else line["margin"] for line in pairs]),
    )
