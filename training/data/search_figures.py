"""How well search vectors find pairs by texts: recall, precision and the share that is nearer than its inverse."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from training.data.changes import Changes
from training.text.search_words import SearchWords

DEVELOPMENT_PAIRS = 109  # ranks among more pairs are not comparable with those of the development pairs
TextEncoder = Callable[[Tensor, Tensor], Tensor]  # ids and n-grams to vectors


def encoded(words: SearchWords, texts: list[str]) -> tuple[Tensor, Tensor]:
    """ids and n-grams, cut to the longest text."""
    ids, grams = (torch.from_numpy(x) for x in words.batch(texts))
    longest = int((ids != 0).sum(1).max())
    return ids[:, :longest], grams[:, :longest]


@torch.no_grad()
def vectors_of(pair: nn.Module, data: Changes, indices: list[int] | None = None, batch: int = 100) -> Tensor:
    """Vectors of some pairs, or of all."""
    indices = list(range(len(data))) if indices is None else indices
    parts = [pair(*data.evidence(indices[first : first + batch])) for first in range(0, len(indices), batch)]
    return torch.cat(parts)


def ranks(cosines: np.ndarray, about: np.ndarray) -> np.ndarray:
    """1 + number of greater + half of the equal ones. cosines [Q,N], own [Q]: column of each row's right one."""
    right = cosines[np.arange(len(about)), about][:, None]
    return 1 + (cosines > right).sum(1) + ((cosines == right).sum(1) - 1) / 2


@torch.no_grad()
def figures(text: TextEncoder, pair: nn.Module, data: Changes, few: int) -> dict:
    """Recall at 1, 5 and 10 of texts among all searched pairs and among random galleries of `few`; precision of the
    first five, over all pairs that a text is true of; share of texts that are nearer than their inverse."""
    rng, asked = np.random.default_rng(7), data.questions()
    pairs = vectors_of(pair, data, asked.gallery).numpy()

    def encode(texts: list[str]) -> np.ndarray:
        batches = (data.words.batch(texts[first : first + 200]) for first in range(0, len(texts), 200))
        parts = [text(*map(torch.from_numpy, batch)) for batch in batches]
        return torch.cat(parts).numpy()

    cosines, about = encode(asked.texts) @ pairs.T, asked.about
    rank = ranks(cosines, about)
    first_five = np.argsort(-cosines, 1)[:, :5]
    found = np.take_along_axis(asked.true, first_five, 1).sum(1) / np.minimum(5, asked.true.sum(1).clip(1))
    of_few = []
    for row, column in enumerate(about):
        others = rng.choice(np.delete(np.arange(len(pairs)), column), min(few, len(pairs)) - 1, replace=False)
        gallery = np.array([column, *others])
        of_few.append(ranks(cosines[row : row + 1, gallery], np.zeros(1, int))[0])
    recall = lambda at: {f"R@{k}": round(float((at <= k).mean()), 4) for k in (1, 5, 10)}
    opposed = [(column, *texts) for column, texts in zip(about, asked.opposed) if texts]
    at, texts, inverted = ([of[i] for of in opposed] for i in range(3))
    nearer = (pairs[at] * encode(texts)).sum(1) > (pairs[at] * encode(inverted)).sum(1)
    return {
        "queries": len(asked.texts),
        "gallery": len(pairs),
        **recall(rank),
        f"of {few} pairs": recall(np.array(of_few)),
        "precision of the first five": round(float(found.mean()), 4),
        "own above its inverse": round(float(nearer.mean()), 4),
    }
