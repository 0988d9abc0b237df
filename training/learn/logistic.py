"""The logistic regression under every fit (scikit-learn), the sigmoid and the logit."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RIDGE = 3.0  # weight of half the squared norm of the standardised coefficients


def fit_logistic(
    rows: np.ndarray,
    truths: np.ndarray,
    ridge: float = RIDGE,
    *,
    balanced: bool = True,
    soft: bool = True,
    standardised: bool = True,
) -> tuple[float, np.ndarray]:
    """Fits probability = sigmoid(offset + rows @ weights).

    rows [n, d], truths [n] booleans of both kinds. balanced: both classes weigh the same, so scores rank but are no
    frequencies. soft: Platt's targets (Platt 1999) keep the weights of a separable class finite; scikit-learn takes
    hard labels, so each sample enters with both labels, weighted by its target. standardised: the ridge, which is 0
    or the weight of half the squared norm, is on the weights of columns of deviation 1. The offset has no penalty.
    """
    n, positives = len(truths), int(np.sum(truths))
    target = np.where(truths, 1.0, 0.0)
    if soft:
        target = np.where(truths, (positives + 1) / (positives + 2), 1 / (n - positives + 2))
    balance = n / (2 * np.where(truths, positives, n - positives)) if balanced else np.ones(n)
    regression = LogisticRegression(C=1 / ridge if ridge else np.inf, solver="newton-cholesky", tol=1e-9, max_iter=1000)
    scaler = StandardScaler(with_mean=standardised, with_std=standardised)
    make_pipeline(scaler, regression).fit(
        np.concatenate([rows, rows]).astype(np.float64),
        np.repeat([1, 0], n),
        logisticregression__sample_weight=np.concatenate([balance * target, balance * (1 - target)]),
    )
    coefficients, offset = regression.coef_[0], float(regression.intercept_[0])
    if not standardised:
        return offset, coefficients
    coefficients = coefficients / scaler.scale_
    return float(offset - coefficients @ scaler.mean_), coefficients


def cross_fitted_scores(
    rows: np.ndarray, truths: np.ndarray, folds: np.ndarray, ridge: float = RIDGE, *, soft: bool = True
) -> np.ndarray:
    """Probability per sample [n], by weights that were fitted on the other folds (folds [n], e.g. 0 or 1)."""
    scores = np.empty(len(truths))
    for fold in np.unique(folds):
        held = folds == fold
        offset, weights = fit_logistic(rows[~held], truths[~held], ridge, soft=soft)
        scores[held] = sigmoid(offset + rows[held] @ weights)
    return scores


def sigmoid(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def logit(score: np.ndarray, sure: float = 1e-4) -> np.ndarray:
    """Scores nearer to 0 or 1 than `sure` count as that far away (src/viewpoint/scores.ts)."""
    p = np.clip(score, sure, 1 - sure)
    return np.log(p / (1 - p))
