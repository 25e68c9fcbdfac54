"""Summary tables, made with statsmodels' table classes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_2cols, fmt_params

from pyinterp._typing import FloatArray
from pyinterp.checks import check_alpha, check_choice, check_count, check_flag, check_text
from pyinterp.errors import short
from pyinterp.results.footnotes import NotesOption, null_heading, of_one, of_several, texts_of
from pyinterp.results.order import largest_first
from pyinterp.results.table import Table

if TYPE_CHECKING:
    from pyinterp.results.header import Context
    from pyinterp.results.results import EstimandResults

__all__ = [
    "Table",
    "TableOptions",
    "number_format",
    "summarize",
    "summarize_below",
    "summarize_frame",
    "summarize_together",
]

MINIMUM_WIDTH = 78
MAXIMUM_WIDTH = 104  # from which on columns, and values of the header, are folded
NARROWEST = 20  # value of the header
INDENT = 2  # of the header's right half
MOST_DECIMALS = 15
LONGEST_FORMULA = 100


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options of summary tables, checked; `pyinterp.parameters` describes them."""

    alpha: float = 0.05
    sort: bool = True
    title: str | None = None
    notes: NotesOption = "short"
    decimals: int | None = None

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_flag("sort", self.sort)
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


class _Column(NamedTuple):
    heading: str
    cells: list[str]
    group: str = ""  # adjacent columns of a group are not separated


def summarize(results: EstimandResults, options: TableOptions) -> Table:
    """Return the table of one estimand: header, one row per term, and footnotes."""
    return _table(
        results,
        [_block(results, options)],
        options,
        title=f"{results.estimand.heading}, {_whose(results)}",
        estimand=results.estimand.description,
        notes=texts_of(of_one(results, options.alpha), options.notes),
    )


def summarize_together(
    several: Sequence[EstimandResults],
    options: TableOptions,
    *,
    title: str = "Importance",
    notes: Sequence[str] = (),
) -> Table:
    """Return one table of importances of the same features, a block of columns for each."""
    first = several[0]
    frames = [results.summary_frame(options.alpha) for results in several]
    order = frames[0].index
    if options.sort:
        order = largest_first(frames[0]).index
    columns: list[_Column] = []
    for results, frame in zip(several, frames, strict=True):
        label = results.estimand.label
        columns += [
            column._replace(group=label)
            for column in _columns(results, frame.loc[order], options, tests=False)
        ]
    beside = next((r.diagnostic for r in several if r.diagnostic is not None), None)
    if beside is not None:
        columns.append(_column(beside.estimand.label, beside.params.loc[order], "%.3f"))
    return _table(
        first,
        [_Block(columns, order)],
        options,
        title=f"{title}, {_whose(first)}",
        estimand=", ".join(r.estimand.label for r in several),
        notes=texts_of(
            of_several(several, options.alpha, before=notes, tests=False), options.notes
        ),
    )


def summarize_below(
    several: Sequence[EstimandResults], options: TableOptions, *, title: str
) -> Table:
    """Return tables of several estimands of one analysis below each other, under one header."""
    first = several[0]
    return _table(
        first,
        [_block(results, options) for results in several],
        options,
        title=f"{title}, {_whose(first)}",
        estimand=", ".join(r.estimand.label for r in several),
        notes=texts_of(of_several(several, options.alpha, tests=True), options.notes),
    )


def summarize_frame(
    frame: pd.DataFrame,
    formats: Mapping[str, str],
    *,
    title: str,
    facts: Sequence[tuple[str, str]],
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
        _column(name, frame[name], fmt) if fmt else _Column(name, [str(w) for w in frame[name]])
        for name, fmt in formats.items()
    ]
    return _set(facts, [_Block(columns, frame.index)], title=title, notes=notes)


class _Block(NamedTuple):
    """Columns of numbers for some terms."""

    columns: Sequence[_Column]
    terms: pd.Index

    @property
    def stubs(self) -> list[str]:
        return [str(term) for term in self.terms]

    @property
    def widths(self) -> list[int]:
        numbers = (max(9, *map(len, (c.heading, *c.cells))) for c in self.columns)
        return [len(max(self.stubs, key=len)), *numbers]

    @property
    def width(self) -> int:
        return sum(self.widths) + len(self.widths) - 1

    def table(self, width: int) -> SimpleTable:
        """Set the block in `width` characters."""
        widths = self.widths
        widths[0] += width - self.width
        return SimpleTable(
            [list(row) for row in zip(*(c.cells for c in self.columns), strict=True)],
            headers=[c.heading for c in self.columns],
            stubs=self.stubs,
            txt_fmt={**fmt_params, "data_fmts": ["%s"], "colwidths": widths},
        )

    def fold(self) -> Iterator[_Block]:
        """Yield blocks of some columns each, which are not wider than a page if that can be."""
        part: list[_Column] = []
        for _, columns in groupby(enumerate(self.columns), lambda c: c[1].group or str(c[0])):
            together = [column for _, column in columns]
            if part and self._replace(columns=[*part, *together]).width > MAXIMUM_WIDTH:
                yield self._replace(columns=part)
                part = []
            part += together
        yield self._replace(columns=part)


