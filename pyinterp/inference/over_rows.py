"""Variances of one fitted model over its evaluation rows, or the clusters of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from pyinterp._typing import FloatArray, IntArray
from pyinterp.inference.cov_types import register_variance
from pyinterp.inference.evaluations import Evaluations
from pyinterp.inference.refit_sums import contributions
from pyinterp.inference.replicates import Replicates
from pyinterp.inference.variance import Variance


class RowUnits(NamedTuple):
    """The rows or clusters that were sampled, and corrections for their number.

    Attributes
    ----------
    of_row : ndarray of int or None
        The cluster of every row, from 0; None if rows were sampled.
    number : int
    factor : float
        By which the sum of squares over units is multiplied, so that its expectation is right.
    df : float
    """

    of_row: IntArray | None
    number: int
    factor: float
    df: float

    def totals(self, values: FloatArray) -> FloatArray:
        """Return values less their mean, shape (n, q), added up by unit, shape (units, q)."""
        centered: FloatArray = values - values.mean(axis=0)
        if self.of_row is None:
            return centered
        sums = np.zeros((self.number, centered.shape[1]))
        np.add.at(sums, self.of_row, centered)
        return sums


def units_of(evaluations: Evaluations) -> RowUnits:
    r"""Return the units of one model's rows, by their clusters and sampling weights.

    For shares p of the weights, df are Kish's effective number :math:`1 / \sum p^2` less 1. The
    factor :math:`1 / (1 + \sum p^2 - 2 \sum p^3 / \sum p^2)` makes the variance of a weighted mean
    unbiased if values are independent, of one variance. The weight of a cluster is the mean of its
    rows. Of equal weights these are n - 1 and n / (n - 1).
    """
    (at,), both = evaluations.at, (evaluations.clusters, evaluations.weights)
    cluster, weights = (None if part is None else part[at] for part in both)
    of_row, number = None, len(at)
    if cluster is not None:
        names, of_row = np.unique(cluster, return_inverse=True)
        number = len(names)
    if number < 2:
        return RowUnits(of_row, number, factor=np.nan, df=0)
    if weights is None:
        return RowUnits(of_row, number, factor=number / (number - 1), df=number - 1)
    if of_row is not None:
        weights = np.bincount(of_row, weights) / np.bincount(of_row)
    shares = weights / weights.sum()
    squares = float(shares @ shares)
    factor = 1 / (1 + squares - 2 * float((shares**3).sum()) / squares)
    return RowUnits(of_row, number, factor=factor, df=1 / squares - 1)


def rows(replicates: Replicates) -> Variance:
    """Variance over evaluation rows of one model (Molnar et al. 2021, section 6), n2 - 1 df.

    With sampling weights n2 is Kish's effective number (`units_of`). For PFI it leaves out that the
    donors of feature values are a sample too, and is too small.
    """
    return _over_rows(replicates, as_donors=False)


def ustat(replicates: Replicates) -> Variance:
    r"""First-order variance of a mean over pairs of rows (U-statistic), n2 - 1 df.

    .. math:: V = \sum_i (h_i - \bar h)^2 / (n_2 (n_2 - 1)),
        \quad h_i = \bar D_{i \cdot} + \bar D_{\cdot i}

    where :math:`D_{ik}` is the loss difference when row k donates to row i. With K < n - 1
    permutations the contributions carry noise of order 1/K, which makes V larger, never smaller.
    For estimands whose rows do not donate it is `rows`, and says so.
    """
    return _over_rows(replicates, as_donors=True)


def _over_rows(replicates: Replicates, *, as_donors: bool) -> Variance:
    """Return the variance of groups of rows, which are independent unless clusters join them."""
    groups = [_of_one_group(group, as_donors=as_donors) for group in replicates.parts]
    blocks = [variance for variance, _ in groups]
    if len(blocks) == 1:
        return blocks[0]
    cov = block_diag(*(block.cov for block in blocks))
    clusters = [
        g.evaluations.clusters for g in replicates.parts if g.evaluations.clusters is not None
    ]
    if clusters:
        every = np.unique(np.concatenate(clusters))
        of_clusters = np.zeros((len(every), len(cov)))
        column = 0
        for cluster, (_, part) in zip(clusters, groups, strict=True):
            here = np.searchsorted(every, np.unique(cluster))
            of_clusters[here, column : column + part.shape[1]] = part
            column += part.shape[1]
        cov = of_clusters.T @ of_clusters
    smallest = min(blocks, key=lambda block: block.df)
    return replace(smallest, cov=cov)


def _of_one_group(replicates: Replicates, *, as_donors: bool) -> tuple[Variance, FloatArray]:
    """Return the variance of one group of rows, and every unit's part of its estimates."""
    (estimate,) = replicates.estimates
    donates = estimate.donors is not None
    name = "ustat" if as_donors and donates else "rows"
    values = contributions(estimate) if as_donors else estimate.rows
    units = units_of(replicates.evaluations)
    parts = units.totals(values) * np.sqrt(units.factor) / len(values)
    of, kind = ("", "rows") if units.of_row is None else (", in new clusters", "clusters")
    note = f"No standard errors and intervals: they need at least 2 {kind}; there is 1."
    if units.number > 1:
        short = "; they ignore that donors are a sample too and are too narrow"
        note = (
            f"Intervals ({name}, {round(units.df, 1):.12g} df) are for this fitted model on new "
            f"rows such as these{of}; they do not allow for refitting it"
            f"{short if donates and not as_donors else ''}."
        )
    variance = Variance(
        cov=parts.T @ parts,
        df=units.df,
        cov_type=name,
        label=name if units.number > 1 else "none",
        rows_only=True,
        note=note,
    )
    return variance, parts


register_variance("rows", rows, needs="model")
register_variance("ustat", ustat, needs="model")
