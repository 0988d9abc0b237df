"""Texts that people type to find a change of a CLEVR scene: the captions of the data set, and shorter queries.

A query states a `Claim` as a caption does, or only which thing changed (change ANY).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from research.clevr import grammar
from research.clevr.grammar import ANY_SHAPE, ATTRIBUTES, CHANGED_ATTRIBUTE, Claim
from research.clevr.rules import REVERSED

ANY = "any"  # change of a query that names the changed thing alone
QUERIES = 0.25  # of the texts are queries
# {n} a noun phrase without article, {v} the new colour or material.
_FORMS = {
    "add": ("{n} appeared", "new {n}", "{n} added", "{n} arrived", "{n} placed"),
    "drop": ("{n} gone", "{n} missing", "{n} disappeared", "{n} removed", "{n} taken away"),
    "move": ("{n} moved", "{n} shifted", "{n} somewhere else"),
    "color": ("{n} to {v}", "{n} now {v}", "{n} changed to {v}"),
    "material": ("{n} to {v}", "{n} now {v}", "{n} changed to {v}"),
    ANY: ("{n}", "changed {n}"),
}
# Words that state each kind of change, of captions and queries.
EVENT_WORDS: dict[str, tuple[str, ...]] = {
    "appeared": ("appeared", "placed", "added", "new", "newly", "arrived"),
    "disappeared": ("disappeared", "missing", "gone", "longer", "removed", "taken"),
    "moved": ("moved", "location", "shifted", "somewhere"),
    "replaced": ("changed", "turned", "became", "now"),
}
KIND_OF_EVENT = {"appeared": "appear", "disappeared": "disappear", "moved": "move", "replaced": "replace"}
UNCHANGED_WORDS = ("nothing", "same", "identical", "remains", "difference")
# Another name -> the noun of the captions that the bundle writes.
SYNONYMS = {word: words[0] for words in grammar.SYNONYMS["shape"].values() for word in words[1:]}


def vocabulary() -> list[str]:
    """Words of captions and queries, behind the special tokens."""
    forms = " ".join(form for forms in _FORMS.values() for form in forms).split()
    words = grammar.WORDS | {word for word in forms if "{" not in word}
    return ["<pad>", "<unk>", "<start>", "<end>", *sorted(words)]


def kinds_of_words(words: list[str], kinds: tuple[str, ...]) -> np.ndarray:
    """1 if a word states a kind, float32 [words,kinds]. "changed" is no word of one kind in every sentence ("has
    changed its location"); the text encoder corrects that."""
    table, at = np.zeros((len(words), len(kinds)), np.float32), {word: i for i, word in enumerate(words)}
    stated = {kind: EVENT_WORDS[event] for event, kind in KIND_OF_EVENT.items()} | {"none": UNCHANGED_WORDS}
    for kind, of in stated.items():
        table[[at[word] for word in of], kinds.index(kind)] = 1
    return table


def write_text(claim: Claim, rng: np.random.Generator, queries: float = QUERIES) -> tuple[str, Claim]:
    """A caption or a query, and what it states: a query may leave the change out, and has no relation.

    queries: share of queries.
    """
    if claim.change is None or rng.random() >= queries:
        return grammar.write(claim, rng), claim
    stated = replace(claim, relation=None, anchor=())
    if rng.random() < 0.25:
        stated = replace(stated, change=ANY, new=None)
    words = [str(rng.choice(grammar.SYNONYMS[name][value])) for name, value in stated.target]
    if not any(name == "shape" for name, _ in stated.target):
        words.append(str(rng.choice(ANY_SHAPE)))
    value = ""
    if stated.new:
        value = str(rng.choice(grammar.SYNONYMS[CHANGED_ATTRIBUTE[stated.change]][stated.new]))
    return str(rng.choice(_FORMS[stated.change])).format(n=" ".join(words), v=value), stated


def inverse(claim: Claim, thing: dict) -> Claim | None:
    """The claim about the same pair with its frames swapped; None if it is the same claim.

    thing: the changed object as it was before, with its attributes.
    """
    if claim.change in (None, "move"):
        return None
    attribute = CHANGED_ATTRIBUTE.get(claim.change)
    target = tuple((name, claim.new if name == attribute else value) for name, value in claim.target)
    return replace(claim, change=REVERSED[claim.change], target=target, new=attribute and thing[attribute])


def fits(claims: list[Claim], things: list[dict | None]) -> np.ndarray:
    """Whether the changed object of each pair may be the subject of each claim, and changed so: bool [claims,pairs].

    things: the line of each pair's `objects`, or None for an unchanged pair.
    """
    codes: dict[tuple, int] = {}
    code = lambda *value: codes.setdefault(value, len(codes))
    nothing, free = code(None, None), -1
    no_thing = [nothing] * len(ATTRIBUTES)
    event, before, after = [], [], []
    for thing in things:
        values = [code(name, thing[name]) for name in ATTRIBUTES] if thing else no_thing
        attribute = thing and CHANGED_ATTRIBUTE.get(thing["change"])
        event.append(code(thing["change"], thing["became"]) if thing else nothing)
        before.append(values)
        after.append([code(name, thing["became"]) if name == attribute else v for name, v in zip(ATTRIBUTES, values)])
    stated = [free if claim.change == ANY else code(claim.change, claim.new) for claim in claims]
    target = [
        [code(name, dict(of.target)[name]) if name in dict(of.target) else free for name in ATTRIBUTES] for of in claims
    ]
    event, before, after, stated, target = map(np.array, (event, before, after, stated, target))
    has = lambda values: ((target[:, None] == free) | (target[:, None] == values)).all(2)  # [claims,pairs]
    any_change = (stated == free)[:, None]
    return (has(before) & (stated[:, None] == event)) | (any_change & (event != nothing) & (has(before) | has(after)))
