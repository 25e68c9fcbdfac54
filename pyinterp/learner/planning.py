"""What is measured for a question, and on which rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pyinterp.errors import OptionError
from pyinterp.estimands.estimand import Correction, Estimand, Terms
from pyinterp.estimands.groups import by_group
from pyinterp.estimands.questions import Question
from pyinterp.inference import Replicates
from pyinterp.learner.analysis import Analysis
from pyinterp.parallel.progress import ProgressOption
from pyinterp.resampling.resampling import SMALL_SHARE
from pyinterp.results.header import Context


class Plan(NamedTuple):
    """An estimand, the rows on which it is measured, and the diagnostic beside it.

    Attributes
    ----------
    estimand : Estimand
    terms : Estimand
        The same with the terms of all groups.
    analysis : Analysis
        Of the rows.
    parts : list of Analysis
        Of every group of rows.
    context : Context
        The header.
    diagnostic : Plan or None
    every : list of Estimand
        All that is read for its table.
    """

    estimand: Estimand
    terms: Estimand
    analysis: Analysis
    parts: list[Analysis]
    context: Context
    diagnostic: Plan | None
    every: list[Estimand]


def underlying(estimand: Estimand, correction: Correction) -> Estimand:
    """Return the means that an estimand corrects; their terms come with the numbers."""
    return replace(
        estimand,
        terms=Terms.plain(()),
        read=correction.underlying,
        form=(estimand.form, "means"),
        parameter=replace(estimand.parameter, no_effect=None),
        correction=None,
    )


def plan_of(estimand: Estimand, analysis: Analysis, question: Question) -> Plan:
    """Return the plan of an estimand on the rows, and for the groups, of a question."""
    rows, by = question.rows, question.by
    if estimand.basis == "model" and (rows is not None or by is not None):
        raise OptionError(
            f"`{'by' if rows is None else 'rows'}` would change nothing: "
            f"{estimand.words.title} is what the fitted model reports, whatever the "
            "evaluation rows."
        )
    if estimand.leave_out or estimand.pool is not None:
        analysis.need_trainer()
    some = analysis if rows is None else analysis.among(rows)
    context = some.context
    if estimand.pool is not None:
        some = some.cross_fits
        context = replace(some.context, level="population")
    share = some.evaluations.share
    if share < 1:
        few = ", less than a tenth of them," if share < SMALL_SHARE else ""
        inexact = f"as some of all evaluation rows{few or ','} and maybe draws, are used"
        estimand = replace(estimand, words=replace(estimand.words, inexact=inexact))
    parts, terms = [some], estimand
    if by is not None:
        groups = some.groups(by)
        parts = [
            some.on(groups.of_row == k, f"{groups.name} = {level}")
            for k, level in enumerate(groups.levels)
        ]
        terms = by_group(estimand, groups)
        context = replace(context, groups=groups.counts)
    every, diagnostic = [estimand], None
    if estimand.correction is not None:
        every.append(underlying(estimand, estimand.correction))
    if by is None:
        every += some.scores(estimand)
    if estimand.diagnostic is not None:
        diagnostic = plan_of(estimand.diagnostic, analysis, question)
        every += diagnostic.every
    return Plan(estimand, terms, some, parts, context, diagnostic, every)


def with_terms(estimand: Estimand, analysis: Analysis, progress: ProgressOption) -> Estimand:
    """Return an estimand with its terms, which for some only measurements name."""
    if estimand.complete is None:
        return estimand
    plan = plan_of(estimand, analysis, Question("estimate"))
    (sums,) = plan.analysis.measure(estimand, progress=progress)
    evaluations = plan.analysis.evaluations
    return estimand.complete(estimand, Replicates(evaluations=evaluations, sums=sums))


def measured_plans(
    questions: Sequence[Question], analysis: Analysis, progress: ProgressOption
) -> list[dict[str, Plan]]:
    """Return the plans of the estimands of questions, by name, after all are measured.

    What is new is measured in one pass over the models for the same rows.
    """
    plans: list[dict[str, Plan]] = []
    by_rows: dict[int, tuple[Analysis, list[Estimand]]] = {}
    for question in questions:
        plans.append({})
        for name, one in question.of(analysis.problem).items():
            estimand = with_terms(one, analysis, progress)
            plan = plans[-1][name] = plan_of(estimand, analysis, question)
            for part in plan.parts:
                by_rows.setdefault(id(part), (part, []))[1].extend(plan.every)
    for part, estimands in by_rows.values():
        part.measure(*estimands, progress=progress)
    return plans
