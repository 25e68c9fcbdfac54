"""Estimates of every refit with the rows that evaluated it, from which variances are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.half_sample.half_fits import HalfFits
from pyinterp.representation import about
from pyinterp.resampling import Group

# Contributions that differ by less than this share of the estimate differ by rounding.
ROUNDING = 1e-12


class RefitEstimate(NamedTuple):
    """The estimate of one refit, and the rows that evaluated it.

    Attributes
    ----------
    estimate : Estimate
    rows : ndarray of int
        By their position in the data.
    group : Group or None
        The pair, fold or bootstrap sample of the refit.
    clusters, weights : ndarray or None
        Of the rows.
    """

    estimate: Estimate
    rows: IntArray
    group: Group | None = None
    clusters: IntArray | None = None
    weights: FloatArray | None = None


class Fold(NamedTuple):
    """The refit that omits a fold, evaluated on it, and the ones that omit another one too.

    Attributes
    ----------
    outer : Estimate
    inner : tuple of Estimate
        Each evaluated on the other fold that it omits.
    number : int
        How many folds there are: one more than inner refits, if none failed.
    """

    outer: Estimate
    inner: tuple[Estimate, ...]
    number: int


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


@dataclass(frozen=True, kw_only=True)
class Replicates:
    """Estimates over refits, arranged by the resampling plan, as variances need them.

    Attributes
    ----------
    refits : tuple of RefitEstimate
        One per fitted model, in the order of the plan.
    correction : float
        c of Nadeau and Bengio: n2/n1 if refits share rows, else 0.
    no_effect : float or None
        The value of no effect, of an estimand that varies as the square of an effect; None for
        others.
    half_fits : tuple of HalfFits
        How refits on halves and refits for the estimate predict, for every learner whose estimates
        these are; () where that is not known.
    groups : tuple of Replicates
        One for each group of rows whose terms stand side by side; () without groups.
    share : float
        Of the rows that evaluate any refit: below 1 `rows` are a simple random sample of them.
    coefficient_errors : CoefficientErrors or None
        For the delta method, of one model that states the covariance of its coefficients.
    estimates : tuple of Estimate
        What is reported is their mean: of all refits, if there are only pairs.
    rows, clusters, weights : tuple of (ndarray or None)
        The position in the data, cluster and sampling weight of every evaluation row, per estimate.
    has_own_refits : bool
        Whether `estimates` are of other refits than the pairs'.
    pairs : tuple of pairs of RefitEstimate
        Refits on complementary halves.
    folds : tuple of Fold
        Folds of nested cross-validation.
    bootstraps : ndarray of int or None
        The bootstrap sample of every fitted model; None if the plan draws none.
    cluster_count : int or None
        How many clusters evaluate any refit, in the first group; None without clusters.
    """

    refits: tuple[RefitEstimate, ...]
    correction: float
    no_effect: float | None = None
    half_fits: tuple[HalfFits, ...] = ()
    groups: tuple[Replicates, ...] = ()
    share: float = 1.0
    coefficient_errors: CoefficientErrors | None = None
    estimates: tuple[Estimate, ...] = field(init=False)
    rows: tuple[IntArray, ...] = field(init=False)
    clusters: tuple[IntArray | None, ...] = field(init=False)
    weights: tuple[FloatArray | None, ...] = field(init=False)
    has_own_refits: bool = field(init=False)
    pairs: tuple[tuple[RefitEstimate, RefitEstimate], ...] = field(init=False)
    folds: tuple[Fold, ...] = field(init=False)
    bootstraps: IntArray | None = field(init=False)
    cluster_count: int | None = field(init=False)

    def __post_init__(self) -> None:
        """Arrange the refits by their pairs, folds and bootstrap samples."""
        halves: dict[int, list[RefitEstimate]] = {}
        outer: dict[int, tuple[Estimate, int]] = {}
        inner: dict[int, list[Estimate]] = {}
        samples: list[int] = []
        every: list[IntArray] = []
        separate: list[RefitEstimate] = []
        for one in self.refits:
            group = one.group
            if one.clusters is not None:
                every.append(one.clusters)
            if group is None or group.estimates:
                separate.append(one)
            if group is not None and group.kind == "bootstrap":
                samples.append(group.number)
            elif group is not None and group.kind == "pair":
                halves.setdefault(group.number, []).append(one)
            elif group is not None and group.inner:
                inner.setdefault(group.number, []).append(one.estimate)
            elif group is not None:
                outer[group.number] = one.estimate, group.size
        estimates, rows, _, clusters, weights = zip(*(separate or self.refits), strict=True)
        count = len(np.unique(np.concatenate(every))) if every else None
        vars(self).update(
            estimates=estimates,
            rows=rows,
            clusters=clusters,
            weights=weights,
            has_own_refits=bool(separate),
            # A pair of which one refit failed says nothing.
            pairs=tuple((pair[0], pair[1]) for pair in halves.values() if len(pair) == 2),
            folds=tuple(Fold(e, tuple(inner.get(k, ())), size) for k, (e, size) in outer.items()),
            bootstraps=np.array(samples) if samples else None,
            cluster_count=self.groups[0].cluster_count if self.groups else count,
        )

    @property
    def parts(self) -> tuple[Replicates, ...]:
        """The replicates of every group; these alone without groups."""
        return self.groups or (self,)

    @cached_property
    def per_refit(self) -> FloatArray:
        """The estimates, shape (m, q)."""
        return np.array([e.value for e in self.estimates])

    @cached_property
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
        draws = np.sum([e.mc_variance for e in self.estimates], axis=0) / len(self.estimates) ** 2
        if self.share == 1:
            return np.asarray(draws)
        return np.asarray(draws + np.concatenate([part._by_choice for part in self.parts]))

    @property
    def _by_choice(self) -> FloatArray:
        """The variance of the mean by the choice of evaluation rows, shape (q,)."""
        distinct, position = np.unique(np.concatenate(self.rows), return_inverse=True)
        sums = np.zeros((len(distinct), len(self.estimates[0].value)))
        ends = np.cumsum([len(rows) for rows in self.rows])
        for e, at in zip(self.estimates, np.split(position, ends[:-1]), strict=True):
            away = contributions(e) - e.value
            away[np.abs(away) <= ROUNDING * np.abs(e.value)] = 0.0
            np.add.at(sums, at, away / len(at))
        r, m = len(distinct), len(self.estimates)
        return np.asarray((1 - self.share) * r / (r - 1) * np.square(sums / m).sum(axis=0))

    @property
    def relative(self) -> bool:
        """Whether the estimates are, or are made of, ratios to the learner's loss."""
        return self.parts[0].estimates[0].below is not None

    @cached_property
    def skewness(self) -> FloatArray:
        r""":math:`|g| / \sqrt n` of every term, g the skewness of the rows' contributions.

        Contributions, as donors too, are averaged over the refits that a row evaluates. 0 for terms
        whose rows all contribute the same. Of ratios, if it is larger, the skewness of the
        contributions to the loss that divides them.
        """
        if self.groups:
            return np.concatenate([group.skewness for group in self.groups])
        if not len(self.estimates[0].rows):
            return np.zeros(len(self.estimates[0].value))
        skewness = _skewness(self.estimates, self.rows)
        losses = [Estimate.of_rows(e.below) for e in self.estimates if e.below is not None]
        return np.fmax(skewness, _skewness(losses, self.rows)) if losses else skewness

    @cached_property
    def idle_share(self) -> FloatArray:
        """The share of half refits in which a feature has no effect at all, per term.

        A refit that never uses a rare level, or a weak feature, has exactly the value of no effect
        there. The share is 0 for other estimands and plans.
        """
        halves = [half.estimate.value for pair in self.pairs for half in pair]
        if self.no_effect is None or not halves:
            return np.zeros(len(self.estimates[0].value))
        return np.asarray((np.array(halves) == self.no_effect).mean(axis=0))

    def __repr__(self) -> str:
        return about(self, f"{len(self.estimates)} estimates", f"{len(self.pairs)} pairs")


