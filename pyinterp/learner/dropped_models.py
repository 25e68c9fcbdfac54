"""Refits whose models are dropped: each is measured in the job that trains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import OptionError, PyinterpError, list_of, reason
from pyinterp.inference.half_sample.half_fits import (
    Mixtures,
    predictions_of_mixtures,
    share_in_mean,
)
from pyinterp.learner.analysis import Analysis
from pyinterp.learner.models import Answer, add_up
from pyinterp.learner.models_here import other_family
from pyinterp.learner.models_on_record import (
    AbsentModel,
    Finding,
    RecordOfModels,
    distributions_of,
    findings_of,
    parts_of,
    without_model,
)
from pyinterp.models.predictor import Predictor
from pyinterp.models.threads import shared_cores
from pyinterp.resampling.refits import Refit


@dataclass(frozen=True, kw_only=True)
class DroppedModel(AbsentModel):
    """What stays of a model that was measured.

    Attributes
    ----------
    factual : ndarray of shape (n,) or (n, classes)
        Its predictions of the evaluation rows.
    findings : mapping of str to Finding
        By the text of the request, as of `findings_of`.
    mixtures : list of (int, ndarray), or None
        What `predictions_of_mixtures` returns.
    distributions : Predictor or None
        Its predictor of distributions, without the model, if that was asked for.
    codes : frozenset of str
        Numbers that it takes as categories.
    rows : mapping of str to ndarray of int
        Distinct rows that evaluated it, by the name of the scope.
    """

    factual: FloatArray
    findings: Mapping[str, Finding]
    mixtures: Mixtures | None
    distributions: Predictor | None
    codes: frozenset[str]
    rows: Mapping[str, IntArray]

    @property
    def arrays(self) -> dict[str, FloatArray]:
        """All that was measured, by request: of refits that are the same it is the same."""
        arrays = {"predictions": self.factual}
        for text, finding in self.findings.items():
            found = finding.tally
            parts = [found.values, found.effects, *(one.rows for one in found.single)]
            arrays[text] = np.vstack([part for part in parts if part is not None])
        return arrays


def drop_model(
    refit: Refit,
    *,
    analyze: Callable[[tuple[Refit, ...]], Analysis],
    ask: Callable[[Analysis], object],
    workers: int,
) -> Predictor:
    """Return a predictor whose estimator is what stays of a refit's model.

    Parameters
    ----------
    refit : Refit
    analyze : callable
        ``analyze(refits)`` returns their analysis.
    ask : callable
        ``ask(analysis)`` measures estimands.
    workers : int
        How many jobs share the cores.
    """
    predictor = refit.predictor
    with shared_cores([predictor.estimator], workers):
        # Alone it is in no pair or fold.
        analysis = analyze((replace(refit, group=None, share=1.0),))
        try:
            ask(analysis)
        except PyinterpError:
            raise
        except Exception as error:
            raise OptionError(
                "`measure` must be a function of results that asks for estimands, such as "
                f"`lambda res: res.pfi()`, but it raised an error: {reason(error)}."
            ) from error
        (case,), problem = analysis.cases, analysis.problem
        model = DroppedModel(
            learner_name=predictor.name,
            factual=case.whatif.factual,
            findings=findings_of(analysis),
            mixtures=predictions_of_mixtures(
                (refit,), problem.population.variables, analysis.seeds
            ),
            distributions=distributions_of(analysis),
            codes=problem.codes,
            rows={part.name: part.evaluations.rows for part in parts_of(analysis)},
        )
        analysis.subsets.clear()  # they refer to it: models then go now, not at a collection
    return without_model(predictor, model)


def analysis_without_models(analysis: Analysis) -> Analysis:
    """Return the analysis of refits whose models were dropped, with all that was measured.

    Raises
    ------
    OptionError
        If not all refits were asked for the same.
    PredictionError
        If they state different families of distributions.
    """
    dropped: list[DroppedModel] = [refit.predictor.estimator for refit in analysis.refits]
    first = dropped[0]
    for refit, model in zip(analysis.refits, dropped, strict=True):
        if model.findings.keys() != first.findings.keys():
            asked, before = (
                list_of(dict.fromkeys(each.description for each in m.findings.values()), most=20)
                for m in (model, first)
            )
            raise OptionError(
                "`measure` must ask for the same estimands, with the same options, of every refit, "
                f"but it asked refit {refit.number} for {asked}, and refit "
                f"{analysis.refits[0].number} for {before}."
            )
        families = [m.distributions and m.distributions.distribution for m in (model, first)]
        if families[0] != families[1]:
            raise other_family(refit.number, *families)
    mixtures: Mixtures = []
    for model in dropped:
        mixtures += model.mixtures or []
    refuses = any(model.mixtures is None for model in dropped)
    models = RecordOfModels(
        findings={text: _add_up(text, analysis, dropped) for text in first.findings},
        fit_facts=analysis._describe([model.factual for model in dropped]),
        share=share_in_mean(None if refuses else mixtures),
        of_codes=first.codes,
        distributions=first.distributions,
    )
    absent = AbsentModel(learner_name=first.learner_name)
    refits = tuple(
        replace(refit, predictor=without_model(refit.predictor, absent))
        for refit in analysis.refits
    )
    problem = replace(analysis.problem, predictor=refits[0].predictor, elsewhere=models)
    return replace(analysis, problem=problem, refits=refits, models=models)


def _add_up(text: str, analysis: Analysis, dropped: list[DroppedModel]) -> Finding:
    """Return what was measured of one request, of all refits."""
    found = [model.findings[text] for model in dropped]
    first, evaluations = found[0], analysis.evaluations
    if first.scope:
        last = max(int(evaluations.rows.max()), *(int(m.rows[first.scope].max()) for m in dropped))
        chosen = np.zeros(last + 1, dtype=bool)
        for model in dropped:
            chosen[model.rows[first.scope]] = True
        evaluations, _ = evaluations.among(chosen)
    answers = (
        [Answer(tally.single[0], tally.engine, tally.names[0] if tally.names else ())]
        for tally in (finding.tally for finding in found)
    )
    return replace(first, tally=add_up([first.basis], evaluations, answers)[0])
