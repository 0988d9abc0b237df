"""Trains the search vectors on the evidence of cached pairs.

    python -m training.search --bundle models/scorer-surveillance --cache DIR --heldout DIR --out RUN \
        [--check RUN/check.pt] [--seed 1]

RUN gets state.pt (the same command resumes), search.pt and figures.json; `training.bundle.search` adds both graphs to a
bundle. --check: a trained truth check whose reading of the evidence the training starts from.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from training.check import evidence_inputs, sizes_of
from training.data.evidence import Evidence
from training.inputs import existing_file, existing_folder
from training.net.search import SearchVectors, search_loss
from training.steps import Schedule, train_steps
from training.text.captions import choose_clauses
from training.text.false_sentences import FalseSentences, widened, write_any
from training.text.grammar import Clause, parse_clauses, vocabulary
from training.text.noun_tree import ROOT
from training.text.queries import ANY_EVENT, query_vocabulary, write_query
from training.text.search_words import SearchWords
from training.text.truth import FALSE, OPPOSITE, TRUE, UNKNOWN
from training.text.truth_table import truth_table

BATCH = 256
UNCHANGED = 1 / 8  # of a batch
ONE_THING = 0.6  # of the changed pairs are taken as the change of one thing, whose crops alone are told
QUERIES, WIDER, MISSPELT = 0.4, 0.15, 0.1  # of the texts are queries, name a wider class, have a misspelt word
INVERTED = {"appeared": "disappeared", "disappeared": "appeared"}
WEIGHTS = {"to_text": 1.0, "to_pair": 1.0}
REFRESH = 200
GALLERY = 109  # as many as there are development pairs: ranks among more pairs are not comparable with theirs


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


def misspelt(text: str, rng: np.random.Generator) -> str:
    """One letter of a long word left out, doubled or exchanged with the next."""
    words = text.split()
    long = [i for i, word in enumerate(words) if len(word) > 3]
    if not long:
        return text
    at = long[int(rng.integers(len(long)))]
    word, i = words[at], int(rng.integers(1, len(words[at]) - 1))
    words[at] = (
        word[:i] + word[i + 1 :],
        word[:i] + word[i] + word[i:],
        word[:i] + word[i + 1] + word[i] + word[i + 2 :],
    )[int(rng.integers(3))]
    return " ".join(words)


class Changes:
    """Batches of changes with a text each, and the texts that are no negatives of them."""

    def __init__(self, data: Evidence, words: SearchWords, seed: int):
        self.data, self.words, self.seed = data, words, seed
        self.refresh()

    def refresh(self) -> None:
        self.sentences = FalseSentences(self.data.meta, self.seed)
        changed = np.array([bool(meta["objects"]) for meta in self.data.meta])
        self.changed, self.unchanged = np.flatnonzero(changed), np.flatnonzero(~changed)

    def draw(self, rng: np.random.Generator, size: int = BATCH) -> list[int]:
        few = min(len(self.unchanged), int(size * UNCHANGED))
        return [
            *rng.choice(self.changed, min(len(self.changed), size - few), replace=False).tolist(),
            *rng.choice(self.unchanged, few, replace=False).tolist(),
        ]

    def change(self, index: int, rng: np.random.Generator) -> tuple[list[dict[str, Any]], list[int], list[Clause]]:
        """Objects of a change of the pair, the crops that tell of it, and clauses about it."""
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
        """The evidence inputs, texts and inverses (None if there is none), and left_out [B,Q]."""
        made = [self.change(index, rng) for index in indices]
        written = [self.text(clauses, rng) for _, _, clauses in made]
        texts = [misspelt(text, rng) if rng.random() < MISSPELT else text for text, _, _ in written]
        stated = [clauses for _, clauses, _ in written]
        table = truth_table(stated, [objects for objects, _, _ in made])
        # The other things of a pair are seen beside the told one, so their texts are not plainly false of it.
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

    def encoded(self, texts: list[str]) -> tuple[Tensor, Tensor]:
        """ids and n-grams, cut to the longest text."""
        ids, grams = (torch.from_numpy(x) for x in self.words.batch(texts))
        longest = int((ids != 0).sum(1).max())
        return ids[:, :longest], grams[:, :longest]


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
    """Vectors of all pairs, each with all its crops told."""
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
def figures(network: SearchVectors, data: Evidence, words: SearchWords, pairs: Tensor | None = None) -> dict:
    """Recall at 1, 5 and 10 of captions among all pairs and among random galleries of GALLERY; precision of the first
    five, over all pairs that a caption is true of; share of captions that are nearer than their inverse."""
    rng = np.random.default_rng(7)
    pairs = vectors_of(network.pair, data) if pairs is None else pairs
    changed = [i for i, meta in enumerate(data.meta) if meta["objects"]]
    captions = [data.meta[i]["captions"][0] for i in changed]
    clauses = [parse_clauses(caption) for caption in captions]

    def encode(texts: list[str]) -> np.ndarray:
        parts = [
            network.text(*map(torch.from_numpy, words.batch(texts[first : first + 200])))
            for first in range(0, len(texts), 200)
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
    parser.add_argument("--check", type=existing_file)
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
    network = SearchVectors(sizes, len(words.vocabulary))
    if args.check:
        saved = torch.load(args.check, weights_only=True)["check"]
        begin = "evidence."
        network.pair.evidence.load_state_dict({k[len(begin) :]: v for k, v in saved.items() if k.startswith(begin)})

    def losses_of(step: int) -> dict[str, Tensor]:
        rng = np.random.default_rng([args.seed, step])
        if step and step % REFRESH == 0:
            known = len(data)
            data.refresh()
            if len(data) > known:
                changes.refresh()
        return batch_losses(network, changes, changes.batch(changes.draw(rng), rng))

    found = train_steps(
        network,
        losses_of,
        WEIGHTS,
        Schedule(args.steps, args.rate),
        args.out / "state.pt",
        lambda step, mean: print(f"step {step}: {json.dumps(figures(mean, heldout, words))}", flush=True),
    )
    result = figures(found, heldout, words)
    torch.save(
        {
            "search": found.state_dict(),
            "sizes": vars(sizes),
            "vocabulary": words.vocabulary,
            "heldout": result,
            "seed": args.seed,
            "steps": args.steps,
            "pairs": len(data),
        },
        args.out / "search.pt",
    )
    (args.out / "figures.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
