"""Means given the others that are not linear: additive, or of terms that are selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin

from pyinterp._typing import FloatArray
from pyinterp.samplers.learners import MANY, PENALTIES, LogisticThenTrees

TENTHS, HUNDREDTHS = (np.arange(1, k) / k for k in (10, 100))
WIDTH = 0.4  # of bumps, and from one to the next, in standard deviations of normal scores
CENTERS = WIDTH * np.arange(-7, 8)
MOST_TERMS = 15
LEVEL = 0.05  # of the t of the next term, divided by the number of terms
SAME = 1e-3  # share of a term's squares that is left where it is one of those selected


class _OfTerms(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Columns are standardized, missing values are means; numbers have more than 2 values."""

    def _learn(self, X: FloatArray) -> FloatArray:
        """Learn centers and scales; return standardized columns, shape (n, p)."""
        self.center_, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        rounding = len(X) * np.finfo(np.float64).eps * np.abs(self.center_)
        self.scale_ = np.where(scale > rounding, scale, 1.0)
        Z = self._standard(X)
        self.numbers_ = [j for j, z in enumerate(Z.T) if len(np.unique(z)) > 2]
        return Z

    def _standard(self, X: FloatArray) -> FloatArray:
        """Return columns less their centers, over their scales; 0 where values are missing."""
        return np.asarray(np.nan_to_num((X - self.center_) / self.scale_))


class Additive(_OfTerms):
    """Ridge regression on columns, and squares and bumps of the normal scores of numbers.

    Scores make these the same for every monotone scale of a number, and keep a few large values
    from ruling the curve. The penalty has the smallest leave-one-out error; then the same ridge
    regression is added on residuals. That squares the share of a curve that shrinking leaves out,
    and with it the bias of what is made of residuals (Newey, Hsieh and Robins 2004).
    """

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: Any = None) -> Self:
        """Fit it, by the eigenvectors of the columns."""
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        Z = self._learn(X)
        self.scores_ = [_normal_scores(Z[:, j]) for j in self.numbers_]
        columns = self._columns(Z)
        center, level = (np.average(part, axis=0, weights=weights) for part in (columns, y))
        spread = columns.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        root = np.sqrt(weights)
        C, r = root[:, None] * (columns - center) / spread, root * (y - level)
        if len(C) > C.shape[1]:
            values, vectors = np.linalg.eigh(C.T @ C)
        else:
            _, s, right = np.linalg.svd(C, full_matrices=False)
            values, vectors = s**2, right.T
        # Fits of all penalties at once, of rows in the directions of the eigenvectors.
        P = C @ vectors
        values = np.maximum(values, 0.0)[:, None]
        shrunk = 1 / (values + PENALTIES)
        fits = P @ (shrunk * (P.T @ r)[:, None])
        leverage = np.square(P) @ shrunk + (weights / weights.sum())[:, None]
        # Residuals over 1 - leverage are those of rows that are left out.
        best = np.square((r[:, None] - fits) / (1 - leverage)).sum(axis=0).argmin()
        twice = (2 - values * shrunk) * shrunk  # once, and once more what is left
        self.coef_ = vectors @ (twice[:, best] * (P.T @ r)) / spread
        self.intercept_ = level - center @ self.coef_
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions, shape (n,)."""
        return np.asarray(self._columns(self._standard(X)) @ self.coef_ + self.intercept_)

    def _columns(self, Z: FloatArray) -> FloatArray:
        """Return columns, squares of scores, and bumps, shape (n, terms)."""
        numbers = Z[:, self.numbers_].T
        scores = [np.interp(z, *each) for z, each in zip(numbers, self.scores_, strict=True)]
        bumps = [np.exp(-0.5 * ((each[:, None] - CENTERS) / WIDTH) ** 2) for each in scores]
        return np.column_stack([Z, *map(np.square, scores), *bumps])


def _normal_scores(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return distinct values in order, and the normal quantiles of their ranks."""
    values, counts = np.unique(z, return_counts=True)
    return values, norm.ppf((counts.cumsum() - counts / 2) / len(z))


