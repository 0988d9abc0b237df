"""Calibration on separable and overlapping classes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from training.bundle.calibrate import operating_point, platt


def test_platt_scaling_is_finite_for_overlapping_and_for_nearly_separable_classes():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 2, 4000)
    changed = (rng.random(4000) < 1 / (1 + np.exp(-(1.5 * x - 0.5)))).astype(float)
    scale, offset = platt(x, changed)
    assert (scale, offset) == (pytest.approx(1.5, abs=0.15), pytest.approx(-0.5, abs=0.15))
    far = np.concatenate([rng.normal(-12, 6, 270), rng.normal(14, 6, 330)])
    scale, offset = platt(far, (np.arange(600) >= 270).astype(float))
    assert 0.1 < scale < 5
    assert abs(offset) < 5


@pytest.mark.parametrize("probability", [0.1234564, 0.1234566, 0.123456, 0.5, 0.0, 0.9999985])
def test_a_threshold_lies_just_above_the_unchanged_pair_to_exclude(probability):
    point = operating_point(np.array([probability, 0.0, probability, 1.0]), np.array([0, 0, 1, 1]), 0.1)
    assert probability < point["threshold"] <= probability + 1.1e-6
    assert point["threshold"] == round(point["threshold"], 6)
    assert point["recall"] == 0.5  # of the pair as sure as that one: not found, as served


def test_a_logit_that_is_no_evidence_gives_every_pair_the_share_of_changes():
    changed = np.array([1.0, 1.0, 1.0, 0.0])
    for logits in (np.zeros(4), np.array([-1.0, -2.0, -3.0, 5.0])):
        scale, offset = platt(logits, changed)
        assert 0 < scale <= 1e-6
        assert 1 / (1 + np.exp(-offset)) == pytest.approx(4 / 6)
