"""The mean of several seeds' weights, and how far the seeds lie apart.

    python -m training.soup --checkpoints A/best.pt B/best.pt C/best.pt --heldout HELDOUT --out soup.pt

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

from training.data.batches import Batches, Labels
from training.inputs import existing_file, existing_folder, new_file, read_run
from training.learn.checkpoint import networks_of
from training.learn.heldout import heldout_figures
from training.learn.loop import mean_of
from training.learn.run import PARTS
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoints", type=existing_file, nargs="+", required=True)
    parser.add_argument("--heldout", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--out", type=new_file, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    saved = [read_run(path, "cbr", "seed", "step") for path in args.checkpoints]
    mean = soup(saved, [str(path) for path in args.checkpoints])
    each = [figures(s, path, args.heldout) for s, path in zip(saved, args.checkpoints)]
    for path, found in zip(args.checkpoints, each):
        print(json.dumps({"checkpoint": str(path), **found}), flush=True)
    spread = {name: [round(float(f([e[name] for e in each])), 4) for f in (np.mean, np.std)] for name in each[0]}
    print(json.dumps({"mean and standard deviation of the seeds": spread}), flush=True)
    print(json.dumps({"checkpoint": str(args.out), **figures(mean, args.out, args.heldout)}), flush=True)
    torch.save(mean, args.out)


if __name__ == "__main__":
    main()
