"""Adds a trained truth check to a bundle: the graph check.onnx and the manifest's key `check`.

    python -m training.bundle install --part RUN/check.pt --bundle models/scorer-surveillance --version 0.9.0 \
        --heldout DIR --facts training/facts/scorer-surveillance.json
    python -m training.bundle check --bundle models/scorer-surveillance

The second command writes the graph anew with the weights that it has, so the version of the bundle stays. The graph
holds the evidence graph on which the check was trained (evidence_graph.py), and the check. It is compared with PyTorch
before the manifest is replaced. Weights are stored as float16 and computed as float32 (half.py).
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
from torch import Tensor, nn

from training.bundle.check_levels import fit_check
from training.bundle.half import round_to_half
from training.bundle.heads import HEAD_IN, export_with_evidence, head_arguments, load_head
from training.bundle.manifest import entries_of, replace_manifest, replacing
from training.bundle.parity import within_parity
from training.bundle.restore import config_of, restore
from training.contract import END, PAD, SLOTS, UNK
from training.data.evidence import Evidence
from training.data.evidence_graph import evidence_graph, evidence_within
from training.inputs import existing_folder, read_json
from training.net.check import TruthCheck
from training.net.evidence_tokens import EvidenceSizes

FILE = "check.onnx"


class CheckGraph(nn.Module):
    """The check of sentences about each of a few pairs, with the tensors of the bundle format."""

    def __init__(self, check: TruthCheck):
        super().__init__()
        self.check = check

    def forward(self, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        """HEAD_IN of P pairs, and ids [P,K,L] -> score [P,K], slots [P,K,SLOTS]."""
        *head, ids = inputs
        return self.check(head_arguments(*head), ids)


def export_check(check: TruthCheck, evidence: onnx.ModelProto, map_shape: tuple[int, int], path: Path) -> float:
    """Writes the graph; the check is rounded to float16 values. Returns the largest difference from PyTorch.

    map_shape: rows and columns of a change map.
    """
    round_to_half(check)

    def sentences(pairs: int, count: int, words: int) -> dict[str, np.ndarray]:
        ids = np.random.default_rng(words).integers(4, check.embedding.num_embeddings, (pairs, count, words))
        ids[:, :, -1] = PAD
        return {"ids": ids}

    of_pairs = {name: {0: "B"} for name in HEAD_IN}
    of_sentences = {name: {0: "B", 1: "K"} for name in ("score", "slots")}
    return export_with_evidence(
        CheckGraph(check).eval(),
        evidence,
        path,
        map_shape,
        (2, 3),
        (sentences(2, 3, 9), sentences(3, 5, check.max_length)),
        ("score", "slots"),
        of_pairs | of_sentences | {"ids": {0: "B", 1: "K", 2: "L"}},
    )


def restore_check(bundle: Path) -> tuple[TruthCheck, onnx.ModelProto, tuple[int, int]]:
    """The bundle's check, the evidence graph that it was trained on, and the rows and columns of a change map.

    @raises SystemExit as `restore`
    """
    manifest = read_json(bundle / "manifest.json", "check", "names", "configuration", "vocabulary")
    words, names, c = manifest["check"], manifest["names"], config_of(manifest)
    sizes = EvidenceSizes(len(names["nouns"]), len(names["colours"]), c.regions, c.memory_grid, c.crop_grid, c.width)
    check = TruthCheck(sizes, len(words["vocabulary"]), max_length=words["max_length"]).eval()
    evidence, map_shape = evidence_within(onnx.load(bundle / FILE)), (2 * c.grid[0], 2 * c.grid[1])
    write = lambda twin, to: export_check(twin, evidence, map_shape, to)
    restore(check, write, bundle / FILE, unneeded=("log_temperature",))
    return check, evidence, map_shape


def add_check(check_file: Path, bundle: Path, version: str, heldout: Evidence, training_data: list[dict]) -> float:
    """Adds the check to the bundle folder under a new version. Returns the largest difference from PyTorch.

    training_data: replaces the manifest's list, because the check may have learned from more than the other graphs.
    """
    check, saved = load_head(check_file, "check", TruthCheck)
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "metrics")
    with replacing(bundle / FILE) as partial:
        map_shape = heldout.arrays([0])["maps"].shape[-2:]
        errors = {"check": export_check(check, evidence_graph(bundle), map_shape, partial)}
        error = within_parity(errors, partial)["check"]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    bundle = parser.parse_args().bundle
    check, evidence, map_shape = restore_check(bundle)
    with replacing(bundle / FILE) as partial:
        error = within_parity({"check": export_check(check, evidence, map_shape, partial)}, partial)["check"]
    manifest = read_json(bundle / "manifest.json", "files", "graphs")
    replace_manifest(bundle, manifest | entries_of(bundle, manifest, "check"))
    print(f"{bundle / FILE}: written anew, within {error:.1e} of PyTorch")


if __name__ == "__main__":
    main()
