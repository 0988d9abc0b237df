"""False sentences about a pair, each as near to a true one as a captioner's mistake: training of the truth check.

After the hard negatives of IDC-PCL (Yao et al., AAAI 2022), by rules. Values of slots are replaced such that every one
is as frequent in false as in true sentences, or a network would learn to separate them blindly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from training.contract import Clause
from training.text.captions import choose_clauses, write
from training.text.grammar import NO_CHANGE, ONLY_NUISANCE, parse_clauses
from training.text.lexicon import COLOURS, FRAME_PLACES, NOUNS, hypernym
from training.text.noun_tree import ROOT, wider_noun
from training.text.truth import FALSE, OPPOSITE, judge_sentence, units_of

NEGATIVES = 6
WAYS = ("direction", "direction", "noun", "colour", "place or count", "other")
ACTIONS = ("appeared", "disappeared", "moved", "replaced")
TRIES = 12  # draws of a value until the sentence is false
WIDER = 0.15  # probability that a true sentence names a wider class than the world does
TWO_CLAUSES = 0.15  # the service asks about single clauses, and a batch is as long as its longest sentence
DENIED = 1 / 6  # of the changed pairs have "nothing has changed" as a false sentence
OWN = 0.5  # of the pairs about which the captioner says something false have that
CANDIDATES = 12  # other pairs of which the one with the most alike sentence is taken

Flow = dict[Any, tuple[list[Any], np.ndarray, float]]


def balanced(shares: dict[Any, float], weight: Callable[[Any, Any], float]) -> Flow:
    """How to replace each value so that all stay as frequent: value -> other values, their cumulative probabilities,
    and the probability that it is replaced at all, which is below 1 for a value of more than half of all.

    shares: value -> frequency; weight(a, b) = weight(b, a): how gladly one replaces the other. A symmetric flow between
    values is scaled until each gives, and so gets, its share (Sinkhorn and Knopp 1967).
    """
    values = [value for value, share in shares.items() if share > 0]
    share = np.array([shares[value] for value in values], float) / sum(shares.values())
    wanted = np.minimum(share, share.sum() - share)
    flow = np.array([[weight(a, b) if a != b else 0.0 for b in values] for a in values], float)
    for _ in range(300):
        scale = np.sqrt(wanted / np.maximum(flow.sum(1), 1e-12))
        flow = flow * scale[:, None] * scale[None]
    flow *= np.minimum(1, wanted / np.maximum(flow.sum(1), 1e-12)).min() if len(values) > 2 else 1
    given = flow.sum(1)
    return {
        value: (values, np.cumsum(flow[i]) / max(given[i], 1e-12), float(min(1, given[i] / share[i])))
        for i, value in enumerate(values)
    }


def draw(flow: Flow, value: Any, rng: np.random.Generator) -> Any:
    """Another value; None if the value is unknown."""
    if value not in flow or flow[value][2] <= 0:
        return None
    values, cumulative, _ = flow[value]
    return values[min(int(np.searchsorted(cumulative, rng.random())), len(values) - 1)]


class FalseSentences:
    """True sentences of pairs and false ones beside them.

    pairs: lines of a cache's meta.jsonl with `described` (the objects that captions speak of) and `words` (what the
    captioner writes about each crop).
    """

    def __init__(self, pairs: list[dict[str, Any]], seed: int = 0):
        rng = np.random.default_rng(seed)
        self.pairs = pairs
        changed = [pair for pair in pairs if pair["objects"]]
        self.pool = [self.true_clauses(pair, rng) for pair in changed]
        self.words = [frozenset(self.write(clauses, rng).split()) for clauses in self.pool]
        counts = Counter(word for words in self.words for word in words)
        self.rarity = {word: float(np.log(len(self.pool) / count)) for word, count in counts.items()}
        self.stated = [own_clauses(pair.get("words", ())) for pair in pairs]
        self.flows = self._flows([clause for clauses in self.pool for clause in clauses])

    def _flows(self, clauses: list[Clause]) -> dict[Any, Flow]:
        phrases = [(c.noun, c.colour, c.count) for c in clauses] + [c.new for c in clauses if c.new]
        confused = self._confusions()
        nouns = Counter(noun for noun, _, _ in phrases)
        alike = {(a, b) for a in nouns for b in nouns if ROOT not in (a, b) and hypernym(a) == hypernym(b)}
        mass = max(1, sum(confused.values()))

        def noun_weight(a: str, b: str) -> float:
            near = confused[frozenset((a, b))] / mass / 2
            return 0.5 * near + (0.35 / len(alike) if (a, b) in alike else 0.15 / len(nouns) ** 2)

        places = Counter(c.where for c in clauses if c.where and c.action != "moved")
        flows: dict[Any, Flow] = {
            "action": balanced(Counter(c.action for c in clauses), action_weight),
            "noun": balanced(nouns, noun_weight),
            "place": balanced(places, lambda a, b: 1.0 if (a in FRAME_PLACES) == (b in FRAME_PLACES) else 0.4),
            "count": balanced(Counter(count for _, _, count in phrases), lambda a, b: 1.0),
        }
        for kind in ("person", "vehicle", "animal", "object"):
            colours = Counter(colour for noun, colour, _ in phrases if colour and kind_of(noun) == kind)
            if len(colours) > 2:
                flows["colour", kind] = balanced(colours, lambda a, b: 1.0)
        self.directions = [c.where for c in clauses if c.action == "moved"] or [None]
        self.places = [c.where for c in clauses if c.action in ("appeared", "disappeared")] or [None]
        self.present = [c.new for c in clauses if c.new] or [("car", None, 1)]
        return flows

    def _confusions(self) -> Counter:
        """Pairs of nouns that the captioner confuses, in what it writes about one crop."""
        confused: Counter = Counter()
        for pair, stated in zip(self.pairs, self.stated):
            for clauses in stated:
                for clause in clauses:
                    same = [thing for thing in pair["objects"] if thing["action"] == clause.action]
                    truth, slots = judge_sentence([clause], pair["objects"])
                    if truth == FALSE and slots[1] == FALSE and len(same) == 1:
                        confused[frozenset((clause.noun, same[0]["noun"]))] += 1
        return confused

    def true_clauses(self, pair: dict[str, Any], rng: np.random.Generator) -> list[Clause]:
        """Clauses about one or two of the described units; none for an unchanged pair."""
        units = units_of(pair["described"]) if pair["objects"] else []
        if not units:
            return []
        count = 2 if len(units) > 1 and rng.random() < TWO_CLAUSES else 1
        chosen = sorted(rng.choice(len(units), count, replace=False))
        clauses = choose_clauses([thing for i in chosen for thing in units[i]], rng)
        return [widened(clause, rng) if rng.random() < WIDER else clause for clause in clauses]

    def write(self, clauses: list[Clause], rng: np.random.Generator) -> str:
        """A wording of the clauses; without any, a sentence that denies a change."""
        if clauses:
            return write_any(clauses, rng)
        texts = NO_CHANGE if rng.random() < 0.85 else tuple(text for texts in ONLY_NUISANCE.values() for text in texts)
        return str(rng.choice(texts))

    def group(self, index: int, rng: np.random.Generator) -> list[tuple[str, list[Clause]]]:
        """The true sentence of a pair and NEGATIVES false ones: how each was made, and its clauses."""
        pair = self.pairs[index]
        clauses = self.true_clauses(pair, rng)
        found: list[tuple[str, list[Clause]]] = [("true", clauses)]
        for way in WAYS if clauses else ("other",) * NEGATIVES:
            found.append(self._false(way, clauses, index, rng, [other for _, other in found]))
        return found

    def _false(
        self, way: str, clauses: list[Clause], index: int, rng: np.random.Generator, taken: list[list[Clause]]
    ) -> tuple[str, list[Clause]]:
        objects = self.pairs[index]["objects"]
        if way == "other":
            return self._other(clauses, index, rng, taken)
        for _ in range(TRIES):
            at = int(rng.integers(len(clauses)))
            name, edited = self._edit(way, clauses[at], objects, rng)
            sentence = [*clauses[:at], edited, *clauses[at + 1 :]] if edited else None
            if sentence and sentence not in taken and judge_sentence(sentence, objects)[0] == FALSE:
                return name, sentence
        return self._other(clauses, index, rng, taken)

    def _other(
        self, clauses: list[Clause], index: int, rng: np.random.Generator, taken: list[list[Clause]]
    ) -> tuple[str, list[Clause]]:
        """A false sentence of the captioner, noun phrases exchanged, a denial, or the most alike sentence of some other
        pairs."""
        objects = self.pairs[index]["objects"]
        allowed = lambda sentence: sentence not in taken and judge_sentence(sentence, objects)[0] == FALSE
        true = [sentence for sentence in self.stated[index] if sentence and allowed(sentence)]
        if true and rng.random() < OWN:
            return "own", true[int(rng.integers(len(true)))]
        swapped = confuse(clauses)
        if swapped and rng.random() < 0.5 and allowed(swapped):
            return "confused", swapped
        if clauses and rng.random() < DENIED and allowed([]):
            return "denied", []
        words = frozenset(self.write(clauses, rng).split())
        some = rng.integers(len(self.pool), size=CANDIDATES if clauses else 1)
        near = sorted(some, key=lambda i: -sum(self.rarity[word] for word in words & self.words[i]))
        for other in [*near, *rng.integers(len(self.pool), size=50)]:
            if allowed(self.pool[other]):
                return "retrieved", self.pool[other]
        return "retrieved", self.pool[int(near[0])]

    def _edit(
        self, way: str, clause: Clause, objects: list[dict[str, Any]], rng: np.random.Generator
    ) -> tuple[str, Clause | None]:
        if way == "direction":
            if clause.where in OPPOSITE and clause.action == "moved" and rng.random() < 0.5:
                return "opposite way", replace(clause, where=OPPOSITE[clause.where])
            action = draw(self.flows["action"], clause.action, rng)
            return "direction", action and self._with_action(clause, action, objects, rng)
        if way == "place or count":
            new = self._in_phrase(clause, "count", self.flows["count"], rng, sometimes=True)
            if new:
                return "count", new
            if clause.action == "moved" or not clause.where:
                return "place", None
            place = draw(self.flows["place"], clause.where, rng)
            return "place", place and replace(clause, where=place)
        return way, self._in_phrase(clause, way, self.flows.get(way), rng)

    def _in_phrase(
        self, clause: Clause, slot: str, flow: Flow | None, rng: np.random.Generator, sometimes: bool = False
    ) -> Clause | None:
        """The clause with another value in one of its noun phrases; None if it has none, or (sometimes) at random."""
        at = {"noun": 0, "colour": 1, "count": 2}[slot]
        of_new = clause.new is not None and rng.random() < 0.5
        phrase = list(clause.new if of_new else (clause.noun, clause.colour, clause.count))
        if slot == "colour":
            flow = self.flows.get(("colour", kind_of(phrase[0])))
        value = phrase[at]
        if not flow or value not in flow or (sometimes and rng.random() >= flow[value][2]):
            return None
        phrase[at] = draw(flow, value, rng)
        if phrase[0] == ROOT:
            phrase[1] = None
        if of_new:
            return replace(clause, new=tuple(phrase))
        return replace(clause, noun=phrase[0], colour=phrase[1], count=phrase[2])

    def _with_action(
        self, clause: Clause, action: str, objects: list[dict[str, Any]], rng: np.random.Generator
    ) -> Clause:
        """The clause with another action, and what it then needs: a place or a direction, a present thing."""
        where, new = clause.where, None
        pick = lambda values: values[int(rng.integers(len(values)))]
        if action == "moved":
            where = pick(self.directions)
        elif clause.action == "moved":
            # The world gives a direction of what moved, and no place; one that the frame gives is true all the same.
            where = pick(self.places)
        noun, colour, count = clause.noun, clause.colour, clause.count
        if action == "replaced":
            new = pick(self.present)
        elif clause.new and action == "disappeared":
            noun, colour, count = clause.new
        return Clause(action, noun, colour, where, count, new)


def action_weight(a: str, b: str) -> float:
    return 1.0 if {a, b} == {"appeared", "disappeared"} else 0.2 if "replaced" in (a, b) else 0.6


def kind_of(noun: str) -> str:
    return "object" if noun == ROOT else hypernym(noun)


def widened(clause: Clause, rng: np.random.Generator) -> Clause:
    """The clause with a wider true noun; "something" has no colour."""
    noun = wider_noun(clause.noun)
    while noun != ROOT and rng.random() < 0.4:
        noun = wider_noun(noun)
    return replace(clause, noun=noun, colour=None if noun == ROOT else clause.colour)


def confuse(clauses: list[Clause]) -> list[Clause] | None:
    """Noun phrases exchanged: those of two clauses, or of a replacement."""
    if len(clauses) == 2 and not any(clause.new for clause in clauses):
        a, b = clauses
        return [
            replace(a, noun=b.noun, colour=b.colour, count=b.count),
            replace(b, noun=a.noun, colour=a.colour, count=a.count),
        ]
    if len(clauses) == 1 and clauses[0].new:
        noun, colour, count = clauses[0].new
        old = (clauses[0].noun, clauses[0].colour, clauses[0].count)
        return [replace(clauses[0], noun=noun, colour=colour, count=count, new=old)]
    return None


def own_clauses(texts: Iterable[str]) -> list[list[Clause]]:
    """The captioner's texts as clauses; sentences outside the grammar and denials are left out."""
    found = []
    for text in texts:
        try:
            clauses = parse_clauses(text)
        except ValueError:
            continue
        if all(clause.noun in NOUNS and clause.colour in (None, *COLOURS) for clause in clauses):
            found.append(clauses)
    return found


def write_any(clauses: list[Clause], rng: np.random.Generator) -> str:
    """As `write` of the captions, and with "something"."""
    named = [replace(c, noun="object" if c.noun == ROOT else c.noun, new=_named(c.new)) for c in clauses]
    text = write(named, rng)
    if any(ROOT in (c.noun, c.new and c.new[0]) for c in clauses):
        for phrase in ("an object", "the object"):
            text = text.replace(phrase, ROOT)
        text = text.replace("objects", "things")
    return text


def _named(phrase: tuple[str, str | None, int] | None) -> tuple[str, str | None, int] | None:
    return phrase and ("object" if phrase[0] == ROOT else phrase[0], *phrase[1:])
