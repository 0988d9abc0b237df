"""Pairs of families with texts about them, to train and to measure the search vectors of a bundle of this world."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from research.clevr import grammar
from research.clevr.family_cache import pairs_of
from research.clevr.family_evidence import FamilyEvidence
from research.clevr.grammar import Claim
from research.clevr.rules import Scene, SceneObject, relation_holds
from research.clevr.search_texts import ANY, QUERIES, fits, inverse, kinds_of_words, vocabulary, write_text
from training.contract import KINDS
from training.net.frame_search import FrameSizes
from training.text.search_words import SearchWords, misspelt
from training.world import Questions

BATCH = 224
UNCHANGED = 1 / 8  # of a batch
MISSPELT = 0.1  # of the texts
RELATIONAL = 0.5  # of the texts about a change have a relation, as in the data set
MOST_RELATIONAL = 12  # claims with a relation that are kept per pair
NOTHING = Claim(None)


class SearchPairs:
    """Batches of pairs with a text each, and the texts that are no negatives of them."""

    def __init__(self, folders: list[Path], bundle: Path, seed: int):
        self.data, self.seed = FamilyEvidence(folders, bundle), seed
        self.words = SearchWords(vocabulary())
        changed = np.array([bool(meta["objects"]) for meta in self.data.meta])
        self.changed, self.unchanged = np.flatnonzero(changed), np.flatnonzero(~changed)
        self.claims = lru_cache(maxsize=None)(self._claims)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def sizes(self) -> FrameSizes:
        memory = self.data.evidence([0])[0]
        return FrameSizes(memory.shape[2], self.data.graph.grid)

    @property
    def concepts(self) -> Tensor:
        return torch.from_numpy(kinds_of_words(self.words.vocabulary, KINDS))

    def evidence(self, indices: list[int]) -> tuple[Tensor, ...]:
        return self.data.evidence(indices)

    def draw(self, rng: np.random.Generator, size: int = BATCH) -> list[int]:
        """Changed pairs, as many reversed ones, which are their hardest negatives, and some unchanged ones."""
        few = int(size * UNCHANGED)
        changed = rng.choice(self.changed, (size - few) // 2, replace=False).tolist()
        return [*self.data.with_reverses(changed), *rng.choice(self.unchanged, few, replace=False).tolist()]

    def batch(self, indices: list[int], rng: np.random.Generator) -> dict[str, Any]:
        written = [self.text(index, rng) for index in indices]
        texts = [misspelt(text, rng) if rng.random() < MISSPELT else text for text, _, _ in written]
        left_out = self.truth([stated for _, stated, _ in written], indices).T.astype(np.float32)
        np.fill_diagonal(left_out, 0)
        return {
            "evidence": self.evidence(indices),
            "texts": texts,
            "inverted": [inverted for _, _, inverted in written],
            "left_out": torch.from_numpy(left_out),
        }

    def questions(self) -> Questions:
        """A caption of every changed pair from or to the default view, with a relation or without one, as often."""
        pairs, rng = pairs_of(forward=False), np.random.default_rng(self.seed)
        gallery = [i for i in range(len(self)) if 0 in pairs[i % len(pairs)]]
        changed = [row for row, index in enumerate(gallery) if self.data.meta[index]["objects"]]
        written = [self.text(gallery[row], rng, queries=0) for row in changed]
        texts, claims, inverses = zip(*written)
        opposed = [(text, other) if other else None for text, other in zip(texts, inverses)]
        return Questions(list(texts), np.array(changed), gallery, self.truth(list(claims), gallery), opposed)

    def text(self, index: int, rng: np.random.Generator, queries: float = QUERIES) -> tuple[str, Claim, str | None]:
        """A true text about a pair, what it states, and the same wording of the inverse, if that is another claim."""
        claim = self.claim(index, rng)
        state = rng.bit_generator.state
        text, stated = write_text(claim, rng, queries)
        opposite = None if stated.change in (None, ANY) else inverse(claim, self.data.meta[index]["objects"][0])
        if opposite is None:
            return text, stated, None
        again = np.random.default_rng()
        again.bit_generator.state = state
        return text, stated, write_text(opposite, again, queries)[0]

    def claim(self, index: int, rng: np.random.Generator) -> Claim:
        """A random true claim about a pair."""
        if not self.data.meta[index]["objects"]:
            return NOTHING
        plain, relational = self.claims(index)
        chosen = relational if not plain or (relational and rng.random() < RELATIONAL) else plain
        return chosen[int(rng.integers(len(chosen)))]

    def truth(self, claims: list[Claim], indices: list[int]) -> np.ndarray:
        """Whether each claim is true of each pair, bool [claims,pairs]."""
        metas = [self.data.meta[index]["objects"] for index in indices]
        table = fits(claims, [objects[0] if objects else None for objects in metas])
        for row, column in zip(*np.nonzero(table)):
            if claims[row].relation:
                table[row, column] = relation_true(claims[row], *self.scene(indices[column]))
        return table

    def scene(self, index: int) -> tuple[Scene, int]:
        """The scene that the captions of a changed pair describe, and the index of the changed object in it."""
        (shard, row), meta = self.data.where[index], self.data.meta[index]
        thing = meta["objects"][0]
        side = 1 if thing["change"] == "add" else 0
        things = self.data.scenes[shard][row]["views"][meta["views"][side]]["things"]
        return [SceneObject(**one) for one in things], thing[("index_before", "index_after")[side]]

    def _claims(self, index: int) -> tuple[list[Claim], list[Claim]]:
        thing = self.data.meta[index]["objects"][0]
        plain, relational = grammar.claims_of(*self.scene(index), thing["change"], thing["became"])
        if not plain and not relational:  # of two things that are alike and have no clear relation
            all_attributes = tuple((name, thing[name]) for name in grammar.ATTRIBUTES)
            plain = [Claim(thing["change"], all_attributes, thing["became"])]
        order = np.random.default_rng([self.seed, index]).permutation(len(relational))[:MOST_RELATIONAL]
        return plain, [relational[i] for i in order]


def relation_true(claim: Claim, scene: Scene, index: int) -> bool:
    """Whether the object stands in the claim's relation to one of the objects that its anchor describes."""
    return any(
        i != index and other.has(dict(claim.anchor)) and relation_holds(claim.relation, scene[index], other)
        for i, other in enumerate(scene)
    )
