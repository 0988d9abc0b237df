"""Batches of changes with a text each, to train the search vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.contract import KIND_OF_ACTION, KINDS, Clause
from training.data.evidence import Evidence, evidence_inputs, sizes_of
from training.net.evidence_tokens import EvidenceSizes
from training.text.captions import choose_clauses
from training.text.false_sentences import FalseSentences, widened, write_any
from training.text.grammar import parse_clauses, vocabulary
from training.text.noun_tree import ROOT
from training.text.queries import ANY_EVENT, EVENT_WORDS, SYNONYMS, plural_of, query_vocabulary, write_query
from training.text.search_words import SearchWords, misspelt
from training.text.truth import FALSE, OPPOSITE, TRUE, UNKNOWN
from training.text.truth_table import truth_table
from training.text.word_classes import classes_of_noun, colour_table, noun_table

BATCH = 96  # the design has 512; a step of 96 costs 0.5 CPU-s
UNCHANGED = 1 / 8  # of a batch
ONE_THING = 0.6  # of the changed pairs are taken as the change of one thing, whose crops alone are used
QUERIES, WIDER, MISSPELT = 0.4, 0.15, 0.1  # of the texts are queries, name a wider class, have a misspelt word
INVERTED = {"appeared": "disappeared", "disappeared": "appeared"}
SIDES = ("appeared", "disappeared")  # order of the last two concepts
UNCHANGED_WORDS = ("nothing", "same")


def search_vocabulary() -> list[str]:
    """Words of captions and of queries."""
    return ["<pad>", "<unk>", "<start>", "<end>", *sorted({*vocabulary(), ROOT, "things", *query_vocabulary()})]


def inverse(clauses: list[Clause]) -> list[Clause] | None:
    """The opposite events; None if a clause has no opposite."""
    found = []
    for clause in clauses:
        if clause.action in INVERTED:
            found.append(replace(clause, action=INVERTED[clause.action]))
        elif clause.action == "moved" and clause.where in OPPOSITE:
            found.append(replace(clause, where=OPPOSITE[clause.where]))
        elif clause.new and clause.new[:2] != (clause.noun, clause.colour):
            noun, colour, count = clause.new
            former = (clause.noun, clause.colour, clause.count)
            found.append(replace(clause, noun=noun, colour=colour, count=count, new=former))
        else:
            return None
    return found or None


def concept_table(words: list[str], names: dict[str, list[str]]) -> Tensor:
    """Which concepts (`concepts_of`) each word names, [words,C]. names: the namer's classes, `noun` and `colour`."""
    nouns, colours = noun_table(words, names["noun"]), colour_table(words, names["colour"])
    table = torch.cat([torch.tensor(nouns), torch.tensor(colours), torch.zeros(len(words), len(KINDS) + 2)], 1)
    at = {word: i for i, word in enumerate(words)}
    for other, noun in SYNONYMS.items():
        for word in (other, plural_of(other)):
            table[at[word], classes_of_noun(noun, names["noun"])] = 1
    first = len(names["noun"]) + len(names["colour"])
    for event, of in EVENT_WORDS.items():
        kind = KINDS.index(KIND_OF_ACTION[event])
        columns = [first + kind, *([first + len(KINDS) + SIDES.index(event)] if event in SIDES else [])]
        for word in of:
            table[at[word], columns] = 1
    for word in UNCHANGED_WORDS:
        table[at[word], first] = 1
    return table


@dataclass(frozen=True)
class Questions:
    """Texts about some pairs of a cache, to measure a search with. Q texts, G pairs."""

    texts: list[str]
    about: np.ndarray  # [Q]: position in `gallery` of the pair that a text is about
    gallery: list[int]  # the searched pairs, [G]
    true: np.ndarray  # bool [Q,G]: is the text true of the pair?
    # A text and the same wording of the opposite direction, which is false of the own pair, if there is one.
    opposed: list[tuple[str, str] | None]


