"""What was measured of models that are not here: from files, and of models that were dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Never, cast

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.errors import FileError, OptionError, list_of, short
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.questions import Question, key_of, request_of
from pyinterp.inference import RefitSums
from pyinterp.inference.half_sample.half_refits import (
    Mixtures,
    predictions_of_mixtures,
    share_in_mean,
)
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.learner.analysis import CROSS_FITS, Analysis
from pyinterp.learner.models import Answer, FitFacts, Scope, add_up
from pyinterp.learner.models_here import ModelsHere, other_family
from pyinterp.learner.planning import plan_of
from pyinterp.models.predictor import NO_MODELS, Predictor
from pyinterp.models.threads import shared_cores
from pyinterp.parallel.progress import ProgressOption
from pyinterp.representation import frozen
from pyinterp.resampling.refits import Refit, Remains
from pyinterp.storage import NAMELESS


@frozen
class Finding:
    """What was measured of one estimand.

    Attributes
    ----------
    description : str
        What the estimand is called in headers.
    sums : RefitSums
    errors : CoefficientErrors or None
        For the delta method of one model.
    scope : str
        Name of the rows that evaluate, as in `Scope`.
    basis : str
        As of the estimand.
    """

    description: str
    sums: RefitSums
    errors: CoefficientErrors | None = None
    scope: str = ""
    basis: str = "rows"


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordOfModels:
    """What was measured of models that are not here.

    Attributes
    ----------
    findings : mapping of str to Finding
        By the text of the request, after the name of the rows that evaluate.
    fit_facts : FitFacts
    share : float or None
        As `mean_share`, if it was asked for.
    of_codes : frozenset of str
        Numbers that the first model takes as categories.
    distributions : Predictor or None
        The first model's predictor of distributions, if it was asked for.
    models : None
        Older versions could keep models in files.
    """

    findings: Mapping[str, Finding]
    fit_facts: FitFacts
    share: float | None
    of_codes: frozenset[str]
    distributions: Predictor | None
    models: None = None

    @property
    def trains(self) -> bool:
        """Whether there was a learner that trains again; the features it left out are known."""
        return True

    def some(self, refits: Sequence[int]) -> RecordOfModels:
        """Return the same models: kept sums have the name of their rows."""
        return self

    def measure(
        self, asked: Sequence[Estimand], scope: Scope, progress: ProgressOption = False
    ) -> list[RefitSums]:
        """Return the kept sums of estimands, over refits."""
        sums = []
        for estimand in asked:
            finding = self.findings.get(scope.name + request_of(estimand))
            if finding is None:
                raise self._unknown(estimand)
            sums.append(finding.sums)
        return sums

    def _unknown(self, estimand: Estimand) -> FileError:
        """Return the error on an estimand that was not measured, with those that were."""
        known, asked = {each.description for each in self.findings.values()}, estimand.description
        others = (
            f"; {asked} of other features or rows, or with other options (a table of all features "
            "has each: ask as before, and take its row of `tidy()`)"
        ) * (asked in known)
        return FileError(
            f"{asked} was not measured as asked here, and no models are kept that it could be "
            "measured on; ask for it before `save`, or in `measure` of `fit`, or pickle the fit, "
            "which keeps the models. Measured: "
            f"{list_of(sorted(known), most=20, limit=400) or 'nothing'}{others}."
        )

    def coefficient_errors(self, estimand: Estimand, scope: Scope) -> CoefficientErrors | None:
        """Return the kept errors of coefficients, for the delta method."""
        finding = self.findings.get(scope.name + request_of(estimand))
        return None if finding is None else finding.errors

    def facts(self, describe: Callable[[Sequence[FloatArray]], FitFacts]) -> FitFacts:
        """Return the description of all refits' predictions that was made when they had models."""
        return self.fit_facts

    def mean_share(self) -> float:
        """Return the share of their training variance that means of predictions keep."""
        if self.share is None:
            raise FileError(
                "No importances were measured, which this needs; ask the fit for `pfi()` before "
                "`save`."
            )
        return self.share

    def cases(self, scope: Scope) -> Never:
        """Raise `FileError`."""
        raise FileError(NO_MODELS)

    def predictive(self) -> Predictor:
        """Return the first model's predictor of distributions, if it was asked for."""
        if self.distributions is None:
            raise FileError(NO_MODELS)
        return self.distributions


@frozen
class ModelRecord:
    """What was measured of one model.

    Attributes
    ----------
    factual : ndarray of shape (n,) or (n, classes)
        Its predictions of the evaluation rows.
    replies : mapping of str to Answer
        By the text of the request, after the name of the rows.
    mixtures : list of (int, ndarray), or None
        What `predictions_of_mixtures` returns.
    distributions : Predictor or None
        Its predictor of distributions, without the model, if that was asked for.
    codes : frozenset of str
        Numbers that it takes as categories.
    """

    factual: FloatArray
    replies: Mapping[str, Answer]
    mixtures: Mixtures | None
    distributions: Predictor | None
    codes: frozenset[str]

    @property
    def arrays(self) -> dict[str, FloatArray]:
        """All that was measured, by request: of refits that are the same it is the same."""
        arrays = {"predictions": self.factual}
        for text, reply in self.replies.items():
            estimate = reply.estimate
            arrays[text] = np.vstack([estimate.value, estimate.rows])
        return arrays


