"""Results of several estimands of one analysis, and differences of several results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_alpha
from pyinterp.data.features import check_names
from pyinterp.errors import InferenceError, OptionError
from pyinterp.representation import cached_table
from pyinterp.results.footnotes import Footnote, headings_of
from pyinterp.results.results import EstimandResults, ranks_of
from pyinterp.results.summary import TableOfEstimands, TableOptions
from pyinterp.results.table import Fact

if TYPE_CHECKING:
    from plotnine import ggplot
    from plotnine.composition import Compose


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
# Measures by squared loss, whatever the learner's loss, and those that are by no loss.
SQUARED, NO_LOSS = ("mvim", "cvim", "amvim"), ("firm", "entropy_pfi", "native", "population")


class SeveralResults(TableOfEstimands):
    """Results of several estimands: a subclass says which, and how they are drawn."""

    results: Mapping[str, EstimandResults]
    column = "measure"

    @property
    def parts(self) -> list[EstimandResults]:
        """The results, in the order of the table."""
        return list(self.results.values())

    @property
    def labels(self) -> list[str]:
        """What tables and plots call the parts: their labels, descriptions if these repeat."""
        return headings_of(self.parts)

    def glance(self) -> pd.DataFrame:
        """Return one row per part about the whole analysis, as R's broom does.

        Examples
        --------
        >>> importance.glance().iloc[:, :4]
                       estimand           learner  nobs  dropped
        0  MVIM (squared error)  LinearRegression   442        0
        1  CVIM (squared error)  LinearRegression   442        0
        """
        return pd.concat([part.glance() for part in self.parts], ignore_index=True)

    def summary_frame(self, alpha: float | None = None) -> pd.DataFrame:
        """Return the parts' summary frames below each other, with a column that names them.

        Examples
        --------
        >>> importance.summary_frame().iloc[:, :3].round(1)
             measure  estimate  std_error
        term
        age     MVIM       2.3        8.3
        bmi     MVIM    3031.5      529.2
        bp      MVIM     678.7      201.1
        age     CVIM       5.0        7.4
        bmi     CVIM    2445.4      431.0
        bp      CVIM     486.7      174.0
        """
        frames = [part.summary_frame(self.alpha if alpha is None else alpha) for part in self.parts]
        return pd.concat(frames, keys=self.labels, names=[self.column]).reset_index(self.column)


@dataclass(frozen=True, eq=False, repr=False)
class ImportanceResults(SeveralResults):
    """Importances of the same features, as ``importance()`` returns them.

    Attributes
    ----------
    results : mapping of str to EstimandResults
        By name, such as "cvim". For an object ``importances``, ``importances["cvim"]`` is one.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + age", data, LinearRegression())
    >>> importance = learner.fit(pi.Holdout(0.7), seed=1).importance(["mvim", "cvim"])
    >>> importance.params.round()
            mvim    cvim
    term
    age      2.0     5.0
    bmi   3031.0  2445.0
    bp     679.0   487.0
    """

    results: Mapping[str, EstimandResults]
    title = "Importance"

    def __getitem__(self, name: str) -> EstimandResults:
        return self.results[name]

    def _explanation(self) -> tuple[list[Fact], list[Footnote], dict[str, str]]:
        """Return the factor of CVIM and LOCO, and headings of squared loss beside another loss."""
        words = {name: part.estimand.words for name, part in self.results.items()}
        losses = {n: w.unit or w.details for n, w in words.items() if n not in (*NO_LOSS, "brier")}
        several = len({*losses.values()}) > 1
        squared = [w.label for name, w in words.items() if name in SQUARED and several]
        twice = "cvim" in losses and losses["cvim"] == losses.get("loco")
        notes = [Footnote("CVIM estimates twice LOCO's target.")] if twice else []
        return [], notes, {label: f"{label} (squared: not comparable)" for label in squared}

    @property
    def terms(self) -> pd.Index:
        """Names of the rows: the terms of the first measure, then those that others add."""
        names = dict.fromkeys(name for part in self.parts for name in part.exog_names)
        return pd.Index(list(names), name="term")

    @property
    def params(self) -> pd.DataFrame:
        """Estimates, one row per feature and one column per measure.

        Missing where a measure has no value for a feature.
        """
        return self._side_by_side("params")

    @property
    def bse(self) -> pd.DataFrame:
        """Standard errors, laid out like `params`."""
        return self._side_by_side("bse")

    @property
    def tvalues(self) -> pd.DataFrame:
        """Test statistics, laid out like `params`."""
        return self._side_by_side("tvalues")

    @property
    def pvalues(self) -> pd.DataFrame:
        """P-values, laid out like `params`."""
        return self._side_by_side("pvalues")

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return 1 - alpha intervals: per measure, a name in `params`, columns 0 and 1.

        Examples
        --------
        >>> importance.conf_int(alpha=0.1).round().loc["bmi"]
        mvim  0    2155.0
              1    3908.0
        cvim  0    1731.0
              1    3159.0
        Name: bmi, dtype: float64
        """
        return self._side_by_side("conf_int", alpha)

    def _side_by_side(self, name: str, *arguments: float) -> pd.DataFrame:
        """Return columns under the measures' names, one row per term of any measure."""
        numbers = (getattr(part, name) for part in self.parts)
        frames = [each(*arguments) if arguments else each for each in numbers]
        rows = [frame.reindex(self.terms) for frame in frames]
        joined: pd.DataFrame = pd.concat(rows, axis=1, keys=list(self.results))
        return joined

    def plot(self, alpha: float = 0.05, *, sort: bool = True, top: int | None = None) -> ggplot:
        """Plot estimates with their intervals, one color per measure.

        If they are in different units, or by different losses, measures have a panel each.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        sort : bool
            Draw features in decreasing order of the first measure, or else as in the data.
        top : int, optional
            How many features are drawn, the first in that order; by default all.

        Examples
        --------
        >>> plot = importance.plot()
        >>> plot.save("importance.png", width=5, height=3, verbose=False)
        """
        from pyinterp.results.plots.points import points  # noqa: PLC0415 - slow

        TableOptions(alpha, sort, top)
        panels = len({p.estimand.words.unit or p.estimand.words.details for p in self.parts}) > 1
        return points(self.parts, self.labels, alpha=alpha, sort=sort, top=top, panels=panels)


