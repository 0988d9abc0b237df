"""PyTorch against ONNX Runtime on the exported graphs."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.bundle.graphs import DIFFERENCE_IN, DIFFERENCE_OUT, caption_in, caption_out, example_inputs
from training.inputs import open_graph
from training.net.captioner import Captioner
from training.net.difference import Difference

PARITY = 1e-3  # largest difference of a float between PyTorch and ONNX Runtime


def worst(expected: Tensor, got: np.ndarray) -> float:
    return float(np.abs(expected.numpy().astype(np.float64) - got).max()) if got.size else 0.0


def check_parity(
    folder: Path, difference: Difference, captioner: Captioner, batch: int = 3, seed: int = 77
) -> dict[str, float]:
    """Largest difference of each output, on inputs and a batch size unlike those of the export.

    @raises SystemExit if a difference exceeds PARITY or the ids differ.
    """
    c = captioner.c
    frames, crops = example_inputs(c, batch, seed)
    with torch.no_grad():
        d = difference(*frames)
        written = captioner.greedy(d["memory"], crops if c.region_crops else None, d["kind_logits"])
    got = dict(
        zip(
            DIFFERENCE_OUT,
            open_graph(folder / "difference.onnx").run(
                DIFFERENCE_OUT, {n: x.numpy() for n, x in zip(DIFFERENCE_IN, frames)}
            ),
        )
    )
    errors = {name: worst(d[name], got[name]) for name in DIFFERENCE_OUT}
    feed = {n: x.numpy() for n, x in zip(caption_in(c), (d["memory"], *crops, d["kind_logits"]))}
    got = dict(zip(caption_out(c), open_graph(folder / "caption.onnx").run(caption_out(c), feed)))
    for name in ("ids", "length"):
        if not np.array_equal(written[name].numpy(), got[name]):
            raise SystemExit(
                f"caption.onnx: {name} differ from PyTorch's: {got[name].tolist()}, expected {written[name].tolist()}"
            )
    errors |= {
        name: worst(written[name], got[name]) for name in ("log_prob", "attention", "kind_logits") if name in written
    }
    bad = {name: error for name, error in errors.items() if not error <= PARITY}
    if bad:
        raise SystemExit(
            f"parity: {', '.join(f'{n} is off by {e:.2g}' for n, e in bad.items())}; at most {PARITY} is allowed"
        )
    return errors