class Stepwise(_OfTerms):
    r"""Least squares on terms that are selected, one after the other, while the next has a large t.

    Terms are columns, squares of numbers, hinges at their tenths and steps at their hundredths,
    all of these times a term that is selected, and products of two columns.
    With r the residual so far and :math:`D_\perp` a term less its fit by those selected,
    :math:`t = D^\top r / (\lVert D_\perp \rVert s)`, where s² is the mean of r², or its mean
    weighted by D² if that is larger. Steps and products are never made: :math:`D^\top r` of
    steps are sums of r by hundredth, and of products of columns T they are in
    :math:`T^\top \mathrm{diag}(r)\, T`.
    """

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: Any = None) -> Self:
        """Select terms by at most `MANY` rows, and fit them to all."""
        Z, weights = self._learn(X), np.ones(len(y))
        numbers = Z[:, self.numbers_]
        self.knots_ = np.quantile(numbers, TENTHS, axis=0)[:, None]
        self.steps_ = np.quantile(numbers, HUNDREDTHS, axis=0)
        if sample_weight is not None:
            weights = sample_weight / sample_weight.mean()
        some = slice(None, None, 1 + (len(y) - 1) // MANY)
        self.terms_ = _select(self._tables(Z[some]), y[some], weights[some])
        columns, root = self._columns(Z), np.sqrt(weights)
        self.coef_ = np.linalg.lstsq(columns * root[:, None], y * root)[0]
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions, shape (n,)."""
        return np.asarray(self._columns(self._standard(X)) @ self.coef_)

    def _tables(self, Z: FloatArray) -> list[FloatArray]:
        """Return hundredths, whose steps are terms; terms of one column; and columns."""
        numbers = Z[:, self.numbers_]
        hundredths = [np.searchsorted(*each) for each in zip(self.steps_.T, numbers.T, strict=True)]
        bins = np.column_stack([np.empty((len(Z), 0), np.intp), *hundredths])
        hinges = np.maximum(numbers - self.knots_, 0.0)
        return [bins, np.column_stack([Z, np.square(numbers), *hinges]), Z]

    def _columns(self, Z: FloatArray) -> FloatArray:
        """Return a column of ones and the terms that were selected, shape (n, 1 + terms)."""
        tables, found = self._tables(Z), [np.ones(len(Z))]
        for k in self.terms_:
            found.append(_term(tables, found, k))
        return np.column_stack(found)


class LogisticThenStepwise(LogisticThenTrees):
    """Logistic regression, then `Stepwise` on the residuals of its probabilities."""

    def _train_rest(self, X: FloatArray, y: FloatArray, weights: Any) -> Stepwise:
        """Return what predicts the residuals of a class: terms that are selected."""
        return Stepwise().fit(X, y, weights)


def _pairs(table: FloatArray) -> tuple[Any, Any]:
    """Return the positions of all pairs of different columns, the first and the second of each."""
    return np.triu_indices(table.shape[1], 1)


def _term(tables: Sequence[FloatArray], found: Sequence[FloatArray], k: int) -> FloatArray:
    """Return a term by its place: products of two columns, and what is under those selected."""
    bins, singles, columns = tables
    a, b = _pairs(columns)
    if k < len(a):
        return np.asarray(columns[:, a[k]] * columns[:, b[k]])
    steps = bins.shape[1] * len(HUNDREDTHS)
    over, k = divmod(k - len(a), steps + singles.shape[1])
    j, step = divmod(k, len(HUNDREDTHS))
    return np.asarray(found[over] * (bins[:, j] > step if k < steps else singles[:, k - steps]))


def _products_with(
    tables: Sequence[FloatArray], values: FloatArray, over: Sequence[FloatArray]
) -> Any:
    r"""Return :math:`\sum_i D_{ij} v_i` for every term D, shape (terms,), without making terms."""
    columns = tables[-1]
    products = ((columns * values[:, None]).T @ columns)[_pairs(columns)]
    return np.concatenate([products, *(_under(tables, values * each) for each in over)])


def _under(tables: Sequence[FloatArray], values: FloatArray) -> FloatArray:
    """Return sums over rows of steps and of terms of one column, times values."""
    bins, singles, _ = tables
    by_bin = [np.bincount(column, values, 1 + len(HUNDREDTHS)) for column in bins.T]
    steps = [sums[:0:-1].cumsum()[::-1] for sums in by_bin]
    return np.concatenate([*steps, singles.T @ values])


def _select(tables: Sequence[FloatArray], y: FloatArray, weights: FloatArray) -> list[int]:
    """Return the places of terms in the order in which they are selected."""
    squares, one = [tables[0], *map(np.square, tables[1:])], np.ones(len(y))
    found, over, basis, places = [one], [one], [one * weights.sum() ** -0.5], list[int]()
    r, raw = y - np.average(y, weights=weights), _products_with(squares, weights, over)
    left = raw - np.square(_products_with(tables, weights * basis[0], found))
    while len(places) < MOST_TERMS and (open_ := left > SAME * raw).any():
        error = np.square(weights * r)
        s2 = _products_with(squares, error, over) / np.maximum(raw, 1e-99)
        s2 = np.maximum(s2, max(error.sum() / weights.sum(), 1e-99))
        size = np.sqrt(np.where(open_, left, np.inf) * s2)
        t = np.abs(_products_with(tables, weights * r, found)) / size
        if t.max() <= norm.isf(LEVEL / 2 / open_.sum()):
            break
        places.append(int(t.argmax()))
        q = term = _term(tables, found, places[-1])
        for each in basis:
            q = q - each * (each @ (weights * q))
        q = q / np.sqrt(q @ (weights * q))
        left, r = (
            left - np.square(_products_with(tables, weights * q, found)),
            r - q * (q @ (weights * r)),
        )
        basis, found, over = [*basis, q], [*found, term], [*over, term * term]
        # Now products with the term can be selected too.
        own = _under(squares, weights * over[-1])
        fits = (_under(tables, weights * each * term) for each in basis)
        raw, left = np.append(raw, own), np.append(left, own - sum(map(np.square, fits)))
    return places
