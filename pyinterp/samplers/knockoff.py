"""Draws of Gaussian model-X knockoffs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.covariance import ledoit_wolf_shrinkage

from pyinterp._typing import FloatArray
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError, list_of
from pyinterp.representation import call_form
from pyinterp.samplers.encoding import blocks
from pyinterp.samplers.sampler import ConditionalDistribution, Draws, LearningRows, Sampler, Target

NONE = 1e-8  # a share of variance that counts as none


@dataclass(frozen=True)
class Knockoff(Sampler):
    r"""Replace numbers by Gaussian second-order knockoffs, equicorrelated (Candès et al. 2018).

    .. math:: \tilde X \mid X \sim N(X - (X - \mu) \Sigma^{-1} D,\; 2 D - D \Sigma^{-1} D),
        \quad D = \mathrm{diag}(s),
        \quad s_j = \min(1, 2 \lambda_{\min}(\mathrm{corr}))\, \Sigma_{jj}

    with :math:`\mu` and :math:`\Sigma` of the training rows. With fewer than 10 rows per column the
    correlations are shrunk (Ledoit and Wolf). Units of columns change nothing. A constant stays as
    it is. Where others are linear functions of others, :math:`\lambda_{\min}` is the smallest
    eigenvalue above 0.

    A knockoff has the distribution of the feature given the others, but depends on the feature's
    value too: PFI by knockoffs of a linear effect :math:`\beta` is :math:`2 \beta^2 s_j`. CVIM
    needs another sampler.

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

    def check(self, target: Target, sample: pd.DataFrame) -> None:
        """Raise ``OptionError`` unless all are numbers, which do not determine the feature.

        Examples
        --------
        >>> from pyinterp.samplers.sampler import Target
        >>> sampler.check(Target("bmi", ("bmi",), discrete=False), data[["bmi", "bp"]])
        """
        if fault := _fault(target, sample):
            raise OptionError(f'Gaussian knockoffs need {fault}; use `sampler="conditional"`.')

    def learn(self, data: LearningRows) -> ConditionalDistribution:
        """Return the normal distribution of knockoffs given the rows, by means and covariances.

        Examples
        --------
        >>> case = res.analysis.cases[0]
        >>> case.conditional(sampler, ("bmi",)).size
        inf
        """
        return _KnockoffDistribution(data)


class _KnockoffDistribution(ConditionalDistribution):
    r"""Normal knockoffs of q variables x, given these and the p others.

    With :math:`\Sigma` the covariance of all q + p standardized variables, knockoffs have the mean
    :math:`x - (x, z) \Sigma^{-1} S` and the covariance :math:`2 S - S \Sigma^{-1} S`. S is s at the
    q variables and 0 else, and s, at most 1, is twice the smallest eigenvalue of :math:`\Sigma`
    (Candès et al. 2018, equicorrelated).
    """

    def __init__(self, data: LearningRows) -> None:
        # Learned from the training rows, if they are known, and applied to all rows.
        self.size = np.inf
        self._names = list(data.target.columns)
        q, given = len(self._names), (data.target, data.others)
        learned, rows, spread = _standardize(_join(*(data.training or given)[:2]), _join(*given))
        values, vectors = np.linalg.eigh(learned.T @ learned / len(learned))
        vary, null = spread[:q] > 0, vectors[:q, values <= NONE]
        # Directions without variance are left out, if they are of others only.
        kept = (values > NONE) | (np.square(null[vary]).max(initial=0.0) > NONE)
        few = len(learned) < 10 * np.count_nonzero(spread)
        share = ledoit_wolf_shrinkage(learned[:, spread > 0]) if few else 0.0
        values, vectors = (1 - share) * values[kept] + share, vectors[:, kept]
        s = min(1.0, 2 * values[0] * (values[0] > NONE)) * np.diag(vary)
        weights = vectors / np.maximum(values, NONE) @ vectors[:q].T @ s
        self._mean = data.target.to_numpy(np.float64) - rows @ weights * spread[:q]
        values, vectors = np.linalg.eigh(2 * s - s @ weights[:q])
        # The symmetric root: eigenvectors alone turn with last bits where eigenvalues are equal.
        self._root = vectors * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T * spread[:q]

    def all(self) -> Iterator[Draws]:
        """Raise ``OptionError``: there are infinitely many normal draws."""
        raise OptionError(
            'A normal law has no end of draws; state a number of `permutations`, or "auto".'
        )

    def some(self, k: int, rng: np.random.Generator) -> Iterator[Draws]:
        """Yield k independent draws per row."""
        n, q = self._mean.shape
        for rows in blocks(n, k):
            noise = rng.standard_normal((len(rows), k, q)) @ self._root
            frame = pd.DataFrame(
                (self._mean[rows, None] + noise).reshape(-1, q), columns=self._names
            )
            yield Draws(rows, frame, np.arange(len(rows) * k).reshape(len(rows), k))


def _fault(target: Target, sample: pd.DataFrame) -> str:
    """Return the conditions of Gaussian knockoffs that the data lack, in words; "" if none."""
    for name, column in sample.items():
        if column.isna().any():
            return f'all variables in every row (`missing="drop"`), but `{name}` is missing in some'
        if is_category(column) or (target.discrete and name in target.variables):
            return f"numbers only, but `{name}` is a category"
    names, numbers = np.array(sample.columns), sample.to_numpy(np.float64)
    columns, *_ = _standardize(numbers, numbers)
    values, vectors = np.linalg.eigh(matrix := columns.T @ columns / len(columns))
    null = vectors[:, values <= NONE]  # weights of sums that do not vary
    # As many columns as rows determine any other: there only copies count.
    sums = null @ null.T if len(numbers) > len(names) + 1 else 1.0 * (np.abs(matrix) > 1 - NONE)
    for at in np.flatnonzero(np.isin(names, target.variables)):
        parts = (sums[at] ** 2 > NONE * sums[at, at] ** 2) & (names != names[at])
        if sums[at, at] > NONE and parts.any():
            fault = f"`{names[at]}` is a linear function of {list_of(names[parts])}"
            return f"features that no other variables determine, but {fault}"
    return ""


def _join(target: pd.DataFrame, others: FloatArray) -> FloatArray:
    """Return variables and their others side by side as numbers, shape (n, q + p)."""
    return np.column_stack([target.to_numpy(np.float64), others])


def _standardize(learned: FloatArray, rows: FloatArray) -> tuple[FloatArray, ...]:
    """Return both by means and standard deviations of the first, and these; constants are 0."""
    low, width = learned.min(axis=0), np.ptp(learned, axis=0)
    # First the range, as squares of numbers of any unit would overflow.
    shares, others = ((part - low) / np.where(width > 0, width, np.inf) for part in (learned, rows))
    center, spread = shares.mean(axis=0), np.maximum(shares.std(axis=0), np.finfo(float).tiny)
    return (shares - center) / spread, (others - center) / spread, width * spread
