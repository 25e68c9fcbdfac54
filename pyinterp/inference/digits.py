"""How tables print numbers: how many digits, p-values, and blocks of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray

# Heading, column of a frame, and its format or those of its rows: "p" of p-values, "" of words.
Column = tuple[str, str, str | Sequence[str]]

ROUNDING = 1e-8  # of a value: an error below it is one of rounding
SMALLEST = 0.0005  # p-value that is printed as a number


def number_format(values: FloatArray, errors: FloatArray) -> str:
    """Return a format with four significant digits of the largest value.

    With more, if two digits of a usual error need them, but with three of the largest error at
    most: many terms that are nearly 0 do not set the decimals of all.
    """
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    decimals = 4 if largest == 0.0 else 3 - _exponent(largest)
    positive = errors[np.isfinite(errors) & (errors > 0)]
    if len(positive):
        usual = 1 - _exponent(float(np.median(positive)))
        decimals = max(decimals, min(usual, 2 - _exponent(float(positive.max()))))
    return "%.3e" if decimals > 8 or decimals < -6 else f"%.{max(decimals, 0)}f"


def row_formats(values: FloatArray, errors: FloatArray, fmt: str = "") -> list[str]:
    """Return a format for every row: `fmt`, or one that shows the row's error if this does not.

    By default `fmt` is that of all rows. A row without an error shows two digits of its value. So a
    large number does not take the decimals of the others.
    """
    fmt = fmt or number_format(values, errors)
    formats, sizes = [fmt] * len(values), np.where(errors > 0, errors, np.abs(values) / 10)
    unit = 0.0 if fmt.endswith("e") else 10.0 ** -int(fmt[2:-1])
    for k in np.flatnonzero((sizes > ROUNDING * np.abs(values)) & (sizes < unit)):
        formats[k] = number_format(np.fmax(np.abs(values[k : k + 1]), sizes[k]), sizes[k : k + 1])
    return formats


def cell(value: float, fmt: str) -> str:
    """Return a number as tables print it; empty if it is missing, and without a sign if it is 0."""
    if not np.isfinite(value):
        return ""
    text = fmt % value
    return text.lstrip("-") if float(text) == 0 else text


def p_text(p: float) -> str:
    """Return a p-value as tables print it; empty if it is missing."""
    return "<0.001" if p < SMALLEST else cell(p, "%.3f")


def p_in_words(p: float) -> str:
    """Return a p-value as sentences say it, such as ``P = 0.020``."""
    return f"P {p_text(p)}" if p < SMALLEST else f"P = {p_text(p)}"


def block(frame: pd.DataFrame, columns: Iterable[Column], names: Sequence[str]) -> pd.DataFrame:
    """Return columns of a frame as text, a row per name."""
    texts = {}
    for heading, column, formats in columns:
        values = frame[column]
        if formats in ("", "p"):
            texts[heading] = list(map(p_text if formats else str, values))
        else:
            each = [formats] * len(frame) if isinstance(formats, str) else formats
            texts[heading] = list(map(cell, values, each))
    return pd.DataFrame(texts).set_axis(list(names))


def limits(tail: float, alternative: str, formats: str | Sequence[str]) -> list[Column]:
    """Return the columns of the limits that intervals have, with so much below and above them."""
    low = (f"[{tail:.3g}", "conf_low", formats)
    high = (f"{1 - tail:.3g}]", "conf_high", formats)
    return {"greater": [low], "less": [high]}.get(alternative, [low, high])


def _exponent(value: float) -> int:
    """Return the power of ten of the first digit of a positive number."""
    return int(np.floor(np.log10(value)))
