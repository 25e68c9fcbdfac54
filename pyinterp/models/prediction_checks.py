"""What predictions must be: real, finite, probabilities or classes, and the same every time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, Matrix
from pyinterp.data.frames import as_frame, fill_masks
from pyinterp.data.sample import LARGEST
from pyinterp.errors import PredictionError, quote

# Probabilities in single precision add up to 1 this closely.
UNITY = 1e-5
# Rows that are predicted twice.
TWICE = 64
# Predictions of a row in another batch may differ by this share of their spread, and by so many
# rounding units of their size; if the same batch gives the same twice, by ten times that share.
BATCH, UNITS, SURE = 1e-5, 64, 10


def real_numbers(values: Any) -> FloatArray | None:
    """Return an array of real numbers, masked ones missing; None if the values are not numbers."""
    if type(values) in (np.ndarray, np.float64) and values.dtype == np.float64:
        return np.asarray(values)
    try:
        array = fill_masks(values)
        return array.astype(np.float64, copy=False) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        return None


def read_only(values: FloatArray) -> FloatArray:
    """Return a view of the numbers that a user's function can't change."""
    view = values.view()
    view.flags.writeable = False
    return view


def as_numbers(predictions: Any, who: str) -> FloatArray:
    """Return predictions as real numbers, masked ones missing; raise if they are not numbers."""
    numbers = real_numbers(predictions)
    if numbers is not None:
        return numbers.copy()  # an estimator may use the same memory again
    first = next(iter(np.ravel(np.array(predictions, object))), predictions)
    raise PredictionError(
        f"Predictions must be real numbers; {who} returned values such as {quote(first)}."
    )


def check_finite(predicted: FloatArray, who: str, rows: Matrix | None = None) -> None:
    """Raise unless all predictions of some rows are finite, and their squares' variances."""
    if predicted.min(initial=0.0) >= -LARGEST and predicted.max(initial=0.0) <= LARGEST:
        return
    finite = np.isfinite(predicted)
    if finite.all():
        raise PredictionError(
            f"Predictions must be at most {LARGEST:g} in size, because variances of squares of "
            f"larger numbers overflow; {who} returned {np.abs(predicted).max():.3g}. If it "
            "does not converge, scaled features often help."
        )
    remedy = ""
    if rows is not None and as_frame(rows).isna().any(axis=None):
        remedy = ' Rows have missing values: leave them out by `missing="drop"`, or fill them in.'
    raise PredictionError(
        f"Predictions must be finite; {who} returned {int((~finite).sum())} that are not, of "
        f"{predicted.size}.{remedy}"
    )


def check_probabilities(predicted: FloatArray, who: str) -> None:
    """Raise unless probabilities, shape (n, classes), are in [0, 1] and add up to 1."""
    low, high = predicted.min(initial=0.0), predicted.max(initial=1.0)
    if low < -UNITY or high > 1 + UNITY:
        raise PredictionError(
            f"Probabilities must be between 0 and 1; {who} returned "
            f"{low if low < -UNITY else high:.6g}."
        )
    off = np.abs(np.einsum("ij->i", predicted) - 1)  # fast over few classes
    if (off > UNITY).any():
        total = predicted[int(off.argmax())].sum()
        raise PredictionError(
            f"The probabilities of all classes must add up to 1; {who} returned some that add up "
            f"to {total:.6g}."
        )


