"""Adds a trained truth check to a bundle: the graph check.onnx and the manifest's key `check`.

    python -m training.bundle install --part RUN/check.pt --bundle models/scorer-surveillance --version 0.9.0 \
        --heldout DIR --facts training/facts/scorer-surveillance.json

The graph holds the bundle's frozen evidence graph (evidence.py) and the check. It is compared with PyTorch before the
manifest is replaced. Weights are stored as float16 and computed as float32 (half.py).
"""

from pathlib import Path

import numpy as np
from torch import Tensor, nn

from training.bundle.check_levels import fit_check
from training.bundle.half import round_to_half
from training.bundle.heads import export_with_evidence, head_arguments, load_head
from training.bundle.manifest import entries_of, replace_manifest, replacing
from training.contract import END, PAD, SLOTS, UNK
from training.data.evidence import Evidence
from training.inputs import read_json
from training.net.check import TruthCheck

FILE = "check.onnx"


class CheckGraph(nn.Module):
    """The check of one pair, with the tensors of the bundle format."""

    def __init__(self, check: TruthCheck):
        super().__init__()
        self.check = check

    def forward(self, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        """HEAD_IN of one pair, and ids [K,L] -> score [K], slots [K,SLOTS]."""
        *head, ids = inputs
        score, slots = self.check(head_arguments(*head), ids[None])
        return score[0], slots[0]


def export_check(check: TruthCheck, bundle: Path, map_shape: tuple[int, int], path: Path) -> float:
    """Writes the graph; the check is rounded to float16 values. Returns the largest difference from PyTorch.

    map_shape: rows and columns of a change map. @raises SystemExit if the difference exceeds PARITY
    """
    round_to_half(check)

    def sentences(count: int, words: int) -> dict[str, np.ndarray]:
        ids = np.random.default_rng(words).integers(4, check.embedding.num_embeddings, (count, words))
        ids[:, -1] = PAD
        return {"ids": ids}

    return export_with_evidence(
        CheckGraph(check).eval(),
        bundle,
        path,
        map_shape,
        (1, 1),
        (sentences(3, 9), sentences(5, check.max_length)),
        ("score", "slots"),
        {"ids": {0: "K", 1: "L"}, "score": {0: "K"}, "slots": {0: "K"}},
    )


def add_check(check_file: Path, bundle: Path, version: str, heldout: Evidence, training_data: list[dict]) -> float:
    """Adds the check to the bundle folder under a new version. Returns the largest difference from PyTorch.

    training_data: replaces the manifest's list, because the check may have learned from more than the other graphs.
    """
    check, saved = load_head(check_file, "check", TruthCheck)
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "metrics")
    with replacing(bundle / FILE) as partial:
        error = export_check(check, bundle, heldout.arrays([0])["maps"].shape[-2:], partial)
    manifest |= {
        "version": version,
        **entries_of(bundle, manifest, "check"),
        "check": {
            "vocabulary": saved["vocabulary"],
            "special": {"pad": PAD, "unk": UNK, "end": END},
            "max_length": check.max_length,
            "slots": list(SLOTS),
            "temperature": round(float(check.log_temperature.exp()), 5),
            **fit_check(check, saved["vocabulary"], heldout),
            "metrics": saved["heldout"],
            "seed": saved["seed"],
            "command": f"python -m training.check --seed {saved['seed']} --steps {saved['steps']}",
            "cost": f"{saved['steps']} steps on {saved['pairs']} cached pairs, {saved['cost']}",
        },
        "training_data": training_data,
    }
    replace_manifest(bundle, manifest)
    return error
