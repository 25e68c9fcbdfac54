"""Which rows evaluate which refit, and which pair or bootstrap sample the refit is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import BoolArray, FloatArray, IntArray
from pyinterp.representation import about
from pyinterp.resampling import Group


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluations:
    """The evaluation rows of R refits, arranged by the resampling plan.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Positions in the data of the rows that evaluate any refit, in order.
    at : tuple of ndarray of int32
        By refit, which of these rows evaluate it, repeats allowed.
    groups : tuple of (Group or None)
        The pair or bootstrap sample of every refit.
    clusters : ndarray of int, shape (n,), or None
    weights : ndarray of shape (n,), or None
        Sampling weights.
    correction : float
        c of Nadeau and Bengio: n2/n1 if refits share rows, else 0.
    share : float
        Of the rows that might evaluate: below 1 `rows` are a simple random sample of them.
    """

    rows: IntArray
    at: tuple[IntArray, ...]
    groups: tuple[Group | None, ...]
    clusters: IntArray | None = None
    weights: FloatArray | None = None
    correction: float = 0.0
    share: float = 1.0

    @classmethod
    def of(
        cls,
        samples: Sequence[Any],
        groups: Sequence[Group | None],
        *,
        correction: float = 0.0,
        share: float = 1.0,
    ) -> Evaluations:
        """Return the evaluations, by the evaluation rows of every refit.

        Samples have `rows`, `clusters` and `weights`.
        """
        rows, at = places_of([sample.rows for sample in samples])
        for k, sample in enumerate(samples):
            # Where all rows evaluate, samples have these positions already.
            own: Any = getattr(sample, "at", None)
            if np.array_equal(own, at[k]):
                at[k] = own
        return cls(
            rows=rows,
            at=tuple(at),
            groups=tuple(groups),
            clusters=_by_row([sample.clusters for sample in samples], at, len(rows)),
            weights=_by_row([sample.weights for sample in samples], at, len(rows)),
            correction=correction,
            share=share,
        )

    def among(self, rows: BoolArray) -> tuple[Evaluations, tuple[IntArray, ...]]:
        """Return the evaluations of some rows of the data, and their places among each refit's."""
        kept = rows[self.rows]
        place = np.cumsum(kept, dtype=np.int32) - np.int32(1)
        positions: tuple[IntArray, ...] = tuple(
            np.flatnonzero(kept[at]).astype(np.int32) for at in self.at
        )
        some = replace(
            self,
            rows=self.rows[kept],
            at=tuple(place[at[p]] for at, p in zip(self.at, positions, strict=True)),
            clusters=None if self.clusters is None else self.clusters[kept],
            weights=None if self.weights is None else self.weights[kept],
        )
        return some, positions

    @property
    def unit_counts(self) -> list[int]:
        """How many distinct rows, or clusters, evaluate each refit that estimates."""
        units = np.arange(len(self.rows)) if self.clusters is None else self.clusters
        return [len(pd.unique(units[self.at[k]])) for k in self.estimating]

    @cached_property
    def estimating(self) -> tuple[int, ...]:
        """The refits whose mean is reported: all, if there are only pairs."""
        every = enumerate(self.groups)
        return tuple(k for k, g in every if g is None or g.kind != "pair") or tuple(
            range(len(self.at))
        )

    @cached_property
    def has_own_refits(self) -> bool:
        """Whether others than the pairs' refits estimate."""
        first = self.groups[self.estimating[0]]
        return first is None or first.kind != "pair"

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Positions of the two refits of every pair of complementary halves, in their order.

        Pairs of which one refit failed are left out.
        """
        halves: dict[int, list[int]] = {}
        for k, group in enumerate(self.groups):
            if group is not None and group.kind == "pair":
                halves.setdefault(group.number, []).append(k)
        whole = [(pair[0], pair[1]) for pair in halves.values() if len(pair) == 2]
        return tuple(sorted(whole, key=itemgetter(1)))

    @cached_property
    def bootstraps(self) -> IntArray | None:
        """The bootstrap sample of every refit; None if the plan draws none."""
        samples = [g.number for g in self.groups if g is not None and g.kind == "bootstrap"]
        return np.array(samples) if samples else None

    @cached_property
    def times(self) -> IntArray:
        """How often every row evaluates a refit that estimates, shape (n,)."""
        return self.counts(self.estimating)

    @property
    def cluster_count(self) -> int | None:
        """How many clusters evaluate any refit; None without clusters."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    @property
    def effective_clusters(self) -> float:
        r""":math:`(\sum n_g)^2 / \sum n_g^2` of n_g rows each: their number if all are equal."""
        sizes = np.unique(np.asarray(self.clusters), return_counts=True)[1]
        return float(sizes.sum() ** 2 / np.square(sizes).sum())

    def counts(self, refits: Sequence[int]) -> IntArray:
        """Return how often every row evaluates these refits, shape (n,)."""
        times = np.zeros(len(self.rows), np.intp)
        for k in refits:
            times += np.bincount(self.at[k], minlength=len(times))
        return times

    __repr__ = about


def places_of(parts: Sequence[IntArray]) -> tuple[IntArray, list[IntArray]]:
    """Return the distinct values of all parts, and of every part where its values are there."""
    last = max(map(np.max, filter(len, parts)), default=-1)
    there = np.zeros(last + 1, bool)
    for part in parts:
        there[part] = True
    distinct = np.flatnonzero(there)
    place = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return distinct, [place[part] for part in parts]


def _by_row(parts: Sequence[Any], at: Sequence[IntArray], n: int) -> Any:
    """Return the values of distinct rows, of parts that have them by refit; None without."""
    if not parts or parts[0] is None:
        return None
    values = np.empty(n, np.asarray(parts[0]).dtype)
    for part, places in zip(parts, at, strict=True):
        values[places] = part
    return values