class Changes:
    """Batches of changes with a text each, and the texts that are no negatives of them."""

    @staticmethod
    def open(folders: list[Path], bundle: Path, seed: int) -> Changes:
        """The pairs of caches as the frozen graphs of the bundle see them."""
        return Changes(Evidence(folders, bundle), seed)

    def __init__(self, data: Evidence, seed: int):
        self.data, self.words = data, SearchWords(search_vocabulary())
        self.sentences = FalseSentences(data.meta, seed)
        changed = np.array([bool(meta["objects"]) for meta in data.meta])
        self.changed, self.unchanged = np.flatnonzero(changed), np.flatnonzero(~changed)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def sizes(self) -> EvidenceSizes:
        return sizes_of(self.data)

    @property
    def concepts(self) -> Tensor:
        return concept_table(self.words.vocabulary, self.data.graphs.names)

    def evidence(self, indices: list[int]) -> tuple[Tensor, ...]:
        """With all crops of each pair."""
        return evidence_inputs(self.data.arrays(indices))

    def draw(self, rng: np.random.Generator, size: int = BATCH) -> list[int]:
        few = min(len(self.unchanged), int(size * UNCHANGED))
        return [
            *rng.choice(self.changed, min(len(self.changed), size - few), replace=False).tolist(),
            *rng.choice(self.unchanged, few, replace=False).tolist(),
        ]

    def change(self, index: int, rng: np.random.Generator) -> tuple[list[dict[str, Any]], list[int], list[Clause]]:
        """Objects of a change of the pair, its crops, and clauses about it."""
        meta = self.data.meta[index]
        things = [(objects, crops) for objects, crops in meta["told"] if crops]
        if things and rng.random() < ONE_THING:
            objects, crops = things[int(rng.integers(len(things)))]
            clauses = choose_clauses(list(objects), rng)
            if rng.random() < WIDER:
                clauses = [widened(clause, rng) for clause in clauses]
            return list(objects), crops, clauses
        return meta["objects"], list(range(len(meta["glances"]))), self.sentences.true_clauses(meta, rng)

    def text(self, clauses: list[Clause], rng: np.random.Generator) -> tuple[str, list[Clause], str | None]:
        """A text, what it states, and the same wording of the inverse."""
        if len(clauses) == 1 and rng.random() < QUERIES:
            write = lambda chosen, rng: write_query(chosen[0], rng)
        else:
            write = lambda chosen, rng: (self.sentences.write(chosen, rng), None)
        state = rng.bit_generator.state
        text, stated = write(clauses, rng)
        opposite = inverse(clauses)
        unnamed = stated and (stated.action == ANY_EVENT or (clauses[0].new and not stated.new))
        if opposite is None or unnamed:
            return text, [stated] if stated else clauses, None
        again = np.random.default_rng()
        again.bit_generator.state = state
        inverted = write(opposite, again)[0]
        # A way that the query leaves out leaves nothing to invert.
        return text, [stated] if stated else clauses, inverted if inverted != text else None

    def batch(self, indices: list[int], rng: np.random.Generator) -> dict[str, Any]:
        """`evidence`; `texts`, one true text per pair; `inverted`, that text with the opposite direction or None;
        `left_out` float32 [B,B], 1 if another pair's text is true of a pair, or may be."""
        made = [self.change(index, rng) for index in indices]
        written = [self.text(clauses, rng) for _, _, clauses in made]
        texts = [misspelt(text, rng) if rng.random() < MISSPELT else text for text, _, _ in written]
        stated = [clauses for _, clauses, _ in written]
        table = truth_table(stated, [objects for objects, _, _ in made])
        # The other things of a pair are seen beside it, so their texts are not plainly false of it.
        table = np.maximum(table, UNKNOWN * truth_table(stated, [self.data.meta[i]["objects"] for i in indices]))
        left_out = (table > FALSE).T.astype(np.float32)
        np.fill_diagonal(left_out, 0)
        b = self.data.arrays(indices)
        mask = torch.zeros_like(b["glance_mask"])
        for row, (_, crops, _) in enumerate(made):
            mask[row, crops] = 1
        b["glance_mask"] = b["glance_mask"] * mask
        return {
            "evidence": evidence_inputs(b),
            "texts": texts,
            "inverted": [inverted for _, _, inverted in written],
            "left_out": torch.from_numpy(left_out),
        }

    def questions(self) -> Questions:
        """The first caption of every changed pair, among all pairs: the same ones at every call."""
        meta = self.data.meta
        changed = [i for i, of in enumerate(meta) if of["objects"]]
        captions = [meta[i]["captions"][0] for i in changed]
        clauses = [parse_clauses(caption) for caption in captions]
        true = truth_table(clauses, [of["objects"] for of in meta]) == TRUE
        opposed = [opposed_texts(parsed, i) if len(parsed) == 1 else None for i, parsed in enumerate(clauses)]
        return Questions(captions, np.array(changed), list(range(len(meta))), true, opposed)


def opposed_texts(clauses: list[Clause], seed: int) -> tuple[str, str] | None:
    """One wording of the clauses and of their inverse; None if they have no inverse."""
    opposite = inverse(clauses)
    if opposite is None:
        return None
    one, other = (write_any(of, np.random.default_rng(seed)) for of in (clauses, opposite))
    return one, other
