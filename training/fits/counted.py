"""Fits from which score of the change map an uncertain place counts as changed ("and one more place has changed").

    scenedelta evaluate pairs.ndjson --bundle NAME --evidence evidence.ndjson
    python -m training.fits counted --pairs pairs.ndjson --evidence evidence.ndjson --truth 0.85 [--write BUNDLE]

The pairs are labelled real ones, because generated pairs have hardly any false places; several sets may be given. An
uncertain place is a statement after the first one whose probability is below --truth. --write puts the table
(`calibration.facts.counted`) into the manifest of a bundle folder.

Labels of busy cameras leave out far things and things at the edge. --looked-at states that the pictures of all places
without a label were looked at, and names the pairs whose places show no further change.
"""

import argparse
import json

from training.bundle.manifest import replace_manifest
from training.fits.statements import described_pairs, labelled_boxes, shows
from training.inputs import existing_file, existing_folder, read_json

SCORES = (0, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95)


def uncertain_places(
    label: dict, statements: list[dict], truth: float, unlabelled: bool = False
) -> list[tuple[float, bool]]:
    """(lowest score of its regions, did something change there?) per uncertain place. unlabelled: the
    answer for a place without a label."""
    boxes = labelled_boxes(label, False)
    return [
        (
            min(region["score"] for region in one["regions"]),
            unlabelled or any(shows(boxes, region) for region in one["regions"]),
        )
        for one in statements[1:]
        if one["probability"] < truth
    ]


def table_of(places: list[tuple[float, bool]]) -> list[list[float]]:
    """[share that changed, score] ascending, for the scores from which on the share is higher than before; at a score
    of 1 all are taken as true."""
    table: list[list[float]] = []
    for score in SCORES:
        right = [changed for at, changed in places if at >= score]
        print(f"from {score}: {sum(right)} of {len(right)} places changed")
        share = round(sum(right) / max(1, len(right)), 3)
        if not table or share > table[-1][0]:
            table.append([share, score])
    return table if table[-1][0] >= 1 else [*table, [1, 1]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=existing_file, nargs="+", required=True)
    parser.add_argument("--evidence", type=existing_file, nargs="+", required=True, help="one file per file of pairs")
    parser.add_argument("--truth", type=float, required=True, help="the service's setting TRUTH")
    parser.add_argument("--looked-at", nargs="*", metavar="ID", help="pairs whose unlabelled places did not change")
    parser.add_argument("--write", type=existing_folder, metavar="BUNDLE")
    args = parser.parse_args()
    judged = lambda pair: args.looked_at is not None and pair not in args.looked_at
    places = [
        place
        for pairs, evidence in zip(args.pairs, args.evidence, strict=True)
        for label, swapped, statements in described_pairs(pairs, evidence)
        if not swapped
        for place in uncertain_places(label, statements, args.truth, judged(label["id"]))
    ]
    counted = table_of(places)
    print(json.dumps(counted))
    if args.write:
        manifest = read_json(args.write / "manifest.json", "calibration.facts")
        manifest["calibration"]["facts"]["counted"] = counted
        replace_manifest(args.write, manifest)
