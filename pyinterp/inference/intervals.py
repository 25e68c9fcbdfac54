"""Student t intervals and tests, and adjustment of p-values for multiplicity."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests, multitest_alias

from pyinterp.errors import check_alpha, check_choice
from pyinterp.sample import FloatArray

__all__ = ["ALTERNATIVES", "Alternative", "adjust", "bounds", "interval", "p_values"]

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[str, ...] = get_args(Alternative)


def interval(
    estimate: FloatArray,
    bse: FloatArray,
    df: float,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> FloatArray:
    """Return 1 - alpha t intervals, shape (q, 2); a one-sided one is unbounded on one side.

    The interval excludes a value exactly when its test at `alpha` rejects that value. Where the
    standard error is not positive it is missing.
    """
    check_alpha(alpha)
    check_choice("alternative", alternative, ALTERNATIVES)
    level = alpha / 2 if alternative == "two-sided" else alpha
    half = stats.t.isf(level, df) * np.where(bse > 0, bse, np.nan)
    return bounds(estimate - half, estimate + half, alternative)


def bounds(low: FloatArray, high: FloatArray, alternative: Alternative) -> FloatArray:
    """Return limits, shape (q, 2), those of a one-sided interval unbounded on one side."""
    missing = np.where(np.isnan(low), np.nan, 0.0)
    if alternative == "greater":
        high = np.inf + missing
    elif alternative == "less":
        low = -np.inf + missing
    return np.column_stack([low, high])


def p_values(
    tvalues: FloatArray, df: float, *, alternative: Alternative = "two-sided"
) -> FloatArray:
    """Return p-values of t statistics."""
    check_choice("alternative", alternative, ALTERNATIVES)
    if alternative == "two-sided":
        return np.asarray(2 * stats.t.sf(np.abs(tvalues), df))
    signed = tvalues if alternative == "greater" else -tvalues
    return np.asarray(stats.t.sf(signed, df))


def adjust(pvalues: FloatArray, method: str | None) -> FloatArray:
    """Adjust p-values by a method of ``statsmodels.stats.multitest.multipletests``.

    Missing p-values stay missing and do not count.
    """
    if method is None:
        return pvalues
    check_choice("p_adjust", method, multitest_alias)
    adjusted = np.full_like(pvalues, np.nan)
    known = ~np.isnan(pvalues)
    if known.any():
        adjusted[known] = multipletests(pvalues[known], method=method)[1]
    return adjusted
