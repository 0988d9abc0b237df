"""features.onnx: float16 weights in the file, float32 arithmetic, any batch and any size in multiples of 16."""

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

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


def store_half(model: onnx.ModelProto) -> onnx.ModelProto:
    """Stores float32 initialisers as float16 behind a Cast, in place; ONNX Runtime folds the casts when it loads.

    Halves the file. Raises ValueError if an initialiser is not a float16 value already: the graph would change.
    """
    casts = []
    for initializer in model.graph.initializer:
        if initializer.data_type != TensorProto.FLOAT:
            continue
        name, values = initializer.name, numpy_helper.to_array(initializer)
        half = values.astype(np.float16)
        if not np.array_equal(half.astype(np.float32), values):
            raise ValueError(f"{name}: values are not float16; round the weights before exporting")
        initializer.CopyFrom(numpy_helper.from_array(half, f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], name=f"{name}.cast", to=TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model
