"""All methods of a fitted learner or model: one per estimand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from sklearn.metrics import get_scorer_names

from pyinterp.data.features import names_of
from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.estimands.importance.permutation import Permutations
from pyinterp.estimands.metric import metric_of_rows
from pyinterp.estimands.risk import RiskRelation, risk
from pyinterp.learner.conditions import Conditions
from pyinterp.learner.default_table import DefaultTable
from pyinterp.learner.effects import Effects
from pyinterp.learner.fitted_models import ONE_GROUP, Inference
from pyinterp.learner.uncertainties import Uncertainties
from pyinterp.losses.metric_functions import MetricLike
from pyinterp.losses.metrics import METRICS
from pyinterp.losses.rowwise import LossLike
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults
from pyinterp.results.together import ImportanceResults
from pyinterp.samplers import SamplerLike, check_names, check_sampler

__all__ = ["MEASURES", "Interpretable"]

# Measures with one value per feature: their methods, and which options of `importance` they take.
BY_PERMUTATION = ("features", "permutations")
MEASURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "pfi": ("pfi", BY_PERMUTATION),
    "mvim": ("mvim", BY_PERMUTATION),
    "cvim": ("cvim", (*BY_PERMUTATION, "sampler")),
    "amvim": ("amvim", (*BY_PERMUTATION, "sampler")),
    "loco": ("loco", ("features",)),
    "firm": ("firm", ("features",)),
    "likelihood_pfi": ("likelihood_pfi", BY_PERMUTATION),
    "entropy_pfi": ("entropy_pfi", BY_PERMUTATION),
    "native": ("native_importance", ()),
}


class Interpretable(Effects, DefaultTable, Conditions, Uncertainties):
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
        """
        estimand = risk(self.analysis.problem, loss=loss, relation=relation)
        return self.estimate(estimand, **inference)

    @takes()
    def metric(
        self,
        metric: MetricLike,
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        """Metric of all evaluation rows together, such as an area under a curve.

        It has the sign that it is defined with: "neg_mean_absolute_error" is negative. For a
        learner it is the mean over refits of the metric on each refit's evaluation rows. The
        standard error of one model is that of the mean of the rows' influences, which are
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
        """
        return self.estimate(metric_of_rows(self.analysis.problem, metric), **inference)

    @takes(refused={"by": ONE_GROUP})
    def importance(
        self,
        measures: str | Sequence[str] = ("mvim", "cvim", "amvim"),
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> ImportanceResults:
        """Return several importances of the same features side by side.

        Parameters
        ----------
        measures : str or sequence of str
            "pfi", "mvim", "cvim", "amvim", "loco", "firm", "likelihood_pfi", "entropy_pfi", which
            are names of methods; "native", what the fitted model reports (`native_importance`); or
            the name of a metric such as "rmse", "r2" or "roc_auc", for the PFI by that metric. All
            have default options. A feature that a measure has no value for, such as a category
            among coefficients, has none in its column.
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
        """
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
        check_names(sampler, self.analysis.problem.choose(features))
        options = {"features": features, "permutations": permutations, "sampler": sampler}
        results = {}
        for name in names:
            method, taken = MEASURES.get(name, ("pfi", BY_PERMUTATION))
            chosen: dict[str, Any] = {option: options[option] for option in taken}
            if name not in MEASURES:
                chosen["metric"] = name
            results[name] = getattr(self, method)(**chosen, **inference)
        return ImportanceResults(results)
