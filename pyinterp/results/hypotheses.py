"""Tables of hypotheses: linear ones about terms, with their tests."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from statsmodels.stats.contrast import ContrastResults

from pyinterp._typing import MeanRelation
from pyinterp.checks import check_alpha, is_list
from pyinterp.errors import InferenceError, OptionError, list_of, quote
from pyinterp.inference import TermInference
from pyinterp.inference.contrasts import SCALES, Place
from pyinterp.inference.sample_size import frame_of_sizes, sizes_of
from pyinterp.results.footnotes import Footnote, NotesOption, in_words
from pyinterp.results.summary import STD_ERR, TableOptions, Tabular, block_of
from pyinterp.results.table import Fact, Table

if TYPE_CHECKING:
    from plotnine import ggplot


class Contrasts(Tabular, ContrastResults):  # type: ignore[misc]  # statsmodels has no types
    """Tests of linear hypotheses.

    Attributes
    ----------
    effect, sd : ndarray of shape (k,)
        Estimates of the contrasts and their standard errors.
    tvalue, pvalue : ndarray
    title : str
    facts : tuple of (str, str)
        What the header of the table says.
    notes : tuple of Footnote
        On the estimates, how p-values are adjusted, and which alternative is tested.
    alternative : {"two-sided", "greater", "less"}
    relation : {"difference", "ratio", "odds ratio"}
        `sd`, `tvalue` and `pvalue` of a ratio are computed for its logarithm.
    nobs : int
        Rows of the analysis; 0 for ratios and importances, whose `sample_size` is not defined.
    n_clusters : int
        Clusters of the analysis; 0 without.
    """

    def __init__(
        self,
        inference: TermInference,
        places: Sequence[Place],
        *,
        names: Sequence[str],
        title: str,
        facts: Sequence[Fact],
        notes: Sequence[Footnote],
        relation: MeanRelation = "difference",
        nobs: int = 0,
        n_clusters: int = 0,
    ) -> None:
        """Take every hypothesis from its place: an inference, a position there, and a weight.

        A negative weight turns the sign of t; P is already that of the opposite side.
        """
        self.relation, self.nobs, self.n_clusters = relation, nobs, n_clusters
        effect = np.array([weight * of.estimate[j] for of, j, weight in places])
        super().__init__(
            effect=np.exp(effect) if relation in SCALES else effect,
            t=np.array([np.sign(weight) * of.statistic[j] for of, j, weight in places]),
            sd=np.array([abs(weight) * of.bse[j] for of, j, weight in places]),
            df_denom=inference.variance.df,
        )
        self.pvalue = np.squeeze([of.p_values[j] for of, j, _ in places])
        for numbers in (self.effect, self.sd, self.tvalue, self.pvalue):
            numbers.setflags(write=False)
        self.title, self.facts, self.notes = title, tuple(facts), tuple(notes)
        self._inference, self._places = inference, places
        self.alternative = inference.alternative
        self.c_names = tuple(names)

    def state_on_file(self) -> dict[str, Any]:
        """Return the arguments that made it, which files keep."""
        own = {"inference": self._inference, "places": self._places, "names": self.c_names}
        names = ("title", "facts", "notes", "relation", "nobs", "n_clusters")
        return own | {name: getattr(self, name) for name in names}

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return 1 - alpha intervals of the effects, as `EstimandResults.conf_int`."""
        check_alpha(alpha)
        each = [np.sort(weight * of.interval(alpha)[j]) for of, j, weight in self._places]
        limits = np.exp(each) if self.relation in SCALES else each
        return pd.DataFrame(limits, pd.Index(self.c_names, name="hypothesis"))

    def sample_size(
        self,
        *,
        width: float | None = None,
        effect: float | None = None,
        power: float = 0.8,
        alpha: float = 0.05,
    ) -> pd.DataFrame:
        """Return how many rows an interval or a test needs, as `EstimandResults.sample_size`.

        Give `width`, from the lower to the upper limit of 1 - alpha intervals; or `effect`, the
        true contrast that the test finds with probability `power`.

        Raises
        ------
        InferenceError
            For ratios and importances, whose errors change with the effect.
        """
        if not self.nobs:
            raise InferenceError(
                "`sample_size` is of differences of means or slopes, and of a table's terms: "
                "errors of ratios and of contrasts of importances change with the effect."
            )
        found = []
        for of, j, weight in self._places:
            size, least = (None if x is None else x / abs(weight) for x in (width, effect))
            found.append(sizes_of(of, self.nobs, alpha, size, least, power)[j])
        names = pd.Index(self.c_names, name="hypothesis")
        return frame_of_sizes(found, names, self.nobs, self.n_clusters)

    def summary_frame(
        self, xname: Sequence[str] | None = None, alpha: float = 0.05
    ) -> pd.DataFrame:
        """Return the tests as a frame, columns named as in `EstimandResults.summary_frame`.

        Of ratios, ``std_error`` is that of the logarithm.
        """
        limits, names = self.conf_int(alpha).to_numpy(), self.c_names if xname is None else xname
        if not is_list(names) or len(names := list(names)) != len(self.c_names):
            raise OptionError(
                f"`xname` must be a list of names, one for each of {len(self.c_names)} hypotheses, "
                f"not {quote(xname)}."
            )
        return pd.DataFrame(
            {
                "estimate": self.effect,
                "std_error": self.sd,
                "statistic": self.tvalue,
                "p_value": np.atleast_1d(self.pvalue),
                "conf_low": limits[:, 0],
                "conf_high": limits[:, 1],
            },
            index=pd.Index(names, name="hypothesis"),
        )

    def plot(self, alpha: float = 0.05) -> ggplot:
        """Return a plotnine plot of the hypotheses with 1 - alpha intervals."""
        from pyinterp.results.plots.points import hypotheses  # noqa: PLC0415 - plotnine is slow

        check_alpha(alpha)
        side = "" if self.alternative == "two-sided" else "one-sided "
        words = f"{100 * (1 - alpha):g}% {side}intervals. {self._places[0][0].note}".strip()
        of_zero = not any(of.null[j] for of, j, _ in self._places)
        return hypotheses(self, alpha, words, of_zero=of_zero)

    def summary(
        self,
        xname: Sequence[str] | None = None,
        alpha: float = 0.05,
        title: str | None = None,
        *,
        notes: NotesOption = "short",
        decimals: int | None = None,
    ) -> Table:
        """Return the tests as a table; options are as of other tables."""
        options = TableOptions(alpha, title=title, notes=notes, decimals=decimals)
        frame, below = self.summary_frame(xname, alpha), list(self.notes)
        # Beside contrasts single importances keep the limits of their table, as a note says.
        of = min((at for at, *_ in self._places), key=attrgetter("variance.varies_as_square"))
        ratio = self.relation.replace("odds", "marginal odds") if self.relation in SCALES else ""
        if of.note and of.variance.of_t:
            quantiles = list_of(sorted({f"{at.quantile(alpha):.4f}" for at, *_ in self._places}))
            below.append(Footnote(f"Limits take {quantiles} as the quantile of t."))
        table = block_of(
            frame,
            of,
            options,
            list(map(str, frame.index)),
            heading=ratio or "coef",
            error="s.e. of log" if ratio else STD_ERR,
            tested=bool(frame["p_value"].notna().any()),
        )
        return Table(
            [table],
            [] if notes == "none" else [n.text for n in in_words(below, notes == "full")],
            title=self.title if title is None else title,
            facts=self.facts,
        )
