"""Writes the figures of `scenedelta evaluate --json` into the manifest of the bundle, so that no figure is typed by
hand.

    python -m training.bundle record --bundle models/scorer-surveillance --evaluation evaluation.json \
        --pairs "development pairs (109 real pairs, never trained on)"

The manifest's `metrics` gains one entry, named by --pairs: rates, each with its number of cases. Graphs and their
hashes stay as they are.
"""

import argparse
import json
from pathlib import Path

from training.bundle.manifest import replace_manifest
from training.inputs import read_json

FORMAT = "scenedelta-evaluation/1"
FACTS = (
    "kind",
    "noun",
    "nounStrict",
    "nounClass",
    "colour",
    "place",
    "inverted",
    "becomes",
    "objectsNamed",
    "claimsTrue",
)
# For an evaluation with --swapped: the name of the figure in the report, and in the manifest.
SWAPPED = {
    "answered": "swapped_answered",
    "kindReversed": "swapped_kind_reversed",
    "sameNouns": "swapped_same_nouns",
    "alikeNouns": "swapped_alike_nouns",
}


def rate(proportion: dict) -> str | None:
    """'70.0 % of 70'; None if there were no cases."""
    return f"{100 * proportion['rate']:.1f} % of {proportion['of']}" if proportion["of"] else None


def measured(report: dict) -> dict:
    captioner = report["captioner"]
    words, alarms, place = captioner["words"], captioner["alarms"], captioner["place"]
    clauses, swapped = captioner["falseClauses"], report.get("swapped")
    figures = {
        "auroc": round(alarms["auroc"], 4) if alarms["auroc"] is not None else None,
        "verdict": rate(alarms["verdict"]),
        "false_alarms": rate(alarms["falseAlarms"]),
        "pointing_game": rate(place["game"]),
        "maps_empty_on_unchanged": rate(place["emptyWhenUnchanged"]),
        **{name: rate(captioner["facts"][name]) for name in FACTS},
        "false_clauses": f"{clauses['clauses']} in {clauses['answers']} answers" if clauses["answers"] else None,
        **{key: rate(swapped[name]) for name, key in SWAPPED.items() if swapped},
        "cider_d": round(100 * words["all"]["ciderD"], 1),
        "cider_d_changed": round(100 * words["changed"]["ciderD"], 1),
        "bleu_4": round(100 * words["all"]["bleu"][3], 1),
        "rouge_l": round(100 * words["all"]["rougeL"], 1),
        "command": "scenedelta evaluate pairs.ndjson" + (" --swapped" if swapped else ""),
    }
    return {name: value for name, value in figures.items() if value is not None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=Path, required=True)
    parser.add_argument("--evaluation", type=Path, required=True)
    parser.add_argument("--pairs", required=True, help="which pairs these are, in words")
    args = parser.parse_args()
    target = args.bundle / "manifest.json"
    report, manifest = read_json(args.evaluation), read_json(target, "name", "metrics")
    if report.get("format") != FORMAT:
        found = report.get("format")
        raise SystemExit(
            f"{args.evaluation}: has the format {found!r}, expected {FORMAT!r} (scenedelta evaluate --json FILE)"
        )
    if report["captioner"]["name"] != manifest["name"]:
        raise SystemExit(
            f"{args.evaluation}: measured {report['captioner']['name']}, and {target} is {manifest['name']}"
        )
    manifest["metrics"][args.pairs] = measured(report)
    replace_manifest(args.bundle, manifest)
    print(json.dumps(manifest["metrics"][args.pairs]))
