"""A missing or wrong input ends a command in one line that names it, and no file is written."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from onnx import TensorProto, helper, save

from training.inputs import read_ndjson

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="needs torch")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """With a file of each kind that is sound as far as it goes, or is not."""
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["B", 3, "h", "w"])
    graph = helper.make_graph(
        [helper.make_node("Identity", ["image"], [n]) for n in ("coarse", "fine")],
        "g",
        [value("image")],
        [value("coarse"), value("fine")],
    )
    save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "features.onnx"
    )
    (tmp_path / "text").write_text("neither a graph nor a checkpoint\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "cache/00000000-00000001").mkdir(parents=True)
    (tmp_path / "config.toml").write_bytes((Path(__file__).parents[1] / "configs/surveillance-cpu.toml").read_bytes())
    (tmp_path / "facts.json").write_text(json.dumps({"licence": "", "metrics": {}, "training_data": [], "cost": {}}))
    (tmp_path / "calibration.json").write_text(
        json.dumps({"hedge": {"share": 0.5}, "heldout": {}, "calibrated_on": {}, "calibration": {"threshold": 0.5}})
    )
    change = {"scale": 1.0, "offset": 0.0}
    calibration = {"threshold": 0.5, "operating_points": [], "nuisances": {}, "change": change}
    (tmp_path / "full.json").write_text(
        json.dumps({"hedge": {"share": 0.5}, "heldout": {}, "calibrated_on": {}, "calibration": calibration})
    )
    (tmp_path / "pairs.ndjson").write_text(json.dumps({"id": "1", "before": "gone.png", "after": "gone.png"}) + "\n")
    if torch:
        torch.save(
            {"config": {}, "labels": {}, "difference": {}, "captioner": {}, "cbr": {}, "seed": 1, "step": 1},
            tmp_path / "run.pt",
        )
        torch.save([1], tmp_path / "list.pt")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCENEDELTA_DATA", raising=False)
    return tmp_path


CACHE = "data.cache --features features.onnx --out new --start 0 --count 1"
EVALUATE = "evaluate --checkpoint run.pt --features features.onnx --calibration calibration.json"
EXPORT = (
    "bundle.export --checkpoint run.pt --features features.onnx --facts facts.json --name n --version 0.0.1 --out new"
)
WITHOUT_TORCH = [
    (f"{CACHE} --data none", "none: no such folder"),
    (CACHE, "no data folder: pass --data or set SCENEDELTA_DATA to the folder with plates/ and sprites/"),
    (f"{CACHE} --data empty", "expected plates/plates.json under the data folder empty, found none"),
    (CACHE.replace("features.onnx", "none.onnx"), "none.onnx: no such file"),
    (CACHE.replace("features.onnx", "text"), "text: is not an ONNX graph that can be run ("),
    (
        f"{CACHE} --maps features.onnx",
        "features.onnx: is another graph: gives coarse, fine, expected map_before, map_after",
    ),
    ("bundle.quantize --data none --features features.onnx --out new", "none: no such folder"),
    (
        "bundle.quantize --data empty --features features.onnx --out new",
        "expected plates/plates.json under the data folder empty, found none",
    ),
    ("bundle.quantize --data empty --features features.onnx --out none/new", "none: no such folder"),
    ("bundle.record --bundle empty --evaluation text --pairs p", "text: not JSON ("),
]
WITH_TORCH = [
    ("train --config none.toml --cache cache --out new", "none.toml: no such file"),
    ("train --config config.toml --cache none --out new", "none: no such folder"),
    ("train --config config.toml --cache empty --out new", "no complete shard in empty"),
    (
        "train --config config.toml --cache cache --out new",
        "cache/00000000-00000001: lacks coarse.npy, expected a shard of training.data.cache",
    ),
    ("train --config config.toml --cache cache --out new --start-from none.pt", "none.pt: no such file"),
    ("bundle.calibrate --checkpoint run.pt --heldout none --out new", "none: no such folder"),
    ("bundle.calibrate --checkpoint run.pt --heldout cache --out none/new", "none: no such folder"),
    ("soup --checkpoints run.pt none.pt --heldout cache --out new", "none.pt: no such file"),
    ("soup --checkpoints run.pt text --heldout cache --out new", "text: is not a checkpoint of training.train ("),
    (f"{EVALUATE} --manifest none.ndjson", "none.ndjson: no such file"),
    (f"{EVALUATE.replace('features.onnx', 'none.onnx')} --manifest pairs.ndjson", "none.onnx: no such file"),
    (EXPORT.replace("run.pt", "text") + " --calibration full.json", "text: is not a checkpoint of training.train ("),
    (
        EXPORT.replace("run.pt", "list.pt") + " --calibration full.json",
        "list.pt: is not a checkpoint of training.train: holds a list",
    ),
    (f"{EXPORT} --calibration none.json", "none.json: no such file"),
    (f"{EXPORT} --calibration text", "text: not JSON ("),
    (f"{EXPORT} --calibration calibration.json", "calibration.json: lacks calibration.operating_points"),
    (f"{EXPORT} --calibration facts.json", "facts.json: lacks hedge.share"),
]


def refusal(command: str, monkeypatch) -> str:
    name, *arguments = command.split()
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with pytest.raises(SystemExit) as refused:
        importlib.import_module(f"training.{name}").main()
    return refused.value.code


@pytest.mark.parametrize(
    "command, line", [*WITHOUT_TORCH, *(pytest.param(*case, marks=needs_torch) for case in WITH_TORCH)]
)
def test_bad_input_is_one_line_and_nothing_is_written(folder: Path, monkeypatch, command: str, line: str):
    before = sorted(folder.rglob("*"))
    message = refusal(command, monkeypatch)
    assert isinstance(message, str) and message.startswith(line)  # a text: Python prints it and exits with 1
    assert "\n" not in message
    assert sorted(folder.rglob("*")) == before


@needs_torch
def test_a_checkpoint_of_another_version_of_the_model_is_one_line(folder: Path):
    from training.learn.checkpoint import load_run

    torch.save(
        {"config": {"world": "surveillance", "model": {"wings": 2}}, "labels": {}, "difference": {}, "captioner": {}},
        folder / "old.pt",
    )
    with pytest.raises(SystemExit, match=r"old.pt: is of another version of the model \(.*wings"):
        load_run(folder / "old.pt")
    with pytest.raises(SystemExit, match=r"run.pt: is of another version of the model \('model'\)"):
        load_run(folder / "run.pt")


def test_a_line_that_is_no_json_is_named(tmp_path):
    (tmp_path / "lines.ndjson").write_text('{"id": "a"}\n\n{"id":\n')
    with pytest.raises(SystemExit, match=r"lines.ndjson: line 3 is not JSON"):
        read_ndjson(tmp_path / "lines.ndjson")
    (tmp_path / "lines.ndjson").write_text('{"id": "a"}\n\n{"id": "b"}\n')
    assert read_ndjson(tmp_path / "lines.ndjson") == [{"id": "a"}, {"id": "b"}]
