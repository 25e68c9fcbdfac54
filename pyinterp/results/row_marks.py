"""Rows of tables whose intervals are not to be trusted, with the words for their footnotes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pyinterp.inference.half_sample.constants import LARGEST_IDLE_SHARE, LARGEST_SKEWNESS
from pyinterp.inference.half_sample.row_warnings import idle_share, skewness

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["Mark", "marks_of"]

# Level at which a value differs from the null value.
NOMINAL = 0.05
FEW_ROWS = (
    "Few rows decide {terms} (skewness of what rows contribute over root n; normal below "
    f"{LARGEST_SKEWNESS:g}): of 2.5% of intervals 6% or more may miss on one side."
)
FEW_REFITS = (
    "Share of refits on halves that never use the feature: {terms}. 95% intervals of such rows "
    "covered 45 to 65% in simulations."
)


class Mark(NamedTuple):
    """A row with a warning.

    Attributes
    ----------
    row : (str, str)
        Heading of the block, and term.
    warning : str
        The footnote, with a place for the terms.
    in_words : str
        The term and how much it is concerned.
    """

    row: tuple[str, str]
    warning: str
    in_words: str


def marks_of(results: EstimandResults, heading: str) -> list[Mark]:
    """List the rows of a block that few of the data's rows decide, or few refits use."""
    variance = results.variance
    if variance.reason or not variance.of_t or variance.cov_type == "delta":  # rows as they are
        return []
    errors = np.asarray(results.bse > 0)
    # Not rows whose interval holds the null value: intervals of what does not matter are wide.
    differs = errors if results.null is None else np.asarray(results.pvalues < NOMINAL)
    skewed = skewness(results.replicates)
    share = idle_share(results.replicates)
    cases = (
        (FEW_ROWS, skewed, errors & differs & (skewed > LARGEST_SKEWNESS), "{:.2f}"),
        (FEW_REFITS, share, errors & (share > LARGEST_IDLE_SHARE), "{:.0%}"),
    )
    terms = results.exog_names
    return [
        Mark((heading, terms[j]), warning, f"{terms[j]} ({number.format(values[j])})")
        for warning, values, marked, number in cases
        for j in np.flatnonzero(marked)
    ]
