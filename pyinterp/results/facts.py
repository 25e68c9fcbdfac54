"""What headers of tables say about the analysis, and their lines as text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pyinterp.errors import short
from pyinterp.inference.digits import number_format

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["Fact", "facts_of", "header_lines", "header_rows"]

Fact: TypeAlias = tuple[str, str]
LONGEST_FORMULA = 100
LONG = 22  # characters of a value from which on it has a line of its own
ALONE = ["Formula:", "Learner:", "Weights:", "Clusters:", "Offset:"]
ALONE += ["Groups, rows:", "Subgroup, rows:"]
GAP = "  "


def facts_of(results: EstimandResults, estimand: str, *, date: bool) -> list[Fact]:
    """Return names and values of a table's header.

    Parameters
    ----------
    results : EstimandResults
    estimand : str
        What the table is of.
    date : bool
        Whether with the date. What no seed and no refit can change has neither.
    """
    context, fit = results.context, results.fit
    dropped = f" ({context.dropped_rows} dropped)" if context.dropped_rows else ""
    refits = str(context.refits)
    if context.pairs:
        apart = context.refits != 2 * context.pairs
        pairs = f"{context.pairs} pairs"
        refits = f"{context.refits}, and {pairs}" if apart else pairs
    if context.failed_refits:
        refits += f" ({context.failed_refits} failed)"
    facts = [
        ("Dep. variable:", context.endog_name),
        ("Estimand:", estimand),
        ("Formula:", short(context.formula, LONGEST_FORMULA)),
        ("Learner:", context.specification or context.learner),
        ("Groups, rows:", context.groups),
        ("Subgroup, rows:", context.subgroup),
        ("No. observations:", f"{context.nobs}{dropped}"),
        ("Weights:", context.weighting),
        ("Clusters:", context.clusters),
        ("Offset:", context.offset),
        ("Resampling:", context.plan),
    ]
    if context.n_train > 0:
        sizes = f"{context.n_train:.0f} / {context.n_evaluation:.0f}"
        facts += [("No. refits:", refits), (f"Train / evaluation {context.unit}:", sizes)]
    if fit is not None:
        number = number_format(np.array([fit.loss]), np.array([fit.bse]))
        spread = f" (s.e. {number % fit.bse})" if fit.bse > 0 else ""
        facts += [
            (f"{fit.kind}:", fit.name),
            (f"{fit.kind}, {context.where}:", f"{number % fit.loss}{spread}"),
            (f"{fit.share_name}, {context.where}:", fit.share_text),
        ]
    facts += [
        ("Df:", f"{results.df_resid:g}" if results.use_t else ""),
        ("Cov. type:", results.variance.label),
        ("Intervals for:", "" if results.has_test else "new rows only"),
        ("Engine:", context.engine.name),
    ]
    # Nothing was drawn: one model that was fitted elsewhere, and no draws of values.
    elsewhere = context.level == "model" and context.where == "evaluation rows"
    exact = bool(results.estimand.exact) and results.diagnostic is None
    if not (elsewhere and exact and not (results.mcse > 0).any()):
        facts.append(("Seed:", "none" if context.seed is None else str(context.seed)))
        facts += [("Date:", context.date)] if date else []
    return [(name, value) for name, value in facts if value]


def header_rows(facts: Sequence[Fact], legend: Sequence[Fact]) -> list[tuple[Fact, ...]]:
    """Return the rows of a header: two short facts each, or one that is long or explains."""
    rows: list[tuple[Fact, ...]] = []
    room = False  # beside the last fact
    for fact in facts:
        long = fact[0] in ALONE or len(fact[1]) > LONG
        if room and not long:
            rows[-1] = (*rows[-1], fact)
        else:
            rows.append((fact,))
        room = not (room or long)
    return [*rows, *((fact,) for fact in legend)]


class _Settings(textwrap.TextWrapper):
    """Breaks lines at spaces, and after parentheses, as learners with their settings have."""

    wordsep_simple_re = re.compile(r"(\s+|(?<=\())")


def header_lines(
    facts: Sequence[Fact], legend: Sequence[Fact], width: int
) -> tuple[list[str], int]:
    """Return the header as lines of text, and how wide it is: at least `width` characters."""
    rows = header_rows(facts, legend)
    name = max((len(row[0][0]) for row in rows), default=0)
    pairs = [map(len, one + two) for one, two in (row for row in rows if len(row) == 2)]
    _, value, other, last = map(max, zip((0, 0, 0, 0), *pairs, strict=True))
    width = max(width, name + value + other + last + 2 + len(GAP))
    value += max(0, (width - name - value - other - last - 2 - len(GAP)) // 2)
    lines: list[str] = []
    for row in rows:
        if len(row) == 2:
            (one, text), (two, more) = row
            lines.append(f"{one:<{name}} {text:<{value}}{GAP}{two:<{other}} {more}")
            continue
        ((one, text),) = row
        lines_of = _Settings if one == "Learner:" else textwrap.TextWrapper
        wrapper = lines_of(width - name - 1, break_long_words=False, break_on_hyphens=False)
        first, *others = wrapper.wrap(text) or [""]
        lines += [f"{one:<{name}} {first}", *(f"{'':<{name}} {other}" for other in others)]
    return lines, width
