"""The difference network and the namer of a finished bundle, back from their graphs: for training on without a
checkpoint.

The exporter keeps the names of most parameters. Weights of linear layers become constants of their MatMul, those of
group norms constants of a Mul and an Add, and the tables of positions those of an Expand; the name of the node
names the layer.
"""

from dataclasses import fields
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from training.bundle.graphs import DIFFERENCE_IN, DIFFERENCE_OUT, example_inputs
from training.bundle.namer_graph import NAMES_FILE, check_namer
from training.bundle.parity import PARITY, worst
from training.inputs import open_graph, read_json
from training.net.config import ModelConfig
from training.net.difference import Difference
from training.net.namer import Namer

# Kind of node -> the parameter that its constant is, and the constant in the parameter's layout.
PARAMETER_OF = {
    "MatMul": ("weight", np.transpose),
    "Mul": ("weight", np.ravel),
    "Add": ("bias", np.ravel),
    "Expand": ("column", lambda table: table[0]),
    "Expand_1": ("row", lambda table: table[:, 0]),
}


def config_of(manifest: dict) -> ModelConfig:
    """The sizes of a bundle's networks; labels of the captioner's heads are not kept in a bundle."""
    known = {field.name for field in fields(ModelConfig)}
    sizes = {key: value for key, value in manifest["configuration"]["model"].items() if key in known}
    return ModelConfig(**sizes, vocabulary=manifest["vocabulary"])


def constants_of(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """Name -> value of every initialiser, through casts from float16 and through identities."""
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    for node in graph.node:
        if node.op_type in ("Cast", "Identity") and node.input[0] in constants:
            constants[node.output[0]] = np.float32(constants[node.input[0]])
    return constants


def restore(network: nn.Module, path: Path, prefix: str, unneeded: str | None) -> None:
    """Gives `network` the weights of the graph at `path`, whose names begin with `prefix`.

    unneeded: ending of the names of parameters that only a training uses; None: all are needed.
    @raises SystemExit if the graph is of another network than this code builds
    """
    graph = onnx.load(path).graph
    constants = constants_of(graph)
    wanted = network.state_dict()
    found = {name[len(prefix) :]: value for name, value in constants.items() if name.startswith(prefix)}
    for node in graph.node:
        *layers, kind = node.name.lstrip("/").split("/")
        name, layout = PARAMETER_OF.get(kind, (None, None))
        constant = next((constants[one] for one in node.input if one in constants), None)
        # A part of nn.Sequential is named twice: "relate/relate.0".
        for parameter in (f"{'.'.join(layers)}.{name}"[len(prefix) :], f"{layers[-1] if layers else ''}.{name}"):
            if parameter in wanted and parameter not in found and constant is not None:
                found[parameter] = layout(constant)
    state = {name: torch.from_numpy(np.array(found[name], np.float32)) for name in wanted if name in found}
    missing = [name for name in wanted if name not in found and not (unneeded and name.endswith(unneeded))]
    wrong = [name for name, value in state.items() if value.shape != wanted[name].shape]
    if missing or wrong:
        raise SystemExit(f"{path}: is of another network: {', '.join(missing + wrong)} cannot be read from it")
    network.load_state_dict(state, strict=False)


def restore_difference(bundle: Path) -> Difference:
    """@raises SystemExit if the graph is of another network than this code builds."""
    manifest = read_json(bundle / "manifest.json", "configuration", "vocabulary")
    network = Difference(config_of(manifest)).eval()
    path = bundle / "difference.onnx"
    restore(network, path, "difference.", unneeded="log_scale")  # of the contrast
    check_restored(network, path)
    return network


def restore_namer(bundle: Path) -> tuple[Namer, dict]:
    """The bundle's namer and its part of the manifest. @raises SystemExit as `restore`."""
    words = read_json(bundle / "manifest.json", "names")["names"]
    namer = Namer(len(words["nouns"]), len(words["colours"])).eval()
    path = bundle / NAMES_FILE
    restore(namer, path, "", unneeded=None)
    check_namer(namer, path)
    return namer, words


@torch.no_grad()
def check_restored(network: Difference, path: Path) -> None:
    """@raises SystemExit if the network computes other values than the graph."""
    frames, _ = example_inputs(network.c, 3, 77)
    expected = network(*frames)
    feed = {name: frame.numpy() for name, frame in zip(DIFFERENCE_IN, frames)}
    got = open_graph(path, *DIFFERENCE_OUT).run(DIFFERENCE_OUT, feed)
    errors = {name: worst(expected[name], value) for name, value in zip(DIFFERENCE_OUT, got)}
    bad = [f"{name} is off by {error:.2g}" for name, error in errors.items() if not error <= PARITY]
    if bad:
        raise SystemExit(f"{path}: {', '.join(bad)}; at most {PARITY} is allowed")
