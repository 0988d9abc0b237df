"""Measures namers on cameras that they did not learn from: what labelled real boxes are worth beside rendered ones.

    python -m training.namer_cameras --cache DIR --real DIR --cameras REAL/cameras.json --bundle B --out FILE \\
        [--judge DIR] [--folds 3] [--seeds 1 2 3] [--steps 800]

The cameras of --real are split into folds. Each fold is named by a namer that was trained on from the bundle's with the
other folds, and with the rendered crops of --cache. --judge names further cameras by a namer that learned from all
folds. Compared are `bundle` (the shipped namer), `rendered` (trained on with --cache alone), `real` (with --real
alone), `both`, and `colours` (with both, only the layers of the colours learn). FILE gets the shares of right nouns,
classes and colours, by noun, view, setting and time, with counts.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from training.bundle.restore import restore_namer
from training.contract import IGNORE
from training.data.noun_classes import classes_above
from training.data.sightings import Sightings
from training.inputs import existing_file, existing_folder
from training.namer import RATE_FURTHER, predict, train, uncalibrated
from training.net.namer import Namer
from training.text.noun_tree import HYPERNYMS, NOTHING, tree_of

# Rooms and squares that several cameras of the labels see: they are held out at once.
SAME_PLACE = {
    "room_blue_wide": "room_blue",
    "room_bed_front": "room_bed",
    "room_bed_wide": "room_bed",
    "tfl_piccadilly_night": "tfl_piccadilly_wide",
}
METHODS = ("bundle", "rendered", "real", "both", "colours")
FOLDED = ("real", "both", "colours")  # these learn from --real


def folds_of(cameras: list[str], count: int) -> dict[str, int]:
    """Camera -> fold. Cameras of one place share a fold; the folds have about as many crops each."""
    crops, sizes = defaultdict(int), [0] * count
    for camera in cameras:
        crops[SAME_PLACE.get(camera, camera)] += 1
    fold = {}
    for place in sorted(crops, key=lambda place: (-crops[place], place)):
        fold[place] = int(np.argmin(sizes))
        sizes[fold[place]] += crops[place]
    return {camera: fold[SAME_PLACE.get(camera, camera)] for camera in set(cameras)}


def answers(namer: Namer, nouns: list[str], colours: list[str], data: Sightings) -> list[dict]:
    """Per frame of a labelled crop: the true noun, and which of the namer's words are right."""
    noun_logits, colour_logits = predict(namer, data)
    noun, colour = data.targets(nouns, colours)
    ordered, member = classes_above(nouns, tree_of(nouns))
    top = member[[ordered.index(name) for name in HYPERNYMS]]
    of_class = top.argmax(0)
    rows = []
    for crop, side in (noun != IGNORE).nonzero().tolist():
        true, p = int(noun[crop, side]), torch.softmax(noun_logits[crop, side], -1)
        row = {"camera": data.models[crop][0], "noun": nouns[true], "shows": float((p[0] < 0.5) == (true != 0))}
        if nouns[true] != NOTHING:
            p[0] = 0
            row["right noun"] = float(p.argmax() == true)
            below = member[ordered.index(nouns[true])]  # man, for a label of person, is no mistake
            row["noun or below"] = float(below[int(p.argmax())])
            row["right class"] = float((top @ p).argmax() == of_class[true])
            if colour[crop, side] != IGNORE:
                row["right colour"] = float(colour_logits[crop, side].argmax() == colour[crop, side])
        rows.append(row)
    return rows


def summary(rows: list[dict]) -> dict:
    """The count and the shares right of some answers: of crops, and as the mean of the cameras' shares."""
    found = {"count": len(rows), "cameras": len({row["camera"] for row in rows})}
    for key in ("shows", "right noun", "noun or below", "right class", "right colour"):
        of = defaultdict(list)
        for row in rows:
            if key in row:
                of[row["camera"]].append(row[key])
        if of:
            found[key] = round(float(np.mean([value for values in of.values() for value in values])), 3)
            found[f"{key}, by camera"] = round(float(np.mean([np.mean(values) for values in of.values()])), 3)
    return found


def report(rows: list[dict], listed: dict[str, dict]) -> dict:
    """`summary` of all answers, and of those of each noun and of each view, setting and time of the camera."""
    groups = defaultdict(list)
    for row in rows:
        groups["all"].append(row)
        groups[f"noun: {row['noun']}"].append(row)
        for key in ("view", "setting", "time"):
            groups[f"{key}: {listed[row['camera']][key]}"].append(row)
    return {name: summary(group) for name, group in sorted(groups.items())}


def learned(
    method: str, args: argparse.Namespace, rendered: Sightings, real: Sightings, seed: int
) -> tuple[Namer, list[str], list[str]]:
    """The namer of a method, and its words."""
    namer, words = restore_namer(args.bundle)
    if method != "bundle":
        data, beside = {"rendered": (rendered, None), "real": (real, None)}.get(method, (rendered, real))
        lists, colours_alone = (words["nouns"], words["colours"]), method == "colours"
        namer = train(uncalibrated(namer), data, *lists, args.steps, RATE_FURTHER, seed, beside, colours_alone)
    return namer.eval(), words["nouns"], words["colours"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=existing_folder, required=True, action="append")
    parser.add_argument("--real", type=existing_folder, required=True)
    parser.add_argument("--judge", type=existing_folder)
    parser.add_argument("--cameras", type=existing_file, required=True)
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=METHODS)
    parser.add_argument("--folds", type=int, default=3, help="0: only --judge")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=800)
    args = parser.parse_args()
    torch.set_num_threads(1)
    listed = json.loads(args.cameras.read_text())
    rendered, real = Sightings(args.cache), Sightings([args.real])
    judge = Sightings([args.judge]) if args.judge else None
    cameras = [models[0] for models in real.models]
    fold = folds_of(cameras, args.folds) if args.folds else {}
    found: dict[str, dict] = {}
    for seed in args.seeds:
        for method in args.methods:
            if method == "bundle" and seed != args.seeds[0]:
                continue
            rows = []
            everything = learned(method, args, rendered, real, seed) if judge or method not in FOLDED else None
            for number in range(args.folds):
                inside = np.array([fold[camera] == number for camera in cameras])
                namer = learned(method, args, rendered, real.only(~inside), seed) if method in FOLDED else everything
                rows += answers(*namer, real.only(inside))
            if rows:
                found[f"{method}, seed {seed}, folds"] = report(rows, listed)
            if judge:
                found[f"{method}, seed {seed}, judge"] = report(answers(*everything, judge), listed)
            args.out.write_text(json.dumps(found, indent=1) + "\n")
            for name in (f"{method}, seed {seed}, folds", f"{method}, seed {seed}, judge"):
                if name in found:
                    print(name, json.dumps(found[name]["all"]), flush=True)


if __name__ == "__main__":
    main()
