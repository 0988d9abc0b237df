"""Fits which changed regions lie in the scene and which on the lens (`lens` of a bundle's manifest).

    python -m training.worlds pairs --data REAL --scenario lens --split train --count 1000 --out LENS
    scenedelta evaluate LENS/pairs.ndjson --bundle NAME --evidence LENS/evidence.ndjson
    python -m training.fits lens --pairs LENS/pairs.ndjson --evidence LENS/evidence.ndjson \\
      [--pairs ... --evidence ...] [--test TEST/pairs.ndjson --test-evidence ...] [--write BUNDLE]
    python -m training.fits lens --start --write BUNDLE

--start writes a regression that takes every region for the scene, so that a bundle without one can be measured. A
region that lies on a labelled change is of the scene; one that touches none, in a pair with something on the lens, is
of the lens; the others have no label. Prints figures of whole cameras that were held out and chooses the level by them,
then those of --test, whose pairs teach nothing.
"""

import argparse
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from training.bundle.manifest import replace_manifest
from training.fits.judge import Rows, apply_linear, fold_of, linear, part
from training.fits.labelled import ROOMS, Box, changes_of, corners, shared
from training.inputs import existing_file, existing_folder, read_json, read_ndjson

COLUMNS = "ownSteep ownEdge ownEdgeWide ownFine otherFine ownCoarse otherCoarse fineKept middleKept wideKept change "
COLUMNS += "oneSided light black fill size aspect score cells changed"
ON_CHANGE, BESIDE = 0.3, 0.02  # share that a region and a labelled box have in common, of the smaller one
LOST = 0.005  # share of the changed pairs of held-out cameras that may lose all regions of their changes
RIDGE = 20.0
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
    return linear(balanced(rows), rows.columns, RIDGE, {})


def held_out(rows: Rows) -> np.ndarray:
    """Probability per row by a fit that saw no row of its camera."""
    folds = np.array([fold_of(group) for group in rows.groups])
    scores = np.zeros(len(folds))
    for fold in sorted(set(folds)):
        scores[folds == fold] = apply_linear(fit(part(rows, folds != fold)), part(rows, folds == fold))
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


def level_of(scores: np.ndarray, of: list[LensPair], truths: np.ndarray) -> float:
    """The level at which LOST of the changed pairs lose all regions that show their changes."""
    best: dict[str, float] = defaultdict(float)
    for score, pair, truth in zip(scores, of, truths):
        if truth and not pair.lens:
            best[pair.id] = max(best[pair.id], float(score))
    return round(float(np.quantile(list(best.values()), LOST)), 3)


def figures(scores: np.ndarray, of: list[LensPair], truths: np.ndarray, level: float) -> list[str]:
    lines = [f"regions: {len(truths)}, {truths.sum()} of the scene, AUROC {roc_auc_score(truths, scores):.3f}"]
    pairs: dict[str, list[tuple[float, bool, LensPair]]] = defaultdict(list)
    for score, truth, pair in zip(scores, truths, of):
        pairs[pair.id].append((score, truth, pair))
    called: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for regions in pairs.values():
        pair, changed = regions[0][2], any(truth for _, truth, _ in regions)
        if changed:
            name = "changed, with something on the lens: lost" if pair.lens else "changed: lost"
            wrong = not any(truth and score >= level for score, truth, _ in regions)
        else:
            name = f"unchanged, {pair.lens}: called a change"
            wrong = any(score >= level for score, _, _ in regions)
        called[name][0] += wrong
        called[name][1] += 1
    return lines + [f"  {name}: {wrong} of {count}" for name, (wrong, count) in sorted(called.items())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--pairs", "--evidence", "--test", "--test-evidence"):
        parser.add_argument(name, type=existing_file, action="append", default=[])
    parser.add_argument("--start", action="store_true", help="write a regression that is fitted later")
    parser.add_argument("--write", type=existing_folder)
    args = parser.parse_args()
    if args.start:
        even = {"weights": {"region": 1.0, "others": 0.0}, "offset": 0.0}
        fitted = {"weights": dict.fromkeys(COLUMNS.split(), 0.0), "offset": 0.0, "beside": even, "scene": 0.0}
    else:
        rows, of = collect(args.pairs, args.evidence)
        if len(set(rows.truths)) < 2:
            raise SystemExit("lens: expected labelled regions of the scene and of the lens in --pairs and --evidence")
        corrected, truths = beside(held_out(rows), rows, of), np.array(rows.truths)
        scores = held_out(corrected)
        level = level_of(scores, of, truths)
        print("\n".join([f"level {level}", *figures(scores, of, truths, level)]))
        fitted = fit(rows) | {"beside": fit(corrected), "scene": level}
        if args.test:
            tests, of_tests = collect(args.test, args.test_evidence)
            of_lens = apply_linear(fitted["beside"], beside(apply_linear(fitted, tests), tests, of_tests))
            print("\n".join(["test", *figures(of_lens, of_tests, np.array(tests.truths), level)]))
        # A camera adds the log-odds of its frames, so that even odds must lie at the level of one frame.
        fitted["beside"]["offset"] = round(fitted["beside"]["offset"] - math.log(level / (1 - level)), 4)
        fitted["scene"] = 0.5
    if args.write:
        manifest = read_json(args.write / "manifest.json", "calibration")
        replace_manifest(args.write, manifest | {"lens": fitted})


if __name__ == "__main__":
    main()
