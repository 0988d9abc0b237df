"""Truth of many texts about many changes at once: which pairs of a contrastive batch are no negatives.

The same rules as `truth.py`, as tables. A text is a list of clauses, all of which must be true of one change; a clause
with the action ANY_EVENT states no event.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from training.contract import Clause
from training.text.grammar import SEVERAL
from training.text.lexicon import COLOURS, DIRECTIONS, NOUNS, PLACES
from training.text.noun_tree import ROOT
from training.text.queries import ANY_EVENT
from training.text.truth import FALSE, OPPOSITE, TRUE, UNKNOWN, colour_truth, noun_truth, units_of

FORMER, PRESENT = "replaced", "present"  # the two things of a replacement
ACTIONS = ("appeared", "disappeared", "moved", FORMER, PRESENT, ANY_EVENT)
_NOUNS = (*NOUNS, ROOT)
_SHADES = (*COLOURS, None)
_WHERE = (*PLACES, *DIRECTIONS)
_NOUN_TRUTH = np.array([[noun_truth(a, b) for b in _NOUNS] for a in _NOUNS], np.float32)
_COLOUR_TRUTH = np.array([[colour_truth(a, b) for b in _SHADES] for a in _SHADES], np.float32)
_ACTION_TRUTH = np.array([[TRUE if a in (b, ANY_EVENT) else FALSE for b in ACTIONS] for a in ACTIONS], np.float32)
_ACTION_TRUTH[0, 4] = _ACTION_TRUTH[1, 3] = UNKNOWN  # the present thing appeared, in a way


def index(values: tuple) -> dict:
    return {value: i for i, value in enumerate(values)}


_AT_NOUN, _AT_COLOUR, _AT_WHERE, _AT_ACTION = index(_NOUNS), index(_SHADES), index(_WHERE), index(ACTIONS)


def truth_table(texts: list[list[Clause]], changes: list[list[dict[str, Any]]]) -> np.ndarray:
    """Truth of each text of each change, [texts,changes]; a change is its objects, as in Pair."""
    things = [
        (number, thing, action)
        for number, objects in enumerate(changes)
        for unit in units_of(objects)
        for thing, action in zip(unit, (FORMER, PRESENT) if len(unit) == 2 else (unit[0]["action"],))
    ]
    rows = [(number, row) for number, clauses in enumerate(texts) for clause in clauses for row in _split(clause)]
    table = np.ones((len(texts), len(changes)), np.float32)
    unchanged = np.array([not objects for objects in changes])
    denies = np.array([not clauses for clauses in texts])
    table[denies] = unchanged
    if not rows or not things:
        table[~denies] = FALSE
        return table
    each = _ACTION_TRUTH[_at(rows, lambda c: _AT_ACTION[c.action])][:, [_AT_ACTION[action] for _, _, action in things]]
    nouns = [_AT_NOUN[thing["noun"]] for _, thing, _ in things]
    each = np.minimum(each, _NOUN_TRUTH[_at(rows, lambda c: _AT_NOUN[c.noun])][:, nouns])
    shades = [_AT_COLOUR.get(thing["colour"], len(COLOURS)) for _, thing, _ in things]
    each = np.minimum(each, _COLOUR_TRUTH[_at(rows, lambda c: _AT_COLOUR[c.colour])][:, shades])
    counts = np.array([min(thing["count"], SEVERAL) for _, thing, _ in things])
    each = np.minimum(each, _at(rows, lambda c: c.count)[:, None] == counts)
    each = np.minimum(each, _place_truth(rows, things))
    of_row = np.zeros((len(rows), len(changes)), np.float32)
    for at, (number, _, _) in enumerate(things):
        np.maximum(of_row[:, number], each[:, at], out=of_row[:, number])
    for row, (number, _) in enumerate(rows):
        np.minimum(table[number], of_row[row], out=table[number])
    return table


def _split(clause: Clause) -> list[Clause]:
    """A replacement states two things."""
    if not clause.new:
        return [clause]
    noun, colour, count = clause.new
    return [replace(clause, new=None), Clause(PRESENT, noun, colour, None, count)]


def _at(rows: list, value) -> np.ndarray:
    return np.array([value(clause) for _, clause in rows])


def _place_truth(rows: list, things: list) -> np.ndarray:
    """[rows,things]; that a thing went another way is sure of the opposite way alone."""
    true = np.zeros((len(_WHERE) + 1, len(things)), np.float32)
    true[-1] = TRUE  # of a text without a place
    for at, (_, thing, action) in enumerate(things):
        if action == "moved":
            true[: len(PLACES), at] = UNKNOWN  # the world says no place of what moved
            true[len(PLACES) : -1, at] = UNKNOWN
        for where in thing["places"]:
            true[_AT_WHERE[where], at] = TRUE
            if where in OPPOSITE:
                true[_AT_WHERE[OPPOSITE[where]], at] = FALSE
    return true[[_AT_WHERE[clause.where] if clause.where else len(_WHERE) for _, clause in rows]]
