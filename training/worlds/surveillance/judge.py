"""Judges a surveillance caption: parses it back into clauses and compares the first with the true objects."""

from typing import Any

from training.text import grammar
from training.text.lexicon import ALSO_CALLED, ALSO_COLOURED, NOUNS, SINGULAR
from training.world import Judgement


def clauses(caption: str) -> list[grammar.Clause]:
    """The clauses of a caption that states a change; empty for "no change" and for captions outside the grammar."""
    try:
        return grammar.parse_clauses(caption) if grammar.parse(caption) else []
    except ValueError:
        return []


def same_noun(stated: str, true: str) -> bool:
    """Equal, or either is a true name of the other (person for man, vehicle for car)."""
    stated, true = SINGULAR.get(stated, stated), SINGULAR.get(true, true)
    hypernym = NOUNS[true][1] if true in NOUNS else true
    return stated in (true, hypernym) or stated in ALSO_CALLED.get(true, ()) or true in ALSO_CALLED.get(stated, ())


def same_colour(stated: str | None, true: str | None) -> bool:
    """Equal, or either is another true name of the other; None (no colour) equals None alone."""
    if stated is None or true is None:
        return stated == true
    return stated == true or stated in ALSO_COLOURED.get(true, ()) or true in ALSO_COLOURED.get(stated, ())


def literal_noun(stated: str, true: str) -> bool:
    """Whether an object of noun `true` may be called `stated`; "man" is not literally true of a person."""
    return stated in (SINGULAR.get(true, true), *ALSO_CALLED.get(true, ()))


def judge(caption: str, meta: dict[str, Any]) -> Judgement:
    """meta: `objects` as in Pair. Only the first clause is judged."""
    found = clauses(caption)
    if not found:
        return Judgement(unchanged=True, action=False, noun=False, colour=False, place=False)
    first = found[0]
    matching = [obj for obj in meta["objects"] if obj["action"] == first.action]
    named = [obj for obj in matching if same_noun(first.noun, obj["noun"])]
    return Judgement(
        unchanged=False,
        action=bool(matching),
        noun=bool(named),
        colour=any(same_colour(first.colour, obj["colour"]) for obj in named),
        place=any(first.where in (obj["where"], *obj["places"]) for obj in matching),
        first_noun=first.noun,
        literal_noun=any(literal_noun(first.noun, obj["noun"]) for obj in matching),
    )
