"""Adds `statements.onnx` to a bundle, or writes it anew from the bundle's caption graph, with the same weights.

    python -m training.bundle statements --bundle models/scorer-surveillance

The words stay the same: both graphs are compared on random crops, and the version of the bundle stays, too.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from training.bundle.graphs import caption_out, example_inputs
from training.bundle.manifest import entries_of, replace_manifest, replacing
from training.bundle.parity import within_parity, worst
from training.bundle.restore import restore_captioner
from training.bundle.statements_graph import FILE, rows_of, write_statements
from training.contract import CROP_IN, FRAME_KIND, KINDS, MAX_WORDS, STATEMENTS_IN
from training.inputs import existing_folder, open_graph, read_json
from training.net.config import ModelConfig
from training.world import load_world


def feeds_of(c: ModelConfig, pairs: int, seed: int = 77) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Random inputs of pairs for statements.onnx, and the same rows as pairs of their own for caption.onnx."""
    random = torch.Generator().manual_seed(seed)
    memory = torch.randn(2 * pairs, c.memory_grid[0] * c.memory_grid[1], c.width, generator=random)
    kind_logits = torch.randn(2 * pairs, len(KINDS), generator=random)
    _, (*crops, _mask) = example_inputs(c, pairs, seed)
    rows = rows_of(c, pairs)  # [Z,L,R]
    view = torch.arange(2 * pairs)[:, None].expand(rows.shape[:2]).flatten()  # [B]
    slots = rows.flatten(0, 1)  # [B,R]
    used, at = slots >= 0, slots.clamp(min=0)

    def of_rows(crops: torch.Tensor) -> torch.Tensor:
        chosen = crops[view[:, None] % pairs, at] * used.reshape(*used.shape, *[1] * (crops.dim() - 2))  # [B,R,...]
        if crops.dim() == 3:  # boxes
            return chosen
        return torch.where((view >= pairs)[:, None, None, None, None, None], chosen.flip(2), chosen)

    shared = (memory, *crops, kind_logits, rows, torch.full(rows.shape[:2], MAX_WORDS))
    alone = dict(zip(CROP_IN, (*map(of_rows, crops), used.float())))
    alone |= {"memory": memory[view], FRAME_KIND: kind_logits[view]}
    as_numpy = lambda feed: {name: value.contiguous().numpy() for name, value in feed.items()}
    return as_numpy(dict(zip(STATEMENTS_IN, shared))), as_numpy(alone)


def check_statements(c: ModelConfig, statements: Path, caption: Path, pairs: int = 2) -> dict[str, float]:
    """Largest difference of each output from caption.onnx. @raises SystemExit if words differ, or another output by
    more than PARITY"""
    names, (shared, alone) = caption_out(c), feeds_of(c, pairs)
    got = dict(zip(names, open_graph(statements, *names).run(names, shared)))
    expected = dict(zip(names, open_graph(caption, *names).run(names, alone)))
    for name in ("ids", "length"):
        if not np.array_equal(got[name], expected[name]):
            raise SystemExit(f"{statements}: {name} are {got[name].tolist()}, {caption} has {expected[name].tolist()}")
    floats = ("log_prob", "attention", "kind_logits")
    return within_parity({name: worst(torch.from_numpy(expected[name]), got[name]) for name in floats}, statements)


def install(bundle: Path, world: str) -> float:
    """Returns the largest difference from caption.onnx. @raises SystemExit as `check_statements`"""
    manifest = read_json(bundle / "manifest.json", "files", "graphs")
    captioner, _ = restore_captioner(bundle, load_world(world))
    with replacing(bundle / FILE) as partial:
        write_statements(captioner, partial)
        error = max(check_statements(captioner.c, partial, bundle / "caption.onnx").values())
    replace_manifest(bundle, manifest | entries_of(bundle, manifest, "statements"))
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--world", default="surveillance")
    args = parser.parse_args()
    error = install(args.bundle, args.world)
    print(f"{args.bundle / FILE}: writes the words of caption.onnx, numbers within {error:.1e}")


if __name__ == "__main__":
    main()
