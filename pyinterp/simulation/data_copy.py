"""A process made of data and refits: rows resampled, responses drawn around predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.sample import Response
from pyinterp.errors import OptionError
from pyinterp.learner.analysis import Analysis
from pyinterp.models.predictor import learner_name
from pyinterp.random import Seed
from pyinterp.simulation.process import Process, generator

NOISE = 0.1  # standard deviation of the noise of a number, in standard deviations of it
MOST_POWER = 10.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DataCopy(Process):
    """A process whose rows are nearly the rows of data, each as often as chance has it.

    Attributes
    ----------
    response : Response
        Its name and, if it is categorical, its classes.
    rows : pandas.DataFrame, shape (N, p)
        The rows that are drawn.
    means : ndarray of shape (N,) or (N, classes)
        Mean of the response in every row, or the probabilities of the classes.
    residuals : ndarray
        Added to means, drawn independently of the row; none for classes.
    null : tuple of str
        Features whose values come from other rows, on which the response does not depend.
    """

    response: Response
    rows: pd.DataFrame
    means: FloatArray
    residuals: FloatArray
    null: tuple[str, ...] = ()

    def draw(self, n: int, seed: Seed = None) -> pd.DataFrame:
        """Draw n rows with replacement, and a new response for each, as the last column.

        Features in `null` are then replaced by those of other rows: the response does not depend on
        them.
        """
        rng = generator(seed)
        frame = self.covariates(n, rng)
        y = self.response.column(self.respond(self.function(frame), rng))
        if self.null:
            others = self.covariates(n, rng)
            for name in self.null:
                frame[name] = others[name].array
        return pd.concat([frame.reset_index(drop=True), y], axis=1)

    def respond(self, mean: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw responses; of classes their positions."""
        if self.response.classes is None:
            return mean + self.residuals[rng.integers(len(self.residuals), size=len(mean))]
        above = rng.random((len(mean), 1)) > mean.cumsum(axis=1)[:, :-1]
        return np.asarray(above.sum(axis=1), np.float64)


def copy_of(analysis: Analysis) -> DataCopy:
    """Return the copy of an analysis: its rows, with out-of-sample predictions by its refits.

    Raises
    ------
    OptionError
        If the learner predicts neither numbers nor probabilities.
    """
    sample, predictor = analysis.problem.sample, analysis.problem.predictor
    y, response = sample.y, sample.response
    if predictor.kind not in ("mean", "probability") or y is None or response is None:
        raise OptionError(
            "A copy draws responses around predicted numbers, or from predicted probabilities, but "
            f"{learner_name(predictor.estimator)} predicts neither; use a learner that does."
        )
    total = np.zeros((sample.nobs, len(response.classes or "1")))
    count = np.zeros((sample.nobs, 1))
    for refit, case in zip(analysis.refits, analysis.cases, strict=True):
        at = np.searchsorted(sample.rows, refit.evaluation.rows)
        total[at] += case.whatif.factual.reshape(len(at), -1)
        count[at] += 1
    kept = np.flatnonzero(count)  # few refits may never reach a row
    y, predicted = y[kept], total[kept] / count[kept]
    rows = sample.variables.take(kept).reset_index(drop=True)
    number = response.classes is None
    means = _line(predicted[:, 0], y) if number else _sharpen(predicted, y.astype(np.intp))
    # Last bits depend on the processor, and would decide between equal splits of a tree: eleven
    # digits of the standard deviation stay.
    means = np.round(means, 11 - int(np.floor(np.log10(np.std(y) or 1.0))))
    numbers = [k for k, name in enumerate(rows) if name not in analysis.problem.discrete]
    floats = [k for k in numbers if rows.dtypes.iloc[k].kind == "f"]
    moved = [k for k in floats if (rows.iloc[:, k] % 1 > 0).any()]
    return DataCopy(
        name="copy",
        source="data",
        features=tuple(map(str, rows)),
        covariates=lambda n, rng: _resample(rows, moved, rng.integers(len(rows), size=(3, n))),
        function=lambda frame: means[frame.index],  # rows keep their place in the data
        noise="residuals",
        noise_sd=float(np.std(y - means)) if number else float("nan"),
        response=response,
        rows=rows,
        means=means,
        residuals=y - means if number else np.empty(0),
    )


def _line(predicted: FloatArray, y: FloatArray) -> FloatArray:
    """Return the least squares line of y on its predictions, whose slope is not below 0.

    Residuals from it go with nothing, so that responses vary as much in the copy as in the data.
    """
    away = predicted - predicted.mean()
    slope = max(float(away @ y), 0.0) / max(float(away @ away), np.finfo(float).tiny)
    return np.asarray(y.mean() + slope * away)


def _sharpen(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """Return the power of probabilities, scaled to sum to 1, under which y is most likely."""
    logs = np.log(np.maximum(probabilities, 0.5 / len(y)))

    def surprise(power: float) -> float:
        return -float(log_softmax(power * logs, axis=1)[np.arange(len(y)), y].sum())

    best = minimize_scalar(surprise, bounds=(0, MOST_POWER), method="bounded").x
    return np.exp(log_softmax(best * logs, axis=1))


def _resample(rows: pd.DataFrame, moved: list[int], at: IntArray) -> pd.DataFrame:
    """Return rows, to whose numbers a share of the difference of two other rows is added.

    Sums of numbers, and how they go with each other, stay, and they stay in their range.
    """
    drawn = rows.take(at[0])
    for k in moved:
        column = rows.iloc[:, k].to_numpy()
        noise = NOISE / np.sqrt(2) * np.nan_to_num(column[at[1]] - column[at[2]])
        values = np.clip(column[at[0]] + noise, np.nanmin(column), np.nanmax(column))
        drawn.isetitem(k, values.astype(column.dtype))
    return drawn
