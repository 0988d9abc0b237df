"""Captions of surveillance changes: facts in, several wordings out, and every wording can be read back into facts.

The same table of templates both writes and reads, so the two cannot drift apart. Reading is a full match of closed
regular expressions: a caption outside the grammar is refused, never guessed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from training.text.lexicon import ALSO_CALLED, ALSO_COLOURED, COLOURS, DIRECTIONS, GREYS, NOUNS, PLACES, SINGULAR

MAX_WORDS = 26
MAX_CLAUSES = 3
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
# Said now and then when that nuisance is the most visible difference of an unchanged pair.
ONLY_NUISANCE: dict[str, tuple[str, ...]] = {
    "lighting": ("only the light has changed", "nothing has changed except the light"),
    "ir_switch": ("only the camera has switched to night mode", "nothing has changed except the colours"),
    "shadow": ("only the shadows have changed", "nothing has changed except the shadows"),
    "weather": ("only the weather has changed", "nothing has changed except the weather"),
    "camera_moved": ("only the camera has moved slightly", "nothing has changed but the camera has moved"),
    "defocus": ("nothing has changed but the picture is blurred",),
    "foliage": ("nothing has changed except the leaves",),
}


@dataclass(frozen=True)
class Clause:
    """One statement. Of a replacement, `noun` is what was there and `new` (noun, colour, count) what is there now."""

    action: str
    noun: str
    colour: str | None
    where: str | None
    count: int = 1
    new: tuple[str, str | None, int] | None = None


# {np}: with "a", {dnp}: with "the", {new}: the replacement, {has}/{is}: agree with the subject, {w}: place or direction.
# The second field says of which hypernyms people say it; the third whether the place is required.
LIVING = ("person", "vehicle", "animal")
ANY = (*LIVING, "object")
TEMPLATES: dict[str, tuple[tuple[str, tuple[str, ...], bool], ...]] = {
    "appeared": (
        ("{np} {has} appeared {w}", ANY, False),
        ("there {is} {np} {w} now", ANY, False),
        ("{np} {is} now {w}", ANY, True),
        ("{np} {has} arrived {w}", ("person", "vehicle"), False),
        ("{np} {is} now standing {w}", ("person",), True),
        ("{np} {is} now parked {w}", ("vehicle",), True),
    ),
    "disappeared": (
        ("{dnp} {w} {is} gone", ANY, False),
        ("{dnp} {w} {has} left", LIVING, False),
        ("{dnp} {w} {is} no longer there", ANY, False),
        ("{dnp} {w} {has} disappeared", ANY, False),
    ),
    "moved": (
        ("{dnp} {has} moved {w}", ANY, False),
        ("{dnp} {has} walked {w}", ("person",), True),
        ("{dnp} {has} driven {w}", ("vehicle",), True),
        ("{dnp} {has} been moved {w}", ("object",), False),
        ("{dnp} {has} shifted {w}", ANY, True),
    ),
    "replaced": (
        ("{dnp} {w} {has} been replaced by {new}", ANY, False),
        ("{new} has taken the place of {dnp} {w}", ANY, False),
        ("there is {new} {w} instead of {dnp}", ANY, False),
    ),
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
# Verbs that nobody uses of these.
UNSAID = {
    "standing": ("cyclist",),
    "walked": ("cyclist",),
    "driven": ("bicycle", "bike", "scooter"),
    "arrived": ("bicycle", "bike"),
}
# Places that say nothing of these: everybody indoors is on the floor.
EMPTY_PLACES = {"person": ("on the floor",)}


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


def hypernym(noun: str) -> str:
    return NOUNS[noun][1]


def parse(caption: str) -> list[dict[str, Any]]:
    """The facts of a caption: dicts of action, noun, hypernym, colour, where, count; empty for "no change".

    A replacement gives two, both with action "replaced": what was there first (the place is said of it), then what
    is there now.
    Raises ValueError for a caption that the grammar cannot have written.
    """
    if caption in _UNCHANGED:
        return []
    slots: list[dict[str, Any]] = []
    for clause in parse_clauses(caption):
        slots.append(
            {
                "action": clause.action,
                "noun": clause.noun,
                "hypernym": hypernym(clause.noun),
                "colour": clause.colour,
                "where": clause.where,
                "count": clause.count,
            }
        )
        if clause.new:
            noun, colour, count = clause.new
            slots.append(
                {
                    "action": clause.action,
                    "noun": noun,
                    "hypernym": hypernym(noun),
                    "colour": colour,
                    "where": None,
                    "count": count,
                }
            )
    return slots


def parse_clauses(caption: str) -> list[Clause]:
    """As parse, but one Clause a statement. A piece between two "and" that is no statement joins the next one."""
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
    """One statement about one clause, or about two that share their action and place."""
    first = clauses[0]
    kinds = {hypernym(c.noun) for c in clauses}
    rows = [
        (t, needs)
        for t, who, needs in TEMPLATES[first.action]
        if kinds <= set(who)
        and (first.where or not needs)
        and not any(verb in t and c.noun in nouns for verb, nouns in UNSAID.items() for c in clauses)
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


# How often a colour is said by another name that is also true; else one time in five. Of vehicles that surveillance cameras see people say "black" 1,123
# times, "blue" 379, "dark" 217 and "dark blue" 5 times (Jhamtani and Berg-Kirkpatrick 2018, counted): who may say it freely, says it of black cars.
SAID_OTHERWISE = {("vehicle", "dark blue"): 0.85}


def choose_colour(thing: dict[str, Any], rng: np.random.Generator) -> str | None:
    colour = thing["colour"]
    if colour is None:
        return None
    # People leave the colour out in a third of their sentences; who reads an alert wants to know which man it was.
    leave_out = {"person": 0.06, "vehicle": 0.03}.get(thing["hypernym"], 0.1) + (0.1 if thing.get("small") else 0.0)
    if rng.random() < leave_out:
        return None
    others = ALSO_COLOURED.get(colour, ())
    if thing.get("grey"):
        others = tuple(c for c in others if c in GREYS)
    otherwise = SAID_OTHERWISE.get((thing["hypernym"], colour), 0.2)
    return str(rng.choice(others)) if others and rng.random() < otherwise else colour


def choose_clauses(objects: list[dict[str, Any]], rng: np.random.Generator) -> list[Clause]:
    """What one caption says of the objects: words, and which of the true places, if any."""
    clauses: list[Clause] = []
    place_rate = 0.85 if len(objects) < 3 else 0.6
    index = 0
    while index < len(objects) and len(clauses) < MAX_CLAUSES:
        thing = objects[index]
        where = None
        empty = EMPTY_PLACES.get(thing["hypernym"], ())
        telling = [place for place in thing["places"] if place not in empty]
        if telling and rng.random() < (0.9 if thing["action"] == "moved" else place_rate):
            first = 0.6 if thing["action"] == "moved" else 0.65
            where = thing["where"] if thing["where"] in telling and rng.random() < first else str(rng.choice(telling))
        noun, colour, new = choose_noun(thing, rng), choose_colour(thing, rng), None
        if thing["action"] == "replaced":
            index += 1
            other = objects[index]
            new = (choose_noun(other, rng), choose_colour(other, rng), min(other["count"], SEVERAL))
            if new[0] == noun:  # "a man instead of the man" says nothing: colours tell them apart
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


def captions(objects: list[dict[str, Any]], nuisances: list[str], rng: np.random.Generator) -> list[str]:
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
    """Whether what a caption says (one slot of parse) is true of an object of a Pair."""
    nouns = (thing["noun"], *ALSO_CALLED.get(thing["noun"], ()))
    colours = (None, thing["colour"], *ALSO_COLOURED.get(thing["colour"] or "", ()))
    return (
        slot["action"] == thing["action"]
        and slot["noun"] in nouns
        and slot["colour"] in colours
        and (slot["where"] is None or slot["where"] in thing["places"])
        and slot["count"] == min(thing["count"], SEVERAL)
    )
