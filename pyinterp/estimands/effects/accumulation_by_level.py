"""Second-order accumulated local effects of levels and a number, with every row's contribution."""

from __future__ import annotations

import numpy as np

from pyinterp._typing import FloatArray, IntArray

__all__ = ["accumulate_by_level"]


def accumulate_by_level(
    steps: FloatArray,
    level: IntArray,
    interval: IntArray,
    edges: FloatArray,
    row_weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Add up second differences over levels and intervals, without the effects of each variable.

    As R's ``ALEPlot`` does: a row tells of the step from its level to the next one, and of that to
    it from the one before.

    Parameters
    ----------
    steps : ndarray of shape (n, k - 1)
        By step between levels, a row's second difference over its interval; missing for steps
        that its level is no end of.
    level : ndarray of int, shape (n,)
        The row's level, 0 to k - 1; -1 outside.
    interval : ndarray of int, shape (n,)
        The row's interval; -1 outside.
    edges : ndarray of shape (m + 1,)
    row_weights : ndarray of shape (n,), optional
        Sampling weights with mean 1.

    Returns
    -------
    value : ndarray of shape (k (m + 1),)
        By level, then edge; missing if a step between levels has no row.
    rows : ndarray of shape (n, k (m + 1))
    """
    n, k, m = len(steps), steps.shape[1] + 1, len(edges) - 1
    inside = (level >= 0) & (interval >= 0)
    measure = inside * (np.ones(n) if row_weights is None else row_weights)
    at = np.where(inside, interval, 0)
    there = np.isfinite(steps) * measure[:, None]
    filled, count = np.nan_to_num(steps), np.zeros((k - 1, m))
    mean = np.zeros((k - 1, m))
    for s in range(k - 1):
        count[s] = np.bincount(at, weights=there[:, s], minlength=m)
        mean[s] = np.bincount(at, weights=there[:, s] * filled[:, s], minlength=m)
    if not (count.sum(axis=1) > 0).all():
        return np.full(k * (m + 1), np.nan), np.full((n, k * (m + 1)), np.nan)
    per_row = np.divide(n, count, out=np.zeros_like(count), where=count > 0)
    mean *= per_row / n
    shares = np.zeros((k, m))
    np.add.at(shares, (np.where(inside, level, 0), at), measure)
    removal = _Removal(shares / shares.sum())
    sums = [_running(edges, there_at > 0) for there_at in count]
    raw = np.zeros((k, m + 1))
    rows = np.zeros((n, k, m + 1))
    for s in range(k - 1):
        raw[s + 1 :] += sums[s] @ mean[s]
        linear = np.array([removal(_above(s, k, column)) for column in sums[s].T])
        influence = there[:, s] * (filled[:, s] - mean[s, at]) * per_row[s, at]
        rows += influence[:, None, None] * linear[at]
    value, moves = removal(raw), removal.influence(raw)
    rows += (measure / measure.mean())[:, None, None] * moves[np.where(inside, level, 0), at]
    flat = value.ravel()
    return flat, flat + rows.reshape(n, -1)


def _above(step: int, k: int, curve: FloatArray) -> FloatArray:
    """Return the surface with `curve` at all levels above a step, and 0 below."""
    surface = np.zeros((k, len(curve)))
    surface[step + 1 :] = curve
    return surface


def _running(edges: FloatArray, there: np.ndarray) -> FloatArray:
    """Return the matrix that adds up steps; intervals without rows take the nearest one's slope."""
    widths, middles = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    full = np.flatnonzero(there)
    source = full[np.argmin(np.abs(middles[:, None] - middles[full]), axis=1)]
    filling = np.zeros((len(there), len(there)))
    filling[np.arange(len(there)), source] = widths / widths[source]
    return np.asarray(np.tri(len(there) + 1, len(there), -1) @ filling)


class _Removal:
    """Takes the effects of levels and number, and the mean, out of a surface.

    Parameters
    ----------
    shares : ndarray of shape (k, m)
        Shares of the rows by level and interval.
    """

    def __init__(self, shares: FloatArray) -> None:
        self.shares = shares
        self.between = (shares[1:] + shares[:-1]) / 2

    def __call__(self, surface: FloatArray) -> FloatArray:
        """Return the surface, shape (k, m + 1), without them."""
        rest = self._rest(surface)
        return np.asarray(rest - (self.shares * _middles(rest)).sum())

    def influence(self, surface: FloatArray) -> FloatArray:
        """Return what a row in every cell does by way of the shares, (k, m, k, m + 1)."""
        k, m = self.shares.shape
        over_levels, over_number = _middles(np.diff(surface, axis=0)), np.diff(surface, axis=1)
        first, second = self._slopes(surface)
        corners = _middles(self._rest(surface))
        level = (self.shares * corners).sum()
        moves = np.zeros((k, m, k, m + 1))
        for a, b in np.argwhere(self.shares > 0):
            one = np.zeros((k, m + 1))
            for s in (a - 1, a):
                if 0 <= s < k - 1:
                    one[s + 1 :] -= (over_levels[s, b] - first[s]) / self.between[s].sum() / 2
            one[:, b + 1 :] -= (over_number[a, b] - second[b]) / self.shares[:, b].sum()
            one -= (self.shares * _middles(one)).sum() + corners[a, b] - level
            moves[a, b] = one
        return moves

    def _rest(self, surface: FloatArray) -> FloatArray:
        first, second = self._slopes(surface)
        return np.asarray(
            surface
            - np.concatenate([[0.0], np.cumsum(first)])[:, None]
            - np.concatenate([[0.0], np.cumsum(second)])[None, :]
        )

    def _slopes(self, surface: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean steps of the surface between levels, and along the number."""
        over_levels, over_number = _middles(np.diff(surface, axis=0)), np.diff(surface, axis=1)
        total = self.shares.sum(axis=0)
        second = np.asarray(over_number.mean(axis=0))
        np.divide((self.shares * over_number).sum(axis=0), total, out=second, where=total > 0)
        return (self.between * over_levels).sum(axis=1) / self.between.sum(axis=1), second


def _middles(surface: FloatArray) -> FloatArray:
    """Return the means of neighboring edges."""
    return np.asarray((surface[:, 1:] + surface[:, :-1]) / 2)
