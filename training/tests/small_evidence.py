"""Evidence of a few made-up pairs in memory, for the tests of the truth check and of the search."""

from __future__ import annotations

import numpy as np
import torch

from training.text.truth import units_of

NOUNS, COLOURS = ("nothing", "car", "man", "suitcase"), ("blue", "red", "white")
HYPERNYM = {"car": "vehicle", "man": "person", "suitcase": "object"}
WORDING = {
    "appeared": "a {colour} {noun} has appeared {where}",
    "disappeared": "the {colour} {noun} {where} is gone",
}
PLACES = ("on the left", "on the right")


def thing(action: str, noun: str, colour: str, where: str | None) -> dict:
    places = [where] if where else []
    known = {"noun": noun, "hypernym": HYPERNYM[noun], "colour": colour}
    return known | {"action": action, "places": places, "where": where, "count": 1}


def meta_of(objects: list[dict]) -> dict:
    captions = [WORDING[o["action"]].format(**o) for o in objects] or ["nothing has changed"]
    units = [(unit, [i]) for i, unit in enumerate(units_of(objects))]
    known = {"objects": objects, "described": objects, "told": units, "glances": objects, "nuisances": []}
    return known | {"captions": captions, "words": []}


class SmallEvidence:
    """As `training.data.evidence.Evidence`: pairs in which one thing appeared or disappeared, or nothing did. The
    evidence shows noun, colour and action plainly, and the place in the first token."""

    def __init__(self, count: int = 60, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.meta, rows = [], []
        for _ in range(count):
            noun, colour, place = rng.integers(1, 4), rng.integers(3), rng.integers(2)
            action = ("appeared", "disappeared")[int(rng.integers(2))]
            changed = rng.random() < 0.85
            objects = [thing(action, NOUNS[noun], COLOURS[colour], PLACES[place])] if changed else []
            self.meta.append(meta_of(objects))
            rows.append((noun if changed else 0, colour, place, action == "appeared", changed))
        self.tables = self._arrays(rows)

    def _arrays(self, rows: list[tuple]) -> dict[str, torch.Tensor]:
        n = len(rows)
        made = {
            "tokens": torch.zeros(n, 54 + 3 * 50, 256),
            "kind_logits": torch.zeros(n, 6),
            "noun_logits": torch.zeros(n, 3, 2, len(NOUNS)),
            "colour_logits": torch.zeros(n, 3, 2, len(COLOURS)),
            "maps": torch.zeros(n, 2, 24, 36),
            "glance_box": torch.zeros(n, 3, 4),
            "glance_object_box": torch.zeros(n, 3, 4),
            "glance_mask": torch.zeros(n, 3),
        }
        made["glance_box"][:, 0] = made["glance_object_box"][:, 0] = torch.tensor([0.2, 0.2, 0.3, 0.3])
        for i, (noun, colour, place, appeared, changed) in enumerate(rows):
            made["kind_logits"][i, (1 if appeared else 2) if changed else 0] = 5
            if changed:
                side = int(appeared)
                made["noun_logits"][i, 0, :, 0] = 4
                made["noun_logits"][i, 0, side, [0, noun]] = torch.tensor([0.0, 6.0])
                made["colour_logits"][i, 0, side, colour] = 6
                made["glance_mask"][i, 0] = 1
                made["tokens"][i, :, place] = 8
        return made

    def __len__(self) -> int:
        return len(self.meta)

    def arrays(self, indices: list[int]) -> dict[str, torch.Tensor]:
        return {name: table[indices] for name, table in self.tables.items()}
