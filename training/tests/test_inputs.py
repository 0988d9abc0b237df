"""What is missing or of the wrong kind ends a command in one line that names it, and nothing is written."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, save

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
EVALUATE = "evaluate --checkpoint run.pt --features features.onnx"
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
    ("text.reword none", "none: no such folder"),
    ("text.reword text", "text: is a file, expected a folder"),
    (
        "text.reword cache",
        "cache/00000000-00000001: lacks glance_object_box.npy, glance_box.npy, meta.jsonl, expected what training.data.cache wrote",
    ),
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
    (f"{EVALUATE} --manifest text", "text:1: not JSON ("),
    (f"{EVALUATE} --manifest pairs.ndjson --predictions new", "pairs.ndjson:1: before: gone.png: no such file"),
    (
        "evaluate --checkpoint text --features features.onnx --manifest good.ndjson",
        "text: is not a checkpoint of training.train (",
    ),
    (
        "evaluate --checkpoint list.pt --features features.onnx --manifest good.ndjson",
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
    good = {"id": "1", "before": "text", "after": "text"}
    (folder / "good.ndjson").write_text(json.dumps(good) + "\n")
    before = sorted(folder.rglob("*"))
    said = refusal(command, monkeypatch)
    assert isinstance(said, str) and said.startswith(line)  # a text: Python prints it and exits with 1
    assert "\n" not in said
    assert sorted(folder.rglob("*")) == before


@needs_torch
class TestFigures:
    prediction = {
        "verdict": "change",
        "kind": "appear",
        "caption": "a car has appeared",
        "logit": 1.0,
        "size": [64, 48],
        "peak_before": {"x": 0.5, "y": 0.5, "value": 0.9},
        "peak_after": {"x": 0.5, "y": 0.5, "value": 0.9},
    }

    def of(self, *pairs: dict) -> dict:
        from training.evaluate import quick_figures

        least = {"id": "1", "before": "a", "after": "b", "references": ["a car came"]}
        return quick_figures([least | pair for pair in pairs], [self.prediction] * len(pairs))

    def test_a_pair_of_which_nothing_is_known_has_none(self):
        assert self.of({}) == {"pairs": 0}

    def test_a_verdict_alone_asks_for_the_verdict_alone(self):
        assert self.of({"verdict": "change"}, {}, {"verdict": "none"}) == {
            "pairs": 2,
            "auroc": 0.5,
            "verdict": 0.5,
            "empty": 0.0,
        }

    def test_objects_need_not_tell_all_and_what_nobody_knows_is_passed_over(self):
        said = self.of(
            {
                "verdict": "change",
                "weather": "fine",
                "changed": True,
                "objects": [{"noun": "car", "colour": None, "shade": 3}, {"noun": None}],
            }
        )
        assert said == {"pairs": 1, "verdict": 1.0, "action": 0.0, "inverted": 0.0, "noun": 1.0, "colour": 1.0}

    def test_an_object_of_clevr_that_is_not_told_whole_is_left_out(self):
        assert self.of({"verdict": "change", "kind": "color", "changed": {"before": {"color": "red"}}}) == {
            "pairs": 1,
            "verdict": 1.0,
            "kind": 0.0,
        }


def test_reading_a_manifest_says_which_line(folder: Path):
    if torch is None:
        pytest.skip("needs torch")
    from training.evaluate import read_manifest

    good = {"id": "1", "before": "text", "after": "text", "weather": "fine"}
    for lines, reason in (
        ([good, "", good], '3: id "1" is that of line 1 already'),
        ([[1]], "1: is a list, expected an object"),
        ([{"id": "1"}], "1: lacks after, before"),
    ):
        (folder / "m.ndjson").write_text("".join((json.dumps(line) if line else "") + "\n" for line in lines))
        with pytest.raises(SystemExit, match=reason):
            read_manifest(folder / "m.ndjson")
    (folder / "m.ndjson").write_text(json.dumps(good) + "\n\n")
    assert read_manifest(folder / "m.ndjson") == [good]


@needs_torch
def test_kept_looks_of_other_features_or_of_another_size_are_refused(tmp_path: Path):
    from types import SimpleNamespace

    from training.evaluate import LookCache

    server = lambda features, look: SimpleNamespace(
        features=SimpleNamespace(sha256=features), c=SimpleNamespace(look=look), look=lambda frame: frame * 2
    )
    file = tmp_path / "looks"
    first = LookCache(server("f", (192, 288)), file)
    first(Path("a.png"), np.ones(3))
    first.save()
    assert [p.name for p in tmp_path.iterdir()] == ["looks"]
    assert LookCache(server("f", (192, 288)), file).looks["a.png"].tolist() == [2, 2, 2]
    for other in (("g", (192, 288)), ("f", (256, 384))):
        with pytest.raises(
            SystemExit, match="looks: was made with (features f, expected g|look .*); give another --looks"
        ):
            LookCache(server(*other), file)
    with open(file, "wb") as old:  # kept before they told
        np.savez(old, looks=np.array({"b.png": 1}, dtype=object))
    assert LookCache(server("g", (192, 288)), file).looks == {"b.png": 1}
    file.write_text("else")
    with pytest.raises(SystemExit, match="looks: is not what --looks keeps"):
        LookCache(server("g", (192, 288)), file)


@needs_torch
def test_a_checkpoint_of_another_version_of_the_model_is_one_line(folder: Path):
    from training.serve import load_run

    torch.save({"config": {"model": {"wings": 2}}, "labels": {}, "difference": {}, "captioner": {}}, folder / "old.pt")
    with pytest.raises(SystemExit, match=r"old.pt: is of another version of the model \(.*wings"):
        load_run(folder / "old.pt")
    with pytest.raises(SystemExit, match=r"run.pt: is of another version of the model \('model'\)"):
        load_run(folder / "run.pt")
