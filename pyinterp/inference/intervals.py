"""Student t intervals and tests, and adjustment of p-values for multiplicity."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests, multitest_alias

from pyinterp._typing import FloatArray
from pyinterp.checks import check_alpha, check_choice

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES = get_args(Alternative)


def symbol(df: float) -> str:
    """Return the name of the statistic in tables: z if it is normal, else t."""
    return "z" if np.isinf(df) else "t"


def one_tail(alpha: float, alternative: Alternative) -> float:
    """Return the probability beyond one limit of a 1 - alpha interval; `alpha` is checked."""
    check_alpha(alpha)
    return alpha / 2 if alternative == "two-sided" else alpha


def t_quantile(tail: float, df: float) -> float:
    """Return the value that Student's t exceeds with probability `tail`.

    It is missing without degrees of freedom, and infinite where scipy has no finite value.
    """
    value = float(stats.t.isf(tail, df))
    return value if np.isfinite(value) or df <= 0 else float(np.copysign(np.inf, 0.5 - tail))


def bounds(low: FloatArray, high: FloatArray, alternative: Alternative) -> FloatArray:
    """Return limits, shape (q, 2); a one-sided interval is unbounded on one side."""
    missing = np.where(np.isnan(low), np.nan, 0.0)
    if alternative == "greater":
        high = np.inf + missing
    elif alternative == "less":
        low = -np.inf + missing
    return np.column_stack([low, high])


# Methods of statsmodels, by all of their names; it lists local false discovery rates but has none.
METHODS = {name: short for name, short in multitest_alias.items() if short[:4] != "lfdr"}


def check_adjustment(method: str) -> None:
    """Raise `OptionError` unless `method` is a method of statsmodels."""
    check_choice("p_adjust", method, METHODS)


def adjust(pvalues: FloatArray, method: str | None, count: int) -> FloatArray:
    """Adjust p-values by a method of ``statsmodels.stats.multitest.multipletests``.

    Missing p-values stay missing. Of the `count` tests that are adjusted for, the ones without a
    p-value, as of features that no refit uses, count as 1.
    """
    if method is None:
        return pvalues
    check_adjustment(method)
    if METHODS[method] == "b":
        return np.minimum(count * pvalues, 1.0)
    if METHODS[method] == "s":
        with np.errstate(divide="ignore"):  # the logarithm of 1 - 1
            return np.asarray(-np.expm1(count * np.log1p(-pvalues)))
    adjusted = np.full_like(pvalues, np.nan)
    present = ~np.isnan(pvalues)
    if present.any():
        found = pvalues[present]
        every = np.append(found, np.ones(max(count - len(found), 0)))
        adjusted[present] = _multiple(every.tobytes(), method)[: len(found)]
    return adjusted


@lru_cache(maxsize=256)  # statsmodels collects garbage first, which takes a tenth of a second
def _multiple(pvalues: bytes, method: str) -> FloatArray:
    """Return adjusted p-values. Some methods divide by 1 - P."""
    below_one = np.minimum(np.frombuffer(pvalues), np.nextafter(1.0, 0.0))
    return np.asarray(multipletests(below_one, method=method)[1])


def adjusts_intervals(method: str | None) -> bool:
    """Whether a method adjusts intervals as it adjusts p-values."""
    return method is not None and METHODS[method] in ("b", "s")


def adjusted_level(alpha: float, method: str | None, count: int) -> float:
    """Return the level of each of `count` intervals that together have level `alpha`."""
    check_alpha(alpha)
    if method is None or count < 2 or not adjusts_intervals(method):
        return alpha
    if METHODS[method] == "b":
        return alpha / count
    return float(-np.expm1(np.log1p(-alpha) / count))
