"""Reference for checking numbers: the half-sample variance and the intervals of one value.

Plain formulas for one number at a time, with numpy and scipy only.

T      : (M, 2)  refits on halves; T[j, 0] trained on half 0 of split j and evaluated on half 1,
                 T[j, 1] the reverse
bm     : (M, 2)  mean over half h of split j of bhat_i, the effect of row i as one that evaluates.
                 (Not its mean deviation from the M fits that it evaluates: over the half that
                 evaluates a fit those add up to 0, and D would be too small.)
T_main : (m,)    refits on .632 n rows, evaluated on the rest; the estimate is their mean
"""

from math import exp, log, nan, sqrt

import numpy as np
from scipy import stats
from scipy.optimize import brentq


def parts(T_main, T, bm):
    """A, S, s²/m and M of one value."""
    D = [t[0] - t[1] + 2 * (b[0] - b[1]) for t, b in zip(T, bm, strict=True)]
    A = sum(d**2 for d in D) / (4 * len(D))
    S = np.var([(t[0] + t[1]) / 2 for t in T], ddof=1)
    return A, float(S), float(np.var(T_main, ddof=1)) / len(T_main), len(D)


def growth(signal, half):
    """g: by what factor the signal of refits on .632 n rows, (m,), is above that of halves."""
    error = sqrt(np.var(signal, ddof=1) / len(signal) + np.var(half, ddof=1) / len(half))
    if np.mean(signal) <= 0 or np.mean(signal) <= np.mean(half) + error:
        return 1.0
    if np.mean(half) <= 0:
        return 1.5
    return min(np.mean(signal) / np.mean(half), 1.5)


def share(f):
    """r of predictions f of shape (M, 2, rows)."""
    A = S = 0.0
    centered = [[half - np.mean(half) for half in pair] for pair in f]
    for x in range(len(f[0][0])):
        pairs = [(one[x], other[x]) for one, other in centered]
        A += sum((one - other) ** 2 for one, other in pairs) / (4 * len(pairs))
        S += np.var([(one + other) / 2 for one, other in pairs], ddof=1)
    return min(max(1 - S / A, 0.0), 1.0)


def variances(A, S, s2_m, g=1.0, r=1.0):
    """V at the estimate and v0² at 0."""
    V = g**2 * max(A - S / 2, S) + s2_m
    return V, min(0.632 / 0.5 * g**2 * r**2 * S + s2_m, V)


def variances_of_ratio(A, S, s2_m, size, g=1.0, r=1.0):
    """Those of a ratio to the loss; size: estimate over the mean of halves, in [1, 1.5]."""
    V = size**2 * max(A, S) + s2_m
    return V, min(0.632 / 0.5 * g**2 * r**2 * S + s2_m, V)


def effect_variance(c, V):
    """The positive solution a of V = 2 a² + 4 a max(c, 0)."""
    unit = sqrt(V)
    return unit * float(np.roots([2, 4 * max(c, 0.0) / unit, -1]).max())


def null_error(c, V, v0):
    """se0, by which t divides."""
    if c > 0:
        return max(v0, c / sqrt(1 + c / effect_variance(c, V)))
    return min(max(-c, v0), sqrt(V))


def recomputed(c, std_err, t, df, alpha):
    """P and both limits from what a table prints of a row: estimate, std err, t, df.

    An estimate of exactly 0 has t = 0, which says nothing of the lower limit: that is missing.
    """
    se0 = c / t if t else nan
    V = std_err**2
    a = (V / 2) / (sqrt(max(c, 0.0) ** 2 + V / 2) + max(c, 0.0))
    q = stats.t.isf(alpha / 2, df)
    low = c - q * se0
    if c > 0:
        low = min(max(sqrt(c + a) - q * sqrt(a), 0.0) ** 2, low)
    high = c + q * se0  # q times the standard error wherever q >= 1
    if not high < 0:
        high = (sqrt(max(c + a, 0.0)) + q * sqrt(a)) ** 2
    return 2 * stats.t.sf(abs(t), df), low, high


def limits(c, V, v0, df, alpha):
    """The two limits of the 1 - alpha interval."""
    q, a, se0 = stats.t.isf(alpha / 2, df), effect_variance(c, V), null_error(c, V, v0)
    low = c - q * se0
    if c > 0:
        root = sqrt(c + a) - q * sqrt(a)
        low = min(root**2 if root > 0 else 0.0, low)
    high = c + q * se0
    return low, high if high < 0 else (sqrt(max(c + a, 0.0)) + q * sqrt(a)) ** 2


def statistic(c, V, v0, h=0.0):
    """t of the null value h."""
    a, se0 = effect_variance(c, V), null_error(c, V, v0)
    if h < 0:
        return (c - h) / se0
    effect = (sqrt(max(c + a, 0.0)) - sqrt(h)) / sqrt(a)
    if c <= 0:
        return min(c / se0, effect)
    return min(0.0, effect) if h > c else min(effect, (c - h) / se0)


def p_value(c, V, v0, df, h=0.0, alternative="two-sided"):
    """P of the null value h; a square has no sign, so one side does not halve it."""
    if (alternative == "greater" and c <= h) or (alternative == "less" and c >= h):
        return 1.0
    return 2 * stats.t.sf(abs(statistic(c, V, v0, h)), df)


def p_by_limits(c, V, v0, df, h):
    """P of h, which is not c, without a statistic: the level at which a limit reaches h."""
    side = 0 if h < c else 1

    def beyond(log_alpha):
        reach = limits(c, V, v0, df, exp(log_alpha))[side]
        return 1.0 if (reach > h if side == 0 else reach < h) else -1.0

    top, bottom = log(1 - 1e-9), -1.0
    if beyond(top) < 0:
        return 1.0
    while beyond(bottom) > 0:
        bottom *= 2
    return exp(brentq(beyond, bottom, top, xtol=1e-12))
