"""Draws by exchanging residuals: the feature's prediction plus another row's residual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import is_regressor

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_flag
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError
from pyinterp.representation import call_form
from pyinterp.samplers.encoding import blocks
from pyinterp.samplers.learners import LinearThenTrees, copy_estimator, train_estimator
from pyinterp.samplers.marginal import balanced_permutations
from pyinterp.samplers.sampler import ConditionalDistribution, Draws, LearningRows, Sampler, Target


@dataclass(frozen=True)
class Residual(Sampler):
    r"""Replace numbers by :math:`\hat x_S(x_C) + r`, r the residual of another evaluation row.

    Khan, Saarela and Kustra (2025, eqs 24-26, Algorithm 2): :math:`\hat x_S` is learned from the
    training rows, residuals come from the evaluation rows, by their sampling weights if they have
    some. Right if the distribution of
    :math:`X_S - E(X_S \mid X_C)` does not depend on :math:`X_C`. A group moves jointly: all its
    residuals come from the same row. If a model's training rows are not known, predictions are
    made by a 5-fold cross-validation in its evaluation rows.

    Parameters
    ----------
    estimator : scikit-learn regressor, optional
        Learner of the variables given the others, one at a time. By default ridge regression; with
        boosted trees on its residuals if these help in a cross-validation of all rows.
    within_range : bool
        Move draws outside the range of all observed values to its end; for formulas such as
        ``np.log(x)`` or ``bs(x)`` that are not defined everywhere.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1)
    >>> sampler = pi.samplers.Residual()
    >>> res.pfi("bmi", sampler=sampler).params.round().to_dict()
    {'bmi': 2510.0}
    """

    estimator: Any = None
    within_range: bool = False
    label = "residuals exchanged"
    takes_weights = True
    learners: ClassVar[tuple[Any, ...]] = (LinearThenTrees(trees=False), LinearThenTrees())

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_flag("within_range", self.within_range)
        copy_estimator(self, "regressor", is_regressor)

    def check(self, target: Target, sample: pd.DataFrame) -> None:
        """Raise ``OptionError`` unless the feature's variables are numbers.

        Examples
        --------
        >>> from pyinterp.samplers.sampler import Target
        >>> sampler.check(Target("bmi", ("bmi",), discrete=False), data[["bmi", "bp"]])
        """
        for name in target.variables:
            if is_category(sample[name]) or target.discrete:
                raise OptionError(
                    f"Residuals are exchanged between numbers, but `{name}` is a category; use "
                    f'`sampler={{"{target.name}": "categorical"}}`, or "subgroup" for groups.'
                )

    def learn(self, data: LearningRows) -> ConditionalDistribution:
        """Learn the conditional mean of every variable.

        Examples
        --------
        >>> case = res.analysis.cases[0]
        >>> case.conditional(sampler, ("bmi",)).size
        132
        """
        estimator = self.estimator
        if estimator is None:
            estimator = self._choose(data)
        return _ResidualDistribution(data, estimator, within_range=self.within_range)

    def _choose(self, data: LearningRows) -> Any:
        """Return the default learner of the rows."""
        return data.choose(self.learners, _ResidualDistribution)


class _ResidualDistribution(ConditionalDistribution):
    def __init__(self, data: LearningRows, estimator: Any, *, within_range: bool = False) -> None:
        def fit(others: FloatArray, target: pd.DataFrame, weights: FloatArray | None) -> Any:
            values = target.to_numpy(np.float64)
            if not others.shape[1]:
                mean = np.average(values, axis=0, weights=weights)
                return lambda rows: np.broadcast_to(mean, (len(rows), values.shape[1]))
            train = partial(train_estimator, estimator, others, seed=data.seed, weights=weights)
            models = [train(column) for column in values.T]
            return lambda rows: np.column_stack([predict(rows) for predict in models])

        linear = isinstance(estimator, LinearThenTrees) and not estimator.trees
        values, center = data.numbers, data.linear if linear else None
        if center is None:
            center = np.asarray(data.out_of_sample(fit), np.float64)
        self._center, self._residuals = center, values - center
        self._range: Any = -np.inf, np.inf
        if within_range:
            every = data.sample.to_numpy(np.float64)
            self._range = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
        self._columns, self.size = pd.Index(data.variables), len(center) - 1
        self._weights, units = data.weights, values.std(axis=0)
        self.prediction = center[:, 0] if center.shape[1] == 1 else center
        self.errors = np.square(self._residuals / np.where(units > 0, units, 1.0)).sum(axis=1)
        if center.shape[1] == 1:
            self.squared_residuals = self._residuals[:, 0] ** 2
            mean = np.average(values[:, 0], weights=data.weights)
            self.squared_deviations = (values[:, 0] - mean) ** 2

    def all(self) -> Iterator[Draws]:
        """Yield every other row's residual for every row, in increasing order."""
        n = len(self._residuals)
        order = np.argsort(self._residuals[:, 0], kind="stable")
        for rows in blocks(n, n - 1):
            donors = np.broadcast_to(order, (len(rows), n))
            others = donors != rows[:, None]
            yield self._draws(rows, donors[others].reshape(len(rows), n - 1))

    def some(self, k: int, rng: np.random.Generator) -> Iterator[Draws]:
        """Yield k balanced permutations of the residuals; draws by weight, if rows have some."""
        n = len(self._residuals)
        if self._weights is None:
            donors = balanced_permutations(n, k, rng)
        else:
            draw = partial(rng.choice, n, p=self._weights / self._weights.sum())
            donors = np.asarray(draw((n, k)))
            while (own := donors == np.arange(n)[:, None]).any():
                donors[own] = draw(own.sum())  # other rows only
        for rows in blocks(len(donors), k):
            yield self._draws(rows, donors[rows])

    def _draws(self, rows: IntArray, donors: IntArray) -> Draws:
        """Return draws for rows: their means plus the residuals of donors, shape (rows, draws)."""
        values = np.clip(self._center[rows, None, :] + self._residuals[donors], *self._range)
        frame = pd.DataFrame(values.reshape(-1, values.shape[2]), columns=self._columns)
        return Draws(rows, frame, np.arange(donors.size).reshape(donors.shape), donors=donors)
