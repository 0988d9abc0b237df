"""Trains the change maps and the heads of a finished bundle on new pairs, without its checkpoint.

    python -m training.refine --bundle models/scorer-surveillance --cache DIR DIR --heldout DIR DIR --out RUN \
        [--install]

The tokens and the memory of the decoder keep their weights, so the captioner stays unchanged. RUN gets difference.onnx
and figures.json with the figures of each held-out cache, before and after. --install puts the graph into the
bundle; `bundle.recalibrate` and `bundle.names` must follow, because the probabilities have moved.
"""

import argparse
import json
import math
import os
import shutil
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.bundle.graphs import write_difference
from training.bundle.manifest import entries_of, replace_manifest
from training.bundle.parity import check_difference
from training.bundle.restore import restore_difference
from training.contract import difference_inputs
from training.data.batches import Batches, Labels
from training.inputs import existing_folder, read_json
from training.learn.heldout import EMPTY_BELOW, HIT_COVERAGE, SEEN_COVERAGE, auroc
from training.learn.loop import Schedule, train_steps
from training.net.difference import Difference
from training.net.losses import map_loss
from training.world import load_world

HEADS = ("maps", "change", "kind", "nuisance")
AVERAGE = 0.99  # of the weights, over about 100 steps
WEIGHT = {"map": 1.0, "change": 1.0, "kind": 0.3, "nuisance": 0.5}
RATES = (0.05, 0.02)  # of false alarms, at which the recall is measured


def losses(d: dict[str, Tensor], b: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        "map": map_loss(d["logits_before"], b["masks"][:, 0]) + map_loss(d["logits_after"], b["masks"][:, 1]),
        "change": F.binary_cross_entropy_with_logits(d["change_logit"], b["changed"]),
        "kind": F.cross_entropy(d["kind_logits"], b["kind"]),
        "nuisance": F.binary_cross_entropy_with_logits(d["nuisance_logits"], b["nuisances"]),
    }


@torch.no_grad()
def seen(network: Difference, data: Batches, batch: int = 50) -> dict[str, float]:
    """Figures of a held-out cache: AUROC of changed against unchanged pairs, recall at RATES of false
    alarms, share of the maps whose peak lies in the change, and of the unchanged pairs whose maps are empty."""
    network.eval()
    scores, changed, hits, empty, kinds = [], [], [], [], []
    for first in range(0, len(data.cache), batch):
        b = data.batch(list(range(first, min(first + batch, len(data.cache)))), np.random.default_rng(0))
        d = network(*difference_inputs(b))
        scores.append(d["change_logit"].numpy())
        changed.append(b["changed"].numpy() > 0)
        kinds.append((d["kind_logits"].argmax(1) == b["kind"]).numpy()[b["changed"].numpy() > 0])
        for side, name in enumerate(("map_before", "map_after")):
            peak, coverage = d[name].flatten(1), b["masks"][:, side].flatten(1)
            visible = coverage.amax(1) > SEEN_COVERAGE
            hits.append((coverage.gather(1, peak.argmax(1, keepdim=True))[:, 0] > HIT_COVERAGE)[visible].numpy())
            empty.append((peak.amax(1) < EMPTY_BELOW)[b["changed"] == 0].numpy())
    score, is_changed = np.concatenate(scores), np.concatenate(changed)
    quiet = np.sort(score[~is_changed])
    found = {"pairs": len(score), "auroc": auroc(score, is_changed)}
    for rate in RATES if len(quiet) else ():  # a cache may hold changed pairs alone
        threshold = quiet[min(len(quiet) - 1, math.ceil(len(quiet) * (1 - rate)))]
        found[f"recall at {rate:.0%} false alarms"] = float((score[is_changed] > threshold).mean())
    found |= {
        "pointing": float(np.concatenate(hits).mean()),
        **({"empty maps": float(np.concatenate(empty).mean())} if len(quiet) else {}),
        "kind": float(np.concatenate(kinds).mean()),
    }
    return {key: round(value, 4) for key, value in found.items() if not math.isnan(value)}


def train(network: Difference, data: Batches, steps: int, batch: int, rate: float, seed: int) -> Difference:
    """The mean of the weights of the last steps. The given network is trained in place."""
    torch.manual_seed(seed)
    network.requires_grad_(False)
    for name in HEADS:
        getattr(network, name).requires_grad_(True)

    def losses_of(step: int) -> dict[str, Tensor]:
        rng = np.random.default_rng([seed, step])
        b = data.batch(rng.integers(0, len(data.cache), batch).tolist(), rng)
        return losses(network(*difference_inputs(b)), b)

    schedule = Schedule(steps, rate, warmup=50, weight_decay=0.01, average=AVERAGE)
    return train_steps(network, losses_of, WEIGHT, schedule)


def install(bundle: Path, graph: Path, figures: dict) -> None:
    """Puts difference.onnx into the bundle, and `figures` under its name into the manifest's metrics."""
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "metrics")
    target = bundle / graph.name
    partial = bundle / f".{graph.name}"
    shutil.copyfile(graph, partial)
    os.replace(partial, target)
    manifest |= {
        **entries_of(bundle, manifest, "difference"),
        "metrics": manifest["metrics"] | {"maps and heads, refined": figures},
    }
    replace_manifest(bundle, manifest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--cache", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--heldout", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--world", default="surveillance")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--install", action="store_true", help="put the graph into the bundle")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    network = restore_difference(args.bundle)
    world = load_world(args.world)

    def opened(folders: list[Path]) -> Batches:
        return Batches(world.open_cache(folders), Labels(network.c.vocabulary, [], []), network.c)

    data, heldout = opened(args.cache), {folder.name: opened([folder]) for folder in args.heldout}
    before = {name: seen(network, one) for name, one in heldout.items()}
    print(json.dumps({"before": before}), flush=True)
    network = train(network, data, args.steps, args.batch, args.rate, args.seed)
    write_difference(network, args.out / "difference.onnx")
    check_difference(network, args.out / "difference.onnx")
    figures = {name: {"before": before[name], "after": seen(network, one)} for name, one in heldout.items()} | {
        "pairs": len(data.cache),
        "steps": args.steps,
        "seed": args.seed,
    }
    (args.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))
    if args.install:
        install(args.bundle, args.out / "difference.onnx", figures)


if __name__ == "__main__":
    main()
