"""Naive oracles: plain loops over a model's predictions, with nothing of the package in them.

A model is a function of rows, which gives shape (n,), or (n, K) for the probabilities of K classes.
Rows are a DataFrame or an array; a feature is the list of its columns (names, or positions).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

Array = np.ndarray
Model = Callable[[Any], Array]
Columns = Sequence[Any]

CLIP = np.finfo(float).eps  # scikit-learn's log_loss clips probabilities here too


# Rows ---------------------------------------------------------------------------------------------


def replace(X, keep, donors, columns):
    """Return the rows `keep`, with `columns` as the rows `donors` have them."""
    if isinstance(X, pd.DataFrame):
        rows = X.iloc[keep].reset_index(drop=True)
        for column in columns:
            rows[column] = X[column].iloc[donors].reset_index(drop=True)
        return rows
    rows = np.array(X[keep])
    rows[:, list(columns)] = X[donors][:, list(columns)]
    return rows


def set_to(X, columns, values):
    """Return all rows with `columns` set to `values`."""
    if isinstance(X, pd.DataFrame):
        rows = X.copy()
        for column, value in zip(columns, values, strict=True):
            rows[column] = pd.Series([value] * len(X), index=X.index, dtype=X[column].dtype)
        return rows
    rows = np.array(X)
    rows[:, list(columns)] = values
    return rows


def all_pairs(model, X, columns):
    """Return the predictions [i, k] of row i with the feature of row k."""
    n = len(X)
    rows = replace(X, np.repeat(np.arange(n), n), np.tile(np.arange(n), n), columns)
    predicted = model(rows)
    return predicted.reshape(n, n, *predicted.shape[1:])


# Losses, elementwise: y has shape (...), predictions (...) or (..., K) ----------------------------


def _poisson(y, f):
    log = np.log(np.where(y > 0, y, 1.0) / f)
    return 2 * (np.where(y > 0, y * log, 0.0) - y + f)


def _huber(y, f):
    distance = np.abs(y - f)
    return np.where(distance <= 1, distance**2 / 2, distance - 0.5)


def _of_class(y, p):
    return np.take_along_axis(p, y[..., None], axis=-1)[..., 0]


def _brier(y, p):
    total = ((p - (np.arange(p.shape[-1]) == y[..., None])) ** 2).sum(axis=-1)
    return total / 2 if p.shape[-1] == 2 else total


LOSSES = {
    "squared": lambda y, f: (y - f) ** 2,
    "absolute": lambda y, f: np.abs(y - f),
    "huber": _huber,
    "poisson": _poisson,
    "gamma": lambda y, f: 2 * (y / f - np.log(y / f) - 1),
    "log": lambda y, p: -np.log(np.clip(_of_class(y, p), CLIP, None)),
    "brier": _brier,
    "zero_one": lambda y, p: (p.argmax(axis=-1) != y).astype(float),
    "squared of second": lambda y, p: (y - p[..., 1]) ** 2,
}


# Variances ----------------------------------------------------------------------------------------


def variance_of_mean(rows, clusters=None):
    """Return the variance of the mean of `rows`, shape (n, ...), of clusters if there are any."""
    n = len(rows)
    deviation = rows - rows.mean(axis=0)
    if clusters is None:
        return (deviation**2).sum(axis=0) / (n * (n - 1))
    names = sorted(set(clusters))
    total = sum(deviation[clusters == name].sum(axis=0) ** 2 for name in names)
    return total * len(names) / (len(names) - 1) / n**2


def _two_sides(pairs):
    """Return every row's means over all others, as the row that keeps and as the donor."""
    n = len(pairs)
    off = np.where(np.eye(n, dtype=bool), 0.0, pairs)
    return off.sum(axis=1) / (n - 1), off.sum(axis=0) / (n - 1)


# Estimands ----------------------------------------------------------------------------------------


def pfi(switched, original, relation, cov_type, clusters):
    """Return PFI and its variance, of losses [i, k] with the feature of k, and of rows' losses.

    Both losses are means over pairs of rows, of which the second does not depend on the donor; a
    ratio's contributions are by the delta method.
    """
    unswitched = np.broadcast_to(original[:, None], switched.shape)
    above, below = _two_sides(switched), _two_sides(unswitched)
    take = sum if cov_type == "ustat" else (lambda sides: sides[0])
    if relation == "difference":
        rows = take(above) - take(below)
        return float((above[0] - below[0]).mean()), variance_of_mean(rows, clusters)
    value = above[0].mean() / below[0].mean()
    rows = (take(above) - value * take(below)) / below[0].mean()
    return float(value), variance_of_mean(rows, clusters)


