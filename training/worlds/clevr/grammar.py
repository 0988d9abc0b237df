"""Captions of CLEVR-Change: facts in, the data set's wordings out, and every wording can be read back into facts.

One table of words and phrases both writes and reads. The vocabulary is the data set's, exactly (WORDS).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from training.worlds.clevr.rules import CHANGES, COLOURS, Thing, relation_holds

SYNONYMS = {
    "size": {"large": ("large", "big"), "small": ("small", "tiny")},
    "colour": {colour: (colour,) for colour in COLOURS},
    "material": {"metal": ("metallic", "metal", "shiny"), "rubber": ("rubber", "matte")},
    "shape": {"sphere": ("sphere", "ball"), "cube": ("cube", "block"), "cylinder": ("cylinder",)},
}
ATTRIBUTES = tuple(SYNONYMS)  # in the order in which they are said
ANY_SHAPE = ("thing", "object")
RELATIONS = {
    "left": ("left of", "to the left of", "on the left side of"),
    "right": ("right of", "to the right of", "on the right side of"),
    "behind": ("behind",),
    "front": ("in front of",),
}
BECOMES = ("changed to", "turned", "became")  # of a colour or a material
PREDICATES = {
    "add": ("has appeared", "has been newly placed", "has been added"),
    "drop": ("has disappeared", "is missing", "is gone", "is no longer there"),
    "move": ("moved", "changed its location", "is in a different location"),
}
NO_CHANGE = (
    "no change was made",
    "there is no change",
    "the two scenes seem identical",
    "the scene is the same as before",
    "the scene remains the same",
    "nothing has changed",
    "nothing was modified",
    "no change has occurred",
    "there is no difference",
)
PLAIN, RELATIONAL, UNCHANGED = 4, 4, 6  # at most, a pair; the data set has about six a pair
WORDS = frozenset(
    "a added appeared as ball became been before behind big block blue brown change changed cube cyan cylinder difference different "
    "disappeared front gone gray green has identical in is its large left location longer made matte metal metallic missing modified "
    "moved newly no nothing object occurred of on placed purple red remains right rubber same scene scenes seem shiny side small "
    "sphere that the there thing tiny to turned two was yellow".split()
)
MAX_WORDS = 22


@dataclass(frozen=True)
class Fact:
    """What a caption claims. `change` None: nothing changed. `new`: the colour or material that came."""

    change: str | None
    target: tuple[tuple[str, str], ...] = ()  # (attribute, value) pairs in the order of ATTRIBUTES
    new: str | None = None
    relation: str | None = None
    anchor: tuple[tuple[str, str], ...] = ()


# ------------------------------------------------------------------------------------------------------------------- reading


def _alternatives(words) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _noun_phrase(prefix: str) -> str:
    parts = []
    for name in ATTRIBUTES[:-1]:
        words = [w for words in SYNONYMS[name].values() for w in words]
        parts.append(f"(?:(?P<{prefix}_{name}>{_alternatives(words)}) )?")
    shapes = [*ANY_SHAPE, *(w for words in SYNONYMS["shape"].values() for w in words)]
    return "the " + "".join(parts) + f"(?P<{prefix}_shape>{_alternatives(shapes)})"


_MEANING = {name: {word: value for value, words in table.items() for word in words} for name, table in SYNONYMS.items()}
_RELATION = {phrase: name for name, phrases in RELATIONS.items() for phrase in phrases}
_ENDING = {phrase: change for change, phrases in PREDICATES.items() for phrase in phrases}
_VALUES = [*_MEANING["colour"], *_MEANING["material"]]
_CAPTION = re.compile(
    _noun_phrase("target")
    + f"(?: (?:that is )?(?P<relation>{_alternatives(_RELATION)}) "
    + _noun_phrase("anchor")
    + ")?"
    f" (?:(?P<ending>{_alternatives(_ENDING)})|(?:{_alternatives(BECOMES)}) (?P<value>{_alternatives(_VALUES)}))"
)


def parse(caption: str) -> Fact:
    """The claim of a caption. Raises ValueError for one that the grammar cannot have written."""
    if caption in NO_CHANGE:
        return Fact(None)
    match = _CAPTION.fullmatch(caption)
    if not match:
        raise ValueError(f"no caption of this grammar: {caption!r}")

    def described(prefix: str) -> tuple[tuple[str, str], ...]:
        said = {name: match[f"{prefix}_{name}"] for name in ATTRIBUTES}
        return tuple((name, _MEANING[name][word]) for name, word in said.items() if word and word not in ANY_SHAPE)

    new = change = None
    if match["value"]:
        change = "color" if match["value"] in COLOURS else "material"
        new = _MEANING["colour" if change == "color" else "material"][match["value"]]
    else:
        change = _ENDING[match["ending"]]
    relation = _RELATION[match["relation"]] if match["relation"] else None
    return Fact(change, described("target"), new, relation, described("anchor"))


# ------------------------------------------------------------------------------------------------------------------- writing


def unique_descriptions(scene: list[Thing], index: int) -> list[tuple[tuple[str, str], ...]]:
    """Every set of attributes that fits this object and no other of the scene."""
    thing, found = scene[index], []
    for count in range(1, len(ATTRIBUTES) + 1):
        for names in combinations(ATTRIBUTES, count):
            chosen = tuple((name, getattr(thing, name)) for name in names)
            if sum(other.has(dict(chosen)) for other in scene) == 1:
                found.append(chosen)
    return found


def referents(scene: list[Thing], fact: Fact) -> list[int]:
    """The objects that the caption's subject can mean, in the scene that it speaks of."""
    found = [i for i, thing in enumerate(scene) if thing.has(dict(fact.target))]
    if fact.relation:
        anchors = [i for i, thing in enumerate(scene) if thing.has(dict(fact.anchor))]
        found = [i for i in found if any(relation_holds(fact.relation, scene[i], scene[a]) for a in anchors if a != i)]
    return found


