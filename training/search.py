"""Trains the search vectors on the evidence of cached pairs.

    python -m training.search --bundle models/scorer-surveillance --cache DIR --heldout DIR --out RUN [--seed 1]
    python -m training.search --world research.clevr --bundle models/scorer-clevr --cache DIR --heldout DIR --out RUN

RUN gets state.pt (the same command resumes), search.pt and figures.json; `training.bundle.search` adds both graphs to a
bundle.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from training.inputs import existing_folder
from training.net.search import SearchVectors, search_loss
from training.steps import Schedule, save_trained, train_steps
from training.text.search_words import SearchWords
from training.world import Search, SearchPairs
from training.worlds import load_world

WEIGHTS = {"to_text": 1.0, "to_pair": 1.0, "inverse": 2.0}
TextEncoder = Callable[[Tensor, Tensor], Tensor]  # ids and n-grams to vectors


def encoded(words: SearchWords, texts: list[str]) -> tuple[Tensor, Tensor]:
    """ids and n-grams, cut to the longest text."""
    ids, grams = (torch.from_numpy(x) for x in words.batch(texts))
    longest = int((ids != 0).sum(1).max())
    return ids[:, :longest], grams[:, :longest]


def batch_losses(network: SearchVectors, words: SearchWords, b: dict[str, Any]) -> dict[str, Tensor]:
    """b: see `SearchPairs.batch`."""
    pairs = network.pair(*b["evidence"])  # [B,V]
    has = [i for i, inverted in enumerate(b["inverted"]) if inverted is not None]
    vectors = network.text(*encoded(words, [*b["texts"], *(b["inverted"][i] for i in has)]))
    texts, inverses = vectors[: len(pairs)], vectors[len(pairs) :]
    inverted = torch.full_like(pairs[:, 0], -1.0)  # no negative of those without an inverse
    if has:
        inverted = inverted.index_put((torch.tensor(has),), (pairs[has] * inverses).sum(1))
    return search_loss(pairs @ texts.T, b["left_out"], inverted, network.scale())


@torch.no_grad()
def vectors_of(pair: nn.Module, data: SearchPairs, indices: list[int] | None = None, batch: int = 100) -> Tensor:
    """Vectors of some pairs, or of all."""
    indices = list(range(len(data))) if indices is None else indices
    parts = [pair(*data.evidence(indices[first : first + batch])) for first in range(0, len(indices), batch)]
    return torch.cat(parts)


def ranks(cosines: np.ndarray, own: np.ndarray) -> np.ndarray:
    """1 + number of greater + half of the equal ones. cosines [Q,N], own [Q]: column of each row's right one."""
    right = cosines[np.arange(len(own)), own][:, None]
    return 1 + (cosines > right).sum(1) + ((cosines == right).sum(1) - 1) / 2


@torch.no_grad()
def figures(text: TextEncoder, pair: nn.Module, data: SearchPairs, few: int) -> dict:
    """Recall at 1, 5 and 10 of texts among all searched pairs and among random galleries of `few`; precision of the
    first five, over all pairs that a text is true of; share of texts that are nearer than their inverse."""
    rng, asked = np.random.default_rng(7), data.questions()
    pairs = vectors_of(pair, data, asked.gallery).numpy()

    def encode(texts: list[str]) -> np.ndarray:
        batches = (data.words.batch(texts[first : first + 200]) for first in range(0, len(texts), 200))
        parts = [text(*map(torch.from_numpy, batch)) for batch in batches]
        return torch.cat(parts).numpy()

    cosines, own = encode(asked.texts) @ pairs.T, asked.own
    rank = ranks(cosines, own)
    first_five = np.argsort(-cosines, 1)[:, :5]
    found = np.take_along_axis(asked.true, first_five, 1).sum(1) / np.minimum(5, asked.true.sum(1).clip(1))
    of_few = []
    for row, column in enumerate(own):
        others = rng.choice(np.delete(np.arange(len(pairs)), column), min(few, len(pairs)) - 1, replace=False)
        gallery = np.array([column, *others])
        of_few.append(ranks(cosines[row : row + 1, gallery], np.zeros(1, int))[0])
    recall = lambda at: {f"R@{k}": round(float((at <= k).mean()), 4) for k in (1, 5, 10)}
    opposed = [(column, *texts) for column, texts in zip(own, asked.opposed) if texts]
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


def search_of(world: str) -> Search:
    """@raises SystemExit if bundles of this world get no search vectors."""
    search = load_world(world).search
    if search is None:
        raise SystemExit(f"the world {world!r} states no texts for search vectors")
    return search


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", default="surveillance")
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--cache", type=existing_folder, required=True, action="append")
    parser.add_argument("--heldout", type=existing_folder, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    search = search_of(args.world)
    data = search.open_pairs(args.cache, args.bundle, args.seed)
    heldout = search.open_pairs([args.heldout], args.bundle, args.seed)
    vocabulary, sizes = data.words.vocabulary, data.sizes
    print(f"{len(data)} pairs, {len(heldout)} held out, {len(vocabulary)} words", flush=True)
    network = SearchVectors(sizes, len(vocabulary), data.concepts, search.text_width)

    def losses_of(step: int) -> dict[str, Tensor]:
        rng = np.random.default_rng([args.seed, step])
        return batch_losses(network, data.words, data.batch(data.draw(rng), rng))

    def measured(mean: SearchVectors) -> dict:
        return figures(mean.text, mean.pair, heldout, search.development_pairs)

    found = train_steps(
        network,
        losses_of,
        WEIGHTS,
        Schedule(args.steps, args.rate),
        args.out / "state.pt",
        lambda step, mean: print(f"step {step}: {json.dumps(measured(mean))}", flush=True),
    )
    made_of = {
        "evidence": type(sizes).__name__,
        "sizes": vars(sizes),
        "text_width": search.text_width,
        "vocabulary": vocabulary,
    }
    counts = {"seed": args.seed, "steps": args.steps, "pairs": len(data)}
    save_trained(args.out, "search", found, measured(found), made_of | counts)


if __name__ == "__main__":
    main()