def drop_model(
    refit: Refit,
    *,
    analyze: Callable[[tuple[Refit, ...]], Analysis],
    questions: Sequence[Question],
    pools: Callable[[Refit], bool],
    workers: int,
) -> Remains:
    """Ask one refit's model all questions, and return it without the model but with the answers.

    Parameters
    ----------
    refit : Refit
    analyze : callable
        ``analyze(refits)`` returns their analysis.
    questions : sequence of Question
    pools : callable
        ``pools(refit)`` says whether its rows are pooled with those of others.
    workers : int
        How many jobs share the cores.

    Returns
    -------
    Remains
        A predictor that has the model's name alone, and the `ModelRecord` of its answers, of its
        predictions, and of what is computed of those of all refits together.
    """
    predictor = refit.predictor
    with shared_cores([predictor.estimator], workers):
        # Alone it is in no pair or fold.
        analysis = analyze((replace(refit, group=None, share=1.0),))
        replies, problem = dict[str, Answer](), analysis.problem
        models = cast("ModelsHere", analysis.models)
        for part, estimands in _requests(questions, analysis).values():
            asked = {t: e for t, e in estimands.items() if e.pool is None or pools(refit)}
            models.train([*asked.values()])
            answers = models.answers(0, [*asked.values()], part.positions)
            for (text, estimand), answer in zip(asked.items(), answers, strict=True):
                by_delta = part.by_delta(estimand)
                errors = models.coefficient_errors(estimand, part.scope) if by_delta else None
                replies[part.name + text] = answer._replace(errors=errors)
        (case,), stated = analysis.cases, stated_by(problem)
        record = ModelRecord(
            factual=case.whatif.factual,
            replies=replies,
            mixtures=predictions_of_mixtures((refit,), problem.sample.variables, analysis.seeds),
            distributions=stated and stated.absent(),
            codes=problem.codes,
        )
        analysis.subsets.clear()  # they refer to it: models then go now, not at a collection
    return Remains(predictor.absent(), record)


def stated_by(problem: Problem) -> Predictor | None:
    """Return the first model's predictor of distributions, if it was asked for."""
    if problem.predictor.kind == "probability":
        return problem.predictive
    return vars(problem).get("predictive")


def _requests(
    questions: Sequence[Question], analysis: Analysis
) -> dict[str, tuple[Analysis, dict[str, Estimand]]]:
    """Return the estimands that questions need, by the text of their request.

    They are listed by the name of a part of the rows, beside its analysis.
    """
    requests: dict[str, tuple[Analysis, dict[str, Estimand]]] = {}
    for question in questions:
        for one in question.of(analysis.problem).values():
            plan = plan_of(one, analysis, question)
            for part in plan.parts:
                _, estimands = requests.setdefault(part.name, (part, {}))
                for estimand in plan.every:
                    text = request_of(estimand)
                    known = estimands.setdefault(text, estimand)
                    if NAMELESS in text or key_of(known) != key_of(estimand):
                        raise OptionError(
                            "A function must have a name of its own, by which what was measured "
                            f"with it is found, but {estimand.description} has one without, or two "
                            "of one name: write `def`, or `pi.Loss` with a name, or give an "
                            "estimand a `key` of its own."
                        )
    return requests


def without_models(analysis: Analysis, questions: Sequence[Question]) -> Analysis:
    """Return the analysis of refits whose models were dropped, with all that was measured.

    Raises
    ------
    OptionError
        If questions are about different estimands for different refits.
    PredictionError
        If refits state different families of distributions.
    """
    records = {refit.number: refit.record for refit in analysis.refits}
    first, *_ = records.values()
    for number, record in records.items():
        families = [r.distributions and r.distributions.distribution for r in (record, first)]
        if families[0] != families[1]:
            raise other_family(number, *families)
    mixtures: Mixtures = []
    for record in records.values():
        mixtures += record.mixtures or []
    refuses = any(record.mixtures is None for record in records.values())
    models = RecordOfModels(
        findings={},
        fit_facts=analysis._describe([record.factual for record in records.values()]),
        share=share_in_mean(None if refuses else mixtures),
        of_codes=first.codes,
        distributions=first.distributions,
    )
    refits = tuple(replace(refit, record=None) for refit in analysis.refits)

    def recalling(record: RecordOfModels) -> Analysis:
        problem = replace(analysis.problem, elsewhere=record)
        return replace(analysis, problem=problem, refits=refits, models=record)

    findings = {}
    for part, estimands in _requests(questions, recalling(models)).values():
        asked = list(estimands)
        replies = [
            [
                _reply(records, refit, f"{part.name.removesuffix(CROSS_FITS)}{text}")
                for text in asked
            ]
            for refit in part.refits
        ]
        bases = [estimand.basis for estimand in estimands.values()]
        sums = add_up(bases, part.evaluations, map(list, replies))
        for estimand, one, reply in zip(estimands.values(), sums, replies[0], strict=True):
            findings[part.name + request_of(estimand)] = Finding(
                description=estimand.description,
                sums=one,
                errors=reply.errors,
                scope=part.name,
                basis=estimand.basis,
            )
    return recalling(replace(models, findings=findings))


def _reply(records: Mapping[int, ModelRecord], refit: Refit, text: str) -> Answer:
    """Return the reply of a refit to a request."""
    replies = records[refit.number].replies
    if text not in replies:
        raise OptionError(
            "A question of `measure` must be about the same estimand for every refit, but refit "
            f"{refit.number} was not asked for {short(text, 100)}."
        )
    return replies[text]
