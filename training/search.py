"""Trains the search vectors on the evidence of cached pairs.

    python -m training.search --bundle models/scorer-surveillance --cache DIR --heldout DIR --out RUN [--seed 1]

RUN gets state.pt (the same command resumes), search.pt and figures.json; `training.bundle install` adds both graphs to
a bundle.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.data.changes import Changes
from training.data.search_figures import DEVELOPMENT_PAIRS, encoded, figures
from training.inputs import part_parser
from training.learn.loop import Schedule, save_trained, train_steps
from training.net.search import SearchVectors, search_loss
from training.text.search_words import SearchWords

WEIGHTS = {"to_text": 1.0, "to_pair": 1.0, "inverse": 2.0}


def batch_losses(network: SearchVectors, words: SearchWords, b: dict[str, Any]) -> dict[str, Tensor]:
    """b: see `Changes.batch`."""
    pairs = network.pair(*b["evidence"])  # [B,V]
    has = [i for i, inverted in enumerate(b["inverted"]) if inverted is not None]
    vectors = network.text(*encoded(words, [*b["texts"], *(b["inverted"][i] for i in has)]))
    texts, inverses = vectors[: len(pairs)], vectors[len(pairs) :]
    inverted = torch.full_like(pairs[:, 0], -1.0)  # no negative of those without an inverse
    if has:
        inverted = inverted.index_put((torch.tensor(has),), (pairs[has] * inverses).sum(1))
    return search_loss(pairs @ texts.T, b["left_out"], inverted, network.scale())


def main() -> None:
    args = part_parser(__doc__, steps=1000, rate=1e-3).parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    data = Changes.open(args.cache, args.bundle, args.seed)
    heldout = Changes.open([args.heldout], args.bundle, args.seed)
    vocabulary, sizes = data.words.vocabulary, data.sizes
    print(f"{len(data)} pairs, {len(heldout)} held out, {len(vocabulary)} words", flush=True)
    network = SearchVectors(sizes, len(vocabulary), data.concepts)

    def losses_of(step: int) -> dict[str, Tensor]:
        rng = np.random.default_rng([args.seed, step])
        return batch_losses(network, data.words, data.batch(data.draw(rng), rng))

    def measured(mean: SearchVectors) -> dict:
        return figures(mean.text, mean.pair, heldout, DEVELOPMENT_PAIRS)

    found = train_steps(
        network,
        losses_of,
        WEIGHTS,
        Schedule(args.steps, args.rate),
        args.out / "state.pt",
        lambda step, mean: print(f"step {step}: {json.dumps(measured(mean))}", flush=True),
    )
    made_of = {"sizes": vars(sizes), "vocabulary": vocabulary}
    counts = {"seed": args.seed, "steps": args.steps, "pairs": len(data)}
    save_trained(args.out, "search", found, measured(found), made_of | counts)


if __name__ == "__main__":
    main()
