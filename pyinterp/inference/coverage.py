"""What simulations say about the coverage of nominal 95% intervals: `coverage.csv`, in words.

``studies/coverage_table.py`` makes the table from the results of the studies.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

__all__ = ["Coverage", "CoverageCase", "coverage_of", "coverages"]

SOURCES = {
    "published": "In simulations by Molnar et al. (2021; 15 refits) of ",
    "repeated": "In simulations (the processes of Molnar et al. 2021; 15 refits) of ",
    "battery": "In simulations of ",
    "uncertainty": "In simulations (the processes of Wood et al. 2024, section 3.4.1) of ",
}


class Coverage(NamedTuple):
    """What intervals of a kind covered in all settings of a study with one kind of learner.

    Attributes
    ----------
    estimand : str
        As estimands name it in their field `coverage`.
    loss : str
        Name of the loss; empty if there is none.
    learners : str
        Kind of learner, such as "forests".
    cov_type, plan : str
        The variance and the plan of resampling.
    n_low, n_high : int
        Numbers of rows.
    lowest, highest : int
        Percent of intervals that contain the truth: single terms for "battery" and "uncertainty",
        means over the terms of a setting for the others.
    data_sets : int
        The least number of simulated data sets of a term; 0 where terms are not told apart.
    source : str
        A key of `SOURCES`.
    """

    estimand: str
    loss: str
    learners: str
    cov_type: str
    plan: str
    n_low: int
    n_high: int
    lowest: int
    highest: int
    data_sets: int
    source: str

    @classmethod
    def of(cls, cells: Sequence[str]) -> Coverage:
        """Return a row of the table."""
        estimand, loss, learners, cov_type, plan, *numbers, source = cells
        low, high, lowest, highest, sets = map(int, numbers)
        first = estimand, loss, learners, cov_type, plan
        return cls(*first, low, high, lowest, highest, sets, source)


class CoverageCase(NamedTuple):
    """For what coverage is looked up.

    Attributes
    ----------
    estimand : sequence of str
        Names of its kind, the most special first.
    loss : str
    learners : str
    cov_type, plan : str
    n : int
        Number of rows.
    """

    estimand: Sequence[str]
    loss: str
    learners: str
    cov_type: str
    plan: str
    n: int


@cache
def coverages() -> tuple[Coverage, ...]:
    """Return all rows of the table."""
    text = resources.files("pyinterp.inference").joinpath("coverage.csv").read_text("utf-8")
    _, *rows = csv.reader(text.splitlines())
    return tuple(Coverage.of(row) for row in rows)


def coverage_of(case: CoverageCase) -> str:
    """Return what is known about the intervals of a case, in words; empty if nothing is.

    Of all learners that were studied where this one was not.
    """
    for estimand in case.estimand:
        wanted = (estimand, case.loss, case.cov_type, case.plan)
        rows = [r for r in coverages() if (r.estimand, r.loss, r.cov_type, r.plan) == wanted]
        if rows:
            return _sentence(case, [r for r in rows if r.learners == case.learners], rows)
    return ""


def _sentence(case: CoverageCase, same: Sequence[Coverage], others: Sequence[Coverage]) -> str:
    rows = same or others
    low, high = min(r.n_low for r in rows), max(r.n_high for r in rows)
    *kinds, last = sorted({r.learners for r in rows})
    learners = f"{', '.join(kinds)} and {last}" if kinds else last
    n = f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"
    beyond = "" if low <= case.n <= high else f"; here {case.n:,}"
    lowest, highest = min(r.lowest for r in rows), max(r.highest for r in rows)
    start = f"{SOURCES[rows[0].source]}{learners} ({n}{beyond}) nominal 95% intervals "
    if least := min(r.data_sets for r in rows):
        share = "100%" if lowest == 100 else f"{lowest}% or more"
        return f"{start}of every term covered {share} ({least} data sets or more each)."
    return f"{start}of this kind covered {lowest}-{highest}%."
