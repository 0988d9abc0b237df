"""Networks that read the evidence graph, exported with it as one graph: the truth check and the vector of a change."""

from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from training.bundle.graphs import OPSET
from training.bundle.half import store_half_where_exact
from training.bundle.parity import worst
from training.data.evidence import session_of
from training.data.evidence_graph import EVIDENCE_OUT, with_head
from training.inputs import first_line, open_graph
from training.net.evidence_tokens import EvidenceSizes

MAPS_IN = ("map_before", "map_after")
HEAD_IN = (*EVIDENCE_OUT, *MAPS_IN, "glance_box", "object_box", "glance_mask")


def load_head(path: Path, key: str, network: type[nn.Module]) -> tuple[nn.Module, dict]:
    """The trained network for inference and the file's content. @raises SystemExit naming a file that holds none."""
    try:
        saved = torch.load(path, weights_only=True)
        head = network(EvidenceSizes(**saved["sizes"]), len(saved["vocabulary"]))
        head.load_state_dict(saved[key])
    except (KeyError, TypeError, RuntimeError) as reason:
        raise SystemExit(f"{path}: is no {key} of this version ({first_line(reason)})") from None
    return head.eval(), saved


def head_arguments(
    tokens: Tensor,
    kind: Tensor,
    nouns: Tensor,
    colours: Tensor,
    map_before: Tensor,
    map_after: Tensor,
    crop: Tensor,
    obj: Tensor,
    mask: Tensor,
) -> tuple[Tensor, ...]:
    """HEAD_IN -> the arguments of `EvidenceTokens`."""
    return tokens, kind, nouns, colours, torch.stack([map_before, map_after], 1), crop, obj, mask


def example_feed(graph: onnx.ModelProto, batch: int, map_shape: tuple[int, int], seed: int) -> dict[str, np.ndarray]:
    """Random inputs of the evidence graph for `batch` pairs, and change maps; the last crop of a pair is not used."""
    rng = np.random.default_rng(seed)
    feed = {}
    for tensor in graph.graph.input:
        shape = [axis.dim_value or batch for axis in tensor.type.tensor_type.shape.dim]
        feed[tensor.name] = rng.normal(size=shape).astype(np.float32)
    regions = feed["glance_mask"].shape[1]
    corner, side = (rng.uniform(low, 0.5, (batch, regions, 2)) for low in (0, 0.1))
    feed["glance_box"] = np.concatenate([corner, side], -1).astype(np.float32)
    feed["object_box"] = np.concatenate([corner + 0.15 * side, 0.7 * side], -1).astype(np.float32)
    feed["glance_mask"] = (np.arange(regions) < regions - 1).astype(np.float32)[None].repeat(batch, 0)
    return feed | {name: rng.uniform(size=(batch, *map_shape)).astype(np.float32) for name in MAPS_IN}


def export_with_evidence(
    module: nn.Module,
    evidence: onnx.ModelProto,
    path: Path,
    map_shape: tuple[int, int],
    batches: tuple[int, int],
    inputs_of_batch: tuple[dict[str, np.ndarray], dict[str, np.ndarray]],
    outputs: tuple[str, ...],
    axes: dict[str, dict[int, str]],
) -> float:
    """Writes the graph of the evidence and a module whose arguments are HEAD_IN and then its own inputs.

    batches and inputs_of_batch: number of pairs and the own inputs of the export, and of the comparison with PyTorch;
    axes: free axes of the own inputs and of the outputs. Returns the largest difference from PyTorch.
    """
    session, names = session_of(evidence), (*HEAD_IN, *inputs_of_batch[0])
    feeds, arguments = [], []
    for seed, (batch, inputs) in enumerate(zip(batches, inputs_of_batch)):
        feed = example_feed(evidence, batch, map_shape, seed)
        known = {tensor.name: feed[tensor.name] for tensor in evidence.graph.input}
        seen = dict(zip(EVIDENCE_OUT, session.run(EVIDENCE_OUT, known)))
        feeds.append(feed | inputs)
        arguments.append(tuple(torch.from_numpy((seen | feeds[-1])[name]) for name in names))
    head = path.with_suffix(".head")
    try:
        torch.onnx.export(
            module,
            arguments[0],
            str(head),
            input_names=list(names),
            output_names=list(outputs),
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )
        onnx.save(with_head(evidence, store_half_where_exact(onnx.load(head))), path)
    finally:
        head.unlink(missing_ok=True)
    got = open_graph(path, *outputs).run(list(outputs), feeds[1])
    with torch.no_grad():
        expected = module(*arguments[1])
    expected = expected if isinstance(expected, tuple) else (expected,)
    return max(worst(one, values) for one, values in zip(expected, got))
