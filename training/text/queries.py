"""Search queries: how people ask for a change, in fewer and other words than a caption uses.

A query has the facts of a `Clause`, so its truth is known; places and events may be left out, nouns get other names.
"""

from __future__ import annotations

import numpy as np

from training.contract import Clause
from training.text.captions import write_np
from training.text.lexicon import NOUNS
from training.text.noun_tree import ROOT

# Other name -> the noun of the captions.
SYNONYMS: dict[str, str] = {
    **dict.fromkeys(("guy", "gentleman", "male", "bloke", "dude"), "man"),
    **dict.fromkeys(("lady", "female"), "woman"),
    **dict.fromkeys(("human", "somebody", "anyone", "anybody", "visitor", "intruder", "stranger", "walker"), "person"),
    **dict.fromkeys(("individual", "figure", "worker", "passer"), "person"),
    **dict.fromkeys(("kid", "toddler", "youngster"), "child"),
    **dict.fromkeys(("biker", "rider"), "cyclist"),
    **dict.fromkeys(("automobile", "sedan", "hatchback", "taxi", "cab", "auto", "saloon"), "car"),
    **dict.fromkeys(("jeep", "4x4"), "suv"),
    **dict.fromkeys(("lorry", "semi", "hgv", "tanker", "dumper"), "truck"),
    **dict.fromkeys(("minibus", "transporter", "camper"), "van"),
    **dict.fromkeys(("coach", "omnibus"), "bus"),
    **dict.fromkeys(("motorbike", "moped"), "motorcycle"),
    **dict.fromkeys(("pushbike", "cycle"), "bicycle"),
    **dict.fromkeys(("puppy", "hound"), "dog"),
    **dict.fromkeys(("kitten", "kitty"), "cat"),
    **dict.fromkeys(("luggage", "trolley"), "suitcase"),
    **dict.fromkeys(("rucksack", "knapsack"), "backpack"),
    **dict.fromkeys(("handbag", "purse", "sack", "holdall"), "bag"),
    **dict.fromkeys(("parcel", "package", "carton"), "box"),
    **dict.fromkeys(("seat", "armchair"), "chair"),
    **dict.fromkeys(("couch", "settee"), "sofa"),
    **dict.fromkeys(("desk",), "table"),
    **dict.fromkeys(("dustbin", "rubbish", "garbage"), "trash can"),
    **dict.fromkeys(("pylon",), "traffic cone"),
    **dict.fromkeys(("barricade",), "barrier"),
    **dict.fromkeys(("pushchair", "pram", "buggy"), "stroller"),
    **dict.fromkeys(("tv", "screen", "monitor"), "television"),
    **dict.fromkeys(("drum", "keg"), "barrel"),
    **dict.fromkeys(("flower", "bush", "pot"), "plant"),
    **dict.fromkeys(("thing", "item", "stuff", "article"), "object"),
    **dict.fromkeys(("digger",), "excavator"),
    **dict.fromkeys(("creature",), "animal"),
}
_OTHER_NAMES: dict[str, list[str]] = {}
for _other, _noun in SYNONYMS.items():
    _OTHER_NAMES.setdefault(_noun, []).append(_other)

# Words that state each event in a query.
EVENT_WORDS: dict[str, tuple[str, ...]] = {
    "appeared": ("appeared", "arrived", "came", "arrives", "arriving", "new", "entered", "appears", "now"),
    "disappeared": ("disappeared", "gone", "missing", "leaving", "leaves", "vanished", "stolen", "removed", "departed"),
    "moved": ("moved", "moving", "shifted", "moves", "walked", "driven", "went"),
    "replaced": ("replaced", "instead", "swapped", "exchanged"),
}
# {np} a noun phrase with its article, {n} one without, {w} a place or direction or nothing, {new} the present thing.
_FORMS: dict[str, tuple[str, ...]] = {
    "appeared": (
        "{n} appeared {w}", "{n} arrived {w}", "{np} came {w}", "{n} arriving {w}", "new {n} {w}", "{np} appears {w}",
        "{n} {w} now", "when did {np} arrive {w}", "{n} arrives {w}", "{np} entered {w}", "{n} left behind {w}",
        "{n} was put {w}", "appearance of {np} {w}",
    ),
    "disappeared": (
        "{n} disappeared {w}", "{n} gone {w}", "{np} left {w}", "missing {n} {w}", "{n} leaving {w}", "{n} {w} is gone",
        "{n} leaves {w}", "{n} vanished {w}", "stolen {n} {w}", "{n} removed {w}", "{n} was taken away {w}",
        "when did {np} leave {w}", "{np} departed {w}", "{n} no longer {w}", "{n} taken {w}",
    ),
    "moved": (
        "{n} moved {w}", "{n} moving {w}", "{n} shifted {w}", "{np} moves {w}", "{n} went {w}",
        "{np} was moved {w}", "movement of {np} {w}",
    ),
    "replaced": (
        "{n} replaced by {new} {w}", "{new} instead of {n} {w}", "{n} swapped for {new} {w}", "{n} exchanged {w}",
        "{new} in place of {n} {w}",
    ),
    "any": ("{n} {w}", "{np} {w}", "{n}", "any {n} {w}", "show me {np} {w}", "find {np} {w}"),
}  # fmt: skip
SYNONYM_RATE = 0.3
ANY_EVENT = "any"  # action of a query that states no event


def query_vocabulary() -> list[str]:
    """Words of queries beside those of the grammar."""
    forms = " ".join(form for forms in _FORMS.values() for form in forms)
    words = forms.replace("{", " {").replace("}", "} ").split()
    events = [word for words in EVENT_WORDS.values() for word in words]
    return sorted({*(word for word in words if "{" not in word), *events, *SYNONYMS, *map(plural_of, SYNONYMS)})


def plural_of(word: str) -> str:
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def write_query(clause: Clause, rng: np.random.Generator) -> tuple[str, Clause]:
    """A query about a clause, and the clause that it states: without event, place or colour if the query has none."""
    action = ANY_EVENT if rng.random() < 0.25 else clause.action
    form = str(rng.choice(_FORMS[action]))
    colour = clause.colour if rng.random() < 0.8 else None
    where = clause.where if "{w}" in form and rng.random() < 0.6 else None
    if action == ANY_EVENT and clause.action == "moved":
        where = None
    stated = Clause(action, clause.noun, colour, where, clause.count, clause.new if "{new}" in form else None)
    new = _phrase(*clause.new, True, rng) if clause.new and "{new}" in form else ""
    phrase = _phrase(clause.noun, colour, clause.count, "{np}" in form, rng)
    text = form.format(np=phrase, n=phrase, w=where or "", new=new)
    return " ".join(text.split()), stated


def _phrase(noun: str, colour: str | None, count: int, article: bool, rng: np.random.Generator) -> str:
    if noun == ROOT:
        return ROOT if count == 1 else "things"
    text = write_np(noun, colour, count, False, rng)
    if text == "someone":
        text = "a person"
    if rng.random() < SYNONYM_RATE and noun in _OTHER_NAMES:
        word = str(rng.choice(_OTHER_NAMES[noun]))
        written = NOUNS[noun][0] if count > 1 else noun
        text = text.replace(written, plural_of(word) if count > 1 else word, 1)
    if not article and count == 1:
        text = text.split(" ", 1)[1]
    return text
