"""Writes captions of surveillance changes: facts in, several wordings out. `grammar.py` reads every wording back."""

from typing import Any

import numpy as np

from training.contract import Clause
from training.text.grammar import COUNT_WORDS, GARMENTS, NO_CHANGE, ONLY_NUISANCE, SEVERAL, TEMPLATES
from training.text.lexicon import ALSO_CALLED, ALSO_COLOURED, GREYS, NOUNS, hypernym

MAX_WORDS = 26
MAX_CLAUSES = 3
# Verbs that are not used of these nouns.
UNUSUAL_VERBS = {
    "standing": ("cyclist",),
    "walked": ("cyclist",),
    "driven": ("bicycle", "bike", "scooter"),
    "arrived": ("bicycle", "bike"),
}
# Places that carry no information, by hypernym: every person indoors is on the floor.
EMPTY_PLACES = {"person": ("on the floor",)}


def write_np(noun: str, colour: str | None, count: int, definite: bool, rng: np.random.Generator) -> str:
    """A noun phrase such as "a man in black", "the two white cars", "someone"."""
    person = hypernym(noun) == "person"
    if noun == "person" and count == 1 and colour is None and not definite and rng.random() < 0.3:
        return "someone"
    word = NOUNS[noun][0] if count > 1 else noun
    if colour and not person:
        word = f"{colour} {word}"
    article = "an" if word[0] in "aeiou" or word == "suv" else "a"
    quantity = COUNT_WORDS[min(count, SEVERAL)] if count > 1 else ""
    text = " ".join(filter(None, ("the" if definite else "" if quantity else article, quantity, word)))
    if colour and person:
        style = rng.random()
        if colour == "dark" or (count > 1 and style < 0.2):
            text += f" in {colour} clothes"
        elif style < 0.7 or count > 1:
            text += f" in {colour}"
        else:
            text += f" in {'an' if colour[0] in 'aeiou' else 'a'} {colour} {rng.choice(GARMENTS)}"
    return text


def write_statement(clauses: list[Clause], rng: np.random.Generator) -> str:
    """One statement for one clause, or for two that share their action and place."""
    first = clauses[0]
    kinds = {hypernym(c.noun) for c in clauses}
    rows = [
        (t, needs)
        for t, hypernyms, needs in TEMPLATES[first.action]
        if kinds <= set(hypernyms)
        and (first.where or not needs)
        and not any(verb in t and c.noun in nouns for verb, nouns in UNUSUAL_VERBS.items() for c in clauses)
    ]
    weights = np.array([3.0 if i < 2 else 1.0 for i in range(len(rows))])
    template = rows[int(rng.choice(len(rows), p=weights / weights.sum()))][0]
    subject = " and ".join(write_np(c.noun, c.colour, c.count, "{dnp}" in template, rng) for c in clauses)
    plural = len(clauses) > 1 or first.count > 1
    new = write_np(first.new[0], first.new[1], first.new[2], False, rng) if first.new else ""
    text = template.format(
        np=subject,
        dnp=subject,
        new=new,
        w=first.where or "",
        has="have" if plural else "has",
        **{"is": "are" if plural else "is"},
    )
    return " ".join(text.split())


def choose_noun(thing: dict[str, Any], rng: np.random.Generator) -> str:
    """The word people would use: a small or unclear man is more often a person."""
    noun, small = thing["noun"], thing.get("small", False)
    others = ALSO_CALLED.get(noun, ())
    if not others:
        return noun
    general = {"person": 0.5 if small else 0.2, "vehicle": 0.12 if small else 0.03}.get(thing["hypernym"], 0.3)
    if rng.random() >= general:
        return noun
    return str(rng.choice(others)) if rng.random() < 0.25 else others[0]


