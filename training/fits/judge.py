"""Fits the judge of a bundle (`judge` of its manifest, src/pipeline/judge.ts) on labelled pairs of fixed cameras.

    scenedelta evaluate PAIRS/pairs.ndjson --bundle NAME --evidence evidence.ndjson
    python -m training.fits judge --pairs PAIRS/pairs.ndjson --evidence evidence.ndjson [--pairs ... --evidence ...] \\
      [--write BUNDLE]
    python -m training.fits judge --start OTHER --write BUNDLE

Prints figures of whole cameras that were held out; the written judge is fitted on all of them. The people decide
which links and events there are, so run it twice: the first fit brings better people, the second the rest.
"""

import argparse
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from training.bundle.manifest import replace_manifest
from training.fits.labelled import LabelledPair, labelled_pairs
from training.inputs import existing_file, existing_folder, read_json, read_ndjson
from training.learn.logistic import sigmoid

FOLDS = 10
MADE = "made"  # the kind of a row that no pair has
COMPETITION = ("alike", "gap", "better")
# The sign of a weight, where more evidence can only speak for the answer, or against it.
SIGNS = {"score": 1, "changed": 1, "separate": 1, "person": 1, "nothing": -1, "vehicle": -1, "decodedPerson": 1}
SIGNS |= {"class": 1, "conflict": -1, "nouns": 1, "paint": 1, "bands": 1, "overall": 1, "height": -1, "area": -1}
SIGNS |= {"saidKind": 1, "saidNone": -1, "clauses": 1, "link": 1, "part": -1}
SIGNS |= {"distance": -1, "iou": 1, "overlap": 1, "move": 1, "alike": 1, "gap": 1, "better": -1}
RIDGE, RIDGE_OF_EVENTS = 3.0, 120.0  # weight of half the squared norm of the standardised weights
LEVELS = {"person": 0.5, "link": 0.4, "known": 0.35, "stated": 0.65, "others": 0.55}


@dataclass
class Rows:
    """Evidence with its labels; `group` is the camera, and `pair` the pair of each row."""

    columns: list[str] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    truths: list[bool] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    def add(self, row: dict, truth: bool, pair: LabelledPair, kind: str = "") -> None:
        self.columns = self.columns or list(row)
        self.rows.append([row[name] for name in self.columns])
        self.truths.append(truth)
        self.groups.append(pair.group)
        self.pairs.append(pair.id)
        self.kinds.append(kind)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """[n, columns], [n] whether true, [n] weight: cameras by the root of their number of rows."""
        groups = np.array(self.groups)
        counts = {group: int((groups == group).sum()) for group in set(self.groups)}
        weights = np.array([counts[group] ** -0.5 for group in self.groups])
        return np.array(self.rows, dtype=float), np.array(self.truths), weights / weights.mean()


def collect(pairs: dict[str, LabelledPair], lines: list[dict]) -> tuple[Rows, Rows, Rows]:
    """Rows of the boxes, links and events of all pairs that have labels."""
    people, links, events = Rows(), Rows(), Rows()
    for line in lines:
        pair = pairs.get(line["id"])
        if pair is None or line.get("evidence") is None:
            continue
        if pair.complete:
            add_people_and_links(line["evidence"], pair, people, links)
        for event, label in zip(line["evidence"]["events"], event_labels(line["evidence"]["events"], pair)):
            if label is not None:
                events.add(event["row"], label, pair, event["kind"])
    return people, links, events


def add_people_and_links(evidence: dict, pair: LabelledPair, people: Rows, links: Rows) -> None:
    for box in evidence["people"]:
        people.add(box["row"], any(c.is_person and c.shows(box["side"], box["box"]) for c in pair.changes), pair)
    for link in evidence["links"]:
        label = link_label(link, pair)
        if label is None:
            continue
        links.add(link["row"], label, pair)
        if label:  # no thing is a person in one frame and a vehicle in the other, which few labels show
            links.add(link["row"] | {"conflict": 1.0, "class": 0.0}, False, pair, MADE)


def link_label(link: dict, pair: LabelledPair) -> bool | None:
    """Whether both boxes show one thing that moved; None if the labels do not say."""
    ends = [[c for c in pair.changes if c.shows(side, link[side])] for side in ("before", "after")]
    if any(c.action == "move" for c in ends[0] if c in ends[1]):
        return True
    return False if any(ends) else None


def event_labels(events: list[dict], pair: LabelledPair) -> list[bool | None]:
    """Per event, the most probable first, whether a labelled thing changed so; a label makes `count` events true."""
    left = {id(change): change.count for change in pair.changes}
    labels: list[bool | None] = []
    for event in events:
        fits = [
            c
            for c in pair.changes
            if c.action == event["kind"] and all(c.shows(t["side"], t["box"]) for t in event["things"])
        ]
        free = [c for c in fits if left[id(c)] > 0]
        for change in free[:1]:
            left[id(change)] -= 1
        is_unlabelled = (
            not pair.complete
            or pair.tiny_extra
            and not any(c.touches(t["side"], t["box"]) for c in pair.changes for t in event["things"])
        )
        labels.append(True if free else None if is_unlabelled else False)
    return labels


