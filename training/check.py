"""Trains the truth check on the evidence of cached pairs.

    python -m training.check --bundle models/scorer-surveillance --cache DIR --heldout DIR --out RUN [--seed 1]

RUN gets state.pt (the same command resumes), check.pt and figures.json; `training.bundle install` adds the check to a
bundle. --blind hides the pair from the network: how far the sentences alone betray which of them is true.
"""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import torch
from torch import Tensor, nn

from training.data.evidence import Evidence, evidence_inputs, sizes_of
from training.data.groups import UNCHANGED, Groups, check_vocabulary, word_tables
from training.inputs import part_parser
from training.learn.loop import Schedule, save_trained, train_steps
from training.net.check import TruthCheck, check_loss

WEIGHTS = {"rank": 1.0, "slots": 0.5, "alone": 0.25}
# Ways of `FalseSentences` -> the row of the figures.
ROWS = {
    "direction": "direction",
    "opposite way": "direction",
    "noun": "noun",
    "colour": "colour",
    "place": "place",
    "count": "count",
}


@torch.no_grad()
def figures(network: nn.Module, groups: Groups, indices: list[int], blind: bool = False, batch: int = 50) -> dict:
    """Rates: the true sentence scores above all false ones of its group, and above that of each way; the decision of
    each slot at 0, over as many true as false ones."""
    rng = np.random.default_rng(7)
    above_all, above, slot = defaultdict(list), defaultdict(list), defaultdict(list)
    for first in range(0, len(indices), batch):
        chosen = indices[first : first + batch]
        ids, labels, ways = groups.batch(chosen, rng)
        score, slots = network(evidence_inputs(groups.data.arrays(chosen), blind), ids)
        for row, index in enumerate(chosen):
            wins = (score[row, 0] > score[row, 1:]).tolist()
            above_all["changed" if groups.data.meta[index]["objects"] else "unchanged"].append(all(wins))
            for way, won in zip(ways[row][1:], wins):
                above[ROWS.get(way, way)].append(won)
        for i, name in enumerate(("action", "noun", "colour", "place", "count")):
            for truth in (0, 1):
                slot[name, truth] += ((slots[..., i] > 0) == truth)[labels[..., i] == truth].tolist()
    mean = lambda values: round(float(np.mean(values)), 4) if values else None
    return {
        "groups": len(indices),
        "true above all six": mean([won for values in above_all.values() for won in values]),
        **{f"true above all six, {name} pairs": mean(values) for name, values in above_all.items()},
        **{f"above {name}": mean(values) for name, values in sorted(above.items())},
        **{
            f"slot {name}": round(float(np.mean(slot[name, 0]) + np.mean(slot[name, 1])) / 2, 4)
            for name in ("action", "noun", "colour", "place", "count")
            if slot[name, 0] and slot[name, 1]
        },
    }


def balanced_indices(groups: Groups, most: int) -> list[int]:
    """Changed pairs with a share of UNCHANGED unchanged ones."""
    few = int(round(min(len(groups.changed), most * (1 - UNCHANGED)) * UNCHANGED / (1 - UNCHANGED)))
    return [*groups.changed[: int(most * (1 - UNCHANGED))].tolist(), *groups.unchanged[:few].tolist()]


def main() -> None:
    parser = part_parser(__doc__, steps=3000, rate=5e-3)
    parser.add_argument("--blind", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    words = check_vocabulary()
    data = Evidence(args.cache, args.bundle)
    groups = Groups(data, words, args.seed)
    heldout = Groups(Evidence([args.heldout], args.bundle), words, args.seed)
    print(f"{len(data)} pairs, {len(heldout.data)} held out, {len(words)} words", flush=True)
    sizes = sizes_of(data)
    network = TruthCheck(sizes, len(words), word_tables(words, data.graphs.names))

    def losses_of(step: int) -> dict[str, Tensor]:
        rng = np.random.default_rng([args.seed, step])
        indices = groups.draw(rng)
        ids, labels, _ = groups.batch(indices, rng)
        score, slots = network(evidence_inputs(data.arrays(indices), args.blind), ids)
        return check_loss(score, slots, labels, network.log_temperature)

    some = balanced_indices(heldout, 500)
    found = train_steps(
        network,
        losses_of,
        WEIGHTS,
        Schedule(args.steps, args.rate),
        args.out / "state.pt",
        lambda step, mean: print(f"step {step}: {json.dumps(figures(mean, heldout, some, args.blind))}", flush=True),
    )
    result = figures(found, heldout, balanced_indices(heldout, len(heldout.data)), args.blind)
    save_trained(
        args.out,
        "check",
        found,
        result,
        {"sizes": vars(sizes), "vocabulary": words, "seed": args.seed, "steps": args.steps, "pairs": len(data)},
    )


if __name__ == "__main__":
    main()
