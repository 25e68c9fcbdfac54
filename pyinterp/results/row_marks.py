"""Rows of tables whose intervals are not to be trusted, with the words for their footnotes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from pyinterp.inference.half_sample.constants import SKEWED, UNUSED
from pyinterp.inference.half_sample.row_warnings import skewness, unused

if TYPE_CHECKING:
    from pyinterp._typing import FloatArray
    from pyinterp.results.results import EstimandResults

__all__ = ["Mark", "marks_of"]

# Level at which a value differs from the null value.
NOMINAL = 0.05
FEW_ROWS = (
    "Few rows decide {terms} (skewness of what rows contribute over root n; normal below "
    f"{SKEWED:g}): intervals may miss more often on one side."
)
FEW_REFITS = (
    "Never used in many refits on halves: {terms}. Nominal 95% intervals of such rows covered "
    "45 to 65% in simulations."
)


class Mark(NamedTuple):
    """A row with a warning.

    Attributes
    ----------
    row : (str, str)
        Label of the estimand, and term.
    warning : str
        The footnote, with a place for the terms.
    in_words : str
        The term and how much it is concerned.
    """

    row: tuple[str, str]
    warning: str
    in_words: str


def marks_of(results: EstimandResults) -> list[Mark]:
    """List the rows of a table that few of the data's rows decide, or few refits use."""
    if results.variance.reason or not results.variance.of_t:
        return []
    errors = np.asarray(results.bse > 0)
    # Not rows whose interval holds the null value: intervals of what does not matter are wide.
    differs = errors if results.null is None else np.asarray(results.pvalues < NOMINAL)
    skewed = skewness(results.replicates)
    share = unused(results.replicates)
    return [
        *_marks(results, FEW_ROWS, skewed, errors & differs & (skewed > SKEWED), "{:.2f}"),
        *_marks(results, FEW_REFITS, share, errors & (share > UNUSED), "{:.0%}"),
    ]


def _marks(
    results: EstimandResults,
    warning: str,
    values: FloatArray,
    which: npt.NDArray[np.bool_],
    number: str,
) -> list[Mark]:
    terms, label = results.exog_names, results.estimand.label
    return [
        Mark((label, terms[j]), warning, f"{terms[j]} ({number.format(values[j])})")
        for j in np.flatnonzero(which)
    ]
