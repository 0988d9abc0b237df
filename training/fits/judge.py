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
MADE_WEIGHT = 0.4  # of rows of rendered and painted pairs, which have more things and complete labels, but no real ones
COMPETITION = ("alike", "gap", "better")
# The sign of a weight, where more evidence can only speak for the answer, or against it.
SIGNS = {"score": 1, "separate": 1, "person": 1, "nothing": -1, "vehicle": -1, "decodedPerson": 1}
SIGNS |= {"class": 1, "conflict": -1, "nouns": 1, "paint": 1, "bands": 1, "area": -1}
SIGNS |= {"distance": -1, "iou": 1, "overlap": 1, "alike": 1, "gap": 1, "better": -1}
RIDGE = {"person": 3.0, "alike": 3.0, "link": 3.0, "single": 10.0, "move": 10.0}  # of half the squared weights
# An event of one frame has no link; one of both frames is no appearance.
NOT_OF_SINGLE, NOT_OF_MOVE = ("link", "nouns", "iou", "grown"), ("isAppearance",)
LEVELS = {"person": 0.5, "link": 0.3, "move": 0.3, "identity": 0.8, "known": 0.15, "stated": 0.9, "others": 0.75}


@dataclass
class Rows:
    """Evidence with its labels; `group` is the camera, and `pair` the pair of each row."""

    columns: list[str] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    truths: list[bool] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    made: list[bool] = field(default_factory=list)

    def add(self, row: dict, truth: bool, pair: LabelledPair, kind: str = "") -> None:
        self.columns = self.columns or list(row)
        self.rows.append([row[name] for name in self.columns])
        self.truths.append(truth)
        self.groups.append(pair.group)
        self.pairs.append(pair.id)
        self.kinds.append(kind)
        self.made.append(pair.made)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """[n, columns], [n] whether true, [n] weight: cameras by the root of their number of rows, real ones first."""
        groups = np.array(self.groups)
        counts = {group: int((groups == group).sum()) for group in set(self.groups)}
        weights = np.array([counts[group] ** -0.5 for group in self.groups]) * np.where(self.made, MADE_WEIGHT, 1)
        return np.array(self.rows, dtype=float), np.array(self.truths), weights / weights.mean()


def collect(pairs: dict[str, LabelledPair], lines: list[dict], people: Rows, links: Rows, events: Rows) -> None:
    """Adds the rows of the boxes, links and events of all pairs that have labels."""
    for line in lines:
        pair = pairs.get(line["id"])
        if pair is None or line.get("evidence") is None:
            continue
        if pair.complete:
            add_people_and_links(line["evidence"], pair, people, links)
        for event, label in labelled_events(line["evidence"]["events"], pair):
            if label is not None:
                events.add(event["row"], label, pair, event["kind"])


def add_people_and_links(evidence: dict, pair: LabelledPair, people: Rows, links: Rows) -> None:
    for box in evidence["people"]:
        people.add(box["row"], any(c.is_person and c.shows(box["side"], box["box"]) for c in pair.changes), pair)
    # A rendered thing that moves keeps its looks: it would teach that every other likeness is none.
    for link in [] if pair.made else evidence["links"]:
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


def labelled_events(events: list[dict], pair: LabelledPair) -> list[tuple[dict, bool | None]]:
    """The events with `event_labels`. A thing has an event of its own beside a move: their labels do not compete."""
    apart = [[event for event in events if (event["kind"] == "move") == is_move] for is_move in (True, False)]
    return [one for some in apart for one in zip(some, event_labels(some, pair))]


def event_labels(events: list[dict], pair: LabelledPair) -> list[bool | None]:
    """Per event, the most probable first, whether a labelled thing changed so; a label makes `count` events true."""
    left = {id(change): change.count for change in pair.changes}
    labels: list[bool | None] = []
    for event in events:
        fits = [c for c in pair.changes if c.is_of(event)]
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


