"""The mean of several seeds' weights, and how far the seeds lie apart.

    python -m training.soup --checkpoints A/best.pt B/best.pt C/best.pt --heldout HELDOUT --out soup.pt
    python -m training.soup --namers A/namer.pt B/namer.pt C/namer.pt --heldout HELDOUT --out RUN

Runs that started from the same weights end in one basin of the loss, so their mean is about as good as the best of
them, without a choice on held-out pairs (Wortsman et al., "Model soups", ICML 2022; the uniform soup). Prints the
held-out figures of each checkpoint, their mean and standard deviation, and the figures of the mean, which goes to
--out.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from training.bundle.names import load_namer
from training.data.batches import Batches, Labels
from training.data.sightings import Sightings
from training.inputs import existing_file, existing_folder, read_run
from training.learn.checkpoint import networks_of
from training.learn.heldout import heldout_figures
from training.learn.loop import mean_of
from training.learn.run import PARTS
from training.namer import calibrate, uncalibrated, write_run
from training.net.namer import Namer
from training.world import load_world


def soup(saved: list[dict], names: list[str]) -> dict:
    """The mean as a checkpoint. @raises SystemExit naming a checkpoint of another model config or other labels."""
    first = saved[0]
    for other, name in zip(saved[1:], names[1:]):
        if other["config"]["model"] != first["config"]["model"] or other["labels"] != first["labels"]:
            raise SystemExit(
                f"{name}: is of another model config or has other labels than {names[0]}; their mean means nothing"
            )
    return {
        **first,
        **{part: mean_of([s[part] for s in saved]) for part in PARTS},
        "soup": [{"seed": s["seed"], "step": s["step"]} for s in saved],
    }


def figures(saved: dict, name: Path, heldout: list[Path]) -> dict[str, float]:
    difference, captioner = networks_of(saved, str(name))
    world = load_world(saved["config"]["world"])
    data = Batches(world.open_cache(heldout, forward=True), Labels(**saved["labels"]), captioner.c)
    return heldout_figures(difference, captioner, data, world)


def mean_namer(paths: list[Path]) -> tuple[Namer, list[dict]]:
    """The mean of the namers' weights without a calibration, and the content of each file.

    @raises SystemExit naming a file of other nouns or colours than the first one"""
    namers, saved = zip(*(load_namer(path) for path in paths))
    for other, path in zip(saved[1:], paths[1:]):
        for key in ("nouns", "colours"):
            if other[key] != saved[0][key]:
                raise SystemExit(f"{path}: has other {key} than {paths[0]}; the mean of their weights means nothing")
    mean = Namer(len(saved[0]["nouns"]), len(saved[0]["colours"]))
    mean.load_state_dict(mean_of([uncalibrated(namer).state_dict() for namer in namers]))
    return mean.eval(), list(saved)


def mix_namers(args: argparse.Namespace) -> None:
    """OUT is a folder for namer.pt and figures.json, as `training.namer` writes them."""
    args.out.mkdir(parents=True, exist_ok=True)
    namer, saved = mean_namer(args.namers)
    first = saved[0]
    spread = {
        name: [round(float(f([s["heldout"][name] for s in saved])), 4) for f in (np.mean, np.std)]
        for name in ("thing or nothing", "noun, most probable", "class, most probable", "colour, most probable")
    }
    print(json.dumps({"mean and standard deviation of the namers": spread}))
    shift = torch.stack([s["namer"]["noun_shift"] for s in saved]).mean(0)
    found = calibrate(namer, Sightings(args.heldout), first["nouns"], first["colours"], shift)
    parts = [{"seed": s["seed"], "steps": s["steps"]} for s in saved]
    words = {key: first[key] for key in ("nouns", "colours")}
    write_run(args.out, {"namer": namer.state_dict(), **words, "soup": parts, "heldout": found})


def mix_runs(args: argparse.Namespace) -> None:
    saved = [read_run(path, "cbr", "seed", "step") for path in args.checkpoints]
    mean = soup(saved, [str(path) for path in args.checkpoints])
    each = [figures(s, path, args.heldout) for s, path in zip(saved, args.checkpoints)]
    for path, found in zip(args.checkpoints, each):
        print(json.dumps({"checkpoint": str(path), **found}), flush=True)
    spread = {name: [round(float(f([e[name] for e in each])), 4) for f in (np.mean, np.std)] for name in each[0]}
    print(json.dumps({"mean and standard deviation of the seeds": spread}), flush=True)
    print(json.dumps({"checkpoint": str(args.out), **figures(mean, args.out, args.heldout)}), flush=True)
    torch.save(mean, args.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_mutually_exclusive_group(required=True)
    parts.add_argument("--checkpoints", type=existing_file, nargs="+", help="of training.train")
    parts.add_argument("--namers", type=existing_file, nargs="+", help="of training.namer, from the same bundle")
    parser.add_argument("--heldout", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True, help="a file; for namers a folder")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.namers:
        mix_namers(args)
    else:
        mix_runs(args)


if __name__ == "__main__":
    main()
