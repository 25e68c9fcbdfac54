"""Excel files of results."""

from __future__ import annotations

from importlib.util import find_spec
from os import PathLike, fspath

import pandas as pd

from pyinterp.errors import OptionError, quote
from pyinterp.results.table import Table

__all__ = ["write_excel"]


def write_excel(path: str | PathLike[str], frame: pd.DataFrame, table: Table) -> None:
    """Write the numbers of `frame`, and header and footnotes of `table`, to two sheets."""
    if not isinstance(path, str | PathLike) or not str(fspath(path)).endswith(".xlsx"):
        raise OptionError(
            f'`path` must be the name of a file that ends in ".xlsx", not {quote(path)}.'
        )
    if find_spec("openpyxl") is None:
        raise ImportError(
            "Excel files need openpyxl. Install it with `pip install openpyxl`, or write "
            "`summary_frame().to_csv(path)`."
        )
    about = pd.DataFrame([*table.facts, *table.legend, *(("Note", note) for note in table.notes)])
    with pd.ExcelWriter(path, engine="openpyxl") as file:
        frame.reset_index().to_excel(file, sheet_name="estimates", index=False)
        about.to_excel(file, sheet_name="about", index=False, header=False)
        for sheet in file.sheets.values():
            for cell in (cell for row in sheet.iter_rows() for cell in row):
                if cell.data_type == "f":  # a name that begins with "=" is no formula
                    cell.data_type = "s"
