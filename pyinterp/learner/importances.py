"""Methods for importances: how much predictions, and their certainty, need a feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, Unpack, get_args

import numpy.typing as npt
import pandas as pd

from pyinterp.checks import check_choice, check_jobs
from pyinterp.errors import OptionError
from pyinterp.estimands.importance.loco import leave_one_covariate_out
from pyinterp.estimands.importance.losses import Permutations, Relation
from pyinterp.estimands.importance.metric_importance import metric_importance
from pyinterp.estimands.importance.native import Native, native_importance, native_report
from pyinterp.estimands.importance.permutation import (
    Replacement,
    entropy_importance,
    likelihood_importance,
    permutation_importance,
)
from pyinterp.estimands.importance.variable_importance import Adjustment, amvim, cvim, mvim
from pyinterp.estimands.population import learns_less, of_population, trial
from pyinterp.estimands.positivity import positivity, redundancy
from pyinterp.inference import Replicates
from pyinterp.learner.fitted_models import ONE_GROUP, FittedModels, Inference
from pyinterp.losses.metric_functions import MetricLike
from pyinterp.losses.rowwise import LossLike
from pyinterp.parallel.progress import tell
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults
from pyinterp.results.together import ImportanceResults, PopulationResults, UncertaintyResults
from pyinterp.samplers import SamplerLike, is_conditional

P = ParamSpec("P")
R = TypeVar("R")
Others: TypeAlias = Literal["auto", "learner", "default"]


def _of_pfi(
    method: Callable[Concatenate[EstimandResults, P], R],
) -> Callable[Concatenate[Importances, P], R]:
    """Return a method of results as a method of the fit, which asks ``pfi()``."""

    @wraps(method)
    def of_fit(fit: Importances, /, *args: P.args, **options: P.kwargs) -> R:
        return method(fit._pfi, *args, **options)

    first, _, rest = (method.__doc__ or "").partition("\n")
    of_fit.__doc__ = f"{first}\n\n        Of permutation importances, ``pfi()``.\n{rest}"
    return takes()(of_fit)


class UncertaintyOptions(Inference, total=False):
    """Options of importances for predictive distributions."""

    which_class: Any
    permutations: Permutations
    relation: Relation
    sampler: Replacement


class Importances(FittedModels):
    """Methods for importances, of uncertainty (Wood et al. 2024) too, and the table of ``pfi()``.

    Estimates, standard errors and tests of permutation feature importance (PFI) with default
    options are attributes and methods of the fit: how much larger the expected loss, squared error
    or log loss, is with other rows' values of a feature. They are no coefficients. PFI is measured
    when one of them is first asked for.
    """

    @takes()
    def pfi(
        self,
        features: str | Sequence[str] | None = None,
        *,
        loss: LossLike | None = None,
        metric: MetricLike | None = None,
        permutations: Permutations | Mapping[str, npt.ArrayLike] = "auto",
        relation: Relation = "difference",
        sampler: Replacement = "marginal",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Permutation feature importance (PFI), marginal or conditional.

        .. math:: PFI_S = E[L(Y, f(\tilde X_S, X_C))] - E[L(Y, f(X))]

        where :math:`\tilde X_S` is drawn from the marginal distribution of the feature,
        independently of all else (Molnar et al. 2021, eqs 3, 4 and 8), or from its distribution
        given all other variables. For a learner it is the mean over refits of the PFI on each
        refit's evaluation rows.

        Parameters
        ----------
        {features}
        {loss}
        {metric}
        permutations : "auto", "all", int or mapping
            "all" takes the mean over all ordered pairs of different rows, the U-statistic
            :math:`e_{switch}` of Fisher, Rudin and Dominici (2019), without Monte Carlo error. A
            number K takes K balanced permutations: no row is its own donor and each meets K
            different donors. "auto" is "all" for tree ensembles, linear models and kernel
            machines, which have exact engines, as long as rows times distinct values of the feature
            stay at most 1e8 per refit; with squared error there is no bound. For other models
            "auto" is "all" up to 15,000 predictions per refit (122 rows), or 30 distinct values;
            beyond it 30, down to 10 where these would make more than 250,000 predictions. With a
            metric "auto" is 10; there is no mean over all pairs. A mapping gives, per feature, the
            permutations of the rows of one fitted model, shape (n, K).
        relation : {"difference", "ratio"}
            How the two expected losses are compared, per refit.
        sampler : str, Sampler or mapping
            How values that replace a feature are drawn: "marginal" takes values of the other rows;
            all else draws given the other variables, as for `cvim`, and "knockoff" is allowed too.
            Of a mapping, features that it does not name are "marginal".
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In units of the loss; one term per feature.

        Raises
        ------
        LossError
            If the learner's predictions can't serve the loss.

        Examples
        --------
        >>> res.pfi().summary_frame()[["estimate", "conf_low", "conf_high"]].round()
              estimate  conf_low  conf_high
        term
        sex       49.0     -20.0      285.0
        bmi     2725.0    1503.0     4378.0
        bp       780.0     362.0     1389.0
        >>> res.pfi("bmi", loss="absolute", permutations=10).params.round(1).to_dict()
        {'bmi': 14.9}
        """
        shared: dict[str, Any] = {"permutations": permutations, "relation": relation, **inference}
        if metric is not None:
            if loss is not None or is_conditional(sampler):
                other = "loss" if loss is not None else "sampler"
                raise OptionError(f"Give `metric` or `{other}`, not both.")
            return self._estimate(metric_importance, features, metric=metric, **shared)
        if isinstance(permutations, Mapping):
            raise OptionError(
                'Given permutations are for a `metric`, for example the metric "mse" instead of '
                "the squared loss."
            )
        return self._estimate(
            permutation_importance, features, loss=loss, sampler=sampler, **shared
        )

    @takes()
    def mvim(
        self,
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Marginal variable importance metric (MVIM): marginal PFI under squared loss.

        .. math:: MVIM = E[(Y - f(\tilde X_j, X_{-j}))^2] - E[(Y - f(X))^2]

        (Khan, Saarela and Kustra 2025, eq. 3). Under positivity and conditional ignorability, and
        as far as the learner is right, the mean squared effect of exchanging the feature between
        rows (their Theorems 1 and 2).

        Parameters
        ----------
        {features}
        {permutations}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In squared units of the response; for two classes, of the indicator of the second.

        Examples
        --------
        >>> res.mvim().params.round().to_dict()
        {'sex': 49.0, 'bmi': 2725.0, 'bp': 780.0}
        """
        return self._estimate(mvim, features, permutations=permutations, **inference)

    @takes()
    def cvim(
        self,
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Conditional variable importance metric (CVIM): conditional PFI under squared loss.

        .. math:: CVIM = E[(Y - f(\tilde X_j, X_{-j}))^2] - E[(Y - f(X))^2],
            \quad \tilde X_j \sim X_j \mid X_{-j}

        (Khan, Saarela and Kustra 2025, eqs 19 and 24-26, Algorithm 2). It does not extrapolate, and
        it is twice the estimand of LOCO.

        Parameters
        ----------
        {features}
        {permutations}
        {sampler}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In squared units of the response; for two classes, of the indicator of the second.
            Tables show R²_j of `positivity` beside it.

        Examples
        --------
        >>> res.cvim(["bmi", "bp"]).params.round().to_dict()
        {'bmi': 2342.0, 'bp': 626.0}
        """
        return self._estimate(
            cvim, features, permutations=permutations, sampler=sampler, **inference
        )

    @takes()
    def amvim(
        self,
        features: str | Sequence[str] | None = None,
        *,
        method: Adjustment = "linear",
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Adjusted MVIM: marginal importance without extrapolation, under an assumption.

        .. math:: AMVIM = CVIM / (1 - R^2_j) \quad \text{or} \quad 2 V(f_j(X_j))

        Parameters
        ----------
        {features}
        method : {"linear", "additive"}
            "linear" (Khan, Saarela and Kustra 2025, eq. 33) holds if the feature enters linearly,
            without interactions, and its variance given the others is constant. "additive" (eq. 6,
            with the accumulated local effect as :math:`f_j`) holds if the feature enters
            additively, in whatever form, and whatever its variance.
        {permutations}
        {sampler}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In squared units of the response. Missing where R²_j is 0.999 or more; computed at
            R²_j = 0 in refits where it is negative.

        Examples
        --------
        >>> res.amvim(["bmi", "bp"]).params.round().to_dict()
        {'bmi': 2727.0, 'bp': 776.0}
        """
        return self._estimate(
            amvim, features, method=method, permutations=permutations, sampler=sampler, **inference
        )

    @takes()
    def loco(
        self,
        features: str | Sequence[str] | None = None,
        *,
        loss: LossLike | None = None,
        relation: Relation = "difference",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Leave-one-covariate-out importance (LOCO): the loss without a feature, minus with it.

        .. math:: LOCO_S = E[L(Y, f_{-S}(X_C))] - E[L(Y, f(X))]

        Here :math:`f_{-S}` is the learner trained on the same rows without the feature (Lei et al.
        2018, section 6; Khan, Saarela and Kustra 2025, section 2.2). The estimate for a learner is
        the mean over refits. Unlike `pfi`, LOCO predicts observed rows only. It is small where
        another feature can replace this one. The true LOCO may be negative, because a learner may
        predict better without a feature.

        Every refit is trained again without each feature, with the joblib backend and `n_jobs` of
        the fit. Rows and seeds stay the same, so that the two models differ by the feature and not
        by chance. If the feature is a variable of a formula, all terms that use it are omitted. If
        no column remains, the prediction is the loss's best constant for the training rows.

        The models are dropped and their predictions kept. So another loss or relation, or a
        feature that was omitted before, needs no training.

        Parameters
        ----------
        features : str or sequence of str, optional
            Features: variables, or groups of variables that are omitted jointly. By default all.
        {loss}
        relation : {"difference", "ratio"}
            How the two expected losses are compared, per refit.
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In units of the loss; one term per feature.

        Raises
        ------
        OptionError
            For a `FittedModel`, which has no learner to train, and for a learner that refers to
            columns by position.
        LossError
            If the learner's predictions can't serve the loss, or no column is left and the loss
            states no best constant.
        RefitError
            If the learner can't be trained without a feature, for example because it names it.

        Notes
        -----
        Under squared loss and the true regression function f, LOCO is
        :math:`E\,V(f(X) \mid X_C)` (Verdinelli and Wasserman 2024; Williamson et al. 2021): for a
        linear function :math:`\beta^2 V(X_S \mid X_C)`. For an additive one of independent
        features `pfi` is twice as large.

        Examples
        --------
        >>> res.loco("bmi").conf_int().round()
                  0       1
        term
        bmi   606.0  1914.0
        """
        self.analysis.need_trainer()
        return self._estimate(
            leave_one_covariate_out, features, loss=loss, relation=relation, **inference
        )

    @takes(refused={"by": ONE_GROUP})
    def population(
        self,
        features: str | Sequence[str] | None = None,
        *,
        sampler: SamplerLike = "conditional",
        others: Others = "auto",
        **inference: Unpack[Inference],
    ) -> PopulationResults:
        r"""Coefficients of nature given the other variables, by any learner: what is there.

        .. math:: \theta = (V^T V)^{-1} V^T u, \quad u = Y - E(Y \mid Z), \quad
            V = X - E(X \mid Z)

        (Robinson 1988; Chernozhukov et al. 2018), as of `lm` if both means are linear. E(Y | Z) is
        by the learner trained without the feature, as for `loco`, and E(X | Z) what `cvim` draws
        by; of every row both are means over the refits that were not trained on it. So k-fold
        cross-validation serves, and the first 5 pairs of half-sampling: 2 fits per feature and
        refit.

        Below the coefficients the table has, for every feature, R²_j and R²_y, the shares of its
        variance and of V(y) that the others explain; how much squared error is lost without it in
        the population, at least; and "P relevant", of the hypothesis that the mean response does
        not depend on it given the others.

        Parameters
        ----------
        {features}
        {sampler}
        others : {"auto", "learner", "default"}
            What learns E(Y | Z): the learner without the feature, or linear regression, then trees.
            "auto" is the learner, unless it has no offset and predicts worse than the default one.
        {rows}
        {inference}

        Returns
        -------
        PopulationResults
            In units of the response per unit of the feature; of classes, of probabilities. One term
            per number, and per level but the first of a category (and class), with `importance`
            and `relevance`.

        Raises
        ------
        InferenceError
            If the plan leaves rows out.
        OptionError
            If the learner aims at no mean, as for the median, or a feature's sampler learns none,
            or for the default learner of E(Y | Z) where there is an offset.

        Examples
        --------
        >>> folds = learner.fit(pi.CrossValidation(5), seed=1)
        >>> folds.population("bmi").conf_int().round(1)
                0    1
        term
        bmi   6.8  9.6
        """
        results: Any = self._pool(features, others, sampler=sampler, **inference)
        return results and PopulationResults.of(results)  # nothing, if one only asks

    def _pool(
        self, features: str | Sequence[str] | None = None, others: Others = "auto", **options: Any
    ) -> EstimandResults:
        """Estimate an estimand of the population, with the learner of E(Y | Z) that is chosen."""
        check_choice("others", others, get_args(Others))
        self.analysis.need_trainer()
        analysis, default = self.analysis.cross_fits, others == "default"
        if default and analysis.context.offset:
            raise OptionError(
                "The default learner of E(Y | Z) takes no offset or exposure, and the learner has "
                'one: leave `others` out, or use `others="learner"`.'
            )
        check_jobs(None, options.get("progress", False))
        fits = 2 * len(analysis.refits) * len(analysis.problem.choose(features))
        tell(f"Population: up to {fits} fits", options.get("progress", False))
        if others == "auto" and not analysis.context.offset:
            (tally,) = analysis.measure(trial(analysis.problem))
            rows = Replicates(evaluations=analysis.evaluations, tally=tally).row_means
            default = learns_less(rows)
        return self._estimate(of_population, features, default=default, **options)

    def _relevance(self, *args: Any, **options: Any) -> EstimandResults:
        return self._pool(*args, read="relevance", **options)

    @takes(refused={"by": ONE_GROUP})
    def compare_targets(
        self,
        features: str | Sequence[str],
        *,
        sampler: SamplerLike = "conditional",
        others: Others = "auto",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""How much of a feature the learner uses, how much is there, and what it uses beyond.

        .. math:: D = E[h^2], \quad N_+^2 / D, \quad D - N_+^2 / D, \qquad
            h = f - E(f \mid Z), \quad N = E[u h]

        D is half of CVIM by plug-in, of the mean of the refits' predictions; the second is what
        ``population().importance`` has. A feature that stands in for another one is used beyond
        what is there.

        Parameters
        ----------
        {features}
        {sampler}
        others : {"auto", "learner", "default"}
            As for `population`.
        {rows}
        {inference}

        Returns
        -------
        EstimandResults
            In squared units of the response; three terms per feature.

        Examples
        --------
        >>> folds = learner.fit(pi.CrossValidation(5), seed=1)
        >>> folds.compare_targets("bmi").params.round().to_dict()
        {'bmi, used': 1269.0, 'bmi, there': 1136.0, 'bmi, beyond': 133.0}
        """
        return self._pool(features, others, sampler=sampler, read="targets", **inference)

    @takes()
    def native_importance(
        self,
        type: Native | None = None,  # noqa: A002 - vip's name
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Native importance: coefficients, t statistics and the like that a fitted model reports.

        For comparison with other importances. It needs no predictions and is no mean over rows:
        for one fitted model there is no interval, for a learner that over refits.

        Parameters
        ----------
        type : {"stat", "raw", "impurity", "olden", "garson"}, optional
            By default the first of "stat", "impurity", "olden" and "raw" that the model has.

            "stat": t or z statistic of each column of the design but the intercept, with its sign,
            of statsmodels results and `statsmodels_learner`. "raw": coefficient of each column.
            "impurity": ``feature_importances_`` of trees and ensembles, summed over the columns
            of each feature. "olden", "garson": weights of networks of one hidden layer
            (scikit-learn's MLPRegressor and MLPClassifier), per input; see
            `pyinterp.estimands.importance.native.olden` and `garson`.
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            One term per column or feature (and class). R's ``vip::vi_model`` gives the absolute
            value of t, z and coefficients, and their sign in a column of its own.

        Raises
        ------
        OptionError
            If the model has no importance, or not this one.

        Examples
        --------
        >>> res.native_importance().params.round(1).to_dict()
        {'bmi': 8.5, 'bp': 1.5, 'sex': -9.0}
        """
        (report,) = self.analysis.measure(native_report(self.analysis.problem, type))
        reports = report.names
        return self._estimate(native_importance, reports, type, **inference)

    @takes()
    def likelihood_pfi(
        self, features: str | Sequence[str] | None = None, **options: Unpack[UncertaintyOptions]
    ) -> EstimandResults:
        r"""Likelihood permutation feature importance.

        .. math:: PFI_L(j) = E[-\log q(Y | \tilde X_j, X_{-j})] - E[-\log q(Y | X)]

        where q is the predictive distribution: class probabilities, or what a regressor states
        (Wood et al. 2024, eqs 5 and 6). For classes it is the PFI for log loss.

        Parameters
        ----------
        {features}
        which_class : label, optional
            A class that is told from all others together; by default all classes jointly.
        {permutations}
        relation : {"difference", "ratio"}
            How the expected losses are compared; "ratio" for classes and counts only.
        {sampler}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In nats; one term per feature.

        Raises
        ------
        PredictionError
            If the learner predicts neither a distribution nor class probabilities.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> labels = data.assign(high=data["progression"] > 140)
        >>> learner = pi.Learner.from_formula("high ~ bmi + bp", labels, LogisticRegression())
        >>> learner.fit(pi.Holdout(0.7), seed=1).likelihood_pfi().params.round(3).to_dict()
        {'bmi': 0.191, 'bp': 0.052}
        """
        return self._estimate(likelihood_importance, features, **options)

    @takes()
    def entropy_pfi(
        self, features: str | Sequence[str] | None = None, **options: Unpack[UncertaintyOptions]
    ) -> EstimandResults:
        r"""Entropy permutation feature importance: how much a feature makes the model surer.

        .. math:: PFI_H(j) = E\{H[q(\cdot | \tilde X_j, X_{-j})]\} - E\{H[q(\cdot | X)]\}

        (Wood et al. 2024, section 3.2). No response is needed. It is 0 if the feature is
        independent of the others or unused, and above 0 if the model is surer where the feature
        agrees with the others.

        Parameters
        ----------
        {features}
        which_class : label, optional
            A class that is told from all others together; by default all classes jointly.
        {permutations}
        relation : {"difference", "ratio"}
            How the expected entropies are compared; "ratio" for classes and counts only.
        sampler : "marginal"
            There is no other: for draws given the other features it is 0 (Proposition 3).
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In nats; one term per feature.

        Raises
        ------
        PredictionError
            If the learner predicts neither a distribution nor class probabilities.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> labels = data.assign(high=data["progression"] > 140)
        >>> learner = pi.Learner.from_formula("high ~ bmi + bp", labels, LogisticRegression())
        >>> learner.fit(pi.Holdout(0.7), seed=1).entropy_pfi().params.round(3).to_dict()
        {'bmi': 0.035, 'bp': 0.035}
        """
        return self._estimate(entropy_importance, features, **options)

    @takes(refused={"by": ONE_GROUP})
    def redundancy(
        self,
        features: str | Sequence[str] | None = None,
        *,
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> ImportanceResults:
        """How well each feature is predicted from the others, without and with the response.

        R²_j out of sample, as in `positivity` and Figure 7 of Wood et al. (2024). A feature that
        the others do not predict, but the others and the response do, is informative and
        independent.

        Parameters
        ----------
        {features}
        {sampler}
        {rows}
        {inference}

        Returns
        -------
        ImportanceResults
            With "others" and "response"; one term per feature.

        Examples
        --------
        >>> res.redundancy(["bmi", "bp"]).summary_frame().iloc[:, :2].round(2)
              measure  estimate
        term
        bmi      R²_j      0.14
        bp       R²_j      0.19
        bmi   R²_j, y      0.35
        bp    R²_j, y      0.25
        """
        columns = {"others": positivity, "response": redundancy}
        return ImportanceResults(
            self._together(
                lambda fit: {
                    name: fit._estimate(function, features, sampler=sampler, **inference)
                    for name, function in columns.items()
                }
            )
        )

    @takes(refused={"by": ONE_GROUP, "alternative": "it decides by two-sided intervals"})
    def uncertainty(
        self,
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        alpha: float = 0.05,
        **inference: Unpack[Inference],
    ) -> UncertaintyResults:
        """Likelihood-PFI, entropy-PFI and R²_j of every feature, and a decision from all three.

        Parameters
        ----------
        {features}
        {permutations}
        sampler : str, Sampler or mapping
            What learns R²_j.
        alpha : float
            Level of the intervals by which features are told apart.
        {rows}
        {inference}

        Returns
        -------
        UncertaintyResults
            With `decisions`: "informative and independent" if the interval of likelihood-PFI is
            above 0 and the interval of entropy-PFI contains 0; "informative and shared" if it
            does not; "redundant" if only entropy-PFI differs from 0; "unused" if
            neither; "undecided" if an interval is missing, or if the feature is informative and the
            model equally sure whatever its value. The rule is one of intervals: `simultaneous`
            makes them wider, most kinds of `p_adjust` do not.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> labels = data.assign(high=data["progression"] > 140)
        >>> learner = pi.Learner.from_formula("high ~ bmi + bp", labels, LogisticRegression())
        >>> learner.fit(pi.Holdout(0.7), seed=1).uncertainty().decisions.to_dict()
        {'bmi': 'informative and shared', 'bp': 'informative and shared'}
        """
        parts = self._together(
            lambda fit: {
                "likelihood": fit.likelihood_pfi(features, permutations=permutations, **inference),
                "entropy": fit.entropy_pfi(features, permutations=permutations, **inference),
                "redundancy": fit._estimate(positivity, features, sampler=sampler, **inference),
            }
        )
        return UncertaintyResults(**parts, alpha=alpha)

    @cached_property
    def _pfi(self) -> EstimandResults:
        return self.pfi()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the table, which is made again when it is needed."""
        return {name: value for name, value in vars(self).items() if name != "_pfi"}

    @property
    def params(self) -> pd.Series[float]:
        """PFI of every feature, in units of the loss: estimates of ``pfi()``."""
        return self._pfi.params

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors of the PFI in `params`, as ``pfi()`` has them."""
        return self._pfi.bse

    @property
    def tvalues(self) -> pd.Series[float]:
        """T statistics of the hypothesis PFI = 0, as ``pfi()`` has them."""
        return self._pfi.tvalues

    @property
    def pvalues(self) -> pd.Series[float]:
        """p-values of the hypothesis PFI = 0, as ``pfi()`` has them."""
        return self._pfi.pvalues

    conf_int = _of_pfi(EstimandResults.conf_int)
    t_test = _of_pfi(EstimandResults.t_test)
    wald_test = _of_pfi(EstimandResults.wald_test)
    summary_frame = _of_pfi(EstimandResults.summary_frame)
    tidy = _of_pfi(EstimandResults.tidy)
    summary = _of_pfi(EstimandResults.summary)
    plot = _of_pfi(EstimandResults.plot)
