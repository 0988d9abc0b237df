"""Fits how a namer's probabilities and the decoder's own words are joined, and the level that a word must reach.

The decoder's noun is a second witness: a class that it names gets `noun` times more weight, one of its hypernym `class`
times more, after the namer's probabilities were flattened by the power `flatten`; likewise for colours. The levels say
from which joint probability on a noun is right as often as the service's setting `truth` asks; those of colours come
from real cameras (`training.fits colours`). All of it rests on held-out synthetic pairs whose regions the decoder
describes one by one, as it is served.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.contract import DIFFERENCE_IN
from training.data.noun_classes import classes_above, most_specific
from training.data.regions import objects_in_crops
from training.data.sightings import ARRAYS, shown_by
from training.inputs import open_graph, read_json
from training.learn.levels import LEVELS, levels
from training.net.namer import Namer
from training.text.grammar import parse_clauses
from training.text.noun_tree import HYPERNYMS, NOTHING, ONE_CLASS, ROOT, path_of, tree_of, wider_noun

FLATTEN = (0.7, 0.8, 0.9, 1.0)
WEIGHTS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
# The decoder is right about the class of a thing and seldom about its noun; with swapped frames it writes another one.
# Larger weights are worse on real pairs, on generated ones and with swapped frames (journal, 0.10.1).
NOUN_WEIGHTS = tuple(weight for weight in WEIGHTS if weight <= 0.5)
LEAST_NAMED = 20  # things with a noun below a hypernym, for a level of such nouns
SIDE_OF = {"disappeared": 0, "appeared": 1}


def described_things(bundle: Path, heldout: list[Path]) -> tuple[list[tuple], list[Tensor]]:
    """Per thing that the decoder describes alone: its side, the decoder's noun and colour, the true noun and colour.

    And the namer's four arguments, one row per thing."""
    manifest = read_json(bundle / "manifest.json", "vocabulary", "graphs", "glance")
    difference, caption = (open_graph(bundle / f"{name}.onnx") for name in ("difference", "caption"))
    slots, things, crops = manifest["glance"]["regions"], [], [[] for _ in ARRAYS]
    for shard in sorted(shard for folder in heldout for shard in folder.glob("[!.]*")):
        arrays = {name: np.load(shard / f"{name}.npy", mmap_mode="r") for name in ("coarse", "fine", *ARRAYS)}
        for row, line in enumerate((shard / "meta.jsonl").read_text().splitlines()):
            meta = json.loads(line)
            count = len(meta["glances"])
            if meta["kind"] == "none" or count == 0:
                continue
            frames = [np.float32(arrays[name][row]) for name in ("coarse", "fine")]
            feed = dict(zip(DIFFERENCE_IN, (x[side : side + 1] for side in (0, 1) for x in frames)))
            memory, kind = difference.run(["memory", "kind_logits"], feed)
            pair = [np.float32(arrays[name][row][:count]) for name in ARRAYS]
            alone = [np.zeros((count, slots, *x.shape[1:]), np.float32) for x in pair]
            for slot, x in zip(alone, pair):
                slot[:, 0] = x
            mask = np.eye(slots, dtype=np.float32)[:1].repeat(count, 0)
            feed = dict(zip(("glance_coarse", "glance_fine", "glance_box", "object_box"), alone))
            feed |= {"memory": memory.repeat(count, 0), "glance_mask": mask, "look_kind_logits": kind.repeat(count, 0)}
            ids, lengths = caption.run(["ids", "length"], feed)
            at_box = objects_in_crops(meta, pair[3].tolist(), pair[2].tolist())
            for crop, (words, length, glance, at) in enumerate(zip(ids, lengths, meta["glances"], at_box)):
                thing = _described([manifest["vocabulary"][i] for i in words[:length]], shown_by(glance, at))
                if thing:
                    things.append(thing)
                    for column, x in zip(crops, pair):
                        column.append(x[crop])
    return things, [torch.from_numpy(np.stack(column)) for column in crops]


def _described(words: list[str], shown: tuple) -> tuple | None:
    """The entry of `described_things`; None for words outside the grammar, or about nothing that is there."""
    try:
        clause = parse_clauses(" ".join(words))[0]
    except (ValueError, IndexError):
        return None
    side = SIDE_OF.get(clause.action, 0 if shown[0] and shown[0][0] != NOTHING else 1)
    if clause.action == "replaced" or not shown[side] or shown[side][0] == NOTHING:
        return None
    return side, ONE_CLASS.get(clause.noun, clause.noun), clause.colour, *shown[side]


def witness(noun: str, nouns: list[str], tree: dict[str, str]) -> tuple[Tensor, Tensor]:
    """The classes that the decoder's noun supports, [N] each: those that it names, in equal shares of 1, or else those
    of its next wider noun; and 1 at the classes of its hypernym."""
    paths = [path_of(word, tree) if word != NOTHING else [] for word in nouns]
    named = noun
    while named != ROOT and not any(named in steps for steps in paths):
        named = wider_noun(named)
    exact = torch.tensor([float(named != ROOT and named in steps) for steps in paths])
    top = next((word for word in path_of(noun, tree_of([noun])) if word in HYPERNYMS), None)
    return exact / exact.sum().clamp(min=1), torch.tensor([float(top in steps) for steps in paths])


