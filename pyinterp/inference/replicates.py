"""Estimates of every refit with sums of rows' contributions, from which variances are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.evaluations import Evaluations
from pyinterp.inference.half_sample.half_refits import HalfRefits
from pyinterp.inference.refit_sums import ROUNDING, Fold, RefitSums, beside, contributions
from pyinterp.representation import about, cached_table
from pyinterp.resampling import Group


class RefitEstimate(NamedTuple):
    """The estimate of one refit, and the rows that evaluated it.

    Attributes
    ----------
    estimate : Estimate
    rows : ndarray of int
        By their position in the data.
    group : Group or None
        The pair or bootstrap sample of the refit.
    clusters, weights : ndarray or None
        Of the rows.
    """

    estimate: Estimate
    rows: IntArray
    group: Group | None = None
    clusters: IntArray | None = None
    weights: FloatArray | None = None


class CoefficientErrors(NamedTuple):
    """How q estimates of one model change with its coefficients.

    Attributes
    ----------
    changes : ndarray of shape (k, q)
        Derivatives along k uncorrelated directions of the coefficients, each a standard error long.
    df : float
        Degrees of freedom of the model's tests; infinite if these are normal.
    cov_type : str
        What the model calls the covariance of its coefficients.
    """

    changes: FloatArray
    df: float
    cov_type: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Replicates:
    """Estimates over refits, as variances need them.

    Attributes
    ----------
    evaluations : Evaluations
        Which rows evaluate which refit, arranged by the resampling plan.
    sums : RefitSums
        The value of every refit, and sums of rows' contributions.
    no_effect : float or None
        The value of no effect, of an estimand that varies as the square of an effect; None for
        others.
    half_refits : tuple of HalfRefits
        How refits on halves and refits for the estimate predict, for every learner whose estimates
        these are; () where that is not known.
    groups : tuple of Replicates
        One for each group of rows whose terms stand side by side; () without groups.
    coefficient_errors : CoefficientErrors or None
        For the delta method, of one model that states the covariance of its coefficients.
    pool : bool
        Whether the one estimate is of the refits' rows together, no refit's own.
    no_intervals : str
        Why no interval of these estimates is valid; "" if one may be.
    """

    evaluations: Evaluations
    sums: RefitSums
    no_effect: float | None = None
    half_refits: tuple[HalfRefits, ...] = ()
    groups: tuple[Replicates, ...] = ()
    coefficient_errors: CoefficientErrors | None = None
    pool: bool = False
    no_intervals: str = ""

    @classmethod
    def of(
        cls,
        refits: Sequence[RefitEstimate],
        *,
        correction: float = 0.0,
        share: float = 1.0,
        **others: Any,
    ) -> Replicates:
        """Return the replicates of the estimates of every refit, in the order of the plan."""
        groups = [one.group for one in refits]
        evaluations = Evaluations.of(refits, groups, correction=correction, share=share)
        fold = Fold(evaluations)
        for k, one in enumerate(refits):
            fold.add(k, one.estimate)
        return cls(evaluations=evaluations, sums=fold.result(), **others)

    @property
    def parts(self) -> tuple[Replicates, ...]:
        """Replicates whose refits evaluate the same rows: one for each group of rows, or itself."""
        return self.groups or (self,)

    @property
    def number(self) -> int:
        """m, the number of refits whose mean is the estimate."""
        return len(self.evaluations.estimating)

    @cached_property
    def per_refit(self) -> FloatArray:
        """The estimates, shape (m, q)."""
        return self.sums.values[[*self.evaluations.estimating]]

    @property
    def of_pairs(self) -> FloatArray:
        """The estimates of refits on complementary halves, shape (M, 2, q)."""
        return self.sums.values[np.array(self.evaluations.pairs, np.intp).reshape(-1, 2)]

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates with their rows, where variances need these: of one model."""
        single = self.sums.single
        return tuple(single[k] for k in self.evaluations.estimating) if single else ()

    @cached_table
    def mc_variance(self) -> FloatArray:
        r"""Monte Carlo variance of the estimates' mean over m refits, shape (q,).

        By the draws inside estimates, and by the choice of r of N evaluation rows if `share` is
        r/N < 1. Given the models and all rows only the sample is random. The mean of refits'
        estimates is to first order a sum over its rows, so that (Cochran 1977, Theorem 2.2)

        .. math:: V = \left(1 - \frac{r}{N}\right) \frac{r}{r - 1} \sum_{i=1}^r u_i^2, \quad
            u_i = \frac{1}{m} \sum_{d : i \in d} \frac{t_{id} - T_d}{n_d}

        with :math:`t_{id}` the contribution, as a donor too, of row i to :math:`T_d`, and
        :math:`n_d` the number of rows that evaluate refit d. For one refit it is
        :math:`(1 - r/N) S^2 / r`, without bias for a mean.
        """
        each = self.sums.mc_variance[[*self.evaluations.estimating]]
        draws = each.sum(axis=0) / self.number**2
        if self.parts[0].sums.shares is None:
            return np.asarray(draws)
        return np.asarray(draws + np.concatenate([part._by_choice for part in self.parts]))

    @property
    def _by_choice(self) -> FloatArray:
        """The variance of the mean by the choice of evaluation rows, shape (q,)."""
        shares, r = np.asarray(self.sums.shares), int((self.evaluations.times > 0).sum())
        squares = np.square(shares / self.number).sum(axis=0)
        return np.asarray((1 - self.evaluations.share) * r / (r - 1) * squares)

    @property
    def relative(self) -> bool:
        """Whether the estimates are, or are made of, ratios to the learner's loss."""
        return self.parts[0].sums.below is not None

    @property
    def effects(self) -> FloatArray:
        """Return every row's contribution, as a donor too, as it deviates from the estimate.

        Averaged over the refits that the row evaluates, shape (n, q); 0 of rows that evaluate none.
        """
        sums = self.sums.effects
        if sums is None:
            sums = self._sum(contributions)
        return self._mean(sums)

    def _sum(self, part: Callable[[Estimate], FloatArray]) -> FloatArray:
        """Return the sums of a part of the one estimate, less its value, by row."""
        (estimate,), (at,) = self.sums.single, self.evaluations.at
        sums = np.zeros((len(self.evaluations.rows), len(estimate.value)))
        np.add.at(sums, at, part(estimate) - estimate.value)
        return sums

    def _mean(self, sums: FloatArray) -> FloatArray:
        """Return sums over refits, (n, q), over how many refits that estimate the row evaluates."""
        return np.asarray(sums / np.maximum(self.evaluations.times, 1)[:, None])

    @property
    def row_means(self) -> FloatArray:
        """Every row's contribution, not as a donor, averaged over refits: shape (n, q).

        Of groups, a row has none, NaN, to the terms of another group.
        """
        if self.groups:
            every = [group.row_means for group in self.groups]
            means = np.full((sum(map(len, every)), self.per_refit.shape[1]), np.nan)
            i = j = 0
            for part in every:
                means[i : i + len(part), j : j + part.shape[1]] = part
                i, j = i + len(part), j + part.shape[1]
            return means
        evaluations, sums = self.evaluations, self.sums.alone
        if sums is None:
            sums = self.sums.effects
        if sums is None:
            sums = self._sum(lambda estimate: estimate.rows)
        level = np.zeros_like(sums)
        for k in evaluations.estimating:
            level += evaluations.counts([k])[:, None] * self.sums.values[k]
        return self._mean(sums + level)[evaluations.times > 0]

    @cached_property
    def skewness(self) -> FloatArray:
        r""":math:`|g| / \sqrt n` of every term, g the skewness of the rows' contributions.

        Contributions, as donors too, are averaged over the refits that a row evaluates. 0 for terms
        whose rows all contribute the same. Of ratios, if it is larger, the skewness of the
        contributions to the loss that divides them.
        """
        if self.groups:
            return np.concatenate([group.skewness for group in self.groups])
        if not len(self.evaluations.rows):
            return np.zeros(self.sums.values.shape[1])
        skewness = self._skewness(self.effects, self.per_refit)
        if self.sums.below is None or self.sums.losses is None:
            return skewness
        below = self._skewness(self._mean(self.sums.below), self.sums.losses)
        return np.fmax(skewness, below)

    def _skewness(self, effects: FloatArray, values: FloatArray) -> FloatArray:
        """Return `_skewness` by term: of effects, (n, q), beside the values, (m, q)."""
        seen, sizes = self.evaluations.times > 0, np.abs(values).max(axis=0)
        terms = zip(effects.T, np.broadcast_to(sizes, effects.shape[1]), strict=True)
        return np.array([_skewness(term[seen], size) for term, size in terms])

    @cached_table
    def idle_share(self) -> FloatArray:
        """The share of half refits in which a feature has no effect at all, per term.

        A refit that never uses a rare level, or a weak feature, has exactly the value of no effect
        there. The share is 0 for other estimands and plans.
        """
        halves = self.of_pairs
        if self.no_effect is None or not len(halves):
            return np.zeros(self.sums.values.shape[1])
        return np.asarray((halves == self.no_effect).mean(axis=(0, 1)))

    def __repr__(self) -> str:
        return about(self, f"{self.number} estimates", f"{len(self.evaluations.pairs)} pairs")


