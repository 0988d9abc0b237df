"""Trains the search vectors on the evidence of cached pairs.

    python -m training.search --bundle models/scorer-surveillance --cache DIR --heldout DIR --out RUN [--seed 1]

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

from training.data.changes import Changes, concept_table, inverse, search_vocabulary
from training.data.evidence import Evidence, evidence_inputs, sizes_of
from training.inputs import existing_folder
from training.net.search import SearchVectors, search_loss
from training.steps import Schedule, save_trained, train_steps
from training.text.false_sentences import write_any
from training.text.grammar import parse_clauses
from training.text.search_words import SearchWords
from training.text.truth import TRUE
from training.text.truth_table import truth_table

WEIGHTS = {"to_text": 1.0, "to_pair": 1.0, "inverse": 2.0}
TextEncoder = Callable[[Tensor, Tensor], Tensor]  # ids and n-grams to vectors
GALLERY = 109  # as many as there are development pairs: ranks among more pairs are not comparable with theirs


def batch_losses(network: SearchVectors, changes: Changes, b: dict[str, Any]) -> dict[str, Tensor]:
    pairs = network.pair(*b["evidence"])  # [B,V]
    has = [i for i, inverted in enumerate(b["inverted"]) if inverted is not None]
    vectors = network.text(*changes.encoded([*b["texts"], *(b["inverted"][i] for i in has)]))
    texts, inverses = vectors[: len(pairs)], vectors[len(pairs) :]
    inverted = torch.full_like(pairs[:, 0], -1.0)  # no negative of those without an inverse
    if has:
        inverted = inverted.index_put((torch.tensor(has),), (pairs[has] * inverses).sum(1))
    return search_loss(pairs @ texts.T, b["left_out"], inverted, network.scale())


@torch.no_grad()
def vectors_of(pair: nn.Module, data: Evidence, batch: int = 100) -> Tensor:
    """Vectors of all pairs, each with all its crops."""
    parts = [
        pair(*evidence_inputs(data.arrays(list(range(first, min(first + batch, len(data)))))))
        for first in range(0, len(data), batch)
    ]
    return torch.cat(parts)


def ranks(cosines: np.ndarray, own: np.ndarray) -> np.ndarray:
    """1 + number of greater + half of the equal ones. cosines [Q,N], own [Q]: column of each row's right one."""
    right = cosines[np.arange(len(own)), own][:, None]
    return 1 + (cosines > right).sum(1) + ((cosines == right).sum(1) - 1) / 2


@torch.no_grad()
def figures(text: TextEncoder, data: Evidence, words: SearchWords, pairs: Tensor) -> dict:
    """Recall at 1, 5 and 10 of captions among all pairs and among random galleries of GALLERY; precision of the first
    five, over all pairs that a caption is true of; share of captions that are nearer than their inverse.

    pairs: vectors of all pairs of `data`."""
    rng = np.random.default_rng(7)
    changed = [i for i, meta in enumerate(data.meta) if meta["objects"]]
    captions = [data.meta[i]["captions"][0] for i in changed]
    clauses = [parse_clauses(caption) for caption in captions]

    def encode(texts: list[str]) -> np.ndarray:
        parts = [
            text(*map(torch.from_numpy, words.batch(texts[first : first + 200]))) for first in range(0, len(texts), 200)
        ]
        return torch.cat(parts).numpy()

    cosines, own = encode(captions) @ pairs.numpy().T, np.array(changed)
    rank = ranks(cosines, own)
    table = truth_table(clauses, [meta["objects"] for meta in data.meta])
    first_five = np.argsort(-cosines, 1)[:, :5]
    found = np.take_along_axis(table == TRUE, first_five, 1).sum(1) / np.minimum(5, (table == TRUE).sum(1).clip(1))
    of_few = []
    for row, column in enumerate(own):
        others = rng.choice(np.delete(np.arange(len(data)), column), min(GALLERY, len(data)) - 1, replace=False)
        gallery = np.array([column, *others])
        of_few.append(ranks(cosines[row : row + 1, gallery], np.zeros(1, int))[0])
    recall = lambda at: {f"R@{k}": round(float((at <= k).mean()), 4) for k in (1, 5, 10)}
    opposite = [(i, inverse(parsed)) for i, parsed in enumerate(clauses)]
    opposite = [(i, parsed) for i, parsed in opposite if parsed and len(clauses[i]) == 1]
    texts = encode([write_any(clauses[i], np.random.default_rng(i)) for i, _ in opposite])
    inverted = encode([write_any(parsed, np.random.default_rng(i)) for i, parsed in opposite])
    at = pairs.numpy()[own[[i for i, _ in opposite]]]
    return {
        "queries": len(captions),
        "gallery": len(data),
        **recall(rank),
        f"of {GALLERY} pairs": recall(np.array(of_few)),
        "precision of the first five": round(float(found.mean()), 4),
        "own above its inverse": round(float(((at * texts).sum(1) > (at * inverted).sum(1)).mean()), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
    words = SearchWords(search_vocabulary())
    data, heldout = Evidence(args.cache, args.bundle), Evidence([args.heldout], args.bundle)
    changes = Changes(data, words, args.seed)
    print(f"{len(data)} pairs, {len(heldout)} held out, {len(words.vocabulary)} words", flush=True)
    sizes = sizes_of(data)
    table = concept_table(words.vocabulary, data.graphs.names)
    network = SearchVectors(sizes, len(words.vocabulary), table)

    def losses_of(step: int) -> dict[str, Tensor]:
        rng = np.random.default_rng([args.seed, step])
        return batch_losses(network, changes, changes.batch(changes.draw(rng), rng))

    def measured(mean: SearchVectors) -> dict:
        return figures(mean.text, heldout, words, vectors_of(mean.pair, heldout))

    found = train_steps(
        network,
        losses_of,
        WEIGHTS,
        Schedule(args.steps, args.rate),
        args.out / "state.pt",
        lambda step, mean: print(f"step {step}: {json.dumps(measured(mean))}", flush=True),
    )
    result = measured(found)
    vocabulary = words.vocabulary
    save_trained(
        args.out,
        "search",
        found,
        result,
        {"sizes": vars(sizes), "vocabulary": vocabulary, "seed": args.seed, "steps": args.steps, "pairs": len(data)},
    )


if __name__ == "__main__":
    main()
