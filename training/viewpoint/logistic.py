"""Logistic regression of one class against the rest, with soft targets, a ridge and balanced classes (scikit-learn)."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RIDGE = 3.0  # weight of half the squared norm of the standardised coefficients


def fit_logistic(rows: np.ndarray, truths: np.ndarray, ridge: float = RIDGE) -> tuple[float, np.ndarray]:
    """Fits probability = sigmoid(offset + rows @ weights).

    rows [n, d], truths [n] booleans of both kinds. Both classes weigh the same, so scores rank but are no frequencies.
    Platt's targets (Platt 1999) keep the weights of a separable class finite: scikit-learn takes hard labels, so each
    sample enters with both labels, weighted by its target.
    """
    n, positives = len(truths), int(truths.sum())
    target = np.where(truths, (positives + 1) / (positives + 2), 1 / (n - positives + 2))
    balance = n / (2 * np.where(truths, positives, n - positives))
    weights = np.concatenate([balance * target, balance * (1 - target)])
    labels = np.repeat([1, 0], n)
    model = make_pipeline(
        StandardScaler(), LogisticRegression(C=1 / ridge, solver="newton-cholesky", tol=1e-8, max_iter=1000)
    )
    model.fit(np.concatenate([rows, rows]), labels, logisticregression__sample_weight=weights)
    scaler, regression = model.named_steps["standardscaler"], model.named_steps["logisticregression"]
    coefficients = regression.coef_[0] / scaler.scale_
    return float(regression.intercept_[0] - coefficients @ scaler.mean_), coefficients


def cross_fitted_scores(rows: np.ndarray, truths: np.ndarray, halves: np.ndarray) -> np.ndarray:
    """Probability per sample [n], by weights that were fitted on the other half (halves [n], 0 or 1)."""
    scores = np.empty(len(truths))
    for half in (0, 1):
        held = halves == half
        offset, weights = fit_logistic(rows[~held], truths[~held])
        scores[held] = sigmoid(offset + rows[held] @ weights)
    return scores


def sigmoid(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def logit(score: np.ndarray, sure: float = 1e-4) -> np.ndarray:
    """Scores nearer to 0 or 1 than `sure` count as that far away (src/viewpoint/scores.ts)."""
    p = np.clip(score, sure, 1 - sure)
    return np.log(p / (1 - p))
