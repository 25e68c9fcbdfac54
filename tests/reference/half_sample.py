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
from scipy.optimize import brentq

CAP = 0.6


def variance(T_main, T, bm):
    m = T_main.shape[0]
    D = T[:, 0] - T[:, 1] + 2 * (bm[:, 0] - bm[:, 1])
    A = (D**2).mean(0) / 4
    return T_main.mean(0), A + T_main.var(0, ddof=1) / m, T.shape[0]


def variances_of_ratios(T_main, T, bm, growth=1.0):
    """Variance at the estimate, at 1, and df of the law there: in proportion to their size."""
    near, V0, nu = variances_of_importances(T_main, T, bm, growth)
    c, plain, _ = variance(T_main, T, bm)
    between = T_main.var(0, ddof=1) / T_main.shape[0]
    found = []
    for j, s in enumerate(between):
        more = min(max(c[j] / T[:, :, j].mean(), 1), 1.5) if T[:, :, j].mean() > 0 else 1
        found.append((max(near[j], plain[j]) - s) * more**2 + s)
    return np.array(found), V0, nu


def variances_of_importances(T_main, T, bm, growth=1.0, calm=1.0, kappa=1.25):
    """Variance at the estimate, at the lower bound, and df of the chi-square law there."""
    estimates, V, _ = variance(T_main, T, bm)
    between = T_main.var(0, ddof=1) / T_main.shape[0]
    found = []
    kappas = np.broadcast_to(kappa, estimates.shape)
    parts = estimates, V - between, T.mean(1).var(0, ddof=1), between, kappas
    for c, A, S, s, share in zip(*parts, strict=True):
        at_estimate = max(A - 0.9 * S, 0.4 * S, growth**2 * (A - S))
        at_bound = min((growth * share) ** 2 * S, at_estimate)
        # of a squared effect whose variance is calm times what it was: 2 a^2 + 4 a c
        a = calm * max(np.roots([2, 4 * max(c, 0), -at_estimate]))
        at_bound *= calm**2
        # Of a chi-square part and a normal one, third central moments add up: skewness is
        # sqrt(8) (part / whole)^1.5 = sqrt(8 / nu).
        skewness = np.sqrt(8) * (at_bound / (at_bound + s)) ** 1.5
        found.append((2 * a**2 + 4 * a * max(c, 0) + s, at_bound + s, 8 / skewness**2))
    return np.array(found).T


def interval(c, V, df, alpha=0.05):
    """t intervals: PD values and their contrasts."""
    h = stats.t.isf(alpha / 2, df) * np.sqrt(V)
    return c - h, c + h


def rejects(c, V, V0, df, alpha, theta, asymmetry=1.0, nu=1.0):
    """Whether the two-sided test of an importance rejects theta."""
    if theta < c:
        a = np.sqrt(V0 / 2)
        chi = max(stats.chi2.isf(alpha, nu) - nu, 0) / np.sqrt(2 * nu)
        z = stats.t.isf(alpha / 2, df)
        # V is 4 a (c + a) if importances are squares of normal effects
        first = chi * np.sqrt(V0)
        if theta > 0:  # estimates that vary less than squares do
            off = max(1 - V / (4 * a * (c + a)), 0)
            first *= 1 - 0.5 * off * theta / c
        beyond = first + z * np.sqrt(V / (max(c, 0) + a) * max(theta, 0))
        return c - theta > beyond
    if theta <= 0:
        return False
    h = stats.t.isf(alpha / 2, df) * np.sqrt(V)
    k = min(h / (4 * c), CAP) if c > 0 else CAP
    return theta > c + h / (1 - asymmetry * k)


def interval_of_importance(c, V, V0, df, alpha=0.05, asymmetry=1.0, nu=1.0):
    """Limits where the test begins to reject."""
    far = 100 * (1 + abs(c) + np.sqrt(V) + np.sqrt(V0)) * (1 + stats.t.isf(alpha / 2, df)) ** 2

    def edge(inside, outside):
        for _ in range(200):
            middle = (inside + outside) / 2
            if rejects(c, V, V0, df, alpha, middle, asymmetry, nu):
                outside = middle
            else:
                inside = middle
        return inside

    return edge(c, -far), edge(c, far)


def pvalue(c, V, df):
    return 2 * stats.t.sf(np.abs(c) / np.sqrt(V), df)


def pvalue_of_importance(c, V, V0, df, theta=0.0, asymmetry=1.0, nu=1.0):
    """Two-sided p of theta: the smallest alpha at which the test rejects."""
    if not rejects(c, V, V0, df, 1 - 1e-12, theta, asymmetry, nu):
        return 1.0

    def sign(log_alpha):
        return 1.0 if rejects(c, V, V0, df, np.exp(log_alpha), theta, asymmetry, nu) else -1.0

    if sign(-600.0) > 0:
        return 0.0
    return float(np.exp(brentq(sign, -600.0, np.log(1 - 1e-12), xtol=1e-13)))
