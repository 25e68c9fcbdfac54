"""Estimates of every refit with the rows that evaluated it, from which variances are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    """The refit that left a fold out, evaluated on it, and those that left out another one too.

    Attributes
    ----------
    outer : Estimate
    inner : tuple of Estimate
        Each evaluated on the other fold that it left out.
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
        Degrees of freedom of the model's own tests; infinite if these are normal.
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
    estimates : tuple of Estimate
        One per fitted model; what is reported is their mean.
    clusters : tuple of (ndarray or None)
        The cluster of every evaluation row, per fitted model.
    rows : tuple of ndarray of int
        The position in the data of every evaluation row, per fitted model.
    correction : float
        c of Nadeau and Bengio: n2/n1 if refits share rows, else 0.
    pairs : tuple of pairs of RefitEstimate
        Refits on complementary halves.
    folds : tuple of Fold
        Folds of nested cross-validation.
    bootstraps : ndarray of int or None
        The bootstrap sample of every fitted model; None if the plan draws none.
    has_own_refits : bool
        Whether `estimates` are of other refits than the pairs'.
    no_effect : float or None
        The value of no effect, of an estimand that varies as the square of an effect; None for
        others.
    half_fits : tuple of HalfFits
        How refits on halves and refits for the estimate predict, for every learner whose estimates
        these are; () where that is not known.
    groups : tuple of Replicates
        One for each group of rows whose terms stand side by side; () without groups.
    cluster_count : int or None
        How many clusters evaluate any refit; None without clusters.
    weights : tuple of (ndarray or None)
        The sampling weight of every evaluation row, per fitted model.
    coefficient_errors : CoefficientErrors or None
        For the delta method, of one model that states the covariance of its coefficients.
    """

    estimates: tuple[Estimate, ...]
    clusters: tuple[IntArray | None, ...]
    correction: float
    rows: tuple[IntArray, ...] = ()
    pairs: tuple[tuple[RefitEstimate, RefitEstimate], ...] = ()
    folds: tuple[Fold, ...] = ()
    bootstraps: IntArray | None = None
    has_own_refits: bool = True
    no_effect: float | None = None
    half_fits: tuple[HalfFits, ...] = ()
    groups: tuple[Replicates, ...] = ()
    cluster_count: int | None = None
    weights: tuple[FloatArray | None, ...] = (None,)
    coefficient_errors: CoefficientErrors | None = None

    @property
    def parts(self) -> tuple[Replicates, ...]:
        """The replicates of every group; these alone without groups."""
        return self.groups or (self,)

    @cached_property
    def per_refit(self) -> FloatArray:
        """The estimates, shape (m, q)."""
        return np.array([e.value for e in self.estimates])

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
        if not self.rows or not len(self.estimates[0].rows):
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


def gather(
    estimates: Sequence[RefitEstimate],
    *,
    correction: float,
    no_effect: float | None,
    half_fits: HalfFits | None = None,
) -> Replicates:
    """Arrange estimates by the pairs, folds and bootstrap samples of their refits.

    If all refits are of pairs, their mean is the estimate too.
    """
    halves: dict[int, list[RefitEstimate]] = {}
    outer: dict[int, tuple[Estimate, int]] = {}
    inner: dict[int, list[Estimate]] = {}
    samples: list[int] = []
    clusters: list[IntArray] = []
    separate: list[RefitEstimate] = []
    for one in estimates:
        group = one.group
        if one.clusters is not None:
            clusters.append(one.clusters)
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
    counted = separate or estimates
    return Replicates(
        estimates=tuple(one.estimate for one in counted),
        clusters=tuple(one.clusters for one in counted),
        rows=tuple(one.rows for one in counted),
        correction=correction,
        # A pair of which one refit failed says nothing.
        pairs=tuple((pair[0], pair[1]) for pair in halves.values() if len(pair) == 2),
        folds=tuple(Fold(e, tuple(inner.get(k, ())), size) for k, (e, size) in outer.items()),
        bootstraps=np.array(samples) if samples else None,
        has_own_refits=bool(separate),
        no_effect=no_effect,
        half_fits=() if half_fits is None else (half_fits,),
        cluster_count=len(np.unique(np.concatenate(clusters))) if clusters else None,
        weights=tuple(one.weights for one in counted),
    )


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
        _refit_by_refit(function, parts),
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
    together = _refit_by_refit(_on_all_rows, groups)
    return replace(
        together,
        rows=tuple(np.concatenate(same) for same in zip(*(g.rows for g in groups), strict=True)),
        clusters=tuple(
            None if same[0] is None else np.concatenate([c for c in same if c is not None])
            for same in zip(*(g.clusters for g in groups), strict=True)
        ),
        pairs=tuple(
            tuple(
                half._replace(rows=np.concatenate([part.rows for part in parts]))
                for half, *parts in zip(*halves, strict=True)
            )
            for halves in zip(together.pairs, *(g.pairs for g in groups), strict=True)
        ),
        groups=tuple(groups),
        coefficient_errors=(
            every[0]._replace(changes=np.concatenate(changes, axis=1)) if every else None
        ),
    )


def _refit_by_refit(function: Callable[..., Estimate], parts: Sequence[Replicates]) -> Replicates:
    """Return the first replicates with the estimates of a function of the estimates of all."""
    return replace(
        parts[0],
        estimates=tuple(map(function, *(part.estimates for part in parts))),
        pairs=tuple(
            tuple(
                same[0]._replace(estimate=function(*(half.estimate for half in same)))
                for same in zip(*halves, strict=True)
            )
            for halves in zip(*(part.pairs for part in parts), strict=True)
        ),
        folds=tuple(
            Fold(
                function(*(fold.outer for fold in same)),
                tuple(map(function, *(fold.inner for fold in same))),
                same[0].number,
            )
            for same in zip(*(part.folds for part in parts), strict=True)
        ),
    )


def _on_all_rows(*parts: Estimate) -> Estimate:
    """Return estimates on different rows as one on all of them."""
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
    return Estimate(
        value=np.concatenate([part.value for part in parts]),
        rows=rows,
        donors=as_donors,
        mc_variance=np.concatenate([part.mc_variance for part in parts]),
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
