"""Batches of a true sentence about a cached pair with false ones of it, to train the truth check."""

import numpy as np
import torch
from torch import Tensor

from training.contract import END, PAD, UNK, Clause
from training.data.evidence import Evidence
from training.text.false_sentences import NEGATIVES, FalseSentences
from training.text.grammar import vocabulary
from training.text.noun_tree import ROOT
from training.text.truth import UNKNOWN, judge_sentence
from training.text.word_classes import colour_table, noun_table

MAX_LENGTH = 28
BATCH = 64
UNCHANGED = 1 / (NEGATIVES + 1)  # of the groups: more would let a blind network gain by "nothing has changed"


def check_vocabulary() -> list[str]:
    """All words of the grammar, and those for a thing without a name."""
    return ["<pad>", "<unk>", "<start>", "<end>", *sorted({*vocabulary(), ROOT, "things"})]


class Groups:
    """Batches of groups: a true sentence of a pair and false ones, as ids and labels."""

    def __init__(self, data: Evidence, words: list[str], seed: int):
        self.data = data
        self.word = {word: i for i, word in enumerate(words)}
        self.sentences = FalseSentences(data.meta, seed)
        changed = np.array([bool(meta["objects"]) for meta in data.meta])
        self.changed, self.unchanged = np.flatnonzero(changed), np.flatnonzero(~changed)

    def encode(self, text: str) -> list[int]:
        """Words, END, PAD up to MAX_LENGTH; a longer sentence is cut."""
        ids = [*(self.word.get(word, UNK) for word in text.split())][: MAX_LENGTH - 1] + [END]
        return ids + [PAD] * (MAX_LENGTH - len(ids))

    def labels(self, clauses: list[Clause], index: int) -> list[int]:
        """1, 0 or -1 (unknown) per slot."""
        slots = judge_sentence(clauses, self.data.meta[index]["objects"])[1]
        return [-1 if truth is None or truth == UNKNOWN else int(truth) for truth in slots]

    def draw(self, rng: np.random.Generator, size: int = BATCH) -> list[int]:
        """Indices of pairs, of which a share of UNCHANGED is unchanged."""
        picks = [
            self.unchanged if len(self.unchanged) and rng.random() < UNCHANGED else self.changed for _ in range(size)
        ]
        return [int(of[rng.integers(len(of))]) for of in picks]

    def batch(self, indices: list[int], rng: np.random.Generator) -> tuple[Tensor, Tensor, list[list[str]]]:
        """ids [B,K,L] (cut to the longest), labels [B,K,SLOTS] and how each sentence was made."""
        groups = [self.sentences.group(index, rng) for index in indices]
        texts = [[self.sentences.write(clauses, rng) for _, clauses in group] for group in groups]
        ids = torch.tensor([[self.encode(text) for text in row] for row in texts])
        longest = int((ids != PAD).sum(-1).max())
        labels = [[self.labels(clauses, index) for _, clauses in group] for index, group in zip(indices, groups)]
        return ids[..., :longest], torch.tensor(labels), [[way for way, _ in group] for group in groups]


def word_tables(words: list[str], names: dict[str, list[str]]) -> tuple[Tensor, Tensor]:
    """names: the namer's classes, `noun` and `colour` -> the tables of `TruthCheck`."""
    return torch.tensor(noun_table(words, names["noun"])), torch.tensor(colour_table(words, names["colour"]))
