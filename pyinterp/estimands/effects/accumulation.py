"""Accumulated local effects from the steps of single rows, with every row's contribution."""

from __future__ import annotations

import numpy as np

from pyinterp._typing import FloatArray, IntArray


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


def step_means(steps: FloatArray, measure: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means of columns without missing values, and every row's influence on them."""
    there = np.isfinite(steps) * measure[:, None]
    count = there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (there * np.nan_to_num(steps)).sum(axis=0) / count
        influence = there * np.nan_to_num(steps - mean) * (len(steps) / count)
    return mean, influence


def filling(there: np.ndarray, widths: FloatArray | None) -> FloatArray:
    """Return the matrix that fills steps without rows, interpolating slopes between others."""
    if widths is None or not there.any():
        return np.eye(len(there))
    middle = np.cumsum(widths) - widths / 2
    matrix = np.zeros((len(there), len(there)))
    for k in np.flatnonzero(there):
        matrix[:, k] = np.interp(middle, middle[there], np.eye(len(there))[k][there]) / widths[k]
    return np.asarray(matrix * widths[:, None])


def accumulate_pairs(
    steps: FloatArray,
    first: IntArray,
    second: IntArray,
    edges: FloatArray,
    *,
    first_edges: FloatArray | None = None,
    row_weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Add up mean second differences over two grids, without the effects of each variable.

    A row informs about the step of the first variable over the row's interval. For levels it
    informs, as in R's ``ALEPlot``, about the steps to the row's level and from it to the next.

    Parameters
    ----------
    steps : ndarray of shape (n, J)
        By step of the first variable, a row's second difference over its interval of the second;
        missing for steps that it does not inform about.
    first : ndarray of int, shape (n,)
        The row's interval, or level, of the first variable; -1 outside.
    second : ndarray of int, shape (n,)
        The row's interval of the second variable; -1 outside.
    edges : ndarray of shape (m + 1,)
        Of the second variable.
    first_edges : ndarray of shape (J + 1,), optional
        Of the first variable; None for levels.
    row_weights : ndarray of shape (n,), optional
        Sampling weights with mean 1.

    Returns
    -------
    value : ndarray of shape ((J + 1) (m + 1),)
        By point of the first variable, then of the second; missing without rows, or if a step
        between levels has none.
    rows : ndarray of shape (n, (J + 1) (m + 1))
    """
    n, j, m = len(steps), steps.shape[1], len(edges) - 1
    q = (j + 1) * (m + 1)
    inside = (first >= 0) & (second >= 0)
    measure = inside * (np.ones(n) if row_weights is None else row_weights)
    place, interval = np.where(inside, first, 0), np.where(inside, second, 0)
    there = np.isfinite(steps) * measure[:, None]
    count, mean = np.zeros((j, m)), np.zeros((j, m))
    np.add.at(count.T, interval, there)
    np.add.at(mean.T, interval, there * np.nan_to_num(steps))
    filled = count.sum(axis=1) > 0
    if not (filled.any() if first_edges is not None else filled.all()):
        return np.full(q, np.nan), np.full((n, q), np.nan)
    per_row = np.divide(n, count, out=np.zeros((j, m)), where=count > 0)
    mean *= per_row / n
    shares = np.zeros((j if first_edges is not None else j + 1, m))
    np.add.at(shares, (place, interval), measure)
    removal = _Removal(shares / shares.sum(), levels=first_edges is None)
    running = np.kron(np.tri(j + 1, j, -1), np.tri(m + 1, m, -1))
    running = running @ _nearest(count > 0, edges, first_edges)
    raw = (running @ mean.ravel()).reshape(j + 1, m + 1)
    linear = np.array([removal(column.reshape(j + 1, m + 1)) for column in running.T])
    value, moves = removal(raw), removal.influence(raw)
    rows = (measure / measure.mean())[:, None, None] * moves[place, interval]
    for step in range(j):
        (tells,) = np.nonzero(there[:, step])
        at = interval[tells]
        influence = (steps[tells, step] - mean[step, at]) * per_row[step, at]
        influence *= there[tells, step]
        rows[tells] += influence[:, None, None] * linear[step * m + at]
    return value.ravel(), value.ravel() + rows.reshape(n, q)


def _nearest(there: np.ndarray, edges: FloatArray, first_edges: FloatArray | None) -> FloatArray:
    """Return the matrix that gives a cell without rows the nearest cell's step per area.

    The nearest cell of a step between levels is of the same step.
    """
    j, m = there.shape
    step, interval = (a.ravel() for a in np.indices((j, m)))
    full = np.flatnonzero(there)
    widths, middles = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    apart = np.abs(middles[interval][:, None] - middles[interval][full])
    areas = widths[interval]
    if first_edges is None:
        apart[step[:, None] != step[full]] = np.inf
    else:
        across = (first_edges[1:] + first_edges[:-1]) / 2 / np.ptp(first_edges)
        along = middles / np.ptp(edges)
        apart = (across[step][:, None] - across[step][full]) ** 2
        apart += (along[interval][:, None] - along[interval][full]) ** 2
        areas = areas * np.diff(first_edges)[step]
    source = full[np.argmin(apart, axis=1)]
    matrix = np.zeros((j * m, j * m))
    matrix[np.arange(j * m), source] = areas / areas[source]
    return matrix


class _Removal:
    """Takes the effects of each variable, and the mean, out of a surface of two.

    Parameters
    ----------
    shares : ndarray of shape (k, m)
        Shares of the rows by interval, or level, of the first variable and interval of the second.
    levels : bool
        Whether the first variable has levels.

    Attributes
    ----------
    at : ndarray of shape (k, points)
        Weights of the first variable's points at which the rows of an interval, or level, are.
    tells : ndarray of shape (k, steps)
        Shares of the first variable's steps that they tell of.
    """

    def __init__(self, shares: FloatArray, *, levels: bool) -> None:
        k = len(shares)
        self.shares = shares
        if levels:
            self.at, self.tells = np.eye(k), (np.eye(k, k - 1) + np.eye(k, k - 1, -1)) / 2
        else:
            self.at, self.tells = (np.eye(k, k + 1) + np.eye(k, k + 1, 1)) / 2, np.eye(k)

    def __call__(self, surface: FloatArray) -> FloatArray:
        """Return the surface, shape (points, m + 1), without them."""
        rest = self._rest(surface)
        return np.asarray(rest - (self.shares * self._cells(rest)).sum())

    def influence(self, surface: FloatArray) -> FloatArray:
        """Return the change of the result that a row in every cell makes by way of the shares.

        Shape (k, m, points, m + 1).
        """
        across, along = self._steps(surface)
        first, second = self._slopes(surface)
        cells = self._cells(self._rest(surface))
        level = (self.shares * cells).sum()
        of_steps, of_intervals = (self.tells.T @ self.shares).sum(axis=1), self.shares.sum(axis=0)
        moves = np.zeros((*self.shares.shape, *surface.shape))
        for a, b in np.argwhere(self.shares > 0):
            one = np.zeros(surface.shape)
            for step in np.flatnonzero(self.tells[a]):
                away = (across[step, b] - first[step]) * self.tells[a, step]
                one[step + 1 :] -= away / of_steps[step]
            one[:, b + 1 :] -= (along[a, b] - second[b]) / of_intervals[b]
            one -= (self.shares * self._cells(one)).sum() + cells[a, b] - level
            moves[a, b] = one
        return moves

    def _rest(self, surface: FloatArray) -> FloatArray:
        """Return the surface without the effects of each variable."""
        first, second = self._slopes(surface)
        return np.asarray(
            surface
            - np.concatenate([[0.0], np.cumsum(first)])[:, None]
            - np.concatenate([[0.0], np.cumsum(second)])
        )

    def _slopes(self, surface: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean steps of the surface along each variable, plain ones without rows."""
        across, along = self._steps(surface)
        weights = self.tells.T @ self.shares
        first, second = np.asarray(across.mean(axis=1)), np.asarray(along.mean(axis=0))
        sums, totals = (weights * across).sum(axis=1), weights.sum(axis=1)
        np.divide(sums, totals, out=first, where=totals > 0)
        sums, totals = (self.shares * along).sum(axis=0), self.shares.sum(axis=0)
        np.divide(sums, totals, out=second, where=totals > 0)
        return first, second

    def _steps(self, surface: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the surface's steps along each variable, where rows are along the other."""
        return _middles(np.diff(surface, axis=0)), self.at @ np.diff(surface, axis=1)

    def _cells(self, surface: FloatArray) -> FloatArray:
        """Return the surface in every cell, shape (k, m)."""
        return np.asarray(self.at @ _middles(surface))


def _middles(surface: FloatArray) -> FloatArray:
    """Return the means of neighboring edges."""
    return np.asarray((surface[:, 1:] + surface[:, :-1]) / 2)
