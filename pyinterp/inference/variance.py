"""Variances of estimates: of a learner over refits, or of one fitted model over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.linalg import block_diag

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.intervals import Alternative, interval, p_values, symbol
from pyinterp.inference.replicates import Replicates, contributions
from pyinterp.inference.simultaneous import LargestT
from pyinterp.inference.units import Units, units_of
from pyinterp.representation import about

__all__ = ["Variance", "corrected_variance", "naive", "rows", "ustat"]


@dataclass(frozen=True, kw_only=True)
class Variance:
    """Sampling covariance of the q estimates.

    Attributes
    ----------
    cov : ndarray of shape (q, q)
    df : float
        Degrees of freedom of t.
    cov_type : str
    label : str
        What tables call it.
    note : str
        What the intervals are for.
    interval_note : str
        How limits are computed, if they are not estimate -/+ t std err.
    test_note : str
        How P is computed, if it is not that of t.
    rescales : bool
        Whether intervals may be computed on another scale than that of the estimates; not those of
        a method whose published intervals are on that scale, or that are percentiles.
    reason : str
        Why there are no standard errors; empty if there are.
    warning : str
        What is wrong with intervals that are printed all the same.
    of_t : bool
        Whether limits are quantiles of Student's t.
    too_few : str
        Where a limit that is infinite lies, and what makes it finite.
    rows_only : bool
        Whether only rows vary, and the model is taken as it is: nothing is tested about an effect
        then, as the truth has no part in it.
    bse_error : ndarray of shape (q,), or None
        Monte Carlo errors of the standard errors, by the choice of refits; None if not known.

    Notes
    -----
    Intervals, statistics and tests are Student's t. A variance estimator with another reference
    distribution subclasses this and replaces the methods; tables, plots and results use no others.
    """

    cov: FloatArray
    df: float
    cov_type: str
    label: str
    note: str
    interval_note: str = ""
    test_note: str = ""
    rescales: bool = True
    reason: str = ""
    warning: str = ""
    of_t: bool = True
    too_few: str = "beyond the largest number at this alpha"
    rows_only: bool = False
    bse_error: FloatArray | None = None

    @property
    def varies_as_square(self) -> bool:
        """Whether intervals are not symmetric, as of squares of effects."""
        return False

    def p_heading(self, alternative: Alternative) -> str:
        """Return what tables call P."""
        t = symbol(self.df)
        return {"two-sided": f"P>|{t}|", "greater": f"P>{t}", "less": f"P<{t}"}[alternative]

    def of(self, terms: IntArray) -> Self:
        """Return that of some of the terms."""
        error = None if self.bse_error is None else self.bse_error[terms]
        return replace(self, cov=self.cov[np.ix_(terms, terms)], bse_error=error)

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0."""
        return interval(estimate, bse, self.df, alpha=alpha, alternative=alternative)

    def joint_interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return intervals, shape (q, 2), that cover all terms at once; missing where `bse` is 0.

        Those of single terms, at the level of `LargestT`. Terms whose `bse` is 0 or
        missing do not count.
        """
        level = self._joint(bse, alternative).level(alpha)
        return self.interval(estimate, bse, level, alternative)

    def null_error(self, estimate: FloatArray, bse: FloatArray) -> FloatArray:
        """Return the standard errors by which statistics of the null value of a table divide."""
        return bse

    def statistic(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray | float
    ) -> FloatArray:
        """Return t statistics of ``estimate = null``; missing where `bse` is 0."""
        missing = np.full(len(bse), np.nan)
        return np.asarray(np.divide(estimate - null, bse, out=missing, where=bse > 0))

    def p_values(
        self,
        estimate: FloatArray,
        bse: FloatArray,
        null: FloatArray | float,
        alternative: Alternative,
    ) -> FloatArray:
        """Return p-values of ``estimate = null``; missing where `bse` is 0."""
        t = self.statistic(estimate, bse, null)
        return p_values(t, self.df, alternative=alternative)

    def joint_p_values(
        self,
        estimate: FloatArray,
        bse: FloatArray,
        null: FloatArray | float,
        alternative: Alternative,
    ) -> FloatArray:
        """Return the smallest alpha at which each of `joint_interval` excludes the null value."""
        single = self.p_values(estimate, bse, null, alternative)
        return self._joint(bse, alternative).p_values(single)

    def _joint(self, bse: FloatArray, alternative: Alternative) -> LargestT:
        vary = np.flatnonzero(bse > 0)
        return LargestT.of(self.cov[np.ix_(vary, vary)], self.df, alternative)

    def __repr__(self) -> str:
        return about(self, self.label, f"{self.df:.4g} df")


def naive(replicates: Replicates) -> Variance:
    """Variance of the mean of m independent refits, s²/m with m - 1 df (Molnar et al. 2021, 7.3).

    Right if every refit has fresh data (c = 0); far too small if refits share rows.
    """
    m, cov = _between(replicates)
    warning = "; refits share rows, so these are too narrow" if replicates.correction > 0 else ""
    return Variance(
        cov=cov / m,
        df=m - 1,
        cov_type="naive",
        label="naive",
        note=f"Intervals (naive, {m - 1} df) are for the learner over refits{warning}.",
    )


def corrected_variance(replicates: Replicates) -> Variance:
    """Nadeau and Bengio's variance (1/m + c) s², m - 1 df, c = n2/n1 (Molnar et al. 2021, 7.3).

    n1 and n2 count distinct rows or clusters, so that c = 0.368/0.632 = 0.582 for the bootstrap.
    """
    if replicates.bootstraps is not None:
        raise InferenceError(
            '`cov_type="corrected"` is for splits of one data set, but these refits are on splits '
            "of different bootstrap samples, whose means show the sampling error themselves: use "
            '"bootstrap" or "bootstrap-bca".'
        )
    m, cov = _between(replicates)
    c = replicates.correction
    return Variance(
        cov=(1 / m + c) * cov,
        df=m - 1,
        cov_type="corrected",
        label="corrected",
        note=f"Intervals (Nadeau-Bengio, c = {c:.3f}, {m - 1} df) are for the learner over refits.",
    )


def rows(replicates: Replicates) -> Variance:
    """Variance over evaluation rows of one model (Molnar et al. 2021, section 6), n2 - 1 df.

    With sampling weights n2 is Kish's effective number (`units_of`). For PFI it leaves out that the
    donors of feature values are a sample too, and is too small.
    """
    if replicates.groups:
        return _over_groups(replicates, rows)
    estimate, units = _single(replicates)
    short = estimate.donors is not None
    return _over_rows(
        estimate.rows,
        units,
        "rows",
        "; they ignore that donors are a sample too and are too narrow" if short else "",
    )


def ustat(replicates: Replicates) -> Variance:
    r"""First-order variance of a mean over pairs of rows (U-statistic), n2 - 1 df.

    .. math:: V = \sum_i (h_i - \bar h)^2 / (n_2 (n_2 - 1)),
        \quad h_i = \bar D_{i \cdot} + \bar D_{\cdot i}

    where :math:`D_{ik}` is the loss difference when row k donates to row i. With K < n - 1
    permutations the contributions carry noise of order 1/K, which makes V larger, never smaller.
    For estimands whose rows do not donate it is `rows`, and says so.
    """
    if replicates.groups:
        return _over_groups(replicates, ustat)
    estimate, units = _single(replicates)
    if estimate.donors is None:
        return rows(replicates)
    return _over_rows(estimate.rows + estimate.donors, units, "ustat", "")


def _between(replicates: Replicates) -> tuple[int, FloatArray]:
    values = replicates.per_refit
    m, q = values.shape
    if m < 2:
        raise InferenceError(
            "`bse` of the learner is not defined for one refit. Fit with "
            '`resampling=pi.Bootstrap(15)`, or use `cov_type="ustat"`, which is for that one model.'
        )
    return m, np.cov(values, rowvar=False, ddof=1).reshape(q, q)


def _single(replicates: Replicates) -> tuple[Estimate, Units]:
    if len(replicates.estimates) != 1:
        other = "corrected" if replicates.bootstraps is None else "bootstrap"
        raise InferenceError(
            '`cov_type="rows"` and "ustat" are for one fitted model, but these results are over '
            f'{len(replicates.estimates)} refits; use "{other}", or `pi.FittedModel(...)`.'
        )
    (estimate,) = replicates.estimates
    (cluster,), (weights,) = replicates.clusters, replicates.weights
    return estimate, units_of(len(estimate.rows), cluster, weights)


def _over_rows(values: FloatArray, units: Units, cov_type: str, warning: str) -> Variance:
    of, kind = ("", "rows") if units.of_row is None else (" of new clusters", "clusters")
    if units.number < 2:
        return _without_variance(values.shape[1], cov_type, kind)
    sums, df = units.sums(values), f"{round(units.df, 1):.12g} df"
    return Variance(
        cov=sums.T @ sums / len(values) ** 2 * units.factor,
        df=units.df,
        cov_type=cov_type,
        label=cov_type,
        rows_only=True,
        note=(
            f"Intervals ({cov_type}, {df}) are for this fitted model on new rows{of}; "
            f"they do not allow for refitting it{warning}."
        ),
    )


def _over_groups(replicates: Replicates, single: Callable[[Replicates], Variance]) -> Variance:
    """Return the variance of groups of rows, which are independent unless clusters join them."""
    blocks = [single(group) for group in replicates.groups]
    cov = block_diag(*(block.cov for block in blocks))
    if replicates.clusters[0] is not None:
        sums = np.concatenate(_cluster_sums(replicates, blocks[0].cov_type), axis=1)
        other = block_diag(*(np.ones(block.cov.shape) for block in blocks)) == 0
        cov[other] = (sums.T @ sums)[other]
    smallest = min(blocks, key=lambda block: block.df)
    return replace(smallest, cov=cov)


def _cluster_sums(replicates: Replicates, cov_type: str) -> list[FloatArray]:
    """Return every cluster's part of the estimates of each group, shape (clusters, q) each."""
    every = np.unique(np.concatenate([c for c in replicates.clusters if c is not None]))
    parts = []
    for group in replicates.groups:
        estimate, units = _single(group)
        values = estimate.rows if cov_type == "rows" else contributions(estimate)
        sums = np.zeros((len(every), values.shape[1]))
        here = np.searchsorted(every, np.unique(np.asarray(group.clusters[0])))
        sums[here] = units.sums(values) * np.sqrt(units.factor) / len(values)
        parts.append(sums)
    return parts


def _without_variance(q: int, cov_type: str, units: str) -> Variance:
    """Return a variance of q terms that is missing, since there is only one row or cluster."""
    return Variance(
        cov=np.full((q, q), np.nan),
        df=0,
        cov_type=cov_type,
        label="none",
        rows_only=True,
        note=f"No standard errors and intervals: they need at least 2 {units}; there is 1.",
    )
