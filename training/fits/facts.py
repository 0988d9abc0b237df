"""Fits the probabilities of places and ways (`calibration.facts` of a bundle) on held-out generated pairs.

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

RIDGE = 0.1
SHARES = ("third", "sideways", "depth")


def facts_of(event: dict, things: list[dict]) -> list[tuple[str, list[float], bool]]:
    """(name, measurements, is it true?) of every place and way of an event, by the things that its boxes show."""
    shown = [thing for thing in things if all(shows(thing["boxes"], end) for end in event["things"])]
    if not shown:
        return []
    is_stated = lambda phrase: any(phrase in thing["places"] for thing in shown)
    stated, side, depth = event["stated"], event["side"], event["depth"]
    facts = []
    if stated:
        facts.append(("place", [stated["logit"]], is_stated(stated["phrase"])))
    if event["kind"] != "move":
        facts.append(("third", [], is_stated(event["third"])))
    if side:
        facts.append(("sideways", [], is_stated(side) or is_stated(f"slightly {side}")))
    if depth:
        facts.append(("depth", [], is_stated(depth)))
    return facts


def fit(facts: list[tuple[str, list[float], bool]]) -> dict:
    """Places and ways of `calibration.facts`. @raises SystemExit if the places are all right or all wrong"""
    rows, truths = defaultdict(list), defaultdict(list)
    for name, row, right in facts:
        rows[name].append(row)
        truths[name].append(right)
    if len(set(truths["place"])) < 2:
        raise SystemExit(f"facts: of {len(truths['place'])} places all are right or all are wrong, expected both")
    offset, (scale,) = fit_logistic(
        np.array(rows["place"]), np.array(truths["place"]), RIDGE, balanced=False, soft=False, standardised=False
    )
    return {
        "place": {"scale": round(float(scale), 3), "offset": round(float(offset), 3)},
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
        for label, swapped, events in described_pairs(args.pairs, args.evidence)
        for event in events
        for fact in facts_of(event, things_of(label, swapped))
    ]
    fitted = fit(facts)
    print(json.dumps(fitted, indent=1))
    for name in ("place", *SHARES):
        right = [truth for other, _, truth in facts if other == name]
        print(f"{name}: {sum(right)} of {len(right)} true")
    if args.write:
        manifest = read_json(args.write / "manifest.json", "calibration")
        manifest["calibration"]["facts"] = manifest["calibration"].get("facts", {}) | fitted
        replace_manifest(args.write, manifest)
