"""Tests of linear hypotheses about terms, each on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from statsmodels.stats.contrast import ContrastResults

from pyinterp.errors import InferenceError, check_alpha
from pyinterp.inference import Variance, interval, p_values
from pyinterp.sample import FloatArray

__all__ = ["Contrasts", "contrasts"]


class Contrasts(ContrastResults):  # type: ignore[misc]  # statsmodels has no types
    """Tests of contrasts, t tests but for hypotheses about a single term.

    Those have the statistic, p-value and interval of the term's own variance estimator, as tables
    print them.

    Parameters
    ----------
    effect, sd, t, pvalue : ndarray of shape (k,)
    df : float
    limits : callable
        ``limits(alpha)`` returns the intervals, shape (k, 2).
    """

    def __init__(
        self,
        *,
        effect: FloatArray,
        sd: FloatArray,
        t: FloatArray,
        pvalue: FloatArray,
        df: float,
        limits: Callable[[float], FloatArray],
    ) -> None:
        super().__init__(effect=effect, t=t, sd=sd, df_denom=df)
        self.pvalue = np.squeeze(pvalue)
        self._limits = limits

    def conf_int(self, alpha: float = 0.05) -> FloatArray:
        """Return 1 - alpha intervals of the effects, shape (k, 2)."""
        check_alpha(alpha)
        return self._limits(alpha)


def contrasts(
    weights: FloatArray,
    target: FloatArray,
    *,
    estimate: FloatArray,
    bse: FloatArray,
    size: FloatArray,
    variance: Variance,
    names: Sequence[str],
    missing: Mapping[str, str],
    zero_variance: str,
) -> Contrasts:
    """Test ``weights @ estimate = target``, row by row; terms of weight 0 do not matter.

    Parameters
    ----------
    weights : ndarray of shape (k, q)
    target : ndarray of shape (k,)
    estimate, bse : ndarray of shape (q,)
    size : ndarray of shape (q,)
        Standard errors below this are rounding.
    variance : Variance
    names : sequence of str
        Of the terms.
    missing : mapping of str to str
        By term, why it has no estimate if it has none.
    zero_variance : str
        Why there can be no variance.
    """
    k = len(weights)
    effect, sd, t, p = (np.empty(k) for _ in range(4))
    single: dict[int, tuple[int, float]] = {}
    for row, weight in enumerate(weights):
        (used,) = np.nonzero(weight)
        lost = [names[int(j)] for j in used if np.isnan(estimate[j])]
        if lost:
            why = missing.get(lost[0], "")
            raise InferenceError(
                f"A hypothesis can be tested about terms that have an estimate, but `{lost[0]}` "
                f"has no estimate{why and f' ({why})'}."
            )
        own = weight[used]
        effect[row] = own @ estimate[used]
        sd[row] = np.sqrt(max(own @ variance.cov[np.ix_(used, used)] @ own, 0.0))
        if not len(used) or not sd[row] > (np.abs(own) * size[used]).max():
            raise InferenceError(
                "A hypothesis can't be tested where the contrast does not vary over refits "
                f"({zero_variance})."
            )
        if len(used) == 1:
            j, factor = int(used[0]), float(own[0])
            single[row] = j, factor
            null = float(target[row] / factor)
            t[row] = np.sign(factor) * variance.statistic(estimate, bse, null)[j]
            p[row] = variance.p_values(estimate, bse, null, "two-sided")[j]
        else:
            t[row] = (effect[row] - target[row]) / sd[row]
            p[row] = p_values(t[row : row + 1], variance.df)[0]

    def limits(alpha: float) -> FloatArray:
        found = interval(effect, sd, variance.df, alpha=alpha)
        for row, (j, factor) in single.items():
            one = variance.interval(estimate, bse, alpha, "two-sided")[j]
            found[row] = np.sort(factor * one)
        return found

    return Contrasts(effect=effect, sd=sd, t=t, pvalue=p, df=variance.df, limits=limits)
