"""Fits the probabilities of facts (`calibration.facts` of a bundle) on generated pairs (training/journal/levels.md).

    python -m training.worlds pairs --data ROOT --count 600 --out PAIRS
    scenedelta evaluate PAIRS/pairs.ndjson --bundle NAME --evidence evidence.ndjson
    python -m training.fits facts --pairs PAIRS/pairs.ndjson --evidence evidence.ndjson [--write BUNDLE]

Prints the calibration and how often each kind of fact is right; --write puts it into the manifest of a bundle folder.
"""

import argparse
import json
from collections import defaultdict

import numpy as np

from training.bundle.manifest import replace_manifest
from training.fits.statements import described_pairs, shows, things_of
from training.inputs import existing_file, existing_folder, read_json
from training.learn.logistic import fit_logistic

CLAUSE = ("kind", "move", "twin", "nothing", "score", "area")  # the evidence of a clause, in the order of its weights
ACTION = {"appear": "appeared", "disappear": "disappeared", "move": "moved"}
RIDGE_OF_CLAUSE, RIDGE = 1.0, 0.1
SHARES = ("third", "sideways", "depth", "one", "several")


def is_true(statement: dict, things: list[dict]) -> bool:
    """Whether the regions of a statement show things with which that happened."""
    regions = statement["regions"]
    if statement["kind"] == "replace":
        gone_or_come = {"before": "disappeared", "after": "appeared"}
        return all(
            any(thing["action"] == gone_or_come[region["side"]] and shows(thing["boxes"], region) for thing in things)
            for region in regions
        )
    action = ACTION[statement["kind"]]
    return any(thing["action"] == action and all(shows(thing["boxes"], r) for r in regions) for thing in things)


def facts_of(statement: dict, things: list[dict]) -> list[tuple[str, list[float], bool]]:
    """(name, measurements, is it true?) of every fact that a statement states; facts but the clause's itself are those
    of the things that all of its regions show."""
    facts = []
    if statement["clause"]:
        row = [statement["clause"][name] for name in CLAUSE]
        facts.append(("clause", row, is_true(statement, things)))
    shown = [thing for thing in things if all(shows(thing["boxes"], r) for r in statement["regions"])]
    if not shown:
        return facts
    is_stated = lambda phrase: any(phrase in thing["places"] for thing in shown)
    is_move, stated, side = statement["kind"] == "move", statement["stated"], statement["side"]
    if stated:
        row = [stated["logit"], stated["agreement"]] if is_move else [stated["logit"]]
        facts.append(("way" if is_move else "place", row, is_stated(stated["phrase"])))
    if not is_move:
        facts.append(("third", [], is_stated(statement["third"])))
    if side:
        facts.append(("sideways", [], is_stated(side) or is_stated(f"slightly {side}")))
    if statement["depth"]:
        facts.append(("depth", [], is_stated(statement["depth"])))
    if statement["counted"] is not None:
        several = any(thing["count"] > 1 for thing in shown)
        facts.append(("several" if statement["counted"] else "one", [], several == statement["counted"]))
    return facts


def fit(facts: list[tuple[str, list[float], bool]]) -> dict:
    """`calibration.facts` without `counted`. @raises SystemExit if no statement has one of the facts"""
    rows, truths = defaultdict(list), defaultdict(list)
    for name, row, right in facts:
        rows[name].append(row)
        truths[name].append(right)

    def weights(name: str, ridge: float) -> list[float]:
        if len(set(truths[name])) < 2:
            raise SystemExit(f"facts: of {len(truths[name])} {name}s all are right or all are wrong, expected both")
        offset, found = fit_logistic(
            np.array(rows[name]), np.array(truths[name]), ridge, balanced=False, soft=False, standardised=False
        )
        return [round(float(value), 3) for value in (*found, offset)]

    place, way = weights("place", RIDGE), weights("way", RIDGE)
    return {
        "clause": dict(zip((*CLAUSE, "offset"), weights("clause", RIDGE_OF_CLAUSE))),
        "place": {"scale": place[0], "offset": place[1]},
        "way": {"scale": way[0], "offset": way[2], "agreement": way[1]},
        **{name: round((sum(truths[name]) + 1) / (len(truths[name]) + 2), 3) for name in SHARES},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=existing_file, required=True, help="labels of generated pairs")
    parser.add_argument("--evidence", type=existing_file, required=True, help="`scenedelta evaluate --evidence`")
    parser.add_argument("--write", type=existing_folder, metavar="BUNDLE")
    args = parser.parse_args()
    facts = [
        fact
        for label, swapped, statements in described_pairs(args.pairs, args.evidence)
        for statement in statements
        for fact in facts_of(statement, things_of(label, swapped))
    ]
    fitted = fit(facts)
    print(json.dumps(fitted, indent=1))
    for name in ("clause", "place", "way", *SHARES):
        right = [truth for other, _, truth in facts if other == name]
        print(f"{name}: {sum(right)} of {len(right)} true")
    if args.write:
        manifest = read_json(args.write / "manifest.json", "calibration")
        counted = manifest["calibration"].get("facts", {}).get("counted")  # of training.fits.counted
        manifest["calibration"]["facts"] = fitted | ({"counted": counted} if counted else {})
        replace_manifest(args.write, manifest)
