"""Fits which changed regions lie in the scene and which on the lens (`lens` of a bundle's manifest).

    python -m training.worlds pairs --data REAL --scenario lens --split train --count 1000 --out LENS
    scenedelta evaluate LENS/pairs.ndjson --bundle NAME --evidence LENS/evidence.ndjson
    python -m training.fits lens --pairs LENS/pairs.ndjson --evidence LENS/evidence.ndjson \\
      [--pairs ... --evidence ...] [--test TEST/pairs.ndjson --test-evidence ...] [--average BUNDLE] [--write BUNDLE]
    python -m training.fits lens --start --write BUNDLE

The pairs are real ones and those of the scenarios "lens", "pieces", "carried" and "two-frames": labelled real pairs
show people and vehicles almost alone, and few at a time. --start writes a model that takes every region for the
scene, so that a bundle without one can be measured. A region that lies on a labelled change is of the scene; one that
touches none, in a pair with something on the lens, is of the lens; the others have no label. Prints figures of whole
cameras that were held out, then those of --test, whose pairs teach nothing. With --average the trees join those of a
bundle.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.tree._tree import Tree

from training.bundle.manifest import replace_manifest
from training.fits.judge import Rows, apply_linear, fold_of, linear, part
from training.fits.labelled import ROOMS, Box, changes_of, corners, shared
from training.inputs import existing_file, existing_folder, read_json, read_ndjson
from training.learn.logistic import sigmoid

COLUMNS = "ownSteep ownEdge ownEdgeWide ownFine otherFine ownCoarse otherCoarse fineKept middleKept wideKept change "
COLUMNS += "oneSided light black hue fill size aspect score cells changed count nothing person vehicle animal object "
COLUMNS += "colour"
ON_CHANGE, BESIDE = 0.3, 0.02  # share that a region and a labelled box have in common, of the smaller one
TREES, DEPTH, RATE, LEAF, SHARE = 80, 3, 0.1, 20, 0.7  # of the boosted trees; SHARE: of the rows that one tree sees
RIDGE = 20.0  # of the correction
MADE_WEIGHT = 0.3  # of a change that was drawn, or has something drawn on the lens, beside a real one
LENS = "lens"  # the first nuisance of a pair with something on the lens; the second says what


CORRECTING = ["region", "others"]
MOST_ODDS = 6.9  # log-odds of one region, as LEAST_PROBABILITY of src/pipeline/judge.ts


@dataclass(frozen=True)
class LensPair:
    id: str
    group: str  # the camera, or the room
    made: bool
    lens: str | None  # the thing that was painted on the lens
    boxes: dict[str, list[Box]]  # of the changes, by the frame

    def shows(self, region: dict) -> bool | None:
        """Whether the region is of the scene; None: no label says so."""
        box = corners(region["box"])
        common = [shared(box, other) / min(area(box), area(other)) for one in self.boxes.values() for other in one]
        if max(common, default=0.0) > ON_CHANGE:
            return True
        return False if self.lens and max(common, default=0.0) < BESIDE else None


def area(box: Box) -> float:
    return max(1e-9, (box[2] - box[0]) * (box[3] - box[1]))


def lens_pairs(path: Path) -> dict[str, LensPair]:
    pairs = {}
    for line in read_ndjson(path):
        changes = changes_of(path, line) if line["verdict"] == "change" else []
        boxes = {side: [box for change in changes for box in change.boxes[side]] for side in ("before", "after")}
        camera = line.get("camera") or line["scene"]
        named = line.get("nuisance") or []
        lens = named[1] if named[:1] == [LENS] else None
        pairs[line["id"]] = LensPair(line["id"], ROOMS.get(camera, camera), bool(line.get("made")), lens, boxes)
    return pairs


def collect(pairs_at: list[Path], evidence_at: list[Path]) -> tuple[Rows, list[LensPair]]:
    """The rows of all labelled regions, with the pair of each."""
    rows, of = Rows(COLUMNS.split()), []
    for path, evidence in zip(pairs_at, evidence_at, strict=True):
        pairs = lens_pairs(path)
        for line in read_ndjson(evidence):
            pair = pairs.get(line["id"])
            if pair is None or line.get("swapped") or not line.get("evidence"):
                continue
            for region in line["evidence"]["regions"]:
                label = pair.shows(region)
                if label is not None:
                    rows.add(region["row"], label, pair)
                    of.append(pair)
    return rows, of


def balanced(rows: Rows) -> Rows:
    """Repeats the rows of the lens until both answers have the same weight."""
    truths = np.array(rows.truths)
    times = max(1, round(truths.sum() / max(1, (~truths).sum())))
    index = [i for i, truth in enumerate(truths) for _ in range(1 if truth else times)]
    pick = lambda values: [values[i] for i in index]
    return Rows(
        rows.columns, *(pick(v) for v in (rows.rows, rows.truths, rows.groups, rows.pairs, rows.kinds, rows.made))
    )


def fit(rows: Rows) -> dict:
    """Boosted trees (src/pipeline/judge.ts)."""
    table, truths = np.array(rows.rows, dtype=np.float32), np.array(rows.truths)
    scene = np.where(rows.made, MADE_WEIGHT, 1.0)
    weights = np.where(truths, scene, scene[truths].sum() / max(1, (~truths).sum()))
    rule = {"n_estimators": TREES, "max_depth": DEPTH, "learning_rate": RATE, "min_samples_leaf": LEAF}
    model = GradientBoostingClassifier(**rule, subsample=SHARE, random_state=0).fit(table, truths, weights)
    prior = float(model.init_.class_prior_[1])
    trees = [nodes_of(stage[0].tree_, rows.columns) for stage in model.estimators_]
    return {"trees": trees, "offset": round(math.log(prior / (1 - prior)), 4)}


def averaged(one: dict, other: dict) -> dict:
    """The mean log-odds of two models: fits of different draws err differently (Breiman, Bagging predictors, 1996).

    The correction by other regions stays that of `one`.
    """
    half = lambda node: node if isinstance(node, list) else round(node / 2, 5)
    trees = [[half(node) for node in tree] for tree in (*one["trees"], *other["trees"])]
    return one | {"trees": trees, "offset": round((one["offset"] + other["offset"]) / 2, 4)}


def nodes_of(tree: Tree, columns: list[str]) -> list:
    """Per node its log-odds, or the column, the level, and the nodes of values up to the level and above it."""
    return [
        round(RATE * float(tree.value[i][0][0]), 4)
        if tree.children_left[i] < 0
        else [
            columns[tree.feature[i]],
            round(float(tree.threshold[i]), 4),
            int(tree.children_left[i]),
            int(tree.children_right[i]),
        ]
        for i in range(tree.node_count)
    ]


def apply(model: dict, rows: Rows) -> np.ndarray:
    places = {name: i for i, name in enumerate(rows.columns)}
    return sigmoid(np.array([model["offset"] + sum(leaf(t, row, places) for t in model["trees"]) for row in rows.rows]))


def leaf(tree: list, row: list[float], places: dict[str, int]) -> float:
    node = tree[0]
    while isinstance(node, list):
        column, level, up_to, above = node
        node = tree[up_to if row[places[column]] <= level else above]
    return node


def fit_beside(rows: Rows) -> dict:
    return linear(balanced(rows), rows.columns, RIDGE, {})


def held_out(rows: Rows, fit_one: Callable[[Rows], dict], use: Callable[[dict, Rows], np.ndarray]) -> np.ndarray:
    """Probability per row by a model that saw no row of its camera."""
    folds = np.array([fold_of(group) for group in rows.groups])
    scores = np.zeros(len(folds))
    for fold in sorted(set(folds)):
        scores[folds == fold] = use(fit_one(part(rows, folds != fold)), part(rows, folds == fold))
    return scores


def log_odds(scores: np.ndarray) -> np.ndarray:
    return np.clip(np.log(scores / np.clip(1 - scores, 1e-9, None)), -MOST_ODDS, MOST_ODDS)


def beside(scores: np.ndarray, rows: Rows, of: list[LensPair]) -> Rows:
    """Per row its log-odds and the mean of those of the other rows of its pair, 0 without one."""
    odds, members = log_odds(scores), defaultdict(list)
    for i, pair in enumerate(of):
        members[pair.id].append(i)
    out = Rows(CORRECTING)
    for i, pair in enumerate(of):
        rest = [odds[j] for j in members[pair.id] if j != i]
        out.add({"region": odds[i], "others": float(np.mean(rest)) if rest else 0.0}, rows.truths[i], pair)
    return out


def figures(scores: np.ndarray, of: list[LensPair], truths: np.ndarray) -> list[str]:
    lines = [f"regions: {len(truths)}, {truths.sum()} of the scene, AUROC {roc_auc_score(truths, scores):.3f}"]
    pairs: dict[str, list[tuple[float, bool, LensPair]]] = defaultdict(list)
    for score, truth, pair in zip(scores, truths, of):
        pairs[pair.id].append((score, truth, pair))
    called: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for regions in pairs.values():
        pair, changed = regions[0][2], any(truth for _, truth, _ in regions)
        if changed:
            made = "drawn " if pair.made else ""
            name = "changed, with something on the lens: lost" if pair.lens else f"{made}changed: lost"
            wrong = not any(truth and score >= 0.5 for score, truth, _ in regions)
        else:
            name = f"unchanged, {pair.lens}: called a change"
            wrong = any(score >= 0.5 for score, _, _ in regions)
        called[name][0] += wrong
        called[name][1] += 1
    return lines + [f"  {name}: {wrong} of {count}" for name, (wrong, count) in sorted(called.items())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--pairs", "--evidence", "--test", "--test-evidence"):
        parser.add_argument(name, type=existing_file, action="append", default=[])
    parser.add_argument("--start", action="store_true", help="write a regression that is fitted later")
    parser.add_argument("--average", type=existing_folder, help="a bundle whose trees have half of the weight")
    parser.add_argument("--write", type=existing_folder)
    args = parser.parse_args()
    if args.start:
        even = {"weights": {"region": 1.0, "others": 0.0}, "offset": 0.0}
        fitted = {"trees": [], "offset": MOST_ODDS, "beside": even}
    else:
        rows, of = collect(args.pairs, args.evidence)
        if len(set(rows.truths)) < 2:
            raise SystemExit("lens: expected labelled regions of the scene and of the lens in --pairs and --evidence")
        corrected, truths = beside(held_out(rows, fit, apply), rows, of), np.array(rows.truths)
        scores = held_out(corrected, fit_beside, apply_linear)
        print("\n".join(figures(scores, of, truths)))
        fitted = fit(rows) | {"beside": fit_beside(corrected)}
        if args.average:
            fitted = averaged(read_json(args.average / "manifest.json", "lens")["lens"], fitted)
        if args.test:
            tests, of_tests = collect(args.test, args.test_evidence)
            of_lens = apply_linear(fitted["beside"], beside(apply(fitted, tests), tests, of_tests))
            print("\n".join(["test", *figures(of_lens, of_tests, np.array(tests.truths))]))
    if args.write:
        manifest = read_json(args.write / "manifest.json", "calibration")
        replace_manifest(args.write, manifest | {"lens": fitted})


if __name__ == "__main__":
    main()
