"""Typical values of variables: medians of numbers and most frequent levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pyinterp.data.columns import is_category

__all__ = ["typical_rows", "typical_value"]


def typical_value(column: pd.Series[Any]) -> Any:
    """Return the median of a number, or the most frequent level, of equally frequent the first.

    The median of whole numbers is truncated to a whole number, as in R's pdp.
    """
    if is_category(column):
        return column.mode().iloc[0]
    median = float(column.median())
    return float(np.trunc(median)) if pd.api.types.is_integer_dtype(column) else median


def typical_rows(variables: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return n equal rows with the typical value of every variable, numbers as floats."""
    return pd.DataFrame(
        {
            name: pd.Series(
                [typical_value(column)] * n, dtype=column.dtype if is_category(column) else None
            )
            for name, column in variables.items()
        }
    )
