"""Bias and variance of predictions before and after a switch (Khan et al. 2025, eqs 12-16, 27)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pyinterp._typing import FloatArray

__all__ = ["COLUMNS", "TruthAndPredictions", "components"]

COLUMNS = (
    "bias2_switch",
    "bias2_orig",
    "variance_switch",
    "variance_orig",
    "delta",
    "estimate",
    "corrected",
)


class TruthAndPredictions(NamedTuple):
    """The true f of v rows, shape (v,), and the predictions of m models, shape (m, v)."""

    f: FloatArray
    predictions: FloatArray


def components(
    y: FloatArray, original: TruthAndPredictions, switched: TruthAndPredictions
) -> FloatArray:
    r"""Estimate `COLUMNS` from models trained on independent data and the same validation rows.

    Parameters
    ----------
    y : ndarray of shape (v,)
        Responses of the validation rows.
    original, switched : TruthAndPredictions
        True f, shape (v,), and predictions, shape (m, v), of the rows X and of the rows
        :math:`X'_j`, in which one feature has been drawn anew; at least two models.

    Returns
    -------
    ndarray of shape (7,)
        Every entry is unbiased.

    Notes
    -----
    Means over rows of: the variance over models with divisor m - 1; the squared distance of the
    mean prediction from f less a share 1/m of that variance, which the square of a mean of m has
    in excess (so that an estimate near 0 can be below it);
    :math:`\delta_j = 2 (f(X'_j) - f(X)) (f(X'_j) - \bar f(X'_j))` with the mean prediction
    :math:`\bar f`, which is linear in it; the estimated importance, the mean over models of
    :math:`(Y - \hat f(X'_j))^2 - (Y - \hat f(X))^2`; and this estimate corrected, plus
    :math:`\delta_j` less the differences in squared bias and in variance. Of the latter the
    algebra leaves :math:`(f(X'_j) - f(X))^2 + 2 (Y - f(X)) (\bar f(X) - \bar f(X'_j))`, whose
    expectation is the importance of the true f for any learner.
    """
    bias2, variance = [], []
    for f, predicted in (switched, original):
        spread = predicted.var(axis=0, ddof=1).mean()
        distance = np.square(predicted.mean(axis=0) - f).mean()
        bias2.append(distance - spread / len(predicted))
        variance.append(spread)
    (f_switched, p_switched), (f, p) = switched, original
    delta = 2 * np.mean((f_switched - f) * (f_switched - p_switched.mean(axis=0)))
    estimate = np.mean(np.square(y - p_switched) - np.square(y - p))
    corrected = estimate + delta - (bias2[0] - bias2[1]) - (variance[0] - variance[1])
    return np.array([*bias2, *variance, delta, estimate, corrected])
