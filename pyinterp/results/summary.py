"""Summary tables: a header, blocks of numbers, and footnotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np
import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from pyinterp.checks import check_alpha, check_choice, check_count, check_flag, check_text
from pyinterp.errors import OptionError
from pyinterp.inference.digits import cell, number_format, p_text
from pyinterp.inference.intervals import symbol
from pyinterp.results.facts import Fact, facts_of, header_lines
from pyinterp.results.footnotes import (
    Footnote,
    NotesOption,
    headings_of,
    legend_of,
    of_one,
    of_several,
)
from pyinterp.results.order import largest_first
from pyinterp.results.table import Table

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = [
    "Table",
    "TableOptions",
    "summarize",
    "summarize_frame",
    "summarize_several",
]

WIDTH = 80
NARROWEST = 9  # column of numbers
MOST_DECIMALS = 15


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options of summary tables, checked; `pyinterp.parameters` describes them."""

    alpha: float = 0.05
    sort: bool = True
    top: int | None = None
    title: str | None = None
    notes: NotesOption = "short"
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
        check_choice("notes", self.notes, get_args(NotesOption))
        if self.decimals is not None:
            check_count("decimals", self.decimals, 0, MOST_DECIMALS)

    def number(self, frame: pd.DataFrame) -> str:
        """Return the format of estimates and their errors."""
        if self.decimals is not None:
            return f"%.{self.decimals}f"
        columns = (frame["estimate"], frame["std_error"])
        return number_format(*(np.asarray(column, dtype=np.float64) for column in columns))


def summarize(results: EstimandResults, options: TableOptions) -> Table:
    """Return the table of one estimand: header, one row per term, and footnotes."""
    return _table(
        [results],
        options,
        title=results.estimand.heading,
        estimand=results.estimand.description,
        notes=of_one(results, options.alpha, options.notes),
    )


