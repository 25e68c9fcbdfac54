"""Donors of a feature that is drawn independently of the others: distinct values, permutations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pyinterp._typing import IntArray
from pyinterp.representation import about


class Distinct(NamedTuple):
    """The distinct values among donors.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per distinct combination of values.
    of_row : ndarray of int, shape (n,)
        The position in `frame` of each donor row.
    counts : ndarray of int
        How many donor rows have each value.
    """

    frame: pd.DataFrame
    of_row: IntArray
    counts: IntArray

    def merge(self, codes: IntArray) -> Distinct:
        """Return distinct values of which those with equal codes, shape (values, k), are one."""
        _, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        which = which.ravel()
        return Distinct(
            frame=self.frame.take(first).reset_index(drop=True),
            of_row=which[self.of_row].astype(np.intp),
            counts=np.bincount(which, weights=self.counts).astype(np.intp),
        )

    def __repr__(self) -> str:
        return about(self, f"{len(self.frame)} values of {len(self.of_row)} rows")


def distinct(donors: pd.DataFrame, variables: Sequence[str]) -> Distinct:
    """Return the distinct joint values of `variables`, each of which is predicted only once."""
    of_row = np.zeros(len(donors), np.int64)
    for name in variables:
        codes, values = pd.factorize(donors[name], use_na_sentinel=False)
        of_row = of_row * len(values) + codes
        if len(variables) > 1:
            _, of_row = np.unique(of_row, return_inverse=True)
    counts = np.bincount(of_row)
    first = np.empty(len(counts), np.intp)
    first[of_row[::-1]] = np.arange(len(donors))[::-1]
    columns = {}
    for name in variables:
        columns[name] = donors[name].array.take(first)
    return Distinct(pd.DataFrame(columns), of_row.astype(np.intp), counts.astype(np.intp))


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
