"""The networks of a finished bundle, back from their graphs: for training on without a checkpoint.

The exporter renames, transposes, splits and folds parameters, but it treats two networks of one architecture alike. So
a twin with random weights is exported, and each of its constants has the values of one parameter. The
constant at the same node of the bundle's graph is that parameter's value in the bundle.
"""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from training.bundle.graphs import write_captioner, write_difference
from training.bundle.namer_graph import NAMES_FILE, check_namer, write_namer
from training.bundle.parity import check_captioner, check_difference
from training.contract import KINDS
from training.data.batches import Labels, event_tables
from training.inputs import read_json
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.net.difference import Difference
from training.net.namer import Namer
from training.world import World

Place = tuple[str, str, int]  # of a constant in a graph: kind of node, its name, position among its inputs
LISTED = re.compile(r"/\w+\.(\d+)/")  # a module of a list: the exporter writes "norms.0" the first time and "0" later


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


def places_of(graph: onnx.GraphProto, outer: dict[str, np.ndarray]) -> Iterator[tuple[Place, np.ndarray]]:
    """The float constants that the nodes of a graph, and of the graphs inside it, read. outer: of the graph around."""
    constants = outer | constants_of(graph)
    for node in graph.node:
        if node.op_type in ("Cast", "Identity"):  # their names come from the exporter's counter
            continue
        for position, name in enumerate(node.input):
            if name in constants and constants[name].dtype == np.float32:
                yield (node.op_type, LISTED.sub(r"/\1/", node.name), position), constants[name]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from places_of(attribute.g, constants)


def randomised(network: nn.Module) -> nn.Module:
    """A copy whose parameters and stored buffers have random float16 values."""
    twin = deepcopy(network)
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for tensor in twin.state_dict().values():
            if tensor.is_floating_point():
                tensor.copy_(torch.randn(tensor.shape, generator=random).half())
    return twin


def restore(
    network: nn.Module, write: Callable[[nn.Module, Path], None], path: Path, unneeded: tuple[str, ...] = ()
) -> None:
    """Gives `network` the weights of the graph at `path`.

    write: exports a network of this class. unneeded: beginnings of the names of parameters that only a training uses,
    which keep their values. @raises SystemExit if the graph is of another network than this code builds
    """
    twin = randomised(network).eval()
    with TemporaryDirectory() as scratch:
        write(twin, Path(scratch) / path.name)
        made = dict(places_of(onnx.load(Path(scratch) / path.name).graph, {}))
    places: dict[bytes, list[Place]] = {}
    for place, value in made.items():
        places.setdefault(value.tobytes(), []).append(place)
    shipped = dict(places_of(onnx.load(path).graph, {}))

    def found(value: np.ndarray) -> np.ndarray | None:
        """The bundle's values where the twin has `value`, or its transposed form."""
        for form in (lambda x: x, np.transpose):
            for place in places.get(np.ascontiguousarray(form(value)).tobytes(), []):
                if place in shipped and shipped[place].size == value.size:
                    return form(shipped[place].reshape(form(value).shape))
        return None

    state, missing = {}, []
    for name, tensor in twin.state_dict().items():
        if not tensor.is_floating_point() or name.startswith(unneeded):
            continue
        value = found(tensor.numpy())
        if value is None and tensor.dim() > 1:  # rows that are read one by one
            rows = [found(row) for row in tensor.numpy()]
            value = None if any(row is None for row in rows) else np.stack(rows)
        if value is None:
            missing.append(name)
        else:
            state[name] = torch.from_numpy(np.array(value, np.float32))
    if missing:
        raise SystemExit(f"{path}: is of another network: {', '.join(missing)} cannot be read from it")
    network.load_state_dict(state, strict=False)


def restore_difference(bundle: Path) -> Difference:
    """@raises SystemExit if the graph is of another network than this code builds."""
    network = Difference(config_of(read_json(bundle / "manifest.json", "configuration", "vocabulary"))).eval()
    path = bundle / "difference.onnx"
    contrast = tuple(f"layers.{i}.log_scale" for i in range(len(network.layers)))
    restore(network, write_difference, path, unneeded=contrast)
    check_difference(network, path)
    return network


def restore_namer(bundle: Path) -> tuple[Namer, dict]:
    """The bundle's namer and its part of the manifest. @raises SystemExit as `restore`."""
    words = read_json(bundle / "manifest.json", "names")["names"]
    namer = Namer(len(words["nouns"]), len(words["colours"])).eval()
    path = bundle / NAMES_FILE
    restore(namer, write_namer, path)
    check_namer(namer, path)
    return namer, words


def restore_captioner(bundle: Path, world: World) -> tuple[Captioner, Labels]:
    """The bundle's captioner, hedged as it is served, and its labels; its head for nouns starts anew.

    @raises SystemExit as `restore`, and if the bundle is older than `configuration.labels`
    """
    manifest = read_json(bundle / "manifest.json", "configuration.labels", "configuration.hedge", "vocabulary")
    configuration, tables = manifest["configuration"], event_tables(world)
    labels = Labels(manifest["vocabulary"], **configuration["labels"], **tables)
    c = replace(config_of(manifest), **configuration["labels"], **tables)
    captioner = Captioner(c).eval()
    captioner.hedge(world.wider_nouns, configuration["hedge"])
    random = torch.Generator().manual_seed(0)
    memory = torch.randn(2, c.memory_grid[0] * c.memory_grid[1], c.width, generator=random)
    kind_logits = torch.randn(2, len(KINDS), generator=random)
    path = bundle / "caption.onnx"
    restore(
        captioner,
        lambda network, to: write_captioner(network, memory, kind_logits, to),
        path,
        unneeded=("crops.noun.",),
    )
    check_captioner(captioner, memory, kind_logits, path)
    return captioner, labels
