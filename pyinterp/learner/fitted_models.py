"""Results of any estimand: the one place where estimates and inference come together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import numpy as np
import pandas as pd

from pyinterp.checks import check_jobs
from pyinterp.data.row_data import Rows
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, short
from pyinterp.estimands.estimand import Correction
from pyinterp.estimands.questions import By, Question
from pyinterp.hints import Hints
from pyinterp.inference import Alternative, CovType, check_inference, side_by_side, variance
from pyinterp.learner.analysis import Analysis
from pyinterp.learner.planning import Plan, measured_plans, underlying
from pyinterp.parallel.progress import ProgressOption
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults
from pyinterp.results.together import (
    CausalResults,
    CurveResults,
    ImportanceResults,
    PopulationResults,
    UncertaintyResults,
)


class Inference(TypedDict, total=False):
    """Options of the inference of every estimand."""

    cov_type: CovType | None
    alternative: Alternative
    p_adjust: str | None
    simultaneous: bool
    progress: ProgressOption


class MethodOptions(Inference, total=False):
    """Options that methods take beside those of their questions."""

    rows: Rows
    by: By


class FittedModels(Hints):
    """Fitted models, of refits or a single one, which answer questions.

    Attributes
    ----------
    analysis : Analysis
        The models with their rows, seeds and measurements.
    """

    analysis: Analysis

    def __repr__(self) -> str:
        context = self.analysis.context
        refits = f", {context.refits} refits ({context.plan})" if context.level == "learner" else ""
        parts = [short(context.formula, 100), context.specification or context.learner]
        name = ", ".join(filter(None, parts))
        return f"<{type(self).__name__}: {name}{refits}, {context.nobs} rows>"

    @takes()
    def answer(self, question: Question, **inference: Unpack[Inference]) -> Any:
        """Answer a question of `pyinterp.ask`, as the method of its name does.

        Parameters
        ----------
        question : Question
        {inference}

        Returns
        -------
        EstimandResults, or what else the method returns

        Examples
        --------
        >>> res.answer(pi.ask("mvim", "bmi")).params.round().to_dict()
        {'bmi': 2725.0}
        """
        return self._answers([question], **inference)[0]

    def _answers(
        self,
        questions: Sequence[Question],
        *,
        cov_type: CovType | None = None,
        alternative: Alternative = "two-sided",
        p_adjust: str | None = None,
        simultaneous: bool = False,
        progress: ProgressOption = False,
    ) -> list[Any]:
        """Answer several questions, all of them measured in one pass over the models.

        Models make rows ready once then, and samplers learn once.
        """
        check_inference(cov_type, alternative, p_adjust, simultaneous=simultaneous)
        check_jobs(None, progress)
        answers = []
        every = measured_plans(questions, self.analysis, progress)
        for question, plans in zip(questions, every, strict=True):
            if alternative == "less" and any(p.estimand.parameter.only for p in plans.values()):
                raise OptionError(
                    "Shares of the population have lower limits and one-sided tests alone: leave "
                    '`alternative="less"` out.'
                )
            parts = {
                name: _results(
                    plan,
                    cov_type,
                    alternative=plan.estimand.parameter.only or alternative,
                    p_adjust=p_adjust,
                    simultaneous=bool(simultaneous),
                )
                for name, plan in plans.items()
            }
            answers.append(_as_method(question, parts))
        return answers


def _as_method(question: Question, parts: dict[str, EstimandResults]) -> Any:
    """Return the results of a question's estimands as the method of its name does."""
    name, options = question.name, question.options
    if "" in parts:
        one = parts[""]
        return PopulationResults(**one._state()) if name == "population" else one
    if name == "causal":
        return CausalResults(**parts)
    if name == "uncertainty":
        return UncertaintyResults(**parts, alpha=options.get("alpha", 0.05))
    return CurveResults(parts) if name == "pd" else ImportanceResults(parts)


def _results(plan: Plan, cov_type: CovType | None, **inference: Any) -> EstimandResults:
    """Return the results of an estimand that is measured."""
    estimand, analysis, correction = plan.estimand, plan.analysis, plan.estimand.correction
    every = [part.replicates(estimand, cov_type) for part in plan.parts]
    replicates = side_by_side(every) if plan.context.groups else every[0]
    beside = plan.diagnostic
    # All that asks models comes before the variance, which may be an error.
    fit = analysis.fit(estimand)
    diagnostic = beside and _results(
        beside, None, alternative=beside.estimand.parameter.only or "two-sided"
    )
    positions = [p.evaluations.rows[p.evaluations.times > 0] for p in plan.parts]
    rows = np.concatenate(positions)
    (measured,) = plan.parts[0].measure(estimand)
    return EstimandResults(
        estimand=plan.terms,
        replicates=replicates,
        variance=variance(replicates, cov_type),
        context=replace(plan.context, engine=measured.engine, plan_note=analysis.facts.plan_note),
        fit=fit,
        rows=rows,
        labels=analysis.labels(rows),
        data=_with_response(analysis.problem.sample),
        diagnostic=diagnostic,
        corrected_params=(
            None if correction is None else _corrected_params(plan, correction, cov_type)
        ),
        **inference,
    )


def _with_response(sample: Sample) -> pd.DataFrame:
    """Return the variables and, under its name, the response."""
    response = sample.response
    if response is None or sample.y is None:
        return sample.variables
    return sample.variables.assign(**{response.name: response.column(sample.y)})


def _corrected_params(
    plan: Plan, correction: Correction, cov_type: CovType | None
) -> pd.Series[float]:
    """Return estimates corrected for the bias due to sampling variance."""
    means_of = underlying(plan.estimand, correction)
    values = []
    for part in plan.parts:
        means = part.replicates(means_of, cov_type)
        covariance = variance(means, cov_type).cov
        values.append(correction.correct(means.per_refit.mean(axis=0), covariance))
    index = pd.Index(plan.terms.terms.names, name="term")
    return pd.Series(np.concatenate(values), index=index, name="corrected")
