"""Results of any estimand: the one place where estimates and inference come together."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, quote
from pyinterp.estimands.estimand import Estimand
from pyinterp.inference import Alternative, CovType, variance
from pyinterp.inference.options import InferenceOptions
from pyinterp.learner.analysis import Analysis
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults

__all__ = ["FittedModels"]


class FittedModels:
    """Fitted models, those of refits or a single one, for which estimands are estimated.

    Attributes
    ----------
    analysis : Analysis
        The models with their rows, seeds and measurements.
    """

    analysis: Analysis

    def __repr__(self) -> str:
        context = self.analysis.context
        refits = f", {context.refits} refits ({context.plan})" if context.level == "learner" else ""
        return f"<{type(self).__name__}: {context.learner}{refits}, {context.nobs} rows>"

    @takes()
    def estimate(
        self,
        estimand: Estimand,
        *,
        cov_type: CovType | None = None,
        alternative: Alternative = "two-sided",
        p_adjust: str | None = None,
        simultaneous: bool = False,
    ) -> EstimandResults:
        """Estimate any estimand; all other methods of estimands call this one.

        Parameters
        ----------
        estimand : Estimand
            What is estimated.
        {inference}

        Returns
        -------
        EstimandResults

        Raises
        ------
        OptionError
            If `estimand` is not an Estimand, or the options do not go together.
        """
        options = InferenceOptions(
            cov_type=cov_type,
            alternative=alternative,
            p_adjust=p_adjust,
            simultaneous=simultaneous,
        )
        if not isinstance(estimand, Estimand):
            raise OptionError(
                "`estimand` must be an Estimand, such as that of `pi.mean_over_rows`, not "
                f"{quote(estimand)}."
            )
        analysis = self.analysis
        replicates = analysis.replicates(estimand)
        beside = estimand.diagnostic
        return EstimandResults(
            estimand=estimand,
            replicates=replicates,
            variance=variance(replicates, options.cov_type),
            context=replace(analysis.context, engine=analysis.engine_of(estimand)),
            fit=analysis.fit(estimand),
            rows=tuple(r.evaluation.rows for r in analysis.estimating),
            labels=analysis.labels,
            alternative=options.alternative,
            p_adjust=options.p_adjust,
            simultaneous=options.simultaneous,
            data=_with_response(analysis.problem.population),
            diagnostic=None if beside is None else self.estimate(beside),
            corrected_params=_corrected_params(analysis, estimand, options.cov_type),
        )


def _with_response(population: Sample) -> pd.DataFrame:
    """Return the variables and, under its name, the response."""
    if population.response is None or population.y is None:
        return population.variables
    name = population.response.name
    return population.variables.assign(**{name: population.response.column(population.y)})


def _corrected_params(
    analysis: Analysis, estimand: Estimand, cov_type: CovType | None
) -> pd.Series[float] | None:
    """Return estimates corrected for the bias due to sampling variance; None without correction."""
    correction = estimand.correction
    if correction is None:
        return None
    means = analysis.replicates(
        replace(estimand, read=correction.underlying, lower_bound=None, correction=None),
        checked=False,
    )
    values = correction.correct(means.per_refit.mean(axis=0), variance(means, cov_type).cov)
    index = pd.Index(estimand.terms.names, name="term")
    return pd.Series(values, index=index, name="corrected")
