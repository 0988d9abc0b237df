"""Measures the correspondence in a CLEVR bundle on held-out scenes of the twin, whose true matches are known.

    python -m research.correspondence measure --bundle models/scorer-clevr --scenes 100 --out FOLDER

Each scene gives two pairs, with its changed and with its distractor view. FOLDER gets a picture of the first --pictures
scenes: three rows, by the supervised head, by the features and by the last layer. Cells whose partner is more than two
cells off are outlined.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np
from sklearn.metrics import roc_auc_score

from research.clevr.pair_source import CHANGED, DEFAULT, DISTRACTOR, ClevrPairSource, views_of_scenes
from research.clevr.render import render
from research.clevr.rules import ChangedScene
from research.clevr.true_matches import TrueMatches, true_matches
from research.correspondence.draw import GAP, draw
from research.correspondence.graph import Correspondence, CorrespondenceGraph
from training.inputs import existing_folder

SCENES_AT_ONCE = 20
NEAR, FAR = 1.0, 2.0  # cells: a match is right within NEAR; a picture outlines it beyond FAR


def ways_to_match(found: Correspondence, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Name -> int [K]: the token of "after" that each kept token of "before" is matched with."""
    layers, heads = found.attention.shape[:2]
    ways = {"layer 1, head 1 (supervised)": found.partners(0, 0)}
    ways |= {f"layer 1, head {head + 1}": found.partners(0, head) for head in range(1, heads)}
    ways |= {f"layer {layer + 1}, mean of heads": found.partners(layer) for layer in range(layers)}
    return ways | {
        "features, highest cosine": found.nearest_features(),
        "the same cell": found.kept_before,
        "a random kept cell": rng.choice(found.kept_after, len(found.kept_before)),
    }


def errors_of(partners: np.ndarray, kept: np.ndarray, truth: TrueMatches, grid: tuple[int, int]) -> np.ndarray:
    """Distance in cells from the centre of the partner to the true match, float [K]; NaN without a true match."""
    row, column = np.divmod(partners, grid[1])
    return np.hypot(*(np.stack([column, row], 1) + 0.5 - truth.position[kept]).T)


class Totals:
    """Errors of every way to match, and the entropy of the attention on changed and unchanged objects."""

    def __init__(self) -> None:
        self.errors: dict[str, list[np.ndarray]] = defaultdict(list)
        self.same_object: dict[str, list[np.ndarray]] = defaultdict(list)
        self.entropy: dict[int, list[np.ndarray]] = defaultdict(list)
        self.changed: list[np.ndarray] = []

    def add(self, found: Correspondence, truth: TrueMatches, rng: np.random.Generator) -> None:
        kept = found.kept_before
        for name, partners in ways_to_match(found, rng).items():
            error = errors_of(partners, kept, truth, found.grid)
            matched = ~np.isnan(error)
            self.errors[name].append(error[matched])
            self.same_object[name].append((truth.other_slot[partners] == truth.partner[kept])[matched])
        on_object = truth.slot[kept] >= 0
        self.changed.append(truth.changed[kept][on_object])
        for layer in range(len(found.attention)):
            self.entropy[layer].append(found.entropy(layer)[on_object])

    def lines(self) -> list[str]:
        """Rows of a Markdown table, and the areas under the curves of the entropy."""
        rows = ["| matched by | mean error, cells | within a cell | same object |", "|---|---|---|---|"]
        for name, parts in self.errors.items():
            error, same = np.concatenate(parts), np.concatenate(self.same_object[name])
            rows.append(f"| {name} | {error.mean():.2f} | {(error <= NEAR).mean():.1%} | {same.mean():.1%} |")
        changed = np.concatenate(self.changed)
        for layer, parts in self.entropy.items():
            area = roc_auc_score(changed, np.concatenate(parts))
            rows.append(f"layer {layer + 1}: AUROC {area:.3f} of the entropy, cells of changed objects against others")
        return [*rows, f"{len(error)} cells with a true match, {changed.sum()} cells of changed objects"]


def picture(frames: np.ndarray, found: Correspondence, truth: TrueMatches) -> np.ndarray:
    """Three drawings below each other: the supervised head, the features, the last layer."""
    rows = []
    for partners in (found.partners(0, 0), found.nearest_features(), found.partners(-1)):
        error = errors_of(partners, found.kept_before, truth, found.grid)
        row = draw(*frames, found, partners, wrong=np.nan_to_num(error) > FAR)
        rows.append(cv2.copyMakeBorder(row, 0, GAP, 0, 0, cv2.BORDER_CONSTANT, value=(255, 255, 255)))
    return np.concatenate(rows)[:-GAP]


def compared(
    scenes: list[ChangedScene], graph: CorrespondenceGraph
) -> list[tuple[int, np.ndarray, Correspondence, TrueMatches]]:
    """Per pair of the scenes: the view of "after", both frames [2,h,w,3], their correspondence, and the truth."""
    results = []
    for scene in scenes:
        images = render(views_of_scenes([(scene, view) for view in (DEFAULT, CHANGED, DISTRACTOR)], "cpu"))[0].numpy()
        for view in (CHANGED, DISTRACTOR):
            frames = images[[DEFAULT, view]]
            found = graph(*frames)
            results.append((view, frames, found, true_matches(scene, view, found.grid)))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--scenes", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first scene")
    parser.add_argument("--pictures", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    graph, source = CorrespondenceGraph(args.bundle), ClevrPairSource(split="heldout")
    totals, rng = Totals(), np.random.default_rng(0)
    args.out.mkdir(parents=True, exist_ok=True)
    for start in range(args.first, args.first + args.scenes, SCENES_AT_ONCE):
        numbers = list(range(start, min(start + SCENES_AT_ONCE, args.first + args.scenes)))
        results = compared(source.draw_scenes(numbers), graph)
        for k, (view, frames, found, truth) in enumerate(results):
            totals.add(found, truth, rng)
            number = numbers[k // 2]
            if view == CHANGED and number - args.first < args.pictures:
                cv2.imwrite(str(args.out / f"{number}.webp"), picture(frames, found, truth)[..., ::-1])
    print("\n".join(totals.lines()))
