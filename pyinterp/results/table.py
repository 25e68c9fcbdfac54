"""Tables in text, HTML, LaTeX, Markdown and CSV."""

from __future__ import annotations

import copy
import csv
import html
import io
import re
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from string import Template

import pandas as pd
from statsmodels.iolib.summary import Summary
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from pyinterp._typing import FilePath
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.storage import whole_file

Fact = tuple[str, str]  # a name and a value of a header

FORMATS = {"text": ".txt", "html": ".html", "latex": ".tex", "markdown": ".md", "csv": ".csv"}
WIDTH = 80
NARROWEST = 9  # column of cells
LONG = 22  # characters of a value from which on it has a line by itself
ALONE = ["Formula:", "Learner:", "Chosen:", "Weights:", "Clusters:", "Offset:"]
ALONE += ["Faster:", "Groups, rows:", "Subgroup, rows:"]
GAP = "  "
# A learner with its settings is broken at spaces, and after parentheses.
BREAKS = re.compile(r"(\s+|(?<=\())")
LABEL = re.compile(r"[\w:.\-]+", re.ASCII)
LEFT = ' style="text-align: left"'
NOT_IN_PAPERS = ("Df:", "Engine:")
MARKDOWN = str.maketrans({c: f"\\{c}" for c in "|*_`<"})
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
NUMBER = re.compile(r"-[\d.]+(e[+-]?\d+)?")
RUNS = (*"=+-@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are wide ones
GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"
NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
# Other letters are as they are: UTF-8 is LaTeX's encoding.
LATEX = {letter: rf"$\{name}$" for letter, name in zip(GREEK, NAMES.split(), strict=True)}
LATEX |= {c: f"\\{c}" for c in "%&#_{}$"} | {c: f"${c}$" for c in "<>|"}
LATEX |= {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{raised: f"$^{k}$" for k, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "\N{MICRO SIGN}": r"$\mu$",
}
IN_LATEX = str.maketrans(LATEX)


class Table(Summary):  # type: ignore[misc]  # statsmodels is untyped
    """A statsmodels summary with footnotes, and with exports to papers.

    Parameters
    ----------
    blocks : sequence of DataFrame
        Cells as text, to stand below each other in columns of the same widths. The index names the
        rows. Columns that are numbered have no headings.
    notes : sequence of str
        Footnotes, one sentence or more each.
    title : str
    facts, legend : sequence of (str, str)
        What the header says, and explains.
    numbered : bool
        Whether footnotes have numbers.
    width, narrowest : int
        Characters of a line, and of a column of cells, at least.
    """

    def __init__(
        self,
        blocks: Sequence[pd.DataFrame],
        notes: Sequence[str],
        *,
        title: str = "",
        facts: Sequence[Fact] = (),
        legend: Sequence[Fact] = (),
        numbered: bool = True,
        width: int = WIDTH,
        narrowest: int = NARROWEST,
    ) -> None:
        super().__init__()
        self.title, self.facts, self.legend = title, tuple(facts), tuple(legend)
        self.marked = [(f"[{k}]" if numbered else "", note) for k, note in enumerate(notes, 1)]
        self.notes = tuple(f"{mark} {note}".strip() for mark, note in self.marked)
        widths: list[int] = []
        for block in blocks:
            cells = [max(narrowest, len(str(name)), *map(len, block[name])) for name in block]
            stubs = max(map(len, block.index), default=0)
            widths = list(map(max, zip_longest(widths, [stubs, *cells], fillvalue=0)))
        total = sum(widths) + len(widths) - 1
        rows = _header_rows(self.facts, self.legend)
        self._header, self.width = _header_lines(rows, max(width, total))
        widths[0] += self.width - total
        self.tables = []
        for block in blocks:  # those with fewer columns have empty ones at the right
            empty = [""] * (len(widths) - 1 - block.shape[1])
            headless = isinstance(block.columns, pd.RangeIndex)
            table = SimpleTable(
                [row + empty for row in block.to_numpy().tolist()],
                headers=None if headless else [*block.columns, *empty],
                stubs=list(block.index),
                txt_fmt={**fmt_params, "data_fmts": ["%s"], "colwidths": widths},
            )
            self.tables.append(table)

    def to(self, target: FilePath, *, caption: str | None = None, label: str = "") -> str | Path:
        r"""Return the table as text in a format, or write it to a file.

        Parameters
        ----------
        target : {"text", "html", "latex", "markdown", "csv"} or path
            A format, or a file that ends in .txt, .html (a whole page), .tex, .md, .csv or .docx.
            LaTeX needs ``\usepackage{booktabs,threeparttable}`` in the document. In CSV, text that
            a spreadsheet would run has an apostrophe before it. An existing file is replaced.
        caption : str, optional
            Of LaTeX, as it reads it; by default the title of the table. Empty for none.
        label : str
            Of LaTeX, for ``\ref``, such as "tab:pfi".

        Returns
        -------
        str or pathlib.Path
            The text, or the file.

        Raises
        ------
        OptionError
            If there is no such format, or no file can have this path.
        ImportError
            Without python-docx for .docx, which ``pip install 'pyinterp-stats[word]'`` brings.

        Examples
        --------
        >>> print(pfi.summary(top=1, notes="none").to("markdown").splitlines()[-1])
        | bmi | 2725 | 558 | 1503 | 4378 | 9.846 | \<0.001 |
        """
        texts: dict[str, Callable[[], str]] = {
            "text": self.as_text,
            "html": self.as_html,
            "latex": partial(self.as_latex, label, caption),
            "markdown": self._markdown,
            "csv": self.as_csv,
        }
        path = Path(target) if isinstance(target, str | PathLike) else Path()
        form = {end: form for form, end in FORMATS.items()}.get(path.suffix, str(target))
        word = path.suffix == ".docx"
        if form not in texts and not word:
            raise OptionError(
                f"`target` must be one of the formats {list_of(FORMATS)}, or a file that ends in "
                f"{list_of(FORMATS.values())}, .docx or, of results, .xlsx, not {quote(target)}."
            )
        if form != "latex" and (caption is not None or not isinstance(label, str) or label):
            raise OptionError("`caption` and `label` are of LaTeX; other formats take none.")
        if target == form and not word:
            return texts[form]()
        if word:
            need("docx", 'or write `to("table.html")`, which Word opens', self)
        with whole_file(target) as temporary:
            if word:
                self._write_docx(temporary)
            else:
                text = self._page() if form == "html" else texts[form]()
                temporary.write_text(f"{text.rstrip()}\n", encoding="utf-8")
        return path

    def as_text(self) -> str:
        """Return the table in characters."""
        lines = [self.title.center(self.width)] if self.title else []
        if self.facts:
            lines += ["=" * self.width, *self._header]
        for table in self.tables[:-1]:  # the rule below a block is that above the next one
            lines += str(table).splitlines()[:-1]
        lines += str(self.tables[-1]).splitlines()
        lines += [""] if self.notes else []
        for (mark, _), note in zip(self.marked, self.notes, strict=True):
            lines += textwrap.wrap(
                note, self.width, subsequent_indent=" " * 4 * bool(mark), break_on_hyphens=False
            )
        return "\n".join(map(str.rstrip, lines))

    def as_html(self, *, header: bool = True) -> str:
        """Return the tables in HTML, a line per footnote.

        Parameters
        ----------
        header : bool
            Whether with the header about the analysis.
        """
        first, *others = copy.deepcopy(self.tables)
        for table in others:
            first.extend(table)
        for row in first:
            for cell in row:
                cell.data = html.escape(str(cell.data))
        parts, caption = [], html.escape(self.title)
        if header and self.facts:
            rows = map(_html_row, _header_rows(self.facts, self.legend))
            parts += ['<table class="simpletable">', f"<caption>{caption}</caption>"]
            parts += [*rows, "</table>"]
        else:
            first.title = caption
        notes = (f"<p>{html.escape(note)}</p>" for note in self.notes)
        return "\n".join([*parts, first.as_html(), *notes])

    def _page(self) -> str:
        """Return the tables as a whole page in HTML, which needs no other file."""
        frame = files("pyinterp.results").joinpath("page.html").read_text("utf-8")
        return Template(frame).substitute(title=html.escape(self.title), body=self.as_html())

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
        if not isinstance(label, str) or not LABEL.fullmatch(label or "none"):
            raise OptionError(
                '`label` must have letters, digits and the signs :.-_ only, such as "tab:pfi", not '
                f"{quote(label)}."
            )
        if not (caption is None or isinstance(caption, str)):
            raise OptionError(f"`caption` must be a text, not {quote(caption)}.")
        caption = _latex(self.title) if caption is None else caption
        blocks = [_rows(table) for table in self.tables]
        columns = max(len(rows[0]) for rows in blocks)
        lines = [
            r"% \usepackage{booktabs,threeparttable}",
            r"\begin{table}",
            r"\centering",
            r"\begin{threeparttable}",
            f"\\caption{{{caption}}}" if caption else "",
            f"\\label{{{label}}}" if label else "",
            f"\\begin{{tabular}}{{l{'r' * (columns - 1)}}}",
        ]
        for k, (headings, *rows) in enumerate(blocks):
            lines += [r"\midrule" if k else r"\toprule", _latex_row(headings), r"\midrule"]
            lines += map(_latex_row, rows)
        lines += [r"\bottomrule", r"\end{tabular}"]
        if self.notes:
            items = [rf"\item[] {_latex(text)}" for text in self._about()]
            for mark, note in self.marked:
                items.append(rf"\item[{f'{{{mark}}}' if mark else ''}] {_latex(note)}")
            lines += [r"\begin{tablenotes}[flushleft]", r"\footnotesize"]
            lines += [*items, r"\end{tablenotes}"]
        lines += [r"\end{threeparttable}", r"\end{table}"]
        return "\n".join(filter(None, lines)) + "\n"

    def _about(self) -> list[str]:
        """Return the header for papers: a sentence, and a line per explanation."""
        facts = [f"{name} {value}" for name, value in self.facts if name not in NOT_IN_PAPERS]
        about = ["; ".join(facts) + "."] if facts else []
        return about + [f"{name} {text}" for name, text in self.legend]

    def _write_docx(self, path: Path) -> None:
        """Write the table to a Word file: rules above and below, notes in small letters."""
        from docx import Document  # noqa: PLC0415 - an extra
        from docx.oxml.ns import qn  # noqa: PLC0415
        from docx.shared import Pt  # noqa: PLC0415

        document = Document()
        document.add_paragraph().add_run(self.title).bold = True
        for table in self.tables:
            texts = _rows(table)
            grid = document.add_table(len(texts), len(texts[0]), "Light Shading")
            # Rules alone, as papers have: the first row is bold, and nothing is shaded.
            look = grid._tbl.tblPr.find(qn("w:tblLook"))
            for name, value in {"noHBand": "1", "noVBand": "1", "firstColumn": "0"}.items():
                look.set(qn(f"w:{name}"), value)
            look.set(qn("w:val"), "0620")
            for row, line in zip(grid.rows, texts, strict=True):
                for k, (cell, text) in enumerate(zip(row.cells, line, strict=True)):
                    cell.paragraphs[0].text, cell.paragraphs[0].alignment = text, 2 * (k > 0)
            document.add_paragraph()  # else Word joins the tables
        for text in (*self._about(), *self.notes) if self.notes else ():
            document.add_paragraph().add_run(text).font.size = Pt(9)
        document.save(str(path))

    def _markdown(self) -> str:
        """Return the table in Markdown, footnotes below it."""
        parts = [f"**{_plain(self.title)}**"] if self.title else []
        if self.facts:
            about = (*self.facts, *self.legend)
            parts.append("  \n".join(f"{_plain(name)} {_plain(value)}" for name, value in about))
        for table in self.tables:
            rows = [f"| {' | '.join(map(_plain, row))} |" for row in _rows(table)]
            rule = "|:--|" + "--:|" * (len(_rows(table)[0]) - 1)  # numbers are at the right
            parts.append("\n".join([rows[0], rule, *rows[1:]]))
        return "\n\n".join([*parts, *map(_plain, self.notes)]) + "\n"

    def as_csv(self) -> str:
        """Return title, header, tables and footnotes in CSV; text with commas is quoted.

        Text that a spreadsheet would run as a formula, as it begins with ``=``, ``+``, ``-`` or
        ``@``, has an apostrophe before it. Numbers have none.
        """
        text = io.StringIO()
        rows: list[Sequence[str]] = [[self.title]] if self.title else []
        rows += [*self.facts, *self.legend]
        rows += [row for table in self.tables for row in _rows(table)]
        rows += [[note] for note in self.notes]
        csv.writer(text, lineterminator="\n").writerows([map(_for_csv, row) for row in rows])
        return text.getvalue()


def need(package: str, otherwise: str, table: Table) -> None:
    """Raise an error if a file can't be written: its package is missing, or it can't hold the text.

    `otherwise` says what to do in place of it.
    """
    if find_spec(package) is None:
        name = {"docx": "python-docx"}.get(package, package)
        raise ImportError(
            f"Such a file needs {name}. Install it with `pip install {name}`, {otherwise}."
        )
    for line in filter(CONTROL.search, table.as_csv().split("\n")):
        raise OptionError(
            f"Files of Word and Excel can't hold control characters, as in {quote(line.strip())}: "
            f"leave these out of names, {otherwise}."
        )


def _for_csv(text: str) -> str:
    """Return a text that no spreadsheet runs as code, on one line."""
    text = text.replace("\r", " ")  # which would end a row
    runs = text.lstrip()[:1] in RUNS and not NUMBER.fullmatch(text)
    return f"'{text}" if runs else text


def _header_rows(facts: Sequence[Fact], legend: Sequence[Fact]) -> list[tuple[Fact, ...]]:
    """Return the rows of a header: two short facts each, or one that is long or explains."""
    rows: list[tuple[Fact, ...]] = []
    space = False  # to the right of the last fact
    for fact in facts:
        long = fact[0] in ALONE or len(fact[1]) > LONG
        if space and not long:
            rows[-1] = (*rows[-1], fact)
        else:
            rows.append((fact,))
        space = not (space or long)
    rows += zip(legend)
    return rows


def _header_lines(rows: Sequence[tuple[Fact, ...]], width: int) -> tuple[list[str], int]:
    """Return the header as lines of text, and how wide it is: at least `width` characters."""
    name = max((len(row[0][0]) for row in rows), default=0)
    pairs = [(row[0][1], *row[1]) for row in rows if len(row) == 2]
    columns = zip(("", "", ""), *pairs, strict=True)
    value, other, last = (max(map(len, texts)) for texts in columns)
    space = width - (name + value + other + last + 2 + len(GAP))
    width = max(width, width - space)
    value += max(0, space // 2)
    lines: list[str] = []
    for row in rows:
        one, text = row[0]
        if len(row) == 2:
            two, more = row[1]
            lines.append(f"{one:<{name}} {text:<{value}}{GAP}{two:<{other}} {more}")
            continue
        space = width - name - 1
        wrapper = textwrap.TextWrapper(space, break_long_words=False, break_on_hyphens=False)
        if one == "Learner:":
            wrapper.wordsep_simple_re = BREAKS
        for part in wrapper.wrap(text) or [""]:
            lines.append(f"{one:<{name}} {part}")
            one = ""
    return lines, width


def _rows(table: SimpleTable) -> list[list[str]]:
    """Return the cells of a table as text, headings and names of rows included.

    Columns that only give a block the width of the others are left out.
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


def _latex(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    return text.translate(IN_LATEX)


def _latex_row(texts: Sequence[str]) -> str:
    """Return a row of a table of LaTeX; negative numbers have a minus sign."""
    cells = [f"$-${text[1:]}" if NUMBER.fullmatch(text) else _latex(text) for text in texts]
    # The braces keep a heading such as "[0.025" from being read as an option of the text before it.
    return "{}" + " & ".join(cells) + r" \\"


def _plain(text: str) -> str:
    """Escape characters that Markdown would read as markup."""
    return text.translate(MARKDOWN)
