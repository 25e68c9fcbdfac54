"""Means given the others that are not linear: additive, or of terms that are selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin

from pyinterp._typing import FloatArray
from pyinterp.samplers.learners import MANY, PENALTIES, LogisticThenTrees

TENTHS, TWENTIETHS, HUNDREDTHS = (np.arange(1, k) / k for k in (10, 20, 100))
MOST_TERMS = 15
LEVEL = 0.05  # of the t of the next term, divided by the number of terms
SAME = 1e-3  # share of a term's squares that is left where it is one of those selected


class _OfTerms(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Columns are standardized, missing values are means; numbers have more than 2 values."""

    def _learn(self, X: FloatArray, shares: FloatArray) -> FloatArray:
        """Learn centers, scales and knots, at shares; return standardized columns, (n, p)."""
        self.center_, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        rounding = len(X) * np.finfo(np.float64).eps * np.abs(self.center_)
        self.scale_ = np.where(scale > rounding, scale, 1.0)
        Z = self._standard(X)
        self.numbers_ = [j for j, z in enumerate(Z.T) if len(np.unique(z)) > 2]
        self.knots_ = np.quantile(Z[:, self.numbers_], shares, axis=0)[:, None]
        return Z

    def _standard(self, X: FloatArray) -> FloatArray:
        """Return columns less their centers, over their scales; 0 where values are missing."""
        return np.asarray(np.nan_to_num((X - self.center_) / self.scale_))

    def _singles(self, Z: FloatArray) -> list[FloatArray]:
        """Return columns, squares of numbers, and hinges at their quantiles."""
        numbers = Z[:, self.numbers_]
        return [Z, np.square(numbers), *np.maximum(numbers - self.knots_, 0.0)]


