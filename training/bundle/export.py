"""Exports a checkpoint as a bundle: three ONNX graphs and a manifest (the contract that src/model loads).

    python -m training.bundle export --checkpoint RUN/best.pt --features features.q.onnx \
        --calibration calibration.json --facts training/facts/scorer-surveillance.json \
        --name scorer-surveillance --version 0.1.0 --out models/scorer-surveillance

Weights of the difference and caption graphs are stored as float16 and computed as float32 (ONNX Runtime folds the casts
when it loads): the checkpoint is rounded first, so PyTorch and the graphs hold the same numbers. The bundle is written
beside its place and renamed into it when everything has been checked; a failure leaves nothing behind.
"""

import argparse
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

from training.bundle.graphs import export_graphs
from training.bundle.manifest import command_of, configuration_of, manifest, replace_manifest
from training.bundle.parity import check_parity
from training.contract import SPECIALS
from training.inputs import existing_file, read_json
from training.learn.checkpoint import load_run
from training.world import load_world

STATED = ("licence", "metrics", "training_data", "cost")  # in --facts
CALIBRATED = (  # in --calibration, for the bundle and for the service
    "hedge.share",
    "heldout",
    "calibrated_on",
    "calibration.threshold",
    "calibration.operating_points",
    "calibration.nuisances",
    "calibration.change.scale",
    "calibration.change.offset",
)


def align_from_of(bundle: Path) -> float | None:
    """`align_from` of the bundle that the export replaces; None if there is no bundle or its manifest has no such
    key."""
    path = bundle / "manifest.json"
    return read_json(path).get("align_from") if path.exists() else None


def put_in_place(folder: Path, target: Path) -> None:
    """Renames the new bundle to `target`; the old bundle is put aside first and removed last."""
    if not target.exists():
        folder.rename(target)
        return
    aside = folder.with_name(f"{target.name}.old")
    target.rename(aside)
    try:
        folder.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    shutil.rmtree(aside)


def write_bundle(
    checkpoint: Path,
    features: Path,
    calibration: Path,
    stated: dict,
    name: str,
    version: str,
    out: Path,
    align_from: float | None,
) -> None:
    """Writes the bundle folder `out` and checks parity; a bundle that is already there is replaced.

    stated: see STATED. align_from: None keeps the value of the bundle that is replaced.
    """
    fitted = read_json(calibration, *CALIBRATED)
    difference, captioner, saved = load_run(checkpoint)
    c = captioner.c
    if c.vocabulary[: len(SPECIALS)] != list(SPECIALS):
        raise SystemExit(f"{checkpoint}: vocabulary starts with {c.vocabulary[:4]}, expected {list(SPECIALS)}")
    captioner.hedge(load_world(saved["config"]["world"]).wider_nouns, fitted["hedge"]["share"])
    facts = stated | {
        "name": name,
        "version": version,
        "calibration": fitted["calibration"],
        "metrics": stated["metrics"] | {"held-out synthetic pairs": fitted["heldout"] | fitted["calibrated_on"]},
        "configuration": configuration_of(saved, fitted["hedge"]["share"]),
        "seeds": [of["seed"] for of in saved.get("soup", [saved])],
        "command": saved.get("command") or command_of(saved),
    }
    if c.architecture:
        facts["layout"] = asdict(captioner.network.layout)
    if "unchanged" in saved["config"]:
        facts["unchanged"] = saved["config"]["unchanged"]
    facts["align_from"] = align_from_of(out) if align_from is None else align_from
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        folder = Path(scratch) / name
        folder.mkdir()
        export_graphs(difference, captioner, features, folder)
        errors = check_parity(folder, difference, captioner)
        replace_manifest(folder, manifest(folder, c, facts))
        size = sum(p.stat().st_size for p in folder.iterdir())
        put_in_place(folder, out)
    print(f"{out}: {size / 1e6:.1f} MB; PyTorch = ONNX Runtime within {max(errors.values()):.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=existing_file, required=True)
    parser.add_argument("--features", type=existing_file, required=True)
    parser.add_argument("--calibration", type=existing_file, required=True, help="JSON of training.bundle.calibrate")
    parser.add_argument(
        "--facts",
        type=existing_file,
        required=True,
        help="JSON: licence, metrics, training_data, cost (what a person states)",
    )
    parser.add_argument("--name", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--align-from",
        type=float,
        help="displacement, in frame widths, from which `after` is aligned; default: that of the bundle at --out",
    )
    args = parser.parse_args()
    write_bundle(
        args.checkpoint,
        args.features,
        args.calibration,
        read_json(args.facts, *STATED),
        args.name,
        args.version,
        args.out,
        args.align_from,
    )