def facts_of(scene: list[Thing], index: int, change: str, new: str | None) -> tuple[list[Fact], list[Fact]]:
    """All plain and all relational claims that single out object `index` of the scene they speak of."""
    if change not in CHANGES:
        raise ValueError(f"unknown change {change!r}, expected one of {', '.join(CHANGES)}")
    plain = [Fact(change, description, new) for description in unique_descriptions(scene, index)]
    full = tuple((name, getattr(scene[index], name)) for name in ATTRIBUTES)
    relational = []
    for anchor in range(len(scene)):
        if anchor == index:
            continue
        for relation in RELATIONS:
            if not relation_holds(relation, scene[index], scene[anchor]):
                continue
            for description in unique_descriptions(scene, anchor):
                fact = Fact(change, full, new, relation, description)
                if referents(scene, fact) == [index]:
                    relational.append(fact)
    return plain, relational


def write(fact: Fact, rng: np.random.Generator) -> str:
    """One wording of the claim, synonyms drawn."""
    if fact.change is None:
        return str(rng.choice(NO_CHANGE))

    def phrase(attributes: tuple[tuple[str, str], ...]) -> str:
        words = [str(rng.choice(SYNONYMS[name][value])) for name, value in attributes]
        if not any(name == "shape" for name, _ in attributes):
            words.append(str(rng.choice(ANY_SHAPE)))
        return " ".join(["the", *words])

    text = phrase(fact.target)
    if fact.relation:
        text += f"{rng.choice(['', ' that is'])} {rng.choice(RELATIONS[fact.relation])} {phrase(fact.anchor)}"
    if fact.new:
        names = SYNONYMS["colour" if fact.change == "color" else "material"]
        return f"{text} {rng.choice(BECOMES)} {rng.choice(names[fact.new])}"
    return f"{text} {rng.choice(PREDICATES[fact.change])}"


# Of each claim the wording that agrees most with all others: CIDEr-D of 400 drawn scenes against the wordings above, 170 on changes
# (a wording drawn at random 134) and 182 on none (98 for "nothing has changed").
CONSENSUS = {"add": "has been newly placed", "drop": "is no longer there", "move": "is in a different location"}
CONSENSUS_BECOMES, CONSENSUS_UNCHANGED = "changed to", "there is no change"


def consensus(change: str | None, thing: dict[str, str] | None = None, new: str | None = None) -> str:
    """The sentence a model learns: all attributes of the object (before the change; of an added one after it), one wording of each."""
    if change is None:
        return CONSENSUS_UNCHANGED
    subject = " ".join(["the", *(SYNONYMS[name][thing[name]][0] for name in ATTRIBUTES)])
    if change in CONSENSUS:
        return f"{subject} {CONSENSUS[change]}"
    return f"{subject} {CONSENSUS_BECOMES} {SYNONYMS['colour' if change == 'color' else 'material'][new][0]}"


def judge(caption: str, truth: dict | None) -> tuple[bool, tuple[bool, bool, bool]]:
    """Whether a caption says that nothing changed, and whether its change, also its noun, and everything it says of the object is true.

    truth: an entry of Pair.objects with `change`, the attributes and `became`; what a caption leaves out is not wrong, but the noun is
    asked for. A caption that cannot be read is wrong throughout.
    """
    try:
        fact = parse(caption)
    except ValueError:
        return False, (False, False, False)
    if truth is None or fact.change is None:
        return fact.change is None, (False, False, False)
    change, said = fact.change == truth["change"], dict(fact.target)
    true = {**truth, "shape": truth["noun"]}
    noun = change and said.get("shape") == truth["noun"]
    return False, (
        change,
        noun,
        noun and all(true[name] == value for name, value in said.items()) and fact.new == truth["became"],
    )


def captions(plain: list[Fact], relational: list[Fact], rng: np.random.Generator) -> list[str]:
    """Some wordings of some of the claims, no wording twice."""
    chosen = []
    for facts, most in ((plain, PLAIN), (relational, RELATIONAL)):
        chosen += [facts[i] for i in rng.permutation(len(facts))[:most]]
    return list(dict.fromkeys(write(fact, rng) for fact in chosen))


def no_change_captions(rng: np.random.Generator) -> list[str]:
    return [str(text) for text in rng.permutation(NO_CHANGE)[:UNCHANGED]]