class Additive(_OfTerms):
    """Ridge regression on columns, squares of numbers, and hinges at their twentieths.

    The penalty has the smallest leave-one-out error.
    """

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: Any = None) -> Self:
        """Fit it, by the eigenvectors of the columns."""
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        columns = np.column_stack(self._singles(self._learn(X, TWENTIETHS)))
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
        shrunk = 1 / (np.maximum(values, 0.0)[:, None] + PENALTIES)
        fits = P @ (shrunk * (P.T @ r)[:, None])
        leverage = np.square(P) @ shrunk + (weights / weights.sum())[:, None]
        # Residuals over 1 - leverage are those of rows that are left out.
        best = np.square((r[:, None] - fits) / (1 - leverage)).sum(axis=0).argmin()
        self.coef_ = vectors @ (shrunk[:, best] * (P.T @ r)) / spread
        self.intercept_ = level - center @ self.coef_
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions, shape (n,)."""
        columns = np.column_stack(self._singles(self._standard(X)))
        return np.asarray(columns @ self.coef_ + self.intercept_)


class Stepwise(_OfTerms):
    r"""Least squares on terms that are selected, one after the other, while the next has a large t.

    Terms are columns, squares of numbers, hinges at their tenths and steps at their hundredths;
    products of two columns, and of two gates, which say whether numbers are above their medians.
    With r the residual so far and :math:`D_\perp` a term less its fit by those selected,
    :math:`t = D^\top r / (\lVert D_\perp \rVert s)`, where s² is the mean of r², or its mean
    weighted by D² if that is larger. Steps and products are never made: :math:`D^\top r` of
    steps are sums of r by hundredth, and of products of columns T they are in
    :math:`T^\top \mathrm{diag}(r)\, T`.
    """

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: Any = None) -> Self:
        """Select terms by at most `MANY` rows, and fit them to all."""
        Z, weights = self._learn(X, TENTHS), np.ones(len(y))
        self.steps_ = [np.quantile(Z[:, j], HUNDREDTHS) for j in self.numbers_]
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
        """Return hundredths, whose steps are terms; terms; and two tables with products."""
        numbers = Z[:, self.numbers_]
        places = zip(self.steps_, numbers.T, strict=True)
        hundredths = [np.searchsorted(steps, z) for steps, z in places]
        gates = (numbers > self.knots_[len(TENTHS) // 2]).astype(np.float64)
        bins = np.column_stack([np.empty((len(Z), 0), np.intp), *hundredths])
        return [bins, np.column_stack(self._singles(Z)), Z, gates]

    def _columns(self, Z: FloatArray) -> FloatArray:
        """Return a column of ones and the terms that were selected, shape (n, 1 + terms)."""
        tables = self._tables(Z)
        return np.column_stack([np.ones(len(Z)), *(_term(tables, k) for k in self.terms_)])


class LogisticThenStepwise(LogisticThenTrees):
    """Logistic regression, then `Stepwise` on the residuals of its probabilities."""

    def _train_rest(self, X: FloatArray, y: FloatArray, weights: Any) -> Stepwise:
        """Return what predicts the residuals of a class: terms that are selected."""
        return Stepwise().fit(X, y, weights)


def _pairs(table: FloatArray) -> tuple[Any, Any]:
    """Return the positions of all pairs of different columns, the first and the second of each."""
    return np.triu_indices(table.shape[1], 1)


def _term(tables: Sequence[FloatArray], k: int) -> FloatArray:
    """Return a term by its place among steps, those of one column, and products."""
    bins, singles, *others = tables
    j, step = divmod(k, len(HUNDREDTHS))
    if j < bins.shape[1]:
        return np.asarray(bins[:, j] > step, np.float64)
    k -= bins.shape[1] * len(HUNDREDTHS) + singles.shape[1]
    if k < 0:
        return singles[:, k]
    for table in others:
        a, b = _pairs(table)
        if k < len(a):
            break
        k -= len(a)
    return np.asarray(table[:, a[k]] * table[:, b[k]])


def _products_with(tables: Sequence[FloatArray], values: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_i D_{ij} v_i` for every term D, shape (terms,), without making terms.

    `tables` are those of `Stepwise`, `values` has shape (n,).
    """
    bins, singles, *others = tables
    by_bin = [np.bincount(column, values, 1 + len(HUNDREDTHS)) for column in bins.T]
    steps = [sums[:0:-1].cumsum()[::-1] for sums in by_bin]
    products = [((table * values[:, None]).T @ table)[_pairs(table)] for table in others]
    return np.concatenate([*steps, singles.T @ values, *products])


def _select(tables: Sequence[FloatArray], y: FloatArray, weights: FloatArray) -> list[int]:
    """Return the places of terms in the order in which they are selected."""
    bins, *others = tables
    squares, found = [bins, *map(np.square, others)], list[int]()
    raw = _products_with(squares, weights)
    one = np.full(len(y), weights.sum() ** -0.5)
    basis, r = [one], y - one * (one @ (weights * y))
    left = raw - np.square(_products_with(tables, weights * one))
    varies = left > np.sqrt(np.finfo(np.float64).eps) * raw
    least, bound = SAME * left, norm.isf(LEVEL / 2 / max(varies.sum(), 1))
    while len(found) < MOST_TERMS and varies.any():
        error = np.square(weights * r)
        s2 = np.maximum(
            error.sum() / weights.sum(), _products_with(squares, error) / np.maximum(raw, 1e-99)
        )
        size = np.where(varies & (left > least), left, np.inf)
        t = np.abs(_products_with(tables, weights * r)) / np.sqrt(size * np.maximum(s2, 1e-99))
        if t.max() <= bound:
            break
        found.append(int(t.argmax()))
        q = _term(tables, found[-1])
        for each in basis:
            q = q - each * (each @ (weights * q))
        q = q / np.sqrt(q @ (weights * q))
        basis.append(q)
        left, r = left - np.square(_products_with(tables, weights * q)), r - q * (q @ (weights * r))
    return found
