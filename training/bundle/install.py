"""Adds a trained namer, truth check or pair of search vectors to a bundle, or replaces the one that it has.

    python -m training.bundle install --part RUN/check.pt --bundle models/scorer-surveillance --version 0.10.0 \\
        --heldout DIR --facts training/facts/scorer-surveillance.json

The part is what `training.namer`, `training.check` or `training.search` wrote. Its graphs are compared with PyTorch
before the bundle's manifest is replaced; its thresholds are fitted on held-out pairs.
"""

import argparse

import torch

from training.bundle.check import add_check
from training.bundle.names import add_namer
from training.bundle.search import add_search
from training.data.evidence import Evidence
from training.inputs import existing_file, existing_folder, first_line, read_json


def install(part: str, args: argparse.Namespace, training_data: list[dict]) -> float:
    """Returns the largest difference from PyTorch."""
    if part == "namer":
        return add_namer(args.part, args.bundle, args.version, args.heldout, training_data, args.real_heldout)
    if part == "check":
        heldout = Evidence(args.heldout, args.bundle)
        return add_check(args.part, args.bundle, args.version, heldout, training_data)
    return add_search(args.part, args.bundle, args.version, args.heldout[0], training_data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=existing_file, required=True, help="namer.pt, check.pt or search.pt of a run")
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--heldout", type=existing_folder, nargs="+", required=True, help="caches to fit thresholds on")
    parser.add_argument(
        "--real-heldout",
        type=existing_folder,
        nargs="+",
        default=[],
        help="of them, those of `training.data real`: levels of nouns such as man and woman hold for these",
    )
    parser.add_argument("--version", required=True)
    parser.add_argument("--facts", type=existing_file, required=True, help="JSON with training_data, as for the export")
    args = parser.parse_args()
    try:
        saved = torch.load(args.part, map_location="cpu", weights_only=True)
        part = next(name for name in ("namer", "check", "search") if name in saved)
    except Exception as reason:  # unpickling arbitrary bytes can raise anything; StopIteration: none of them
        raise SystemExit(f"{args.part}: holds no namer, check or search ({first_line(reason)})") from None
    error = install(part, args, read_json(args.facts, "training_data")["training_data"])
    print(f"{args.bundle}: {part} added, within {error:.1e} of PyTorch")
