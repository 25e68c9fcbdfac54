"""Summary tables, made with statsmodels' table classes: text, HTML, LaTeX and CSV."""

from __future__ import annotations

import copy
import html
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from statsmodels.iolib.summary import Summary, summary_return
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_2cols, fmt_params

from pyinterp._typing import FloatArray
from pyinterp.inference.coverage import coverage_of

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = [
    "Table",
    "number_format",
    "summarize",
    "summarize_below",
    "summarize_frame",
    "summarize_together",
]

MINIMUM_WIDTH = 78
INDENT = 2  # of the header's right half
NO_VALUE = "not defined in some refit"


class _Column(NamedTuple):
    heading: str
    cells: list[str]


class Table(Summary):  # type: ignore[misc]  # statsmodels is untyped
    """A statsmodels summary with footnotes that HTML and LaTeX can set.

    Parameters
    ----------
    tables : list of SimpleTable
    notes : sequence of str
        Footnotes, one sentence or more each.
    width : int
        Line length of the footnotes in text.
    """

    def __init__(self, tables: list[SimpleTable], notes: Sequence[str], width: int) -> None:
        super().__init__()
        self.tables, self.notes = tables, tuple(notes)
        lines: list[str] = []
        for note in self.notes:
            lines += textwrap.wrap(note, width, subsequent_indent="    ")
        self.add_extra_txt(lines)

    def as_html(self) -> str:
        """Return the tables in HTML, a line per footnote."""
        tables = [_escape(table).as_html() for table in self.tables]
        return "\n".join(tables + [f"<p>{html.escape(note)}</p>" for note in self.notes])

    def as_latex(self) -> str:
        """Return the tables as LaTeX tabulars (booktabs), a line per footnote."""
        tabular: str = summary_return(self.tables, return_fmt="latex")
        return (
            tabular.replace("²", "$^2$")
            + "\n\n"
            + " \\newline\n".join(_latex(note) for note in self.notes)
        )


def summarize(results: EstimandResults, *, alpha: float, sort: bool) -> Table:
    """Return the table of one estimand: header, one row per term, and footnotes."""
    return _table(
        results,
        [_block(results, alpha, sort=sort)],
        title=f"{results.estimand.heading}, {_whose(results)}",
        estimand=results.estimand.description,
        notes=_notes(results, alpha),
    )


def summarize_together(
    several: Sequence[EstimandResults],
    *,
    alpha: float,
    sort: bool,
    title: str = "Importance",
    notes: Sequence[str] = (),
) -> Table:
    """Return one table of importances of the same features, a block of columns for each."""
    first = several[0]
    frames = [results.summary_frame(alpha) for results in several]
    order = frames[0].index
    if sort:
        order = frames[0].sort_values("estimate", ascending=False, kind="stable").index
    columns: list[_Column] = []
    for results, frame in zip(several, frames, strict=True):
        columns += _columns(results, frame.loc[order], alpha, tests=False)
    remarks = [*notes, *_label_notes(several)]
    beside = next((r.diagnostic for r in several if r.diagnostic is not None), None)
    if beside is not None:
        columns.append(_column(beside.estimand.label, beside.params.loc[order], "%.3f"))
        remarks += _beside(beside)
    return _table(
        first,
        [_Block(columns, order)],
        title=f"{title}, {_whose(first)}",
        estimand=", ".join(r.estimand.label for r in several),
        notes=[*remarks, first.variance.note, *_inference_notes(first, alpha)],
    )


