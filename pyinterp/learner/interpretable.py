"""All methods of a fitted learner or model: one per estimand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd
from sklearn.metrics import get_scorer_names

from pyinterp.data.features import names_of
from pyinterp.data.row_data import Rows
from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.estimands.causal import causal_effects, causal_importance, causal_rest, causal_share
from pyinterp.estimands.effects.grids import Grid
from pyinterp.estimands.importance.losses import Permutations
from pyinterp.estimands.positivity import positivity, samplers_of
from pyinterp.estimands.risk import RiskRelation, metric_of_rows, risk
from pyinterp.learner.effects import Effects
from pyinterp.learner.fitted_models import ONE_GROUP, Inference
from pyinterp.learner.importances import Importances
from pyinterp.losses.metric_functions import MetricLike
from pyinterp.losses.metrics import METRICS
from pyinterp.losses.rowwise import LOSSES, LossLike, choose
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults
from pyinterp.results.together import SQUARED, CausalResults, ImportanceResults
from pyinterp.samplers import SamplerLike, check_names, check_sampler

if TYPE_CHECKING:
    from plotnine import ggplot


# Measures with one value per feature: their methods, and which options of `importance` they take.
BY_PERMUTATION = ("features", "permutations")
MEASURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "pfi": ("pfi", BY_PERMUTATION),
    "mvim": ("mvim", BY_PERMUTATION),
    "cvim": ("cvim", (*BY_PERMUTATION, "sampler")),
    "conditional_pfi": ("pfi", (*BY_PERMUTATION, "sampler")),
    "amvim": ("amvim", (*BY_PERMUTATION, "sampler")),
    "loco": ("loco", ("features",)),
    "firm": ("firm", ("features",)),
    "likelihood_pfi": ("likelihood_pfi", BY_PERMUTATION),
    "entropy_pfi": ("entropy_pfi", BY_PERMUTATION),
    "native": ("native_importance", ()),
    "population": ("_relevance", ("features", "sampler")),
}


class Interpretable(Effects, Importances):
    """Methods common to a fitted learner and a single fitted model: one per estimand."""

    @takes()
    def loss(
        self,
        loss: LossLike | None = None,
        *,
        relation: RiskRelation = "loss",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        """Expected loss on evaluation rows, or the share of it that the features explain.

        Parameters
        ----------
        {loss}
        relation : {"loss", "explained"}
            "explained" gives R² for squared loss and D² for others: one minus the ratio to the
            loss of the best constant prediction of the training rows (of the evaluation rows for a
            `FittedModel`, whose training rows are not known).
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            With one term.

        Examples
        --------
        >>> res.loss(relation="explained").summary_frame().iloc[:, :2].round(2)
              estimate  std_error
        term
        R²        0.38       0.05
        """
        return self._estimate(risk, loss=loss, relation=relation, **inference)

    @takes()
    def metric(self, metric: MetricLike, **inference: Unpack[Inference]) -> EstimandResults:
        """Metric of all evaluation rows together, such as an area under a curve.

        It has the sign that it is defined with: "neg_mean_absolute_error" is negative. For a
        learner it is the mean over refits of the metric on each refit's evaluation rows. The
        standard error of one model is the error of the mean of the rows' influences, which are
        derivatives of the metric with respect to the rows' weights.

        Parameters
        ----------
        {metric}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            With one term.

        Raises
        ------
        LossError
            If the learner's predictions can't serve the metric.

        Examples
        --------
        >>> res.metric("rmse").params.round(1).to_dict()
        {'rmse': 60.2}
        """
        return self._estimate(metric_of_rows, metric, **inference)

    @takes(refused={"by": ONE_GROUP})
    def importance(
        self,
        measures: str | Sequence[str] | None = None,
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> ImportanceResults:
        """Return several importances of the same features side by side.

        Parameters
        ----------
        measures : str or sequence of str, optional
            "pfi", "mvim", "cvim", "amvim", "loco", "firm", "likelihood_pfi", "entropy_pfi", which
            are names of methods; "conditional_pfi", the PFI given the other features under the
            learner's loss; "native", what the fitted model reports (`native_importance`);
            "population", the share of V(y) that is lost without the feature in nature, with the P
            that it is relevant (`population`); or the
            name of a metric such as "rmse", "r2" or "roc_auc", for the PFI by that metric. All have
            default options. By default "mvim", "cvim" and "amvim" if the learner's loss is squared
            error, else "pfi" and "conditional_pfi". MVIM, CVIM and AMVIM are by squared loss
            always; beside another loss their columns say so. A feature that a measure has no value
            for, such as a category among coefficients, has none in its column.
        {features}
        {permutations}
        {sampler}
        {rows}
        {inference}

        Returns
        -------
        ImportanceResults

        Raises
        ------
        OptionError
            If there is no such measure, or the fit can't have it: a `FittedModel` no LOCO, and not
            every model reports an importance.

        Examples
        --------
        >>> res.importance(["mvim", "cvim"], ["bmi", "bp"]).params.round()
                mvim    cvim
        term
        bmi   2725.0  2342.0
        bp     780.0   626.0
        """
        problem = self.analysis.problem
        if measures is None:
            squared = choose(None, problem.predictor, problem.response) is LOSSES["squared"]
            measures = SQUARED if squared else ("pfi", "conditional_pfi")
        names = names_of(measures, "measures")
        if not names:
            raise OptionError("`measures` must name at least one measure.")
        metrics = [*METRICS, *get_scorer_names()]
        for name in names:
            if name not in MEASURES and name not in metrics:
                raise OptionError(
                    f"`measures` must be among {list_of(MEASURES, most=20)}, or metrics: "
                    f"{list_of(METRICS, most=20, limit=300)} or the name of a scorer of "
                    f"scikit-learn; got {quote(name)}." + did_you_mean(name, [*MEASURES, *metrics])
                )
        check_sampler(sampler)
        check_names(sampler, problem.choose(features))
        if isinstance(sampler, Mapping):  # of `pfi` the others are marginal
            sampler = {**dict.fromkeys(problem.choose(features), "conditional"), **sampler}
        options = {"features": features, "permutations": permutations, "sampler": sampler}

        def ask(fit: Interpretable) -> dict[str, EstimandResults]:
            results = {}
            for name in names:
                method, taken = MEASURES.get(name, ("pfi", (*BY_PERMUTATION, "metric")))
                chosen = {option: {**options, "metric": name}[option] for option in taken}
                results[name] = getattr(fit, method)(**chosen, **inference)
            return results

        results = self._together(ask)
        if cpfi := results.get("conditional_pfi"):
            words = replace(cpfi.estimand.words, label="PFI given the others")
            results["conditional_pfi"] = replace(cpfi, estimand=replace(cpfi.estimand, words=words))
        return ImportanceResults(results)

    @takes()
    def positivity(
        self,
        features: str | Sequence[str] | None = None,
        *,
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Positivity diagnostic: the share of a feature's variance that the others explain.

        .. math:: R^2_j = 1 - V(X_j \mid X_{-j}) / V(X_j)

        (Khan, Saarela and Kustra 2025, eq. 17), out of sample. Above 0.9 tables warn: the feature
        hardly varies given the others.

        Parameters
        ----------
        {features}
        {sampler}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            Between 0 and 1, or negative where the features are predicted worse than by their mean.

        Examples
        --------
        >>> res.positivity(["bmi", "bp"]).params.round(2).to_dict()
        {'bmi': 0.14, 'bp': 0.19}
        """
        return self._estimate(positivity, features, sampler=sampler, **inference)

    @takes()
    def plot_positivity(
        self, feature: str, *, sampler: SamplerLike = "conditional", rows: Rows = None
    ) -> ggplot:
        """Plot a feature against its prediction from all other variables, out of sample.

        Rows near the line leave a conditional importance little to work with; a number that is
        fixed by the others lies on it. For a category, the probabilities of its levels by the
        observed level.

        Parameters
        ----------
        feature : str
            One variable.
        {sampler}
        {rows}

        Examples
        --------
        >>> plot = res.plot_positivity("bmi")
        >>> plot.save("positivity.png", width=5, height=3, verbose=False)
        """
        from pyinterp.results.plots.scatter import agreement  # noqa: PLC0415 - slow

        if not isinstance(feature, str):
            raise OptionError(
                f"`plot_positivity` is about one variable; `feature` must be its name, not "
                f"{quote(feature)}."
            )
        analysis = self.analysis if rows is None else self.analysis.among(rows)
        variables = analysis.problem.choose(feature)
        (feature_sampler,) = samplers_of(analysis.problem, variables, sampler).values()
        estimating = {refit.number for refit in analysis.estimating}
        observed, predicted = [], []
        for case, refit in zip(analysis.cases, analysis.refits, strict=True):
            if refit.number not in estimating:
                continue
            distribution = case.conditional(feature_sampler, variables[feature])
            if distribution.prediction is None or len(variables[feature]) > 1:
                raise OptionError(
                    f"The sampler of {quote(feature)} makes no prediction that can be plotted "
                    f"({feature_sampler.label}); use another, or plot one variable of a group."
                )
            rows = pd.Index(case.sample.rows)
            observed.append(case.sample.variables[feature].set_axis(rows))
            levels = distribution.levels or None
            predicted.append(pd.DataFrame(distribution.prediction, columns=levels, index=rows))
        values, predictions = pd.concat(observed), pd.concat(predicted)
        context = analysis.context
        words = f"Out of sample, {context.refits} refits ({context.plan})."
        # A row that several refits evaluate is shown once.
        once = values[~values.index.duplicated()].sort_index()
        return agreement(once, predictions.groupby(predictions.index).mean(), words)

    @takes(refused={"by": ONE_GROUP})
    def causal(
        self,
        feature: str,
        *,
        grid: Grid = "quantile",
        points: int | None = None,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> CausalResults:
        r"""Causal effects, importance and share of variance of one feature, by plug-in.

        The model f replaces :math:`E(Y_x \mid Z)`, so that the effect of the feature on one row is
        :math:`CATE(x, x^*, z) = f(x, z) - f(x^*, z)`. The result has the mean of this effect over
        rows. It has MVIM and CVIM twice: as mean squares of the effect (Khan, Saarela and Kustra
        2025, Theorems 1 to 5) and as permutation estimates. It has the causal decomposition of
        variance (eq. 23; Chen et al. 2020): CVIM / (2 V(Y)), the share of variance that the feature
        explains causally, and the shares of the other variables and of the residuals. All this is
        causal only under the assumptions that the table states.

        Parameters
        ----------
        feature : str
            One variable.
        grid, points
            As for `pd`; effects are against the first level or the smallest value.
        {permutations}
        {sampler}
        {rows}
        {inference}

        Returns
        -------
        CausalResults

        Examples
        --------
        >>> causal = res.causal("bmi", grid=[20, 30])
        >>> causal.effects.params.round(1).to_dict()
        {'bmi[20]': 0.0, 'bmi[30]': 84.9}
        >>> causal.importance.params.round().to_dict()
        {'MVIM': 2748.0, 'CVIM': 2342.0}
        """
        problem = self.analysis.problem
        options: dict[str, Any] = {"permutations": permutations, "sampler": sampler}
        importance = causal_importance(problem, feature, **options)
        share = causal_share(problem, feature, **options)
        effects = causal_effects(problem, feature, grid=grid, points=points)
        asked = {
            "effects": effects,
            "importance": importance,
            "share": share,
            "rest": causal_rest(share),
        }
        return CausalResults(
            **self._together(
                lambda fit: {name: fit.estimate(one, **inference) for name, one in asked.items()}
            )
        )
