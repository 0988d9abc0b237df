"""PyTorch against ONNX Runtime on the exported graphs."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.bundle.graphs import caption_in, caption_out, example_inputs, outputs_of
from training.contract import DIFFERENCE_IN, DIFFERENCE_OUT
from training.inputs import open_graph
from training.net.captioner import Captioner
from training.net.difference import Difference

PARITY = 1e-3  # largest difference of a float between PyTorch and ONNX Runtime


def worst(expected: Tensor, got: np.ndarray) -> float:
    return float(np.abs(expected.numpy().astype(np.float64) - got).max()) if got.size else 0.0


@torch.no_grad()
def check_difference(difference: Difference, path: Path, batch: int = 3, seed: int = 77) -> dict[str, float]:
    """Largest difference of each output that the graph has, on inputs and a batch size unlike those of the export.

    @raises SystemExit if one exceeds PARITY
    """
    frames, _ = example_inputs(difference.c, batch, seed)
    expected = outputs_of(difference, *frames)
    feed = {name: frame.numpy() for name, frame in zip(DIFFERENCE_IN, frames)}
    graph = open_graph(path, *DIFFERENCE_OUT)
    names = [output.name for output in graph.get_outputs() if output.name in expected]
    got = graph.run(names, feed)
    return within_parity({name: worst(expected[name], value) for name, value in zip(names, got)}, path)


@torch.no_grad()
def check_captioner(
    captioner: Captioner, memory: Tensor, kind_logits: Tensor, path: Path, seed: int = 77
) -> dict[str, float]:
    """As `check_difference`; memory [B,N,D], kind_logits [B,K]. @raises SystemExit if the ids differ, too"""
    c = captioner.c
    _, crops = example_inputs(c, len(memory), seed)
    written = captioner.greedy(memory, crops if c.region_crops else None, kind_logits)
    feed = {name: x.numpy() for name, x in zip(caption_in(c), (memory, *crops, kind_logits))}
    got = dict(zip(caption_out(c), open_graph(path, *caption_out(c)).run(caption_out(c), feed)))
    for name in ("ids", "length"):
        if not np.array_equal(written[name].numpy(), got[name]):
            raise SystemExit(
                f"{path}: {name} differ from PyTorch's: {got[name].tolist()}, expected {written[name].tolist()}"
            )
    names = [name for name in ("log_prob", "attention", "kind_logits") if name in written]
    return within_parity({name: worst(written[name], got[name]) for name in names}, path)


def within_parity(errors: dict[str, float], path: Path) -> dict[str, float]:
    """The errors. @raises SystemExit naming the outputs whose error exceeds PARITY"""
    bad = [f"{name} is off by {error:.2g}" for name, error in errors.items() if not error <= PARITY]
    if bad:
        raise SystemExit(f"{path}: {', '.join(bad)}; at most {PARITY} is allowed")
    return errors


@torch.no_grad()
def check_parity(
    folder: Path, difference: Difference, captioner: Captioner, batch: int = 3, seed: int = 77
) -> dict[str, float]:
    """Errors of both graphs of a bundle. @raises SystemExit as `check_difference` and `check_captioner`"""
    errors = check_difference(difference, folder / "difference.onnx", batch, seed)
    frames, _ = example_inputs(captioner.c, batch, seed)
    d = difference(*frames)
    return errors | check_captioner(captioner, d["memory"], d["kind_logits"], folder / "caption.onnx", seed)
