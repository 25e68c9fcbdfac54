"""The variance of estimates of rows that were pooled over refits, by the rows' influence."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray, IntArray
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.cov_types import register_variance
from pyinterp.inference.intervals import Alternative, t_quantile
from pyinterp.inference.over_rows import RowUnits, rows, units_of
from pyinterp.inference.replicates import Replicates
from pyinterp.inference.variance import Variance

ALONE = 1 - 1e-6  # the largest leverage
FEW = " {units} clusters are few: with 12 intervals covered in .93 of simulations, with fewer less."
# Where nothing is lost a row of one fold trains the others: every pair of rows counts twice in N.
TWICE = np.sqrt(2.0)
NOTE = (
    "Intervals (influence, {df:.12g} df) are for new {units} of the population; errors of learning "
    "are not in them."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class LeastShare(Variance):
    r"""The variance of squares, :math:`T^2`, of which only a lower limit is known.

    With :math:`s_0` the standard error of T if the truth is 0, and :math:`s_T` that at T, one
    statistic, :math:`\min(T / (\sqrt 2 s_0), T / s_T)`, has P, and says whether there is a limit:
    :math:`(T - q s_T)^2` where it is above the quantile q, else 0. The root of 2 is conservative.

    Attributes
    ----------
    root, at_null : ndarray of shape (q,)
        T, and :math:`s_0`.
    others : ndarray of shape (q,)
        P of other estimates that are 0 under the null hypothesis: the smaller P counts twice
        (Bonferroni). Missing where there are none.
    """

    root: FloatArray
    at_null: FloatArray
    others: FloatArray

    def of(self, terms: IntArray) -> Self:
        """Return the variance of some of the terms."""
        parts = {name: getattr(self, name)[terms] for name in ("root", "at_null", "others")}
        return replace(super().of(terms), **parts)

    def p_heading(self, alternative: Alternative) -> str:
        """Return the heading of P: relevance, if other estimates are tested with this one."""
        return super().p_heading(alternative) if np.isnan(self.others).all() else "P relevant"

    def _at_root(self, bse: FloatArray) -> FloatArray:
        """Return :math:`s_T`, by the standard error of the square."""
        size = np.abs(self.root)
        return np.divide(bse / 2, size, out=np.zeros_like(size), where=size > 0)

    def _smaller(self, bse: FloatArray, null: FloatArray) -> FloatArray:
        """Return the smaller statistic; missing where no refit uses the feature.

        Of another value than 0 it is above the quantile where the lower limit is above the value.
        """
        errors, both = self._at_root(bse), np.full((2, len(bse)), np.nan)
        at = (errors > 0) & ((self.root > 0) | (null > 0))
        away = self.root - np.sqrt(np.maximum(null, 0.0))
        np.divide(self.root, TWICE * self.at_null, out=both[0], where=self.at_null > 0)
        np.divide(away, errors, out=both[1], where=at)
        return np.asarray(np.fmin(*both))

    def statistic(self, estimate: FloatArray, bse: FloatArray, null: FloatArray) -> FloatArray:
        """Return the statistic whose P is printed; missing where that is of two statistics."""
        return np.where(np.isnan(self.others), self._smaller(bse, null), np.nan)

    def null_error(self, estimate: FloatArray, bse: FloatArray) -> FloatArray:
        """Return none: the statistic is of roots."""
        return np.full_like(bse, np.nan)

    def p_values(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray, alternative: Alternative
    ) -> FloatArray:
        """Return P that nothing is lost, and nothing else is different from 0."""
        statistic = self._smaller(bse, null)
        p = stats.t.sf(statistic, self.df)
        both = np.minimum(2 * np.fmin(p, self.others), 1.0)
        return np.where(np.isnan(self.others) | (null > 0), p, both)

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return lower limits, shape (q, 2), without upper ones; missing as the statistic is."""
        q, statistic = t_quantile(alpha, self.df), self._smaller(bse, 0 * bse)
        above = np.square(self.root - q * self._at_root(bse))
        low = np.where(statistic > q, above, 0.0 * statistic)
        return np.column_stack([low, low + np.inf])


def influence(replicates: Replicates) -> Variance:
    r"""Variance of the mean of the rows' contributions, clusters summed first; t of n - 1 df.

    The refits have no part in it: what they predict of a row is taken as it is, which is right to
    first order for residuals on residuals.

    Sums :math:`s_g` of clusters are divided by :math:`1 - h_g`, with :math:`h_g` their share of
    what divides the estimate (CR3). Of one column, degrees of freedom are
    :math:`1 / \sum_{gk} C_{gk}^2` with :math:`C_{gg} = h_g` and
    :math:`C_{gk} = -h_g h_k / \sqrt{(1 - h_g)(1 - h_k)}` (Bell and McCaffrey 2002): the fewest of
    all estimates.
    """
    of_rows = rows(replicates)
    (estimate,), sampled = replicates.estimates, units_of(replicates.evaluations)
    cov, df = _by_leverage(estimate, sampled)
    units = "rows" if sampled.of_row is None else "clusters"
    few = FEW.format(units=sampled.number) if units == "clusters" and 0 < sampled.df < 11 else ""
    found = replace(
        of_rows,
        cov=cov,
        df=df,
        cov_type="influence",
        label="influence",
        rows_only=False,
        note=NOTE.format(df=round(df, 1), units=units) + few if df > 0 else of_rows.note,
    )
    if not estimate.tests:
        return found
    covs = [_by_leverage(test, sampled)[0] for test in estimate.tests]
    both = zip(estimate.tests, covs, strict=True)
    return LeastShare(
        **{part.name: getattr(found, part.name) for part in fields(found)},
        root=np.array([test.value[0] for test in estimate.tests]),
        at_null=np.sqrt([cov[0, 0] for cov in covs]),
        others=np.array([_joint_p(t.value[1:], c[1:, 1:], found.df) for t, c in both]),
    )


def _by_leverage(estimate: Estimate, units: RowUnits) -> tuple[FloatArray, float]:
    """Return the covariance, of clusters by their leverages, and degrees of freedom."""
    sums, below, df = units.totals(estimate.rows) / len(estimate.rows), estimate.below, units.df
    if units.of_row is None or below is None:
        sums = sums * np.sqrt(units.factor)
    else:
        h = np.column_stack([np.bincount(units.of_row, column) for column in below.T])
        whole = h.sum(axis=0)
        h = np.minimum(h / np.where(whole > 0, whole, 1.0), ALONE)
        sums = sums / (1 - h)
        off = np.square(h) / (1 - h)
        squares = np.square(off.sum(axis=0)) - np.square(off).sum(axis=0) + np.square(h).sum(axis=0)
        df = min(df, 1 / max(squares.max(), 1 / units.number))
    return np.asarray(sums.T @ sums), df


def _joint_p(values: FloatArray, cov: FloatArray, df: float) -> float:
    """Return P that all values are 0, by Hotelling's law, as `joint_tests`; missing without any."""
    k = len(values)
    if not k or not np.isfinite(cov).all() or df < k:
        return float("nan")
    square = float(values @ np.linalg.pinv(cov, hermitian=True) @ values)
    return float(stats.f.sf(square * (df - k + 1) / (df * k), k, df - k + 1))


register_variance("influence", influence, needs="pool")
