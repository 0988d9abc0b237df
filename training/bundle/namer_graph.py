"""The namer as a graph, names.onnx, with the tensor names of the bundle format."""

from pathlib import Path

import onnx
import torch

from training.bundle.graphs import OPSET
from training.bundle.half import round_to_half, store_half_where_exact
from training.bundle.parity import PARITY, worst
from training.inputs import open_graph
from training.net.namer import Namer

NAMES_IN = ("glance_coarse", "glance_fine", "glance_box", "object_box")
NAMES_OUT = ("noun_logits", "colour_logits")
NAMES_FILE = "names.onnx"


def example_crops(count: int, seed: int) -> tuple[torch.Tensor, ...]:
    """Random arguments of the namer for `count` crops."""
    random = torch.Generator().manual_seed(seed)
    crop = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).expand(count, 4).contiguous()
    return (
        torch.randn(count, 2, 256, 7, 7, generator=random),
        torch.randn(count, 2, 67, 14, 14, generator=random),
        crop,
        crop + torch.tensor([0.05, 0.05, -0.1, -0.1]),
    )


def write_namer(namer: Namer, path: Path) -> None:
    """Writes the graph; the namer is rounded to float16 values."""
    round_to_half(namer)
    torch.onnx.export(
        namer,
        example_crops(2, 1),
        str(path),
        input_names=list(NAMES_IN),
        output_names=list(NAMES_OUT),
        dynamic_axes={name: {0: "M"} for name in (*NAMES_IN, *NAMES_OUT)},
        opset_version=OPSET,
        dynamo=False,
    )
    onnx.save(store_half_where_exact(onnx.load(path)), path)


def export_namer(namer: Namer, path: Path) -> float:
    """Writes the graph and returns the largest difference from PyTorch. @raises SystemExit if that exceeds PARITY"""
    write_namer(namer, path)
    return check_namer(namer, path)


@torch.no_grad()
def check_namer(namer: Namer, path: Path) -> float:
    """The largest difference of the graph's values from the namer's. @raises SystemExit if it exceeds PARITY"""
    crops = example_crops(3, 77)
    got = open_graph(path, *NAMES_OUT).run(NAMES_OUT, {name: x.numpy() for name, x in zip(NAMES_IN, crops)})
    error = max(worst(expected, values) for expected, values in zip(namer(*crops), got))
    if not error <= PARITY:
        raise SystemExit(f"{path}: differs from PyTorch by {error}, expected at most {PARITY}")
    return error
