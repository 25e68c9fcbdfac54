"""Models in memory: estimands are measured on one after the other, and only sums stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast
from weakref import ref

import numpy as np
from joblib import effective_n_jobs

from pyinterp._typing import FloatArray
from pyinterp.errors import PredictionError
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.estimate import ModelOnRows
from pyinterp.inference import RefitSums
from pyinterp.inference.half_sample.half_refits import predictions_of_mixtures, share_in_mean
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.learner.models import (
    Answer,
    FitFacts,
    Positions,
    Scope,
    add_up,
    answers,
    part_of_case,
)
from pyinterp.models.coefficients import Coefficients, coefficients_of
from pyinterp.models.predictive import predictive
from pyinterp.models.predictor import Kind
from pyinterp.models.threads import shared_cores
from pyinterp.parallel import outcomes
from pyinterp.parallel.progress import ProgressOption, with_warning
from pyinterp.random import Seeds
from pyinterp.resampling.leave_out import LeaveOut
from pyinterp.resampling.refits import Refit
from pyinterp.whatif import (
    EngineName,
    WhatIf,
    dispatch,
    dispatch_labels,
    tangents_of,
    with_coefficients,
)

# Step of coefficients, in standard errors: differences of fourth order then err by about 1e-9 of
# the derivative, as much by their order as by rounding of slopes, which are differences themselves.
STEP = 0.005
WEIGHTS = {1: 8 / 12, -1: -8 / 12, 2: -1 / 12, -2: 1 / 12}


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelsHere:
    """Fitted models in memory, with their engines and predictions, which are computed once.

    Attributes
    ----------
    refits : tuple of Refit
    problem : Problem
    seeds : Seeds
        Root of the random streams.
    leave_out : LeaveOut or None
        Trains the refits again without some variables; None if there is no learner to train.
    engine : str
    memory_mb : float
        Bound on the memory of one predict call's copies.
    n_jobs : int or None
        Threads over refits.
    """

    refits: tuple[Refit, ...]
    problem: Problem
    seeds: Seeds
    leave_out: LeaveOut | None = None
    engine: EngineName = "auto"
    memory_mb: float = 256.0
    n_jobs: int | None = None
    _ready: dict[int, ModelOnRows] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made again when it is needed."""
        return vars(replace(self))

    def measure(
        self, asked: Sequence[Estimand], scope: Scope, progress: ProgressOption = False
    ) -> list[RefitSums]:
        """Return the sums of estimands over refits, from one pass over the models."""
        self.train(asked, progress)
        jobs = [partial(self.answers, k, asked, scope.positions) for k in range(len(self.refits))]
        estimators = [refit.predictor.estimator for refit in self.refits]
        label, at_once = asked[0].words.label, effective_n_jobs(self.n_jobs)
        with (
            shared_cores(estimators, at_once),
            outcomes(
                jobs,
                len(jobs),
                n_jobs=self.n_jobs,
                label=label,
                progress=progress,
                in_memory=True,  # models do not travel
            ) as found,
        ):
            every = found if progress else with_warning(found, len(jobs), at_once, label)
            return add_up([one.basis for one in asked], scope.evaluations, every)

    def train(self, asked: Sequence[Estimand], progress: ProgressOption = False) -> None:
        """Train refits again without the features that estimands leave out."""
        for estimand in asked:
            if estimand.leave_out and self.leave_out is not None:
                self.leave_out.train(estimand.leave_out, estimand.words.label, progress)

    def answers(self, k: int, asked: Sequence[Estimand], positions: Positions) -> list[Answer]:
        """Return the answers of one model on its rows, or on those at some positions."""
        case = self.case(k)
        found = answers(part_of_case(case, k, positions), asked)
        if case.kinds:  # engines and predictions are kept, and no rows
            self._ready[k] = case.on(self.refits[k].evaluation)
        return found

    def cases(self, scope: Scope) -> tuple[ModelOnRows, ...]:
        """Return every model on its rows."""
        return tuple(
            part_of_case(self.case(k), k, scope.positions) for k in range(len(self.refits))
        )

    def case(self, k: int) -> ModelOnRows:
        """Return one model on its rows; its engine is chosen, and checked, once."""
        if k in self._ready:
            return self._ready[k].on(self.refits[k].evaluation.materialize())
        refit, models = self.refits[k], ref(self)  # no cycle: models are freed with their fit
        whatif = dispatch(
            refit.predictor,
            refit.design,
            refit.evaluation.materialize(),
            engine=self.engine,
            memory_mb=self.memory_mb,
        )
        case = ModelOnRows(
            whatif=whatif,
            train=refit.train,
            all_rows=self.problem.sample,
            level_codes=self.problem.level_codes,
            draw=partial(self.seeds.stream, "draws", refit.number),
            serve=partial(_serve, models, refit),
            without=partial(_without, models, refit.number),
        )
        self._ready[k] = case.on(refit.evaluation)
        return case

    def facts(self, describe: Callable[[Sequence[FloatArray]], FitFacts]) -> FitFacts:
        """Return `describe` of the predictions of every refit for its evaluation rows."""
        for k in range(len(self.refits)):
            if k not in self._ready:
                self.case(k)
        return describe([self._ready[k].whatif.factual for k in range(len(self.refits))])

    def mean_share(self) -> float:
        """Return the share of their training variance that means of predictions keep."""
        variables = self.problem.sample.variables
        return share_in_mean(predictions_of_mixtures(self.refits, variables, self.seeds))

    @property
    def trains(self) -> bool:
        """Whether there is a learner that trains again without a feature."""
        return self.leave_out is not None

    def some(self, refits: Sequence[int]) -> ModelsHere:
        """Return the models of some refits, which know the predictions without features of all."""
        kept = tuple(self.refits[k] for k in refits)
        leave_out = None if self.leave_out is None else replace(self.leave_out, refits=kept)
        return replace(self, refits=kept, leave_out=leave_out)

    @cached_property
    def coefficients(self) -> Coefficients | None:
        """The coefficients of one model that states their covariance, and predicts by them."""
        whatif = self.case(0).whatif
        predictor = whatif.predictor
        stated = coefficients_of(predictor.estimator)
        if stated is None:
            return None
        moved = stated.shift(predictor, np.sqrt(np.diag(stated.cov)))
        tangents = tangents_of(whatif, [moved])
        if tangents is not None and tangents.moves.any():  # its engine was proven to read them
            return stated
        matrix = whatif.design.encode(whatif.sample.variables)
        return None if np.array_equal(moved(matrix), predictor(matrix)) else stated

    def coefficient_errors(self, estimand: Estimand, scope: Scope) -> CoefficientErrors | None:
        """Return derivatives of the estimates along columns of a root of coefficients' covariance.

        Linear functions of predictions have them by the derivative of a link, where there is one.
        Other estimands have central differences of fourth order, measured with the coefficients
        moved. None without coefficients, as those of several refits.
        """
        stated = self.coefficients
        if stated is None:
            return None
        case, predictor = part_of_case(self.case(0), 0, scope.positions), self.refits[0].predictor
        directions = stated.directions().T
        if estimand.linear:
            whatif = tangents_of(case.whatif, [stated.shift(predictor, one) for one in directions])
            if whatif is not None:
                rows = estimand.read(estimand.measure(replace(case, whatif=whatif))).rows
                forwards, backwards = np.split(rows, 2)  # a row is a moved model
                return CoefficientErrors((forwards - backwards) / 2, stated.df, stated.cov_type)
        case.whatif.memo = {}  # rows are encoded once
        changes = []
        for direction in directions:
            values = []
            for steps, weight in WEIGHTS.items():
                moved = stated.shift(predictor, steps * STEP * direction)
                same = with_coefficients(case.whatif, moved)
                other = replace(case, whatif=same, serve=lambda *_, same=same: same)
                values.append(weight * estimand.read(estimand.measure(other)).value)
            changes.append(np.sum(values, axis=0) / STEP)
        return CoefficientErrors(np.array(changes), stated.df, stated.cov_type)