def combine(parts: Sequence[Replicates], sums: RefitSums) -> Replicates:
    """Return the replicates of a function of several estimands, computed refit by refit."""
    if any(part.groups for part in parts):
        raise InferenceError(
            "Results by groups can't be combined with others: compare one group at a time, which "
            "`rows=` gives, or use `differences()` between the groups of one result."
        )
    return replace(
        parts[0],
        sums=sums,
        no_effect=None,
        no_intervals=next((part.no_intervals for part in parts if part.no_intervals), ""),
        half_refits=tuple(fit for part in parts for fit in part.half_refits),
        coefficient_errors=None,  # errors of two models are not independent
    )


def side_by_side(groups: Sequence[Replicates]) -> Replicates:
    """Return the replicates of the same refits on several groups of rows as one.

    Values stand one group after the other. Variances over rows take the rows of each group from
    `Replicates.groups`.
    """
    every = [group.coefficient_errors for group in groups if group.coefficient_errors is not None]
    changes = [errors.changes for errors in every]
    parts = [group.sums for group in groups]
    return replace(
        groups[0],
        sums=RefitSums(
            values=beside(*(part.values for part in parts)),
            mc_variance=beside(*(part.mc_variance for part in parts)),
        ),
        groups=tuple(groups),
        coefficient_errors=(every[0]._replace(changes=beside(*changes)) if every else None),
    )


def covariance(values: FloatArray) -> FloatArray:
    """Return the covariance of the columns, shape (q, q), of values in rows."""
    q = values.shape[1]
    return np.asarray(np.cov(values, rowvar=False, ddof=1).reshape(q, q))


def _skewness(effects: FloatArray, size: float) -> float:
    """Return the skewness of the rows' effects on one term, as a share of the root of rows."""
    away = effects - effects.mean()
    largest = np.abs(away).max()
    if not largest > ROUNDING * size:  # or missing
        return 0.0
    shares = away / largest  # whose powers are numbers whatever the unit
    second, third = np.mean(shares**2), np.mean(shares**3)
    return float(np.abs(third / second**1.5) / np.sqrt(len(away)))
