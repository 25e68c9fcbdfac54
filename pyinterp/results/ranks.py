"""Ranks of the terms of results, with the probability of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pyinterp.checks import check_alpha, check_flag
from pyinterp.inference import Variance
from pyinterp.inference.posterior import rank_probabilities
from pyinterp.parameters import takes
from pyinterp.results.footnotes import NotesOption
from pyinterp.results.summary import TableOptions, Tabular, summarize_frame
from pyinterp.results.table import Table

if TYPE_CHECKING:
    from plotnine import ggplot

DRAWS = 100_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranks(Tabular):
    """Probability of each rank for each term, as ``ranks()`` of results returns it.

    Attributes
    ----------
    probabilities : DataFrame
        A row per term, in the order of expected ranks, and a column per rank, which is 1 for the
        largest value, or for the smallest.
    mcse : float
        Largest Monte Carlo error of a probability; 0 if they are exact.
    description : str
        What is ranked.
    order : str
        What has rank 1.
    note : str
        How the probabilities are computed.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    >>> ranks = learner.fit(pi.HalfSampling(5, pairs=5), seed=1).pfi().ranks()
    >>> ranks.expected_ranks.round(2).to_dict()
    {'bmi': 1.02, 'bp': 1.99, 'sex': 2.99}
    """

    probabilities: pd.DataFrame
    mcse: float
    description: str
    order: str
    note: str

    @property
    def expected_ranks(self) -> pd.Series[float]:
        """Expected rank of every term."""
        ranks = np.arange(1, self.probabilities.shape[1] + 1)
        values = self.probabilities.to_numpy() @ ranks
        return pd.Series(values, index=self.probabilities.index, name="expected_rank")

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return intervals of ranks, from the alpha / 2 to the 1 - alpha / 2 quantile.

        Examples
        --------
        >>> ranks.conf_int()
              0  1
        term
        bmi   1  1
        bp    2  2
        sex   3  3
        """
        check_alpha(alpha)
        below = self.probabilities.to_numpy().cumsum(axis=1)
        levels = (alpha / 2, 1 - alpha / 2)
        limits = [1 + np.argmax(below >= level - 1e-12, axis=1) for level in levels]
        return pd.DataFrame(np.transpose(limits), index=self.probabilities.index)

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return expected rank, its interval and the probability of the first rank, by term.

        Examples
        --------
        >>> ranks.summary_frame().round(2)
              expected_rank  conf_low  conf_high  first
        term
        bmi            1.02         1          1   0.98
        bp             1.99         2          2   0.02
        sex            2.99         3          3   0.00
        """
        limits = self.conf_int(alpha).set_axis(["conf_low", "conf_high"], axis=1)
        first = self.probabilities.iloc[:, 0].rename("first")
        return pd.concat([self.expected_ranks, limits, first], axis=1)

    @takes()
    def summary(
        self,
        alpha: float = 0.05,
        *,
        title: str | None = None,
        notes: NotesOption = "short",
        decimals: int | None = None,
    ) -> Table:
        """Return a table of expected ranks, intervals and the probability of the first rank.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        {table}

        Examples
        --------
        >>> print(ranks.summary())
                                  Ranks with their uncertainty
        ================================================================================
        Estimand: PFI (squared error)                   Rank 1: largest
        ================================================================================
                                             expected rank    [0.025    0.975] P(rank 1)
        --------------------------------------------------------------------------------
        bmi                                           1.02         1         1     0.981
        bp                                            1.99         2         2     0.019
        sex                                           2.99         3         3     0.000
        ================================================================================
        <BLANKLINE>
        [1] Probabilities of ranks by the joint t distribution (5 df) of the estimates
            (half-sample). 100,000 draws, Monte Carlo error at most 0.00052.
        """
        TableOptions(alpha, title=title, notes=notes, decimals=decimals)
        number = f"%.{2 if decimals is None else decimals}f"
        low, high = f"[{alpha / 2:.3g}", f"{1 - alpha / 2:.3g}]"
        formats = {"expected rank": number, low: "%.0f", high: "%.0f", "P(rank 1)": "%.3f"}
        return summarize_frame(
            self.summary_frame(alpha).set_axis(list(formats), axis=1),
            formats,
            title=title or "Ranks with their uncertainty",
            facts=[("Estimand:", self.description), ("Rank 1:", self.order)],
            notes=[] if notes == "none" else [self.note],
        )

    def plot(self) -> ggplot:
        """Plot the probability of each rank for each term, as tiles.

        Examples
        --------
        >>> plot = ranks.plot()
        >>> plot.save("ranks.png", width=5, height=3, verbose=False)
        """
        from pyinterp.results.plots.tiles import rank_tiles  # noqa: PLC0415 - slow

        return rank_tiles(self)


def ranks_of(
    estimates: pd.Series[float], variance: Variance, largest_first: bool, description: str
) -> Ranks:
    """Return the ranks of estimates with this covariance."""
    check_flag("largest_first", largest_first)
    sign, df = (1.0 if largest_first else -1.0), variance.df
    values = sign * np.asarray(estimates, dtype=np.float64)
    shares, exact = rank_probabilities(values, variance.cov, df, draws=DRAWS, seed=0)
    places = pd.RangeIndex(1, len(shares) + 1, name="rank")
    order = np.argsort(shares @ places, kind="stable")
    error = 0.0 if exact else max(1 / DRAWS, float(np.sqrt((shares * (1 - shares)).max() / DRAWS)))
    how = "They are exact" if exact else f"{DRAWS:,} draws, Monte Carlo error at most {error:.2g}"
    return Ranks(
        probabilities=pd.DataFrame(shares[order], index=estimates.index[order], columns=places),
        mcse=error,
        description=description,
        order="largest" if largest_first else "smallest",
        note=(
            f"Probabilities of ranks by the joint t distribution ({df:.4g} df) of the estimates "
            f"({variance.label}). {how}."
        ),
    )
