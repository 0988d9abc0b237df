"""The evidence graph: the outputs of a bundle's frozen graphs for a pair, for the truth check and the search vectors.

It is cut out of caption.onnx (the tokens that its decoder attends to) and names.onnx (names of every crop), so that
both networks can be trained without a checkpoint of the bundle, and are exported with it as one graph. Its inputs are
those of caption.onnx, so the service feeds what it has.

Letters: B pairs, S = N + R * (G + 1) tokens, N of the full frame, R region crops of G cells, W wide.
"""

from pathlib import Path

import onnx
from onnx import TensorProto, helper
from onnx.utils import Extractor

from training.contract import CROP_IN, FRAME_KIND
from training.inputs import read_json

EVIDENCE_IN = ("memory", *CROP_IN, FRAME_KIND)
EVIDENCE_OUT = ("tokens", "kind_logits", "noun_logits", "colour_logits")
# Inputs of names.onnx, whose first axis counts crops and not pairs.
NAMED_CROPS = ("glance_coarse", "glance_fine", "glance_box", "object_box")


def evidence_graph(bundle: Path) -> onnx.ModelProto:
    """The graph of EVIDENCE_IN [B,...] -> tokens [B,S,W], kind_logits [B,K], noun_logits [B,R,2,nouns] and
    colour_logits [B,R,2,colours]. @raises SystemExit if the bundle has no names or no related crops."""
    manifest = read_json(bundle / "manifest.json", "graphs", "glance")
    if "names" not in manifest["graphs"] or not manifest["glance"]:
        raise SystemExit(f"{bundle}: has no names of region crops, which the truth check and the search read")
    caption, names = (onnx.load(bundle / f"{name}.onnx") for name in ("caption", "names"))
    if FRAME_KIND not in [tensor.name for tensor in caption.graph.input]:
        raise SystemExit(f"{bundle}: its caption graph does not relate crops, expected an input {FRAME_KIND}")
    first = _with_prefix(_cut(caption, EVIDENCE_IN, (decoder_tokens(caption), "kind_logits")), "caption/")
    second = _with_prefix(names, "names/")
    regions = manifest["glance"]["regions"]
    feeding = [helper.make_node("Identity", [name], [f"caption/{name}"]) for name in EVIDENCE_IN]
    closing = [
        helper.make_node("Identity", [f"caption/{name}"], [output])
        for name, output in ((decoder_tokens(caption), "tokens"), ("kind_logits", "kind_logits"))
    ]
    shapes = []
    for name in NAMED_CROPS:
        size = [axis.dim_value for axis in _tensor(caption.graph.input, name).type.tensor_type.shape.dim][2:]
        shapes.append(_integers(f"shape/{name}", [-1, *size]))
        feeding.append(helper.make_node("Reshape", [name, f"shape/{name}"], [f"names/{name}"]))
    outputs = [
        helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["B", "S", "W"]),
        helper.make_tensor_value_info("kind_logits", TensorProto.FLOAT, ["B", "K"]),
    ]
    for name in ("noun_logits", "colour_logits"):
        classes = _tensor(names.graph.output, name).type.tensor_type.shape.dim[-1].dim_value
        shapes.append(_integers(f"shape/{name}", [-1, regions, 2, classes]))
        closing.append(helper.make_node("Reshape", [f"names/{name}", f"shape/{name}"], [name]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["B", regions, 2, classes]))
    nodes = [*feeding, *first.node, *second.node, *closing]
    initializers = [*first.initializer, *second.initializer, *shapes]
    inputs = [_tensor(caption.graph.input, name) for name in EVIDENCE_IN]
    model = helper.make_model(
        helper.make_graph(nodes, "evidence", inputs, outputs, initializers),
        opset_imports=caption.opset_import,
        ir_version=caption.ir_version,
    )
    onnx.checker.check_model(model)
    return model


def evidence_within(model: onnx.ModelProto) -> onnx.ModelProto:
    """The evidence graph within a graph of `with_head`."""
    return _cut(model, EVIDENCE_IN, EVIDENCE_OUT)


def with_head(evidence: onnx.ModelProto, head: onnx.ModelProto) -> onnx.ModelProto:
    """Both as one graph: the head's inputs are outputs of the evidence graph, or inputs of both, or its own."""
    inner = onnx.compose.add_prefix(head, "head/").graph
    bridges = [helper.make_node("Identity", [tensor.name], [f"head/{tensor.name}"]) for tensor in head.graph.input]
    closing = [helper.make_node("Identity", [f"head/{tensor.name}"], [tensor.name]) for tensor in head.graph.output]
    made = {*EVIDENCE_OUT, *EVIDENCE_IN}
    inputs = [*evidence.graph.input, *(tensor for tensor in head.graph.input if tensor.name not in made)]
    model = helper.make_model(
        helper.make_graph(
            [*evidence.graph.node, *bridges, *inner.node, *closing],
            "with_evidence",
            inputs,
            list(head.graph.output),
            [*evidence.graph.initializer, *inner.initializer],
        ),
        opset_imports=evidence.opset_import,
        ir_version=evidence.ir_version,
    )
    onnx.checker.check_model(model)
    return model


def decoder_tokens(caption: onnx.ModelProto) -> str:
    """Name of the tensor from which the decoder's first layer makes keys and values: [B,S,W].

    @raises SystemExit if the graph has no such layer
    """
    made_by = {output: node for node in caption.graph.node for output in node.output}
    for node in caption.graph.node:
        if node.op_type == "Add" and any(name.endswith("layers.0.cross_kv.bias") for name in node.input):
            product = next(made_by[name] for name in node.input if made_by[name].op_type == "MatMul")
            return product.input[0]
    raise SystemExit("caption.onnx: has no layer layers.0.cross_kv, from which the decoder's tokens are known")


def _tensor(tensors, name: str) -> onnx.ValueInfoProto:
    return next(tensor for tensor in tensors if tensor.name == name)


def _integers(name: str, values: list[int]) -> onnx.TensorProto:
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def _cut(model: onnx.ModelProto, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> onnx.ModelProto:
    """The part of the graph that makes `outputs`."""
    known = {tensor.name for tensor in (*model.graph.value_info, *model.graph.output)}
    for name in outputs:
        if name not in known:
            model.graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return Extractor(model).extract_model(list(inputs), list(outputs))


def _with_prefix(model: onnx.ModelProto, prefix: str) -> onnx.GraphProto:
    return onnx.compose.add_prefix(model, prefix).graph
