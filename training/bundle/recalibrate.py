"""Calibrates a finished bundle anew on other held-out pairs, without its checkpoint.

    python -m training.bundle recalibrate --bundle models/scorer-surveillance --heldout DIR [DIR ...] --version 0.8.0

It replaces the manifest's `calibration` and says in `metrics` on how many pairs it rests. The graphs stay as they are.
"""

import argparse
import json
from pathlib import Path

import torch
from torch import Tensor

from training.bundle.calibrate import DEFAULT_RATE, RATES, calibrate
from training.bundle.manifest import replace_manifest
from training.contract import COARSE_STRIDE, DIFFERENCE_IN, DIFFERENCE_OUT
from training.data.batches import Batches, Labels
from training.inputs import existing_folder, open_graph, read_json
from training.net.config import ModelConfig
from training.world import load_world


class BundleDifference:
    """difference.onnx, called like the network that it was exported from."""

    def __init__(self, path: Path):
        self.graph = open_graph(path, *DIFFERENCE_OUT)

    def __call__(self, *frames: Tensor | None) -> dict[str, Tensor]:
        feed = {name: x.numpy() for name, x in zip(DIFFERENCE_IN, frames)}
        return dict(zip(DIFFERENCE_OUT, map(torch.from_numpy, self.graph.run(DIFFERENCE_OUT, feed))))


def recalibrate(bundle: Path, heldout: list[Path], rate: float, version: str, world: str) -> dict:
    """Writes the new calibration into the bundle's manifest and returns it."""
    manifest = read_json(bundle / "manifest.json", "graphs", "input", "vocabulary", "metrics")
    rows, columns = (manifest["input"][side] // COARSE_STRIDE for side in ("height", "width"))
    config = ModelConfig(vocabulary=manifest["vocabulary"], grid=(rows, columns))
    data = Batches(load_world(world).open_cache(heldout, forward=True), Labels(config.vocabulary, [], []), config)
    difference = BundleDifference(bundle / manifest["graphs"]["difference"]["file"])
    calibration, calibrated_on = calibrate(difference, data, rate)
    manifest |= {
        "version": version,
        "calibration": calibration,
        "metrics": manifest["metrics"] | {"calibration": calibrated_on},
    }
    replace_manifest(bundle, manifest)
    return calibration


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--heldout", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--world", default="surveillance")
    parser.add_argument(
        "--rate", type=float, choices=RATES, default=DEFAULT_RATE, help="of false alarms, at the default threshold"
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(json.dumps(recalibrate(args.bundle, args.heldout, args.rate, args.version, args.world)))