def joined(p: Tensor, flatten: float, *terms: tuple[float, Tensor]) -> Tensor:
    """Probabilities [n,K] after the evidence of `terms` (weight, support [n,K])."""
    q = p.pow(flatten)
    for weight, support in terms:
        q = q * (1 + weight * support)
    return q / q.sum(1, keepdim=True)


class Described:
    """The things of some caches that the decoder describes, T: their names by the namer and by the decoder.

    p, own, alike [T,N]: probabilities of nouns and `witness`; truth [T]; colour_logits [T,K].
    """

    def __init__(self, bundle: Path, folders: list[Path], namer: Namer, nouns: list[str]):
        self.things, crops = described_things(bundle, folders)
        rows, side = torch.arange(len(self.things)), torch.tensor([thing[0] for thing in self.things])
        parts = [namer(*(x[first : first + 200] for x in crops)) for first in range(0, len(rows), 200)]
        noun_logits, self.colour_logits = (torch.cat(column)[rows, side] for column in zip(*parts))
        p = torch.softmax(noun_logits, -1)
        p[:, nouns.index(NOTHING)] = 0
        self.p = p / p.sum(1, keepdim=True)
        tree = tree_of(nouns)
        self.exact, self.alike = map(torch.stack, zip(*(witness(thing[1], nouns, tree) for thing in self.things)))
        above = [path_of(thing[3], tree_of([thing[3]])) for thing in self.things]
        self.truth = torch.tensor([next(nouns.index(word) for word in path if word in nouns) for path in above])


def levels_below(top: str, q: Tensor, truth: Tensor, ordered: list[str], member: Tensor) -> list[list[float]] | None:
    """`levels` of the nouns below a hypernym, from the things that get one; None if too few get one at LEVELS[0].

    q: joined probabilities [T,N]; truth [T]; ordered, member: `classes_above`."""
    tree = tree_of([word for word in ordered if word != ROOT])
    inside = torch.tensor([top in path_of(word, tree)[1:] for word in ordered])
    right = []
    for level in LEVELS:
        said = most_specific(q, member, level)
        named = inside[said]
        if int(named.sum()) < LEAST_NAMED:
            break
        right.append((level, float(member[said, truth][named].mean())))
    return levels(right) if right else None


@torch.no_grad()
def fit_levels(bundle: Path, heldout: list[Path], namer: Namer, saved: dict, real: list[Path]) -> dict:
    """The keys `decoder` and `levels` of the manifest's `names`.

    real: held-out caches of things that fixed cameras saw. Nouns below a hypernym, such as man and woman, get levels
    that hold for these, because rendered men and women are easily distinguished."""
    nouns, colours = saved["nouns"], saved["colours"]
    found = Described(bundle, heldout, namer, nouns)
    things, p, exact, alike, truth = found.things, found.p, found.exact, found.alike, found.truth
    tree = tree_of(nouns)

    def loss(q: Tensor, target: Tensor) -> float:
        return -q.gather(1, target[:, None]).clamp(min=1e-6).log().mean().item()

    flatten, noun, of_class = min(
        itertools.product(FLATTEN, NOUN_WEIGHTS, WEIGHTS),
        key=lambda w: loss(joined(p, w[0], (w[1], exact), (w[2], alike)), truth),
    )
    q = joined(p, flatten, (noun, exact), (of_class, alike))
    ordered, member = classes_above(nouns, tree)
    noun_right = []
    for level in LEVELS:
        said = most_specific(q, member, level)
        noun_right.append((level, float(member[said, truth].mean())))

    seen = torch.tensor([thing[4] in colours for thing in things])
    shade = torch.tensor([colours.index(thing[4]) for thing in things if thing[4] in colours])
    c = torch.softmax(found.colour_logits, -1)[seen]
    stated = torch.tensor([[float(thing[2] == colour) for colour in colours] for thing in things])[seen]
    colour_flatten, colour = min(
        itertools.product(FLATTEN, WEIGHTS), key=lambda w: loss(joined(c, w[0], (w[1], stated)), shade)
    )
    below = {}
    if real:
        seen_real = Described(bundle, real, namer, nouns)
        q = joined(seen_real.p, flatten, (noun, seen_real.exact), (of_class, seen_real.alike))
        tables = {top: levels_below(top, q, seen_real.truth, ordered, member) for top in HYPERNYMS}
        below = {top: table for top, table in tables.items() if table}
    return {
        "decoder": {
            "flatten": flatten,
            "noun": noun,
            "class": of_class,
            "colour_flatten": colour_flatten,
            "colour": colour,
        },
        "levels": {"nouns": levels(noun_right)} | ({"below": below} if below else {}),
    }
