"""The difference encoder and the loss of its maps, on a small random network."""

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from training.net.config import ModelConfig
from training.net.difference import Difference
from training.net.losses import map_loss
from training.tests.networks import random_frames, small_config


@pytest.fixture(scope="module")
def config() -> ModelConfig:
    return small_config()


def test_swapping_the_frames_swaps_the_maps(config):
    difference = Difference(config).eval()
    cb, fb, ca, fa = random_frames(config, 2)
    forward, backward = difference(cb, fb, ca, fa), difference(ca, fa, cb, fb)
    assert torch.allclose(forward["logits_before"], backward["logits_after"], atol=1e-5)
    assert torch.allclose(forward["logits_after"], backward["logits_before"], atol=1e-5)


def test_the_exchanged_outputs_are_those_of_the_swapped_frames(config):
    difference = Difference(config).eval()
    cb, fb, ca, fa = random_frames(config, 2)
    forward, backward = difference(cb, fb, ca, fa), difference(ca, fa, cb, fb)
    exchanged = difference.exchanged(*forward["sides"])
    for name in ("memory", "kind_logits"):
        assert torch.allclose(exchanged[f"exchanged_{name}"], backward[name], atol=1e-5)
        assert not torch.allclose(forward[name], backward[name], atol=1e-3)


def test_served_maps_are_the_maps_times_the_probability_of_a_change(config):
    d = Difference(config).eval()(*random_frames(config, 2))
    gate = torch.sigmoid(d["change_logit"])[:, None, None]
    assert torch.allclose(d["map_before"], torch.sigmoid(d["logits_before"]) * gate, atol=1e-6)
    assert torch.allclose(d["map_after"], torch.sigmoid(d["logits_after"]) * gate, atol=1e-6)


def test_map_loss_prefers_the_true_map():
    coverage = torch.zeros(1, 8, 8)
    coverage[0, 2:4, 2:4] = 1.0
    right = torch.where(coverage > 0, 6.0, -6.0)
    assert map_loss(right, coverage) < 0.2 < map_loss(-right, coverage)
    assert map_loss(torch.full_like(right, -6.0), torch.zeros_like(coverage)) < 0.05
