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
from pyinterp.results.facts import Fact, header_lines, header_rows
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
        marks = [f"[{k}]" if numbered else "" for k in range(1, len(notes) + 1)]
        self.marked = list(zip(marks, notes, strict=True))
        self.notes = tuple(f"{mark} {note}".strip() for mark, note in self.marked)

    def as_text(self) -> str:
        """Return the table in characters."""
        lines = [self.title.center(self.width).rstrip()] if self.title else []
        if self.facts:
            lines += ["=" * self.width, *header_lines(self.facts, self.legend, self.width)[0]]
        *others, last = (str(table).splitlines() for table in self.tables)
        # The rule below a block is that above the next one.
        lines += [line for block in others for line in block[:-1]] + last
        return "\n".join(line.rstrip() for line in [*lines, *self._note_lines()])

    def _note_lines(self) -> list[str]:
        lines = [""] if self.notes else []
        for mark, note in self.marked:
            text, indent = f"{mark} {note}".strip(), "    " if mark else ""
            lines += textwrap.wrap(
                text, self.width, subsequent_indent=indent, break_on_hyphens=False
            )
        return lines

    def as_html(self, *, header: bool = True) -> str:
        """Return the tables in HTML, a line per footnote.

        Parameters
        ----------
        header : bool
            Whether with what the header says of the analysis.
        """
        blocks = [_escape(table) for table in self.tables]
        first = blocks[0]
        first.extend(row for block in blocks[1:] for row in block)
        parts = []
        if header and self.facts:
            parts.append(_html_header(self.title, header_rows(self.facts, self.legend)))
        else:
            first.title = html.escape(self.title)
        parts.append(first.as_html())
        return "\n".join(parts + [f"<p>{html.escape(note)}</p>" for note in self.notes])

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
            parts.append("  \n".join(f"{_plain(n)} {_plain(v)}" for n, v in self._header))
        parts += ["\n".join(_markdown(_rows(table))) for table in self.tables]
        return "\n\n".join([*parts, *map(_plain, self.notes)]) + "\n"

    def as_csv(self) -> str:
        """Return title, header, tables and footnotes in CSV; text with commas is quoted."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if self.title:
            writer.writerow([self.title])
        writer.writerows(self._header)
        for table in self.tables:
            writer.writerows(_rows(table))
        writer.writerows([note] for note in self.notes)
        return text.getvalue()

    @property
    def _header(self) -> tuple[Fact, ...]:
        return (*self.facts, *self.legend)


def _check_label(label: object) -> None:
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        raise OptionError(
            '`label` must have letters, digits and the signs :.-_ only, such as "tab:pfi", not '
            f"{quote(label)}."
        )


def _rows(table: SimpleTable) -> list[list[str]]:
    """Return the cells of a table as text, headings and names of rows included.

    Without the columns that only give a block the width of the others.
    """
    rows = [[str(cell.data).strip() for cell in row] for row in table]
    used = max(k for row in rows for k, cell in enumerate(row, start=1) if cell)
    return [row[:used] for row in rows]


def _html_header(title: str, rows: Iterable[tuple[Fact, ...]]) -> str:
    """Return the header: names and values at the left, two short facts in a row."""
    lines = []
    for row in rows:
        span = ' colspan="3"' if len(row) == 1 else ""
        cells = [
            f"<th{LEFT}>{html.escape(name)}</th><td{span}{LEFT}>{html.escape(value)}</td>"
            for name, value in row
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{html.escape(title)}</caption>"
    return "\n".join(['<table class="simpletable">', caption, *lines, "</table>"])


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
    return copied