def linear(rows: Rows, columns: list[str], ridge: float, signs: dict[str, int]) -> dict:
    """A logistic regression whose weights keep the signs that sense demands."""
    table, truths, weights = rows.arrays()
    table = table[:, [rows.columns.index(name) for name in columns]]
    means, scales = table.mean(0), np.maximum(table.std(0), 1e-6)
    scaled = np.c_[(table - means) / scales, np.ones(len(table))]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        score = scaled @ w
        pull = np.r_[ridge * w[:-1], 0]
        value = (weights * np.logaddexp(0, np.where(truths, -score, score))).sum() + pull @ w / 2
        return value, scaled.T @ (weights * (sigmoid(score) - truths)) + pull

    bounds = [{1: (0, None), -1: (None, 0)}.get(signs.get(name, 0), (None, None)) for name in columns]
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


def samples(people: Rows, links: Rows, events: Rows) -> dict[str, tuple[Rows, list[str]]]:
    """Rows and columns of each model. The competition columns of `links` are those of the judge that measured them."""
    is_move = np.array([kind == "move" for kind in events.kinds])
    seen = part(links, np.array([kind != MADE for kind in links.kinds]))
    return {
        "person": (people, people.columns),
        "alike": (links, [name for name in links.columns if name not in COMPETITION]),
        "link": (seen, list(COMPETITION)),
        "single": (part(events, ~is_move), [name for name in events.columns if name not in NOT_OF_SINGLE]),
        "move": (part(events, is_move), [name for name in events.columns if name not in NOT_OF_MOVE]),
    }


def model_of(name: str, rows: Rows, columns: list[str]) -> dict:
    # Evidence about an event means different things beside its other evidence, so that no sign is certain.
    return linear(rows, columns, RIDGE[name], {} if name in ("single", "move") else SIGNS)


def fit(people: Rows, links: Rows, events: Rows) -> dict:
    """The judge."""
    models = samples(people, links, events)
    return {name: model_of(name, rows, columns) for name, (rows, columns) in models.items()} | {"levels": LEVELS}


def fold_of(group: str) -> int:
    return sum(map(ord, group)) % FOLDS


def held_out(name: str, rows: Rows, columns: list[str]) -> np.ndarray:
    """Probability per row by models that saw no row of its camera."""
    folds = np.array([fold_of(group) for group in rows.groups])
    scores = np.zeros(len(folds))
    for fold in sorted(set(folds)):
        model = model_of(name, part(rows, folds != fold), columns)
        scores[folds == fold] = apply_linear(model, part(rows, folds == fold))
    return scores


def part(rows: Rows, mask: np.ndarray) -> Rows:
    pick = lambda values: [value for value, is_in in zip(values, mask) if is_in]
    lists = (rows.rows, rows.truths, rows.groups, rows.pairs, rows.kinds, rows.made)
    return Rows(rows.columns, *(pick(values) for values in lists))


def figures(people: Rows, links: Rows, events: Rows) -> list[str]:
    """Lines of text about real pairs of cameras that were held out."""
    lines, of_events = [], []
    for name, (rows, columns) in samples(people, links, events).items():
        scores = held_out(name, rows, columns)
        real = ~np.array(rows.made)
        truths, scores, pairs = np.array(rows.truths)[real], scores[real], np.array(rows.pairs)[real]
        lines.append(f"{name}: {len(truths)} rows, {truths.sum()} true, AUROC {roc_auc_score(truths, scores):.3f}")
        if name in ("single", "move"):
            of_events.append((truths, scores, pairs))
    truths, scores, pairs = (np.concatenate(values) for values in zip(*of_events))
    lines.append(f"events: {len(truths)} rows, {truths.sum()} true, AUROC {roc_auc_score(truths, scores):.3f}")
    first = np.zeros(len(pairs), dtype=bool)
    for pair in set(pairs):
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
        if len(args.pairs) != len(args.evidence):
            raise SystemExit(f"judge: {len(args.pairs)} --pairs and {len(args.evidence)} --evidence, expected as many")
        rows = Rows(), Rows(), Rows()
        for path, evidence in zip(args.pairs, args.evidence):
            pairs = {pair.id: pair for pair in labelled_pairs(path)}
            collect(pairs, [line for line in read_ndjson(evidence) if not line.get("swapped")], *rows)
        if not rows[2].rows:
            raise SystemExit("judge: no event has a label, expected --pairs and the --evidence of the same pairs")
        print("\n".join(figures(*rows)))
        fitted = fit(*rows)
    if args.write:
        manifest = read_json(args.write / "manifest.json", "calibration")
        replace_manifest(args.write, manifest | {"judge": fitted})
