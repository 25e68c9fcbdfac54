"""Accumulated local effects from the steps of single rows, with every row's contribution."""

from __future__ import annotations

import numpy as np

from pyinterp._typing import FloatArray, IntArray

__all__ = ["accumulate", "accumulate_pairs", "interval_of"]


def interval_of(x: FloatArray, edges: FloatArray) -> IntArray:
    """Return the interval (e_b, e_b+1] of every value, the first closed; -1 outside all."""
    place = np.clip(np.searchsorted(edges, x, side="left") - 1, 0, len(edges) - 2)
    return np.where((x < edges[0]) | (x > edges[-1]), -1, place)


def accumulate(
    steps: FloatArray,
    reference: FloatArray,
    widths: FloatArray | None,
    row_weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
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
    mean, influence = _means(steps, measure)
    reference = reference * measure[:, None]
    running = np.tri(len(mean) + 1, len(mean), -1) @ _filling(np.isfinite(mean), widths)
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


def _means(steps: FloatArray, measure: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means of columns without missing values, and every row's influence on them."""
    there = np.isfinite(steps) * measure[:, None]
    count = there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (there * np.nan_to_num(steps)).sum(axis=0) / count
        influence = there * np.nan_to_num(steps - mean) * (len(steps) / count)
    return mean, influence


def _filling(there: np.ndarray, widths: FloatArray | None) -> FloatArray:
    """Return the matrix that fills steps without rows, interpolating slopes between others."""
    if widths is None or not there.any():
        return np.eye(len(there))
    middle = np.cumsum(widths) - widths / 2
    filling = np.zeros((len(there), len(there)))
    for k in np.flatnonzero(there):
        filling[:, k] = np.interp(middle, middle[there], np.eye(len(there))[k][there]) / widths[k]
    return np.asarray(filling * widths[:, None])


def accumulate_pairs(
    steps: FloatArray,
    first: IntArray,
    second: IntArray,
    edges: tuple[FloatArray, FloatArray],
    row_weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Add up mean second differences over two grids, without the effects of each variable.

    Parameters
    ----------
    steps : ndarray of shape (n,)
        Every row's second difference over the corners of its cell.
    first, second : ndarray of int, shape (n,)
        The row's interval of either variable; -1 outside.
    edges : tuple of two ndarrays
    row_weights : ndarray of shape (n,), optional
        Sampling weights with mean 1.

    Returns
    -------
    value : ndarray of shape (q,)
        By point, the first variable varying fastest.
    rows : ndarray of shape (n, q)
    """
    k, m = (len(e) - 1 for e in edges)
    inside = (first >= 0) & (second >= 0)
    q = (k + 1) * (m + 1)
    if not inside.any():
        return np.full(q, np.nan), np.full((len(steps), q), np.nan)
    cell = np.where(inside, first * m + second, 0)
    measure = inside * (np.ones(len(steps)) if row_weights is None else row_weights)
    count = np.bincount(cell, weights=measure, minlength=k * m)
    mean = np.bincount(cell, weights=measure * steps, minlength=k * m)
    mean = np.divide(mean, count, out=np.zeros(k * m), where=count > 0)
    running = np.kron(np.tri(k + 1, k, -1), np.tri(m + 1, m, -1)) @ _nearest(count > 0, edges)
    removal = _Removal(count.reshape(k, m) / count.sum())
    raw = (running @ mean).reshape(k + 1, m + 1)
    value, moves_of_cells = removal(raw), removal.influence(raw)
    linear = np.array([removal(column.reshape(k + 1, m + 1)) for column in running.T])
    share = measure.mean()
    per_row = np.divide(1.0, count, out=np.zeros(k * m), where=count > 0) * len(steps)
    of_steps = ((steps - mean[cell]) * per_row[cell])[:, None] * linear[cell].reshape(-1, q)
    rows = measure[:, None] * (of_steps + moves_of_cells[cell].reshape(-1, q) / share)
    order = np.arange(q).reshape(k + 1, m + 1).T.ravel()
    flat = value.ravel()[order]
    return flat, flat + rows[:, order]


def _nearest(there: np.ndarray, edges: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return the matrix that gives a cell without rows the nearest cell's step per area."""
    middles = [(e[1:] + e[:-1]) / 2 / (e[-1] - e[0]) for e in edges]
    x, z = (a.ravel() for a in np.meshgrid(*middles, indexing="ij"))
    areas = np.outer(np.diff(edges[0]), np.diff(edges[1])).ravel()
    full = np.flatnonzero(there)
    apart = (x[:, None] - x[full]) ** 2 + (z[:, None] - z[full]) ** 2
    source = full[np.argmin(apart, axis=1)]
    matrix = np.zeros((len(there), len(there)))
    matrix[np.arange(len(there)), source] = areas / areas[source]
    return matrix


class _Removal:
    """Takes the effects of each variable, and the mean, out of a surface.

    Parameters
    ----------
    shares : ndarray of shape (k, m)
        Shares of the rows in the cells.
    """

    def __init__(self, shares: FloatArray) -> None:
        self.shares = shares

    def __call__(self, surface: FloatArray) -> FloatArray:
        """Return the surface, shape (k + 1, m + 1), without them."""
        first, second = self._slopes(surface)
        rest = surface - _running(first)[:, None] - _running(second)[None, :]
        return np.asarray(rest - (self.shares * _corners(rest)).sum())

    def influence(self, surface: FloatArray) -> FloatArray:
        """Return what a row in every cell does to the result by way of the shares.

        Shape (cells, k + 1, m + 1).
        """
        k, m = self.shares.shape
        across, along = _differences(surface)
        first, second = self._slopes(surface)
        rest = surface - _running(first)[:, None] - _running(second)[None, :]
        corners = _corners(rest)
        level = (self.shares * corners).sum()
        moves = np.zeros((k, m, k + 1, m + 1))
        for a in range(k):
            for b in range(m):
                if self.shares[a, b] == 0:
                    continue
                one = np.zeros((k + 1, m + 1))
                one[a + 1 :] -= (across[a, b] - first[a]) / self.shares[a].sum()
                one[:, b + 1 :] -= (along[a, b] - second[b]) / self.shares[:, b].sum()
                one -= (self.shares * _corners(one)).sum() + corners[a, b] - level
                moves[a, b] = one
        return moves.reshape(k * m, k + 1, m + 1)

    def _slopes(self, surface: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean steps of the surface along each variable."""
        across, along = _differences(surface)
        return _weighted_means(across, self.shares, 1), _weighted_means(along, self.shares, 0)


def _differences(surface: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return steps along the first and the second variable, means over a cell's two sides."""
    across, along = np.diff(surface, axis=0), np.diff(surface, axis=1)
    return (across[:, 1:] + across[:, :-1]) / 2, (along[1:] + along[:-1]) / 2


def _weighted_means(steps: FloatArray, shares: FloatArray, axis: int) -> FloatArray:
    """Return weighted means along an axis, plain ones where there is no row."""
    total = shares.sum(axis=axis)
    mean = np.asarray(steps.mean(axis=axis))
    return np.asarray(np.divide((shares * steps).sum(axis=axis), total, out=mean, where=total > 0))


def _running(steps: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(steps)])


def _corners(surface: FloatArray) -> FloatArray:
    """Return the means of every cell's four corners."""
    return np.asarray(
        (surface[1:, 1:] + surface[:-1, 1:] + surface[1:, :-1] + surface[:-1, :-1]) / 4
    )
