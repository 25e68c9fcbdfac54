"""Accumulated local effects from the steps of single rows, with every row's contribution."""

from __future__ import annotations

import numpy as np

from pyinterp._typing import FloatArray, IntArray, TwoArrays


def interval_of(x: FloatArray, edges: FloatArray) -> IntArray:
    """Return the interval (e_b, e_b+1] of every value, the first closed; -1 outside all."""
    place = np.clip(np.searchsorted(edges, x, side="left") - 1, 0, len(edges) - 2)
    return np.where((x < edges[0]) | (x > edges[-1]), -1, place)


def accumulate(
    steps: FloatArray,
    reference: FloatArray,
    widths: FloatArray | None,
    row_weights: FloatArray | None = None,
) -> TwoArrays:
    """Add up mean steps and center the sum.

    Parameters
    ----------
    steps : ndarray of shape (n, J)
        Every row's change of prediction over every step that it tells about; missing elsewhere.
    reference : ndarray of shape (n, J + 1)
        Weights of the points at every row, which add up to 1, or to 0 for a row outside the grid.
    widths : ndarray of shape (J,) or None
        Lengths of the steps, along which the slopes of steps without rows are interpolated; None
        if such steps are missing.
    row_weights : ndarray of shape (n,), optional
        Sampling weights with mean 1.

    Returns
    -------
    value : ndarray of shape (J + 1,)
    rows : ndarray of shape (n, J + 1)
        The rows' contributions, whose mean is `value`.
    """
    measure = np.ones(len(steps)) if row_weights is None else row_weights
    mean, influence = step_means(steps, measure)
    reference = reference * measure[:, None]
    running = np.tri(len(mean) + 1, len(mean), -1) @ filling(np.isfinite(mean), widths)
    effect = running @ np.nan_to_num(mean)
    moves = np.nan_to_num(influence) @ running.T
    inside = reference.sum(axis=1)
    share = inside.mean()
    if share == 0 or (widths is None and np.isnan(mean).any()):
        return np.full(len(effect), np.nan), np.full(reference.shape, np.nan)
    weights = reference.mean(axis=0) / share
    middle = weights @ effect
    around = (reference @ effect - inside * middle) / share
    value = effect - middle
    return value, value + moves - (moves @ weights)[:, None] - around[:, None]


def step_means(steps: FloatArray, measure: FloatArray) -> TwoArrays:
    """Return the means of columns without missing values, and every row's influence on them."""
    there = np.isfinite(steps) * measure[:, None]
    count = there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (there * np.nan_to_num(steps)).sum(axis=0) / count
        influence = there * np.nan_to_num(steps - mean) * (len(steps) / count)
    return mean, influence


def filling(there: np.ndarray, widths: FloatArray | None) -> FloatArray:
    """Return the matrix, times mean steps, that gives a step to intervals without rows.

    `there` says which intervals have rows. Slopes, steps over `widths`, are interpolated between
    these; without widths nothing is filled.
    """
    if widths is None or not there.any():
        return np.eye(len(there))
    middle = np.cumsum(widths) - widths / 2
    matrix = np.zeros((len(there), len(there)))
    for k in np.flatnonzero(there):
        matrix[:, k] = np.interp(middle, middle[there], np.eye(len(there))[k][there]) / widths[k]
    return matrix * widths[:, None]
