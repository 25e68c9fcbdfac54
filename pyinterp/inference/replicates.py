"""Estimates of every refit with the rows that evaluated it: what variances are computed from."""

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

__all__ = [
    "CoefficientErrors",
    "Fold",
    "Half",
    "RefitEstimate",
    "Replicates",
    "combine",
    "contributions",
    "gather",
    "row_effects",
]


class Half(NamedTuple):
    """A refit on one half of the rows, evaluated on the other.

    Attributes
    ----------
    estimate : Estimate
    rows : ndarray of int
        The rows that evaluated it, by their position in the data.
    """

    estimate: Estimate
    rows: IntArray


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
    pairs : tuple of pairs of Half
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
        What refits on halves find, and those of the estimate, of every learner whose estimates
        these are; () where that is not known.
    groups : tuple of Replicates
        Those of the groups of rows whose terms stand side by side; () without groups.
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
    pairs: tuple[tuple[Half, Half], ...] = ()
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
        return any(part.estimates[0].below is not None for part in self.parts)

    def __repr__(self) -> str:
        return about(self, f"{len(self.estimates)} estimates", f"{len(self.pairs)} pairs")


class RefitEstimate(NamedTuple):
    """The estimate of one refit, with its group and the rows that evaluated it."""

    estimate: Estimate
    group: Group | None
    rows: IntArray
    clusters: IntArray | None
    weights: FloatArray | None = None


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
    halves: dict[int, list[Half]] = {}
    outer: dict[int, tuple[Estimate, int]] = {}
    inner: dict[int, list[Estimate]] = {}
    for estimate, group, rows, *_ in estimates:
        if group is None or group.kind == "bootstrap":
            continue
        if group.kind == "pair":
            halves.setdefault(group.number, []).append(Half(estimate, rows))
        elif group.inner:
            inner.setdefault(group.number, []).append(estimate)
        else:
            outer[group.number] = estimate, group.size
    separate = [e for e in estimates if e.group is None or e.group.estimates]
    counted = separate or estimates
    clusters = [e.clusters for e in estimates if e.clusters is not None]
    groups = [e.group for e in counted]
    samples = [g.number for g in groups if g is not None and g.kind == "bootstrap"]
    return Replicates(
        estimates=tuple(e.estimate for e in counted),
        clusters=tuple(e.clusters for e in counted),
        rows=tuple(e.rows for e in counted),
        correction=correction,
        # A pair of which one refit failed says nothing.
        pairs=tuple((pair[0], pair[1]) for pair in halves.values() if len(pair) == 2),
        folds=tuple(Fold(e, tuple(inner.get(k, ())), size) for k, (e, size) in outer.items()),
        bootstraps=np.array(samples) if samples else None,
        has_own_refits=bool(separate),
        no_effect=no_effect,
        half_fits=() if half_fits is None else (half_fits,),
        cluster_count=len(np.unique(np.concatenate(clusters))) if clusters else None,
        weights=tuple(e.weights for e in counted),
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

    def side(halves: Sequence[Half]) -> Half:
        return Half(function(*(half.estimate for half in halves)), halves[0].rows)

    return replace(
        parts[0],
        estimates=tuple(map(function, *(part.estimates for part in parts))),
        pairs=tuple(
            (side([pair[0] for pair in same]), side([pair[1] for pair in same]))
            for same in zip(*(part.pairs for part in parts), strict=True)
        ),
        folds=tuple(
            Fold(
                function(*(fold.outer for fold in same)),
                tuple(map(function, *(fold.inner for fold in same))),
                same[0].number,
            )
            for same in zip(*(part.folds for part in parts), strict=True)
        ),
        no_effect=no_effect,
        half_fits=tuple(fit for part in parts for fit in part.half_fits),
        coefficient_errors=None,  # those of two models are not independent
    )


def contributions(estimate: Estimate) -> FloatArray:
    """Return every row's contribution, as a donor too, shape (n, q); their mean is the value."""
    return estimate.rows if estimate.donors is None else estimate.rows + estimate.donors


def row_effects(
    estimates: Sequence[Estimate], rows: Sequence[IntArray]
) -> tuple[list[IntArray], FloatArray]:
    """Average every row's contribution over the refits that it evaluates.

    Returns
    -------
    positions : list of ndarray of int
        Per estimate, where its rows stand in `effects`.
    effects : ndarray of shape (number of distinct rows, q)
        A row's contribution, as a donor too, as it deviates from the estimate, averaged over the
        times that it evaluates.
    """
    distinct, position = np.unique(np.concatenate(rows), return_inverse=True)
    positions = np.split(position, np.cumsum([len(r) for r in rows])[:-1])
    effects = np.zeros((len(distinct), len(estimates[0].value)))
    for estimate, at in zip(estimates, positions, strict=True):
        np.add.at(effects, at, contributions(estimate) - estimate.value)
    effects /= np.bincount(position, minlength=len(distinct))[:, None]
    return positions, effects
