"""Writes a bundle's difference.onnx anew, with the same weights, in the form that this version exports.

    python -m training.bundle difference --bundle models/scorer-surveillance

The outputs stay the same: both graphs are compared on random features, and the version of the bundle stays, too.
"""

import argparse
from pathlib import Path

from training.bundle.graphs import write_difference
from training.bundle.manifest import entries_of, replace_manifest, replacing
from training.bundle.parity import check_difference
from training.bundle.restore import restore_difference
from training.inputs import existing_folder, read_json


def rewrite(bundle: Path) -> float:
    """Returns the largest difference from PyTorch. @raises SystemExit as `restore_difference` and `check_difference`"""
    manifest = read_json(bundle / "manifest.json", "files", "graphs")
    path = bundle / "difference.onnx"
    network = restore_difference(bundle)  # compares it with the graph that is there
    with replacing(path) as partial:
        write_difference(network, partial)
        error = max(check_difference(network, partial).values())
    replace_manifest(bundle, manifest | entries_of(bundle, manifest, "difference"))
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    args = parser.parse_args()
    error = rewrite(args.bundle)
    print(f"{args.bundle / 'difference.onnx'}: PyTorch = ONNX Runtime within {error:.1e}")


if __name__ == "__main__":
    main()
