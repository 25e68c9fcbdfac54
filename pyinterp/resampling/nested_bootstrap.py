"""Splits of bootstrap samples, whose means show the sampling error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_choice, check_count
from pyinterp.errors import DataError
from pyinterp.representation import call_form
from pyinterp.resampling.resampling import (
    REDRAWS,
    By,
    Group,
    Split,
    Splitting,
    all_present,
    check_fraction,
    redraw,
)
from pyinterp.resampling.units import Units

__all__ = ["NestedBootstrap", "SplitBy"]

SplitBy: TypeAlias = Literal["row", "copy"]


@dataclass(frozen=True, eq=False)
class NestedBootstrap(Splitting):
    """Draw bootstrap samples of the rows and split each of them several times (Khan et al. 2025).

    The plan of their Algorithms 1 and 2. The estimate is the mean over all refits; the means of
    the bootstrap samples show its sampling error, see ``cov_type="bootstrap"``.

    Parameters
    ----------
    bootstraps : int
        Number B of bootstrap samples: n draws with replacement. Percentile intervals at a level
        alpha need more than 2 / alpha - 1 of them, 40 for 95%.
    splits : int
        Number k of splits of each sample into rows that train and rows that evaluate.
    fraction : float
        Share that trains: of a sample's distinct rows or, for ``split_by="copy"``, of its n draws.
    split_by : {"row", "copy"}
        "row" keeps all copies of a row on one side of a split: no row both trains and evaluates.
        "copy" is the algorithm as printed, which deals out the n draws. About half of those that
        evaluate have a copy that trains (1 - exp(-fraction)), so that losses and importances are
        in part those of training rows; it is here for comparison.
    cluster : str or array of shape (n,), optional
        Draw and split whole clusters, the levels of this column; they take the place of rows.

    Notes
    -----
    There are ``bootstraps * splits`` fits: 1,000 by default. A bootstrap sample has 0.632 n
    distinct rows, so that "row" trains on about 0.67 x 0.632 n = 0.42 n of them, some more than
    once: the estimate is for a learner with that little data. A row that was drawn twice evaluates
    twice. Copies donate feature values to each other, which takes about 1/n off an importance.
    """

    bootstraps: int = 100
    splits: int = 10
    _: KW_ONLY
    fraction: float = 0.67
    split_by: SplitBy = "row"
    cluster: By = None

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("bootstraps", self.bootstraps, least=2)
        check_count("splits", self.splits)
        check_fraction(self.fraction)
        check_choice("split_by", self.split_by, get_args(SplitBy))

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.bootstraps * self.splits

    @property
    def label(self) -> str:
        """What tables call the plan."""
        by = ", by copy" if self.split_by == "copy" else ""
        return f"nested bootstrap, {self.bootstraps} x {self.splits}{by}"

    @property
    def where(self) -> str:
        """Whether evaluation rows train the model too."""
        return "partly in sample" if self.split_by == "copy" else super().where

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""
        for number, stream in enumerate(rng.spawn(self.bootstraps)):
            sample = self._sample(units, stream, classes)
            group = Group("bootstrap", number)
            for _ in range(self.splits):
                draw = partial(self._split, sample, stream, group)
                yield redraw(draw, units, classes, self.label, strata=False)

    def _sample(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> IntArray:
        """Draw a bootstrap sample of units that holds every class."""
        for _ in range(REDRAWS):
            sample = np.sort(rng.integers(units.count, size=units.count))
            if classes is None or all_present(classes, units.rows(np.unique(sample))):
                return sample
        raise DataError(
            f"Every bootstrap sample must hold every class, but {REDRAWS} draws of {self.label} "
            "did not; merge rare classes."
        )

    def _split(self, sample: IntArray, rng: np.random.Generator, group: Group) -> Split:
        pool = np.unique(sample) if self.split_by == "row" else sample
        shuffled = rng.permutation(len(pool))
        first = round(self.fraction * len(pool))
        train, evaluation = (np.sort(pool[part]) for part in np.split(shuffled, [first]))
        if self.split_by == "row":
            trains = np.isin(sample, train)
            train, evaluation = sample[trains], sample[~trains]
        return Split(train, evaluation, group)
