"""Weights stored as float16 and computed as float32: half the bytes, and equal numbers in PyTorch and ONNX Runtime."""

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn


def round_to_half(*modules: nn.Module) -> None:
    """Rounds every float32 weight to the nearest float16, in place, keeping float32: the values that the file holds."""
    for module in modules:
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.dtype == torch.float32:
                tensor.data = tensor.data.half().float()


def store_half(model: onnx.ModelProto) -> onnx.ModelProto:
    """Stores float32 initialisers as float16 behind a Cast, in place; ONNX Runtime folds the casts when it loads.

    @raises ValueError if an initialiser is not a float16 value already: the graph would change.
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


def store_half_where_exact(model: onnx.ModelProto) -> onnx.ModelProto:
    """As `store_half`, but initialisers that are no float16 values stay float32.

    The exporter folds constants: transposed weights stay float16 values, a few scalars such as 1/sqrt(d) do not.
    """
    tensors = [onnx.TensorProto.FromString(i.SerializeToString()) for i in model.graph.initializer]
    keep = [
        t for t in tensors if t.data_type == onnx.TensorProto.FLOAT and not exact_half(onnx.numpy_helper.to_array(t))
    ]
    kept = {t.name for t in keep}
    del model.graph.initializer[:]
    model.graph.initializer.extend(t for t in tensors if t.name not in kept)
    model = store_half(model)
    model.graph.initializer.extend(keep)
    return model


def exact_half(values: np.ndarray) -> bool:
    return bool(np.array_equal(values.astype(np.float16).astype(np.float32), values))
