"""Trains the truth check on the evidence of cached pairs.

    python -m training.check --bundle models/scorer-surveillance --cache DIR --heldout DIR --out RUN [--seed 1]

RUN gets state.pt (the same command resumes), check.pt and figures.json; `training.bundle.check` adds the check to a
bundle. --blind hides the pair from the network: how far the sentences alone betray which of them is true.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from training.data.evidence import Evidence, evidence_inputs, sizes_of
from training.inputs import existing_folder
from training.net.check import TruthCheck, check_loss
from training.net.config import END, PAD, UNK
from training.steps import Schedule, save_trained, train_steps
from training.text.false_sentences import NEGATIVES, FalseSentences
from training.text.grammar import Clause, vocabulary
from training.text.noun_tree import ROOT
from training.text.truth import UNKNOWN, judge_sentence
from training.text.word_classes import colour_table, noun_table

MAX_LENGTH = 28
BATCH = 64
UNCHANGED = 1 / (NEGATIVES + 1)  # of the groups: more would let a blind network gain by "nothing has changed"
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--cache", type=existing_folder, required=True, action="append")
    parser.add_argument("--heldout", type=existing_folder, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--rate", type=float, default=5e-3)
    parser.add_argument("--blind", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
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
