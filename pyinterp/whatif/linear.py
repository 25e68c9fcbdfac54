"""Exact what-if predictions of linear and generalized linear models, on the link scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import linalg, special, stats

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.data.formula import library_coding, names_in
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models.offset_model import OffsetModel
from pyinterp.models.prediction_checks import check_finite
from pyinterp.models.predictor import Kind
from pyinterp.whatif.batches import BatchedWhatIf
from pyinterp.whatif.inputs import ColumnValues, Inputs
from pyinterp.whatif.smooth_sums import is_smooth, line_of, smooth_sums
from pyinterp.whatif.whatif import PAIRS, PREDICTIONS, Block, Engine, FeatureWhatIf, WhatIf

__all__ = [
    "LinearFeature",
    "LinearModel",
    "LinearWhatIf",
    "contiguous",
    "joint_linear",
    "library_terms",
    "read_linear",
]

Link = Callable[[FloatArray], FloatArray]

BLOCK_BYTES = 2**20


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    """f(x) = inverse(intercept + x @ coefficients).

    Attributes
    ----------
    coefficients : ndarray of shape (columns, outputs)
    intercept : ndarray of shape (outputs,)
    inverse : callable
        From linear predictors, shape (..., outputs), to predictions, shape (...) or
        (..., classes).
    """

    coefficients: FloatArray
    intercept: FloatArray
    inverse: Link

    @property
    def identity(self) -> bool:
        """Whether predictions are the linear predictor itself."""
        return self.inverse is _identity


def read_linear(estimator: Any, kind: Kind) -> LinearModel | None:
    """Return coefficients and inverse link of a fitted model; None if it is not linear.

    Reads scikit-learn's models with ``coef_``, and statsmodels results.
    """
    if isinstance(estimator, OffsetModel):
        return _with_offset(read_linear(estimator.inside, kind))
    results = getattr(estimator, "results_", estimator)
    if hasattr(results, "params") and hasattr(results, "model"):
        link = _link_of_results(results.model, kind)
        coefficients, intercept = np.asarray(results.params, dtype=np.float64), np.zeros(1)
    elif hasattr(estimator, "coef_") and hasattr(estimator, "intercept_"):
        link = _link_of_estimator(estimator, kind)
        try:
            coefficients = np.asarray(estimator.coef_, dtype=np.float64).T
            intercept = np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64))
        except (AttributeError, TypeError, ValueError):  # sparse, or of a kernel
            return None
    else:
        return None
    if coefficients.ndim == 1:
        coefficients = coefficients[:, None]
    if link is None or coefficients.ndim != 2 or intercept.ndim != 1:
        return None
    if kind == "label" and hasattr(estimator, "support_") and coefficients.shape[1] > 1:
        return None  # one row of coefficients per pair of classes, which vote
    return LinearModel(coefficients=coefficients, intercept=intercept, inverse=link)


def joint_linear(models: Sequence[LinearModel], inverse: Link, *, apart: bool) -> LinearModel:
    """Return one model with the outputs of several, one after the other.

    They have the same columns, or columns `apart`, one model's after those of the other.
    """
    coefficients = [model.coefficients for model in models]
    return LinearModel(
        coefficients=linalg.block_diag(*coefficients) if apart else np.hstack(coefficients),
        intercept=np.concatenate([model.intercept for model in models]),
        inverse=inverse,
    )


def contiguous(inputs: FloatArray, _: IntArray) -> FloatArray:
    """Return inputs as they are: linear models take doubles."""
    return np.ascontiguousarray(inputs)


def library_terms(
    estimator: Any,
) -> tuple[Callable[[Matrix], FloatArray], Callable[[Sequence[str], Sequence[str]], bool]] | None:
    """Return two functions for statsmodels results of a formula; None for other models.

    The first encodes a frame as the formula does. The second says whether some term has some
    variables and others too.
    """
    data = getattr(getattr(estimator, "model", None), "data", None)
    # statsmodels renamed it in 0.15.
    info = getattr(data, "model_spec", None) or getattr(data, "design_info", None)
    coding = library_coding(info)
    if coding is None:
        return None
    encode, terms = coding

    def mixes(variables: Sequence[str], names: Sequence[str]) -> bool:
        for term in terms:
            in_term = {name for code in term for name in names_in(code, names)}
            if in_term & set(variables) and in_term - set(variables):
                return True
        return False

    return encode, mixes


class LinearWhatIf(WhatIf):
    """What-if predictions of a linear model.

    Parameters
    ----------
    batched : BatchedWhatIf
        Predicts where columns depend on replaced and on kept variables.
    model : LinearModel
        The coefficients.
    inputs : Inputs
        The rows that they multiply.
    factual : ndarray, optional
        Predictions on the rows as they are; by default computed when first used.
    """

    def __init__(
        self,
        batched: BatchedWhatIf,
        *,
        model: LinearModel,
        inputs: Inputs,
        factual: FloatArray | None = None,
    ) -> None:
        engine = Engine("linear, exact")
        super().__init__(batched.predictor, batched.design, batched.sample, engine, factual)
        self.batched, self.model, self.inputs = batched, model, inputs
        self.block_bytes = min(BLOCK_BYTES, int(batched.memory_mb * 2**20))

    def take(self, rows: IntArray) -> LinearWhatIf:
        """Return what-if predictions of the same model on some of the rows."""
        batched, factual = self.batched.take(rows), self.factual[rows]
        inputs = self.inputs.on(batched.sample)
        return LinearWhatIf(batched, model=self.model, inputs=inputs, factual=factual)

    def of(self, variables: Sequence[str]) -> LinearFeature:
        """Return what-if predictions with some variables replaced together."""
        return LinearFeature(self, variables)

    def compute(self, whatif: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
        """Return the engine's predictions of its rows, then of what-if rows, and their rounding."""
        rows, model = np.concatenate([self.inputs.rows, self.inputs.of(whatif)]), self.model
        with np.errstate(all="ignore"):  # what overflows is refused
            linear = model.intercept + rows @ model.coefficients
            return model.inverse(linear), self._rounding(rows, linear)

    def predictions(self, linear: FloatArray) -> FloatArray:
        """Return predictions from linear predictors, shape (..., outputs)."""
        with np.errstate(all="ignore"):  # refused below, in a sentence
            predictions = self.model.inverse(linear)
        check_finite(predictions, self.predictor.name)
        return predictions

    def _rounding(self, rows: FloatArray, linear: FloatArray) -> FloatArray:
        """Return how far rounding can move predictions when kept and replaced terms are added.

        Sums of p terms in two orders differ, with high probability, by the root of p times the
        rounding unit times the sum of the terms' sizes [1]_, which may be far larger than the
        prediction.

        References
        ----------
        .. [1] Higham, N. J. and Mary, T. (2019). A new approach to probabilistic rounding error
           analysis. SIAM Journal on Scientific Computing 41, A2815-A2835.
        """
        model = self.model
        predictions = model.inverse(linear)
        moved = np.zeros_like(predictions)
        if self.predictor.kind == "label":
            return moved  # a class moves by all or nothing
        size = np.abs(model.intercept) + np.abs(rows) @ np.abs(model.coefficients)
        off = np.sqrt(rows.shape[1] + 1) * np.finfo(np.float64).eps * size
        for one in np.eye(linear.shape[1]):
            for way in (one, -one):
                moved += np.abs(model.inverse(linear + off * way) - predictions)
        return moved


