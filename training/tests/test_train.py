"""The training command: an interrupted run resumes to the same weights, and inputs are checked before anything is
written."""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from training import train
from training.bundle.manifest import command_of
from training.contract import SPECIALS
from training.data.batches import Labels, PairCache, derive_evidence
from training.data.cache import layout
from training.learn import settings
from training.learn.run import Run
from training.tests.networks import TINY_CONFIG

LOOK = (96, 64)  # 4 x 6 cells
WORDS = ["a", "car", "came", "went"]


def add_shard(cache: Path, first: int, pairs: int = 8) -> None:
    rng, folder = np.random.default_rng(first), cache / f"{first:08d}-{first + pairs:08d}"
    folder.mkdir(parents=True)
    for name, shape in layout(4, 5, LOOK).items():
        np.save(folder / f"{name}.npy", rng.random((pairs, *shape)).astype(np.float16))
    lines = [
        {
            "kind": ("none", "appear")[i % 2],
            "captions": ["a car came", "a car went"],
            "nuisances": [],
            "glances": [],
            "objects": [],
            "frame": [96, 64],
        }
        for i in range(pairs)
    ]
    (folder / "meta.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


class Started:
    """`python -m training.train` in this process, in a folder of its own; `steps` as if it were killed after so
    many."""

    def __init__(self, root: Path, monkeypatch):
        self.root, self.monkeypatch = root, monkeypatch
        (root / "tiny.toml").write_text(TINY_CONFIG)
        (root / "labels.json").write_text(
            json.dumps({"vocabulary": [*SPECIALS, *WORDS], "nouns": ["car"], "colours": ["red"]})
        )

    def __call__(
        self, out: str, *more: str, caches: tuple[str, ...] = ("a",), killed_after: int = 99, each=lambda step: None
    ) -> Path:
        all_losses, done = train.step_losses, 0

        def step(run, batch):
            nonlocal done
            if done == killed_after:
                raise KeyboardInterrupt
            done += 1
            each(run.step)
            return all_losses(run, batch)

        arguments = [
            "train",
            "--config",
            self.root / "tiny.toml",
            "--cache",
            *(self.root / c for c in caches),
            "--out",
            self.root / out,
            "--labels",
            self.root / "labels.json",
            *more,
        ]
        with self.monkeypatch.context() as patch:
            patch.setattr(sys, "argv", list(map(str, arguments)))
            patch.setattr(train, "step_losses", step)
            try:
                train.main()
            except KeyboardInterrupt:
                pass
        return self.root / out


@pytest.fixture
def start(tmp_path: Path, monkeypatch) -> Started:
    return Started(tmp_path, monkeypatch)


def assert_same_weights(one: Path, other: Path) -> None:
    a, b = (torch.load(folder / "checkpoint.pt", weights_only=False) for folder in (one, other))
    assert a["step"] == b["step"]
    for part in ("difference", "captioner", "cbr", "average"):
        for name, tensor in a[part].items():
            torch.testing.assert_close(tensor, b[part][name], rtol=0, atol=0, msg=f"{part}.{name}")


@pytest.mark.parametrize(
    "pairs, killed_after", [(8, 2), (6, 1)]
)  # at the end of an epoch of whole batches, and of one with a rest
def test_a_resumed_run_ends_in_the_same_weights(start, pairs, killed_after):
    add_shard(start.root / "a", 0, pairs)
    uncut = start("whole")
    start("cut", killed_after=killed_after)
    assert_same_weights(start("cut"), uncut)


def test_a_run_that_is_out_of_time_ends_with_its_weights(start):
    add_shard(start.root / "a", 0)
    ended = start("short", "--minutes", "0.0001")
    assert torch.load(ended / "checkpoint.pt", weights_only=False)["step"] == 1
    [line] = (ended / "log.ndjson").read_text().splitlines()
    assert json.loads(line)["step"] == 1
    assert torch.load(start("long") / "checkpoint.pt", weights_only=False)["step"] > 1


def test_pairs_keep_their_numbers_if_a_cache_has_grown_between_the_folders(start):
    add_shard(start.root / "a", 100)
    add_shard(start.root / "b", 0)
    grow = lambda step: (
        step == 1 and add_shard(start.root / "a", 0)
    )  # a fresh process would read it first; the second epoch takes it in last
    uncut = start("whole", caches=("a", "b"), each=grow)
    assert [line["pairs"] for line in map(json.loads, (uncut / "log.ndjson").read_text().splitlines())] == [16] * 4 + [
        24
    ] * 2
    for killed_after in (3, 5):  # in the first epoch, which has not seen the new shard, and in the second
        shutil.rmtree(start.root / "a")
        add_shard(start.root / "a", 100)
        cut = f"cut{killed_after}"
        start(cut, caches=("a", "b"), each=grow, killed_after=killed_after)
        assert_same_weights(start(cut, caches=("a", "b")), uncut)


def test_a_missing_shard_is_named(start):
    add_shard(start.root / "a", 0)
    start("run", killed_after=1)
    shutil.rmtree(start.root / "a")
    add_shard(start.root / "a", 8)
    with pytest.raises(SystemExit, match="--cache: lacks 1 of the 1 shards .* 1 a/00000000-00000008"):
        start("run")


def test_another_seed_is_refused(start):
    add_shard(start.root / "a", 0)
    start("run", killed_after=1)
    with pytest.raises(SystemExit, match=r"checkpoint.pt: was trained with --seed 1, expected 2"):
        start("run", "--seed", "2")


def test_a_cache_reads_only_the_given_shards_until_it_is_refreshed(tmp_path):
    for first in (0, 8, 16):
        add_shard(tmp_path / "a", first)
    names = list(PairCache([tmp_path / "a"]).known)
    cache = PairCache([tmp_path / "a"], [names[2], names[0]])
    assert list(cache.known) == [names[2], names[0]] and len(cache) == 16
    cache.refresh()
    assert list(cache.known) == [names[2], names[0], names[1]]


def test_shards_of_other_features_are_refused_and_shards_without_made_json_are_read(tmp_path):
    for first in (0, 8, 16):
        add_shard(tmp_path / "a", first)
    write_made = lambda shard, **made: (tmp_path / "a" / shard / "made.json").write_text(json.dumps(made))
    write_made("00000000-00000008", features="f", look=[96, 64], split="train", maps=None)
    write_made("00000008-00000016", features="f", look=[96, 64], split="train", maps="m")
    assert len(PairCache([tmp_path / "a"])) == 24
    write_made("00000008-00000016", features="g", look=[96, 64], split="train", maps=None)
    with pytest.raises(SystemExit, match="00000008-00000016: was made with features g, expected f"):
        PairCache([tmp_path / "a"])


def test_a_checkpoint_and_its_bundle_record_the_starting_checkpoint(start):
    add_shard(start.root / "a", 0)
    first = start("first", killed_after=2)
    second = start("second", "--start-from", str(first / "checkpoint.pt"), "--seed", "7", killed_after=1)
    start("second", "--seed", "7", killed_after=2)  # goes on: still knows
    saved = torch.load(second / "checkpoint.pt", weights_only=False)
    digest = hashlib.sha256((first / "checkpoint.pt").read_bytes()).hexdigest()
    assert saved["start_from"] == {"file": "checkpoint.pt", "sha256": digest, "seed": 1, "step": 2, "start_from": None}
    assert command_of(saved) == (
        "python -m training.train --config training/configs/tiny.toml --seed 7 --set train.steps=6"
        " --set train.learning_rate=0.001 --start-from checkpoint.pt"
        f" (kept at step 3; started from checkpoint.pt of sha256 {digest}, seed 1, step 2;"
        " the other values: configuration)"
    )
    assert "; started from random weights; " in command_of(torch.load(first / "checkpoint.pt", weights_only=False))
    older = {name: value for name, value in saved.items() if name != "start_from"}
    assert "; what it started from is not recorded; " in command_of(older)
    torch.save(older, second / "checkpoint.pt")
    start("second", "--seed", "7", killed_after=1)
    assert "start_from" not in torch.load(second / "checkpoint.pt", weights_only=False)
    both = saved | {"soup": [{"seed": 7, "step": 3}, {"seed": 8, "step": 4}]}
    assert "kept at step 3, 4; " in command_of(both) and command_of(both).endswith(
        "; the mean of seeds 7, 8 by python -m training.soup)"
    )


def test_two_trainings_may_derive_the_evidence_of_one_shard_at_once(tmp_path, monkeypatch):
    add_shard(tmp_path / "a", 0)
    shard = next((tmp_path / "a").iterdir())
    (shard / "evidence.npy").unlink(missing_ok=True)
    pid, save = os.getpid(), np.save

    def save_while_the_other_does_all(path, values):
        save(path, values)
        with monkeypatch.context() as other:
            other.setattr(np, "save", save)
            other.setattr(os, "getpid", lambda: pid + 1)
            derive_evidence(shard)

    monkeypatch.setattr(np, "save", save_while_the_other_does_all)
    derive_evidence(shard)
    assert [p.name for p in shard.iterdir() if "evidence" in p.name] == ["evidence.npy"]


def test_the_random_state_of_a_gpu_is_saved_and_restored(tmp_path, monkeypatch):
    config = {
        "world": "surveillance",
        "model": {"width": 16, "heads": 2, "map_width": 8, "max_length": 6},
        "train": {"learning_rate": 1e-3, "weight_decay": 0.0},
    }
    run = Run(config, Labels([*SPECIALS, "w"], ["car"], ["red"]), 1, "cpu")
    run.device, given = torch.device("cuda"), []  # stands in for a GPU
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: torch.tensor([7], dtype=torch.uint8))
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: given.append((state.tolist(), device)))
    run.save(tmp_path / "checkpoint.pt")
    run.restore(tmp_path / "checkpoint.pt")
    assert given == [([7], run.device)]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_dropout_on_a_gpu_resumes_its_random_stream(start):
    add_shard(start.root / "a", 0)
    draw = lambda: torch.rand(3, device="cuda").tolist()
    out = start("run", "--device", "cuda", killed_after=3)
    run = lambda: Run(
        settings.load_config(start.root / "tiny.toml", []),
        Labels(**json.loads((out / "labels.json").read_text())),
        1,
        "cuda",
    )
    one, other = run(), run()
    one.restore(out / "checkpoint.pt")
    expected = draw()
    other.restore(out / "checkpoint.pt")
    assert draw() == expected


def test_mistyped_labels_are_named_and_nothing_is_written(start):
    add_shard(start.root / "a", 0)
    with pytest.raises(SystemExit, match="lables.json: no such file"):
        start("run", "--labels", str(start.root / "lables.json"))
    assert not (start.root / "run").exists()


def test_wrong_labels_for_a_resumed_run_leave_its_own_unchanged(start):
    add_shard(start.root / "a", 0)
    out = start("run", killed_after=1)
    before = (out / "labels.json").read_text()
    (start.root / "other.json").write_text(json.dumps({"vocabulary": [*SPECIALS, "other"], "nouns": [], "colours": []}))
    with pytest.raises(SystemExit, match="was trained with other labels"):
        start("run", "--labels", str(start.root / "other.json"))
    assert (out / "labels.json").read_text() == before
