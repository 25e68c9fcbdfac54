"""Means given the others that are not linear: curves, surfaces, or terms that are selected."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin

from pyinterp._typing import FloatArray, TwoArrays
from pyinterp.samplers.learners import MANY, PENALTIES, LogisticThenTrees, ridge

TENTHS, HUNDREDTHS = (np.arange(1, k) / k for k in (10, 100))
WIDTH = 0.4  # of bumps, and from one to the next, in standard deviations of normal scores
CENTERS = WIDTH * np.arange(-7, 8)
LANDMARKS = 200  # rows whose surfaces span those of all
MOST_TERMS = 15
LEVEL = 0.05  # of the t of the next term, divided by the number of terms
ROUNDING = 1e-9  # of the largest eigenvalue
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
        columns = self._columns(self._learn(X))
        center, level = (np.average(part, axis=0, weights=weights) for part in (columns, y))
        spread = columns.std(axis=0)
        spread[columns.shape[1] - self.surfaces_ :] = 1.0  # these have their scale
        spread = np.where(spread > 0, spread, 1.0)
        root = np.sqrt(weights)
        C, r = root[:, None] * (columns - center) / spread, root * (y - level)
        values, vectors = np.linalg.eigh(C.T @ C if len(C) > C.shape[1] else C @ C.T)
        if len(C) <= C.shape[1]:
            vectors = C.T @ _over_roots(vectors, values)
            values = values[-vectors.shape[1] :]
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

    def _learn(self, X: FloatArray) -> FloatArray:
        """Learn centers, scales and normal scores; return standardized columns, shape (n, p)."""
        Z = super()._learn(X)
        self.scores_ = [_normal_scores(Z[:, j]) for j in self.numbers_]
        self.surfaces_ = 0  # an additive model has none
        return Z

    def _scores(self, Z: FloatArray) -> FloatArray:
        """Return normal scores of numbers, shape (n, numbers)."""
        numbers = zip(Z[:, self.numbers_].T, self.scores_, strict=True)
        return np.column_stack([Z[:, :0], *(np.interp(z, *each) for z, each in numbers)])

    def _columns(self, Z: FloatArray) -> FloatArray:
        """Return columns, squares of scores, and bumps, shape (n, terms)."""
        scores = self._scores(Z)
        bumps = np.exp(-0.5 * ((scores[:, :, None] - CENTERS) / WIDTH) ** 2)
        return np.column_stack([Z, np.square(scores), bumps.reshape(len(Z), -1)])


class Surfaces(Additive):
    r"""The same, and smooth surfaces of every two columns.

    These are products of columns' curves: of numbers, Legendre's polynomials of degrees 1 and 2
    of their ranks, :math:`f_j` and :math:`q_j`; of others, the columns. They are never made. With
    :math:`k_j = f_j f_j^\top + q_j q_j^\top` for two rows, products of all products are
    :math:`((\sum k_j)^2 - \sum k_j^2) / 2`. Rows have these with `LANDMARKS` rows, standardized
    by those among the landmarks.
    """

    def _learn(self, X: FloatArray) -> FloatArray:
        """Learn landmarks, and the centers and scales of products with them."""
        Z = super()._learn(X)
        self.landmarks_ = Z[:: 1 + (len(Z) - 1) // LANDMARKS]
        values, vectors = np.linalg.eigh(self._alike(self.landmarks_))
        self.whiten_ = _over_roots(vectors, values)
        self.surfaces_ = self.whiten_.shape[1]
        return Z

    def _columns(self, Z: FloatArray) -> FloatArray:
        """Return columns, curves and surfaces, shape (n, terms)."""
        return np.column_stack([super()._columns(Z), self._alike(Z) @ self.whiten_])

    def _alike(self, Z: FloatArray) -> FloatArray:
        """Return products of rows' surfaces with those of landmarks, shape (n, landmarks)."""
        (curves, squares), (others, theirs) = map(self._curves, (Z, self.landmarks_))
        return ((curves @ others.T) ** 2 - squares @ theirs.T) / 2

    def _curves(self, Z: FloatArray) -> TwoArrays:
        """Return curves of all columns, and the squares and products of each column's own."""
        rank = 2 * norm.cdf(self._scores(Z)) - 1
        f, q = Z.copy(), 0 * Z
        f[:, self.numbers_], q[:, self.numbers_] = 3**0.5 * rank, 1.25**0.5 * (3 * rank**2 - 1)
        return np.hstack([f, q]), np.hstack([f * f, 2**0.5 * f * q, q * q])


