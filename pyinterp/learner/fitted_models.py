"""How a question is put to an analysis and answered with its inference."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from pyinterp.estimands.estimand import Estimand
from pyinterp.inference import CovType, variance
from pyinterp.inference.options import Reading, options_of
from pyinterp.learner.analysis import Analysis
from pyinterp.losses.rowwise import LossLike
from pyinterp.results.results import EstimandResults

__all__ = ["Asked"]


class Asked:
    """Fitted models of which questions can be asked."""

    _analysis: Analysis

    def __repr__(self) -> str:
        context = self._analysis.context
        made = f", {context.refits} refits ({context.plan})" if context.level == "learner" else ""
        return f"<{type(self).__name__}: {context.learner}{made}, {context.nobs} rows>"

    @property
    def _squared(self) -> LossLike:
        """The squared error; of classes, that of their indicators."""
        return "squared" if self._analysis.subject.predictor.classes is None else "brier"

    def _results(
        self, estimand: Estimand, reading: Reading, loss: LossLike | None
    ) -> EstimandResults:
        options = options_of(reading)
        analysis = self._analysis
        evidence = analysis.evidence(estimand)
        beside = estimand.diagnostic
        axis_names = estimand.terms.axis_names
        return EstimandResults(
            estimand=estimand,
            evidence=evidence,
            variance=variance(evidence, options.cov_type),
            context=replace(analysis.context, engine=analysis.engine_of(estimand)),
            fit=analysis.fit(loss),
            rows=tuple(r.evaluation.rows for r in analysis.estimating),
            labels=tuple(r.evaluation.labels for r in analysis.estimating),
            alternative=options.alternative,
            p_adjust=options.p_adjust,
            simultaneous=options.simultaneous,
            support={n: analysis.subject.population.variables[n].to_numpy() for n in axis_names},
            diagnostic=None if beside is None else self._results(beside, {}, None),
            corrected=_corrected(analysis, estimand, options.cov_type),
        )


def _corrected(
    analysis: Analysis, estimand: Estimand, cov_type: CovType | None
) -> pd.Series[float] | None:
    """Return estimates without the bias that the sampling variance of the means makes."""
    correction = estimand.correction
    if correction is None:
        return None
    means = analysis.evidence(
        replace(estimand, read=correction.underlying, floor=None, correction=None)
    )
    values = correction.correct(means.per_refit.mean(axis=0), variance(means, cov_type).cov)
    index = pd.Index(estimand.terms.names, name="term")
    return pd.Series(values, index=index, name="corrected")
