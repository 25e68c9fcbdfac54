"""Exact what-if predictions of linear and generalized linear models, on the link scale."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pyinterp._typing import FloatArray, IntArray, TwoArrays
from pyinterp.data.features import Features
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models import links
from pyinterp.models.aims import aim_of
from pyinterp.models.libraries import library_of
from pyinterp.models.links import Link, only_sum
from pyinterp.models.offset_model import OffsetModel
from pyinterp.models.predictor import Kind
from pyinterp.representation import frozen
from pyinterp.whatif.piecewise_sums import PIECES, piecewise_sums
from pyinterp.whatif.smooth_sums import SMOOTH, line_of, smooth_sums
from pyinterp.whatif.whatif import PAIRS, ExactWhatIf


@frozen
class LinearModel:
    """f(x) = link(intercept + x @ coefficients).

    Attributes
    ----------
    coefficients : ndarray of shape (columns, outputs)
    intercept : ndarray of shape (outputs,)
    link : callable
        From linear predictors, shape (..., outputs), to predictions, shape (...) or
        (..., classes).
    """

    coefficients: FloatArray
    intercept: FloatArray
    link: Link


def read_linear(estimator: Any, kind: Kind) -> LinearModel | None:
    """Return coefficients and inverse link of a fitted model; None if it is not linear.

    Reads models with ``coef_``, as scikit-learn's, and results with ``params``.
    """
    if isinstance(estimator, OffsetModel):
        inside = read_linear(estimator.inside, kind)
        if inside is None or inside.coefficients.shape[1] != 1:
            return None
        # One more column, which is added to the linear predictor.
        coefficients = np.vstack([inside.coefficients, [[1.0]]])
        return replace(inside, coefficients=coefficients)
    results = getattr(estimator, "results_", estimator)
    results = getattr(results, "_results", results)  # without names
    if hasattr(results, "params") and hasattr(results, "model"):
        link = library_of(results).link(results, kind)
        coefficients, intercept = np.asarray(results.params, np.float64), np.zeros(1)
    else:  # raises if there are none, or sparse ones, as of a kernel
        coefficients = np.asarray(estimator.coef_, np.float64).T
        link = _link_of_estimator(estimator, kind)
        intercept = np.atleast_1d(np.asarray(estimator.intercept_, np.float64))
    if coefficients.ndim == 1:
        coefficients = coefficients[:, None]
    # Labels by one row of coefficients per pair of classes, which vote, are not linear.
    votes = kind == "label" and hasattr(estimator, "support_") and coefficients.shape[1] > 1
    if link is None or votes or coefficients.ndim != 2 or intercept.ndim != 1:
        return None
    return LinearModel(coefficients=coefficients, intercept=intercept, link=link)


def _link_of_estimator(estimator: Any, kind: Kind) -> Link:
    """Return the inverse link of a scikit-learn model."""
    name = type(estimator).__name__
    if kind == "label":
        return links.largest
    if kind == "mean":
        return links.exponential if aim_of(estimator).family else only_sum
    if np.size(estimator.intercept_) == 1:
        return links.logistic
    return links.one_against_rest if name == "SGDClassifier" else links.softmax


class LinearWhatIf(ExactWhatIf):
    """What-if predictions of a linear model: kept and replaced columns add up on the link scale."""

    name = "linear"
    block_bytes = 2**20
    model: LinearModel

    read = staticmethod(read_linear)

    def table(self, rows: FloatArray, columns: IntArray, values: FloatArray) -> FloatArray:
        """Predict every row with the values of every donor in some columns."""
        linear = self.model.intercept + rows @ self.model.coefficients
        kept, replaced = self._sides(rows, linear, columns, values)
        return self._predictions(kept[:, None] + replaced)

    def pairs(self, rows: IntArray, columns: IntArray, values: FloatArray) -> FloatArray:
        """Predict rows each with other values, shape (b, k, columns)."""
        kept, replaced = self._sides(self.inputs.rows, self._linear, columns, values)
        return self._predictions(kept[rows, None] + replaced)

    def most_pairs(self, loss: Loss, columns: IntArray, values: FloatArray) -> float:
        """Return how many pairs are worth an exact mean: no bound for sums without predictions."""
        summed = loss == LOSSES["squared"] or loss in PIECES
        return np.inf if summed and self.model.link is only_sum else PAIRS

    def sums_of_all(
        self, y: FloatArray, loss: Loss, features: Features
    ) -> tuple[list[str], FloatArray, FloatArray]:
        """Return features with columns of their own, and two sums of squared errors of each.

        The errors are those of all pairs of a row and a donor, summed over donors and over rows,
        shapes (n, features).
        """
        if loss != LOSSES["squared"] or self.model.link is not only_sum:
            return super().sums_of_all(y, loss, features)
        every = {name: self.inputs.separate_columns(of) for name, of in features.items()}
        own = {name: each for name, each in every.items() if each is not None}
        donated = np.empty((len(y), len(own)), order="F")
        for j, (columns, values) in enumerate(own.values()):
            donated[:, j] = values @ self.model.coefficients[columns, 0]
        donated -= donated[0]  # exactly 0 for a feature that does not vary
        rest = donated + (y - self._linear[:, 0])[:, None]
        return [*own], *_squares(rest, donated, np.ones(len(y)))

    def summed_losses(
        self, y: FloatArray, loss: Loss, columns: IntArray, values: FloatArray, counts: IntArray
    ) -> TwoArrays | None:
        """Return losses summed over donors, shape (n,), and over rows, shape (m,).

        `counts` says how many donors each of m distinct ones stands for. None if there is no closed
        form, and losses must be added up one by one.
        """
        kept, donated = self._sides(self.inputs.rows, self._linear, columns, values)
        if self.model.link is only_sum and loss == LOSSES["squared"]:
            return _squares(y - kept[:, 0], donated[:, 0], counts)
        if self.model.link is only_sum and loss in PIECES:
            return piecewise_sums(y - kept[:, 0], donated[:, 0], counts, PIECES[loss])
        return self._smooth_sums(y, loss, kept, donated, counts)

    def _smooth_sums(
        self, y: FloatArray, loss: Loss, kept: FloatArray, donated: FloatArray, counts: IntArray
    ) -> TwoArrays | None:
        """Return sums of a smooth loss, by nodes on the line of donors; None of other losses."""
        line = line_of(donated) if loss in SMOOTH else None
        if line is None:
            return None
        middle, half, place = line

        def losses(rows: IntArray, place: FloatArray) -> FloatArray:
            linear = kept[rows, None] + (middle + place[:, None] * half)
            return loss(y[rows, None], self.finish(self._predictions(linear)))

        return smooth_sums(
            losses, len(y), place, counts, outputs=kept.shape[1], reach=float(np.ptp([*half, 0.0]))
        )

    def predictions_with_rounding(self, whatif: FloatArray) -> TwoArrays:
        """Return predictions of the engine's rows, then of what-if rows, and their rounding.

        Sums of p terms in two orders differ, with high probability, by the root of p times the
        rounding unit times the sum of the terms' sizes [1]_, which may be far larger than the
        prediction.

        References
        ----------
        .. [1] Higham, N. J. and Mary, T. (2019). A new approach to probabilistic rounding error
           analysis. SIAM Journal on Scientific Computing 41, A2815-A2835.
        """
        rows, model = np.concatenate([self.inputs.rows, whatif]), self.model
        with np.errstate(all="ignore"):  # what overflows is refused
            linear = model.intercept + rows @ model.coefficients
            predictions = model.link(linear)
            if self.predictor.kind == "label":  # a class moves by all or nothing
                return predictions, np.zeros_like(predictions)
            size = np.abs(model.intercept) + np.abs(rows) @ np.abs(model.coefficients)
            off = np.sqrt(rows.shape[1] + 1) * np.finfo(np.float64).eps * size
            return predictions, links.shift(model.link, linear, predictions, off)

    @cached_property
    def _linear(self) -> FloatArray:
        """The linear predictors of the rows as they are, (n, outputs)."""
        return self.model.intercept + self.inputs.rows @ self.model.coefficients

    def _sides(
        self, rows: FloatArray, linear: FloatArray, columns: IntArray, values: FloatArray
    ) -> TwoArrays:
        """Return linear predictors of kept columns, (n, outputs), and of values, (..., outputs)."""
        replaced = self.model.coefficients[columns]
        return linear - rows[:, columns] @ replaced, values @ replaced

    def _predictions(self, linear: FloatArray) -> FloatArray:
        """Return predictions from linear predictors, shape (..., outputs)."""
        with np.errstate(all="ignore"):  # what overflows is refused, in a sentence
            return self.model.link(linear)


def _squares(rest: FloatArray, replaced: FloatArray, counts: Any) -> TwoArrays:
    """Return sums of (r_i - b_d)^2 over donors d, each of which stands for `counts`, and over rows.

    They add up to the square of the mean, and the variance around it.
    """
    center, middle = counts @ replaced / counts.sum(), rest.mean(axis=0)
    around = counts @ np.square(replaced - center)
    between = np.square(rest - middle).sum(axis=0)
    return (
        counts.sum() * np.square(rest - center) + around,
        len(rest) * np.square(middle - replaced) + between,
    )
