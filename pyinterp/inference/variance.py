"""A variance: a covariance with its reference distribution and its words."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray, IntArray
from pyinterp.inference.intervals import Alternative, bounds, one_tail, symbol, t_quantile
from pyinterp.inference.simultaneous import LargestT
from pyinterp.representation import about, frozen


@frozen
class Variance:
    """Sampling covariance of the q estimates.

    Attributes
    ----------
    cov : ndarray of shape (q, q)
    df : float
        Degrees of freedom of t; infinite if tests are normal.
    note : str
        What the intervals are for.
    cov_type : str
        The name under which the estimator is registered, which gives it.
    label : str
        What tables call it; the name if it is empty.
    interval_note : str
        How limits are computed, if they are not estimate -/+ t std err.
    test_note : str
        How P is computed, if it is not the P of t.
    rescales : bool
        Whether intervals may be computed on another scale than the estimates; not the ones
        of a method whose published intervals are on that scale, or that are percentiles.
    reason : str
        Why there are no standard errors; empty if there are.
    warning : str
        What is wrong with intervals that are printed all the same.
    of_t : bool
        Whether limits are quantiles of Student's t.
    too_few : str
        Where a limit that is infinite lies, and how it gets finite.
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

    # Whether intervals are not symmetric, as of squares of effects.
    varies_as_square: ClassVar[bool] = False

    cov: FloatArray
    df: float
    note: str
    cov_type: str = ""
    label: str = ""
    interval_note: str = ""
    test_note: str = ""
    rescales: bool = True
    reason: str = ""
    warning: str = ""
    of_t: bool = True
    too_few: str = "beyond the largest number at this alpha"
    rows_only: bool = False
    bse_error: FloatArray | None = None

    def p_heading(self, alternative: Alternative) -> str:
        """Return the heading of p-values in tables, such as "P>|t|".

        It is "P" where a one-sided p-value is no tail of t, as of squares.
        """
        if self.varies_as_square and alternative != "two-sided":
            return "P"
        t = symbol(self.df)
        return {"two-sided": f"P>|{t}|", "greater": f"P>{t}", "less": f"P<{t}"}[alternative]

    def of(self, terms: IntArray) -> Self:
        """Return the variance of some of the terms."""
        error = None if self.bse_error is None else self.bse_error[terms]
        return replace(self, cov=self.cov[np.ix_(terms, terms)], bse_error=error)

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return 1 - alpha intervals, shape (q, 2); a one-sided one is unbounded on one side.

        The interval excludes a value exactly when its test at `alpha` rejects that value. Where the
        standard error is not positive it is missing.
        """
        half = t_quantile(one_tail(alpha, alternative), self.df) * np.where(bse > 0, bse, np.nan)
        return bounds(estimate - half, estimate + half, alternative)

    def joint_interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return intervals, shape (q, 2), that cover all terms at once; missing where `bse` is 0.

        Those of single terms, at the level of ``LargestT``. Terms whose `bse` is 0 or
        missing do not count.
        """
        level = self.joint_level(bse, alpha, alternative)
        return self.interval(estimate, bse, level, alternative)

    def joint_level(self, bse: FloatArray, alpha: float, alternative: Alternative) -> float:
        """Return the level of single intervals that cover all terms at once."""
        return self._joint(bse, alternative).level(alpha)

    def null_error(self, estimate: FloatArray, bse: FloatArray) -> FloatArray:
        """Return the standard errors by which statistics of the null value of a table divide."""
        return bse

    def statistic(self, estimate: FloatArray, bse: FloatArray, null: FloatArray) -> FloatArray:
        """Return t statistics of ``estimate = null``; missing where `bse` is 0."""
        missing = np.full(len(bse), np.nan)
        return np.asarray(np.divide(estimate - null, bse, out=missing, where=bse > 0))

    def p_values(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray, alternative: Alternative
    ) -> FloatArray:
        """Return p-values of ``estimate = null``; missing where `bse` is 0."""
        t = self.statistic(estimate, bse, null)
        if alternative == "two-sided":
            return 2 * stats.t.sf(np.abs(t), self.df)
        return stats.t.sf(t if alternative == "greater" else -t, self.df)

    def joint_p_values(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray, alternative: Alternative
    ) -> FloatArray:
        """Return the smallest alpha at which each of `joint_interval` excludes the null value."""
        single = self.p_values(estimate, bse, null, alternative)
        return self._joint(bse, alternative).p_values(single)

    def _joint(self, bse: FloatArray, alternative: Alternative) -> LargestT:
        """Return the law of the largest t of the terms that vary."""
        vary = np.flatnonzero(bse > 0)
        return LargestT.of(self.cov[np.ix_(vary, vary)], self.df, alternative)

    def __repr__(self) -> str:
        return about(self, self.label, f"{self.df:.4g} df")
