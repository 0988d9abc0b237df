"""Export: graphs equal PyTorch on inputs and batch sizes unlike those of the export; bundles are replaced as a
whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from training.bundle.export import align_from_of, put_in_place
from training.bundle.graphs import export_graphs
from training.bundle.parity import PARITY, check_parity
from training.net import captioner as captioner_module
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.net.difference import Difference
from training.tests.networks import small_config

ROOT = Path(__file__).parents[2]


def small(crops: bool, related: bool = False) -> ModelConfig:
    return small_config(region_crops=crops, colour_head=related, crop_relations=related, colours=["red", "blue"])


@pytest.mark.parametrize(
    "crops, related, hedge", [(True, False, 0.0), (False, False, 0.0), (True, True, 0.0), (True, True, 0.9)]
)
def test_graphs_equal_pytorch(tmp_path: Path, crops: bool, related: bool, hedge: float):
    torch.manual_seed(5)
    c = small(crops, related)
    difference, captioner = Difference(c).eval(), Captioner(c).eval()
    captioner.hedge({f"w{i}": "w0" for i in range(1, 12)}, hedge)
    for part in (
        ("relations.leave", "relations.kind_to_summary", "colours_to_summary") if related else ()
    ):  # they start as if they were not there
        torch.nn.init.normal_(captioner.crops.get_submodule(part).weight)
    features = tmp_path / "source.onnx"
    features.write_bytes(b"copied as it is")
    export_graphs(difference, captioner, features, tmp_path)
    for batch in (1, 3, 5):
        assert max(check_parity(tmp_path, difference, captioner, batch, seed=batch).values()) < PARITY


def test_parity_notices_a_changed_weight(tmp_path: Path):
    c = small(False)
    difference, captioner = Difference(c).eval(), Captioner(c).eval()
    (tmp_path / "source.onnx").write_bytes(b"")
    export_graphs(difference, captioner, tmp_path / "source.onnx", tmp_path)
    with torch.no_grad():
        difference.fuse.bias += 0.01
    with pytest.raises(SystemExit, match="memory is off by"):
        check_parity(tmp_path, difference, captioner)


def test_a_new_bundle_replaces_every_file_of_the_old_one(tmp_path: Path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(name)
    (tmp_path / "old" / "forgotten.onnx").write_text("old")
    put_in_place(tmp_path / "new", tmp_path / "old")
    assert {p.name: p.read_text() for p in (tmp_path / "old").iterdir()} == {"manifest.json": "new"}
    assert [p.name for p in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("text, expected", [(None, None), ('{"name": "x"}', None), ('{"align_from": 0.025}', 0.025)])
def test_align_from_is_read_from_the_bundle_that_is_replaced(tmp_path: Path, text: str | None, expected: float | None):
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    assert align_from_of(tmp_path) == expected


def test_the_old_bundle_stays_if_the_new_one_cannot_be_renamed(tmp_path: Path, monkeypatch):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "manifest.json").write_text("old")
    (tmp_path / "new").mkdir()
    rename = Path.rename
    monkeypatch.setattr(
        Path,
        "rename",
        lambda self, to: (_ for _ in ()).throw(OSError("no")) if self.name == "new" else rename(self, to),
    )
    with pytest.raises(OSError, match="no"):
        put_in_place(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old" / "manifest.json").read_text() == "old"


def test_parity_notices_attention_that_is_spread_differently(tmp_path: Path, monkeypatch):
    torch.manual_seed(5)
    c = small(True)
    difference, captioner = Difference(c).eval(), Captioner(c).eval()
    (tmp_path / "source.onnx").write_bytes(b"")
    export_graphs(difference, captioner, tmp_path / "source.onnx", tmp_path)
    assert "attention" in check_parity(tmp_path, difference, captioner)
    right = captioner_module.expand_crop_attention
    monkeypatch.setattr(
        captioner_module, "expand_crop_attention", lambda attention, *sizes: right(attention, *sizes).flip(2)
    )
    with pytest.raises(SystemExit, match="attention is off by"):
        check_parity(tmp_path, difference, captioner)


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)


def test_a_missing_file_is_one_line_and_no_bundle(tmp_path: Path):
    for name in ("facts.json", "run.pt"):
        (tmp_path / name).write_text(json.dumps({}))
    done = run(
        "training.bundle",
        "export",
        "--checkpoint",
        str(tmp_path / "run.pt"),
        "--features",
        str(tmp_path / "no.onnx"),
        "--calibration",
        str(tmp_path / "facts.json"),
        "--facts",
        str(tmp_path / "facts.json"),
        "--name",
        "x",
        "--version",
        "0.0.1",
        "--out",
        str(tmp_path / "out"),
    )
    assert done.returncode != 0
    assert done.stderr.strip() == f"{tmp_path / 'no.onnx'}: no such file"
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_checkpoint_is_named_with_the_keys_it_lacks(tmp_path: Path):
    torch.save({"config": {}}, tmp_path / "other.pt")
    done = run(
        "training.soup",
        "--checkpoints",
        str(tmp_path / "other.pt"),
        "--heldout",
        str(tmp_path),
        "--out",
        str(tmp_path / "p"),
    )
    assert done.returncode != 0
    assert (
        "other.pt: is not a checkpoint of training.train: lacks captioner, cbr, difference, labels, seed, step"
        in done.stderr
    )
    assert not (tmp_path / "p").exists()
