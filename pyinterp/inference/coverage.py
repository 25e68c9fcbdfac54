"""Results of simulations about the coverage of nominal 95% intervals: `coverage.csv`, in words.

``studies/coverage_table.py`` makes the table from the results of the studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

SOURCES = {
    "published": "In simulations by Molnar et al. (2021; 15 refits) of ",
    "repeated": "In simulations (the processes of Molnar et al. 2021; 15 refits) of ",
    "battery": "In simulations of ",
    "subgroups": "In simulations of subgroups and ",
    "clusters": "In simulations of 50 or 60 clusters and ",
    "weights": "In simulations with sampling weights and ",
    "uncertainty": "In simulations (the processes of Wood et al. 2024, section 3.4.1) of ",
}


class Coverage(NamedTuple):
    """How often intervals of a kind covered in all settings of a study with one kind of learner.

    Attributes
    ----------
    estimand : str
        As estimands name it in their field `coverage`.
    loss : str
        Name of the loss; empty for all losses together, and where there is none.
    learners : str
        Kind of learner, such as "forests".
    cov_type, plan : str
        The variance and the plan of resampling.
    n_low, n_high : int
        Numbers of rows.
    settings, terms : int
        How many settings, and terms in all of them.
    data_sets : int
        How many data sets were drawn, in all settings.
    mean : int
        Percent of intervals that contain the truth, on average over terms.
    nine_of_ten : int
        Percent that nine of ten terms reach: the first decile of the terms' coverages, shrunk
        towards their mean by their binomial noise.
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
    settings: int
    terms: int
    data_sets: int
    mean: int
    nine_of_ten: int
    source: str


@cache
def coverages() -> tuple[Coverage, ...]:
    """Return all rows of the table."""
    table = pd.read_csv(Path(__file__).with_name("coverage.csv"), keep_default_na=False)
    return tuple(map(Coverage._make, table.itertuples(index=False)))


@lru_cache(maxsize=256)  # every table of an analysis says the same
def coverage_of(
    estimand: tuple[str, ...], *, loss: str, learners: str, cov_type: str, plan: str, n: int
) -> str:
    """Return the known coverage of the intervals of a case, in words; empty if none is known.

    Of all learners that were studied where this one was not.

    Parameters
    ----------
    estimand : tuple of str
        Names of its kind, the most special first.
    loss, learners, cov_type, plan : str
    n : int
        Number of rows.
    """
    for name in estimand:
        rows = [
            row
            for row in coverages()
            if (row.estimand, row.cov_type, row.plan) == (name, cov_type, plan)
            and row.loss in ("", loss)
        ]
        if rows:
            return _sentence([row for row in rows if row.learners == learners] or rows, n)
    return ""


def _sentence(rows: Sequence[Coverage], n: int) -> str:
    """Return the footnote on simulated coverage that rows of the table tell together."""
    low, high = min(r.n_low for r in rows), max(r.n_high for r in rows)
    learners = " and ".join(", ".join(sorted({r.learners for r in rows})).rsplit(", ", 1))
    sizes = f"{low:,}" + f" to {high:,}" * (low < high) + f"; here {n:,}" * (not low <= n <= high)
    settings, terms, data_sets = map(sum, zip(*(r[7:10] for r in rows), strict=True))
    mean = round(sum(r.terms * r.mean for r in rows) / terms)
    return (
        f"{SOURCES[rows[0].source]}{learners} ({settings} setting{'s' * (settings > 1)}, {terms} "
        f"terms, {data_sets:,} data sets, n = {sizes}) nominal 95% intervals covered {mean}% on "
        f"average, and {min(r.nine_of_ten for r in rows)}% or more for nine terms of ten."
    )
