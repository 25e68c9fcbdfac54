"""Inference about terms: statistics, p-values and intervals, the same wherever they appear."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pyinterp._typing import BoolArray, FloatArray
from pyinterp.checks import check_alpha
from pyinterp.inference.intervals import (
    Alternative,
    adjust,
    adjusted_level,
    adjusts_intervals,
    one_tail,
    t_quantile,
)
from pyinterp.inference.variance import Variance
from pyinterp.ranges import REAL, Range
from pyinterp.representation import about, cached_table, frozen

LEAST_DF = 4  # of limits of shares, which else go from 0 to 1 whatever the data are


@dataclass(frozen=True)
class IntervalScale:
    r"""A function g of estimates with range (a, b), and its inverse.

    .. math:: g(x) = \log\frac{x - a}{b - x}, \quad g(x) = \log(x - a) \text{ if } b = \infty, \quad
        g(x) = -\log(b - x) \text{ if } a = -\infty

    A t interval of g(x), with the standard error of x times :math:`g'(x)`, has its limits inside
    the range, and is nearer to its nominal level where x is skewed near an end.
    """

    range: Range = REAL

    @cached_property
    def name(self) -> str:
        """The name of the function; empty for the identity."""
        return ("", "log", "logit")[int(np.isfinite(self.range).sum())]

    def of(self, values: FloatArray) -> FloatArray:
        """Return g of the values: infinite at the ends of the range and beyond."""
        if not self.name:
            return values
        low, high = self.range
        with np.errstate(divide="ignore"):
            from_low = np.log(np.clip(values - low, 0, None)) if np.isfinite(low) else 0.0
            to_high = np.log(np.clip(high - values, 0, None)) if np.isfinite(high) else 0.0
        return np.asarray(from_low - to_high)

    def slope(self, values: FloatArray) -> FloatArray:
        """Return the derivative of g; infinite at the ends of the range."""
        if not self.name:
            return np.ones_like(values)
        low, high = self.range
        with np.errstate(divide="ignore"):
            # The distance from an end that is infinite adds 0.
            return 1 / np.clip(values - low, 0, None) + 1 / np.clip(high - values, 0, None)

    def back(self, values: FloatArray) -> FloatArray:
        """Return the inverse of g."""
        low, high = self.range
        with np.errstate(over="ignore"):
            if self.name == "logit":
                return low + (high - low) / (1 + np.exp(-values))
            if np.isfinite(low):
                return low + np.exp(values)
            if np.isfinite(high):
                return high - np.exp(-values)
        return values


@frozen
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
    scale : IntervalScale
        The scale for the estimand's range, which no interval leaves.
    symmetric : bool
        Whether t intervals are symmetric on that scale; else they end where the range does.
    share : bool
        Whether estimates are shares, whose upper limits end at 1, unless they are above it.
    has_test : bool
        Whether there are statistics and p-values; intervals there always are.
    """

    estimate: FloatArray
    bse: FloatArray
    null: FloatArray
    variance: Variance
    alternative: Alternative = "two-sided"
    p_adjust: str | None = None
    simultaneous: bool = False
    scale: IntervalScale = field(default_factory=IntervalScale)
    symmetric: bool = False
    share: bool = False
    has_test: bool = True
    _limits: dict[float, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def on_log_scale(self) -> bool:
        """Whether intervals and tests are of logarithms or logits, so that limits stay in range."""
        return self.symmetric and bool(self.scale.name) and self.variance.rescales

    @cached_property
    def _inside(self) -> BoolArray:
        """Whether intervals are on the other scale: not where estimates are no inner points."""
        return np.isfinite(self.scale.slope(self.estimate))

    @cached_property
    def _on_scale(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Estimates, standard errors and null values on the scale of the intervals."""
        if not self.on_log_scale:
            return self.estimate, self.bse, self._nulls
        inside, scale = self._inside, self.scale
        slope = np.where(inside, scale.slope(self.estimate), 1.0)
        return (
            np.where(inside, scale.of(self.estimate), self.estimate),
            self.bse * slope,
            np.where(inside, scale.of(self._nulls), self._nulls),
        )

    @cached_property
    def _nulls(self) -> FloatArray:
        """Null values; missing without a test."""
        return self.null if self.has_test else np.full_like(self.null, np.nan)

    @cached_property
    def null_error(self) -> FloatArray:
        """Standard errors at a table's null value, for statistics, and limits of squares.

        Missing where neither needs them.
        """
        errors = self.variance.null_error(self.estimate, self.bse)
        needed = self.variance.varies_as_square | ~np.isnan(self._nulls)
        return np.where(needed, errors, np.nan)

    @cached_table
    def statistic(self) -> FloatArray:
        """Deviations from the null values in standard errors; missing where `bse` is 0."""
        return self.variance.statistic(*self._on_scale)

    @cached_table
    def p_values(self) -> FloatArray:
        """p-values of the null values, adjusted as intervals are, or as `p_adjust` says."""
        test = self.variance.joint_p_values if self.simultaneous else self.variance.p_values
        raw = test(*self._on_scale, self.alternative)
        return adjust(raw, self.p_adjust, self.count)

    def interval(self, alpha: float) -> FloatArray:
        """Return 1 - alpha intervals, shape (q, 2), once per level; missing where `bse` is 0."""
        check_alpha(alpha)
        if alpha in self._limits:
            return self._limits[alpha]
        estimate, bse, _ = self._on_scale
        if self.simultaneous:
            limits = self.variance.joint_interval(estimate, bse, alpha, self.alternative)
        else:
            limits = self.variance.interval(estimate, bse, self.level(alpha), self.alternative)
        if self.on_log_scale:
            limits = np.where(self._inside[:, None], self.scale.back(limits), limits)
        if self.share:
            end = np.where(self.estimate > 1, np.inf, 1.0) * (np.nan if self.no_limits else 1.0)
            limits = np.minimum(limits, end[:, None])
        self._limits[alpha] = np.clip(limits, *self.scale.range)
        self._limits[alpha].setflags(write=False)
        return self._limits[alpha]

    @cached_property
    def no_limits(self) -> str:
        """Why there are standard errors without limits; empty if there are both."""
        few = self.share and self.variance.df < LEAST_DF
        return few * (
            f"limits of a share need {LEAST_DF} degrees of freedom, but there are "
            f"{self.variance.df:g}: fit with more refits or pairs"
        )

    def level(self, alpha: float) -> float:
        """Return the level of each interval, so that alpha is theirs as the options say."""
        if self.simultaneous:
            return self.variance.joint_level(self._on_scale[1], alpha, self.alternative)
        return adjusted_level(alpha, self.p_adjust, self.count)

    def quantile(self, alpha: float) -> float:
        """Return the quantile of t that limits take."""
        return t_quantile(one_tail(self.level(alpha), self.alternative), self.variance.df)

    @cached_property
    def count(self) -> int:
        """Number of terms that count in adjustments: the ones with a standard error or a test.

        Features that no refit uses have a standard error of 0, and were tested with the others.
        """
        return int(((self.bse > 0) | ((self.bse == 0) & ~np.isnan(self._nulls))).sum())

    def on(self, scale: IntervalScale) -> TermInference:
        """Return the same about g(estimates), by the delta method; missing where g is infinite."""
        slope = np.where(np.isinf(each := scale.slope(self.estimate)), np.nan, each)
        estimate = scale.of(self.estimate) + 0 * slope
        variance = replace(self.variance, cov=self.variance.cov * np.outer(slope, slope))
        return replace(self, estimate=estimate, bse=self.bse * slope, variance=variance)

    @cached_property
    def note(self) -> str:
        """How p-values and intervals allow for several terms, in words; empty if they do not."""
        return self.note_on(
            f"all {self.count} terms together" if self.count > 1 else "the one term"
        )

    def note_on(self, terms: str) -> str:
        """Return how p-values and intervals allow for several terms, named in `terms`."""
        both = "Intervals are" if np.isnan(self._nulls).all() else "P and intervals are"
        if self.simultaneous:
            return f"{both} simultaneous (sup-t): they hold for {terms}."
        if self.p_adjust is None:
            return ""
        if adjusts_intervals(self.p_adjust):
            return f"{both} adjusted ({self.p_adjust}): they hold for {terms}."
        if np.isnan(self._nulls).all():
            return f"Intervals are for each alone; there is no test that {self.p_adjust} adjusts."
        return (
            f"P is adjusted ({self.p_adjust}) over {terms}. Intervals are for each alone: they "
            "may exclude a value that the adjusted test does not reject."
        )

    def __repr__(self) -> str:
        return about(self, f"{len(self.estimate)} terms", self.variance.label)
