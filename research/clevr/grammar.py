"""Grammar of CLEVR-Change captions: parses the wordings of the data set into claims, and writes the consensus wording.

One table of words and phrases serves both directions. Its vocabulary is exactly that of the data set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from research.clevr.rules import COLOURS

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
