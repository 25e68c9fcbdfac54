"""Studies of estimated importances: where they differ from the truth, and why."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

import pyinterp as pi
from pyinterp.simulation import Process, dgp_pfi

FloatArray: TypeAlias = npt.NDArray[np.float64]

# What a block of models estimates.
COLUMNS = (
    "bias2_switch",
    "bias2_orig",
    "variance_switch",
    "variance_orig",
    "delta",
    "estimate",
    "corrected",
)

# The true f of v rows, shape (v,), and the predictions of m models, shape (m, v).
TruthAndPredictions: TypeAlias = tuple[FloatArray, FloatArray]


def components(
    y: FloatArray, original: TruthAndPredictions, switched: TruthAndPredictions
) -> FloatArray:
    r"""Estimate `COLUMNS` from models trained on independent data and the same validation rows.

    Parameters
    ----------
    y : ndarray of shape (v,)
        Responses of the validation rows.
    original, switched : tuple of ndarray
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


def importance_study(
    process: Process,
    learner: Any,
    features: Sequence[str],
    *,
    measures: Sequence[str] = ("mvim", "cvim"),
    n: int = 100,
    repetitions: int = 100,
    block: int = 10,
    validation: int = 5000,
) -> pd.DataFrame:
    r"""Decompose the error of estimated MVIM and CVIM (Khan et al. 2025, sections 3 and 4.4).

    .. math:: E[\widehat{MI}_j] = MI_j + \text{Bias}^2(\text{switch}) - \text{Bias}^2(\text{orig})
        + \text{Var}(\text{switch}) - \text{Var}(\text{orig}) - \delta_j,
        \quad \delta_j = 2 E[(f(X'_j) - f(X)) (f(X'_j) - E_T \hat f(X'_j))]

    where in :math:`X'_j` the feature has been drawn anew, from its marginal distribution
    (MVIM) or from its distribution given the other features (CVIM), and :math:`E_T` is over
    training sets of n rows. The loss is the squared error, with classes the Brier score.

    Models come in blocks. Every model is trained on other rows; the models of a block share
    validation rows, drawn for the block, and features and measures share the models. Data depend
    on the process, n and the repetition only, so that learners are compared on the same data.
    ``joblib.parallel_config(n_jobs=2)`` around the call runs two blocks at once.

    Parameters
    ----------
    process : Process
    learner : estimator, or tuple of formula and estimator
        The formula is ``"y ~ ."`` by default; each model learns its knots and levels from its
        training rows. One that draws needs a ``random_state``.
    features : sequence of str
    measures : sequence of {"mvim", "cvim"}
    n : int
        Training rows.
    repetitions : int
        Models, in whole blocks.
    block : int
        Models per block, at least 2: those whose variance is estimated.
    validation : int
        Validation rows per block.

    Returns
    -------
    pandas.DataFrame
        One row per feature and measure: `process`, `n`, `repetitions` and `validation`;
        `bias2_switch`, `bias2_orig`, `variance_switch`, `variance_orig`, `delta`, `estimate` (mean
        of the estimated importances), `corrected` (which has the expectation `truth`, whatever the
        learner) and `truth`, in squared units of the response, each with a Monte Carlo standard
        error, such as `delta_mcse`, which is missing for a single block.

    Notes
    -----
    Every component is estimated without bias within a block (`components`) and averaged over
    blocks; Monte Carlo errors are those between blocks. In the paper's eq. 14 :math:`\delta_j` has
    the wrong sign, in its tables the right one.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from pyinterp_papers.importance import importance_study
    >>> from pyinterp_papers.processes import khan_regression
    >>> process = khan_regression("strong", noise_features=1)
    >>> tree = DecisionTreeRegressor(min_samples_leaf=5)
    >>> frame = importance_study(process, tree, ["X1"], repetitions=20, validation=1000)
    >>> frame[["measure", "truth"]].round(2).values.tolist()
    [['mvim', 7.97], ['cvim', 0.53]]
    """
    terms = list(product(features, measures))
    parts = Parallel()(
        delayed(_of_block)(process, learner, terms, n, block, validation, number)
        for number in range(repetitions // block)
    )
    values = np.array(parts)  # blocks, terms, columns
    mean = values.mean(axis=0)
    variance = np.clip(np.square(values).mean(axis=0) - mean**2, 0, None)
    number = len(values) - 1 or np.nan  # one block has no error
    errors = np.sqrt(variance / number)
    rows = []
    for (feature, measure), means, mcse in zip(terms, mean, errors, strict=True):
        row: dict[str, Any] = {"process": process.name, "measure": measure, "feature": feature}
        row |= {"n": n, "repetitions": repetitions, "validation": validation}
        for column, estimate, error in zip(COLUMNS, means, mcse, strict=True):
            row |= {column: estimate, f"{column}_mcse": error}
        rng = _stream("truth", process.name, feature, measure)
        truth = dgp_pfi(process, feature, conditional=measure == "cvim", seed=rng)
        rows.append(row | {"truth": truth.value, "truth_mcse": truth.mcse})
    return pd.DataFrame(rows)


def _of_block(
    process: Process,
    learner: Any,
    terms: Sequence[tuple[str, str]],
    n: int,
    size: int,
    validation: int,
    number: int,
) -> list[FloatArray]:
    """Return the components of a block of models, by term."""
    frame, y, switched = validation_rows(process, terms, n, validation, number)
    frames = [frame, *switched]
    predictions = [
        _predictions(process, learner, n, repetition, frames)
        for repetition in range(number * size, (number + 1) * size)
    ]
    means = [process.f(each) for each in frames]
    original, *others = zip(means, np.stack(predictions, axis=1), strict=True)
    return [components(y, original, other) for other in others]


def validation_rows(
    process: Process, terms: Sequence[tuple[str, str]], n: int, rows: int, block: int
) -> tuple[pd.DataFrame, FloatArray, list[pd.DataFrame]]:
    """Return the validation rows of a block: features X, response, and X' of every term.

    The response of a class is the indicator of the second.
    """
    rng = _stream("validation", process.name, n, block)
    frame = process.covariates(rows, rng)
    y = process.respond(process.f(frame), rng)
    switched = []
    for feature, measure in terms:
        own = _stream("switched", process.name, n, block, feature, measure)
        values = process.redraw(feature, frame, own, conditional=measure == "cvim")
        column = pd.Series(values).astype(frame[feature].dtype)
        switched.append(frame.assign(**{feature: column}))
    return frame, y, switched


def training_rows(process: Process, n: int, repetition: int) -> pd.DataFrame:
    """Return the data set that trains a model."""
    return process.draw(n, _stream("data", process.name, n, repetition))


def _predictions(
    process: Process, learner: Any, n: int, repetition: int, frames: Sequence[pd.DataFrame]
) -> FloatArray:
    """Train a model and return its predictions for frames of the same length, one row each.

    Of two classes it is the probability of the second.
    """
    formula, estimator = learner if isinstance(learner, tuple) else ("y ~ .", learner)
    data = training_rows(process, n, repetition)
    specification = pi.Learner.from_formula(formula, data, estimator)
    train, rows = (
        specification.design.encode(specification.variables_of(part))
        for part in (data, pd.concat(frames, ignore_index=True))
    )
    model = clone(estimator).fit(train, data["y"])
    predicted = model.predict(rows) if process.classes is None else model.predict_proba(rows)[:, 1]
    return np.asarray(predicted, dtype=np.float64).reshape(len(frames), -1)


def _stream(*key: str | int) -> np.random.Generator:
    """Return the random stream of a key, whatever else is run."""
    return np.random.default_rng([1, *(zlib.crc32(str(part).encode()) for part in key)])