def linear(rows: Rows, columns: list[str], ridge: float = RIDGE) -> dict:
    """A logistic regression whose weights keep the signs that sense demands (SIGNS)."""
    table, truths, weights = rows.arrays()
    table = table[:, [rows.columns.index(name) for name in columns]]
    means, scales = table.mean(0), np.maximum(table.std(0), 1e-6)
    scaled = np.c_[(table - means) / scales, np.ones(len(table))]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        score = scaled @ w
        pull = np.r_[ridge * w[:-1], 0]
        value = (weights * np.logaddexp(0, np.where(truths, -score, score))).sum() + pull @ w / 2
        return value, scaled.T @ (weights * (sigmoid(score) - truths)) + pull

    bounds = [{1: (0, None), -1: (None, 0)}.get(SIGNS.get(name, 0), (None, None)) for name in columns]
    w = minimize(loss, np.zeros(len(columns) + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)]).x
    slopes = w[:-1] / scales
    return {
        "weights": {name: round(float(slope), 4) for name, slope in zip(columns, slopes)},
        "offset": round(float(w[-1] - slopes @ means), 4),
    }


def apply_linear(model: dict, rows: Rows) -> np.ndarray:
    table = np.array(rows.rows, dtype=float)
    columns = [rows.columns.index(name) for name in model["weights"]]
    return sigmoid(model["offset"] + table[:, columns] @ np.array(list(model["weights"].values())))


def fit(people: Rows, links: Rows, events: Rows) -> dict:
    """The judge. The competition columns of `links` are those of the judge that made the evidence."""
    alone = [name for name in links.columns if name not in COMPETITION]
    return {
        "person": linear(people, people.columns),
        "alike": linear(links, alone),
        "link": linear(seen(links), list(COMPETITION)),
        "event": linear(events, events.columns, RIDGE_OF_EVENTS),
        "levels": LEVELS,
    }


def seen(rows: Rows) -> Rows:
    return part(rows, np.array([kind != MADE for kind in rows.kinds]))


def fold_of(group: str) -> int:
    return sum(map(ord, group)) % FOLDS


def held_out(rows: Rows, train, apply) -> np.ndarray:
    """Probability per row by models that saw no row of its camera."""
    folds = np.array([fold_of(group) for group in rows.groups])
    scores = np.zeros(len(folds))
    for fold in sorted(set(folds)):
        scores[folds == fold] = apply(train(part(rows, folds != fold)), part(rows, folds == fold))
    return scores


def part(rows: Rows, mask: np.ndarray) -> Rows:
    pick = lambda values: [value for value, is_in in zip(values, mask) if is_in]
    return Rows(rows.columns, *(pick(v) for v in (rows.rows, rows.truths, rows.groups, rows.pairs, rows.kinds)))


def figures(people: Rows, links: Rows, events: Rows) -> list[str]:
    """Lines of text about cameras that were held out."""
    alone = [name for name in links.columns if name not in COMPETITION]
    scored = {
        "person": (people, held_out(people, lambda r: linear(r, r.columns), apply_linear)),
        "alike": (links, held_out(links, lambda r: linear(r, alone), apply_linear)),
        "link": (seen(links), held_out(seen(links), lambda r: linear(r, list(COMPETITION)), apply_linear)),
        "event": (events, held_out(events, lambda r: linear(r, r.columns, RIDGE_OF_EVENTS), apply_linear)),
    }
    lines = []
    for name, (rows, scores) in scored.items():
        truths = np.array(rows.truths)
        lines.append(f"{name}: {len(truths)} rows, {truths.sum()} true, AUROC {roc_auc_score(truths, scores):.3f}")
    rows, scores = scored["event"]
    truths, pairs = np.array(rows.truths), np.array(rows.pairs)
    first = np.zeros(len(pairs), dtype=bool)
    for pair in set(rows.pairs):
        of = np.flatnonzero(pairs == pair)
        first[of[np.argmax(scores[of])]] = True
    lines.append(f"surest event of a pair: {truths[first].sum()} of {first.sum()} true")
    for level in (0.9, 0.8, 0.7, 0.6):
        more = ~first & (scores >= level)
        lines.append(f"further events from {level}: {more.sum()}, {truths[more].sum()} true")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=existing_file, action="append", default=[])
    parser.add_argument("--evidence", type=existing_file, action="append", default=[])
    parser.add_argument("--start", type=existing_folder, help="write the judge of this bundle, which is fitted later")
    parser.add_argument("--write", type=existing_folder)
    args = parser.parse_args()
    if args.start:
        fitted = read_json(args.start / "manifest.json", "judge")["judge"]
    else:
        pairs = {pair.id: pair for path in args.pairs for pair in labelled_pairs(path)}
        lines = [line for path in args.evidence for line in read_ndjson(path) if not line.get("swapped")]
        rows = collect(pairs, lines)
        if not rows[2].rows:
            raise SystemExit("judge: no event has a label, expected --pairs and the --evidence of the same pairs")
        print("\n".join(figures(*rows)))
        fitted = fit(*rows)
    if args.write:
        manifest = read_json(args.write / "manifest.json", "calibration")
        replace_manifest(args.write, manifest | {"judge": fitted})