def alike(X: FloatArray) -> FloatArray:
    """Return sums of products of every two rows' surfaces, less their means, shape (n, n)."""
    regression = Surfaces()
    regression.landmarks_ = Z = regression._learn(X)
    K = regression._alike(Z)
    means = K.mean(axis=0)
    return np.asarray(K - means - means[:, None] + means.mean())


def _over_roots(vectors: FloatArray, values: FloatArray) -> FloatArray:
    """Return eigenvectors over the roots of eigenvalues, but for those of 0."""
    some = values > ROUNDING * max(values[-1], 1.0)
    return np.asarray(vectors[:, some] / np.sqrt(values[some]))


def _normal_scores(z: FloatArray) -> TwoArrays:
    """Return distinct values in order, and the normal quantiles of their ranks."""
    values, counts = np.unique(z, return_counts=True)
    return values, norm.ppf((counts.cumsum() - counts / 2) / len(z))


class Stepwise(_OfTerms):
    r"""Least squares on terms that are selected, one after the other, while the next has a large t.

    Terms are columns, squares of numbers, hinges at their tenths and steps at their hundredths,
    all of these times a term that is selected, and products of two and of three columns.
    With r the residual so far and :math:`D_\perp` a term less its fit by those selected,
    :math:`t = D^\top r / (\lVert D_\perp \rVert s)`, where s² is the mean of r², or its mean
    weighted by D² if that is larger. Steps and products are never made: :math:`D^\top r` of
    steps are sums of r by hundredth, and of products of columns T they are in
    :math:`T^\top \mathrm{diag}(r)\, T`, of three with r times a column.
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
        return self._columns(self._standard(X)) @ self.coef_

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


class OfIndex(Stepwise):
    """Ridge regression, then `Stepwise` on its residuals, with its fit as a column (Tukey 1949)."""

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: Any = None) -> Self:
        """Fit both."""
        self.linear_ = ridge(X, y, sample_weight)
        index = self.linear_(X)
        return super().fit(np.column_stack([X, index]), y - index, sample_weight)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions, shape (n,)."""
        index = self.linear_(X)
        return np.asarray(index + super().predict(np.column_stack([X, index])))


class LogisticThenStepwise(LogisticThenTrees):
    """Logistic regression, then `Stepwise` on the residuals of its probabilities."""

    def _train_rest(self, X: FloatArray, y: FloatArray, weights: Any) -> Stepwise:
        """Return the regression of a class's residuals: on selected terms."""
        return Stepwise().fit(X, y, weights)


@lru_cache(maxsize=10)
def _products(p: int) -> list[tuple[int, ...]]:
    """Return the columns of every product, of two and then of three of p."""
    return [*combinations(range(p), 2), *combinations(range(p), 3)]


def _term(tables: Sequence[FloatArray], found: Sequence[FloatArray], k: int) -> FloatArray:
    """Return a term by its place: products of two columns, and what is under those selected."""
    bins, singles, columns = tables
    products = _products(columns.shape[1])
    if k < len(products):
        return np.asarray(columns[:, products[k]].prod(axis=1))
    steps = bins.shape[1] * len(HUNDREDTHS)
    over, k = divmod(k - len(products), steps + singles.shape[1])
    j, step = divmod(k, len(HUNDREDTHS))
    return np.asarray(found[over] * (bins[:, j] > step if k < steps else singles[:, k - steps]))


def _products_with(
    tables: Sequence[FloatArray], values: FloatArray, over: Sequence[FloatArray]
) -> Any:
    r"""Return :math:`\sum_i D_{ij} v_i` for every term D, shape (terms,), without making terms."""
    columns = tables[-1]

    def pairs(some: FloatArray, values: FloatArray) -> Any:
        return ((some * values[:, None]).T @ some)[np.triu_indices(some.shape[1], 1)]

    threes = [pairs(columns[:, j + 1 :], values * columns[:, j]) for j in range(columns.shape[1])]
    under = (_under(tables, values * each) for each in over)
    return np.concatenate([pairs(columns, values), *threes, *under])


def _under(tables: Sequence[FloatArray], values: FloatArray) -> FloatArray:
    """Return the inner products of values with every step of a number, and with every other term.

    A step is 1 in the rows whose bin is above it: the values are added up by bin, and cumulated
    from the last bin.
    """
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