class LinearFeature(FeatureWhatIf):
    """What-if predictions of a feature: kept and replaced columns add up on the link scale.

    Parameters
    ----------
    whatif : LinearWhatIf
        The model and its rows.
    variables : sequence of str
        The variables that are replaced together.
    """

    def __init__(self, whatif: LinearWhatIf, variables: Sequence[str]) -> None:
        super().__init__(whatif.sample, variables)
        self._whatif = whatif

    @cached_property
    def _batches(self) -> FeatureWhatIf:
        return self._whatif.batched.of(self.variables)

    def most_pairs(self, loss: Loss) -> float:
        """No bound for squared error, whose sums need no predictions; else many."""
        if self._of_donors is None:
            return super().most_pairs(loss)
        return np.inf if self._sums_squares(loss) else PAIRS

    @property
    def most_draws(self) -> float:
        """Many where rows and donors add up; else earlier steps would have to encode every pair."""
        adds_up = self._whatif.inputs.columnwise and self._of_donors is not None
        return PAIRS if adds_up else PREDICTIONS

    def cross(self, donors: pd.DataFrame | None = None) -> Iterator[Block]:
        """Predict every row with the variables of every donor, in blocks of rows."""
        sides = self._sides(donors)
        if sides is None:
            yield from self._batches.cross(self._frame(donors))
            return
        rest, replaced = sides
        step = max(1, self._whatif.block_bytes // (8 * replaced.size))
        for start in range(0, len(rest), step):
            rows = np.arange(start, min(start + step, len(rest)))
            yield Block(rows, self._whatif.predictions(rest[rows, None] + replaced))

    def pairs(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None = None
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the variables of donors ``index[a]``."""
        shared = self._whatif.inputs.prefers_donors(len(self._frame(donors)), index.size)
        sides = self._sides(donors) if shared else None
        if sides is None:
            return self._batches.pairs(rows, index, self._frame(donors))
        rest, replaced = sides
        step = max(1, self._whatif.block_bytes // (8 * index.shape[1] * replaced.shape[1]))
        blocks = (slice(i, i + step) for i in range(0, len(rows), step))
        return np.concatenate(
            [
                self._whatif.predictions(rest[rows[some], None] + replaced[index[some]])
                for some in blocks
            ]
        )

    def summed_losses(self, y: FloatArray, loss: Loss) -> tuple[FloatArray, FloatArray]:
        """Return losses summed over donors, and over rows."""
        sides = self._sides()
        if sides is not None and is_smooth(loss) and (line := line_of(sides[1])) is not None:
            return self._smooth_sums(y, loss, sides[0], line)
        if sides is None or not self._sums_squares(loss):
            return super().summed_losses(y, loss)
        # (r_i - b_d)^2 adds up to that of the mean, and the variance around it.
        rest, replaced, counts = y - sides[0][:, 0], sides[1][:, 0], self.donors.counts
        center, middle = np.average(replaced, weights=counts), rest.mean()
        around = counts @ np.square(replaced - center)
        between = np.square(rest - middle).sum()
        return (
            counts.sum() * np.square(rest - center) + around,
            len(y) * np.square(middle - replaced) + between,
        )

    def _smooth_sums(
        self, y: FloatArray, loss: Loss, rest: FloatArray, line: tuple[FloatArray, ...]
    ) -> tuple[FloatArray, FloatArray]:
        middle, half, place = line

        def losses(rows: IntArray, place: FloatArray) -> FloatArray:
            linear = rest[rows, None] + (middle + place[:, None] * half)
            return loss(y[rows, None], self._whatif.predictions(linear))

        return smooth_sums(
            losses,
            len(y),
            place,
            self.donors.counts,
            outputs=rest.shape[1],
            reach=float(np.ptp([*half, 0.0])),
        )

    def _sums_squares(self, loss: Loss) -> bool:
        return loss == LOSSES["squared"] and self._whatif.model.identity

    @cached_property
    def _of_donors(self) -> ColumnValues | None:
        """The columns that the feature determines, and values by donor; None if rows matter."""
        return self._whatif.inputs.by_donor(self.variables, self.donors.frame)

    def _sides(self, donors: pd.DataFrame | None = None) -> tuple[FloatArray, FloatArray] | None:
        """Return linear predictors of kept columns, (n, outputs), and donors, (donors, outputs)."""
        inputs, model = self._whatif.inputs, self._whatif.model
        replaced = self._of_donors
        if donors is not None:
            replaced = inputs.by_donor(self.variables, self._frame(donors))
        if replaced is None:
            return None
        columns, values = replaced
        others = np.delete(inputs.rows, columns, axis=1)
        return (
            model.intercept + others @ np.delete(model.coefficients, columns, axis=0),
            values @ model.coefficients[columns],
        )


def _with_offset(model: LinearModel | None) -> LinearModel | None:
    """Return a linear model of one more column, which is added to its linear predictor."""
    if model is None or model.coefficients.shape[1] != 1:
        return None
    return replace(model, coefficients=np.vstack([model.coefficients, [[1.0]]]))


def _identity(linear: FloatArray) -> FloatArray:
    return linear[..., 0]


def _exponential(linear: FloatArray) -> FloatArray:
    return np.asarray(np.exp(linear[..., 0]))


def _two_classes(inverse: Link) -> Link:
    def probabilities(linear: FloatArray) -> FloatArray:
        p = inverse(linear)
        return np.stack([1 - p, p], axis=-1)

    return probabilities


def _logistic(linear: FloatArray) -> FloatArray:
    return np.asarray(special.expit(linear[..., 0]))


def _probit(linear: FloatArray) -> FloatArray:
    return np.asarray(stats.norm.cdf(linear[..., 0]))


def _softmax(linear: FloatArray) -> FloatArray:
    return np.asarray(special.softmax(linear, axis=-1))


def _one_against_rest(linear: FloatArray) -> FloatArray:
    p = special.expit(linear)
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def _after_the_first(linear: FloatArray) -> FloatArray:
    """Return probabilities of classes the first of which has linear predictor 0."""
    return _softmax(np.concatenate([np.zeros_like(linear[..., :1]), linear], axis=-1))


def _largest(linear: FloatArray) -> FloatArray:
    if linear.shape[-1] == 1:
        linear = np.concatenate([-linear, linear], axis=-1)
    best = linear.argmax(axis=-1)[..., None]
    return np.asarray(best == np.arange(linear.shape[-1]), dtype=np.float64)


def _link_of_estimator(estimator: Any, kind: Kind) -> Link | None:
    """Return the inverse link of a scikit-learn model."""
    name = type(estimator).__name__
    several = len(np.atleast_1d(np.asarray(estimator.intercept_))) > 1
    if kind == "label":
        return _largest
    if kind == "mean":
        params = estimator.get_params()
        auto = params.get("link") == "auto" and params.get("power", 0) > 0
        log = name in ("PoissonRegressor", "GammaRegressor") or params.get("link") == "log" or auto
        return _exponential if log else _identity
    if not several:
        return _two_classes(_logistic)
    return _one_against_rest if name == "SGDClassifier" else _softmax


def _link_of_results(model: Any, kind: Kind) -> Link | None:
    """Return the inverse link of a statsmodels model."""
    name, family = type(model).__name__, getattr(model, "family", None)
    if family is not None:
        inverse = family.link.inverse

        def stated(linear: FloatArray) -> FloatArray:
            return np.asarray(inverse(linear[..., 0]))

        if type(family.link).__name__ == "Identity" and kind == "mean":
            return _identity
        return stated if kind == "mean" else _two_classes(stated)
    return {
        **dict.fromkeys(("OLS", "WLS", "GLS", "GLSAR", "RLM", "QuantReg"), _identity),
        "Poisson": _exponential,
        "Logit": _two_classes(_logistic),
        "Probit": _two_classes(_probit),
        "MNLogit": _after_the_first,
    }.get(name)
