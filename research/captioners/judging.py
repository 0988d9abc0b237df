"""Figures of a trained row: on held-out drawn pairs here, on labelled pairs by `scenedelta evaluate`."""

import json
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from research.captioners.row import Row
from training.bundle.calibrate import calibrate, logit_of
from training.bundle.export import write_bundle
from training.bundle.recalibrate import BundleDifference
from training.contract import difference_inputs
from training.data.batches import Batches
from training.evaluate import evaluate_bundle
from training.inputs import open_graph, read_json
from training.learn.heldout import heldout_figures

FALSE_ALARMS = 0.1  # of unchanged held-out pairs, at the threshold; that of scorer-clevr
CUTS = (1, 5, 10)
TIMED_PAIRS = 20


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


def recall_at(similarity: Tensor, about: Tensor) -> dict[str, float]:
    """similarity [Q,G] of queries and gallery, own [Q]: the right one. A tie counts half."""
    right = similarity.gather(1, about[:, None])
    rank = 1 + (similarity > right).sum(1) + ((similarity == right).sum(1) - 1) / 2  # [Q]
    return {f"R@{k}": round(float((rank <= k).float().mean()), 4) for k in CUTS}


def judge_served(row: Row, folder: Path, features: Path, manifest: Path, heldout: Batches) -> dict:
    """Exports the folder's checkpoint as a bundle in its `models`, and has the service judge it.

    evaluation.json keeps the whole report. Returns the figures of the table. @raises SystemExit if the service fails.
    """
    models, report, name = folder / "models", folder / "evaluation.json", row.config["name"]
    facts = {"licence": "not for release", "metrics": {}, "training_data": [], "cost": {"cpu_h": row.cpu_s / 3600}}
    parts = (folder / "checkpoint.pt", features, folder / "calibration.json")
    write_bundle(*parts, facts, name, "0.0.0", models / name, None)
    with open(folder / "evaluation.txt", "w", encoding="utf-8") as log:
        try:
            evaluate_bundle(models, name, manifest, ["--json", str(report)], log)
        except SystemExit as reason:
            raise SystemExit(f"{folder.name}: scenedelta evaluate failed ({reason}), see {log.name}") from None
    return served_figures(read_json(report, "captioner", "parts")) | {"ms": cpu_ms(models / name, heldout)}


def cpu_ms(bundle: Path, heldout: Batches) -> float:
    """CPU milliseconds per pair of difference.onnx and caption.onnx, over the first held-out pairs one by one."""
    difference, caption = BundleDifference(bundle / "difference.onnx"), open_graph(bundle / "caption.onnx")
    took = []
    for i in range(min(TIMED_PAIRS, len(heldout.cache))):
        inputs = difference_inputs(heldout.batch([i], np.random.default_rng(0)))
        began = time.process_time()
        caption.run(None, {"memory": difference(*inputs)["memory"].numpy()})
        took.append(time.process_time() - began)
    return 1000 * float(np.median(took))


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
        "constant": {
            "all": words(report["constant"]["words"]["all"]),
            "changed": words(report["constant"]["words"]["changed"]),
        },
    }


def write_json(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")
