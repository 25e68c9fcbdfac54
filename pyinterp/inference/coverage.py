"""What simulations say about the coverage of nominal 95% intervals: `coverage.csv`, and its words.

A test holds the rows against ``studies/results``.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple

__all__ = ["Coverage", "coverage_of", "coverages"]

# Where a row comes from. Molnar et al. (2021, section 8); our repetition of it, for what the paper
# does not print; our studies of half-sampling. Skewed outcomes and small trees were studied with
# intervals that were up to a tenth narrower.
# Of predictive uncertainty the range is over single features, not over means of them.
SENTENCES = {
    "published": (
        "In simulations by Molnar et al. (2021; 15 refits, n = 100 and 1,000) nominal 95% "
        "intervals of this kind covered {share}."
    ),
    "repeated": (
        "In simulations (the processes of Molnar et al. 2021; 15 refits, n = 100 and 1,000) "
        "nominal 95% intervals of this kind covered {share}."
    ),
    "studied": (
        "In simulations (linear models, trees, forests and boosting; n = 100 to 5,000) nominal 95% "
        "intervals covered {share}, less for very skewed outcomes and small single trees; they "
        "are wide for {wide_for}."
    ),
    "uncertainty": (
        "In simulations (both processes of Wood et al. 2024, section 3.4.1, each with two "
        "learners; n = 100 and 200) nominal 95% intervals of single features covered {share}; "
        "they are wide for {wide_for}."
    ),
}


class Coverage(NamedTuple):
    """The smallest and the largest coverage of a kind of interval over the settings of a study.

    Attributes
    ----------
    estimand : str
        As estimands name it in their field `coverage`.
    cov_type, plan : str
        The variance and the plan of resampling.
    lowest, highest : int
        Percent of intervals that contain the truth.
    source : str
        A key of `SENTENCES`.
    wide_for : str
        What intervals are wider for than they need be.
    """

    estimand: str
    cov_type: str
    plan: str
    lowest: int
    highest: int
    source: str
    wide_for: str

    @property
    def share(self) -> str:
        """The range, such as "94-99%"."""
        return f"{self.lowest}-{self.highest}%"

    def __str__(self) -> str:
        return SENTENCES[self.source].format(share=self.share, wide_for=self.wide_for)


@cache
def coverages() -> tuple[Coverage, ...]:
    """Return all rows of the table."""
    text = resources.files("pyinterp.inference").joinpath("coverage.csv").read_text("utf-8")
    _, *rows = csv.reader(text.splitlines())
    return tuple(
        Coverage(estimand, cov_type, plan, int(lowest), int(highest), source, wide_for)
        for estimand, cov_type, plan, lowest, highest, source, wide_for in rows
    )


def coverage_of(estimand: str, cov_type: str, plan: str) -> Coverage | None:
    """Return what is known about the intervals of an estimand; None if nothing is."""
    for row in coverages():
        if (row.estimand, row.cov_type, row.plan) == (estimand, cov_type, plan):
            return row
    return None
