"""A sentence of several clauses beside the kind that both looks believe in; the counterpart of src/model/clauses.ts."""

import re

# The particular before the general: "there is a van instead of a car" is no appearance.
VERBS = (
    ("replace", re.compile(r"\bbeen replaced by\b|\btaken the place of\b|\binstead of\b")),
    ("disappear", re.compile(r"\b(?:has|have) (?:left|disappeared)\b|\b(?:is|are) (?:gone|no longer there)\b")),
    ("move", re.compile(r"\b(?:has|have) (?:been )?(?:moved|walked|driven|shifted)\b")),
    ("appear", re.compile(r"\b(?:has|have) (?:appeared|arrived)\b|\bthere (?:is|are)\b|\b(?:is|are) now\b")),
)


def sentence_that_agrees(sentence: str, kind: str) -> str:
    """The clauses that say what `kind` says, each once; the sentence as it is where `kind` allows several actions, no clause fits it or one
    of them has no verb that is known here."""
    clauses = _clauses(sentence.split())
    kinds = [_kind(clause) for clause in clauses]
    if None in kinds:
        return sentence
    fitting = kind in kinds
    return " and ".join(dict.fromkeys(clause for clause, own in zip(clauses, kinds) if not fitting or own == kind))


def _clauses(words: list[str]) -> list[str]:
    """An "and" between two things of one clause ends none: what follows has no verb."""
    clauses: list[list[str]] = [[]]
    for i, word in enumerate(words):
        rest = words[i + 1 :]
        rest = rest[: rest.index("and")] if "and" in rest else rest
        if word == "and" and _kind(" ".join(clauses[-1])) and _kind(" ".join(rest)):
            clauses.append([])
        else:
            clauses[-1].append(word)
    return [" ".join(clause) for clause in clauses]


def _kind(clause: str) -> str | None:
    return next((kind for kind, verb in VERBS if verb.search(clause)), None)
