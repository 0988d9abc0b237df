"""How often fixed cameras see things of each kind, counted in the words of people, as a shift of a namer's prior.

The generated world draws rare things more often than cameras see them, so that they can be learned. Counts: nouns in
the 11,329 annotations of Spot-the-Diff (Jhamtani and Berg-Kirkpatrick, EMNLP 2018), in which people word the changes of
surveillance cameras. They were taken at car parks, so the shift is limited.
"""

from __future__ import annotations

import math

from training.text.lexicon import NOUNS
from training.text.noun_tree import NOTHING

COUNTS = {
    "person": 13_877,
    "car": 7_852,
    "truck": 1_722,
    "object": 1_285,
    "vehicle": 610,  # not named more exactly, and all that have no line of their own
    "van": 467,
    "bus": 161,
    "bicycle": 119,
    "cyclist": 29,
    "motorcycle": 20,
    "animal": 12,
}
LARGEST_SHIFT = 1.0  # of a logit


def group_of(noun: str) -> str:
    """The line of COUNTS that a noun is counted in: its own or that of its hypernym."""
    return noun if noun in COUNTS else NOUNS[noun][1]


def prior_shift(nouns: list[str], seen: dict[str, float]) -> list[float]:
    """The term of each class's logit that makes its prior that of COUNTS and not that of `seen`, the number of
    training examples per class (Saerens et al., "Adjusting the outputs of a classifier to new a priori probabilities",
    Neural Computation 2002). 0 for NOTHING."""
    trained = dict.fromkeys(COUNTS, 0.0)
    for noun, count in seen.items():
        if noun != NOTHING:
            trained[group_of(noun)] += count
    total, all_trained = sum(COUNTS.values()), max(1, sum(trained.values()))

    def shift(noun: str) -> float:
        group = group_of(noun)
        wanted, had = COUNTS[group] / total, max(1, trained[group]) / all_trained
        return max(-LARGEST_SHIFT, min(LARGEST_SHIFT, math.log(wanted / had)))

    return [0.0 if noun == NOTHING else round(shift(noun), 3) for noun in nouns]
