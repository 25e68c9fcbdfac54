"""Tables in text, HTML, LaTeX, Markdown and CSV."""

from __future__ import annotations

import copy
import csv
import html
import io
import re
import textwrap
from collections.abc import Iterable, Sequence

from statsmodels.iolib.summary import Summary
from statsmodels.iolib.table import SimpleTable

from pyinterp.errors import OptionError, quote
from pyinterp.results.latex import escape_latex, latex_float

__all__ = ["Table"]

LABEL = re.compile(r"[\w:.\-]+", re.ASCII)
MARKDOWN = str.maketrans({c: f"\\{c}" for c in "|*_`<"})


class Table(Summary):  # type: ignore[misc]  # statsmodels is untyped
    """A statsmodels summary with footnotes, and with exports to papers.

    Parameters
    ----------
    tables : list of SimpleTable
        The first is the header, if there are `facts`.
    notes : sequence of str
        Footnotes, one sentence or more each.
    width : int
        Line length of the footnotes in text.
    facts : sequence of (str, str)
        What the header says.
    folded : list of SimpleTable, optional
        What text and LaTeX show instead of `tables` that are wide.
    numbered : bool
        Whether footnotes have numbers.
    """

    def __init__(
        self,
        tables: list[SimpleTable],
        notes: Sequence[str],
        width: int,
        *,
        facts: Sequence[tuple[str, str]] = (),
        folded: list[SimpleTable] | None = None,
        numbered: bool = False,
    ) -> None:
        super().__init__()
        self.tables, self.facts = tables, tuple(facts)
        self.folded = tables if folded is None else folded
        marks = [f"[{k}]" if numbered else "" for k in range(1, len(notes) + 1)]
        self.marked = list(zip(marks, notes, strict=True))
        self.notes = tuple(f"{mark} {note}".strip() for mark, note in self.marked)
        lines: list[str] = []
        for note in self.notes:
            indent = "    " if numbered else ""
            lines += textwrap.wrap(note, width, subsequent_indent=indent, break_on_hyphens=False)
        self.add_extra_txt(lines)

    def as_text(self) -> str:
        """Return the table in characters, with wide tables folded."""
        shown = copy.copy(self)
        shown.tables = self.folded
        return str(Summary.as_text(shown))

    def as_html(self, *, header: bool = True) -> str:
        """Return the tables in HTML, a line per footnote.

        Parameters
        ----------
        header : bool
            Whether with what the header says of the analysis.
        """
        shown = self.tables if header or not self.facts else self.tables[1:]
        tables = [_escape(table).as_html() for table in shown]
        return "\n".join(tables + [f"<p>{html.escape(note)}</p>" for note in self.notes])

    def as_latex(self, label: str = "", caption: str | None = None) -> str:
        r"""Return a LaTeX table with footnotes, for a document that uses two packages.

        These are booktabs and threeparttable: ``\usepackage{booktabs,threeparttable}``.

        Parameters
        ----------
        label : str
            For ``\ref``, such as "tab:pfi"; empty for none.
        caption : str, optional
            As LaTeX reads it; by default the title of the table. Empty for none.
        """
        if label:
            _check_label(label)
        if not (caption is None or isinstance(caption, str)):
            raise OptionError(f"`caption` must be a text, not {quote(caption)}.")
        facts = " ".join(f"{name} {value}." for name, value in self._facts())
        return latex_float(
            [_rows(table) for table in self._blocks(self.folded)],
            caption=escape_latex(self._title) if caption is None else caption,
            label=label,
            notes=[("", facts)] * bool(facts and self.notes) + self.marked,
        )

    def as_markdown(self) -> str:
        """Return the table in Markdown, footnotes below it."""
        parts = [f"**{_plain(self._title)}**"] if self._title else []
        if self.facts:
            parts.append("  \n".join(f"{_plain(n)} {_plain(v)}" for n, v in self._facts()))
        parts += ["\n".join(_markdown(_rows(table))) for table in self._blocks(self.tables)]
        return "\n\n".join([*parts, *map(_plain, self.notes)]) + "\n"

    def as_csv(self) -> str:
        """Return title, header, tables and footnotes in CSV; text with commas is quoted."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if self._title:
            writer.writerow([self._title])
        writer.writerows(self._facts())
        for table in self._blocks(self.tables):
            writer.writerows(_rows(table))
        writer.writerows([note] for note in self.notes)
        return text.getvalue()

    @property
    def _title(self) -> str:
        return str(self.tables[0].title or "")

    def _facts(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in self.facts if name or value]

    def _blocks(self, tables: list[SimpleTable]) -> list[SimpleTable]:
        return tables[1:] if self.facts else tables


def _check_label(label: object) -> None:
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        raise OptionError(
            '`label` must have letters, digits and the signs :.-_ only, such as "tab:pfi", not '
            f"{quote(label)}."
        )


def _rows(table: SimpleTable) -> list[list[str]]:
    """Return the cells of a table as text, headings and names of rows included."""
    return [[str(cell.data).strip() for cell in row] for row in table]


def _plain(text: str) -> str:
    """Escape what Markdown would read as markup."""
    return text.translate(MARKDOWN)


def _markdown(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Yield the lines of a table, numbers aligned right."""
    first, *others = rows
    for k, row in enumerate([first, *others]):
        yield "| " + " | ".join(map(_plain, row)) + " |"
        if k == 0:
            yield "|:--|" + "--:|" * (len(row) - 1)


def _escape(table: SimpleTable) -> SimpleTable:
    """Return a copy whose cells HTML shows as they are."""
    copied = copy.deepcopy(table)
    for row in copied:
        for cell in row:
            cell.data = html.escape(str(cell.data))
    copied.title = html.escape(copied.title or "")
    return copied
