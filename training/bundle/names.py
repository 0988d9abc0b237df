"""Adds a trained namer to a bundle: the graph names.onnx and the manifest's key `names`.

    python -m training.bundle install --part RUN/namer.pt --bundle models/scorer-surveillance --version 0.8.0 \
        --heldout DIR --facts training/facts/scorer-surveillance.json

Weights are stored as float16 and computed as float32 (half.py). The graph is compared with PyTorch before the bundle's
manifest is replaced; an earlier namer of the bundle is replaced too.
"""

from pathlib import Path

import torch

from training.bundle.manifest import entries_of, replace_manifest, replacing
from training.bundle.name_levels import fit_levels
from training.bundle.namer_graph import NAMES_FILE, export_namer
from training.inputs import first_line, read_json
from training.net.namer import Namer
from training.text.lexicon import NOUNS
from training.text.noun_tree import WIDER_COLOUR, tree_of


def load_namer(path: Path) -> tuple[Namer, dict]:
    """The namer for inference and the file's content. @raises SystemExit naming the file if it holds no namer."""
    try:
        saved = torch.load(path, weights_only=True)
        namer = Namer(len(saved["nouns"]), len(saved["colours"]))
        namer.load_state_dict(saved["namer"])
    except (KeyError, TypeError, RuntimeError) as reason:
        raise SystemExit(f"{path}: is no namer of this version ({first_line(reason)})") from None
    return namer.eval(), saved


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


def with_nouns_of(kept: dict, fitted: dict) -> dict:
    """The keys of `fit_levels`, those of the nouns from `kept`: a namer whose colours alone learned has the same."""
    colour = {key: value for key, value in fitted["decoder"].items() if key.startswith("colour")}
    return {"decoder": kept["decoder"] | colour, "levels": kept["levels"]}


def add_namer(
    namer_file: Path, bundle: Path, version: str, heldout: list[Path], training_data: list[dict], real: list[Path]
) -> float:
    """Adds the namer to the bundle folder under a new version. Returns the largest difference from PyTorch.

    real: `fit_levels`. training_data: replaces the manifest's list, because the namer may have learned from more than
    the other graphs.
    """
    namer, saved = load_namer(namer_file)
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "metrics")
    with replacing(bundle / NAMES_FILE) as partial:
        error = export_namer(namer, partial)
    fitted = fit_levels(bundle, heldout, namer, saved, real)
    if saved.get("colours_alone"):
        fitted = with_nouns_of(manifest["names"], fitted)
    manifest |= {
        "version": version,
        **entries_of(bundle, manifest, "names"),
        "names": words_of(saved) | fitted,
        "training_data": training_data,
        "metrics": manifest["metrics"] | {"names on held-out synthetic crops": saved["heldout"]},
    }
    replace_manifest(bundle, manifest)
    return error