def ice(model, X, columns, grid):
    """Return the curves, shape (n, points) or (n, points, K)."""
    return np.stack([model(set_to(X, columns, point)) for point in grid], axis=1)


def h_squared(model, X, features, order):
    """Return numerator and denominator of Friedman and Popescu's H² by term."""
    f = _centered(model(X))

    def effect(*names):
        columns = [c for name in names for c in features[name]]
        return _centered(all_pairs(model, X, columns).mean(axis=0))

    def rest(name):
        return _centered(all_pairs(model, X, features[name]).mean(axis=1))

    names = list(features)
    if order == "overall":
        return {j: _ratio(f - effect(j) - rest(j), f) for j in names}
    if order == "importance":
        return {j: _ratio(f - rest(j), f) for j in names}
    if order == "total":
        return {"total": _ratio(f - sum(effect(j) for j in names), f)}
    pairs = [(j, k) for i, j in enumerate(names) for k in names[i + 1 :]]
    return {
        f"{j}:{k}": _ratio(effect(j, k) - effect(j) - effect(k), effect(j, k)) for j, k in pairs
    }


def _centered(effect):
    return effect - effect.mean(axis=0)


def _ratio(above, below):
    return (above**2).mean(axis=0), (below**2).mean(axis=0)


def flatness(curve, spread, *, levels):
    """Return FIRM of curves, shape (points, ...)."""
    if levels:
        return (curve.max(axis=0) - curve.min(axis=0)) / 4
    if spread == "sd":
        return curve.std(axis=0, ddof=1)
    if spread == "iqr":
        return np.quantile(curve, 0.75, axis=0) - np.quantile(curve, 0.25, axis=0)
    return 1.4826 * np.median(np.abs(curve - np.median(curve, axis=0)), axis=0)


def vint(surface):
    """Return vint of a surface of partial dependence, shape (points, points, ...)."""
    there = surface.std(axis=0, ddof=1).std(axis=0, ddof=1)
    back = surface.std(axis=1, ddof=1).std(axis=0, ddof=1)
    return (there + back) / 2


# Metrics, as R's yardstick defines them -----------------------------------------------------------


def roc_auc(y, score):
    """Return the area by comparing all pairs; scores that differ by rounding are ties."""
    wins = 0.0
    for high in score[y == 1]:
        for low in score[y == 0]:
            tie = abs(high - low) <= 1e-10 * min(max(high, low), 1 - min(high, low))
            wins += 0.5 if tie else float(high > low)
    return wins / ((y == 1).sum() * (y == 0).sum())


def bal_accuracy(y, p):
    predicted, values = p.argmax(axis=1), []
    for k in range(p.shape[1]):
        sensitivity = (predicted[y == k] == k).mean()
        specificity = (predicted[y != k] != k).mean()
        values.append((sensitivity + specificity) / 2)
    return float(np.mean(values))


# Name: (function, 1 if larger is worse or -1 if larger is better)
METRICS = {
    "rmse": (lambda y, f: np.sqrt(((y - f) ** 2).mean()), 1),
    "mae": (lambda y, f: np.abs(y - f).mean(), 1),
    "mse": (lambda y, f: ((y - f) ** 2).mean(), 1),
    "mape": (lambda y, f: 100 * np.abs((y - f) / y).mean(), 1),
    "rsq": (lambda y, f: np.corrcoef(y, f)[0, 1] ** 2, -1),
    "rsq_trad": (lambda y, f: 1 - ((y - f) ** 2).sum() / ((y - y.mean()) ** 2).sum(), -1),
    "accuracy": (lambda y, p: (p.argmax(axis=1) == y).mean(), -1),
    "bal_accuracy": (bal_accuracy, -1),
    "logloss": (lambda y, p: LOSSES["log"](y, p).mean(), 1),
    "brier": (lambda y, p: ((p - (np.arange(p.shape[1]) == y[:, None])) ** 2).sum(1).mean() / 2, 1),
    "roc_auc": (lambda y, p: roc_auc(y, p[:, 1]), -1),
}


def metric_importance(model, X, y, columns, metric, permutations):
    """Return the mean over permutations, shape (n, repeats), of how much worse the metric gets."""
    score, worse = METRICS[metric]
    original, keep = score(y, model(X)), np.arange(len(X))
    each = [score(y, model(replace(X, keep, donors, columns))) for donors in permutations.T]
    return float(worse * (np.mean(each) - original))
