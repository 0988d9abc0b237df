"""features.onnx: float16 weights in the file, float32 arithmetic, any batch and any size in multiples of 16."""

from pathlib import Path

import onnx
import torch

from training.bundle.half import store_half
from training.bundle.resnet import STRIDE, FeatureExtractor

OPSET = 17


def export_features(extractor: FeatureExtractor, path: Path) -> None:
    """Writes `extractor` (weights already rounded to float16, see `round_to_half`) as an ONNX file."""
    axes = {0: "batch", 2: "height", 3: "width"}
    torch.onnx.export(
        extractor.eval(),
        (torch.rand(2, 3, 6 * STRIDE, 8 * STRIDE),),
        str(path),
        dynamo=False,
        opset_version=OPSET,
        input_names=["image"],
        output_names=["coarse", "fine"],
        dynamic_axes={
            "image": axes,
            "coarse": {0: "batch", 2: "coarse_height", 3: "coarse_width"},
            "fine": {0: "batch", 2: "fine_height", 3: "fine_width"},
        },
    )
    model = store_half(onnx.load(path))
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
