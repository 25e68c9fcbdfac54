"""Rows and responses as scikit-learn's estimators are given them, checked before R sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import type_of_target

from pyinterp.data.frames import as_frame, is_frame
from pyinterp.errors import DataError

__all__ = ["check_count", "check_labels", "response_of", "rows_of"]


def rows_of(X: object) -> pd.DataFrame:
    """Return the rows as a frame: data frames as they are, arrays if they hold numbers.

    Raises
    ------
    DataError
        In scikit-learn's words for arrays that no estimator takes.
    """
    if is_frame(X) or isinstance(X, pd.Series):
        return as_frame(X, "X")
    try:
        return as_frame(np.asarray(check_array(X, ensure_all_finite="allow-nan")), "X")
    except (TypeError, ValueError) as error:
        raise DataError(f"`X` must be a data frame or an array of numbers: {error}") from error


def response_of(y: object, n: int) -> pd.Series[Any]:
    """Return the response of `n` rows, with its name if it has one.

    Raises
    ------
    DataError
        If there is none, or another number of values, or some are missing or infinite.
    """
    if y is None:
        raise DataError(
            "`y` must be given: RLearner requires y to be passed, but the target y is None."
        )
    if not isinstance(y, pd.Series | pd.Categorical | pd.Index):
        y = np.asarray(y)
        y = column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1 or len(y) != n:
        raise DataError(
            f"`y` must have {n} values, one per row of `X`; its shape is {tuple(y.shape)}."
        )
    values = pd.Series(y)
    if values.isna().any():
        raise DataError(
            "`y` must have no missing values, of which R's functions would leave out "
            "the rows; Input y contains NaN."
        )
    if pd.api.types.is_float_dtype(values.dtype) and np.isinf(values.to_numpy(np.float64)).any():
        raise DataError(
            "`y` must be finite; Input y contains infinity or a value too large for "
            f"dtype('{values.dtype}')."
        )
    return values


def check_labels(y: pd.Series[Any]) -> None:
    """Raise `DataError` if the response is no class, but a number with decimals."""
    labels = isinstance(y.dtype, pd.CategoricalDtype)
    if not labels and str(type_of_target(y.to_numpy())).startswith("continuous"):
        raise DataError(
            "The response of a classifier must be classes, but it is continuous; use "
            "`classifier=False`, or make it categories."
        )


def check_count(frame: pd.DataFrame, n_features: int) -> None:
    """Raise `DataError` unless there are as many columns as in training."""
    if frame.shape[1] != n_features:
        raise DataError(
            f"`X` must have {n_features} columns, as in training: X has {frame.shape[1]} features, "
            f"but RLearner is expecting {n_features} features as input."
        )
