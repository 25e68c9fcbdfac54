"""Donors of a feature that is drawn independently of the others: distinct values, permutations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from pyinterp._typing import IntArray
from pyinterp.data.sample import Sample
from pyinterp.representation import about


class Distinct:
    """The distinct values among donors.

    Parameters
    ----------
    rows : Sample
        The donors.
    variables : sequence of str
        Those that they donate.
    of_row : ndarray of int, shape (n,)
        A number for each donor, from 0 without gaps: equal for values that count as one.

    Attributes
    ----------
    of_row : ndarray of int, shape (n,)
    counts : ndarray of int
        How many donors have each value.
    first : ndarray of int
        The first donor that has it.
    """

    def __init__(self, rows: Sample, variables: Sequence[str], of_row: IntArray) -> None:
        self._rows, self._variables, self.of_row = rows, variables, of_row.astype(np.intp)
        self.counts: IntArray = np.bincount(of_row).astype(np.intp)
        self.first: IntArray = np.empty(len(self.counts), np.intp)
        self.first[of_row[::-1]] = np.arange(rows.nobs)[::-1]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per distinct combination of values."""
        rows = self._rows.variables
        return pd.DataFrame({name: rows[name].array.take(self.first) for name in self._variables})

    def merge(self, codes: IntArray) -> Distinct:
        """Return the distinct values; values with equal codes, shape (values, k), count as one."""
        which = np.zeros(len(codes), np.intp)
        for column in codes.T:  # much faster than unique rows
            joint = which * (column.max(initial=0) + 1) + column
            which = np.unique(joint, return_inverse=True)[1]
        return Distinct(self._rows, self._variables, which[self.of_row])

    def __repr__(self) -> str:
        return about(self, f"{len(self.counts)} values of {len(self.of_row)} rows")


def distinct(donors: Sample, variables: Sequence[str]) -> Distinct:
    """Return the distinct joint values of `variables`, each of which is predicted only once."""
    of_row = np.zeros(donors.nobs, np.int64)
    for name in variables:
        codes, values = pd.factorize(donors.variables[name], use_na_sentinel=False)
        of_row = of_row * len(values) + codes
        if len(variables) > 1:
            _, of_row = np.unique(of_row, return_inverse=True)
    return Distinct(donors, variables, of_row)


def balanced_permutations(n: int, k: int, rng: np.random.Generator) -> IntArray:
    """Draw k permutations of n rows without fixed points, no donor met twice by a row.

    Cyclic shifts, by k distinct amounts, of a random order of the rows. Every row meets k distinct
    donors other than itself and every row donates k times; with k = n - 1 these are all pairs.

    Returns
    -------
    ndarray of int, shape (n, k)
        The donor of row i under permutation s.
    """
    order = rng.permutation(n)
    shifts = rng.permutation(n - 1)[:k] + 1
    position = np.empty(n, np.intp)
    position[order] = np.arange(n)
    donors: IntArray = order[(position[:, None] + shifts[None, :]) % n]
    return donors
