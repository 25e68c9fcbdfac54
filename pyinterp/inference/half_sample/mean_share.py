"""How much of its training variance the mean of many refits keeps, from pairs of halves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.errors import PyinterpError
from pyinterp.random import Seeds
from pyinterp.resampling.refits import Refit

__all__ = ["mean_share"]

ROWS = 1000
ROUNDING = 1e-12


def mean_share(refits: Sequence[Refit], variables: pd.DataFrame, seeds: Seeds) -> float:
    r"""Return r, the share of the predictions' training variance that stays in their mean.

    .. math:: r = 1 - S_f / A_f, \quad A_f = \frac{1}{4M} \sum_{j, x} (f_{j0}(x) - f_{j1}(x))^2,
        \quad S_f = \frac{1}{M - 1} \sum_{j, x} (\bar f_j(x) - \bar f(x))^2

    with :math:`f_{jh}` the prediction, less its mean over rows, of the refit on half h of pair j,
    and :math:`\bar f_j` the mean of a pair. It is 1 for learners that are linear in the training
    rows, 0 for pure noise. The 1,000 rows x are mixtures of the data's: every variable has its
    value in another row, so that few of them are training rows.

    Parameters
    ----------
    refits : sequence of Refit
        Those in pairs of complementary halves count.
    variables : DataFrame
        Variables of all rows of the data.
    seeds : Seeds

    Returns
    -------
    float
        In [0, 1]; 1 where nothing varies, or where the learner refuses such rows.
    """
    pairs: dict[int, list[Refit]] = {}
    for refit in refits:
        if refit.group is not None and refit.group.kind == "pair":
            pairs.setdefault(refit.group.number, []).append(refit)
    rng = seeds.stream("draws", name="mixtures of rows")
    rows = pd.concat(
        [
            variables[[name]].take(rng.integers(len(variables), size=ROWS)).reset_index(drop=True)
            for name in variables
        ],
        axis=1,
    )
    try:
        f = np.array(
            [[_predict(r, rows) for r in pair] for pair in pairs.values() if len(pair) == 2]
        )
    except PyinterpError:
        return 1.0
    size = float(np.square(f).mean())
    f = f - f.mean(axis=2, keepdims=True)
    A = float(np.square(f[:, 0] - f[:, 1]).mean(axis=0).sum() / 4)
    S = float(f.mean(axis=1).var(axis=0, ddof=1).sum())
    if ROUNDING**2 * size * f[0, 0].size >= A:
        return 1.0
    return float(np.clip(1 - S / A, 0.0, 1.0))


def _predict(refit: Refit, rows: pd.DataFrame) -> FloatArray:
    return refit.predictor(refit.design.encode(rows)).reshape(len(rows), -1)
