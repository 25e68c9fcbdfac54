"""Plans that split the rows at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_count
from pyinterp.errors import DataError
from pyinterp.representation import call_form
from pyinterp.resampling.resampling import (
    REDRAWS,
    By,
    Split,
    Splitting,
    all_present,
    check_fraction,
    redraw,
)
from pyinterp.resampling.units import Units

__all__ = ["Bootstrap", "CrossValidation", "Holdout", "Subsampling", "subsample"]

# Molnar et al. (2021, section 8).
STUDIED_REFITS = 15


@dataclass(frozen=True, eq=False)
class Bootstrap(Splitting):
    """Draw n units with replacement to train; evaluate on those not drawn (out of bag).

    Parameters
    ----------
    refits : int
        Number of refits. Molnar et al. (2021, section 8) recommend about 15.
    strata : str or array of shape (n,), optional
        Draw within the levels of this column of the data.
    cluster : str or array of shape (n,), optional
        Draw whole clusters, the levels of this column: repeated measures of one subject never
        stand on both sides.
    """

    stratifies: ClassVar[bool] = True

    refits: int = 15
    _: KW_ONLY
    strata: By = None
    cluster: By = None

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("refits", self.refits)

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.refits

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return "bootstrap"

    @property
    def study_name(self) -> str:
        """Name under which published simulations studied this plan."""
        plain = self.refits == STUDIED_REFITS and self.cluster is None and self.strata is None
        return "bootstrap" if plain else ""

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""

        def draw() -> Split:
            train = np.concatenate(
                [rng.choice(stratum, size=len(stratum)) for stratum in units.within_strata()]
            )
            return Split(np.sort(train), np.setdiff1d(np.arange(units.count), train))

        for _ in range(self.refits):
            yield redraw(draw, units, classes, self.label)


@dataclass(frozen=True, eq=False)
class Subsampling(Splitting):
    """Draw a fraction of the units without replacement to train; evaluate on the others.

    Parameters
    ----------
    refits : int
        Number of refits.
    fraction : float
        Share of units that train; 0.632 is the bootstrap's expected share of distinct rows.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.
    """

    stratifies: ClassVar[bool] = True

    refits: int = 15
    _: KW_ONLY
    fraction: float = 0.632
    strata: By = None
    cluster: By = None

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("refits", self.refits)
        check_fraction(self.fraction)

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.refits

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return f"subsampling, {self.fraction:.3g}"

    @property
    def study_name(self) -> str:
        """Name under which published simulations studied this plan."""
        plain = self.refits == STUDIED_REFITS and self.cluster is None and self.strata is None
        return "subsampling" if plain and self.fraction == 0.632 else ""

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""
        for _ in range(self.refits):
            yield redraw(lambda: subsample(units, self.fraction, rng), units, classes, self.label)


@dataclass(frozen=True, eq=False)
class Holdout(Splitting):
    """Train once on a fraction of the units and evaluate on the others.

    One fitted model has no learner-level standard error; intervals are those of that model on
    new rows.

    Parameters
    ----------
    fraction : float
        Share of units that train.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.
    """

    stratifies: ClassVar[bool] = True

    fraction: float = 0.632
    _: KW_ONLY
    strata: By = None
    cluster: By = None

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_fraction(self.fraction)

    @property
    def number(self) -> int:
        """Number of refits."""
        return 1

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return f"holdout, {self.fraction:.3g}"

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""
        yield redraw(lambda: subsample(units, self.fraction, rng), units, classes, self.label)


@dataclass(frozen=True, eq=False)
class CrossValidation(Splitting):
    """Repeated k-fold cross-validation: train on k - 1 folds, evaluate on the other.

    Parameters
    ----------
    folds : int
        Number of folds k.
    repeats : int
        Number of partitions into folds; there are ``folds * repeats`` refits.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.
    """

    stratifies: ClassVar[bool] = True

    folds: int = 10
    _: KW_ONLY
    repeats: int = 1
    strata: By = None
    cluster: By = None

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)
        check_count("repeats", self.repeats)

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.folds * self.repeats

    @property
    def label(self) -> str:
        """What tables call the plan."""
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"{self.folds}-fold cross-validation{times}"

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""
        if self.folds > units.count:
            raise DataError(
                f"There must be at least as many rows or clusters as folds; got {units.count} "
                f"for {self.folds} folds."
            )

        def deal() -> IntArray:
            # Dealing one stratum after the other keeps folds equal in size and in strata.
            shuffled = np.concatenate([rng.permutation(s) for s in units.within_strata()])
            fold = np.empty(units.count, np.intp)
            fold[shuffled] = np.arange(units.count) % self.folds
            return fold

        def split(fold: IntArray, k: int) -> Split:
            return Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k))

        def complete() -> IntArray:
            for _ in range(REDRAWS):
                fold = deal()
                if classes is None or all(
                    all_present(classes, units.rows(split(fold, k).train))
                    for k in range(self.folds)
                ):
                    return fold
            raise DataError(
                f"Every refit's training rows must hold every class, but {REDRAWS} partitions into "
                f"{self.folds} folds did not; merge rare classes or give `strata=` the response."
            )

        for _ in range(self.repeats):
            fold = complete()
            for k in range(self.folds):
                yield split(fold, k)


def subsample(units: Units, fraction: float, rng: np.random.Generator) -> Split:
    """Draw a fraction of the units, of every stratum, to train; the others evaluate."""
    strata = list(units.within_strata())
    sizes = _shares(np.array([len(s) for s in strata]), fraction)
    train = np.concatenate(
        [rng.choice(s, size=k, replace=False) for s, k in zip(strata, sizes, strict=True)]
    )
    return Split(np.sort(train), np.setdiff1d(np.arange(units.count), train))


def _shares(counts: npt.NDArray[np.int64], fraction: float) -> npt.NDArray[np.int64]:
    """Return how many of each stratum to draw: their total is round(fraction * n)."""
    exact = fraction * counts
    sizes: npt.NDArray[np.int64] = np.floor(exact).astype(np.int64)
    remainder = round(fraction * int(counts.sum())) - int(sizes.sum())
    sizes[np.argsort(sizes - exact, kind="stable")[:remainder]] += 1
    return sizes
