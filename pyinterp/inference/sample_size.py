r"""How many rows an interval or a test needs, from the variances of an analysis at hand.

Variances are taken to fall as 1 / rows. So the numbers are those of the rows at hand, times a
factor: with q the quantile of t, W the width that is asked for and E the effect,

.. math:: \left(\frac{2 q\, \mathrm{se}}{W}\right)^2, \quad
    \left(\frac{\delta\, \mathrm{se}}{E}\right)^2

for plain rows, with :math:`\delta` the effect in standard errors that the test finds with the
power; and for rows whose estimate varies as a square (`half_sample.square`), with
:math:`z` the normal quantile of the power,

.. math:: \frac{a}{a_W},\; 4 q \sqrt{a_W (E + a_W)} = W, \quad
    \max\left(\frac{\delta^2 a}{E}, \frac{(q + z) v_0}{E}\right)

The range is the one of a variance with so many degrees of freedom, by :math:`\chi^2`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr

from pyinterp._typing import FloatArray
from pyinterp.checks import POSITIVE, Interval, check_alpha, check_number
from pyinterp.errors import InferenceError, OptionError
from pyinterp.inference.half_sample.square import SquareVariance, effect_variance
from pyinterp.inference.intervals import METHODS, adjusts_intervals, t_quantile
from pyinterp.inference.terms import TermInference

# Quantiles of a standard error over which power is averaged: scipy lacks noncentral t far out.
POINTS = 2000


def frame_of_sizes(rows: Any, index: pd.Index[Any], nobs: int, clusters: int) -> pd.DataFrame:
    """Return numbers of rows, shape (q, 3), and of clusters, if `nobs` rows have them."""
    frame = pd.DataFrame(rows, index, ["n", "n_low", "n_high"])
    if clusters:
        frame["clusters"] = np.ceil(frame["n"] * clusters / nobs)
    return frame


def sizes_of(
    terms: TermInference,
    nobs: int,
    alpha: float,
    width: float | None,
    effect: float | None,
    power: float,
) -> FloatArray:
    """Return the rows of an analysis that terms need, and their 95% limits, shape (q, 3).

    Raises
    ------
    OptionError
        If neither is given, or one that changes nothing, or no number or test has such a size.
    InferenceError
        For one-sided tests, and without standard errors.
    """
    square = terms.variance.varies_as_square
    for name, value in {"width": width, "effect": effect}.items():
        if value is not None:
            check_number(name, value, POSITIVE)
    check_alpha(alpha)
    check_number("power", power, Interval(alpha, 1))
    if effect is None if square else (width is None) == (effect is None):
        raise OptionError(
            "`sample_size` of an importance needs `effect`, the importance that is worth "
            "finding, alone or with the `width` of its interval."
            if square
            else "`sample_size` needs either the `width` of intervals, or the `effect`, a "
            "distance from no effect, that a test is to find."
        )
    if terms.alternative != "two-sided" or not (terms.bse > 0).any():
        reason = terms.variance.reason or "they are one-sided, or have no standard errors"
        raise InferenceError(f"`sample_size` is of two-sided results with errors: {reason}.")
    if width is None and (not terms.has_test or np.isnan(terms.null).all()):
        raise OptionError("There is no test of no effect to have a power: give a `width`.")
    method = terms.p_adjust
    if width is None and method and not adjusts_intervals(method):
        if METHODS[method][:3] == "fdr":
            raise OptionError(
                f"A power under `p_adjust={method!r}` depends on the other effects, which are "
                'unknown: take "holm", or none.'
            )
        terms = replace(terms, p_adjust="bonferroni")  # the others reject wherever it does
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        rows = np.ceil(nobs * more_rows(terms, alpha, width, effect, power))
    if np.isinf(rows).any():
        raise OptionError(
            "`width`, `effect` and `alpha` must be within reach of some number of rows, which "
            "these are not: give larger ones."
        )
    return rows


def more_rows(
    terms: TermInference, alpha: float, width: float | None, effect: float | None, power: float
) -> FloatArray:
    """Return the factors by which rows are to grow, and their 95% limits, shape (q, 3).

    Missing where nothing varies, and for squares that are not larger than their error at 0.

    Parameters
    ----------
    terms : TermInference
    alpha : float
        Of an interval or a test; divided among the terms as the analysis divides it.
    width, effect : float or None
        For a power without a width.
    power : float
    """
    variance, df = terms.variance, terms.variance.df
    error = np.where(terms.bse > 0, terms.bse, np.nan)
    q = t_quantile(terms.level(alpha) / 2, df)
    if not np.isfinite(q):  # so small an alpha is out of reach
        return np.full((len(error), 3), np.inf)
    away, size = (np.nan if value is None else value for value in (width, effect))
    if isinstance(variance, SquareVariance):
        none = np.full_like(error, variance.no_effect)
        found = variance.statistic(terms.estimate, terms.bse, none) >= 1
        a = np.where(found, effect_variance(terms.estimate - variance.no_effect, error), np.nan)
        half = away / (4 * q)
        factor = a * (size + np.hypot(size, 2 * half)) / half / (2 * half)
        if width is None:
            delta, z = noncentrality(q, df, power), stats.norm.ppf(power)
            of_zero = (q + z) * np.minimum(variance.at_no_effect, error) / size
            factor = np.maximum(delta**2 * a / size, of_zero)
    elif width is not None:
        factor = np.square(2 * q * error / away)
    else:
        factor = np.square(noncentrality(q, df, power) * error / size)
    limits = stats.chi2.isf([0.025, 0.975], df) / df if np.isfinite(df) else np.ones(2)
    return np.asarray(factor[:, None] / np.append(1.0, limits))


def noncentrality(q: float, df: float, power: float) -> float:
    """Return the effect, in standard errors, at which t is beyond -q or q with the power."""
    middles = (np.arange(POINTS) + 0.5) / POINTS
    errors = q * (np.sqrt(stats.chi2.ppf(middles, df) / df) if np.isfinite(df) else np.ones(1))

    def lack(delta: float) -> float:
        return float(np.mean(ndtr(delta - errors) + ndtr(-delta - errors))) - power

    return float(brentq(lack, 0.0, errors[-1] + 40.0)) if lack(0.0) < 0 else 0.0
