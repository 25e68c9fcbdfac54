"""Reference for checking numbers: the half-sample interval (numpy and scipy only).

T  : (M, 2, q)  helper refits; T[j, 0] trained on half 0 of split j and evaluated on half 1,
                T[j, 1] the reverse
bm : (M, 2, q)  mean over half h of split j of bhat_i, the effect of row i as one that evaluates.
                (Not its mean deviation from the M fits that it evaluates: over the half that
                evaluates a fit those add up to 0, and D would be too small.)
T_main : (m, q) main refits (train .632 n, evaluate on the rest); the estimate is their mean
"""

import numpy as np
from scipy import stats

CAP = 0.6


def variance(T_main, T, bm):
    m = T_main.shape[0]
    D = T[:, 0] - T[:, 1] + 2 * (bm[:, 0] - bm[:, 1])
    A = (D**2).mean(0) / 4
    return T_main.mean(0), A + T_main.var(0, ddof=1) / m, T.shape[0]


def interval(c, V, df, alpha=0.05, skewed=False):
    h = stats.t.isf(alpha / 2, df) * np.sqrt(V)
    if not skewed:  # PD values and their contrasts
        return c - h, c + h
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.where(c > 0, np.minimum(h / (4 * c), CAP), CAP)
    k = np.where(h == 0, 0.0, k)
    return c - h / (1 + k), c + h / (1 - k)


def pvalue(c, V, df, skewed=False):
    """Two-sided p of H0: estimand = 0; p < alpha exactly when the 1 - alpha interval excludes 0."""
    s = np.sqrt(V)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(c) / s
    if skewed:
        ratio = np.where(c > 0, 4 * ratio / 3, 0.4 * ratio)
    return 2 * stats.t.sf(ratio, df)
