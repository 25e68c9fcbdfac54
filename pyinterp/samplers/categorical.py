"""Draws of categories by their probabilities given the other variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from pyinterp._typing import FloatArray
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError
from pyinterp.representation import call_form
from pyinterp.samplers.encoding import blocks, codes_of, levels_of
from pyinterp.samplers.learners import LogisticThenTrees, copy_estimator, train_estimator
from pyinterp.samplers.sampler import ConditionalDistribution, Draws, LearningRows, Sampler, Target

MOST_LEVELS = 50


@dataclass(frozen=True)
class Categorical(Sampler):
    r"""Replace a category by every level, weighted by its probability given the other variables.

    Khan, Saarela and Kustra (2025, section 4.3) draw from Bernoulli or multinomial trials. Such
    draws approximate the mean over all levels, which has no Monte Carlo error.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        Learner of the probabilities, with ``predict_proba``. By default logistic regression; with
        boosted trees on the residuals of its probabilities if these help in a cross-validation of
        all rows.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1)
    >>> sampler = pi.samplers.Categorical()
    >>> res.pfi("sex", sampler=sampler).params.round().to_dict()
    {'sex': 42.0}
    """

    estimator: Any = None
    label = "levels drawn by their probabilities"
    takes_weights = True
    learners: ClassVar[tuple[Any, ...]] = (LogisticThenTrees(trees=False), LogisticThenTrees())

    __repr__ = call_form

    def __post_init__(self) -> None:
        copy_estimator(
            self, "classifier", lambda e: is_classifier(e) and hasattr(e, "predict_proba")
        )

    def check(self, target: Target, sample: pd.DataFrame) -> None:
        """Raise ``OptionError`` unless the feature is one variable with few levels.

        Examples
        --------
        >>> from pyinterp.samplers.sampler import Target
        >>> sampler.check(Target("sex", ("sex",), discrete=False), data[["sex", "bp"]])
        """
        if len(target.variables) > 1:
            raise OptionError(
                f"Levels can be drawn for one variable at a time, but `{target.name}` is a group; "
                'use `sampler="subgroup"`.'
            )
        (name,) = target.variables
        levels = sample[name].nunique()
        if levels > MOST_LEVELS:
            what = "is a number with" if not is_category(sample[name]) else "has"
            raise OptionError(
                f"Levels can be drawn if there are at most {MOST_LEVELS}, but `{name}` {what} "
                f'{levels}; use `sampler="residual"` for numbers, or merge levels.'
            )

    def learn(self, data: LearningRows) -> ConditionalDistribution:
        """Learn the probabilities of the levels given the other variables.

        Examples
        --------
        >>> case = res.analysis.cases[0]
        >>> case.conditional(sampler, ("sex",)).size
        2
        """
        estimator = self.estimator
        if estimator is None:
            estimator = data.choose(self.learners, _CategoricalDistribution)
        return _CategoricalDistribution(data, estimator)


class _CategoricalDistribution(ConditionalDistribution):
    def __init__(self, data: LearningRows, estimator: Any) -> None:
        name = data.target.columns[0]
        column = data.sample[name]
        first = column.drop_duplicates()  # of the data's type
        order = [first.tolist().index(level) for level in levels_of(column)]
        self._frame = first.iloc[order].reset_index(drop=True).to_frame()
        labels = self._frame[name].to_numpy(object)
        self.levels = tuple(labels)

        def fit(others: FloatArray, target: pd.DataFrame, weights: FloatArray | None) -> Any:
            codes = codes_of(target[name], self.levels)
            present = np.unique(codes)
            if len(present) == 1 or not others.shape[1]:
                counts = np.bincount(codes, weights, minlength=len(labels))
                shares = counts / counts.sum()
                return lambda rows: np.broadcast_to(shares, (len(rows), len(labels)))
            # A level without training rows has probability 0.
            return train_estimator(estimator, others, codes, data.seed, range(len(labels)), weights)

        self._shares = np.asarray(data.out_of_sample(fit), np.float64)
        self.prediction = self._shares
        self.size = len(labels)
        codes = codes_of(data.target[name], self.levels)
        if is_category(column) or name in data.covariates.codes:
            observed, expected = np.eye(len(labels))[codes], self._shares
        else:  # the variance of the number
            numbers = labels.astype(np.float64)[:, None]
            observed, expected = numbers[codes], self._shares @ numbers
        self.squared_residuals = self.errors = ((observed - expected) ** 2).sum(axis=1)
        mean = np.average(observed, axis=0, weights=data.weights)
        self.squared_deviations = ((observed - mean) ** 2).sum(axis=1)

    def all(self) -> Iterator[Draws]:
        """Yield every level for every row, with its probability."""
        levels = np.arange(len(self._frame))
        for rows in blocks(len(self._shares), len(levels)):
            index = np.broadcast_to(levels, (len(rows), len(levels)))
            yield Draws(rows, self._frame, index, weights=self._shares[rows])

    def some(self, k: int, rng: np.random.Generator) -> Iterator[Draws]:
        """Yield all draws, whatever k: there are few levels."""
        return self.all()