def _block(results: EstimandResults, options: TableOptions) -> _Block:
    frame = results.summary_frame(options.alpha)
    terms = results.estimand.terms
    if options.sort and not terms.axes:
        frame = largest_first(frame)
        if terms.facet is not None and terms.groups:
            frame = frame.sort_values(terms.facet, kind="stable")
    return _Block(_columns(results, frame, options, tests=True), frame.index)


def _column(heading: str, values: pd.Series[float], fmt: str, group: str = "") -> _Column:
    return _Column(heading, [_cell(value, fmt) for value in values], group)


def _table(
    results: EstimandResults,
    blocks: Sequence[_Block],
    options: TableOptions,
    *,
    title: str,
    estimand: str,
    notes: Sequence[str],
) -> Table:
    return _set(_facts(results, estimand), blocks, title=options.title or title, notes=notes)


def _set(
    facts: Sequence[tuple[str, str]],
    blocks: Sequence[_Block],
    *,
    title: str,
    notes: Sequence[str],
) -> Table:
    folded = [part for block in blocks for part in block.fold()]
    header = _in_two(facts)
    lines = _narrow(header) if _header_width(header) > MAXIMUM_WIDTH else header
    width = max(MINIMUM_WIDTH, *(block.width for block in folded), _header_width(lines))
    wide = max(MINIMUM_WIDTH, *(block.width for block in blocks), _header_width(header))
    return Table(
        [_head(header, wide, title), *(block.table(wide) for block in blocks)],
        notes,
        width,
        facts=facts,
        folded=[_head(lines, width, title), *(block.table(width) for block in folded)],
        numbered=True,
    )


class _Lines(textwrap.TextWrapper):
    """Breaks lines at spaces, and after parentheses, as learners with their settings have."""

    wordsep_simple_re = re.compile(r"(\s+|(?<=\())")

    def __init__(self, width: int) -> None:
        super().__init__(width, break_long_words=False, break_on_hyphens=False)


def _header_width(header: Sequence[tuple[str, ...]]) -> int:
    return sum(_tops(header)) + 3 + INDENT


def _tops(header: Sequence[tuple[str, ...]]) -> list[int]:
    return [max(len(row[j]) for row in header) for j in range(4)]


