"""Results of one estimand: estimates, standard errors, tests, intervals, tables and plots."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import DifferenceKind, FloatArray, IntArray, MeanRelation
from pyinterp.checks import check_choice, check_flag, is_hashable
from pyinterp.data.features import check_names
from pyinterp.data.formula.coding import linear_hypotheses
from pyinterp.errors import InferenceError, OptionError, did_you_mean, list_of, quote
from pyinterp.estimands.estimand import Estimand, Terms
from pyinterp.inference import (
    COV_TYPES,
    Alternative,
    IntervalScale,
    Replicates,
    SquareVariance,
    TermInference,
    Variance,
)
from pyinterp.inference.contrasts import ONE_SQUARE, Hypotheses, contrasts
from pyinterp.inference.half_sample.variance import variance_parts
from pyinterp.inference.joint_tests import FlatTest, JointTest, flatness_test, wald_test
from pyinterp.inference.posterior import rank_probabilities
from pyinterp.inference.sample_size import frame_of_sizes, sizes_of
from pyinterp.parameters import takes
from pyinterp.representation import cached_table
from pyinterp.results.footnotes import Footnote, notes_of_tests
from pyinterp.results.header import LEVELS, Context, GoodnessOfFit
from pyinterp.results.hypotheses import Contrasts
from pyinterp.results.summary import TableOfEstimands, TableOptions, facts_of
from pyinterp.whatif import Engine

if TYPE_CHECKING:
    from plotnine import ggplot


Hypothesis = (
    str | list[str] | Mapping[str, float] | npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike]
)
Geom = Literal["auto", "dots", "bars", "forest", "curves", "tiles"]

LONGEST_SUM = 50  # characters of a contrast's name
NUMBER = re.compile(r"\d+\.?\d*")
# Standard errors below this share of the estimates' size are rounding, not sampling error.
ROUNDING = 1e-12

NO_COEFFICIENT = "it does not change with the model's coefficients"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EstimandResults(TableOfEstimands):
    """Estimates of one estimand with their inference.

    The methods of `LearnerResults` and of `FittedModel` return it. It is frozen: no method
    changes it.

    Attributes
    ----------
    estimand : Estimand
        The quantity that is estimated.
    replicates : Replicates
        Per-refit estimates and per-row contributions.
    variance : Variance
        Sampling covariance and degrees of freedom.
    context : Context
        Data, learner, resampling, seed and versions.
    fit : GoodnessOfFit or None
        Out-of-sample loss for the header.
    rows : ndarray of int
        Positions in the data of the rows that evaluate, one group after the other.
    labels : Index
        The user's names of these rows: the data's index.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of tests and side of intervals.
    p_adjust : str or None
        Adjustment of p-values for multiplicity.
    simultaneous : bool
        Whether intervals cover all terms at once.
    data : DataFrame
        Variables and response of all rows, for plots.
    diagnostic : EstimandResults or None
        A second estimand that says, by term, how far to trust the estimates.
    corrected_params : Series or None
        Estimates after the estimand's `correction` for bias, by term.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    >>> res = learner.fit(pi.HalfSampling(5, pairs=5), seed=1)
    >>> pfi = res.pfi()
    >>> pfi.bse.round(1).to_dict()
    {'sex': 52.2, 'bmi': 557.8, 'bp': 199.0}
    """

    estimand: Estimand
    replicates: Replicates
    variance: Variance
    context: Context
    fit: GoodnessOfFit | None
    rows: IntArray
    labels: pd.Index
    alternative: Alternative = "two-sided"
    p_adjust: str | None = None
    simultaneous: bool = False
    data: pd.DataFrame
    diagnostic: EstimandResults | None = None
    corrected_params: pd.Series[float] | None = None

    @property
    def diagnostics(self) -> list[EstimandResults]:
        """The diagnostic, and its own diagnostics in turn."""
        return [] if self.diagnostic is None else [self.diagnostic, *self.diagnostic.diagnostics]

    @property
    def warning_column(self) -> pd.Series[float]:
        """What stands next to another table, and is warned of: the estimates, or P."""
        ((name, *_), *_) = self.estimand.words.as_columns or (("estimate",),)
        return self.summary_frame()[name]

    @cached_table
    def params(self) -> pd.Series[float]:
        """Estimates: means over refits, by term."""
        return self._series(self.replicates.per_refit.mean(axis=0), "estimate")

    @cached_table
    def bse(self) -> pd.Series[float]:
        """Standard errors of `params`: sampling error of the stated estimand."""
        spread = np.sqrt(np.clip(np.diag(self.variance.cov), 0.0, None))
        size = np.abs(self.replicates.per_refit).max(axis=0)
        missing = np.isnan(self.params.to_numpy())
        one_row = self.context.level == "model" and self.nobs == 1
        if (one_row and self.variance.rows_only) or self.without_error:
            missing[:] = True
        errors = np.where(spread <= ROUNDING * size, 0.0, spread)
        return self._series(np.where(missing, np.nan, errors), "std_error")

    @cached_table
    def mcse(self) -> pd.Series[float]:
        """Monte Carlo errors of `params`, of some permutations or rows instead of all; else 0."""
        return self._series(np.sqrt(self.replicates.mc_variance), "mcse")

    @cached_table
    def tvalues(self) -> pd.Series[float]:
        """T statistics of the null value: deviations from it, divided by `bse_null`.

        Missing where `bse` is 0, for bootstraps, whose p-values come from percentiles, and for
        estimands without a natural null value, such as partial dependence and expected loss;
        `t_test` tests any value.
        """
        return self._series(self.inference.statistic, "statistic")

    @cached_table
    def pvalues(self) -> pd.Series[float]:
        """p-values of the null value, adjusted as `p_adjust` or `simultaneous` says.

        They invert the intervals of `conf_int`, but for adjustments that have no intervals.
        Missing where `bse` is 0.
        """
        return self._series(self.inference.p_values, "p_value")

    @cached_table
    def bse_null(self) -> pd.Series[float]:
        """Standard errors at the null value, by which `tvalues` divide; missing without one."""
        return self._series(self.inference.null_error, "std_error_null")

    @cached_table
    def row_warnings(self) -> pd.DataFrame:
        """The last two columns of `variance_parts`, which warn of terms, for any plan."""
        unused, skew = self.replicates.idle_share, self.replicates.skewness
        return pd.DataFrame({"unused": unused, "skewness": skew}, index=self._index)

    @cached_property
    def inference(self) -> TermInference:
        """Tests and intervals of the terms under the options of these results."""
        parameter = self.estimand.parameter
        null = np.full(len(self.params), parameter.null, np.float64)  # missing if there is none
        if self.estimand.terms.axes:  # a point that others are compared with has no test
            null[self.bse.to_numpy() == 0] = np.nan
        return TermInference(
            estimate=np.asarray(self.params, np.float64),
            bse=np.asarray(self.bse, np.float64),
            null=null,
            variance=self.variance,
            alternative=self.alternative,
            p_adjust=self.p_adjust,
            simultaneous=self.simultaneous,
            scale=IntervalScale(parameter.range),
            # A null value, and no effect, is an end of the range, where the scale ends too.
            symmetric=parameter.null is None and not self.variance.varies_as_square,
            share=parameter.share,
            has_test=self.has_test,
        )

    @cached_property
    def null(self) -> float | None:
        """Value under the null hypothesis of `tvalues`, if there is one that they test."""
        return self.estimand.parameter.null if self.has_test else None

    @cached_property
    def has_test(self) -> bool:
        """Whether hypotheses are tested: not of effects of a model that is taken as it is."""
        return not (self.estimand.parameter.effect and self.variance.rows_only)

    @cached_property
    def without_error(self) -> bool:
        """Whether there is no standard error at all: of no mean over rows, if only rows vary."""
        no_mean = self.estimand.basis != "rows" and self.context.level == "model"
        return no_mean and self.variance.rows_only

    @property
    def zero_variance(self) -> str:
        """Why a term has no variance if it has none."""
        if self.context.level != "model":
            return self.estimand.words.zero_variance
        return "every row contributes the same" if self.variance.rows_only else NO_COEFFICIENT

    def _state(self) -> dict[str, Any]:
        """Return the attributes by name."""
        return vars(replace(self))

    def state_on_file(self) -> dict[str, Any]:
        """Return the fields that files keep; footnotes by a function are texts."""
        words = self.estimand.words
        if not is_dataclass(words.remarks):
            words = replace(words, always=tuple(words.on(self.warning_column)), remarks=None)
        return {**self._state(), "estimand": replace(self.estimand, words=words)}

    @property
    def df_resid(self) -> float:
        """Degrees of freedom of t."""
        return self.variance.df

    @property
    def use_t(self) -> bool:
        """Whether tests are Student's t, not normal."""
        return bool(np.isfinite(self.df_resid))

    @property
    def nobs(self) -> int:
        """Number of rows analyzed."""
        return self.context.nobs

    @property
    def cov_type(self) -> str:
        """Type of the variance estimator."""
        return self.variance.cov_type

    @property
    def engine(self) -> Engine:
        """What computed the predictions, and its largest deviation from the model."""
        return self.context.engine

    @property
    def endog_names(self) -> str:
        """Name of the response."""
        return self.context.endog_name

    @property
    def exog_names(self) -> list[str]:
        """Names of the terms."""
        return list(self.estimand.terms.names)

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return 1 - alpha intervals; missing where `bse` is 0.

        Parameters
        ----------
        alpha : float
            Significance level; 0.05 gives 95% intervals. Intervals are one-sided if `alternative`
            of the result is not "two-sided". They cover all terms at once if the result is
            `simultaneous`, or adjusted by Bonferroni or Sidak.

        Returns
        -------
        pandas.DataFrame
            Columns 0 and 1, as in statsmodels.

        Examples
        --------
        >>> pfi.conf_int(alpha=0.1).round()
                   0       1
        term
        sex     -5.0   222.0
        bmi   1741.0  3995.0
        bp     441.0  1246.0
        """
        return pd.DataFrame(self.inference.interval(alpha), index=self._index)

    def sample_size(
        self,
        *,
        width: float | None = None,
        effect: float | None = None,
        power: float = 0.8,
        alpha: float = 0.05,
    ) -> pd.DataFrame:
        r"""Return how many rows an interval of a width needs, or a test of a power.

        Parameters
        ----------
        width : float, optional
            Of 1 - alpha intervals, from the lower to the upper limit, in units of the estimates.
            Intervals of importances also depend on the importance: give `effect` too.
        effect : float, optional
            The true distance from no effect that is worth finding, in units of the estimates, for
            the learner trained on 63.2% of the planned rows (the plan's share). A penalized
            learner uses a feature less on fewer rows, so do not go below the pilot's rows. The
            estimate never takes its place: it is too uncertain, and numbers would differ fivefold.
        power : float
            Probability that the two-sided test of no effect finds `effect`, between alpha and 1.
        alpha : float
            Of the interval or the test. `simultaneous` and `p_adjust` of these results divide it:
            for tests by Holm, Hommel and Hochberg as Bonferroni does, which bounds them.

        Returns
        -------
        pandas.DataFrame
            n, the rows of the whole analysis, by term. n_low and n_high hold it with 95%, as far as
            the standard error at hand is uncertain: with 15 pairs n times 0.55 and 2.40. Missing
            where nothing varies, and for importances whose t is below 1, which say too little.
            For an analysis of clusters, `clusters` is how many clusters of the same mean size have
            n rows.

        Raises
        ------
        OptionError
            If neither is given, or one that changes nothing, or no number or test has such a size.
        InferenceError
            For one-sided results, without standard errors, and for importances by another variance
            than the half-sample one.

        Notes
        -----
        Variances fall as 1 / rows, n' being the rows at hand:

        .. math:: n = n' \left(\frac{2 q\, \mathrm{se}}{\text{width}}\right)^2, \quad
            n = n' \left(\frac{\delta\, \mathrm{se}}{\text{effect}}\right)^2

        with q the quantile of t, and :math:`\delta` the noncentrality of the power. Importances
        have :math:`n' \max\{\delta^2 a,\, (q + z) v_0\} / \text{effect}` for a power, and the
        n for which :math:`4 q \sqrt{a (\text{effect} + a)}` is the width.

        That is so if the learner finds no more than now. Intervals of trees narrow more slowly:
        with four times the rows of a pilot some were 1.6 times as wide as said in simulations.

        Examples
        --------
        >>> pfi.sample_size(effect=400.0)
                n  n_low  n_high
        term
        sex   170.0   67.0  1021.0
        bmi   408.0  159.0  2451.0
        bp    298.0  116.0  1788.0
        >>> res.pd("bmi", grid=[30]).sample_size(width=10.0)
                      n  n_low  n_high
        term
        bmi[30]  1299.0  506.0  7810.0
        """
        square, grows = (
            self.variance.varies_as_square,
            self.estimand.parameter.no_effect is not None,
        )
        if grows and not square and self.bse.gt(0).any():
            raise InferenceError(
                "The standard error of an importance grows with it, and this variance "
                f"({self.variance.label}) does not say how far: use the half-sample variance of "
                "`pi.HalfSampling()`, the default."
            )
        rows = sizes_of(self.inference, self.nobs, alpha, width, effect, power)
        return frame_of_sizes(rows, self._index, self.nobs, self.context.n_clusters)

    def ranks(self, *, largest_first: bool = True) -> pd.DataFrame:
        """Return the probability of each rank for each term.

        The truth is taken as jointly t around the estimates, with their covariance and `df_resid`
        degrees of freedom (normal if these are infinite): a probability says how certain the order
        is, given the errors of the estimates. Of two terms it is exact; of more it is the share of
        100,000 draws, the same each time.

        Parameters
        ----------
        largest_first : bool
            Whether the largest value has rank 1, or the smallest.

        Returns
        -------
        pandas.DataFrame
            A row per term, in the order of expected ranks, and a column per rank.

        Raises
        ------
        OptionError
            For a curve or a surface.
        InferenceError
            If a term has no estimate or no standard error.

        Examples
        --------
        >>> pfi.ranks().round(2)
        rank     1     2     3
        term
        bmi   0.98  0.02  0.00
        bp    0.02  0.97  0.01
        sex   0.00  0.01  0.99
        """
        if self.estimand.terms.axes:
            raise OptionError(
                "`ranks` is for one value per feature, as importances have, not for a curve or a "
                f"surface: {self.estimand.description}."
            )
        missing = self.params.index[self.bse.isna() | self.params.isna()]
        if len(missing) or not self.df_resid > 0:
            raise InferenceError(
                "Ranks need an estimate and a standard error of every term, but "
                f"`{[*missing, *self.params.index][0]}` has none."
            )
        certain = self.bse.to_numpy() == 0
        cov = np.where(certain | certain[:, None], 0.0, self.variance.cov)
        return ranks_of(self.params, cov, self.df_resid, largest_first=largest_first)

    def cov_params(self, r_matrix: Hypothesis | None = None) -> pd.DataFrame:
        """Return the sampling covariance of the estimates, or of contrasts of them.

        Parameters
        ----------
        r_matrix : array of shape (k, q), or as in `t_test`, optional
            Weights of k contrasts; their covariance is returned.

        Examples
        --------
        >>> pfi.cov_params().round()
        term      sex       bmi       bp
        term
        sex    2723.0   18266.0  -1478.0
        bmi   18266.0  311100.0 -63907.0
        bp    -1478.0  -63907.0  39601.0
        """
        cov = pd.DataFrame(self.variance.cov, self._index, self._index, copy=True)
        if r_matrix is None:
            return cov
        weights = self._constraint(r_matrix).weights
        return pd.DataFrame(weights @ self.variance.cov @ weights.T)

    def variance_parts(self) -> pd.DataFrame:
        """Return the parts of the half-sample variance, one row per term.

        Returns
        -------
        pandas.DataFrame
            estimate; m and M, the numbers of refits and pairs; A, S and s2_m (s²/m); g, r and
            growth_ratio, the factors that serve importances, and ratios alone; variance, at the
            estimate, and variance_null, the measured one at the null value. From these numbers
            ``half_sample.variance`` and ``half_sample.square`` make the table. unused: the share of
            half refits that never use the feature; skewness: of the rows' contributions over
            the root of their number.

        Raises
        ------
        InferenceError
            For another plan than ``HalfSampling``.

        Examples
        --------
        >>> pfi.variance_parts()[["estimate", "m", "M", "variance", "variance_null"]].round()
              estimate  m  M  variance  variance_null
        term
        sex       49.0  5  5    2723.0          706.0
        bmi     2725.0  5  5  311100.0        11670.0
        bp       780.0  5  5   39601.0         6209.0
        """
        variance = COV_TYPES["half-sample"](self.replicates)
        parts = variance_parts(self.replicates)
        at_null = variance.at_no_effect**2 if isinstance(variance, SquareVariance) else np.nan
        return pd.DataFrame(
            {
                "estimate": self.params,
                "m": self.replicates.number,
                "M": len(self.replicates.evaluations.pairs),
                "A": np.diag(parts.A),
                "S": parts.S,
                "s2_m": np.diag(parts.by_refits),
                "g": parts.growth,
                "r": parts.mean_share,
                "growth_ratio": parts.ratio_growth if self.replicates.relative else np.nan,
                "variance": np.diag(variance.cov),
                "variance_null": at_null,
            },
            index=self._index,
        ).join(self.row_warnings)

    def t_test(self, hypotheses: Hypothesis) -> Contrasts:
        """Test linear hypotheses about the terms, as in statsmodels.

        Parameters
        ----------
        hypotheses : str, sequence of str, mapping, array of shape (k, q), or pair of arrays
            For example ``"alcohol = sulphates"``, ``"alcohol - sulphates = 0.1, pH = 0"``, a list
            of such, ``{"pH": 0}``, contrast weights (each tested against 0), or weights and the
            values that they are tested against.

        Returns
        -------
        statsmodels.stats.contrast.ContrastResults
            With ``effect``, ``sd``, ``tvalue``, ``pvalue``, ``conf_int()``, ``summary()``,
            ``summary_frame()`` and ``to()``. `alternative`, `p_adjust` and `simultaneous` are as in
            these results. A hypothesis about one term has the statistic, p-value and interval that
            tables print; contrasts of several terms are t tests, adjusted among each other, those
            of importances with a standard error for each side (Zou and Donner 2008).

        Raises
        ------
        OptionError
            If the hypotheses can't be read.
        InferenceError
            If a term has no estimate, or the contrast no variance.

        Examples
        --------
        >>> pfi.t_test("bmi = bp").tidy().iloc[:, :5].round(3)
          hypothesis  estimate  std_error  statistic  p_value
        0   bmi = bp  1944.995    691.747      3.031    0.029
        """
        return self._tests(self._constraint(hypotheses))

    def wald_test(self, hypotheses: Hypothesis) -> JointTest:
        r"""Test linear hypotheses about the terms together.

        .. math:: F = \frac{\nu - k + 1}{\nu k} d^\top V^+ d \sim F(k, \nu - k + 1)

        Here d holds the deviations from k hypotheses. V is the covariance of d, with :math:`\nu`
        degrees of freedom (Hotelling's distribution). For one hypothesis F is the square of the t
        of `t_test`.

        Importances are not normal at 0. With half-sampling, hypotheses about single importances
        therefore have a Bonferroni test: its statistic is the largest \|t\|, and its P is the
        smallest P times the number of hypotheses. Hypotheses that mix single importances and
        contrasts have F, which rejects too often at 0. The options `p_adjust` and `simultaneous`
        change nothing here.

        Parameters
        ----------
        hypotheses : str, sequence of str, mapping, array of shape (k, q), or pair of arrays
            As for `t_test`.

        Returns
        -------
        JointTest
            With ``statistic``, ``pvalue``, ``df_num``, ``df_denom``, ``method`` ("F" or
            "Bonferroni"), ``sentence`` and ``summary()``, the table of the hypotheses; ``fvalue``
            is the statistic of F tests.

        Raises
        ------
        OptionError
            If the hypotheses can't be read.
        InferenceError
            If a term has no estimate or no variance, there are more hypotheses than degrees of
            freedom, they contradict each other, or the alternative is one-sided.

        Examples
        --------
        >>> pfi.wald_test("bmi = bp, sex = 0").sentence
        'F test: F(2, 4) = 3.210, P = 0.147'
        """
        return self._joint_test(self._constraint(hypotheses))

    def f_test(self, hypotheses: Hypothesis) -> JointTest:
        """Test linear hypotheses together, as `wald_test` does; statsmodels has both names.

        Examples
        --------
        >>> pfi.f_test("bmi = bp, sex = 0").sentence
        'F test: F(2, 4) = 3.210, P = 0.147'
        """
        return self.wald_test(hypotheses)

    def flat_test(self) -> FlatTest:
        """Test that a curve or surface is flat: that no point differs from the curve's mean.

        By the largest t statistic of the differences (sup-t), whose p-value is below alpha if the
        simultaneous band of the centered curve excludes 0 somewhere. With several
        classes, that all of their curves are flat.

        Returns
        -------
        FlatTest
            With ``statistic``, ``pvalue``, ``df``, ``points``, and ``term``, the point that differs
            most.

        Examples
        --------
        >>> print(res.pd("bmi", points=5).flat_test())
        Flat curve: largest |t| = 10.242 of 5 points (at bmi[29.275]), 5 df, P <0.001
        """
        terms = self.estimand.terms
        if not terms.axes:
            raise OptionError(
                "`flat_test` is of curves and surfaces, such as `pd`; "
                f"{self.estimand.words.label} has one value per feature: use `wald_test`."
            )
        if self.variance.reason:
            raise InferenceError(f"Flatness can't be tested: {self.variance.reason}.")
        self._need_test()
        if self.alternative != "two-sided":
            raise InferenceError(
                "`flat_test` is two-sided, but these results are one-sided "
                f"(alternative={quote(self.alternative)}); ask for them without `alternative`."
            )
        facet = terms.layout[terms.facet] if terms.facet else pd.Series(0, terms.layout.index)
        curves = pd.factorize(facet)[0]
        return flatness_test(self.inference.estimate, self.variance, curves, list(terms.names))

    @takes()
    def differences(
        self,
        reference: object = None,
        *,
        kind: DifferenceKind = "reference",
        relation: MeanRelation = "difference",
    ) -> Contrasts:
        r"""Compare groups of rows, or points of one curve, with a reference or with each other.

        Of results by groups (``by=``) every group is compared with one of them, term by term; of
        others every point of a curve, such as a level, with one of its points.

        Parameters
        ----------
        reference : optional
            The name of the group, or the value of the point; by default the first. Of results by
            groups the value of a point, if no group has this name, compares the points of every
            group's curve.
        kind : {"reference", "adjacent", "all"}
            Each with the reference, each with the one before (adjacent), or with all before.
        relation : {"difference", "ratio", "odds ratio"}
            Ratios are of mean predictions, such as risks, rates or means, and odds ratios of mean
            probabilities. With P the partial dependence, they are contrasts of :math:`\log P` and
            :math:`\log\{P / (1 - P)\}`: t and P are on that scale, and exp takes estimates and
            limits back. These odds ratios are marginal: nearer to 1 than that of a coefficient of a
            logistic model.

        Returns
        -------
        statsmodels.stats.contrast.ContrastResults
            As of `t_test`, with the covariance between terms. Adjusted among each other by
            `p_adjust` or `simultaneous`. ``sd`` of ratios is the standard error of the logarithm.

        Raises
        ------
        OptionError
            If there are neither groups nor a curve, no such reference, or values of this kind have
            no ratio.

        Examples
        --------
        >>> difference = res.pd("bmi", grid=[30], by="sex").differences()
        >>> print(difference.summary(title="Men and women", notes="none").tables[0])
        ===================================================================================
                                     coef   std err    [0.025    0.975]         t     P>|t|
        -----------------------------------------------------------------------------------
        bmi[30] | sex=2 - sex=1    0.5631    7.4265  -18.5274   19.6536     0.076     0.943
        ===================================================================================
        >>> ratio = res.pd("bmi", grid=[20, 30]).differences(relation="ratio")
        >>> ratio.summary_frame()[["estimate", "conf_low", "conf_high"]].round(2)
                           estimate  conf_low  conf_high
        hypothesis
        bmi[30] / bmi[20]      1.88      1.53       2.31
        """
        if str(relation) not in self.estimand.parameter.relations:  # of any object
            raise OptionError(
                f"`relation` of {self.estimand.description} must be "
                f"{' or '.join(self.estimand.parameter.relations)}, not {quote(relation)}: ratios "
                'are of mean predictions, odds ratios of mean probabilities, such as `pd("x")` has.'
            )
        check_choice("kind", kind, ("reference", "adjacent", "all"))
        hypotheses = _differences(self.estimand.terms, reference, relation, kind)
        return self._tests(hypotheses, relation, f"{relation}s")

    def equality_test(self) -> JointTest:
        """Test that all groups of rows have the same values, all terms together: `wald_test`.

        Of results without groups, that all points of a curve, such as levels, have the same value.

        Raises
        ------
        OptionError
            If the results are not by groups (``by=``), and are no curve.

        Examples
        --------
        >>> res.pfi(["bmi", "bp"], by="sex").equality_test().sentence
        'F test: F(2, 4) = 5.731, P = 0.067'
        """
        return self._joint_test(_differences(self.estimand.terms, None, "difference"))

    def _joint_test(self, hypotheses: Hypotheses) -> JointTest:
        """Return the joint test of several hypotheses about the terms."""
        self._need_test()
        plain = replace(self, p_adjust=None, simultaneous=False)
        tests = plain._tests(hypotheses, what="joint test")
        joint = wald_test(tests, hypotheses, self.variance)
        tests.facts += (("Joint test:", joint.sentence),)
        return joint

    def _need_test(self) -> None:
        """Raise `InferenceError` if nothing can be tested."""
        if not self.has_test:
            raise InferenceError(
                f"A test of {self.estimand.words.label} must allow for the training of the model, "
                "but this one is taken as it is, and its intervals are over rows; use a model "
                "that states the covariance of its coefficients, as statsmodels does, or fit a "
                "`pi.Learner`."
            )

    def _tests(
        self,
        hypotheses: Hypotheses,
        relation: MeanRelation = "difference",
        what: str = "hypotheses",
    ) -> Contrasts:
        """Return the test of each of several hypotheses, with the interval of its contrast."""
        places, notes = contrasts(
            hypotheses,
            self.inference,
            size=ROUNDING * np.abs(self.replicates.per_refit).max(axis=0),
            missing=self.estimand.words.missing,
            zero_variance=self.zero_variance,
            relation=relation,
        )
        plain = relation == "difference" and self.estimand.parameter.no_effect is None
        return Contrasts(
            self.inference,
            places,
            names=hypotheses.names,
            title=f"{self.estimand.words.heading}: {what}, {LEVELS[self.context.level]}",
            facts=facts_of(self, self.estimand.description),
            notes=[*notes_of_tests(self, single=ONE_SQUARE in notes), *map(Footnote, notes)],
            relation=relation,
            nobs=self.nobs if plain else 0,
            n_clusters=self.context.n_clusters,
        )

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return estimates with their inference, one row per term.

        Columns as in R's broom: estimate, std_error, statistic, p_value, conf_low, conf_high; mcse,
        the Monte Carlo error of the estimate by permutations, and std_error_mcse, of std_error by
        the choice of refits, missing of importances below 2 standard errors; std_error_null, the
        standard error at the null value, by which the statistic divides.
        Before them value, value2 and class where the estimand has a grid or classes; after them
        corrected, if the estimand has a correction of its bias, and diagnostic, R²_j of conditional
        importances.

        Examples
        --------
        >>> pfi.summary_frame(alpha=0.1)[["estimate", "conf_low", "conf_high"]].round()
              estimate  conf_low  conf_high
        term
        sex       49.0      -5.0      222.0
        bmi     2725.0    1741.0     3995.0
        bp       780.0     441.0     1246.0
        """
        of, errors = self.inference, self.variance.bse_error
        limits = of.interval(alpha)
        known = np.full(len(of.bse), np.nan) if errors is None else errors
        numbers = pd.DataFrame(
            {
                **self.estimand.terms.layout.set_axis(self._index),
                "estimate": of.estimate,
                "std_error": of.bse,
                "std_error_null": of.null_error,
                "statistic": of.statistic,
                "p_value": of.p_values,
                "conf_low": limits[:, 0],
                "conf_high": limits[:, 1],
                "mcse": np.sqrt(self.replicates.mc_variance),
                "std_error_mcse": np.where(of.bse > 0, known, np.nan),
            },
            index=self._index,
        )
        if self.corrected_params is not None:
            numbers["corrected"] = self.corrected_params
        if self.diagnostic is not None:
            numbers["diagnostic"] = self.diagnostic.params
        return numbers

    def glance(self) -> pd.DataFrame:
        """Return a frame of one row that describes the whole analysis, as R's broom does.

        Examples
        --------
        >>> pfi.glance().T.head(8)
                                      0
        estimand    PFI (squared error)
        learner        LinearRegression
        nobs                        442
        dropped                       0
        resampling        half-sampling
        refits                        5
        pairs                         5
        df_resid                      5
        """
        context, fit = self.context, self.fit
        return pd.DataFrame(
            {
                "estimand": [self.estimand.description],
                "learner": [context.learner],
                "nobs": [context.nobs],
                "dropped": [context.dropped_rows],
                "resampling": [context.plan],
                "refits": [context.refits],
                "pairs": [context.pairs],
                "df_resid": [self.df_resid],
                "cov_type": [self.cov_type],
                "loss_name": [fit.name if fit else None],
                "loss": [fit.loss if fit else np.nan],
                "loss_std_error": [fit.bse if fit else np.nan],
                "explained": [fit.explained_share if fit else np.nan],
                "engine": [context.engine.name],
                "engine_error": [context.engine.error],
                "seed": [context.seed],
            }
        )

    def refit_frame(self) -> pd.DataFrame:
        """Return the estimates of every refit, shape (m, q).

        Examples
        --------
        >>> pfi.refit_frame().head(3).round()
        term   sex     bmi     bp
        0     48.0  2936.0  913.0
        1     37.0  2966.0  945.0
        2     55.0  2644.0  750.0
        """
        return pd.DataFrame(self.replicates.per_refit, columns=self._index, copy=True)

    def row_frame(self) -> pd.DataFrame:
        """Return each evaluation row's contribution, averaged over the refits that it evaluates.

        The contributions to a partial dependence are the ICE curves.

        Returns
        -------
        pandas.DataFrame
            A row per evaluation row, in the order of the data, and a column per term. The index is
            the data's; rows of arrays and of fresh draws are numbered.

        Examples
        --------
        >>> pfi.row_frame().head(3).round()
        term    sex     bmi      bp
        1    -225.0  5044.0  1201.0
        2     451.0  -138.0   631.0
        3     678.0   -97.0 -1659.0
        """
        if not len(self.rows):
            raise InferenceError(
                "A row has no contribution of its own to a difference of independent estimates; "
                "ask the results that were compared."
            )
        order = np.argsort(self.rows, kind="stable")
        means = self.replicates.row_means[order]
        return pd.DataFrame(means, index=self.labels.take(order), columns=self._index)

    @cached_property
    def column_facts(self) -> dict[str, str]:
        """What tables of several results say below the estimates."""
        fit = self.fit
        return {
            "No. observations": str(self.nobs),
            "No. refits": str(self.context.refits),
            **({"From a folder": self.context.folder} if self.context.folder else {}),
            "Loss": f"{fit.loss:.4g}" if fit else "",
            "R² or D²": fit.share_text if fit else "",
            "Cov. type": self.variance.label,
        }

    @property
    def parts(self) -> list[EstimandResults]:
        """These results, as the only ones of their table."""
        return [self]

    @takes()
    def plot(
        self,
        alpha: float = 0.05,
        *,
        geom: Geom = "auto",
        sort: bool = True,
        top: int | None = None,
        color: str | None = None,
    ) -> ggplot:
        """Return a plotnine plot to which layers, scales and a theme can be added.

        One value per feature gives dots with intervals. A grid gives a curve with a pointwise band.
        Levels of a category have points with bars. So have the values of a number that has at most
        10 in the data, such as a count of 0, 1 and 2, unless the grid has values between them.

        Two numbers give tiles; a number and a category give a curve per level for up to 8 levels,
        and tiles for more. Of tiles, a category whose levels have no room side by side is on the
        vertical axis. The figure is as large as its texts need.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        geom : {"auto", "dots", "bars", "forest", "curves", "tiles"}
            Of one value per feature: "dots", "bars", which begin at the null value, or "forest",
            which has numbers after the dots, and groups below each other. Of a number and a
            category: "curves" or "tiles". "auto" is described above.
        sort : bool
            Draw features, or levels that have a line each, in decreasing order of their estimates,
            or else as in the data. Features' values with a sign, such as effects, are in order of
            their absolute size. Ordered categories keep their order.
        top : int, optional
            How many features are drawn, the first in that order; by default all.
        color : str, optional
            A variable, or the response, by which curves of rows are colored. Curves of rows are
            there with ``kind="ice"``, "c-ice" and "d-ice"; 200 at most are drawn, evenly spread.

        Examples
        --------
        >>> plot = pfi.plot()
        >>> plot.save("importance.png", width=5, height=3, verbose=False)
        """
        from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

        TableOptions(alpha, sort, top)
        check_choice("geom", geom, ("auto", *plots.geoms_of(self)))
        if top is not None and self.estimand.terms.axes:
            raise OptionError("`top` is for plots of one value per feature; this is of a grid.")
        has_curves = self.estimand.curves and len(self.estimand.terms.axes) == 1
        if color is not None and not has_curves:
            raise OptionError(
                "`color` is of rows' own curves, and this plot has none; use "
                '`pd("x", kind="ice")`.'
            )
        if color is not None:
            check_names([color], self.data, kind="variable", argument="color")
        return plots.plot(self, alpha=alpha, geom=geom, sort=sort, top=top, color=color)

    @cached_property
    def _index(self) -> pd.Index:
        """The names of the terms, as an index."""
        return pd.Index(self.estimand.terms.names, name="term")

    def _series(self, values: FloatArray, name: str) -> pd.Series[float]:
        """Return values by term."""
        return pd.Series(values, index=self._index, name=name)

    def _constraint(self, hypotheses: Hypothesis) -> Hypotheses:
        """Return hypotheses as weights of the terms and values, with names."""
        terms = self.exog_names
        try:
            if isinstance(hypotheses, np.ma.MaskedArray) or not str(hypotheses).strip():
                raise TypeError("nothing that can be read")  # noqa: TRY301 - like what can't be
            weights, target = linear_hypotheses(hypotheses, terms)
        except Exception as error:
            words = [w for w in re.split(r"[=,+*\s]+", str(hypotheses)) if w not in terms]
            raise OptionError(
                f"Can't read the hypothesis {quote(hypotheses)}: write terms as in "
                f'"{terms[0]} = {terms[-1]}". Terms: {list_of(terms)}.'
                + next(filter(None, (did_you_mean(word, terms) for word in words)), "")
                + f" Contrast weights must have one column per term ({len(terms)}), alone or in a "
                "pair with the values to test."
            ) from error
        if not np.isfinite(weights).all() or not np.isfinite(target).all():
            raise OptionError("Contrast weights and values must be finite numbers.")
        names = _hypothesis_names(hypotheses, weights, target, terms)
        return Hypotheses(weights=weights, target=target, names=names, terms=terms)


def _hypothesis_names(
    hypotheses: Hypothesis, weights: FloatArray, target: FloatArray, terms: Sequence[str]
) -> list[str]:
    """Return one name for each row of `weights` (contrasts) and `target` (values tested against).

    It is the user's own text if there is one per row, else the linear combination written out, such
    as ``x1 - 0.5 x2``, or c0, c1, ... (as in statsmodels) if that is long.
    """
    parts = []
    count = len(weights)
    if isinstance(hypotheses, str):
        parts = [hypotheses] if count == 1 else hypotheses.split(",")
    elif isinstance(hypotheses, Mapping):
        parts = [f"{name} = {value}" for name, value in hypotheses.items()]
    elif isinstance(hypotheses, list):
        parts = hypotheses
    if len(parts) == count and all(isinstance(part, str) for part in parts):
        return [part.strip() for part in parts]
    sums = [_sum(row, terms) for row in weights]
    names = [sums[k] if 0 < len(sums[k]) <= LONGEST_SUM else f"c{k}" for k in range(count)]
    return [f"{name} = {h:.4g}" if h else name for name, h in zip(names, target, strict=True)]


def _sum(weights: FloatArray, terms: Sequence[str]) -> str:
    """Return a contrast as a sum of terms."""
    parts = [
        f"{'-' if weight < 0 else '+'} {'' if abs(weight) == 1 else f'{abs(weight):.4g} '}{term}"
        for weight, term in zip(weights, terms, strict=True)
        if weight
    ]
    return " ".join(parts).removeprefix("+ ").replace("- ", "-", "".join(parts).startswith("-"))


def _by_number(level: object) -> tuple[str, list[float]]:
    """Return a key that sorts `10 kg` after `9 kg`."""
    return NUMBER.sub("", str(level)), [*map(float, NUMBER.findall(str(level)))]


def _differences(
    terms: Terms, reference: object, relation: MeanRelation, kind: DifferenceKind = "reference"
) -> Hypotheses:
    """Return the hypotheses that groups, or points of curves, have the values of others."""
    q, sign = len(terms.names), "-" if relation == "difference" else "/"
    points = terms.layout[terms.axes[0]].tolist() if len(terms.axes) == 1 else []
    groups = np.repeat(terms.groups, q // max(len(terms.groups), 1)).tolist()
    sets = terms.layout[terms.facet].tolist() if terms.facet else [""] * q
    of_points = is_hashable(reference) and reference in dict.fromkeys(points)
    within = not groups or (of_points and reference not in groups)
    levels, tails, curves = (points, terms.names, sets) if within else (groups, groups, terms.stubs)
    if len(set(levels)) < 2:
        raise OptionError(
            "Differences are between groups, or between points of one curve, and these results "
            'have none: ask with `by=`, as in `pfi(by="sex")`. `wald_test` is of any terms.'
        )
    base = levels[0] if reference is None else reference
    if not is_hashable(base) or base not in dict.fromkeys(levels):
        raise OptionError(
            f"`reference` must be one of the groups or points {list_of(dict.fromkeys(levels))}, "
            f"not {quote(reference)}." + did_you_mean(str(reference), levels)
        )
    order = list(dict.fromkeys(levels))
    if kind == "adjacent" and order == sorted(order, key=str) != sorted(order, key=_by_number):
        raise OptionError(
            f"Adjacent levels must stand in their order, but {list_of(order)} stand in that of "
            "texts: make numbers of them, or categories by `pd.Categorical(x, categories=[...])`."
        )
    at = {(curve, levels[k]): k for k, curve in reversed([*enumerate(curves)])}

    def others(level: object) -> list[object]:
        before = order[: order.index(level)]
        if kind == "reference":
            return [base] if level != base else []
        return before[-1:] if kind == "adjacent" else before

    pairs = [(j, at[c, other]) for j, c in enumerate(curves) for other in others(levels[j])]
    return Hypotheses(
        weights=np.array([np.eye(q)[j] - np.eye(q)[k] for j, k in pairs]),
        target=np.zeros(len(pairs)),
        names=[f"{terms.names[j]} {sign} {tails[k]}" for j, k in pairs],
        terms=list(terms.names),
    )


def ranks_of(
    estimates: pd.Series[float], cov: FloatArray, df: float, *, largest_first: bool
) -> pd.DataFrame:
    """Return the probability of each rank for each term, in the order of expected ranks."""
    check_flag("largest_first", largest_first)
    values = (1.0 if largest_first else -1.0) * np.asarray(estimates, np.float64)
    shares = rank_probabilities(values, cov, df)
    places = pd.RangeIndex(1, len(shares) + 1, name="rank")
    order = np.argsort(shares @ places, kind="stable")
    return pd.DataFrame(shares[order], index=estimates.index[order], columns=places)
