"""Inference about terms: statistics, p-values and intervals, the same wherever they appear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.inference.intervals import Alternative, adjust, adjusted_level, adjusts_intervals
from pyinterp.inference.variance import Variance
from pyinterp.representation import about

__all__ = ["TermInference"]


@dataclass(frozen=True, kw_only=True)
class TermInference:
    """Tests and intervals of q terms under the options of an analysis.

    Tables, frames, plots, files and hypotheses about single terms all take their numbers here.

    Attributes
    ----------
    estimate, bse : ndarray of shape (q,)
    null : ndarray of shape (q,)
        Values under the null hypothesis; missing where there is none.
    variance : Variance
        Sampling covariance, with its reference distribution.
    alternative : {"two-sided", "greater", "less"}
    p_adjust : str or None
        Adjustment of p-values over the terms; Bonferroni and Sidak adjust intervals alike.
    simultaneous : bool
        Whether intervals cover all terms at once (sup-t), and p-values are theirs.
    """

    estimate: FloatArray
    bse: FloatArray
    null: FloatArray
    variance: Variance
    alternative: Alternative = "two-sided"
    p_adjust: str | None = None
    simultaneous: bool = False

    @cached_property
    def null_error(self) -> FloatArray:
        """Standard errors at the null values, by which statistics are divided."""
        errors = self.variance.null_error(self.estimate, self.bse, self.null)
        return np.where(np.isnan(self.null), np.nan, errors)

    @cached_property
    def statistic(self) -> FloatArray:
        """Deviations from the null values in standard errors; missing where `bse` is 0."""
        return self.variance.statistic(self.estimate, self.bse, self.null)

    @cached_property
    def p_values(self) -> FloatArray:
        """p-values of the null values, adjusted as intervals are, or as `p_adjust` says."""
        test = self.variance.joint_p_values if self.simultaneous else self.variance.p_values
        raw = test(self.estimate, self.bse, self.null, self.alternative)
        return adjust(raw, self.p_adjust, self.count)

    def interval(self, alpha: float) -> FloatArray:
        """Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0."""
        if self.simultaneous:
            return self.variance.joint_interval(self.estimate, self.bse, alpha, self.alternative)
        level = adjusted_level(alpha, self.p_adjust, self.count)
        return self.variance.interval(self.estimate, self.bse, level, self.alternative)

    @property
    def count(self) -> int:
        """Number of terms that count in adjustments: those with a standard error."""
        return int((self.bse > 0).sum())

    def about(self, term: int, null: float, alternative: Alternative) -> TermInference:
        """Return the same with another hypothesis about one term."""
        nulls = self.null.copy()
        nulls[term] = null
        return replace(self, null=nulls, alternative=alternative)

    @property
    def note(self) -> str:
        """How p-values and intervals allow for several terms, in words; empty if they do not."""
        both = "Intervals are" if np.isnan(self.null).all() else "P and intervals are"
        terms = f"all {self.count} terms together" if self.count > 1 else "the one term"
        if self.simultaneous:
            return f"{both} simultaneous (sup-t): they hold for {terms}."
        if self.p_adjust is None:
            return ""
        if adjusts_intervals(self.p_adjust):
            return f"{both} adjusted ({self.p_adjust}): they hold for {terms}."
        if np.isnan(self.null).all():
            return (
                f"Intervals are for one term each; there is no test that {self.p_adjust} adjusts."
            )
        return (
            f"P is adjusted ({self.p_adjust}) over {terms}. Intervals are for one term each: they "
            "may exclude a value that the adjusted test does not reject."
        )

    def __repr__(self) -> str:
        return about(self, f"{len(self.estimate)} terms", self.variance.label)
