"""Summary tables: a header, blocks of numbers, and footnotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, get_args

import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from pyinterp.checks import check_alpha, check_choice, check_count, check_flag, check_text
from pyinterp.errors import OptionError
from pyinterp.inference.digits import cell, number_format, p_text
from pyinterp.inference.intervals import symbol
from pyinterp.results import footnotes
from pyinterp.results.header import Fact, facts_of, header_lines
from pyinterp.results.order import largest_first
from pyinterp.results.table import Table

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["TableOptions", "summarize", "summarize_frame"]

WIDTH = 80
NARROWEST = 9  # column of numbers
MOST_DECIMALS = 15


@dataclass(frozen=True)
class TableOptions:
    """Options of summary tables, checked; `pyinterp.parameters` describes them."""

    alpha: float = 0.05
    sort: bool = True
    top: int | None = None
    title: str | None = None
    notes: footnotes.NotesOption = "short"
    decimals: int | None = None
    date: bool = True

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_flag("sort", self.sort)
        check_flag("date", self.date)
        if self.top is not None:
            check_count("top", self.top)
        if self.title is not None:
            check_text("title", self.title)
        check_choice("notes", self.notes, get_args(footnotes.NotesOption))
        if self.decimals is not None:
            check_count("decimals", self.decimals, 0, MOST_DECIMALS)

    def number(self, frame: pd.DataFrame) -> str:
        """Return the format of estimates and their errors."""
        if self.decimals is not None:
            return f"%.{self.decimals}f"
        return number_format(frame["estimate"].to_numpy(float), frame["std_error"].to_numpy(float))


class _Block(NamedTuple):
    """Columns of text by their headings, and the names of their rows."""

    columns: Mapping[str, list[str]]
    stubs: list[str]

    @property
    def widths(self) -> list[int]:
        """How wide names and columns are."""
        numbers = [max(NARROWEST, len(h), *map(len, c)) for h, c in self.columns.items()]
        return [max(map(len, self.stubs), default=0), *numbers]

    def table(self, widths: Sequence[int]) -> SimpleTable:
        """Set the block in columns of these widths, with empty ones at the right."""
        empty = [""] * (len(widths) - 1 - len(self.columns))
        return SimpleTable(
            [[*row, *empty] for row in zip(*self.columns.values(), strict=True)],
            headers=[*self.columns, *empty],
            stubs=self.stubs,
            txt_fmt={**fmt_params, "data_fmts": ["%s"], "colwidths": list(widths)},
        )


def summarize(
    several: Sequence[EstimandResults],
    options: TableOptions,
    title: str,
    legend: Sequence[Fact] = (),
    notes: Sequence[footnotes.Footnote] = (),
) -> Table:
    """Return the tables of one or several estimands of one analysis below each other.

    Parameters
    ----------
    several : sequence of EstimandResults
    options : TableOptions
        Terms that all have are in the order of the first.
    title : str
    legend : sequence of (str, str)
        What the header explains besides.
    notes : sequence of Footnote
        What stands before other footnotes.
    """
    headings = footnotes.headings_of(several)
    notes = footnotes.notes_of(several, options.alpha, options.notes, before=notes)
    frames = _frames(several, options)
    diagnostics = [r.diagnostic and r.diagnostic.estimand.words.label for r in several]
    blocks: list[_Block] = []
    for k, (results, heading, frame) in enumerate(zip(several, headings, frames, strict=True)):
        columns = _columns(results, heading, frame, options)
        blocks.append(_Block(columns, _stubs(heading, frame, notes)))
        if results.diagnostic is not None and diagnostics[k] not in diagnostics[k + 1 :]:
            blocks.append(_beside(results.diagnostic, frame.index, options))
    first, shown = several[0], len(frames[0])
    what = first.estimand.description if len(several) == 1 else ", ".join(dict.fromkeys(headings))
    facts = facts_of(first, what, date=options.date)
    if shown < len(first.params):
        facts.append(("Terms:", f"{shown} of {len(first.params)} shown"))
    of = "learner" if first.context.level == "learner" else "one fitted model"
    return _set(
        facts,
        blocks,
        title=options.title or f"{title}, {of}",
        notes=[note.text for note in notes],
        legend=[*legend, *footnotes.legend_of(several)],
    )


def summarize_frame(
    frame: pd.DataFrame,
    formats: Mapping[str, str],
    *,
    title: str,
    facts: Sequence[Fact],
    notes: Sequence[str],
) -> Table:
    """Return a table of any numbers and words.

    Parameters
    ----------
    frame : pandas.DataFrame
        Its index names the rows.
    formats : mapping of str to str
        The columns to show, each with the format of its numbers; "" for words.
    title : str
    facts : sequence of (str, str)
        What the header says.
    notes : sequence of str
        Footnotes.
    """
    columns = {
        name: [cell(v, fmt) if fmt else str(v) for v in frame[name]]
        for name, fmt in formats.items()
    }
    return _set(facts, [_Block(columns, list(map(str, frame.index)))], title=title, notes=notes)


def _set(
    facts: Sequence[Fact],
    blocks: Sequence[_Block],
    *,
    title: str,
    notes: Sequence[str],
    legend: Sequence[Fact] = (),
) -> Table:
    """Set blocks below each other in columns of the same widths."""
    widths = [max(column) for column in zip_longest(*(b.widths for b in blocks), fillvalue=0)]
    total = sum(widths) + len(widths) - 1
    _, width = header_lines(facts, legend, max(WIDTH, total))
    widths[0] += width - total
    tables = [block.table(widths) for block in blocks]
    return Table(tables, notes, width, title=title, facts=facts, legend=legend, numbered=True)


def _frames(several: Sequence[EstimandResults], options: TableOptions) -> list[pd.DataFrame]:
    """Return the rows of every block in the order in which they are shown."""
    frames: list[pd.DataFrame] = []
    for results in several:
        frame, terms = results.summary_frame(options.alpha), results.estimand.terms
        if options.top is not None and terms.axes:
            raise OptionError("`top` is for tables of one value per feature; this is of a grid.")
        if frames and not terms.axes and set(frame.index) == set(frames[0].index):
            frame = frame.loc[frames[0].index]
        elif options.sort and not terms.axes:
            frame = largest_first(frame)
            if terms.facet is not None and terms.groups:
                frame = frame.sort_values(terms.facet, kind="stable")
        frames.append(frame)
    if options.top is None:
        return frames
    facets = [results.estimand.terms.facet for results in several]
    return [
        frame.head(options.top)
        if facet is None
        else frame.groupby(facet, sort=False, observed=True).head(options.top)
        for facet, frame in zip(facets, frames, strict=True)
    ]


def _stubs(heading: str, frame: pd.DataFrame, notes: Sequence[footnotes.Footnote]) -> list[str]:
    """Return the names of rows, with the numbers of the footnotes that warn of them."""
    stubs = []
    for term in map(str, frame.index):
        marks = [f"[{k}]" for k, note in enumerate(notes, start=1) if (heading, term) in note.marks]
        stubs.append(f"{term} {''.join(marks)}" if marks else term)
    return stubs


def _beside(diagnostic: EstimandResults, terms: pd.Index, options: TableOptions) -> _Block:
    values = diagnostic.params.reindex(terms)
    fmt = options.number(diagnostic.summary_frame()) if diagnostic.estimand.words.unit else "%.3f"
    cells = [cell(value, fmt) for value in values]
    return _Block({diagnostic.estimand.words.label: cells}, list(map(str, terms)))


def _columns(
    results: EstimandResults, heading: str, frame: pd.DataFrame, options: TableOptions
) -> dict[str, list[str]]:
    """Return estimate, standard error, limits, t and P, as far as there are."""
    number, estimand, variance = options.number(frame), results.estimand, results.variance
    # A square has no sign: the limit of a one-sided interval is one of the two-sided ones.
    two_sided = results.alternative == "two-sided" or variance.varies_as_square
    tail = options.alpha / 2 if two_sided else options.alpha
    columns = [(heading, "estimate", number)]
    if estimand.correction is not None and "corrected" in frame:
        columns.append(("corrected", "corrected", number))
    columns.append(("std err", "std_error", number))
    if results.alternative != "less":
        columns.append((f"[{tail:.3g}", "conf_low", number))
    if results.alternative != "greater":
        columns.append((f"{1 - tail:.3g}]", "conf_high", number))
    tested = results.null is not None
    if tested and frame["statistic"].notna().any():
        columns.append((symbol(results.df_resid), "statistic", "%.3f"))
    cells = {name: [cell(v, fmt) for v in frame[column]] for name, column, fmt in columns}
    if tested:
        adjusted = results.simultaneous or results.p_adjust is not None
        p = "adj. P" if adjusted else variance.p_heading(results.alternative)
        cells[p] = [p_text(p) for p in frame["p_value"]]
    return cells