def combine(
    function: Callable[..., Estimate],
    parts: Sequence[Replicates],
    *,
    no_effect: float | None = None,
) -> Replicates:
    """Return the replicates of a function of several estimands, computed refit by refit."""
    if any(part.groups for part in parts):
        raise InferenceError(
            "Results by groups can't be combined with others: compare one group at a time, which "
            "`rows=` gives, or use `differences()` between the groups of one result."
        )
    return replace(
        parts[0],
        refits=tuple(
            same[0]._replace(estimate=function(*(one.estimate for one in same)))
            for same in zip(*(part.refits for part in parts), strict=True)
        ),
        no_effect=no_effect,
        half_fits=tuple(fit for part in parts for fit in part.half_fits),
        coefficient_errors=None,  # errors of two models are not independent
    )


def side_by_side(groups: Sequence[Replicates]) -> Replicates:
    """Return the replicates of the same refits on several groups of rows as one.

    Values stand one group after the other. A row has no contribution, NaN, to another group's.
    Variances over rows take the rows of each group from `Replicates.groups`.
    """
    every = [group.coefficient_errors for group in groups if group.coefficient_errors is not None]
    changes = [errors.changes for errors in every]
    return replace(
        groups[0],
        refits=tuple(map(_on_all_rows, *(group.refits for group in groups))),
        groups=tuple(groups),
        coefficient_errors=(
            every[0]._replace(changes=np.concatenate(changes, axis=1)) if every else None
        ),
    )