@dataclass(frozen=True, eq=False, repr=False)
class CurveResults(SeveralResults):
    """Curves of several variables, as ``pd()`` returns them.

    Attributes
    ----------
    results : mapping of str to EstimandResults
        By variable. For an object ``curves``, ``curves["bmi"]`` is one.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> res = learner.fit(pi.HalfSampling(5, pairs=5), seed=1)
    >>> curves = res.pd(["bmi", "bp"], together=False, points=2)
    >>> curves.params.round(1)
    term
    bmi[18]       79.5
    bmi[42.2]    285.0
    bp[62]       104.5
    bp[133]      204.5
    Name: estimate, dtype: float64
    """

    results: Mapping[str, EstimandResults]
    column = "variable"

    def __getitem__(self, name: str) -> EstimandResults:
        check_names([name], self.results, kind="curve", argument="results")
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def labels(self) -> list[str]:
        """Names of the variables."""
        return list(self.results)

    @property
    def params(self) -> pd.Series[float]:
        """Estimates of all curves, by term."""
        return pd.concat([part.params for part in self.parts])

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors of all curves, by term."""
        return pd.concat([part.bse for part in self.parts])

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return 1 - alpha intervals of all curves, by term.

        Examples
        --------
        >>> curves.conf_int(alpha=0.1).round(1)
                       0      1
        term
        bmi[18]     61.8   97.2
        bmi[42.2]  261.0  309.0
        bp[62]      93.8  115.2
        bp[133]    186.7  222.2
        """
        return pd.concat([part.conf_int(alpha) for part in self.parts])

    def plot(self, alpha: float = 0.05) -> Compose | ggplot:
        """Plot all curves in a grid of panels with one vertical scale.

        A category with more levels than a panel has lines has a separate column, to the right.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.

        Examples
        --------
        >>> plot = curves.plot()
        """
        from pyinterp.results.plots.curves import panels  # noqa: PLC0415 - slow

        return panels(self.parts, alpha=alpha)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CausalResults(SeveralResults):
    """What a feature would do if it were set, if the stated assumptions hold.

    Attributes
    ----------
    effects : EstimandResults
        Average effects against the first level or smallest value. ``effects.row_frame()`` has the
        CATE of every row.
    importance : EstimandResults
        MVIM and CVIM as mean squared effects, by plug-in, with their permutation estimates.
    share : EstimandResults
        CVIM / (2 V(Y)), the share of variance that the feature explains causally.
    rest : EstimandResults
        Shares of V(Y) of the other variables and of the residuals, and the remainder: the other
        terms of the causal decomposition of variance.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + age", data, LinearRegression())
    >>> causal = learner.fit(pi.Holdout(0.7), seed=1).causal("bmi", grid=[20, 30])
    >>> causal.effects.params.round(1).to_dict()
    {'bmi[20]': 0.0, 'bmi[30]': 85.6}
    """

    effects: EstimandResults
    importance: EstimandResults
    share: EstimandResults
    rest: EstimandResults
    title = "Causal reading"

    @property
    def parts(self) -> list[EstimandResults]:
        """The four results, in the order of the table."""
        return [self.effects, self.importance, self.share, self.rest]

    def plot(self, alpha: float = 0.05) -> ggplot:
        """Plot the average effects, with the effects of every row as thin curves.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.

        Examples
        --------
        >>> plot = causal.plot()
        >>> plot.save("causal.png", width=5, height=3, verbose=False)
        """
        return self.effects.plot(alpha)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UncertaintyResults(SeveralResults):
    """What each feature does to the likelihood and to the entropy of predictions.

    Attributes
    ----------
    likelihood, entropy, redundancy : EstimandResults
        Likelihood-PFI, entropy-PFI, and R²_j of every feature on the others.
    alpha : float
        Level of the intervals of `decisions`.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = pi.datasets.load_diabetes().eval("high = progression > 140")
    >>> learner = pi.Learner.from_formula("high ~ bmi + bp + age", data, LogisticRegression())
    >>> uncertainty = learner.fit(pi.Holdout(0.7), seed=1).uncertainty()
    >>> uncertainty.decisions.to_dict()
    {'age': 'redundant', 'bmi': 'informative and shared', 'bp': 'informative and shared'}
    """

    likelihood: EstimandResults
    entropy: EstimandResults
    redundancy: EstimandResults
    alpha: float = 0.05
    title = "Uncertainty"

    def __post_init__(self) -> None:
        check_alpha(self.alpha)

    @cached_table
    def decisions(self) -> pd.Series[str]:
        """One of the values of ``DECISIONS`` per feature, or "undecided".

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
        pairs = zip(informative.tolist(), shared.tolist(), strict=True)
        decisions = pd.Series([DECISIONS[pair] for pair in pairs], self.likelihood.params.index)
        return decisions.mask(undecided, NO_DECISION).rename("decision")

    @property
    def parts(self) -> list[EstimandResults]:
        """The three results, in the order of the table."""
        return [self.likelihood, self.entropy, self.redundancy]

    def summary_frame(self, alpha: float | None = None) -> pd.DataFrame:
        """Return the parts' summary frames below each other, with measure and decision.

        Examples
        --------
        >>> uncertainty.summary_frame()[["measure", "estimate", "decision"]].round(2).head(3)
             measure  estimate                decision
        term
        age    PFI_L      0.00               redundant
        bmi    PFI_L      0.19  informative and shared
        bp     PFI_L      0.05  informative and shared
        """
        frame = super().summary_frame(alpha)
        frame.insert(1, "decision", self.decisions.reindex(frame.index))
        return frame

    def plot(self) -> ggplot:
        """Plot entropy-PFI against likelihood-PFI with their intervals, colored by decision.

        Intervals have the level on which the decisions rest.

        Examples
        --------
        >>> plot = uncertainty.plot()
        >>> plot.save("uncertainty.png", width=5, height=3, verbose=False)
        """
        from pyinterp.results.plots.scatter import likelihood_and_entropy  # noqa: PLC0415 - slow

        return likelihood_and_entropy(self, alpha=self.alpha)

    def _explanation(self) -> tuple[list[Fact], list[Footnote], dict[str, str]]:
        """Return the features of every decision, and the meaning of decisions."""
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
        return legend, notes, {}


def _limits(results: EstimandResults, alpha: float) -> FloatArray:
    """Return limits of intervals, shape (q, 2); both 0 where a feature changes nothing."""
    limits = results.conf_int(alpha).to_numpy(np.float64)
    nothing = (results.params.to_numpy() == 0) & np.isnan(limits).any(axis=1)
    return np.where(nothing[:, None], 0.0, limits)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PopulationResults(EstimandResults):
    """Coefficients of the population, as ``population()`` returns them, and importances.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + age", data, LinearRegression())
    >>> population = learner.fit(pi.CrossValidation(5), seed=1).population()
    >>> population.relevance.pvalues.round(3).to_dict()
    {'age': 0.913, 'bmi': 0.0, 'bp': 0.0}
    """

    @property
    def importance(self) -> EstimandResults:
        """The share of V(y) that is lost without each feature: lower limits."""
        return next(one for one in self.diagnostics if one.estimand.words.label == "share")

    @property
    def relevance(self) -> EstimandResults:
        """The same, with the P that the mean response depends on the feature, given the others."""
        return self.diagnostics[-1]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ComparisonResults(EstimandResults):
    """Differences of results, as `pyinterp.compare` returns them.

    Attributes
    ----------
    learners : tuple of str
        Names of the learners or results that are compared.
    places : tuple of (int, int)
        Positions in `learners` of the two of every difference.
    better : {"smaller", "larger"} or None
        Which values of the compared quantity are better.
    quantity : str
        What is compared.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learners = {"linear": LinearRegression(), "mean": DummyRegressor()}
    >>> fits = {
    ...     name: pi.Learner.from_formula("progression ~ bmi + bp", data, learner).fit(seed=1)
    ...     for name, learner in learners.items()
    ... }
    >>> comparison = pi.compare(fits)
    >>> comparison.params.round().to_dict()
    {'linear - mean': -2377.0}
    """

    learners: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    better: Literal["smaller", "larger"] | None
    quantity: str

    def ranks(self, *, largest_first: bool | None = None) -> pd.DataFrame:
        """Return the probability of each rank for each learner: rank 1 is the best.

        Of several terms, such as the importances of two learners, differences are ranked as the
        terms of any results.

        Parameters
        ----------
        largest_first : bool, optional
            Whether the largest value has rank 1, or the smallest; by default the better.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        OptionError
            If it is not known which values are better, and `largest_first` does not say.
        InferenceError
            If a difference has no standard error.

        Examples
        --------
        >>> comparison.ranks().round(2)
        rank      1    2
        term
        linear  1.0  0.0
        mean    0.0  1.0
        """
        if len(self.places) != len(self.estimand.terms.names):
            return super().ranks(largest_first=largest_first is None or largest_first)
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
        cov = weights @ self.variance.cov @ weights.T
        return ranks_of(values, cov, self.df_resid, largest_first=largest)
