"""features.onnx with int8 convolutions inside: about a third of the time on a CPU with VNNI, half the bytes.

    python -m training.bundle quantize --data ROOT --features features.onnx --out features.int8.onnx

The cache is extracted with the quantised graph, so training uses exactly the features that are served. Weights take 7
bits (`reduce_range`), because captions must be equal on every machine: on processors without VNNI the sum of two 8-bit
products saturates. Inputs and outputs stay float32. The report compares cells with the float graph (cosine).
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

from training.data.preprocess import LARGEST_FULL_FRAME, resize
from training.inputs import existing_file, existing_folder, new_file, open_graph
from training.world import PairSource, load_world

CALIBRATION_SEED = 900_000_000  # far from the seeds of training pairs


class FrameReader(CalibrationDataReader):
    """`count` resized frames for the ranges of activations: before and after frames in turn."""

    def __init__(self, source: PairSource, count: int):
        frames = (getattr(source.sample(CALIBRATION_SEED + i), ("before", "after")[i % 2]) for i in range(count))
        self.frames = iter([resize(frame, *LARGEST_FULL_FRAME)[None] for frame in frames])

    def get_next(self):
        image = next(self.frames, None)
        return None if image is None else {"image": image}


def fold_constants(source: Path, target: Path) -> None:
    """Turns weights stored as float16 into plain float32 initialisers, as the quantiser needs them."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def stem_by_blocks(model: onnx.ModelProto) -> onnx.ModelProto:
    """Lets the first convolution read blocks of 2x2 pixels as channels, in place: the same sums, because its stride is
    2. Copying the pixels of a large kernel over three channels takes longer than the products.

    @raises ValueError if the first convolution has another stride, or reads no frame
    """
    graph = model.graph
    made_by = {output: node for node in graph.node for output in node.output}
    initial = {one.name: one for one in graph.initializer}
    stem = next(node for node in graph.node if node.op_type == "Conv")
    given = {a.name: onnx.helper.get_attribute_value(a) for a in stem.attribute}
    read, weight = stem.input[0], stem.input[1]
    reader = stem
    while read in made_by and made_by[read].op_type in ("QuantizeLinear", "DequantizeLinear"):
        reader = made_by[read]
        read = reader.input[0]
    stored = initial[weight if weight in initial else made_by[weight].input[0]]
    kernel = onnx.numpy_helper.to_array(stored)  # [O,3,k,k]
    outputs, channels, k, _ = kernel.shape
    if given["strides"] != [2, 2] or channels != 3 or len(set(given["pads"])) > 1:
        raise ValueError(f"the first convolution has {given}, expected a stride of 2 over three channels")
    [pad, *_] = given["pads"]
    before = -(-pad // 2)  # blocks above and left of an output's own
    lead = 2 * before - pad
    blocks = -(-(lead + k) // 2)
    wide = np.zeros((outputs, channels, 2 * blocks, 2 * blocks), kernel.dtype)
    wide[:, :, lead : lead + k, lead : lead + k] = kernel
    by_block = wide.reshape(outputs, channels, blocks, 2, blocks, 2).transpose(0, 3, 5, 1, 2, 4)  # as SpaceToDepth
    folded = np.ascontiguousarray(by_block.reshape(outputs, 4 * channels, blocks, blocks))
    stored.CopyFrom(onnx.numpy_helper.from_array(folded, stored.name))
    after = blocks - 1 - before
    changed = {"kernel_shape": [blocks] * 2, "pads": [before, before, after, after], "strides": [1, 1]}
    del stem.attribute[:]
    stem.attribute.extend(onnx.helper.make_attribute(name, value) for name, value in (given | changed).items())
    reader.input[0] = f"{read}_blocks"
    node = onnx.helper.make_node("SpaceToDepth", [read], [f"{read}_blocks"], name="blocks", blocksize=2)
    graph.node.insert(next(i for i, one in enumerate(graph.node) if one == reader), node)
    del graph.value_info[:]
    onnx.checker.check_model(model)
    return model


def quantise(source: Path, target: Path, calibration: CalibrationDataReader) -> None:
    with tempfile.TemporaryDirectory() as folder:
        folded, quantized = Path(folder) / "folded.onnx", Path(folder) / "quantized.onnx"
        fold_constants(source, folded)
        quantize_static(
            folded,
            quantized,
            calibration,
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
            op_types_to_quantize=["Conv", "Add", "MaxPool", "Relu"],
        )
        model = onnx.load(quantized)
    used = {node.domain for node in model.graph.node} | {""}
    for extra in [o for o in model.opset_import if o.domain not in used]:
        model.opset_import.remove(extra)  # the optimiser lists domains that no node uses
    partial = target.with_name(f".{target.name}.partial")
    onnx.save(model, partial)
    os.replace(partial, target)


def cosines(source: Path, target: Path, images: list[np.ndarray]) -> dict[str, tuple[float, float]]:
    """Per output: mean and 5th percentile over cells of the cosine between both graphs."""
    a, b = map(open_graph, (source, target))
    found: dict[str, list[np.ndarray]] = {}
    for image in images:
        for output, u, v in zip(a.get_outputs(), a.run(None, {"image": image}), b.run(None, {"image": image})):
            norm = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
            found.setdefault(output.name, []).append(((u * v).sum(1) / norm).ravel())
    return {
        name: (float(np.mean(c)), float(np.percentile(c, 5)))
        for name, c in ((n, np.concatenate(x)) for n, x in found.items())
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=existing_folder, required=True)
    parser.add_argument("--features", type=existing_file, required=True)
    parser.add_argument("--out", type=new_file, required=True)
    parser.add_argument("--count", type=int, default=64, help="frames to calibrate on")
    args = parser.parse_args()
    open_graph(args.features, "coarse", "fine")
    source = load_world("surveillance").open_source(args.data, "train")
    quantise(args.features, args.out, FrameReader(source, args.count))
    onnx.save(stem_by_blocks(onnx.load(args.out)), args.out)
    unlike = [resize(source.sample(CALIBRATION_SEED + 10_000 + i).after, *LARGEST_FULL_FRAME)[None] for i in range(8)]
    for name, (mean, low) in cosines(args.features, args.out, unlike).items():
        print(f"{name}: cosine to the float graph {mean:.4f} (5th percentile {low:.4f})")
    print(f"{args.out}: {args.out.stat().st_size / 1e6:.1f} MB")
