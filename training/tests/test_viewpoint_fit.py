"""The fit of the viewpoint's weights finds the weights that made a synthetic dump, and keeps the excluded
ones."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the fit needs scikit-learn")
from training.fits.samples import least_inliers  # noqa: E402
from training.fits.viewpoint import NUISANCES, OF_MOTION, OF_TAMPERING, SOFTNESS, TAMPERS, fit  # noqa: E402
from training.learn.logistic import RIDGE, cross_fitted_scores, fit_logistic, sigmoid  # noqa: E402

ROOT = Path(__file__).parents[2]
FITTED = json.loads((ROOT / "src/viewpoint/fitted.json").read_text())
# As in src/viewpoint/measure.ts: every measurement that any class of the shipped file weighs.
MEASUREMENTS = list(
    dict.fromkeys(n for kind in ("nuisances", "tampers") for m in FITTED[kind].values() for n in m["weights"])
)


def drawn(n: int, offset: float, weights: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """rows [n, d] and labels [n] of a logistic model"""
    random = np.random.default_rng(0)
    rows = random.normal(size=(n, len(weights))) * [1, 2, 0.5] + [0, 5, -1]
    return rows, random.uniform(size=n) < sigmoid(offset + rows @ weights)


def test_known_weights_are_recovered():
    weights = [1.5, -0.8, 0]
    rows, truths = drawn(40_000, 3.0, weights)
    offset, found = fit_logistic(rows, truths)
    assert found == pytest.approx(weights, abs=0.06)
    # Balanced classes move the offset by the log odds of the classes.
    assert offset == pytest.approx(3.0 - np.log(truths.mean() / (1 - truths.mean())), abs=0.15)


def test_the_fit_is_the_minimum_of_the_stated_loss():
    rows, truths = drawn(300, 3.0, [1.5, -0.8, 0])
    offset, weights = fit_logistic(rows, truths)
    n, positives = len(truths), truths.sum()
    target = np.where(truths, (positives + 1) / (positives + 2), 1 / (n - positives + 2))
    balance = n / (2 * np.where(truths, positives, n - positives))
    error = balance * (sigmoid(offset + rows @ weights) - target)
    deviation = rows.std(axis=0)
    standardised = (rows - rows.mean(axis=0)) / deviation
    assert error.sum() == pytest.approx(0, abs=1e-4)
    assert error @ standardised + RIDGE * weights * deviation == pytest.approx(np.zeros(3), abs=1e-4)


def test_a_separable_class_and_a_constant_measurement_keep_weights_finite():
    rows = np.stack([np.arange(20.0), np.ones(20)], axis=1)
    offset, weights = fit_logistic(rows, rows[:, 0] > 9.5)
    assert np.isfinite([offset, *weights]).all()
    assert weights[1] == pytest.approx(0, abs=1e-9)


def test_a_half_is_scored_by_weights_of_the_other():
    rows = np.concatenate([np.arange(10.0), np.arange(10.0)])[:, None]
    halves = np.repeat([0, 1], 10)
    truths = np.concatenate([np.arange(10) >= 5, np.arange(10) < 5])  # each half contradicts the other
    scores = cross_fitted_scores(rows, truths, halves)
    assert (scores[truths] < 0.5).all() and (scores[~truths] > 0.5).all()


def test_inliers_required_are_three_times_what_chance_reaches_and_at_least_eight():
    lines = [{"set": "noise", "inliers": i} for i in (0, 1, 1, 4, 9)]
    assert least_inliers(lines) == (15, [0, 1, 1, 4, 9])  # the 99 % quantile of five is the fourth
    assert least_inliers([{"set": "mixed", "variant": "turned", "inliers": 0}])[0] == 8


def dump(per_class: int = 30) -> list[dict]:
    """Pairs in which exactly one measurement, by 3 deviations, separates each class."""
    random = np.random.default_rng(1)
    lines = [{"set": "noise", "index": i, "inliers": int(random.integers(3))} for i in range(10)]
    for number in range(per_class):
        for kind in ("mixed", "alike"):
            for name in (None, *NUISANCES, *(TAMPERS if kind == "mixed" else ())):
                values = {m: float(random.normal()) for m in MEASUREMENTS}
                if name is not None:
                    values[telling(name)] += 6
                lines.append(
                    {
                        "set": kind,
                        "index": len(lines),
                        "variant": None,
                        "place": f"place {number % 10}",
                        "nuisance": name if name in NUISANCES else None,
                        "tamper": name if name in TAMPERS else None,
                        "inliers": 100,
                        "judgeable": True,
                        "measurements": values,
                        "bare": number % 3 == 0,
                        "measurements_if_refused": {m: 0.0 for m in MEASUREMENTS},
                        "bare_if_refused": False,
                        "margin": (-1.0 if name in ("blocked", "turned") else 0.2) + 0.01 * number,
                    }
                )
    return lines


def telling(name: str) -> str:
    strong = {"camera_moved": "displacement", "defocused": SOFTNESS}
    inputs = OF_TAMPERING[8:12] if name in TAMPERS else MEASUREMENTS[3:9]
    names = TAMPERS if name in TAMPERS else NUISANCES
    return strong.get(name) or inputs[names.index(name)]


def test_a_whole_fit_weighs_the_measurement_that_tells_each_class_most(capsys):
    fitted = fit(dump(), "a bundle 1.0.0")
    assert fitted["leastInliers"] == 9
    for models in (fitted["nuisances"], fitted["tampers"]):
        for name, model in models.items():
            assert max(model["weights"], key=model["weights"].get) == telling(name)
    assert fitted["joint"]["blocked"]["agreement"] < 0
    assert "features of a bundle 1.0.0" in fitted["figures"]["joint"][0]
    assert "leastInliers 9" in capsys.readouterr().out


def test_the_shipped_file_has_the_classes_and_measurements_of_this_fit():
    assert tuple(FITTED["nuisances"]) == NUISANCES
    assert tuple(FITTED["tampers"]) == tuple(FITTED["joint"]) == TAMPERS
    assert list(FITTED["nuisances"]["camera_moved"]["weights"]) == OF_MOTION
    assert set(FITTED["tampers"]["turned"]["weights"]) == set(OF_TAMPERING)


def test_a_fit_of_the_fusion_alone_keeps_the_rest(tmp_path):
    measurements, out = tmp_path / "dump.ndjson", tmp_path / "fit.json"
    measurements.write_text("".join(json.dumps(line) + "\n" for line in dump()))
    command = [sys.executable, "-m", "training.fits", "viewpoint", "--measurements", measurements, "--out", out]
    options = ["--features", "x", "--known", ROOT / "src/viewpoint/fitted.json", "--only", "joint"]
    subprocess.run([*command, *options], cwd=ROOT, check=True, capture_output=True)
    fitted = json.loads(out.read_text())
    for kept in ("leastInliers", "nuisances", "tampers"):
        assert fitted[kept] == FITTED[kept]
    assert fitted["figures"]["tampers"] == FITTED["figures"]["tampers"]
    assert fitted["joint"] != FITTED["joint"]
