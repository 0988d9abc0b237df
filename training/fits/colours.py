"""Fits the level that a colour must reach (`names.levels.colours` of a bundle) on labelled pairs of fixed cameras.

    scenedelta evaluate REAL/pairs.ndjson --bundle NAME --evidence evidence.ndjson
    python -m training.fits colours --pairs REAL/pairs.ndjson --evidence evidence.ndjson [--pairs ... --evidence ...] \\
      --tier B [--write BUNDLE]

The evidence has the most probable colour of each event. It is right if the label of the thing, an event of which is
true, has it or another name of it. --tier takes the cameras of that tier of cameras.json beside the pairs: cameras that
taught the namer would promise too much.
"""

import argparse

from training.bundle.manifest import replace_manifest
from training.fits.judge import labelled_events
from training.fits.labelled import LabelledPair, labelled_pairs
from training.inputs import existing_file, existing_folder, read_json, read_ndjson
from training.learn.levels import LEVELS, levels
from training.text.lexicon import ALSO_COLOURED

LEAST_SAID = 30  # events with a colour, for a level


def is_true(colour: str, labels: tuple[str, ...]) -> bool:
    """Whether the stated colour is one of the labels, or another name of it: silver is grey."""
    names = lambda word: {word, *ALSO_COLOURED.get(word, ())}
    return any(colour in names(label) or label in names(colour) for label in labels)


def colours_of(events: list[dict], pair: LabelledPair) -> list[tuple[float, bool]]:
    """(probability, is it true?) of the colour of each true event whose thing has a labelled one."""
    said = []
    for event, label in labelled_events(events, pair):
        labels = tuple(colour for change in pair.changes if change.is_of(event) for colour in change.colours)
        if label and labels and event["colour"]:
            said.append((event["colour"]["probability"], is_true(event["colour"]["value"], labels)))
    return said


def shares(said: list[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """(level, share of the colours from that probability on that are true, their number), while there are enough."""
    rows = []
    for level in LEVELS:
        sure = [truth for probability, truth in said if probability >= level]
        if len(sure) < LEAST_SAID:
            break
        rows.append((level, sum(sure) / len(sure), len(sure)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=existing_file, action="append", required=True)
    parser.add_argument("--evidence", type=existing_file, action="append", required=True)
    parser.add_argument("--tier", required=True, help="of the cameras, those that did not teach the namer")
    parser.add_argument("--write", type=existing_folder, metavar="BUNDLE")
    args = parser.parse_args()
    if len(args.pairs) != len(args.evidence):
        raise SystemExit(f"colours: {len(args.pairs)} --pairs and {len(args.evidence)} --evidence, expected as many")
    said, cameras = [], set()
    for path, evidence in zip(args.pairs, args.evidence):
        tiers = read_json(path.parent / "cameras.json")
        chosen = {camera for camera, about in tiers.items() if about["tier"] == args.tier}
        names = {line["id"]: line["camera"] for line in read_ndjson(path)}
        pairs = {pair.id: pair for pair in labelled_pairs(path) if names[pair.id] in chosen}
        for line in read_ndjson(evidence):
            if line["id"] in pairs and line.get("evidence") and not line.get("swapped"):
                found = colours_of(line["evidence"]["events"], pairs[line["id"]])
                said += found
                cameras |= {names[line["id"]]} if found else set()
    table = shares(said)
    print(f"{len(said)} colours of {len(cameras)} cameras")
    print("\n".join(f"from {level:.2f}: {count}, {100 * share:.1f} % true" for level, share, count in table))
    if args.write:
        manifest = read_json(args.write / "manifest.json", "names")
        manifest["names"].setdefault("levels", {})["colours"] = levels([row[:2] for row in table])
        replace_manifest(args.write, manifest)


if __name__ == "__main__":
    main()
