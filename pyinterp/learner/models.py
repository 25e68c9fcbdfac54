"""Sources of answers to estimands: models in memory, on a cluster, or sums of absent models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import PredictionError
from pyinterp.estimands.estimand import Estimand, check_estimate
from pyinterp.estimands.estimate import Estimate, ModelOnRows
from pyinterp.estimands.questions import key_of
from pyinterp.inference import Evaluations, Fold, RefitSums
from pyinterp.inference.half_sample.half_refits import HalfRefits
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.models.predictor import Kind
from pyinterp.parallel.progress import ProgressOption
from pyinterp.representation import frozen
from pyinterp.whatif import Engine, WhatIf

# How rows are chosen: by refit, positions among its rows, and among those again.
Positions = tuple[tuple[IntArray, ...], ...]


class Scope(NamedTuple):
    """The rows that evaluate: all of a fit, or some of them.

    Attributes
    ----------
    evaluations : Evaluations
    positions : tuple of tuple of ndarray
        How they are chosen.
    name : str
        The same of the same rows in every session; empty of all.
    """

    evaluations: Evaluations
    positions: Positions = ()
    name: str = ""


@frozen
class FitFacts:
    """What a fit knows of its predictions of the rows as they are.

    Attributes
    ----------
    half_refits : HalfRefits or None
        How refits on halves, and those of the estimate, predict; None without halves.
    plan_note : str
        Footnotes on the plan, and on rows that look ordered in time.
    """

    half_refits: HalfRefits | None
    plan_note: str


class Models(Protocol):
    """The models of a fit, wherever they are."""

    def measure(
        self, asked: Sequence[Estimand], scope: Scope, progress: ProgressOption = False
    ) -> list[RefitSums]:
        """Return the sums of estimands over refits, from one pass over the models."""

    def coefficient_errors(self, estimand: Estimand, scope: Scope) -> CoefficientErrors | None:
        """Return the errors of coefficients of one model; None if it states none."""

    def facts(self, describe: Callable[[Sequence[FloatArray]], FitFacts]) -> FitFacts:
        """Return `describe` of the predictions of every refit for its evaluation rows."""

    def mean_share(self) -> float:
        """Return the share of their training variance that means of predictions keep."""

    def cases(self, scope: Scope) -> tuple[ModelOnRows, ...]:
        """Return every model on its rows."""

    @property
    def trains(self) -> bool:
        """Whether there is a learner that trains again without a feature."""

    def some(self, refits: Sequence[int]) -> Models:
        """Return the models of some refits."""


class Answer(NamedTuple):
    """What one model answers.

    Attributes
    ----------
    estimate : Estimate
    engine : Engine
    names : tuple
        Of what a model reports: what its measurement is called.
    errors : CoefficientErrors or None
        Of its coefficients, for the delta method.
    """

    estimate: Estimate
    engine: Engine
    names: tuple[Any, ...] = ()
    errors: CoefficientErrors | None = None


def answers(case: ModelOnRows, asked: Sequence[Estimand]) -> list[Answer]:
    """Return the answers of one model on rows; a measurement that several read is made once."""
    measured = {}
    found = []
    for estimand in asked:
        key = key_of(estimand)[:2]
        if key not in measured:
            measured[key] = estimand.measure(case)
        estimate = estimand.read(measured[key])
        # Else they come with the numbers, or later, of all rows.
        if estimand.terms.names and estimand.pool is None:
            check_estimate(estimate, estimand, case.evaluation.nobs)
        names = ()
        if estimand.basis == "model":
            engine, names = Engine("the fitted model"), tuple(measured[key])
        elif estimand.leave_out:
            engine = Engine("refits without features")
        else:
            kind = estimand.predictions if estimand.score is None else estimand.score.needs
            engine = case.of_kind(kind or case.whatif.predictor.kind).engine
        found.append(Answer(estimate, engine, names))
    return found


def add_up(
    bases: Sequence[str], evaluations: Evaluations, found: Iterable[list[Answer]]
) -> list[RefitSums]:
    """Add up the answers of all models to estimands of some bases, in the order of refits."""
    sampled = replace(evaluations, share=1.0) if evaluations.share < 1 else evaluations
    folds = [Fold(evaluations if basis == "rows" else sampled) for basis in bases]
    engines: list[list[Engine]] = [[] for _ in bases]
    names: list[list[tuple[Any, ...]]] = [[] for _ in bases]
    for k, every in enumerate(found):
        for j, answer in enumerate(every):
            folds[j].add(k, answer.estimate)
            engines[j].append(answer.engine)
            names[j] += [answer.names] if answer.names else []
        every.clear()  # of a million rows they are large
    for used in engines:
        refused = {engine.name: engine.reason for engine in used if engine.reason}
        others = [engine.name for engine in used if engine.name not in refused]
        if refused and others:
            raise PredictionError(
                "One engine must answer for all refits, but some were asked by "
                f"{others[0]} and some by {' '.join(refused)} ({' '.join(refused.values())}); "
                'fit with `engine="batched"`.'
            )
    return [
        fold.result(engine=Engine.of_all(used), names=tuple(called))
        for fold, used, called in zip(folds, engines, names, strict=True)
    ]


def on_rows(case: ModelOnRows, rows: IntArray) -> ModelOnRows:
    """Return the case of the same model on some of its evaluation rows."""

    def serve(_: WhatIf, kind: Kind) -> WhatIf:
        return case.of_kind(kind).take(rows)

    def without(variables: tuple[str, ...], kind: Kind) -> FloatArray | None:
        predictions = case.without(variables, kind)
        return None if predictions is None else predictions[rows]

    return replace(case, whatif=case.whatif.take(rows), serve=serve, without=without)


def part_of_case(case: ModelOnRows, refit: int, positions: Positions) -> ModelOnRows:
    """Return the case of a refit on some of its rows."""
    for each in positions:
        case = on_rows(case, each[refit])
    return case