def _serve(models: ref[ModelsHere], refit: Refit, whatif: WhatIf, kind: Kind) -> WhatIf:
    """Return what-if predictions of a refit by another engine than its own, or of another kind."""
    here = _there(models)
    if kind == "label":
        return dispatch_labels(whatif, engine=here.engine)
    predictor = refit.predictor
    if kind == "distribution":
        if predictor.kind == "probability":
            return whatif
        predictor = predictive(predictor, refit.design.encode(whatif.sample.variables[:1]))
        family = here.problem.predictive.distribution
        if predictor.distribution != family:
            raise other_family(refit.number, predictor.distribution, family)
    else:
        predictor = predictor.as_kind("answers")
    return dispatch(predictor, refit.design, whatif.sample, memory_mb=here.memory_mb)


def other_family(refit: int, family: object, first: object) -> PredictionError:
    """Return the error of a refit that states another family of distributions than the first."""
    return PredictionError(
        "All refits must state the same family of distributions, but that of refit "
        f"{refit} is {family}, and of the first {first}; fix what makes them differ, such as the "
        "number of components."
    )


def _without(
    models: ref[ModelsHere], refit: int, variables: tuple[str, ...], kind: Kind
) -> FloatArray | None:
    """Return predictions of a refit that was trained again without some variables."""
    return cast(LeaveOut, _there(models).leave_out).predictions(refit, variables, kind)


def _there(models: ref[ModelsHere]) -> ModelsHere:
    """Return the models that a case refers to; raise `ReferenceError` if they are gone."""
    here = models()
    if here is None:
        raise ReferenceError("The models of this case are gone with their results.")
    return here
