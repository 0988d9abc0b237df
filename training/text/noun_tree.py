"""The tree of nouns that a name retreats on when it is not certain: man -> person -> something.

Deng et al., "Hedging your bets: optimizing accuracy-specificity trade-offs in large scale visual recognition", CVPR
2012: the most specific noun is written whose probability, its own and that of all nouns below it, is high enough.
"""

from __future__ import annotations

from training.text.lexicon import NOUNS

NOTHING = "nothing"
ROOT = "something"
HYPERNYMS = ("person", "vehicle", "animal", "object")
# Nouns that a fixed camera does not distinguish: they are one class. A child and a person far away are of one size.
ONE_CLASS: dict[str, str] = {
    **dict.fromkeys(("suv", "minivan"), "car"),
    **dict.fromkeys(("boy", "girl", "child"), "person"),
}
# Noun -> wider noun, beside the hypernyms of the lexicon.
WIDER_NOUN: dict[str, str] = {
    **dict.fromkeys(("suitcase", "backpack", "briefcase"), "bag"),
    "crate": "box",
}
# Colour -> wider colour.
WIDER_COLOUR: dict[str, str] = {
    **dict.fromkeys(("black", "dark blue", "dark red"), "dark"),
    "silver": "grey",
}


def wider_noun(noun: str) -> str:
    """The next wider noun of a noun of the lexicon; the root for person, vehicle, animal and object."""
    if noun in ONE_CLASS or noun in WIDER_NOUN:
        return ONE_CLASS.get(noun) or WIDER_NOUN[noun]
    hypernym = NOUNS[noun][1]
    return ROOT if noun == hypernym else hypernym


def path_of(word: str, tree: dict[str, str]) -> list[str]:
    """The word and its wider words in a tree, up to the first that has none."""
    return [word] if word == ROOT or word not in tree else [word, *path_of(tree[word], tree)]


def tree_of(nouns: list[str]) -> dict[str, str]:
    """Noun -> wider noun, for these nouns and every noun above them, as the manifest has it."""
    tree, waiting = {}, [noun for noun in nouns if noun != NOTHING]
    while waiting:
        noun = waiting.pop()
        if noun not in tree:
            tree[noun] = wider_noun(noun)
            if tree[noun] != ROOT:
                waiting.append(tree[noun])
    return dict(sorted(tree.items()))
