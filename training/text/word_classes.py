"""Which classes of a namer each word means: "cars" the cars, "vehicle" all vehicles, "dark" also black."""

from __future__ import annotations

from training.text.lexicon import ALSO_COLOURED, NOUNS, SINGULAR
from training.text.noun_tree import NOTHING, ROOT, wider_noun
from training.text.truth import names_of

OF_ANYTHING = (ROOT, "things")
PERSONS = {"someone": "person"}


def classes_of_noun(noun: str, classes: list[str]) -> list[int]:
    """Classes whose things may be called `noun`; if there are none, those of the next wider noun."""
    while noun != ROOT:
        found = [i for i, name in enumerate(classes) if name != NOTHING and noun in names_of(name)]
        if found:
            return found
        noun = wider_noun(noun)
    return [i for i, name in enumerate(classes) if name != NOTHING]


def noun_table(vocabulary: list[str], classes: list[str]) -> list[list[float]]:
    """1 if a word is part of a name of a class, [words,classes]."""
    table = [[0.0] * len(classes) for _ in vocabulary]
    named = {noun: noun for noun in NOUNS} | SINGULAR | PERSONS | dict.fromkeys(OF_ANYTHING, ROOT)
    at = {word: i for i, word in enumerate(vocabulary)}
    for text, noun in named.items():
        for word in text.split():
            for i in classes_of_noun(noun, classes) if word in at else ():
                table[at[word]][i] = 1.0
    return table


def colour_table(vocabulary: list[str], colours: list[str]) -> list[list[float]]:
    """1 if a word is part of a true name of a colour, [words,colours]."""
    names = [{word for name in (colour, *ALSO_COLOURED.get(colour, ())) for word in name.split()} for colour in colours]
    return [[float(word in name) for name in names] for word in vocabulary]
