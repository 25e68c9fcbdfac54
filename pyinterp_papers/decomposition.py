"""Bias, variance and mean squared error of a learner's PD and PFI over refits on fresh data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

import pyinterp as pi
from pyinterp.simulation import Process, dgp_pd, dgp_pfi
from pyinterp_papers.streams import stream

FloatArray = npt.NDArray[np.float64]


def decompose(
    process: Process,
    learner: Any,
    estimand: Literal["pd", "pfi"] = "pd",
    features: str | Sequence[str] | None = None,
    *,
    grid: Any = "quantile",
    points: int = 20,
    loss: Any = "squared",
    n: int = 100,
    evaluation: int = 2000,
    repetitions: int = 200,
    truth_n: int = 1_000_000,
    seed: int = 1,
) -> pd.DataFrame:
    r"""Bias-variance decomposition of the PD or the PFI of a learner.

    .. math:: E_F[(\theta_f - \theta_{\hat f})^2]
        = (\theta_f - E_F[\theta_{\hat f}])^2 + V_F[\theta_{\hat f}]

    where :math:`\theta_f` is the DGP-PD at a grid point, or the DGP-PFI of a feature, and F the
    distribution of the models that the learner makes of n rows (Molnar et al. 2021, section 5,
    Appendices A and B). Every refit is trained on fresh rows and evaluated on other fresh rows.

    Parameters
    ----------
    process : Process
    learner : estimator, or tuple of formula and estimator
        Alone, an estimator has the formula ``"y ~ ."``. Knots, means and levels of the formula
        are learned once, from a draw of n rows that is the same for all refits.
    estimand : {"pd", "pfi"}
        Of two classes, the PD of the second's probability.
    features : str or sequence of str, optional
        By default all of the formula.
    grid : str or array
        Of PD, as in ``pd()``: fixed from a draw of n rows. It is the same for all refits.
    points : int
        Grid points per feature.
    loss : str, Loss or callable
        Of PFI; "squared" of a process with classes is the Brier score.
    n : int
        Training rows of every refit.
    evaluation : int
        Evaluation rows of every refit. :math:`\theta_{\hat f}` is an expectation, of which that
        many rows give an estimate: its error counts as variance.
    repetitions : int
        Number of refits.
    truth_n : int
        Rows for a truth that has no closed form.
    seed : int
        The same one gives the same results, for any number of jobs: ``joblib.parallel_config``
        sets it.

    Returns
    -------
    pandas.DataFrame
        As of `bias_and_variance`, with `feature` and, of PD, grid `value`.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyinterp_papers.decomposition import decompose
    >>> from pyinterp_papers.processes import molnar_linear
    >>> frame = decompose(molnar_linear(), LinearRegression(), "pfi", repetitions=20, seed=1)
    >>> frame[["feature", "truth", "bias"]].round(3)
      feature  truth   bias
    0      x1  0.167 -0.043
    1      x2  0.167  0.001
    """
    formula, estimator = learner if isinstance(learner, tuple) else ("y ~ .", learner)
    # The draw that fixes grids, knots, means and levels.
    data = process.draw(n, stream(seed, "splits"))
    model = pi.Learner.from_formula(formula, data, estimator)
    names = [features] if isinstance(features, str) else list(features or model.features)
    rows = n + evaluation
    plan = pi.FreshDraws(partial(process.draw, rows), refits=repetitions, fraction=n / rows)
    fitted = model.fit(plan, seed=seed, progress=False)
    if estimand == "pfi":
        loss = "brier" if process.classes is not None and loss == "squared" else loss
        results = [fitted.pfi(names, loss=loss)]
        layout = pd.DataFrame({"feature": names})
        truths: list[Any] = [
            dgp_pfi(process, name, loss, n=truth_n, seed=stream(seed, "draws", name))
            for name in names
        ]
    else:
        label = None if process.classes is None else process.classes[1]
        results = [fitted.pd(x, grid=grid, points=points, which_class=label) for x in names]
        values = [result.estimand.terms.layout["value"].tolist() for result in results]
        layout = pd.concat(
            [pd.DataFrame({"feature": x, "value": v}) for x, v in zip(names, values, strict=True)],
            ignore_index=True,
        )
        truths = [
            dgp_pd(process, x, v, n=truth_n, seed=stream(seed, "draws", x))
            for x, v in zip(names, values, strict=True)
        ]
    estimates = np.concatenate([result.refit_frame() for result in results], axis=1)
    truth, errors = (np.hstack(parts) for parts in zip(*truths, strict=True))
    return layout.join(bias_and_variance(estimates, truth, errors))


def bias_and_variance(
    estimates: FloatArray, truth: FloatArray, truth_mcse: FloatArray
) -> pd.DataFrame:
    r"""Return the decomposition of estimates, shape (refits, terms), one row per term.

    Columns `truth`, `mean` of the refits' estimates, `bias` (mean minus truth), `bias_squared`,
    `variance` of the estimates (divisor R, the number of refits, so that `mse` is exactly
    `bias_squared` + `variance`), `mse` (mean squared distance from the truth), each with a Monte
    Carlo standard error, such as `bias_mcse`.

    Notes
    -----
    `bias_squared` is the square of the estimated bias; its expectation is above the square of
    the bias by the square of `bias_mcse`, and `variance` is as much too small. Monte Carlo
    errors: :math:`s / \sqrt R` of the mean, for the bias plus the error of the truth;
    :math:`\sqrt{4 b^2 e^2 + 2 e^4}` of the square of a normal bias b with error e;
    :math:`\sqrt{(m_4 - m_2^2) / R}` of the variance, from the moments of the estimates; and
    the standard error of the mean squared distance, plus :math:`2 |b|` times the truth's.
    """
    r = len(estimates)
    mean = estimates.mean(axis=0)
    away = estimates - mean
    variance = np.square(away).mean(axis=0)
    bias, spread = mean - truth, np.sqrt(variance / (r - 1))
    error = np.hypot(spread, truth_mcse)
    fourth = (away**4).mean(axis=0)
    squares = np.square(estimates - truth)
    of_mse = np.hypot(squares.std(axis=0, ddof=1) / np.sqrt(r), 2 * np.abs(bias) * truth_mcse)
    columns = {
        "truth": (truth, truth_mcse),
        "mean": (mean, spread),
        "bias": (bias, error),
        "bias_squared": (bias**2, np.sqrt(4 * bias**2 * error**2 + 2 * error**4)),
        "variance": (variance, np.sqrt(np.clip(fourth - variance**2, 0, None) / r)),
        "mse": (squares.mean(axis=0), of_mse),
    }
    return pd.DataFrame(
        {
            name: numbers
            for column, pair in columns.items()
            for name, numbers in zip((column, f"{column}_mcse"), pair, strict=True)
        }
    )
