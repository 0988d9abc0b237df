"""The mean of seeds' weights."""

import pytest

torch = pytest.importorskip("torch")

from training.learn.loop import mean_of
from training.soup import soup


def checkpoint(seed: int, width: int = 16) -> dict:
    part = {"weight": torch.full((2, 2), float(seed)), "positions": torch.tensor([seed])}
    return {
        "config": {"model": {"width": width}},
        "labels": {"nouns": ["car"]},
        "seed": seed,
        "step": 10 * seed,
        "difference": part,
        "captioner": part,
        "cbr": part,
    }


def test_floats_are_averaged_and_counters_are_the_first_ones():
    mean = mean_of(
        [
            {"w": torch.tensor([1.0, 3.0]), "n": torch.tensor([7])},
            {"w": torch.tensor([3.0, 5.0]), "n": torch.tensor([9])},
        ]
    )
    torch.testing.assert_close(mean["w"], torch.tensor([2.0, 4.0]))
    assert mean["n"].tolist() == [7]


def test_a_soup_is_a_checkpoint_that_records_its_parts():
    mean = soup([checkpoint(1), checkpoint(2), checkpoint(6)], ["a", "b", "c"])
    torch.testing.assert_close(mean["captioner"]["weight"], torch.full((2, 2), 3.0))
    assert mean["soup"] == [{"seed": 1, "step": 10}, {"seed": 2, "step": 20}, {"seed": 6, "step": 60}]


def test_another_model_is_named():
    with pytest.raises(SystemExit, match="b.pt: is of another model"):
        soup([checkpoint(1), checkpoint(2, width=32)], ["a.pt", "b.pt"])
