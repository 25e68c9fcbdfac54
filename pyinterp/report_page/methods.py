"""The paragraph of a page that says what was computed, for the methods section of a paper."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TypeAlias

from pyinterp.results.header import Context
from pyinterp.results.results import EstimandResults

__all__ = ["methods", "references"]

Tables: TypeAlias = Mapping[str, Sequence[EstimandResults]]


def methods(asked: Tables) -> str:
    """Return sentences on the data, the learner, its refits, every estimand and the intervals.

    Parameters
    ----------
    asked : mapping of str to list of EstimandResults
        What the page shows, by the key of its papers; the first has the variance that is
        described.
    """
    first = _first(asked)
    context = first.context
    sentences = [_data(context), _learner(context), _evaluation(context)]
    sentences += dict.fromkeys(
        f"{r.estimand.heading}: {r.estimand.meaning}" for some in asked.values() for r in some
    )
    if first.bse.gt(0).any():
        sentences.append(first.variance.note)
    sentences.append(f"Predictions of what-if rows: {first.engine.name}.")
    if context.seed is not None:
        sentences.append(f"Seed: {context.seed}.")
    return " ".join(filter(None, sentences))


def references(asked: Tables) -> list[str]:
    """Return the papers behind what was asked, each once, in the order of their first authors."""
    first, used = _first(asked), [method for method, several in asked.items() if several]
    if first.context.level == "learner":
        used += ["learner", first.cov_type]
    text = files("pyinterp.report_page").joinpath("references.toml").read_text("utf-8")
    papers = tomllib.loads(text)
    return sorted({paper for method in used for paper in papers.get(method, ())})


def _first(asked: Tables) -> EstimandResults:
    return next(results for several in asked.values() for results in several)


def _data(context: Context) -> str:
    what = f"The response {context.endog_name}" if context.endog_name else "A model"
    parts = [f"{what} was analyzed in {context.nobs} observations"]
    if context.weighting:
        parts.append(f", weighted by {context.weighting}")
    if context.dropped_rows:
        parts.append(f"; {context.dropped_rows} others have missing values")
    return " ".join(filter(None, (f"{''.join(parts)}.", context.missing_note)))


def _learner(context: Context) -> str:
    name = context.specification or context.learner
    formula = f", with the formula “{context.formula}”" if context.formula else ""
    return f"The learner is {name}{formula}."


def _evaluation(context: Context) -> str:
    """Return how the learner was refitted, and which rows evaluate."""
    if context.level == "model":
        where = {
            "in sample": "the rows that trained it, so that its loss and importances are optimistic"
        }.get(context.where, "rows that it is given, as if they had not trained it")
        return f"One fitted model is interpreted on {where}; intervals do not allow for refits."
    text = (
        f"It was trained {context.refits} times, on {context.n_train:.0f} {context.unit} on "
        f"average, and evaluated on {context.n_evaluation:.0f} ({context.plan}, {context.where})"
    )
    if context.pairs:
        text += (
            f"; {context.pairs} pairs of refits on complementary halves of the data give "
            "standard errors"
        )
    return f"{text}. Estimates are means over refits."
