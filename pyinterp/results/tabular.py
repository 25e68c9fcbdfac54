"""What all results with a summary table can do: show themselves, and go into papers."""

from __future__ import annotations

from importlib.util import find_spec
from os import PathLike, fspath
from typing import TYPE_CHECKING

import pandas as pd

from pyinterp.errors import OptionError, quote
from pyinterp.parameters import takes
from pyinterp.results import summary as tables
from pyinterp.results.footnotes import Footnote, NotesOption
from pyinterp.results.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyinterp.results.results import EstimandResults

__all__ = ["TableOfEstimands", "Tabular"]

# Columns that have a dot in R's broom.
BROOM = ("std_error", "std_error_null", "std_error_mcse", "p_value", "conf_low", "conf_high")


class Tabular:
    """Results that have a method ``summary``."""

    if TYPE_CHECKING:
        summary: Callable[..., Table]
        summary_frame: Callable[..., pd.DataFrame]

    def to_latex(
        self, *, caption: str | None = None, label: str = "", notes: NotesOption = "short"
    ) -> str:
        r"""Return the summary as a LaTeX table with booktabs rules and footnotes.

        Write ``\usepackage{booktabs,threeparttable}`` in the document.

        Parameters
        ----------
        caption : str, optional
            As LaTeX reads it; by default the table's title. Empty for none.
        label : str
            For ``\ref``, such as "tab:pfi".
        notes : {"short", "full", "none"}
            Footnotes, as in ``summary``.
        """
        return self.summary(notes=notes).as_latex(label, caption)

    def to_markdown(self, *, notes: NotesOption = "short") -> str:
        """Return the summary in Markdown.

        Parameters
        ----------
        notes : {"short", "full", "none"}
            Footnotes, as in ``summary``.
        """
        return self.summary(notes=notes).as_markdown()

    def tidy(self, alpha: float | None = None) -> pd.DataFrame:
        """Return `summary_frame` with the terms as a column, as R's broom does."""
        frame = self.summary_frame() if alpha is None else self.summary_frame(alpha)
        return frame.reset_index()

    def to_r(self, alpha: float | None = None) -> pd.DataFrame:
        """Return `tidy` under broom's own column names, with dots, for a data frame in R.

        Hand it to R with ``%R -i``, with rpy2's pandas converter, or as a file.
        """
        return self.tidy(alpha).rename(columns={name: name.replace("_", ".") for name in BROOM})

    def to_excel(self, path: str | PathLike[str]) -> None:
        """Write numbers, and what they are, to an Excel file of two sheets.

        The first has `summary_frame`, in full precision, the second the header and footnotes.

        Parameters
        ----------
        path : str or path
            A file whose name ends in ".xlsx", which is overwritten.

        Raises
        ------
        ImportError
            Without openpyxl.
        """
        if not isinstance(path, str | PathLike) or not str(fspath(path)).endswith(".xlsx"):
            raise OptionError(
                f'`path` must be the name of a file that ends in ".xlsx", not {quote(path)}.'
            )
        if find_spec("openpyxl") is None:
            raise ImportError(
                "Excel files need openpyxl. Install it with `pip install openpyxl`, or write "
                "`summary_frame().to_csv(path)`."
            )
        table = self.summary(notes="full")
        notes = [("Note", note) for note in table.notes]
        about = pd.DataFrame([*table.facts, *table.legend, *notes])
        with pd.ExcelWriter(path, engine="openpyxl") as file:
            self.tidy().to_excel(file, sheet_name="estimates", index=False)
            about.to_excel(file, sheet_name="about", index=False, header=False)
            for sheet in file.sheets.values():
                for cell in (cell for row in sheet.iter_rows() for cell in row):
                    if cell.data_type == "f":  # a name that begins with "=" is no formula
                        cell.data_type = "s"

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())


class TableOfEstimands(Tabular):
    """Results whose table has one block per estimand."""

    alpha: float = 0.05
    title = ""  # without one, the heading of the first part

    @property
    def parts(self) -> list[EstimandResults]:
        """The results of the estimands, in the order of the table."""
        raise NotImplementedError

    @takes()
    def summary(
        self,
        alpha: float | None = None,
        *,
        sort: bool = True,
        top: int | None = None,
        title: str | None = None,
        notes: NotesOption = "short",
        decimals: int | None = None,
        date: bool = True,
    ) -> Table:
        """Return a table like those of statsmodels; of several estimands, one below the other.

        Parameters
        ----------
        alpha : float, optional
            Significance level of the intervals; by default 0.05, or that of ``decisions``.
        sort : bool
            Print features in decreasing order of their estimates, of several those of the first
            that has them; grids always keep their order.
        {top}
        {table}
        {date}

        Returns
        -------
        statsmodels.iolib.summary.Summary
            With ``as_text``, ``as_html``, ``as_latex``, ``as_markdown`` and ``as_csv``.
        """
        alpha = self.alpha if alpha is None else alpha
        options = tables.TableOptions(alpha, sort, top, title, notes, decimals, date)
        heading = self.title or self.parts[0].estimand.words.heading
        return tables.summarize(self.parts, options, heading, self._legend(), self._notes())

    def _legend(self) -> list[tuple[str, str]]:
        return []

    def _notes(self) -> list[Footnote]:
        return []