def _narrow(header: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the header with long values in several lines."""
    left, value, right, _ = _tops(header)
    both = MAXIMUM_WIDTH - left - right - 3 - INDENT
    most = [max(NARROWEST, min(value, both // 2))]
    most.append(max(NARROWEST, both - most[0]))
    rows: list[tuple[str, ...]] = []
    for name, first, other, second in header:
        pair = zip((first, second), most, strict=True)
        lines = [_Lines(width=m).wrap(text) or [""] for text, m in pair]
        for k in range(max(map(len, lines))):
            one, two = (part[k] if k < len(part) else "" for part in lines)
            rows.append((name if k == 0 else "", one, other if k == 0 else "", two))
    return rows


def _head(header: Sequence[tuple[str, ...]], width: int, title: str) -> SimpleTable:
    top, gaps = _tops(header), 3 + INDENT
    top[1] += (width - sum(top) - gaps) // 2
    top[3] += width - sum(top) - gaps
    return SimpleTable(
        [row[1:] for row in header],
        stubs=[row[0] for row in header],
        title=title,
        datatypes=[0, 1, 0],
        txt_fmt={
            **fmt_2cols,
            "data_fmts": ["%s", " " * INDENT + "%s"],
            "stub_fmt": "%s",
            "data_aligns": "rlr",
            "colwidths": [top[0], top[1], top[2] + INDENT, top[3]],
        },
    )


def number_format(values: FloatArray, errors: FloatArray | None = None) -> str:
    """Return a format with four significant digits of the largest value, two of a usual error."""
    largest = _largest(values)
    decimals = 4 if largest == 0.0 else 3 - int(np.floor(np.log10(largest)))
    positive = np.empty(0) if errors is None else errors[np.isfinite(errors) & (errors > 0)]
    if len(positive):
        decimals = max(decimals, 1 - int(np.floor(np.log10(np.median(positive)))))
    return "%.3e" if decimals > 8 or decimals < -6 else f"%.{max(decimals, 0)}f"


def _largest(values: FloatArray) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _whose(results: EstimandResults) -> str:
    return "learner" if results.context.level == "learner" else "one fitted model"


def _in_two(facts: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    even = [*facts, *[("", "")] * (len(facts) % 2)]
    return [(*even[k], *even[k + 1]) for k in range(0, len(even), 2)]


def _facts(results: EstimandResults, estimand: str) -> list[tuple[str, str]]:
    context, fit = results.context, results.fit
    dropped = f"{context.dropped_rows} dropped" if context.dropped_rows else ""
    remarks = ", ".join(filter(None, (context.weighting, dropped)))
    nobs = f"{context.nobs} ({remarks})" if remarks else str(context.nobs)
    refits = str(context.refits)
    if context.pairs:
        apart = context.refits != 2 * context.pairs
        refits = (
            f"{context.refits}, and {context.pairs} pairs" if apart else f"{context.pairs} pairs"
        )
    if context.failed_refits:
        refits += f" ({context.failed_refits} failed)"
    engine = [("Engine:", context.engine.name)]
    facts = [*_about(context, estimand, engine), ("No. observations:", nobs)]
    facts.append(("Resampling:", context.plan))
    if context.subgroup:
        facts += [("Subgroup, rows:", context.subgroup), ("", "")]
    if context.n_train > 0:
        facts += [
            ("No. refits:", refits),
            (
                f"Train / evaluation {context.unit}:",
                f"{context.n_train:.0f} / {context.n_evaluation:.0f}",
            ),
        ]
    if fit is not None:
        number = number_format(np.array([fit.loss]), np.array([fit.bse]))
        spread = f" (s.e. {number % fit.bse})" if fit.bse > 0 else ""
        facts += [
            (f"{fit.kind}:", fit.name),
            (f"{fit.kind}, {context.where}:", f"{number % fit.loss}{spread}"),
        ]
        if fit.share_text:
            facts.append((f"{fit.share_name}, {context.where}:", fit.share_text))
    facts += [
        ("Df:", f"{results.df_resid:g}"),
        ("Cov. type:", results.variance.label),
        *(engine if context.formula else []),
        ("Seed:", "none" if context.seed is None else str(context.seed)),
        ("Date:", context.date),
    ]
    return facts


def _about(context: Context, estimand: str, engine: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what the header says first; with a formula, the engine stands further down."""
    response = ("Dep. variable:", context.endog_name)
    learner = ("Learner:", context.specification or context.learner)
    if not context.formula:
        return [response, learner, ("Estimand:", estimand), *engine]
    formula = ("Formula:", short(context.formula, LONGEST_FORMULA))
    return [response, ("Estimand:", estimand), formula, learner]


def _columns(
    results: EstimandResults, frame: pd.DataFrame, options: TableOptions, *, tests: bool
) -> list[_Column]:
    number = options.number(frame)
    columns: list[tuple[str, str, str]] = [(results.estimand.label, "estimate", number)]
    correction = results.estimand.correction
    if correction is not None and "corrected" in frame:
        columns.append((correction.heading, "corrected", number))
    if (frame["mcse"] > 0).any():
        columns.append(("mcse", "mcse", number))
    columns.append(("std err", "std_error", number))
    if tests and results.estimand.null is not None:
        columns += _test_columns(results, frame, number)
    limits = _limits(options.alpha, results.alternative)
    columns += [(name, column, number) for name, column in limits]
    if tests and results.diagnostic is not None:
        columns.append((results.diagnostic.estimand.label, "diagnostic", "%.3f"))
    together = {column: "limits" for _, column in limits}
    return [
        _column(heading, frame[column], fmt, together.get(column, ""))
        for heading, column, fmt in columns
    ]


def _test_columns(
    results: EstimandResults, frame: pd.DataFrame, number: str
) -> list[tuple[str, str, str]]:
    """Return heading, column and format of tests and of the standard error that divides t."""
    columns = []
    heading = results.variance.p_heading(results.alternative)
    special = heading == "P" and frame["statistic"].notna().any()
    if special or not frame["std_error_null"].equals(frame["std_error"].rename("std_error_null")):
        columns.append((null_heading(results), "std_error_null", number))
    if frame["statistic"].notna().any():
        columns.append(("t", "statistic", "%.3f"))
    return [*columns, (heading, "p_value", "%.3f")]


def _limits(alpha: float, alternative: str) -> list[tuple[str, str]]:
    """Return heading and column of the limits; a one-sided interval has one."""
    tail = alpha / 2 if alternative == "two-sided" else alpha
    low, high = (f"[{tail:.3g}", "conf_low"), (f"{1 - tail:.3g}]", "conf_high")
    return {"two-sided": [low, high], "greater": [low], "less": [high]}[alternative]


def _cell(value: Any, fmt: str) -> str:
    return fmt % value if np.isfinite(value) else ""
