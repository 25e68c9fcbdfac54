"""What was measured of one estimand: values of every refit, and sums of rows' contributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.evaluations import Evaluations
from pyinterp.representation import about
from pyinterp.whatif import Engine

# Contributions that differ by less than this share of the estimate differ by rounding.
ROUNDING = 1e-12
NO_ENGINE = Engine("")


@dataclass(frozen=True, kw_only=True, eq=False)
class RefitSums:
    r"""The values of R refits, and sums over refits of rows' contributions: plain arrays.

    With :math:`t_{ik}` the contribution, as a donor too, of row i to the value :math:`T_k` of
    refit k; sums are over the refits that the row evaluates.

    Attributes
    ----------
    values, mc_variance : ndarray of shape (R, q)
        :math:`T_k`, and their Monte Carlo variances.
    effects : ndarray of shape (n, q), or None
        :math:`\sum_k (t_{ik} - T_k)` over the refits that estimate.
    alone : ndarray of shape (n, q), or None
        The same without what rows do as donors; None if no rows donate.
    halves : ndarray of shape (n, q), or None
        :math:`\sum_k (t_{ik} - T_1)` over refits on halves, :math:`T_1` the first of them.
    shares : ndarray of shape (n, q), or None
        :math:`\sum_k (t_{ik} - T_k) / n_k`, of evaluation rows that are some of all.
    below : ndarray of shape (n, q) or (n, 1), or None
        Of ratios: the sums of `effects`, of the losses that divide.
    losses : ndarray of shape (R, q) or (R, 1), or None
        Of ratios: the losses that divide.
    single : tuple of Estimate
        The estimate with its rows, of one model; else empty.
    names : tuple of str or tuple
        What the measurement of every refit is called, of what a model reports; else empty.
    engine : Engine
        What computed the predictions.
    """

    values: FloatArray
    mc_variance: FloatArray
    effects: FloatArray | None = None
    alone: FloatArray | None = None
    halves: FloatArray | None = None
    shares: FloatArray | None = None
    below: FloatArray | None = None
    losses: FloatArray | None = None
    single: tuple[Estimate, ...] = ()
    names: tuple[Any, ...] = ()
    engine: Engine = NO_ENGINE

    def minus(self, other: RefitSums) -> RefitSums:
        """Return the difference of two, refit by refit and row by row."""
        mine, its = self.mc_variance, other.mc_variance
        return RefitSums(
            values=self.values - other.values,
            mc_variance=np.where((mine > 0) & (its > 0), np.nan, mine + its),
            **_combine_sums(np.subtract, [self, other]),
            below=other.below if self.below is None else self.below,
            losses=other.losses if self.losses is None else self.losses,
            single=tuple(map(Estimate.minus, self.single, other.single)),
            engine=self.engine,
        )

    @classmethod
    def stack(cls, parts: Sequence[RefitSums]) -> RefitSums:
        """Return different terms of the same refits as one."""
        ratios = all(part.below is not None for part in parts)
        return cls(
            values=beside(*(part.values for part in parts)),
            mc_variance=beside(*(part.mc_variance for part in parts)),
            **_combine_sums(beside, parts),
            below=_of_terms("below", parts) if ratios else None,
            losses=_of_terms("losses", parts) if ratios else None,
            single=tuple(map(Estimate.stack, zip(*(part.single for part in parts), strict=True))),
            engine=parts[0].engine,
        )

    __repr__ = about


def beside(*parts: FloatArray) -> FloatArray:
    """Return arrays side by side: the terms of the first, then those of the next."""
    return np.concatenate(parts, axis=1)


def _of_terms(name: str, parts: Sequence[RefitSums]) -> FloatArray:
    """Return the losses that divide, or their sums, side by side for every term."""
    every = [(np.asarray(getattr(part, name)), part.values.shape[1]) for part in parts]
    return beside(*(np.broadcast_to(values, (len(values), q)) for values, q in every))


def _combine_sums(
    function: Callable[..., FloatArray], parts: Sequence[RefitSums]
) -> dict[str, Any]:
    """Return a linear function of the sums of several, by name."""
    sums = {}
    for name in ("effects", "halves", "shares"):
        if getattr(parts[0], name) is not None:
            sums[name] = function(*(getattr(part, name) for part in parts))
    if any(part.alone is not None for part in parts):
        alone = (part.effects if part.alone is None else part.alone for part in parts)
        sums["alone"] = function(*alone)
    return sums


class Fold:
    """Adds the contributions of refits up as they come, so that none need be kept.

    They are added in the order of refits, both halves of a pair when the second has come: the last
    bit then depends on the plan alone, and a half whose other one failed is left out.

    Parameters
    ----------
    evaluations : Evaluations
        Of all refits of the plan.
    """

    def __init__(self, evaluations: Evaluations) -> None:
        self._evaluations = evaluations
        self._is_single = len(evaluations.at) == 1  # variances over rows of one model need these
        self._estimates: list[Estimate] = []  # of several models, without rows
        # Halves, by the number of the pair.
        self._waits: dict[int, tuple[int, FloatArray, FloatArray]] = {}
        self._first: FloatArray | None = None  # a part that is common to all halves costs digits
        self._losses: list[FloatArray] = []
        self._sums: dict[str, Any] = {}

    def add(self, refit: int, estimate: Estimate) -> None:
        """Add the estimate of the next refit."""
        evaluations, group = self._evaluations, self._evaluations.groups[refit]
        nothing = np.empty((0, len(estimate.value)))
        bare = replace(estimate, rows=nothing, donors=None, below=None)
        self._estimates.append(estimate if self._is_single else bare)
        if group is not None and group.kind == "pair":
            other = self._waits.pop(group.number, None)
            mine = refit, estimate.value, contributions(estimate)
            if other is None:
                self._waits[group.number] = mine
            else:
                for half, value, values in (other, mine):
                    self._first = value if self._first is None else self._first
                    self._add("halves", half, values - self._first)
        if refit in evaluations.estimating:
            self._add_effects(refit, estimate)

    def _add_effects(self, refit: int, estimate: Estimate) -> None:
        """Add a refit's deviations: with donors, without, and of the loss that divides."""
        if not self._is_single:  # whose rows tell
            donates, sums = estimate.donors is not None, self._sums
            if donates and "alone" not in sums and "effects" in sums:
                sums["alone"] = sums["effects"].copy()  # so far no rows donated
            if donates or "alone" in sums:
                self._add("alone", refit, estimate.rows - estimate.value)
            self._add("effects", refit, contributions(estimate) - estimate.value)
        if self._evaluations.share < 1:
            away = contributions(estimate) - estimate.value
            away[np.abs(away) <= ROUNDING * np.abs(estimate.value)] = 0.0
            self._add("shares", refit, away / len(away))
        if estimate.below is not None:
            below = estimate.below
            if (below == below[:, :1]).all():  # the same of all terms
                below = below[:, :1]
            self._losses.append(below.mean(axis=0))
            self._add("below", refit, below - self._losses[-1])

    def _add(self, name: str, refit: int, values: FloatArray) -> None:
        """Add values, one row per evaluation row of a refit, to the sums of this name."""
        at = self._evaluations.at[refit]
        if name not in self._sums:
            self._sums[name] = np.zeros((len(self._evaluations.rows), values.shape[1]))
        if self._sums[name].shape[1] < values.shape[1]:  # so far the same of all terms
            self._sums[name] = np.repeat(self._sums[name], values.shape[1], axis=1)
        if (at[1:] > at[:-1]).all():
            self._sums[name][at] += values
        else:  # rows are repeated
            np.add.at(self._sums[name], at, values)

    def result(self, **facts: Any) -> RefitSums:
        """Return the values of all refits and the sums, with other facts: names and the engine."""
        return RefitSums(
            values=np.array([estimate.value for estimate in self._estimates]),
            mc_variance=np.array([estimate.mc_variance for estimate in self._estimates]),
            single=tuple(self._estimates) if self._is_single else (),
            losses=np.array(np.broadcast_arrays(*self._losses)) if self._losses else None,
            **self._sums,
            **facts,
        )


def contributions(estimate: Estimate) -> FloatArray:
    """Return every row's contribution, as a donor too, shape (n, q); their mean is the value."""
    return estimate.rows if estimate.donors is None else estimate.rows + estimate.donors
