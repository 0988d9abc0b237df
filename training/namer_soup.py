"""The mean of the weights of several namers that were trained on from the same bundle, calibrated as one namer.

    python -m training.namer_soup --namers A/namer.pt B/namer.pt C/namer.pt --heldout HELDOUT --out RUN

Why a mean, and of which runs: `training.soup` (Wortsman et al., "Model soups", ICML 2022). Prints the spread of the
namers' held-out figures. RUN gets namer.pt and figures.json, as `training.namer` writes them.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from training.bundle.names import load_namer
from training.data.sightings import Sightings
from training.inputs import existing_file, existing_folder
from training.learn.loop import mean_of
from training.namer import calibrate, uncalibrated, write_run
from training.net.namer import Namer


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--namers", type=existing_file, nargs="+", required=True)
    parser.add_argument("--heldout", type=existing_folder, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    namer, saved = mean_namer(args.namers)
    first = saved[0]
    spread = {
        name: [round(float(f([s["heldout"][name] for s in saved])), 4) for f in (np.mean, np.std)]
        for name in ("thing or nothing", "noun, most probable", "class, most probable", "colour, most probable")
    }
    print(json.dumps({"mean and standard deviation of the namers": spread}))
    shift = torch.stack([s["namer"]["noun_shift"] for s in saved]).mean(0)
    found = calibrate(namer, Sightings([args.heldout]), first["nouns"], first["colours"], shift)
    parts = [{"seed": s["seed"], "steps": s["steps"]} for s in saved]
    words = {key: first[key] for key in ("nouns", "colours")}
    write_run(args.out, {"namer": namer.state_dict(), **words, "soup": parts, "heldout": found})


if __name__ == "__main__":
    main()