# Probability of another true name for a colour; 0.2 for the rest. People call vehicles in surveillance frames "black"
# 1,123 times, "blue" 379, "dark" 217 and "dark blue" 5 times (counted in the captions of Jhamtani and Berg-Kirkpatrick
# 2018), so a captioner that writes "dark blue" freely writes it of black cars.
OTHER_NAME_RATE = {("vehicle", "dark blue"): 0.85}


def choose_colour(thing: dict[str, Any], rng: np.random.Generator) -> str | None:
    colour = thing["colour"]
    if colour is None:
        return None
    # People leave the colour out in a third of their sentences, but the reader of an alert needs to know which man it
    # was.
    leave_out = {"person": 0.06, "vehicle": 0.03}.get(thing["hypernym"], 0.1) + (0.1 if thing.get("small") else 0.0)
    if rng.random() < leave_out:
        return None
    others = ALSO_COLOURED.get(colour, ())
    if thing.get("grey"):
        others = tuple(c for c in others if c in GREYS)
    otherwise = OTHER_NAME_RATE.get((thing["hypernym"], colour), 0.2)
    return str(rng.choice(others)) if others and rng.random() < otherwise else colour


def choose_clauses(objects: list[dict[str, Any]], rng: np.random.Generator) -> list[Clause]:
    """The clauses of one caption of the objects: words, and one of the true places or none."""
    clauses: list[Clause] = []
    place_rate = 0.85 if len(objects) < 3 else 0.6
    index = 0
    while index < len(objects) and len(clauses) < MAX_CLAUSES:
        thing = objects[index]
        where = None
        empty = EMPTY_PLACES.get(thing["hypernym"], ())
        informative = [place for place in thing["places"] if place not in empty]
        if informative and rng.random() < (0.9 if thing["action"] == "moved" else place_rate):
            first = 0.6 if thing["action"] == "moved" else 0.65
            where = (
                thing["where"]
                if thing["where"] in informative and rng.random() < first
                else str(rng.choice(informative))
            )
        noun, colour, new = choose_noun(thing, rng), choose_colour(thing, rng), None
        if thing["action"] == "replaced":
            index += 1
            other = objects[index]
            new = (choose_noun(other, rng), choose_colour(other, rng), min(other["count"], SEVERAL))
            if new[0] == noun:  # "a man instead of the man" is no information: add the colours
                colour, new = thing["colour"], (noun, other["colour"], new[2])
        clauses.append(Clause(thing["action"], noun, colour, where, min(thing["count"], SEVERAL), new))
        index += 1
    return clauses


def write(clauses: list[Clause], rng: np.random.Generator) -> str:
    """A caption of at most MAX_WORDS words; later clauses are dropped if they do not fit."""
    statements: list[str] = []
    index = 0
    while index < len(clauses):
        group = [clauses[index]]
        following = clauses[index + 1] if index + 1 < len(clauses) else None
        if (
            following
            and following.action == group[0].action
            and following.where == group[0].where
            and following.action in ("appeared", "disappeared")
            and rng.random() < 0.7
        ):
            group.append(following)
        statement = write_statement(group, rng)
        if statements and len(" and ".join([*statements, statement]).split()) > MAX_WORDS:
            break
        statements.append(statement)
        index += len(group)
    return " and ".join(statements)


def write_captions(objects: list[dict[str, Any]], nuisances: list[str], rng: np.random.Generator) -> list[str]:
    """3 to 5 different captions of the same pair. `objects` as in Pair, largest change first; empty for no change."""
    wanted = int(rng.integers(3, 6))
    if not objects:
        texts = [str(t) for t in rng.permutation(NO_CHANGE)[:wanted]]
        special = [t for nuisance in nuisances for t in ONLY_NUISANCE.get(nuisance, ())]
        if special and rng.random() < 0.35:
            texts[-1] = str(rng.choice(special))
        return texts
    texts: list[str] = []
    for _ in range(60):
        text = write(choose_clauses(objects, rng), rng)
        if text not in texts:
            texts.append(text)
        if len(texts) == wanted:
            break
    return texts
