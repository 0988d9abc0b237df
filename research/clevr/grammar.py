"""Grammar of CLEVR-Change captions: writes claims in the wordings of the data set, and parses captions into claims.

One table of words and phrases serves both directions. The vocabulary (WORDS) is exactly that of the data set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from research.clevr.rules import CHANGES, COLOURS, Scene, relation_holds

SYNONYMS = {
    "size": {"large": ("large", "big"), "small": ("small", "tiny")},
    "colour": {colour: (colour,) for colour in COLOURS},
    "material": {"metal": ("metallic", "metal", "shiny"), "rubber": ("rubber", "matte")},
    "shape": {"sphere": ("sphere", "ball"), "cube": ("cube", "block"), "cylinder": ("cylinder",)},
}
ATTRIBUTES = tuple(SYNONYMS)  # in the order of the words
CHANGED_ATTRIBUTE = {"color": "colour", "material": "material"}  # per change of an attribute
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
# Largest numbers of captions per pair; the data set has about six per pair.
MAX_PLAIN, MAX_RELATIONAL, MAX_UNCHANGED = 4, 4, 6
WORDS = frozenset(
    "a added appeared as ball became been before behind big block blue brown change changed cube cyan cylinder "
    "difference different disappeared front gone gray green has identical in is its large left location longer made "
    "matte metal metallic missing modified moved newly no nothing object occurred of on placed purple red remains "
    "right rubber same scene scenes seem shiny side small sphere that the there thing tiny to turned two was "
    "yellow".split()
)
MAX_WORDS = 22


@dataclass(frozen=True)
class Claim:
    """A statement about a change, as a caption makes it."""

    change: str | None  # None: nothing changed
    target: tuple[tuple[str, str], ...] = ()  # (attribute, value) pairs in the order of ATTRIBUTES
    new: str | None = None  # the new colour or material
    relation: str | None = None  # of the target to the anchor
    anchor: tuple[tuple[str, str], ...] = ()  # as `target`


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


def parse(caption: str) -> Claim:
    """The claim of a caption. Raises ValueError for a caption that this grammar cannot write."""
    if caption in NO_CHANGE:
        return Claim(None)
    match = _CAPTION.fullmatch(caption)
    if not match:
        raise ValueError(f"no caption of this grammar: {caption!r}")

    def attributes_of(prefix: str) -> tuple[tuple[str, str], ...]:
        words = {name: match[f"{prefix}_{name}"] for name in ATTRIBUTES}
        return tuple((name, _MEANING[name][word]) for name, word in words.items() if word and word not in ANY_SHAPE)

    new = change = None
    if match["value"]:
        change = "color" if match["value"] in COLOURS else "material"
        new = _MEANING[CHANGED_ATTRIBUTE[change]][match["value"]]
    else:
        change = _ENDING[match["ending"]]
    relation = _RELATION[match["relation"]] if match["relation"] else None
    return Claim(change, attributes_of("target"), new, relation, attributes_of("anchor"))


def unique_descriptions(scene: Scene, index: int) -> list[tuple[tuple[str, str], ...]]:
    """Every set of attributes that is true of object `index` and of no other object of the scene."""
    obj, found = scene[index], []
    for count in range(1, len(ATTRIBUTES) + 1):
        for names in combinations(ATTRIBUTES, count):
            chosen = tuple((name, getattr(obj, name)) for name in names)
            if sum(other.has(dict(chosen)) for other in scene) == 1:
                found.append(chosen)
    return found


def referents(scene: Scene, claim: Claim) -> list[int]:
    """Indices of the objects of the scene that the subject of a claim can mean."""
    found = [i for i, obj in enumerate(scene) if obj.has(dict(claim.target))]
    if claim.relation:
        anchors = [i for i, obj in enumerate(scene) if obj.has(dict(claim.anchor))]
        found = [i for i in found if any(relation_holds(claim.relation, scene[i], scene[a]) for a in anchors if a != i)]
    return found


def claims_of(scene: Scene, index: int, change: str, new: str | None) -> tuple[list[Claim], list[Claim]]:
    """All plain and all relational claims whose subject can only mean object `index` of the scene."""
    if change not in CHANGES:
        raise ValueError(f"unknown change {change!r}, expected one of {', '.join(CHANGES)}")
    plain = [Claim(change, description, new) for description in unique_descriptions(scene, index)]
    full = tuple((name, getattr(scene[index], name)) for name in ATTRIBUTES)
    relational = []
    for anchor in range(len(scene)):
        if anchor == index:
            continue
        for relation in RELATIONS:
            if not relation_holds(relation, scene[index], scene[anchor]):
                continue
            for description in unique_descriptions(scene, anchor):
                claim = Claim(change, full, new, relation, description)
                if referents(scene, claim) == [index]:
                    relational.append(claim)
    return plain, relational


def write(claim: Claim, rng: np.random.Generator) -> str:
    """A random wording of the claim."""
    if claim.change is None:
        return str(rng.choice(NO_CHANGE))

    def phrase(attributes: tuple[tuple[str, str], ...]) -> str:
        words = [str(rng.choice(SYNONYMS[name][value])) for name, value in attributes]
        if not any(name == "shape" for name, _ in attributes):
            words.append(str(rng.choice(ANY_SHAPE)))
        return " ".join(["the", *words])

    text = phrase(claim.target)
    if claim.relation:
        text += f"{rng.choice(['', ' that is'])} {rng.choice(RELATIONS[claim.relation])} {phrase(claim.anchor)}"
    if claim.new:
        names = SYNONYMS[CHANGED_ATTRIBUTE[claim.change]]
        return f"{text} {rng.choice(BECOMES)} {rng.choice(names[claim.new])}"
    return f"{text} {rng.choice(PREDICATES[claim.change])}"


# Per claim the wording with the highest CIDEr-D against all wordings, over 400 scenes: 170 on changed pairs (134 for
# a random wording) and 182 on unchanged ones (98 for "nothing has changed").
CONSENSUS = {"add": "has been newly placed", "drop": "is no longer there", "move": "is in a different location"}
CONSENSUS_BECOMES, CONSENSUS_UNCHANGED = "changed to", "there is no change"


def consensus(change: str | None, obj: dict[str, str] | None = None, new: str | None = None) -> str:
    """The caption that the model is trained on, in the consensus wording with all attributes of the object.

    `obj` is the object before the change, or an added one after it. `new` is the new colour or material.
    """
    if change is None:
        return CONSENSUS_UNCHANGED
    subject = " ".join(["the", *(SYNONYMS[name][obj[name]][0] for name in ATTRIBUTES)])
    if change in CONSENSUS:
        return f"{subject} {CONSENSUS[change]}"
    return f"{subject} {CONSENSUS_BECOMES} {SYNONYMS[CHANGED_ATTRIBUTE[change]][new][0]}"


def judge(caption: str, truth: dict | None) -> tuple[bool, tuple[bool, bool, bool]]:
    """Whether a caption states that nothing changed, and whether (change, noun, all attributes) are true.

    `truth` is an entry of Pair.objects with `change`, the attributes and `became` (the new colour or material), or
    None for an unchanged pair. A caption without the noun is wrong in the noun; other attributes may be left out. A
    caption outside the grammar is wrong in everything.
    """
    try:
        claim = parse(caption)
    except ValueError:
        return False, (False, False, False)
    if truth is None or claim.change is None:
        return claim.change is None, (False, False, False)
    change, stated = claim.change == truth["change"], dict(claim.target)
    true = {**truth, "shape": truth["noun"]}
    noun = change and stated.get("shape") == truth["noun"]
    return False, (
        change,
        noun,
        noun and all(true[name] == value for name, value in stated.items()) and claim.new == truth["became"],
    )


def captions(plain: list[Claim], relational: list[Claim], rng: np.random.Generator) -> list[str]:
    """Random wordings of random claims, all different."""
    chosen = []
    for claims, most in ((plain, MAX_PLAIN), (relational, MAX_RELATIONAL)):
        chosen += [claims[i] for i in rng.permutation(len(claims))[:most]]
    return list(dict.fromkeys(write(claim, rng) for claim in chosen))


def no_change_captions(rng: np.random.Generator) -> list[str]:
    return [str(text) for text in rng.permutation(NO_CHANGE)[:MAX_UNCHANGED]]