def check_repeatable(
    predict: Callable[[Matrix], FloatArray], matrix: Matrix, who: str
) -> FloatArray:
    """Return predictions of all rows, after a check of some of them in another batch.

    Raises
    ------
    PredictionError
        If a row's prediction is not the same the second time, or `predict` changes the rows.
    """
    n = len(matrix)
    # At most half of them, so that the batch is another one.
    some = np.unique(np.linspace(0, n - 1, min(-(-n // 2), TWICE)).astype(np.intp))[::-1]
    rows = take(matrix, some)
    first = predict(rows)
    if not _same(rows, take(matrix, some)):
        raise PredictionError(
            f"`predict` must not change the rows that it is given, but {who} does; let it work on "
            "a copy."
        )
    every = predict(matrix)
    apart = np.abs(first - every[some])
    allowed = BATCH * spread(every) + UNITS * _precision(every) * np.abs(every[some])
    # Only if it must be: predictions for every column.
    if not (apart > allowed).any():
        return every
    remedy = ""
    if not np.array_equal(predict(take(rows, np.arange(len(rows)))), first):
        remedy = "the second time. Fix the seed of what it draws at random."
    elif (apart > SURE * allowed + _rounding(predict, rows, first)).any():
        remedy = (
            "with other rows beside it. Compute means, ranks and the like before, as columns, or "
            "in a formula by `center(x)`, `standardize(x)` or `scale(x)`."
        )
    if remedy:
        raise PredictionError(
            "A row must get the same prediction each time, whatever rows are predicted with it, "
            f"but {who} gives others {remedy}"
        )
    return every


def spread(predictions: FloatArray) -> FloatArray:
    """Return a robust standard deviation of the predictions over rows, by class.

    The interquartile range as a standard deviation; if that is 0, the standard deviation; 0 where
    all rows are predicted the same.
    """
    # Of sorted numbers NumPy finds quantiles in half the time.
    low, high = np.quantile(np.sort(predictions, axis=0), [0.25, 0.75], axis=0)
    with np.errstate(all="ignore"):  # infinite where predictions are near the largest number
        if (high > low).all():
            return np.asarray((high - low) / 1.349)
        # Differences from one row, so that constants give 0 exactly.
        deviation = (predictions - predictions[0]).std(axis=0)
        return np.asarray(np.where(high > low, (high - low) / 1.349, deviation))


def _precision(predictions: FloatArray) -> float:
    """Return the machine epsilon of the predictions, single if all of them are."""
    with np.errstate(over="ignore"):
        single = (predictions == predictions.astype(np.float32)).all()
    return float(np.finfo(np.float32 if single else np.float64).eps)


def _rounding(
    predict: Callable[[Matrix], FloatArray], rows: Matrix, before: FloatArray
) -> FloatArray:
    """Return how far rounding of the rows' values may move their predictions.

    It is `UNITS` times the sum over columns of the change when a column's numbers become the next
    larger ones. The rounding of the prediction itself would be too small a bound where large terms
    cancel, as those of variables far from 0.
    """
    total = np.zeros_like(before)
    if not isinstance(rows, np.ndarray | pd.DataFrame):  # frames of other libraries
        return total
    every = np.arange(len(rows))
    for j in range(rows.shape[1]):
        near: Any = take(rows, every)
        column = near.iloc[:, j] if isinstance(near, pd.DataFrame) else near[:, j]
        if not isinstance(column.dtype, np.dtype) or column.dtype.kind != "f":
            continue
        values = np.nextafter(column, np.asarray(np.inf, column.dtype))
        if isinstance(near, pd.DataFrame):
            near.isetitem(j, values)
        else:
            near[:, j] = values
        total += np.abs(predict(near) - before)
    return UNITS * total


def take(matrix: Matrix, rows: np.ndarray) -> Matrix:
    """Return a copy of some rows, in an array or frame of the same library."""
    if isinstance(matrix, pd.DataFrame):
        return matrix.take(rows).copy()
    if isinstance(matrix, np.ndarray):
        return np.array(matrix[rows])
    taken: Matrix = nw.from_native(cast(Any, matrix), eager_only=True)[rows.tolist()].to_native()
    return taken


def _same(rows: Matrix, before: Matrix) -> bool:
    """Whether rows are as they were before; missing values are equal."""
    if isinstance(rows, np.ndarray):
        return bool(np.array_equal(rows, np.asarray(before), equal_nan=True))
    return bool(as_frame(rows).equals(as_frame(before)))
