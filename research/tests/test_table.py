"""The table of captioners: its batches and sentences, its config, rows that resume, and the command."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from research.captioners import table as command
from research.captioners.judging import recall_at, served_figures
from research.captioners.row import Row
from research.captioners.scenes import SceneBatches, labels_of
from research.captioners.table_config import TableConfig
from research.captioners.table_text import table_text
from research.clevr import grammar
from research.clevr.cache import write_shard
from research.clevr.family_cache import FamilyCache
from research.clevr.plugin import WORLD
from research.clevr.pretraining import FALSE_CAPTIONS, false_captions
from research.tests.test_clevr_family import FakeFeatures
from training.net.config import ModelConfig

TINY = (
    (command.CONFIG.read_text().split("[rows.blind]")[0])
    .replace("width = 256", "width = 16\ncoarse_channels = 4\nfine_channels = 4")
    .replace("heads = 8", "heads = 2")
    .replace("contrast_group = 16", "contrast_group = 2")
    .replace("scenes = 16", "scenes = 2")
    .replace("steps = 1500", "steps = 4")
    .replace("steps = 300", "steps = 1")
    .replace("probe = 200", "probe = 1")
    .replace("save_every = 100", "save_every = 1")
    + """
[rows.duda]
architecture = "duda"
[rows.pcl]
architecture = "idc_pcl"
options = { ffn = 16, mlm = 1.0, mvcl = 1.0, fda = 1.0 }
[rows.clip]
architecture = "clip4idc"
extra = true
options = { vision_width = 16, vision_heads = 2, vision_ffn = 16, layers = 1, ffn = 16 }
"""
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("scenes")
    assert write_shard(FakeFeatures(), range(2), "train", out)
    return out


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> TableConfig:
    path = tmp_path_factory.mktemp("config") / "tiny.toml"
    path.write_text(TINY)
    return TableConfig.read(path)


@pytest.fixture(scope="module")
def data(folder: Path, config: TableConfig) -> SceneBatches:
    cache = FamilyCache([folder])
    labels = labels_of(cache, WORLD)
    return SceneBatches(cache, labels, ModelConfig(**config.model, vocabulary=labels.vocabulary), WORLD)


def words(data: SceneBatches, ids: list[int]) -> str:
    vocabulary = data.config.vocabulary
    return " ".join(vocabulary[i] for i in ids if i > 3)


def row(config: TableConfig, data: SceneBatches, name: str, steps: int = 4) -> Row:
    from research.captioners.pair_network import make_reader

    torch.manual_seed(1)
    reader = make_reader(data.config, WORLD).state_dict()
    return Row(config.of_row(name, steps, 1e-3), labels_of(data.cache, WORLD), reader, 1)


def test_both_streams_of_a_scene_begin_with_one_view(data: SceneBatches):
    firsts = set()
    for seed in range(8):
        indices = data.cache.two_streams([1, 0], np.random.default_rng(seed))
        metas = [data.cache.meta[i] for i in indices]
        assert [m["scene"] for m in metas] == [1, 0, 1, 0]
        assert [bool(m["objects"]) for m in metas] == [True, True, False, False]
        assert [m["views"][0] for m in metas[:2]] == [m["views"][0] for m in metas[2:]]
        firsts |= {m["views"][0] for m in metas}
    assert firsts == {0, 1, 2}


def test_false_captions_are_six_and_none_is_true(data: SceneBatches):
    others = [m["captions"][0] for m in data.cache.meta if m["objects"]]
    for i, meta in enumerate(data.cache.meta):
        if not meta["objects"]:
            continue
        texts = false_captions(meta, others, np.random.default_rng(i))
        assert len(set(texts)) == FALSE_CAPTIONS
        for text in texts:
            unchanged, (_, _, everything) = grammar.judge(text, meta["objects"][0])
            assert not unchanged
            assert not everything, (text, meta["captions"])


def test_coupled_sentences_are_of_the_scene_and_the_next_one(data: SceneBatches):
    b = data.two_streams([0, 1], np.random.default_rng(3))
    first, second = (words(data, ids) for ids in b["coupled_ids"].tolist())
    assert first.startswith("there is a ")
    assert first.split(" and ") == [f"there is {second.split(' and ')[1]}", second.split(" and ")[0][9:]]


def test_every_row_sees_the_scenes_in_one_order_and_an_epoch_sees_each_once(data: SceneBatches):
    one, again = ([data.scenes_of(step, 1, 7) for step in range(4)] for _ in range(2))
    assert one == again
    assert sorted(one[0] + one[1]) == sorted(one[2] + one[3]) == [0, 1]
    with pytest.raises(SystemExit, match="the cache has 2 scenes, a step takes 3"):
        data.scenes_of(0, 3, 7)


def test_stages_share_the_steps(config: TableConfig, data: SceneBatches):
    pcl = row(config, data, "pcl", 9)
    assert [pcl.stage_at(step)[0].name for step in range(9)] == ["pretraining"] * 6 + ["finetuning"] * 3
    assert pcl.stage_at(7)[1:] == (6, 9)


def test_a_resumed_row_ends_as_one_that_was_not_stopped(tmp_path: Path, config: TableConfig, data: SceneBatches):
    uncut = row(config, data, "pcl")
    uncut.train(data, 4, print)
    first = row(config, data, "pcl")
    first.train(data, 2, print)
    first.save(tmp_path / "checkpoint.pt")
    resumed = row(config, data, "pcl")
    resumed.restore(tmp_path / "checkpoint.pt")
    resumed.train(data, 4, print)
    ours = resumed.difference.state_dict()
    assert all(torch.equal(value, ours[name]) for name, value in uncut.difference.state_dict().items())
    with pytest.raises(SystemExit, match="was trained with another config"):
        row(config, data, "pcl", steps=5).restore(tmp_path / "checkpoint.pt")


def test_kept_tokens_give_the_batch_of_the_features(config: TableConfig, data: SceneBatches):
    trained, asked = row(config, data, "duda"), ([1, 0], np.random.default_rng([4]))
    kept = SceneBatches(data.cache, labels_of(data.cache, WORLD), data.config, WORLD)
    kept.keep(trained.difference, torch.device("cpu"))
    one = trained.with_tokens(data.two_streams(*asked))
    other = trained.with_tokens(kept.two_streams(asked[0], np.random.default_rng([4])))
    assert "coarse" not in other
    for name, value in other.items():
        assert torch.allclose(value.float(), one[name].float(), rtol=1e-3, atol=1e-3), name
    assert one["before"].std() > 0.1 and other["masks"][:2].amax() > 0.5


def test_a_row_ends_its_schedule_when_its_minutes_are_over(config: TableConfig, data: SceneBatches, tmp_path: Path):
    late = row(config, data, "pcl", 9)
    late.config["train"]["minutes"] = 2.0
    late.wall_s = 84.0
    assert late.place() == 6
    lines = []
    late.train(data, 9, lambda line: (lines.append(line), setattr(late, "wall_s", late.wall_s + 20)))
    assert [line["stage"] for line in lines] == ["finetuning"] * 2
    assert late.step == 2
    late.save(tmp_path / "checkpoint.pt")
    resumed = row(config, data, "pcl", 9)
    resumed.config["train"]["minutes"] = 2.0
    resumed.restore(tmp_path / "checkpoint.pt")
    resumed.train(data, 9, lambda line: pytest.fail("the minutes are over"))


def run(monkeypatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["table", *arguments])
    command.main()


def test_the_command_trains_judges_prints_and_skips_finished_rows(tmp_path: Path, folder: Path, monkeypatch, capsys):
    (tmp_path / "tiny.toml").write_text(TINY)
    arguments = ["--config", str(tmp_path / "tiny.toml"), "--cache", str(folder), "--heldout", str(folder)]
    arguments += ["--out", str(tmp_path / "out"), "--rows", "duda", "clip", "--rates", "1e-3", "2e-3"]
    run(monkeypatch, *arguments, "--train-only")
    assert (tmp_path / "out/duda-1/checkpoint.pt").exists()
    assert not (tmp_path / "out/table.md").exists()
    run(monkeypatch, *arguments)
    printed = (tmp_path / "out/table.md").read_text()
    assert printed in capsys.readouterr().out
    assert "one seed" in printed
    lines = {line.split(" | ")[0][2:]: line.split(" | ") for line in printed.splitlines() if line.startswith("| ")}
    assert lines["duda"][5] == "-"  # no retrieval
    assert float(lines["clip"][7]) >= float(lines["clip"][5]) >= 0
    steps = [json.loads(line)["step"] for line in (tmp_path / "out/duda-1/log.ndjson").read_text().splitlines()]
    assert steps == [1, 2, 3, 4]
    assert set(json.loads((tmp_path / "out/clip-1/rate.json").read_text())["losses"]) == {"0.001", "0.002"}

    monkeypatch.setattr(Row, "train", lambda *_: pytest.fail("a finished row was trained again"))
    run(monkeypatch, *arguments)
    assert (tmp_path / "out/table.md").read_text() == printed


@pytest.mark.parametrize(
    "change, message",
    [
        (("probe = 1", "prob = 1"), "train: there is no prob; known are"),
        (("[rows.duda]\narchitecture", "[rows.duda]\narchitektur"), "rows.duda: there is no architektur"),
        (("width = 16", "widht = 16"), "model: there is no widht"),
        (("[reader]", "[reader"), "not TOML"),
    ],
)
def test_a_fault_of_the_config_is_named(tmp_path: Path, change: tuple[str, str], message: str):
    path = tmp_path / "bad.toml"
    path.write_text(TINY.replace(*change))
    with pytest.raises(SystemExit, match=message):
        TableConfig.read(path)


def test_the_config_that_ships_names_known_switches_alone():
    from research.captioners import options_of

    shipped = TableConfig.read(command.CONFIG)
    for name in shipped.rows:
        options_of(ModelConfig(**shipped.of_row(name, 1, 1e-4)["model"]))
    with pytest.raises(SystemExit, match="there is no row 'dudda'"):
        shipped.chosen(["dudda"])


def test_recall_counts_a_tie_half():
    similarity = torch.tensor([[0.9, 0.1, 0.1], [0.5, 0.5, 0.2], [0.9, 0.8, 0.1]])
    assert recall_at(similarity, torch.tensor([0, 0, 2])) == {"R@1": 0.3333, "R@5": 1.0, "R@10": 1.0}


def test_the_table_has_the_figures_of_the_report_and_their_spread():
    words = {"ciderD": 1.25}
    rate = {"rate": 0.5}
    report = {
        "captioner": {
            "words": {"all": words, "changed": {"ciderD": 0.5}},
            "alarms": {"verdict": rate, "auroc": 0.75},
            "facts": {"noun": rate, "colour": {"rate": None}},
            "place": {"game": rate},
        },
        "parts": [{"by": "kind", "name": "none", "words": words}, {"by": "view", "name": "none", "words": None}],
        "constant": {"words": {"all": {"ciderD": 0.89}, "changed": {"ciderD": 0.033}}},
    }
    served = served_figures(report) | {"ms": 12.0}
    heldout = {"verdict": 0.5, "auroc": 0.5, "colour": 0.25, "pointing": 0.0}
    runs = [
        {"heldout": heldout, "served": served, "parameters": 2_000_000, "steps": 1500, "cpu_h": 1.0},
        {"heldout": heldout | {"verdict": 0.7}, "served": served, "parameters": 2_000_000, "steps": 1500, "cpu_h": 3.0},
    ]
    text = table_text({"duda": runs})
    assert "mean and standard deviation of 2 seeds" in text
    assert "| duda | 60.0 ± 14.1 |" in text
    assert "| constant | 89.0 | 3.3 | - |" in text
    assert "| duda | 125.0 ± 0.0 | 50.0 ± 0.0 | 50.0 ± 0.0 | 75.0 ± 0.0 | 50.0 ± 0.0 | - | 50.0 ± 0.0 |" in text
    assert text.rstrip().endswith("125.0 ± 0.0 | 12.0 ± 0.0 |")


def test_the_log_has_how_often_the_true_sentence_comes_first(config: TableConfig, data: SceneBatches):
    pcl = row(config, data, "pcl", 30)
    lines = []
    pcl.train(data, 12, lines.append)
    assert {"mlm", "mvcl", "fda"} == {line["task"] for line in lines}
    for line in lines:
        assert line["cpu_s"] > 0
        assert ("fda_right" in line) == (line["task"] == "fda")
        assert 0 <= line.get("fda_right", 0.0) <= 1