def _on_all_rows(*refits: RefitEstimate) -> RefitEstimate:
    """Return the estimates of a refit on different rows as one on all of them."""
    parts = [one.estimate for one in refits]
    clusters = [one.clusters for one in refits if one.clusters is not None]
    donors = any(part.donors is not None for part in parts)
    n, q = sum(len(part.rows) for part in parts), sum(len(part.value) for part in parts)
    rows = np.full((n, q), np.nan)
    as_donors = np.full((n, q), np.nan) if donors else None
    i = j = 0
    for part in parts:
        here = np.s_[i : i + len(part.rows), j : j + len(part.value)]
        rows[here] = part.rows
        if as_donors is not None:
            as_donors[here] = 0.0 if part.donors is None else part.donors
        i, j = i + len(part.rows), j + len(part.value)
    return RefitEstimate(
        Estimate(
            value=np.concatenate([part.value for part in parts]),
            rows=rows,
            donors=as_donors,
            mc_variance=np.concatenate([part.mc_variance for part in parts]),
        ),
        np.concatenate([one.rows for one in refits]),
        refits[0].group,
        np.concatenate(clusters) if clusters else None,
    )


def contributions(estimate: Estimate) -> FloatArray:
    """Return every row's contribution, as a donor too, shape (n, q); their mean is the value."""
    return estimate.rows if estimate.donors is None else estimate.rows + estimate.donors


def covariance(values: FloatArray) -> FloatArray:
    """Return the covariance of the columns, shape (q, q), of values in rows."""
    q = values.shape[1]
    return np.asarray(np.cov(values, rowvar=False, ddof=1).reshape(q, q))


def row_effects(
    estimates: Sequence[Estimate], rows: Sequence[IntArray]
) -> tuple[IntArray, FloatArray]:
    """Average every row's contribution over the refits that it evaluates.

    Returns
    -------
    position : ndarray of int
        Where the rows of all estimates, one after the other, stand in `effects`.
    effects : ndarray of shape (number of distinct rows, q)
        A row's contribution, as a donor too, as it deviates from the estimate, averaged over the
        times that it evaluates.
    """
    distinct, position = np.unique(np.concatenate(rows), return_inverse=True)
    effects = np.zeros((len(distinct), len(estimates[0].value)))
    ends = np.cumsum([len(each) for each in rows])
    for estimate, at in zip(estimates, np.split(position, ends[:-1]), strict=True):
        np.add.at(effects, at, contributions(estimate) - estimate.value)
    effects /= np.bincount(position, minlength=len(distinct))[:, None]
    return position, effects


def _skewness(estimates: Sequence[Estimate], rows: Sequence[IntArray]) -> FloatArray:
    _, effects = row_effects(estimates, rows)
    away = effects - effects.mean(axis=0)
    largest = np.abs(away).max(axis=0)
    size = np.abs([estimate.value for estimate in estimates]).max(axis=0)
    # As shares of the largest, whose powers are numbers whatever the unit.
    shares = np.divide(away, largest, out=np.zeros_like(away), where=largest > ROUNDING * size)
    second, third = (np.power(shares, k).mean(axis=0) for k in (2, 3))
    ratio = np.divide(third, second**1.5, out=np.zeros_like(third), where=second > 0)
    return np.asarray(np.abs(ratio) / np.sqrt(len(away)))
