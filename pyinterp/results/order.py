"""The order of terms in tables and plots."""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["largest_first"]

DIGITS = 9


def largest_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of a frame by their column `estimate`, missing ones last.

    Estimates that are equal but for rounding keep their order, which would depend on the machine.
    """
    return frame.sort_values(
        "estimate", ascending=False, na_position="last", kind="stable", key=_to_digits
    )


def _to_digits(values: pd.Series[float]) -> pd.Series[float]:
    size = values.abs()
    size = size.where(np.isfinite(size) & (size > 0), 1.0)
    unit = pd.Series(10.0 ** (np.floor(np.log10(size)) - DIGITS + 1), index=values.index)
    rounds = np.isfinite(values) & (unit > 0)
    return values.where(~rounds, (values / unit.where(rounds, 1.0)).round() * unit)
