"""Adds a trained namer to a bundle: the graph names.onnx and the manifest's key `names`.

    python -m training.bundle.names --namer RUN/namer.pt --bundle models/scorer-surveillance --version 0.8.0 \
        --heldout DIR --facts training/facts/scorer-surveillance.json

Weights are stored as float16 and computed as float32 (half.py). The graph is compared with PyTorch before the bundle's
manifest is replaced; an earlier namer of the bundle is replaced too.
"""

import argparse
import os
from pathlib import Path

import onnx
import torch

from training.bundle.graphs import OPSET
from training.bundle.half import round_to_half, store_half_where_exact
from training.bundle.manifest import entries_of, replace_manifest
from training.bundle.name_levels import fit_levels
from training.bundle.parity import PARITY, worst
from training.inputs import existing_file, existing_folder, first_line, open_graph, read_json
from training.net.namer import Namer
from training.text.lexicon import NOUNS
from training.text.noun_tree import WIDER_COLOUR, tree_of

NAMES_IN = ("glance_coarse", "glance_fine", "glance_box", "object_box")
NAMES_OUT = ("noun_logits", "colour_logits")
FILE = "names.onnx"


def load_namer(path: Path) -> tuple[Namer, dict]:
    """The namer for inference and the file's content. @raises SystemExit naming the file if it holds no namer."""
    try:
        saved = torch.load(path, weights_only=True)
        namer = Namer(len(saved["nouns"]), len(saved["colours"]))
        namer.load_state_dict(saved["namer"])
    except (KeyError, TypeError, RuntimeError) as reason:
        raise SystemExit(f"{path}: is no namer of this version ({first_line(reason)})") from None
    return namer.eval(), saved


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


def export_namer(namer: Namer, path: Path) -> float:
    """Writes the graph; the namer is rounded to float16 values. Returns the largest difference from PyTorch.

    @raises SystemExit if that exceeds PARITY
    """
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
    crops = example_crops(3, 77)
    got = open_graph(path, *NAMES_OUT).run(NAMES_OUT, {name: x.numpy() for name, x in zip(NAMES_IN, crops)})
    with torch.no_grad():
        error = max(worst(expected, values) for expected, values in zip(namer(*crops), got))
    if not error <= PARITY:
        raise SystemExit(f"{path}: differs from PyTorch by {error}, expected at most {PARITY}")
    return error


def words_of(saved: dict) -> dict:
    """Classes, the trees of wider words (of the decoder's nouns too) and plurals, for the manifest's key `names`."""
    tree = tree_of([*saved["nouns"], *NOUNS])
    return {
        "nouns": saved["nouns"],
        "wider": tree,
        "plural": {noun: NOUNS[noun][0] for noun in tree},
        "colours": saved["colours"],
        "wider_colours": {colour: wider for colour, wider in WIDER_COLOUR.items() if colour in saved["colours"]},
    }


def add_namer(namer_file: Path, bundle: Path, version: str, heldout: list[Path], training_data: list[dict]) -> float:
    """Adds the namer to the bundle folder under a new version. Returns the largest difference from PyTorch.

    training_data: replaces the manifest's list, because the namer may have learned from more than the other graphs.
    """
    namer, saved = load_namer(namer_file)
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "metrics")
    partial = bundle / f".{FILE}"
    try:
        error = export_namer(namer, partial)
        os.replace(partial, bundle / FILE)
    finally:
        partial.unlink(missing_ok=True)
    manifest |= {
        "version": version,
        **entries_of(bundle, manifest, "names"),
        "names": words_of(saved) | fit_levels(bundle, heldout, namer, saved),
        "training_data": training_data,
        "metrics": manifest["metrics"] | {"names on held-out synthetic crops": saved["heldout"]},
    }
    replace_manifest(bundle, manifest)
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--namer", type=existing_file, required=True)
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--heldout", type=existing_folder, nargs="+", required=True, help="caches to fit the levels on")
    parser.add_argument("--version", required=True)
    parser.add_argument("--facts", type=existing_file, required=True, help="JSON with training_data, as for the export")
    args = parser.parse_args()
    stated = read_json(args.facts, "training_data")
    error = add_namer(args.namer, args.bundle, args.version, args.heldout, stated["training_data"])
    print(f"{args.bundle / FILE}: {(args.bundle / FILE).stat().st_size / 1e6:.2f} MB, within {error:.1e} of PyTorch")


if __name__ == "__main__":
    main()