def summarize_several(
    several: Sequence[EstimandResults],
    options: TableOptions,
    *,
    title: str,
    legend: Sequence[Fact] = (),
    notes: Sequence[Footnote] = (),
) -> Table:
    """Return the tables of several estimands of one analysis below each other, of equal width.

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
    return _table(
        several,
        options,
        title=title,
        estimand=", ".join(dict.fromkeys(headings_of(several))),
        legend=legend,
        notes=of_several(several, options.alpha, options.notes, before=notes),
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
    columns = [
        _Column(name, [cell(v, fmt) for v in frame[name]] if fmt else list(map(str, frame[name])))
        for name, fmt in formats.items()
    ]
    return _set(facts, [_Block(columns, list(map(str, frame.index)))], title=title, notes=notes)


class _Column(NamedTuple):
    heading: str
    cells: list[str]


class _Block(NamedTuple):
    """Columns of numbers, with the names of their rows."""

    columns: Sequence[_Column]
    stubs: Sequence[str]

    @property
    def widths(self) -> list[int]:
        """How wide names and columns are."""
        numbers = (max(NARROWEST, *map(len, (c.heading, *c.cells))) for c in self.columns)
        return [max(map(len, self.stubs), default=0), *numbers]

    def table(self, widths: Sequence[int]) -> SimpleTable:
        """Set the block in columns of these widths, with empty ones at the right."""
        empty = _Column("", [""] * len(self.stubs))
        columns = [*self.columns, *[empty] * (len(widths) - 1 - len(self.columns))]
        return SimpleTable(
            [list(row) for row in zip(*(c.cells for c in columns), strict=True)],
            headers=[c.heading for c in columns],
            stubs=list(self.stubs),
            txt_fmt={**fmt_params, "data_fmts": ["%s"], "colwidths": list(widths)},
        )


def _table(
    several: Sequence[EstimandResults],
    options: TableOptions,
    *,
    title: str,
    estimand: str,
    legend: Sequence[Fact] = (),
    notes: Sequence[Footnote],
) -> Table:
    frames = _frames(several, options)
    blocks: list[_Block] = []
    parts = zip(several, headings_of(several), frames, _last(several), strict=True)
    for results, heading, frame, last in parts:
        columns = _columns(results, heading, frame, options)
        blocks.append(_Block(columns, _stubs(heading, frame, notes)))
        if last and results.diagnostic is not None:
            blocks.append(_beside(results.diagnostic, frame.index, options))
    first = several[0]
    of = "learner" if first.context.level == "learner" else "one fitted model"
    facts = facts_of(first, estimand, date=options.date)
    total, rows = len(first.params), len(frames[0])
    if rows < total:
        facts.append(("Terms:", f"{rows} of {total} shown"))
    return _set(
        facts,
        blocks,
        title=options.title or f"{title}, {of}",
        notes=[note.text for note in notes],
        legend=[*legend, *legend_of(several)],
    )


def _set(
    facts: Sequence[Fact],
    blocks: Sequence[_Block],
    *,
    title: str,
    notes: Sequence[str],
    legend: Sequence[Fact] = (),
) -> Table:
    most = max(len(block.widths) for block in blocks)
    each = [[*block.widths, *[0] * (most - len(block.widths))] for block in blocks]
    widths = [max(column) for column in zip(*each, strict=True)]
    _, width = header_lines(facts, legend, max(WIDTH, sum(widths) + most - 1))
    widths[0] += width - sum(widths) - most + 1
    tables = [block.table(widths) for block in blocks]
    return Table(tables, notes, width, title=title, facts=facts, legend=legend, numbered=True)


def _frames(several: Sequence[EstimandResults], options: TableOptions) -> list[pd.DataFrame]:
    """Return the rows of every block in the order in which they are shown."""
    frames = [results.summary_frame(options.alpha) for results in several]
    first = _in_order(several[0], frames[0], options)
    ordered = [first]
    for results, frame in zip(several[1:], frames[1:], strict=True):
        same = set(frame.index) == set(first.index) and not results.estimand.terms.axes
        ordered.append(frame.loc[first.index] if same else _in_order(results, frame, options))
    if options.top is None:
        return ordered
    return [_top(r, frame, options.top) for r, frame in zip(several, ordered, strict=True)]


def _in_order(results: EstimandResults, frame: pd.DataFrame, options: TableOptions) -> pd.DataFrame:
    terms = results.estimand.terms
    if not options.sort or terms.axes:
        return frame
    frame = largest_first(frame)
    if terms.facet is not None and terms.groups:
        frame = frame.sort_values(terms.facet, kind="stable")
    return frame


def _top(results: EstimandResults, frame: pd.DataFrame, top: int) -> pd.DataFrame:
    terms = results.estimand.terms
    if terms.axes:
        raise OptionError("`top` is for tables of one value per feature; this is of a grid.")
    if terms.facet is None:
        return frame.head(top)
    return frame.groupby(terms.facet, sort=False, observed=True).head(top)


def _stubs(heading: str, frame: pd.DataFrame, notes: Sequence[Footnote]) -> list[str]:
    """Return the names of rows, with the numbers of the footnotes that warn of them."""
    stubs = []
    for term in map(str, frame.index):
        marks = [f"[{k}]" for k, note in enumerate(notes, start=1) if (heading, term) in note.marks]
        stubs.append(f"{term} {''.join(marks)}" if marks else term)
    return stubs


def _last(several: Sequence[EstimandResults]) -> list[bool]:
    """Return whether the diagnostic of each is not that of a later one too."""
    labels = [r.diagnostic and r.diagnostic.estimand.label for r in several]
    return [label not in labels[k + 1 :] for k, label in enumerate(labels)]


def _beside(diagnostic: EstimandResults, terms: pd.Index, options: TableOptions) -> _Block:
    values = diagnostic.params.reindex(terms)
    fmt = options.number(diagnostic.summary_frame()) if diagnostic.estimand.unit else "%.3f"
    column = _Column(diagnostic.estimand.label, [cell(value, fmt) for value in values])
    return _Block([column], list(map(str, terms)))


def _columns(
    results: EstimandResults, heading: str, frame: pd.DataFrame, options: TableOptions
) -> list[_Column]:
    """Return estimate, standard error, limits, t and P, as far as there are."""
    number = options.number(frame)
    columns = [(heading, "estimate", number)]
    if results.estimand.correction is not None and "corrected" in frame:
        columns.append((results.estimand.correction.heading, "corrected", number))
    columns.append(("std err", "std_error", number))
    # A square has no sign: the limit of a one-sided interval is one of the two-sided ones.
    tail = options.alpha if results.alternative != "two-sided" else options.alpha / 2
    tail = options.alpha / 2 if results.variance.varies_as_square else tail
    columns += [(name, one, number) for name, one in _limits(tail, results.alternative)]
    tested = results.null is not None
    if tested and frame["statistic"].notna().any():
        columns.append((symbol(results.df_resid), "statistic", "%.3f"))
    shown = [_Column(name, [cell(v, fmt) for v in frame[one]]) for name, one, fmt in columns]
    if tested:
        adjusted = results.simultaneous or results.p_adjust is not None
        p = "adj. P" if adjusted else results.variance.p_heading(results.alternative)
        shown.append(_Column(p, [p_text(p) for p in frame["p_value"]]))
    return shown


def _limits(tail: float, alternative: str) -> list[tuple[str, str]]:
    """Return heading and column of the limits; a one-sided interval has one."""
    low, high = (f"[{tail:.3g}", "conf_low"), (f"{1 - tail:.3g}]", "conf_high")
    return {"two-sided": [low, high], "greater": [low], "less": [high]}[alternative]
