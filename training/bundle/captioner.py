"""Puts a trained captioner into a bundle: caption.onnx, the vocabulary and the configuration of the manifest.

    python -m training.bundle captioner --checkpoint RUN/best.pt --bundle models/scorer-surveillance --version 0.12.0

The maps, heads and memory of the bundle stay, and the checkpoint must hold the same ones. `bundle.names` and
training.fits.facts must follow, because they weigh the captioner's words. The graph is compared with PyTorch before
the bundle is changed.
"""

import argparse
from pathlib import Path

import torch

from training.bundle.graphs import example_inputs, write_captioner
from training.bundle.manifest import command_of, configuration_of, entries_of, replace_manifest, replacing
from training.bundle.parity import check_captioner, check_difference
from training.inputs import existing_file, existing_folder, read_json
from training.learn.checkpoint import load_run
from training.world import load_world


def install(checkpoint: Path, bundle: Path, version: str) -> float:
    """Returns the largest difference from PyTorch. @raises SystemExit if the checkpoint has another difference network
    than the bundle, or if the graph differs from PyTorch."""
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "configuration.hedge")
    difference, captioner, saved = load_run(checkpoint)
    check_difference(difference, bundle / "difference.onnx")
    hedge = manifest["configuration"]["hedge"]
    captioner.hedge(load_world(saved["config"]["world"]).wider_nouns, hedge)
    frames, _ = example_inputs(captioner.c, 3, 77)
    with replacing(bundle / "caption.onnx") as partial:
        with torch.no_grad():
            d = difference(*frames)
        write_captioner(captioner, d["memory"][:2], d["kind_logits"][:2], partial)
        error = max(check_captioner(captioner, d["memory"], d["kind_logits"], partial).values())
    manifest |= {
        "version": version,
        **entries_of(bundle, manifest, "caption"),
        "vocabulary": captioner.c.vocabulary,
        "configuration": configuration_of(saved, hedge),
        "seeds": [saved["seed"]],
        "command": command_of(saved),
    }
    replace_manifest(bundle, manifest)
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=existing_file, required=True)
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    error = install(args.checkpoint, args.bundle, args.version)
    print(f"{args.bundle / 'caption.onnx'}: PyTorch = ONNX Runtime within {error:.1e}")
