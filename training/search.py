"""Trains the search vectors on the evidence of cached pairs.

    python -m training.search --bundle models/scorer-surveillance --cache DIR --heldout DIR --out RUN [--seed 1]
    python -m training.search --world research.clevr --bundle models/scorer-clevr --cache DIR --heldout DIR --out RUN

RUN gets state.pt (the same command resumes), search.pt and figures.json; `training.bundle install` adds both graphs to
a bundle.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.data.search_figures import encoded, figures
from training.inputs import existing_folder
from training.learn.loop import Schedule, save_trained, train_steps
from training.net.search import SearchVectors, search_loss
from training.text.search_words import SearchWords
from training.world import search_of

WEIGHTS = {"to_text": 1.0, "to_pair": 1.0, "inverse": 2.0}


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
