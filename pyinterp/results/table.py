"""Tables in text, HTML, LaTeX, Markdown and CSV."""

from __future__ import annotations

import copy
import csv
import html
import io
import re
import textwrap
from collections.abc import Sequence

from statsmodels.iolib.summary import Summary
from statsmodels.iolib.table import SimpleTable

from pyinterp.errors import OptionError, quote
from pyinterp.results.header import Fact, header_lines, header_rows
from pyinterp.results.latex import escape_latex, latex_float

__all__ = ["Table"]

LABEL = re.compile(r"[\w:.\-]+", re.ASCII)
LEFT = ' style="text-align: left"'
NOT_IN_PAPERS = ("Df:", "Engine:", "Date:")
MARKDOWN = str.maketrans({c: f"\\{c}" for c in "|*_`<"})


class Table(Summary):  # type: ignore[misc]  # statsmodels is untyped
    """A statsmodels summary with footnotes, and with exports to papers.

    Parameters
    ----------
    tables : list of SimpleTable
        Blocks of numbers below each other, of the same width.
    notes : sequence of str
        Footnotes, one sentence or more each.
    width : int
        Line length of header and footnotes in text.
    title : str
    facts, legend : sequence of (str, str)
        What the header says, and explains.
    numbered : bool
        Whether footnotes have numbers.
    """

    def __init__(
        self,
        tables: list[SimpleTable],
        notes: Sequence[str],
        width: int,
        *,
        title: str = "",
        facts: Sequence[Fact] = (),
        legend: Sequence[Fact] = (),
        numbered: bool = False,
    ) -> None:
        super().__init__()
        self.tables, self.width, self.title = tables, width, title
        self.facts, self.legend = tuple(facts), tuple(legend)
        self.numbered, self.marked = numbered, [("", note) for note in notes]
        if numbered:
            self.marked = [(f"[{k}]", note) for k, note in enumerate(notes, start=1)]
        self.notes = tuple(f"{mark} {note}".strip() for mark, note in self.marked)

    def as_text(self) -> str:
        """Return the table in characters."""
        lines = [self.title.center(self.width)] if self.title else []
        if self.facts:
            lines += ["=" * self.width, *header_lines(self.facts, self.legend, self.width)[0]]
        *others, last = (str(table).splitlines() for table in self.tables)
        # The rule below a block is that above the next one.
        lines += [line for block in others for line in block[:-1]] + last
        lines += [""] if self.notes else []
        indent = "    " if self.numbered else ""
        for note in self.notes:
            lines += textwrap.wrap(
                note, self.width, subsequent_indent=indent, break_on_hyphens=False
            )
        return "\n".join(line.rstrip() for line in lines)

    def as_html(self, *, header: bool = True) -> str:
        """Return the tables in HTML, a line per footnote.

        Parameters
        ----------
        header : bool
            Whether with what the header says of the analysis.
        """
        first, *others = copy.deepcopy(self.tables)
        for table in others:
            first.extend(table)
        for cell in (cell for row in first for cell in row):
            cell.data = html.escape(str(cell.data))
        parts, caption = [], html.escape(self.title)
        if header and self.facts:
            rows = map(_html_row, header_rows(self.facts, self.legend))
            parts += ['<table class="simpletable">', f"<caption>{caption}</caption>"]
            parts += [*rows, "</table>"]
        else:
            first.title = caption
        return "\n".join(
            [*parts, first.as_html(), *(f"<p>{html.escape(n)}</p>" for n in self.notes)]
        )

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
        if label and not (isinstance(label, str) and LABEL.fullmatch(label)):
            raise OptionError(
                '`label` must have letters, digits and the signs :.-_ only, such as "tab:pfi", not '
                f"{quote(label)}."
            )
        if not (caption is None or isinstance(caption, str)):
            raise OptionError(f"`caption` must be a text, not {quote(caption)}.")
        about = [f"{name} {value}" for name, value in self.facts if name not in NOT_IN_PAPERS]
        facts = [f"{'; '.join(about)}."] if about and self.notes else []
        facts += [f"{name} {text}" for name, text in self.legend if self.notes]
        return latex_float(
            [_rows(table) for table in self.tables],
            caption=escape_latex(self.title) if caption is None else caption,
            label=label,
            notes=[*(("", fact) for fact in facts), *self.marked],
        )

    def as_markdown(self) -> str:
        """Return the table in Markdown, footnotes below it."""
        parts = [f"**{_plain(self.title)}**"] if self.title else []
        if self.facts:
            parts.append(
                "  \n".join(f"{_plain(n)} {_plain(v)}" for n, v in (*self.facts, *self.legend))
            )
        parts += ["\n".join(_markdown(_rows(table))) for table in self.tables]
        return "\n\n".join([*parts, *map(_plain, self.notes)]) + "\n"

    def as_csv(self) -> str:
        """Return title, header, tables and footnotes in CSV; text with commas is quoted."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if self.title:
            writer.writerow([self.title])
        writer.writerows((*self.facts, *self.legend))
        for table in self.tables:
            writer.writerows(_rows(table))
        writer.writerows([note] for note in self.notes)
        return text.getvalue()


def _rows(table: SimpleTable) -> list[list[str]]:
    """Return the cells of a table as text, headings and names of rows included.

    Without the columns that only give a block the width of the others.
    """
    rows = [[str(cell.data).strip() for cell in row] for row in table]
    used = max(k for row in rows for k, cell in enumerate(row, start=1) if cell)
    return [row[:used] for row in rows]


def _html_row(facts: Sequence[Fact]) -> str:
    """Return names and values at the left: two short facts, or one."""
    span = ' colspan="3"' if len(facts) == 1 else ""
    cells = [
        f"<th{LEFT}>{html.escape(name)}</th><td{span}{LEFT}>{html.escape(value)}</td>"
        for name, value in facts
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _plain(text: str) -> str:
    """Escape what Markdown would read as markup."""
    return text.translate(MARKDOWN)


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, numbers aligned right."""
    first, *others = ["| " + " | ".join(map(_plain, row)) + " |" for row in rows]
    return [first, "|:--|" + "--:|" * (len(rows[0]) - 1), *others]
