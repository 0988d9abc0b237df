"""The grammar of surveillance captions: the templates of every statement, and the parser that reads them back into
facts.

`captions.py` writes with the same templates, so writing and reading cannot drift apart. Parsing is a full match of
closed regular expressions: a caption outside the grammar is refused, never guessed at.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from training.contract import Clause
from training.text.lexicon import ALSO_CALLED, ALSO_COLOURED, COLOURS, DIRECTIONS, NOUNS, PLACES, SINGULAR, hypernym

SEVERAL = 4  # "several" is read as this count: four or more
COUNT_WORDS = {2: "two", 3: "three", SEVERAL: "several"}
GARMENTS = ("shirt", "jacket", "coat", "top")

NO_CHANGE = (
    "nothing has changed",
    "there is no change",
    "no change can be seen",
    "the scene is the same as before",
    "everything is as before",
)
# Written now and then if that nuisance is the most visible difference of an unchanged pair.
ONLY_NUISANCE: dict[str, tuple[str, ...]] = {
    "lighting": ("only the light has changed", "nothing has changed except the light"),
    "ir_switch": ("only the camera has switched to night mode", "nothing has changed except the colours"),
    "shadow": ("only the shadows have changed", "nothing has changed except the shadows"),
    "weather": ("only the weather has changed", "nothing has changed except the weather"),
    "camera_moved": ("only the camera has moved slightly", "nothing has changed but the camera has moved"),
    "defocus": ("nothing has changed but the picture is blurred",),
    "foliage": ("nothing has changed except the leaves",),
}


# The sentences of the service (src/language/tables): {np} with "a", {dnp} with "the", {new} the replacement, {has} and
# {is} agree with the subject, {w} is the place or the direction. Second field: the hypernyms that the verb is used of.
# Third field: whether the place is required.
LIVING = ("person", "vehicle", "animal")
ANY = (*LIVING, "object")
TABLE = json.loads((Path(__file__).parents[2] / "src/language/tables/en.json").read_text(encoding="utf-8"))
# In this order: a move has both slots, of which captions state one.
_SLOTS = {"{a}": "{np}", "{the}": "{dnp}", "{way} {place}": "{w}", "{place}": "{w}"}


def _templates(kind: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """The templates of a kind that captions are written by, in the order of the table."""
    rows = [row for row in TABLE["sentences"][kind].values() if row.get("captioner", True)]
    texts = [row["text"] for row in rows]
    for slot, name in _SLOTS.items():
        texts = [text.replace(slot, name) for text in texts]
    return tuple((text, tuple(row.get("of", ANY)), "needs" in row) for text, row in zip(texts, rows))


TEMPLATES: dict[str, tuple[tuple[str, tuple[str, ...], bool], ...]] = {
    action: _templates(kind)
    for action, kind in {
        "appeared": "appear",
        "disappeared": "disappear",
        "moved": "move",
        "replaced": "replace",
    }.items()
}

# Event -> the words by which a clause reports it; every clause has exactly one.
EVENT_WORDS = {
    "appeared": ("appeared", "arrived", "now"),
    "disappeared": ("gone", "disappeared", "longer", "left"),
    "moved": ("moved", "walked", "driven", "shifted"),
    "replaced": ("replaced", "taken", "instead"),
}
# A word that reports its event only directly after one of these: "has left", but "on the left".
EVENT_NEEDS = {"left": ("has", "have")}


def _alternation(words: Any) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


_COLOUR = _alternation(COLOURS)
_NOUN = _alternation([*NOUNS, *SINGULAR])
_WORN = f"in (?:an? )?{_COLOUR}(?: {_alternation(('clothes', *GARMENTS))})?"
_NP = (
    f"(?:someone|(?:the )?(?:two|three|several) (?:{_COLOUR} )?{_NOUN}(?: {_WORN})?"
    f"|(?:a|an|the) (?:{_COLOUR} )?{_NOUN}(?: {_WORN})?)"
)
_NP_PARTS = re.compile(
    f"(?:the )?(?:(?P<count>two|three|several|a|an) )?(?:(?P<colour>{_COLOUR}) )?(?P<noun>{_NOUN})"
    f"(?: in (?:an? )?(?P<worn>{_COLOUR})(?: .+)?)?"
)


def _reader(template: str, action: str) -> re.Pattern[str]:
    phrase = _alternation(DIRECTIONS if action == "moved" else PLACES)
    pattern = template.replace(" {w}", f"(?: (?P<w>{phrase}))?")
    pattern = pattern.replace("{has}", "(?:has|have)").replace("{is}", "(?:is|are)")
    pattern = pattern.replace("{new}", f"(?P<new>{_NP})")
    return re.compile(re.sub(r"\{d?np\}", f"(?P<np>{_NP}(?: and {_NP})?)", pattern))


_READERS = [(action, _reader(template, action)) for action, rows in TEMPLATES.items() for template, _, _ in rows]
_UNCHANGED = frozenset((*NO_CHANGE, *(text for texts in ONLY_NUISANCE.values() for text in texts)))


def parse(caption: str) -> list[dict[str, Any]]:
    """The facts of a caption: dicts of action, noun, hypernym, colour, where, count; empty for "no change".

    A replacement gives two, both with action "replaced": first the former object, which has the place, then the present
    one. @raises ValueError for a caption outside the grammar.
    """
    if caption in _UNCHANGED:
        return []
    slots: list[dict[str, Any]] = []
    for clause in parse_clauses(caption):
        slots.append(_slot(clause.action, clause.noun, clause.colour, clause.where, clause.count))
        if clause.new:
            noun, colour, count = clause.new
            slots.append(_slot(clause.action, noun, colour, None, count))
    return slots


def _slot(action: str, noun: str, colour: str | None, where: str | None, count: int) -> dict[str, Any]:
    return {
        "action": action,
        "noun": noun,
        "hypernym": hypernym(noun),
        "colour": colour,
        "where": where,
        "count": count,
    }


def parse_clauses(caption: str) -> list[Clause]:
    """As parse, but one Clause per statement. A piece between two "and" that is no statement joins the next piece."""
    clauses: list[Clause] = []
    pending = ""
    for piece in caption.split(" and "):
        pending = f"{pending} and {piece}" if pending else piece
        found = _read_statement(pending)
        if found:
            clauses.extend(found)
            pending = ""
    if pending or not clauses:
        raise ValueError(f"no caption of this grammar: {caption!r}, stuck at {pending!r}")
    return clauses


def _read_statement(text: str) -> list[Clause]:
    for action, reader in _READERS:
        match = reader.fullmatch(text)
        if match:
            groups = match.groupdict()
            new = _read_np(groups["new"]) if groups.get("new") else None
            return [
                Clause(action, *_read_np(np_text)[:2], groups["w"], _read_np(np_text)[2], new)
                for np_text in groups["np"].split(" and ")
            ]
    return []


def _read_np(text: str) -> tuple[str, str | None, int]:
    if text == "someone":
        return "person", None, 1
    match = _NP_PARTS.fullmatch(text)
    assert match, text  # both expressions are built from the same words
    counts = {word: number for number, word in COUNT_WORDS.items()}
    noun = match["noun"]
    return SINGULAR.get(noun, noun), match["colour"] or match["worn"], counts.get(match["count"], 1)


def vocabulary() -> list[str]:
    """Every word the grammar can write, sorted."""
    texts = [
        *_UNCHANGED,
        *NOUNS,
        *SINGULAR,
        *COLOURS,
        *PLACES,
        *DIRECTIONS,
        *COUNT_WORDS.values(),
        *GARMENTS,
        "someone a an the and in clothes has have is are",
    ]
    texts += [re.sub(r"\{\w+\}", " ", t) for rows in TEMPLATES.values() for t, _, _ in rows]
    return sorted({word for text in texts for word in text.split()})


def consistent(slot: dict[str, Any], thing: dict[str, Any]) -> bool:
    """Whether a slot of `parse` is true of an object of a Pair."""
    nouns = (thing["noun"], *ALSO_CALLED.get(thing["noun"], ()))
    colours = (None, thing["colour"], *ALSO_COLOURED.get(thing["colour"] or "", ()))
    return (
        slot["action"] == thing["action"]
        and slot["noun"] in nouns
        and slot["colour"] in colours
        and (slot["where"] is None or slot["where"] in thing["places"])
        and slot["count"] == min(thing["count"], SEVERAL)
    )
