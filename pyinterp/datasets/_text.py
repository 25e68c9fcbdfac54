r"""The canonical CSV text of a data set, to and fro.

UTF-8, commas, one header line, ``\n`` line ends, no index, numbers as plain decimals with the
fewest digits that give the same double (``7`` and not ``7.0``, no exponent), levels as text. The
SHA-256 of that text identifies a table whatever file or service it came from.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Hashable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING

from pyinterp.datasets._registry import Column, DataSet
from pyinterp.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["canonical_csv", "number_text", "openml_csv", "parse_csv"]


def number_text(value: float) -> str:
    """Return the plain decimal with the fewest digits that reads back as the same double."""
    import numpy as np  # noqa: PLC0415

    return "" if math.isnan(value) else np.format_float_positional(float(value), trim="-")


def parse_csv(content: bytes, spec: DataSet) -> pd.DataFrame:
    """Return the data frame that a canonical CSV text holds.

    Only an empty field is missing: ``None`` and ``NA`` are levels. Numbers are converted by Python
    and not by pandas, whose parser may be off by one unit in the last place.
    """
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    texts = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, na_values=[""])
    data: dict[Hashable, object] = {}
    for column in spec.columns:
        values = texts[column.name]
        if column.dtype == "int64":
            data[column.name] = np.array([int(v) for v in values], dtype=np.int64)
        elif column.dtype == "float64":
            data[column.name] = np.array([float(v) for v in values], dtype=np.float64)
        else:
            data[column.name] = pd.Categorical(values)
    return pd.DataFrame(data)


def canonical_csv(frame: pd.DataFrame, spec: DataSet) -> bytes:
    """Return the canonical CSV text of `frame`, whose columns are those of `spec`."""
    columns = [
        [
            str(value) if column.dtype == "category" else number_text(value)
            for value in frame[column.name]
        ]
        for column in spec.columns
    ]
    return _join(columns, spec)


def openml_csv(frame: pd.DataFrame, spec: DataSet) -> bytes:
    """Return the canonical CSV text of a table in OpenML's layout.

    Columns are matched by name and put in order; numbers are cut to 15 significant digits (which
    undoes an error in the last place) and rounded where `spec` says so; levels are translated.
    What is not a number in a numeric column is kept as it is, for the checksum to find.

    Raises
    ------
    DataError
        If a column is missing or ambiguous.
    """
    columns_of: dict[str, list[Hashable]] = {}
    for name in frame.columns:
        columns_of.setdefault(_fold(str(name)), []).append(name)
    columns = []
    for column in spec.columns:
        title = spec.openml_names.get(column.name, column.name)
        matches = columns_of.get(_fold(title), [])
        if len(matches) != 1:
            raise DataError(
                f"OpenML data set {spec.openml_id} must have one column `{title}`, but has "
                f"{len(matches)} among {', '.join(map(str, frame.columns))}. "
                f"Set PYINTERP_DATA to a folder that holds {spec.file}."
            )
        columns.append([_openml_text(value, column, spec) for value in frame[matches[0]]])
    return _join(columns, spec)


def _fold(name: str) -> str:
    """Return `name` without case and punctuation."""
    return re.sub(r"[^0-9a-z]+", "_", name.lower()).strip("_")


def _openml_text(value: object, column: Column, spec: DataSet) -> str:
    """Return the canonical text of a value of OpenML's copy of `column`."""
    import pandas as pd  # noqa: PLC0415

    if pd.isna(value):  # type: ignore[call-overload]
        return ""
    text = str(value)
    if column.dtype == "category":
        return spec.levels.get(text, text)
    try:
        number = Decimal(f"{float(text):.15g}")
        if column.name in spec.decimals:
            number = number.quantize(Decimal(1).scaleb(-spec.decimals[column.name]), ROUND_HALF_UP)
        return number_text(float(number))
    except (ValueError, InvalidOperation):
        return text


def _join(columns: list[list[str]], spec: DataSet) -> bytes:
    """Return the CSV text of columns of texts under the header of `spec`."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.name for column in spec.columns])
    writer.writerows(zip(*columns, strict=True))
    return stream.getvalue().encode()
