"""Sentences for pre-training that the captions of a pair do not have: false ones, and ones about two frames apart."""

import numpy as np

from research.clevr import grammar
from research.clevr.family_cache import CLASSES, FamilyCache

FALSE_CAPTIONS = 6  # per pair: some of other pairs, most with a value replaced, one with two facts swapped
RETRIEVED = 2
OPPOSITE = {"add": "drop", "drop": "add", "move": "drop"}


def false_captions(meta: dict, others: list[str], rng: np.random.Generator) -> list[str]:
    """FALSE_CAPTIONS different sentences that are not true of a changed pair, the closest of `others` first.

    meta: the pair's line in meta.jsonl. others: captions of other pairs; equal ones are left out.
    """
    truth = meta["objects"][0]
    change, new = truth["change"], truth["became"]
    values = {**{name: truth[name] for name in CLASSES if name != "shape"}, "shape": truth["noun"]}
    true = grammar.consensus(change, values, new)
    overlap = lambda text: len(set(text.split()) & set(true.split()))
    found = sorted({text for text in others if text != true}, key=lambda text: (-overlap(text), text))[:RETRIEVED]
    attribute = grammar.CHANGED_ATTRIBUTE.get(change)
    if attribute:
        found.append(grammar.consensus(change, values | {attribute: new}, values[attribute]))
    else:
        found.append(grammar.consensus(OPPOSITE[change], values))
    while len(set(found)) < FALSE_CAPTIONS:
        name = str(rng.choice(list(CLASSES)))
        replaced = str(rng.choice([value for value in CLASSES[name] if value != values[name]]))
        if name == attribute and rng.random() < 0.5:  # the new value instead of the old one
            text = grammar.consensus(change, values, replaced)
        else:
            text = grammar.consensus(change, values | {name: replaced}, new)
        if text != true and (attribute is None or replaced != new):
            found.append(text)
    return list(dict.fromkeys(found))[:FALSE_CAPTIONS]


def thing_phrase(thing: dict) -> str:
    """ "a large red metallic cube", of an object of a family's meta line."""
    return " ".join(["a", *(grammar.SYNONYMS[name][thing[name]][0] for name in grammar.ATTRIBUTES)])


def coupled_caption(cache: FamilyCache, first: int, second: int) -> str:
    """The sentence of two unrelated frames, the first ones of two pairs: the largest object of each."""
    one, other = (thing_phrase(cache.largest_thing(pair)) for pair in (first, second))
    return f"there is {one} and {other}"
