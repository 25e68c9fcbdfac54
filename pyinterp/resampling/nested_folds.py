"""Cross-validation within cross-validation, which shows the error of cross-validation itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_count
from pyinterp.errors import DataError
from pyinterp.representation import call_form
from pyinterp.resampling.resampling import REDRAWS, Group, Split, Splitting, all_present
from pyinterp.resampling.units import Units

__all__ = ["NestedCrossValidation"]


@dataclass(frozen=True, eq=False)
class NestedCrossValidation(Splitting):
    """Nested cross-validation of Bates, Hastie and Tibshirani (2024): a costly reference.

    The estimate is that of repeated cross-validation. For its variance every fold is left out
    while the others are cross-validated among themselves: how far that inner mean is from the
    fold's own shows the error that cross-validation makes; see ``cov_type="nested-cv"``.

    Parameters
    ----------
    folds : int
        Number of folds K, at least 3.
    repeats : int
        Number of partitions into folds. The authors advise many, 50 to 200.

    Notes
    -----
    There are ``folds**2 * repeats`` fits: 5,000 by default.
    """

    folds: int = 10
    _: KW_ONLY
    repeats: int = 50

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=3)
        check_count("repeats", self.repeats)

    @property
    def number(self) -> int:
        """Number of refits, those for the variance included."""
        return self.folds**2 * self.repeats

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return f"nested {self.folds}-fold cross-validation, {self.repeats} times"

    def lacking(self, groups: Sequence[Group | None]) -> str:
        """Return what is needed if too many refits failed; one fold must have all its refits."""
        outer = [group for group in groups if group is not None and not group.inner]
        sizes = Counter(group.number for group in groups if group is not None)
        whole = sum(sizes[group.number] == self.folds for group in outer)
        if whole and len(outer) > 1:
            return ""
        return (
            "Nested cross-validation needs at least 2 folds whose own refit succeeds, and one "
            f"without which all {self.folds} refits succeed, but of {self.folds * self.repeats} "
            f"folds there are {len(outer)} and {whole}."
        )

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""
        if units.count < 2 * self.folds:
            raise DataError(
                f"Nested cross-validation needs at least 2 rows per fold; got {units.count} rows "
                f"for {self.folds} folds."
            )
        for repeat in range(self.repeats):
            fold = self._deal(units, rng, classes)
            for k in range(self.folds):
                number = repeat * self.folds + k
                out = fold == k
                outer = Group("fold", number, size=self.folds)
                yield Split(np.flatnonzero(~out), np.flatnonzero(out), outer)
                for j in range(self.folds):
                    if j != k:
                        train = np.flatnonzero(~out & (fold != j))
                        inner = outer._replace(inner=True)
                        yield Split(train, np.flatnonzero(fold == j), inner)

    def _deal(self, units: Units, rng: np.random.Generator, classes: FloatArray | None) -> IntArray:
        """Deal units into folds; whatever two are left out, the others have every class."""
        for _ in range(REDRAWS):
            fold: IntArray = rng.permutation(np.arange(units.count) % self.folds)
            if classes is None or all(
                all_present(classes, units.rows(np.flatnonzero((fold != j) & (fold != k))))
                for j in range(self.folds)
                for k in range(j)
            ):
                return fold
        raise DataError(
            f"Every refit's training rows must hold every class, but {REDRAWS} partitions into "
            f"{self.folds} folds did not; merge rare classes."
        )
