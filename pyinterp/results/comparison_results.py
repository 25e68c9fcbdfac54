"""Results of a comparison of learners: differences, and which learner is best."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
import pandas as pd

from pyinterp.errors import InferenceError, OptionError
from pyinterp.results.ranks import Ranks, ranks_of
from pyinterp.results.results import EstimandResults

__all__ = ["ComparisonResults"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ComparisonResults(EstimandResults):
    """Differences of results, as `pyinterp.compare` returns them.

    Attributes
    ----------
    learners : tuple of str
        Names of what is compared.
    places : tuple of (int, int)
        Positions in `learners` of the two of every difference.
    better : {"smaller", "larger"} or None
        Which values of what is compared are better.
    quantity : str
        What is compared.
    """

    learners: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    better: Literal["smaller", "larger"] | None
    quantity: str

    @classmethod
    def of(
        cls,
        results: EstimandResults,
        learners: tuple[str, ...],
        places: tuple[tuple[int, int], ...],
        base: EstimandResults,
    ) -> ComparisonResults:
        """Return differences as results of a comparison."""
        parts = {field.name: getattr(results, field.name) for field in fields(EstimandResults)}
        better, quantity = base.estimand.parameter.better, base.estimand.description
        return cls(**parts, learners=learners, places=places, better=better, quantity=quantity)

    def ranks(
        self, *, largest_first: bool | None = None, draws: int = 100_000, seed: int = 0
    ) -> Ranks:
        """Rank the learners, with the probability of each rank for each: that of 1 is of the best.

        Of several terms, such as the importances of two learners, differences are ranked as the
        terms of any results.

        Parameters
        ----------
        largest_first : bool, optional
            Whether rank 1 is that of the largest value, or of the smallest; by default the better.
        draws : int
            For more than two learners, how many draws; two are exact.
        seed : int
            Of the draws.

        Returns
        -------
        Ranks

        Raises
        ------
        OptionError
            If it is not known which values are better, and `largest_first` does not say.
        InferenceError
            If a difference has no standard error.
        """
        if len(self.places) != len(self.estimand.terms.names):
            first = True if largest_first is None else largest_first
            return super().ranks(largest_first=first, draws=draws, seed=seed)
        if largest_first is None and not self.better:
            raise OptionError(
                f"It is not known whether a larger or a smaller {self.quantity} is better: say "
                "whether rank 1 is that of the largest, `largest_first=True` or False."
            )
        largest = self.better == "larger" if largest_first is None else largest_first
        if self.bse.isna().any() or not self.df_resid > 0:
            raise InferenceError("Ranks need a standard error of every difference; some have none.")
        # Values of the learners, but for a constant: the reference has 0, each other minus its
        # difference from the reference.
        weights = np.zeros((len(self.learners), len(self.places)))
        for k, (one, other) in enumerate(self.places):
            if one == self.places[0][0]:
                weights[other, k] = -1.0
        values = pd.Series(weights @ self.params, index=pd.Index(self.learners, name="term"))
        variance = replace(self.variance, cov=weights @ self.variance.cov @ weights.T)
        return ranks_of(values, variance, largest, draws, seed, self.quantity)
