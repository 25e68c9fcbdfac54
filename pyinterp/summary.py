"""Summary tables, made with statsmodels' table classes: text, HTML, LaTeX and CSV."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from statsmodels.iolib.summary import Summary
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_2cols, fmt_params

from pyinterp.context import Shown
from pyinterp.sample import FloatArray

__all__ = ["number_format", "summarize"]

MINIMUM_WIDTH = 78


def summarize(results: Shown, *, alpha: float, sort: bool) -> Summary:
    """Return header, one row per term, and footnotes."""
    header = _header(results)
    columns, body, stubs = _body(results, alpha=alpha, sort=sort)
    left = [len(max(stubs, key=len)), *(_width(columns, body, j) for j in range(len(columns)))]
    top = [max(len(row[j]) for row in header) for j in range(4)]
    width = max(MINIMUM_WIDTH, sum(left) + len(left) - 1, sum(top) + 5)
    left[0] += width - (sum(left) + len(left) - 1)
    top[1] += (width - sum(top) - 5) // 2
    top[3] += width - sum(top) - 5
    summary = Summary()
    summary.tables = [
        SimpleTable(
            [[row[1], f"  {row[2]}", row[3]] for row in header],
            stubs=[row[0] for row in header],
            title=_title(results),
            txt_fmt={
                **fmt_2cols,
                "data_fmts": ["%s"],
                "stub_fmt": "%s",
                "data_aligns": "rlr",
                "colwidths": [top[0], top[1], top[2] + 2, top[3]],
            },
        ),
        SimpleTable(
            body,
            headers=columns,
            stubs=stubs,
            txt_fmt={**fmt_params, "data_fmts": ["%s"], "colwidths": left},
        ),
    ]
    lines: list[str] = []
    for k, note in enumerate(_notes(results), start=1):
        lines += textwrap.wrap(f"[{k}] {note}", width, subsequent_indent="    ")
    summary.add_extra_txt(lines)
    return summary


def number_format(*values: FloatArray) -> str:
    """Return a format that shows the largest of `values` to four significant digits."""
    finite = np.abs(np.concatenate([v[np.isfinite(v)] for v in values] or [np.zeros(1)]))
    largest = float(finite.max(initial=0.0))
    if largest == 0.0:
        return "%.4f"
    decimals = 3 - int(np.floor(np.log10(largest)))
    return "%.3e" if decimals > 8 or decimals < -6 else f"%.{max(decimals, 0)}f"


def _width(columns: Sequence[str], body: Sequence[Sequence[str]], j: int) -> int:
    return max(9, len(columns[j]), *(len(row[j]) for row in body))


def _title(results: Shown) -> str:
    of = "learner" if results.context.level == "learner" else "fitted model"
    return f"{results.estimand.title} of a {of}"


def _header(results: Shown) -> list[tuple[str, str, str, str]]:
    context, fit = results.context, results.fit
    nobs = str(context.nobs)
    if context.dropped:
        nobs += f" ({context.dropped} dropped)"
    refits = str(context.refits)
    if context.failed:
        refits += f" ({context.failed} failed)"
    where = "out of sample" if context.n_train > 0 else "evaluation rows"
    rows = [
        ("Dep. variable:", context.endog_name, "Learner:", context.learner),
        ("Estimand:", results.estimand.description, "Engine:", context.engine),
        ("No. observations:", nobs, "Resampling:", context.plan),
    ]
    if context.n_train > 0:
        sizes = f"{context.n_train:.0f} / {context.n_evaluation:.0f}"
        rows.append(("No. refits:", refits, "Train / evaluation:", sizes))
    if fit is not None:
        number = number_format(np.array([fit.loss]))
        spread = f" ({number % fit.bse})" if fit.bse > 0 else ""
        explained = f"{fit.explained:.3f}" if fit.explained_name else ""
        name = f"{fit.explained_name}, {where}:" if fit.explained_name else ""
        rows.append((f"Loss, {where}:", f"{number % fit.loss}{spread}", name, explained))
    seed = "none" if context.seed is None else str(context.seed)
    rows += [
        ("Cov. type:", results.variance.label, "Df:", f"{results.df_resid:g}"),
        ("Date:", context.date, "Seed:", seed),
    ]
    return rows


def _body(
    results: Shown, *, alpha: float, sort: bool
) -> tuple[list[str], list[list[str]], list[str]]:
    frame = results.summary_frame(alpha)
    terms = results.estimand.terms
    if sort and not terms.axes:
        frame = frame.sort_values("estimate", ascending=False, kind="stable")
    number = number_format(frame["estimate"].to_numpy(), frame["std_error"].to_numpy())
    p_name = {"two-sided": "P>|t|", "greater": "P>t", "less": "P<t"}[results.alternative]
    low, high = _limit_names(alpha, results.alternative)
    shown: list[tuple[str, str, str]] = [(results.estimand.label, "estimate", number)]
    if (frame["mcse"] > 0).any():
        shown.append(("mcse", "mcse", number))
    shown.append(("std err", "std_error", number))
    if results.estimand.null is not None:
        shown += [("t", "statistic", "%.3f"), (p_name, "p_value", "%.3f")]
    shown += [(low, "conf_low", number), (high, "conf_high", number)]
    body = [
        [_cell(row[column], fmt) for _, column, fmt in shown]
        for row in frame.to_dict(orient="records")
    ]
    return [name for name, _, _ in shown], body, [str(term) for term in frame.index]


def _limit_names(alpha: float, alternative: str) -> tuple[str, str]:
    tail = alpha / 2 if alternative == "two-sided" else alpha
    return f"[{tail:.3g}", f"{1 - tail:.3g}]"


def _cell(value: Any, fmt: str) -> str:
    return "" if np.isnan(value) else fmt % value


def _notes(results: Shown) -> list[str]:
    first, *others = results.estimand.notes
    if results.estimand.exact and not (results.mcse > 0).any():
        first += f" {results.estimand.exact}"
    notes = [first, *others, results.variance.note]
    if results.p_adjust is not None:
        notes.append(f"P-values are adjusted ({results.p_adjust}); intervals are not.")
    if (results.mcse > 0).any():
        notes.append(
            "mcse: Monte Carlo error of using some of all permutations; "
            '`permutations="all"` has none.'
        )
    still = results.bse.index[results.bse == 0]
    if len(still):
        listed = ", ".join(map(str, still[:6])) + (", ..." if len(still) > 6 else "")
        notes.append(f"No interval for {listed}: {results.estimand.zero_variance}.")
    return notes
