"""Whether a clause is true of a pair: per slot true, false or unknown, where the labels of the world leave it open.

`consistent` of the grammar asks whether a captioner may write a clause. Here every true name counts ("vehicle" of a
van), and "a man" of a thing labelled "person" is unknown rather than false. A unit is what one clause is about: one
object, or the former and the present one of a replacement.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from training.contract import Clause
from training.text.grammar import SEVERAL
from training.text.lexicon import ALSO_CALLED, ALSO_COLOURED, DEPTHWAYS, NOUNS, SIDEWAYS
from training.text.noun_tree import ROOT, path_of, tree_of

TRUE, UNKNOWN, FALSE = 1.0, 0.5, 0.0
# Things that look alike in part: a cyclist is a person on a bicycle.
ALIKE = (frozenset(("cyclist", "bicycle", "bike")), frozenset(("motorcycle", "bike", "scooter")))
OPPOSITE = {
    "to the left": "to the right",
    "slightly to the left": "slightly to the right",
    "closer": "further away",
    "towards the camera": "away from the camera",
}
OPPOSITE |= {way: other for other, way in OPPOSITE.items()}
_TREE = tree_of(list(NOUNS))

Unit = tuple[dict[str, Any], ...]


def units_of(objects: list[dict[str, Any]]) -> list[Unit]:
    """The units of a pair's objects, in their order."""
    units, remaining = [], iter(objects)
    for thing in remaining:
        units.append((thing, next(remaining)) if thing["action"] == "replaced" else (thing,))
    return units


@cache
def names_of(noun: str) -> frozenset[str]:
    """Every true name of a thing of this noun, up to "something"."""
    near = (noun, *ALSO_CALLED.get(noun, ()))
    return frozenset(name for word in near for name in path_of(word, _TREE)) | {ROOT}


@cache
def noun_truth(stated: str, true: str) -> float:
    if stated in names_of(true):
        return TRUE
    similar = any(stated in group and true in group for group in ALIKE)
    return UNKNOWN if similar or (stated != ROOT and true in names_of(stated)) else FALSE


@cache
def colour_truth(stated: str | None, true: str | None) -> float:
    if stated is None or stated == true or stated in ALSO_COLOURED.get(true or "", ()):
        return TRUE
    return UNKNOWN if true is None or true in ALSO_COLOURED.get(stated, ()) else FALSE


def place_truth(stated: str | None, thing: dict[str, Any]) -> float:
    """Whether a place, or the direction of something that moved, is true."""
    if stated is None or stated in thing["places"]:
        return TRUE
    if stated not in OPPOSITE or OPPOSITE[stated] in thing["places"]:
        return FALSE
    group = SIDEWAYS if stated in SIDEWAYS else DEPTHWAYS
    turned = [way for way in thing["places"] if way in group and way in OPPOSITE]
    side = stated.split()[-1]
    return FALSE if any(way.split()[-1] != side for way in turned) and group is SIDEWAYS else UNKNOWN


def slot_truths(clause: Clause, unit: Unit) -> list[float | None]:
    """Truth per slot of SLOTS; None for one that the clause does not state, or that cannot be judged of the unit."""
    thing = unit[0]
    if (clause.action == "replaced") != (len(unit) == 2):
        # A former object is gone, too; which of the two is meant, its noun says.
        at = 1 if len(unit) == 2 and clause.action == "appeared" else 0
        thing = unit[at]
        implied = len(unit) == 2 and clause.action in ("appeared", "disappeared")
        action = UNKNOWN if implied else FALSE
    else:
        action = TRUE if clause.action == thing["action"] else FALSE
    noun, colour = noun_truth(clause.noun, thing["noun"]), colour_truth(clause.colour, thing["colour"])
    count = TRUE if clause.count == min(thing["count"], SEVERAL) else FALSE
    colours = [clause.colour]
    if clause.new and len(unit) == 2:
        noun = min(noun, noun_truth(clause.new[0], unit[1]["noun"]))
        colour = min(colour, colour_truth(clause.new[1], unit[1]["colour"]))
        count = min(count, TRUE if clause.new[2] == min(unit[1]["count"], SEVERAL) else FALSE)
        colours.append(clause.new[1])
    elif clause.new:
        noun = count = None
    same_sort = (clause.action == "moved") == (unit[0]["action"] == "moved")
    place = place_truth(clause.where, thing) if clause.where and same_sort else None
    return [action, noun, None if colours == [None] * len(colours) else colour, place, count]


def judge_clause(clause: Clause, units: list[Unit]) -> list[float | None]:
    """`slot_truths` of the unit that the clause fits best. Of an unchanged pair: a false action, and no more."""
    if not units:
        return [FALSE, None, None, None, None]
    weights = (1.9, 2.0, 1.0, 1.0, 0.5)

    def fit(truths: list[float | None]) -> float:
        return min(_stated(truths)) * 100 + sum(w * t for w, t in zip(weights, truths) if t is not None)

    return max((slot_truths(clause, unit) for unit in units), key=fit)


def judge_sentence(clauses: list[Clause], objects: list[dict[str, Any]]) -> tuple[float, list[float | None]]:
    """Truth of the whole sentence, and per slot that of the worst clause. No clauses: "nothing has changed"."""
    if not clauses:
        truth = FALSE if objects else TRUE
        return truth, [truth, None, None, None, None]
    units = units_of(objects)
    judged = [judge_clause(clause, units) for clause in clauses]
    slots = [min((t for t in column if t is not None), default=None) for column in zip(*judged)]
    return min(_stated(slots)), slots


def _stated(truths: list[float | None]) -> list[float]:
    return [truth for truth in truths if truth is not None]
