"""Figures of a trained row: on held-out drawn pairs here, on labelled pairs by `scenedelta evaluate`."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.architectures.row import Row
from training.bundle.calibrate import calibrate, logit_of
from training.data.batches import Batches
from training.heldout import heldout_figures
from training.inputs import read_json

FALSE_ALARMS = 0.1  # of unchanged held-out pairs, at the threshold; that of scorer-clevr
CUTS = (1, 5, 10)


def judge_heldout(row: Row, heldout: Batches) -> tuple[dict, dict]:
    """The content of calibration.json for the export, and the figures of the held-out pairs."""
    difference, writer = row.difference.eval(), row.captioner.eval()
    calibration, calibrated_on = calibrate(difference, heldout, FALSE_ALARMS)
    figures = heldout_figures(difference, writer, heldout, row.world, threshold=logit_of(calibration))
    hedge = {"share": 0.0, "table": []}
    fitted = {"calibration": calibration, "hedge": hedge, "heldout": figures, "calibrated_on": calibrated_on}
    return fitted, figures | recalls(row, heldout)


@torch.no_grad()
def recalls(row: Row, heldout: Batches, batch: int = 50) -> dict[str, float]:
    """R@k of changed pairs by their own sentence among all held-out pairs; empty for rows without a retrieval stage."""
    pairs, texts = [], []
    for start in range(0, len(heldout.cache), batch):
        indices = list(range(start, min(start + batch, len(heldout.cache))))
        b = row.with_tokens(heldout.batch(indices, np.random.default_rng(0)))
        vectors = row.network.vectors(b["before"], b["after"], b["ids"])
        if vectors is None:
            return {}
        pairs.append(vectors[0])
        texts.append(vectors[1])
    changed = torch.tensor([bool(meta["objects"]) for meta in heldout.cache.meta])
    return recall_at(torch.cat(texts)[changed] @ torch.cat(pairs).T, changed.nonzero()[:, 0])


def recall_at(similarity: Tensor, own: Tensor) -> dict[str, float]:
    """similarity [Q,G] of queries and gallery, own [Q]: the right one. A tie counts half."""
    right = similarity.gather(1, own[:, None])
    rank = 1 + (similarity > right).sum(1) + ((similarity == right).sum(1) - 1) / 2  # [Q]
    return {f"R@{k}": round(float((rank <= k).float().mean()), 4) for k in CUTS}


def judge_served(folder: Path, features: Path, manifest: Path) -> dict:
    """Runs training.evaluate on the folder's checkpoint; keeps the whole report as evaluation.json. Returns the figures
    of the table. @raises SystemExit if it fails."""
    report = folder / "evaluation.json"
    command = [sys.executable, "-m", "training.evaluate", "--json", str(report)]
    for name, path in (
        ("checkpoint", folder / "checkpoint.pt"),
        ("features", features),
        ("calibration", folder / "calibration.json"),
        ("manifest", manifest),
    ):
        command += [f"--{name}", str(path)]
    with open(folder / "evaluation.txt", "w", encoding="utf-8") as log:
        done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f"{folder.name}: training.evaluate failed, see {folder / 'evaluation.txt'}")
    return served_figures(read_json(report, "captioner", "parts"))


def served_figures(report: dict) -> dict:
    """Figures of a report of `scenedelta evaluate --json`: CIDEr-D times 100, rates 0..1."""
    c = report["captioner"]
    words = lambda part: None if part is None else round(100 * part["ciderD"], 1)
    kinds = {part["name"]: words(part["words"]) for part in report["parts"] if part["by"] == "kind"}
    return {
        "CIDEr-D": words(c["words"]["all"]),
        "CIDEr-D changed": words(c["words"]["changed"]),
        "CIDEr-D kinds": kinds,
        "verdict": c["alarms"]["verdict"]["rate"],
        "AUROC": c["alarms"]["auroc"],
        "noun": c["facts"]["noun"]["rate"],
        "colour": c["facts"]["colour"]["rate"],
        "pointing": c["place"]["game"]["rate"],
        "ms": sum(c["timings"].get(stage, 0.0) for stage in ("encode", "caption")),
        "constant": {
            "all": words(report["constant"]["words"]["all"]),
            "changed": words(report["constant"]["words"]["changed"]),
        },
    }


def write_json(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")
