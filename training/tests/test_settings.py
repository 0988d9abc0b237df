"""Settings of a training: every name is checked, and the committed configs load."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

from training import train
from training.learn import settings
from training.tests.networks import TINY_CONFIG


@pytest.mark.parametrize(
    "override, answer",
    [
        ("train.step=10", "there is no train.step; did you mean steps?"),
        ("model.widht=8", "there is no model.widht; did you mean width?"),
        ("model.nouns=[]", "there is no model.nouns; "),
        ("train.weights={captoin = 1.0}", "there is no train.weights.captoin; did you mean caption?"),
        ("train.kind_weights={nothing = 2.0}", "there is no train.kind_weights.nothing; "),
        ("train.zzz=1", "there is no train.zzz; known are average, batch, "),
        ("train.steps=ten", "'ten' is not a TOML value"),
        ("trian.steps=10", "expected SECTION.NAME=VALUE with a section of "),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(tmp_path, override, answer):
    (tmp_path / "tiny.toml").write_text(TINY_CONFIG)
    with pytest.raises(SystemExit) as refused:
        settings.load_config(tmp_path / "tiny.toml", [override])
    assert str(refused.value).startswith(f"--set {override}: ") and answer in str(refused.value)


@pytest.mark.parametrize(
    "old, new, answer",
    [
        ("batch = 4", "batches = 4", "there is no train.batches; did you mean batch?"),
        ("batch = 4", "", "train lacks batch"),
        ("[model]", "[modle]", "there is no modle; did you mean model?"),
        ('name = "tiny"', "name = tiny", "not TOML ("),
    ],
)
def test_a_config_with_a_wrong_or_a_missing_name_is_refused(tmp_path, old, new, answer):
    (tmp_path / "tiny.toml").write_text(TINY_CONFIG.replace(old, new))
    with pytest.raises(SystemExit) as refused:
        settings.load_config(tmp_path / "tiny.toml", [])
    assert str(refused.value).startswith(f"{tmp_path / 'tiny.toml'}: {answer}")


ROOT = Path(train.__file__).parents[1]
CONFIGS = [*(ROOT / "training/configs").glob("*.toml"), *(ROOT / "research/clevr").glob("*.toml")]


@pytest.mark.parametrize("path", sorted(CONFIGS), ids=lambda path: path.stem)
def test_the_committed_configs_are_known(path):
    assert settings.load_config(path, ["train.steps=1"])["train"]["steps"] == 1
