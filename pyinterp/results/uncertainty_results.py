"""Likelihood- and entropy-PFI together: what features are for predictive uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_alpha
from pyinterp.results.footnotes import Footnote
from pyinterp.results.results import EstimandResults
from pyinterp.results.table import Fact
from pyinterp.results.together import SeveralResults

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["DECISIONS", "NO_DECISION", "UncertaintyResults"]

# By whether likelihood-PFI is above 0, and whether entropy-PFI differs from 0.
DECISIONS = {
    (True, False): "informative and independent",
    (True, True): "informative and shared",
    (False, True): "redundant",
    (False, False): "unused",
}
# An interval is missing, or an informative feature leaves the entropy as it is.
NO_DECISION = "undecided"
SENTENCES = {
    "informative and independent": (
        "without it responses are less likely, and no change is seen in how sure the model is: no "
        "sign that other features carry its information."
    ),
    "informative and shared": (
        "without it responses are less likely, and how sure the model is depends on whether it "
        "agrees with the others: they carry some of its information."
    ),
    "redundant": (
        "no loss of likelihood is seen without it, but how sure the model is depends on whether it "
        "agrees with the others: to this model it adds nothing to them that is seen here."
    ),
    "unused": (
        "neither is seen to change: the model does not use it, or not enough to be seen here."
    ),
    NO_DECISION: (
        "an interval is missing, or the model is equally sure whatever the feature's value, so "
        "that entropy can't tell whether others carry its information."
    ),
}
# Nats: entropies that differ by less are the same but for rounding.
SAME = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UncertaintyResults(SeveralResults):
    """What each feature does to the likelihood and to the entropy of predictions.

    Attributes
    ----------
    likelihood, entropy, redundancy : EstimandResults
        Likelihood-PFI, entropy-PFI, and R²_j of every feature on the others.
    alpha : float
        Level of the intervals of `decisions`.
    """

    likelihood: EstimandResults
    entropy: EstimandResults
    redundancy: EstimandResults
    alpha: float = 0.05
    title = "Uncertainty"

    def __post_init__(self) -> None:
        check_alpha(self.alpha)

    @cached_property
    def decisions(self) -> pd.Series[str]:
        """One of the values of `DECISIONS` per feature, or "undecided".

        A feature is informative if the whole interval of its likelihood-PFI is above 0, and shared
        if the interval of its entropy-PFI does not contain 0. "Not" means not told from 0 at this
        sample size. It is undecided if an interval is missing, unless the feature changes nothing;
        and if it is informative but leaves the entropy the same, as does every feature of a model
        that is equally sure of all rows.
        """
        likelihood = _limits(self.likelihood, self.alpha)
        entropy = _limits(self.entropy, self.alpha)
        informative = likelihood[:, 0] > 0
        shared = (entropy[:, 0] > 0) | (entropy[:, 1] < 0)
        undecided = np.isnan(likelihood + entropy).any(axis=1)
        undecided |= informative & (np.abs(entropy) < SAME).all(axis=1)
        values = [
            NO_DECISION if u else DECISIONS[bool(i), bool(s)]
            for u, i, s in zip(undecided, informative, shared, strict=True)
        ]
        return pd.Series(values, index=self.likelihood.params.index, name="decision")

    @property
    def sentences(self) -> pd.Series[str]:
        """A sentence per feature."""
        sentences = [f"{name}: {d}; {SENTENCES[d]}" for name, d in self.decisions.items()]
        return pd.Series(sentences, index=self.decisions.index, name="sentence")

    @property
    def parts(self) -> list[EstimandResults]:
        """The three results, in the order of the table."""
        return [self.likelihood, self.entropy, self.redundancy]

    def summary_frame(self, alpha: float | None = None) -> pd.DataFrame:
        """Return the parts' summary frames below each other, with measure and decision."""
        frame = super().summary_frame(alpha)
        frame.insert(1, "decision", self.decisions.reindex(frame.index))
        return frame

    def plot(self) -> ggplot:
        """Plot entropy-PFI against likelihood-PFI with their intervals, colored by decision.

        Intervals have the level on which the decisions rest.
        """
        from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

        return plots.likelihood_and_entropy(self, alpha=self.alpha)

    def _explanation(self) -> tuple[list[Fact], list[Footnote]]:
        """Return the features of every decision, and what decisions mean."""
        level = f"{100 * (1 - self.alpha):g}%"
        rule = (
            f"Informative: the {level} interval of likelihood-PFI is above 0. Shared: that of "
            "entropy-PFI does not contain 0."
        )
        limit = (
            "What is not told from 0 may still differ from it; unless intervals are simultaneous, "
            "some of many features are put in the wrong place."
        )
        legend, notes = [], [Footnote(rule, limit)]
        for decision, sentence in SENTENCES.items():
            terms = self.decisions.index[self.decisions == decision]
            if len(terms):
                legend.append((f"{decision.capitalize()}:", ", ".join(map(str, terms))))
                notes.append(Footnote("", f"{decision.capitalize()}: {sentence}"))
        return legend, notes


def _limits(results: EstimandResults, alpha: float) -> FloatArray:
    """Return limits of intervals, shape (q, 2); both 0 where a feature changes nothing."""
    limits = results.conf_int(alpha).to_numpy(dtype=np.float64)
    nothing = (results.params.to_numpy() == 0) & np.isnan(limits).any(axis=1)
    return np.where(nothing[:, None], 0.0, limits)
