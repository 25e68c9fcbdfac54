"""Refits whose models are dropped: each is measured in the job that trains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pyinterp._typing import FloatArray
from pyinterp.distributions import Distribution
from pyinterp.errors import OptionError, PredictionError, PyinterpError, list_of, reason
from pyinterp.estimands.estimate import ModelOnRows
from pyinterp.inference.half_sample.half_fits import (
    Mixtures,
    predictions_of_mixtures,
    share_in_mean,
)
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.learner.analysis import Analysis, Finding
from pyinterp.learner.on_file import (
    AbsentModel,
    AnalysisOnFile,
    analysis_of,
    errors_of,
    findings_of,
    record_of,
)
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.parallel.threads import shared_cores
from pyinterp.resampling.refits import Refit
from pyinterp.whatif import Engine, WhatIf


@dataclass(frozen=True, kw_only=True)
class ModelRecord(AbsentModel):
    """What stays of a model that was measured.

    Attributes
    ----------
    factual : ndarray of shape (n,) or (n, classes)
        Its predictions of the evaluation rows.
    engines : mapping of str to Engine
        By the kind of predictions.
    findings : mapping of str to Finding
        By the digest of the estimand and of the rows that evaluate it.
    coefficient_errors : mapping of str to CoefficientErrors
        By the same digest.
    mixtures : list of (int, ndarray), or None
        What `predictions_of_mixtures` returns.
    distribution : Distribution or None
        The family that it predicts, if that was asked for.
    codes : frozenset of str
        Numbers that it takes as categories, if that was asked for.
    """

    factual: FloatArray
    engines: Mapping[Kind, Engine]
    findings: Mapping[str, Finding]
    coefficient_errors: Mapping[str, CoefficientErrors]
    mixtures: Mixtures | None
    distribution: Distribution | None
    codes: frozenset[str]


def record_model(
    refit: Refit,
    *,
    analyze: Callable[[tuple[Refit, ...]], Analysis],
    ask: Callable[[Analysis], object],
    workers: int,
) -> Predictor:
    """Return a predictor whose estimator is the record of a refit's model.

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
        analysis = analyze((replace(refit, group=None),))
        try:
            ask(analysis)
        except PyinterpError:
            raise
        except Exception as error:
            raise OptionError(
                "`measure` must be a function of results that asks for estimands, such as "
                f"`lambda res: res.pfi()`, but it raised an error: {reason(error)}."
            ) from error
        (case,) = analysis.cases
        problem = analysis.problem
        known = vars(problem).get("predictive")
        kinds = [case.whatif.predictor.kind, *case._by_kind]
        model = ModelRecord(
            learner_name=predictor.name,
            factual=case.whatif.factual,
            engines={kind: case.of_kind(kind).engine for kind in kinds},
            findings=findings_of(analysis),
            coefficient_errors=errors_of(analysis),
            mixtures=predictions_of_mixtures(
                (refit,), problem.population.variables, analysis.seeds
            ),
            distribution=None if known is None else known.distribution,
            codes=vars(problem).get("codes", frozenset()),
        )
        analysis.subsets.clear()  # they refer to it: models then go now, not at a collection
    return replace(predictor, estimator=model, _call=model.predict)


def analysis_of_records(analysis: Analysis) -> AnalysisOnFile:
    """Return the analysis of refits whose estimators are records, with all that was measured.

    Raises
    ------
    OptionError
        If not all refits were asked for the same.
    PredictionError
        If they state different families of distributions.
    """
    models: list[ModelRecord] = [refit.predictor.estimator for refit in analysis.refits]
    first = models[0]
    for refit, model in zip(analysis.refits, models, strict=True):
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
        if model.distribution != first.distribution:
            raise PredictionError(
                "All refits must state the same family of distributions, but that of refit "
                f"{refit.number} is {model.distribution}, and of the first {first.distribution}; "
                "fix what makes them differ, such as the number of components."
            )
    mixtures: Mixtures = []
    for model in models:
        mixtures += model.mixtures or []
    refuses = any(model.mixtures is None for model in models)
    known = vars(analysis)
    vars(analysis.problem)["codes"] = first.codes
    known["cases"] = tuple(_case(refit, analysis) for refit in analysis.refits)
    if analysis.half_fits is not None:
        known["mean_share"] = share_in_mean(None if refuses else mixtures)
    record = replace(
        record_of(analysis),
        findings={
            digest: replace(finding, by_refit=tuple(m.findings[digest].by_refit[0] for m in models))
            for digest, finding in first.findings.items()
        },
        coefficient_errors=first.coefficient_errors,  # of one model
        distribution=first.distribution,
    )
    return replace(analysis_of(record), data=analysis.data, refits=analysis.refits)


def _case(refit: Refit, analysis: Analysis) -> ModelOnRows:
    """Return a case that knows predictions of the rows as they are, and engines."""
    model: ModelRecord = refit.predictor.estimator
    by_kind = {}
    for kind, engine in model.engines.items():
        by_kind[kind] = WhatIf(refit.predictor, refit.design, refit.evaluation)
        by_kind[kind].factual, by_kind[kind].engine = model.factual, engine
    return ModelOnRows(
        whatif=by_kind[refit.predictor.kind],
        train=refit.train,
        population=analysis.problem.population,
        level_codes=analysis.problem.level_codes,
        draw=model.predict,
        serve=model.predict,
        without=model.predict,
        _by_kind=by_kind,
    )
