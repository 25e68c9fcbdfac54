"""Summary tables, made with statsmodels' table classes: text, HTML, LaTeX and CSV."""

from __future__ import annotations

import copy
import html
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from statsmodels.iolib.summary import Summary, summary_return
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_2cols, fmt_params

from pyinterp.context import Shown
from pyinterp.sample import FloatArray

__all__ = ["Table", "number_format", "summarize"]

MINIMUM_WIDTH = 78
INDENT = 2  # of the header's right half


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
        tables = [_escaped(table).as_html() for table in self.tables]
        return "\n".join(tables + [f"<p>{html.escape(note)}</p>" for note in self.notes])

    def as_latex(self) -> str:
        """Return the tables as LaTeX tabulars (booktabs), a line per footnote."""
        tabular: str = summary_return(self.tables, return_fmt="latex")
        return (
            tabular.replace("²", "$^2$")
            + "\n\n"
            + " \\newline\n".join(_latex(note) for note in self.notes)
        )


def summarize(results: Shown, *, alpha: float, sort: bool) -> Table:
    """Return header, one row per term, and footnotes."""
    header = _header(results)
    columns, body, stubs = _body(results, alpha=alpha, sort=sort)
    left = [len(max(stubs, key=len)), *(_width(columns, body, j) for j in range(len(columns)))]
    top = [max(len(row[j]) for row in header) for j in range(4)]
    gaps = 3 + INDENT
    width = max(MINIMUM_WIDTH, sum(left) + len(left) - 1, sum(top) + gaps)
    left[0] += width - (sum(left) + len(left) - 1)
    top[1] += (width - sum(top) - gaps) // 2
    top[3] += width - sum(top) - gaps
    tables = [
        SimpleTable(
            [row[1:] for row in header],
            stubs=[row[0] for row in header],
            title=_title(results),
            datatypes=[0, 1, 0],
            txt_fmt={
                **fmt_2cols,
                "data_fmts": ["%s", " " * INDENT + "%s"],
                "stub_fmt": "%s",
                "data_aligns": "rlr",
                "colwidths": [top[0], top[1], top[2] + INDENT, top[3]],
            },
        ),
        SimpleTable(
            body,
            headers=columns,
            stubs=stubs,
            txt_fmt={**fmt_params, "data_fmts": ["%s"], "colwidths": left},
        ),
    ]
    notes = [f"[{k}] {note}" for k, note in enumerate(_notes(results), start=1)]
    return Table(tables, notes, width)


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


def _width(columns: Sequence[str], body: Sequence[Sequence[str]], j: int) -> int:
    return max(9, len(columns[j]), *(len(row[j]) for row in body))


def _title(results: Shown) -> str:
    title = results.estimand.title
    if results.context.level == "learner":
        return f"{title}, learner"
    return f"{title}, one fitted model"


def _header(results: Shown) -> list[tuple[str, str, str, str]]:
    context, fit = results.context, results.fit
    nobs = str(context.nobs)
    if context.dropped:
        nobs += f" ({context.dropped} dropped)"
    refits = str(context.refits)
    if context.pairs:
        apart = context.refits != 2 * context.pairs
        refits = (
            f"{context.refits}, and {context.pairs} pairs" if apart else f"{context.pairs} pairs"
        )
    if context.failed:
        refits += f" ({context.failed} failed)"
    facts = [
        ("Dep. variable:", context.endog_name),
        ("Learner:", context.learner),
        ("Estimand:", results.estimand.description),
        ("Engine:", context.engine),
        ("No. observations:", nobs),
        ("Resampling:", context.plan),
    ]
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
            ("Loss:", fit.name),
            (f"Loss, {context.where}:", f"{number % fit.loss}{spread}"),
        ]
        if fit.explained_name and np.isfinite(fit.explained):
            facts.append((f"{fit.explained_name}, {context.where}:", f"{fit.explained:.3f}"))
    facts += [
        ("Df:", f"{results.df_resid:g}"),
        ("Cov. type:", results.variance.label),
        ("Seed:", "none" if context.seed is None else str(context.seed)),
        ("Date:", context.date),
    ]
    facts += [("", "")] * (len(facts) % 2)
    return [(*facts[k], *facts[k + 1]) for k in range(0, len(facts), 2)]


def _body(
    results: Shown, *, alpha: float, sort: bool
) -> tuple[list[str], list[list[str]], list[str]]:
    frame = results.summary_frame(alpha)
    terms = results.estimand.terms
    if sort and not terms.axes:
        frame = frame.sort_values("estimate", ascending=False, kind="stable")
    number = number_format(
        np.asarray(frame["estimate"], float), np.asarray(frame["std_error"], float)
    )
    p_name = results.variance.p_headings[results.alternative]
    shown: list[tuple[str, str, str]] = [(results.estimand.label, "estimate", number)]
    if (frame["mcse"] > 0).any():
        shown.append(("mcse", "mcse", number))
    shown.append(("std err", "std_error", number))
    if results.estimand.null is not None:
        shown += [("t", "statistic", "%.3f"), (p_name, "p_value", "%.3f")]
    shown += [(name, column, number) for name, column in _limits(alpha, results.alternative)]
    body = [
        [_cell(row[column], fmt) for _, column, fmt in shown]
        for row in frame.to_dict(orient="records")
    ]
    return [name for name, _, _ in shown], body, [str(term) for term in frame.index]


def _limits(alpha: float, alternative: str) -> list[tuple[str, str]]:
    """Return heading and column of the limits; a one-sided interval has one."""
    tail = alpha / 2 if alternative == "two-sided" else alpha
    low, high = (f"[{tail:.3g}", "conf_low"), (f"{1 - tail:.3g}]", "conf_high")
    return {"two-sided": [low, high], "greater": [low], "less": [high]}[alternative]


def _cell(value: Any, fmt: str) -> str:
    return "" if np.isnan(value) else fmt % value


def _notes(results: Shown) -> list[str]:
    first, *others = results.estimand.notes
    if results.estimand.exact and not (results.mcse > 0).any():
        first += f" {results.estimand.exact}"
    notes = [first, *others, results.variance.note + _coverage(results)]
    if results.alternative != "two-sided":
        notes.append(f"One-sided: the alternative is {results.alternative} than the null value.")
    if results.p_adjust is not None:
        notes.append(f"P-values are adjusted ({results.p_adjust}); intervals are not.")
    if results.simultaneous:
        notes.append("Intervals are simultaneous (sup-t): together they cover all terms.")
    if (results.mcse > 0).any():
        notes.append(
            "mcse: Monte Carlo error of using some of all permutations; "
            '`permutations="all"` has none.'
        )
    still = results.bse.index[results.bse == 0]
    if len(still):
        listed = ", ".join(map(str, still[:6])) + (", ..." if len(still) > 6 else "")
        model = results.context.level == "model"
        reason = "the same in every row" if model else results.estimand.zero_variance
        notes.append(f"No interval for {listed}: {reason}.")
    return notes


def _coverage(results: Shown) -> str:
    key = (results.variance.cov_type, results.context.studied)
    share = results.estimand.coverage.get(key)
    unstudied = results.context.failed or results.simultaneous
    return "" if share is None or unstudied else f" {share}"


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


def _escaped(table: SimpleTable) -> SimpleTable:
    """Return a copy whose cells HTML shows as they are."""
    copied = copy.deepcopy(table)
    for row in copied:
        for cell in row:
            cell.data = html.escape(str(cell.data))
    copied.title = html.escape(copied.title or "")
    return copied
