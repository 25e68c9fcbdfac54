"""Draws of Gaussian model-X knockoffs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.covariance import LedoitWolf

from pyinterp._typing import FloatArray
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError
from pyinterp.representation import call_form
from pyinterp.samplers.encoding import blocks
from pyinterp.samplers.sampler import ConditionalDistribution, Draws, LearningRows, Sampler, Target


@dataclass(frozen=True)
class Knockoff(Sampler):
    r"""Replace numbers by Gaussian second-order knockoffs, equicorrelated (Candès et al. 2018).

    .. math:: \tilde X \mid X \sim N(X - (X - \mu) \Sigma^{-1} D,\; 2 D - D \Sigma^{-1} D),
        \quad D = \mathrm{diag}(s),
        \quad s_j = \min(1, 2 \lambda_{\min}(\mathrm{corr}))\, \Sigma_{jj}

    with :math:`\mu` and :math:`\Sigma` (Ledoit and Wolf) of the training rows. A knockoff has the
    distribution of the feature given the others, but depends on the feature's value too. So PFI by
    knockoffs is at most PFI by independent conditional draws. CVIM needs another sampler.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1)
    >>> sampler = pi.samplers.Knockoff()
    >>> res.pfi("bmi", sampler=sampler).params.round().to_dict()
    {'bmi': 2924.0}
    """

    label = "Gaussian knockoffs"
    independent_draws = False

    __repr__ = call_form

    def check(self, target: Target, population: pd.DataFrame) -> None:
        """Raise ``OptionError`` unless all variables are numbers.

        Examples
        --------
        >>> from pyinterp.samplers.sampler import Target
        >>> sampler.check(Target("bmi", ("bmi",), discrete=False), data[["bmi", "bp"]])
        """
        for name, column in population.items():
            if column.isna().any():
                raise OptionError(
                    f"Gaussian knockoffs need all variables in every row, but `{name}` is missing "
                    'in some; use `sampler="conditional"`, or `missing="drop"`.'
                )
            if is_category(column) or (target.discrete and name in target.variables):
                raise OptionError(
                    f"Gaussian knockoffs need numbers only, but `{name}` is a category; use "
                    '`sampler="conditional"`.'
                )

    def learn(self, data: LearningRows) -> ConditionalDistribution:
        """Estimate means and covariances.

        Examples
        --------
        >>> case = res.analysis.cases[0]
        >>> case.conditional(sampler, ("bmi",)).size
        inf
        """
        return _KnockoffDistribution(data)


class _KnockoffDistribution(ConditionalDistribution):
    def __init__(self, data: LearningRows) -> None:
        self.size = np.inf
        self._names = list(data.target.columns)
        q = len(self._names)
        evaluation = data.target, data.others
        estimate = LedoitWolf().fit(_join(*(data.training or evaluation)))
        cov, rows = estimate.covariance_, _join(*evaluation) - estimate.location_
        spread = np.sqrt(np.diag(cov))
        spread[spread == 0] = 1.0
        least = max(float(np.linalg.eigvalsh(cov / np.outer(spread, spread))[0]), 0.0)
        s = np.diag(min(1.0, 2 * least) * spread**2)[:, :q]
        weights = np.linalg.solve(cov, s)
        self._mean = data.target.to_numpy(dtype=np.float64) - rows @ weights
        values, vectors = np.linalg.eigh(2 * s[:q] - s.T @ weights)
        self._root = vectors * np.sqrt(np.clip(values, 0.0, None))

    def all(self) -> Iterator[Draws]:
        """Raise ``OptionError``: there are infinitely many normal draws."""
        raise OptionError(
            "Knockoffs are drawn from a normal law, which has no end of draws; state a number of "
            '`permutations`, or leave it at "auto".'
        )

    def some(self, k: int, rng: np.random.Generator) -> Iterator[Draws]:
        """Yield k independent draws per row."""
        n, q = self._mean.shape
        for rows in blocks(n, k):
            noise = rng.standard_normal((len(rows), k, q)) @ self._root.T
            values = (self._mean[rows, None, :] + noise).reshape(-1, q)
            frame = pd.DataFrame(values, columns=self._names)
            yield Draws(rows, frame, np.arange(len(rows) * k).reshape(len(rows), k))


def _join(target: pd.DataFrame, others: FloatArray) -> FloatArray:
    return np.column_stack([target.to_numpy(dtype=np.float64), others])
