"""What is resampled: rows, or whole clusters of rows, within strata."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyinterp._typing import IntArray
from pyinterp.errors import DataError
from pyinterp.representation import about

__all__ = ["Units"]


@dataclass(frozen=True)
class Units:
    """What is resampled: rows, or whole clusters of rows, within strata.

    Attributes
    ----------
    of_row : ndarray of int, shape (n,)
        The unit of every row, 0, 1, ...
    strata : ndarray of int, shape (number of units,)
        The stratum of every unit.
    """

    of_row: IntArray
    strata: IntArray

    @classmethod
    def make(
        cls, nobs: int, cluster: npt.NDArray[Any] | None, strata: npt.NDArray[Any] | None
    ) -> Units:
        """Give every unit a number; clusters must not straddle strata."""
        of_row = np.arange(nobs) if cluster is None else np.unique(cluster, return_inverse=True)[1]
        count = int(of_row.max()) + 1
        if strata is None:
            return cls(of_row.astype(np.intp), np.zeros(count, np.intp))
        codes = np.unique(strata, return_inverse=True)[1]
        of_unit = np.zeros(count, np.intp)
        of_unit[of_row] = codes
        if (of_unit[of_row] != codes).any():
            unit = int(of_row[np.flatnonzero(of_unit[of_row] != codes)[0]])
            raise DataError(
                f"A cluster must lie within one stratum, but cluster number {unit} does not; "
                "choose strata that are constant within clusters."
            )
        return cls(of_row.astype(np.intp), of_unit)

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.strata)

    def within_strata(self) -> Iterator[IntArray]:
        """Yield the units of each stratum."""
        for stratum in np.unique(self.strata):
            yield np.flatnonzero(self.strata == stratum)

    def rows(self, units: IntArray) -> IntArray:
        """Return the rows of `units`, in order, a repeated unit's rows repeated."""
        order: IntArray = np.argsort(self.of_row, kind="stable")
        starts = np.searchsorted(self.of_row[order], np.arange(self.count + 1))
        blocks = [order[starts[u] : starts[u + 1]] for u in units]
        return np.concatenate(blocks) if blocks else np.empty(0, np.intp)

    def __repr__(self) -> str:
        return about(self, f"{self.count} units of {len(self.of_row)} rows")