def summarize_below(several: Sequence[EstimandResults], *, alpha: float, title: str) -> Table:
    """Return tables of several estimands of one analysis below each other, under one header."""
    first = several[0]
    notes = _label_notes(several)
    for results in several:
        if results.diagnostic is not None:
            notes += _beside(results.diagnostic)
    return _table(
        first,
        [_block(results, alpha, sort=False) for results in several],
        title=f"{title}, {_whose(first)}",
        estimand=", ".join(r.estimand.label for r in several),
        notes=[*notes, first.variance.note, *_inference_notes(first, alpha), *_tests(several)],
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
    return _set(_in_two(facts), [_Block(columns, frame.index)], title=title, notes=notes)


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

    def table(self, width: int) -> SimpleTable:
        """Set the block in `width` characters."""
        widths = self.widths
        widths[0] += width - (sum(widths) + len(widths) - 1)
        return SimpleTable(
            [list(row) for row in zip(*(c.cells for c in self.columns), strict=True)],
            headers=[c.heading for c in self.columns],
            stubs=self.stubs,
            txt_fmt={**fmt_params, "data_fmts": ["%s"], "colwidths": widths},
        )


def _block(results: EstimandResults, alpha: float, *, sort: bool) -> _Block:
    frame = results.summary_frame(alpha)
    terms = results.estimand.terms
    if sort and not terms.axes:
        frame = frame.sort_values("estimate", ascending=False, kind="stable")
        if terms.facet is not None and terms.groups:
            frame = frame.sort_values(terms.facet, kind="stable")
    return _Block(_columns(results, frame, alpha, tests=True), frame.index)


def _column(heading: str, values: pd.Series[float], fmt: str) -> _Column:
    return _Column(heading, [_cell(value, fmt) for value in values])


def _table(
    results: EstimandResults,
    blocks: Sequence[_Block],
    *,
    title: str,
    estimand: str,
    notes: Sequence[str],
) -> Table:
    return _set(_in_two(_facts(results, estimand)), blocks, title=title, notes=notes)


def _set(
    header: Sequence[tuple[str, str, str, str]],
    blocks: Sequence[_Block],
    *,
    title: str,
    notes: Sequence[str],
) -> Table:
    top = [max(len(row[j]) for row in header) for j in range(4)]
    gaps = 3 + INDENT
    block_widths = [sum(block.widths) + len(block.widths) - 1 for block in blocks]
    width = max(MINIMUM_WIDTH, *block_widths, sum(top) + gaps)
    top[1] += (width - sum(top) - gaps) // 2
    top[3] += width - sum(top) - gaps
    head = SimpleTable(
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
    numbered = [f"[{k}] {note}" for k, note in enumerate(notes, start=1)]
    return Table([head, *(block.table(width) for block in blocks)], numbered, width)


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


def _in_two(facts: Sequence[tuple[str, str]]) -> list[tuple[str, str, str, str]]:
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
    facts = [
        ("Dep. variable:", context.endog_name),
        ("Learner:", context.learner),
        ("Estimand:", estimand),
        ("Engine:", context.engine.name),
        ("No. observations:", nobs),
        ("Resampling:", context.plan),
    ]
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
        if fit.share_name and np.isfinite(fit.explained_share):
            facts.append((f"{fit.share_name}, {context.where}:", f"{fit.explained_share:.3f}"))
    facts += [
        ("Df:", f"{results.df_resid:g}"),
        ("Cov. type:", results.variance.label),
        ("Seed:", "none" if context.seed is None else str(context.seed)),
        ("Date:", context.date),
    ]
    return facts


def _columns(
    results: EstimandResults, frame: pd.DataFrame, alpha: float, *, tests: bool
) -> list[_Column]:
    number = number_format(
        np.asarray(frame["estimate"], float), np.asarray(frame["std_error"], float)
    )
    columns: list[tuple[str, str, str]] = [(results.estimand.label, "estimate", number)]
    correction = results.estimand.correction
    if correction is not None and "corrected" in frame:
        columns.append((correction.heading, "corrected", number))
    if (frame["mcse"] > 0).any():
        columns.append(("mcse", "mcse", number))
    columns.append(("std err", "std_error", number))
    if tests and results.estimand.null is not None:
        columns += _test_columns(results, frame, number)
    columns += [(name, column, number) for name, column in _limits(alpha, results.alternative)]
    if tests and results.diagnostic is not None:
        columns.append((results.diagnostic.estimand.label, "diagnostic", "%.3f"))
    return [_column(heading, frame[column], fmt) for heading, column, fmt in columns]


def _test_columns(
    results: EstimandResults, frame: pd.DataFrame, number: str
) -> list[tuple[str, str, str]]:
    """Return heading, column and format of tests and of the standard error that divides t."""
    columns = []
    if not frame["std_error_null"].equals(frame["std_error"].rename("std_error_null")):
        columns.append((_null_heading(results), "std_error_null", number))
    if frame["statistic"].notna().any():
        columns.append(("t", "statistic", "%.3f"))
    return [*columns, (results.variance.p_headings[results.alternative], "p_value", "%.3f")]


def _null_heading(results: EstimandResults) -> str:
    return f"s.e. at {results.estimand.null:g}"


def _limits(alpha: float, alternative: str) -> list[tuple[str, str]]:
    """Return heading and column of the limits; a one-sided interval has one."""
    tail = alpha / 2 if alternative == "two-sided" else alpha
    low, high = (f"[{tail:.3g}", "conf_low"), (f"{1 - tail:.3g}]", "conf_high")
    return {"two-sided": [low, high], "greater": [low], "less": [high]}[alternative]


def _cell(value: Any, fmt: str) -> str:
    return fmt % value if np.isfinite(value) else ""


def _notes(results: EstimandResults, alpha: float) -> list[str]:
    first, *others = _about(results)
    notes = [first, *others]
    if not results.estimand.without_error(results.context.level):
        notes += [results.variance.note + _coverage(results), *_inference_notes(results, alpha)]
    notes += _tests([results])
    if results.context.plan_note:
        notes.append(results.context.plan_note)
    if results.diagnostic is not None:
        notes += _beside(results.diagnostic)
    return notes


def _label_notes(several: Sequence[EstimandResults]) -> list[str]:
    """List the notes on several estimands with their labels; a common note is listed once."""
    about: dict[str, list[str]] = {}
    for results in several:
        for note in _about(results):
            about.setdefault(note, []).append(results.estimand.label)
    return [f"{', '.join(labels)}: {note}" for note, labels in about.items()]


def _about(results: EstimandResults) -> list[str]:
    """List the notes on the estimand, the engine, and terms without estimate or interval."""
    estimand = results.estimand
    exact = estimand.exact and not (results.mcse > 0).any()
    meaning = f"{estimand.meaning} {estimand.exact}" if exact else estimand.meaning
    notes = [meaning, *estimand.notes]
    if estimand.correction is not None and results.corrected_params is not None:
        notes.append(estimand.correction.note)
    if (results.mcse > 0).any():
        notes.append(estimand.inexact)
    if results.context.engine.reason:
        engine = results.context.engine
        notes.append(f"Engine: {engine.name} ({engine.reason}).")
    absent = results.params.index[results.params.isna()]
    reasons = pd.Series([estimand.missing.get(t, NO_VALUE) for t in absent], index=absent)
    for reason, terms in reasons.groupby(reasons, sort=False):
        notes.append(f"No estimate for {_enumerate(terms.index)}: {reason}.")
    constant = results.bse.index[results.bse == 0]
    level = results.context.level
    if estimand.without_error(level):
        notes.append(f"No standard error: {estimand.no_model_error}.")
    if len(constant):
        reason = "every row contributes the same" if level == "model" else estimand.zero_variance
        notes.append(f"No interval for {_enumerate(constant)}: {reason}.")
    return [*notes, *estimand.remarks(results.params)]


def _tests(several: Sequence[EstimandResults]) -> list[str]:
    """List the notes on tests that are not t tests by estimate and standard error."""
    tested = [r for r in several if r.estimand.null is not None and (r.bse > 0).any()]
    return list(
        dict.fromkeys(
            r.variance.test_note.format(
                null=f"{r.estimand.null:g}", deviation=_deviation(r), error=_null_heading(r)
            )
            for r in tested
            if r.variance.test_note
        )
    )


def _deviation(results: EstimandResults) -> str:
    estimand = results.estimand
    return f"({estimand.label} - {estimand.null:g})" if estimand.null else estimand.label


def _beside(diagnostic: EstimandResults) -> list[str]:
    estimand = diagnostic.estimand
    return [f"{estimand.label}: {estimand.meaning}", *estimand.remarks(diagnostic.params)]


def _inference_notes(results: EstimandResults, alpha: float) -> list[str]:
    """List the notes on limits, the side of tests and adjustments."""
    notes = [results.variance.interval_note] if results.variance.interval_note else []
    if results.alternative != "two-sided":
        notes.append(f"One-sided: the alternative is {results.alternative} than the null value.")
    if results.inference.note:
        notes.append(results.inference.note)
    limits = results.inference.interval(alpha)
    sides = {"two-sided": limits, "greater": limits[:, :1], "less": limits[:, 1:]}
    infinite = np.flatnonzero(np.isinf(sides[results.alternative]).any(axis=1))
    if len(infinite):
        terms = _enumerate(results.params.index[infinite])
        notes.append(f"No limit for {terms}: it lies {results.variance.too_few}.")
    return notes


def _enumerate(terms: pd.Index) -> str:
    return ", ".join(map(str, terms[:6])) + (", ..." if len(terms) > 6 else "")


def _coverage(results: EstimandResults) -> str:
    kind, plan = results.estimand.coverage, results.context.study_name
    covered = coverage_of(kind, results.variance.cov_type, plan)
    single = not results.inference.note and results.alternative == "two-sided"
    unstudied = results.context.failed_refits or not single
    return "" if covered is None or unstudied else f" {covered}"


def _latex(text: str) -> str:
    """Escape what LaTeX would read as markup."""
    special = {
        "\\": r"\textbackslash{}",
        **{c: f"\\{c}" for c in "%&#_{}$"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": "",
        "²": "$^2$",
        "<": "$<$",
        ">": "$>$",
    }
    return "".join(special.get(character, character) for character in text)


def _escape(table: SimpleTable) -> SimpleTable:
    """Return a copy whose cells HTML shows as they are."""
    copied = copy.deepcopy(table)
    for row in copied:
        for cell in row:
            cell.data = html.escape(str(cell.data))
    copied.title = html.escape(copied.title or "")
    return copied
