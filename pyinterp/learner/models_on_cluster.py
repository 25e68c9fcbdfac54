"""Models on a cluster: estimands go to the models, and estimates come back to be added up."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, Never, cast

import cloudpickle

from pyinterp._typing import FloatArray
from pyinterp.distributions import Distribution
from pyinterp.errors import OptionError
from pyinterp.estimands.estimand import Elsewhere, Estimand
from pyinterp.estimands.estimate import ModelOnRows
from pyinterp.inference import Tally
from pyinterp.inference.half_sample.half_fits import (
    Mixtures,
    predictions_of_mixtures,
    share_in_mean,
)
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.learner.models import Answer, FitFacts, Positions, Scope, add_up, part_of_case
from pyinterp.learner.models_here import ModelsHere
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.parallel.cluster import Cluster, There
from pyinterp.parallel.progress import ProgressOption
from pyinterp.parallel.threads import shared_cores
from pyinterp.resampling.leave_out import LeaveOut
from pyinterp.resampling.refits import Refit
from pyinterp.whatif import Engine, EngineName, WhatIf

UNKNOWN = 2**24  # bytes of a model that can't be pickled


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelsOnCluster:
    """Models in the processes of a cluster.

    Attributes
    ----------
    here : ModelsHere
        The refits, whose predictors ask the models, and what is known without these.
    cluster : Cluster
    workers : int
        How many of the cluster's jobs share the cores.
    """

    here: ModelsHere
    cluster: Cluster
    workers: int

    def __getstate__(self) -> Never:
        raise OptionError(
            "Results whose models are on a cluster can't be pickled: use their `save`, or fit "
            "with `checkpoint=`."
        )

    @property
    def elsewhere(self) -> Elsewhere:
        """What knows facts of the first model: this."""
        return self

    @property
    def trains(self) -> bool:
        """Whether there is a learner that trains again without a feature."""
        return self.here.trains

    @property
    def options(self) -> tuple[EngineName, float]:
        """The engine that was chosen, and the bound on memory."""
        return self.here.options

    def some(self, refits: Sequence[int]) -> ModelsOnCluster:
        """Return the models of some refits."""
        return replace(self, here=self.here.some(refits))

    def measure(
        self, asked: Sequence[Estimand], scope: Scope, progress: ProgressOption = False
    ) -> list[Tally]:
        """Return what estimands are, each measured beside its model."""
        every = [
            self._start(k, _answers_there, scope.positions, asked, self.workers)
            for k in range(len(self.here.refits))
        ]
        label = asked[0].words.label
        with self.cluster.brought(every, label=label, progress=progress) as found:
            return add_up([one.basis for one in asked], scope.evaluations, found)

    def coefficient_errors(self, estimand: Estimand, scope: Scope) -> CoefficientErrors | None:
        """Return the errors of coefficients of one model; None if it states none."""
        errors = self._first(_errors_there, scope.positions, estimand)
        return cast("CoefficientErrors | None", errors)

    def facts(self, describe: Callable[[Sequence[FloatArray]], FitFacts]) -> FitFacts:
        """Return what is described by the predictions of every refit's rows."""
        return describe([factual for factual, _ in self._factual])

    @cached_property
    def _factual(self) -> list[tuple[FloatArray, Engine]]:
        return self._ask(_factual_there)

    def mean_share(self) -> float:
        """Return the share of their training variance that means of predictions keep."""
        found = self._ask(_mixtures)
        refused = any(each is None for each in found)
        return share_in_mean(None if refused else list(chain.from_iterable(found)))

    def cases(self, scope: Scope) -> tuple[ModelOnRows, ...]:
        """Return every refit's rows with its predictions of them."""
        codes = replace(self.here.problem, elsewhere=self).level_codes
        return tuple(
            part_of_case(_case(self.here, codes, refit, *facts), k, scope.positions)
            for k, (refit, facts) in enumerate(zip(self.here.refits, self._factual, strict=True))
        )

    def codes(self) -> frozenset[str]:
        """Return the numbers that the model takes as categories."""
        return cast("frozenset[str]", self._first(_codes))

    def predictive(self) -> Predictor:
        """Return the model's predictor of distributions; `PredictionError` if it states none."""
        kind, family = cast("tuple[Kind, Distribution | None]", self._first(_family))
        return replace(self.here.refits[0].predictor, kind=kind, distribution=family)

    def _first(
        self, function: Callable[..., Any], positions: Positions = (), *arguments: Any
    ) -> Any:
        (answer,) = self.cluster.bring([self._start(0, function, positions, *arguments)])
        return answer

    def _ask(self, function: Callable[..., Any]) -> list[Any]:
        """Return what a function says of every refit, asked where its model is."""
        started = [self._start(k, function, ()) for k in range(len(self.here.refits))]
        return self.cluster.bring(started)

    def _start(
        self, k: int, function: Callable[..., Any], positions: Positions, *arguments: Any
    ) -> There:
        place = self.here.refits[k].predictor.estimator.refit
        mine = tuple((each[k],) for each in positions)
        return self.cluster.start("question", _on, [place], function, mine, *arguments)


def _case(
    here: ModelsHere,
    level_codes: Callable[[], frozenset[str]],
    refit: Refit,
    factual: FloatArray,
    engine: Engine,
) -> ModelOnRows:
    whatif = WhatIf(refit.predictor, refit.design, refit.evaluation.at_hand())
    whatif.factual, whatif.engine = factual, engine
    return ModelOnRows(
        whatif=whatif,
        train=refit.train,
        population=here.problem.population,
        level_codes=level_codes,
        draw=partial(here.seeds.stream, "draws", refit.number),
        serve=_not_here,
        without=_not_here,
    )


def _not_here(*_: Any) -> Never:
    raise OptionError("This needs the model, which is on a cluster: ask an estimand, or `fetch()`.")


# What follows is done where models are.


class ModelThere:
    """A refit and the analysis of it alone, in a process of a cluster.

    Parameters
    ----------
    refit : Refit
    models_of : callable
        ``models_of(refits)`` returns the models of refits.
    packed : bytes or None
        The predictor as it traveled, opened at first use; none if it can't be pickled.
    size : int or None
        Bytes of the model, if they are known.
    """

    def __init__(
        self,
        refit: Refit,
        models_of: Callable[[tuple[Refit, ...]], ModelsHere],
        packed: bytes | None = None,
        size: int | None = None,
    ) -> None:
        self._refit, self._models_of, self._packed = refit, models_of, packed
        self._size = len(_pack(refit.predictor)) or UNKNOWN if size is None else size

    @cached_property
    def predictor(self) -> Predictor:
        """The predictor, trained again if its model could not travel."""
        if self._packed is None:
            return self._refit.predictor
        try:
            return cast(Predictor, pickle.loads(self._packed))  # noqa: S301 - of the user's session
        except Exception:  # noqa: BLE001 - of a model that can't be pickled, or opened
            leave_out = cast(LeaveOut, self._models_of((self._refit,)).leave_out)
            return leave_out.train_again(self._refit)

    @cached_property
    def models(self) -> ModelsHere:
        """The models of this refit alone, which keep what estimands share."""
        return self._models_of((replace(self._refit, predictor=self.predictor),))

    def __sizeof__(self) -> int:
        """Return the size of the model, by which the cluster leaves it where it is."""
        return self._size

    def __reduce__(self) -> tuple[type[ModelThere], tuple[object, ...]]:
        """Travel without the model, which goes as bytes.

        The cluster moves work from a busy process, and would wait without end for a value that
        can't be pickled or opened.
        """
        packed, refit = self._packed, self._refit
        if packed is None:
            packed = _pack(refit.predictor)
            empty = replace(refit.predictor, estimator=None, _call=_not_here)
            refit = replace(refit, predictor=empty)
        return ModelThere, (refit, self._models_of, packed, self._size)


def _pack(predictor: Predictor) -> bytes:
    try:
        return bytes(cloudpickle.dumps(predictor))
    except Exception:  # noqa: BLE001 - it is trained again where it arrives
        return b""


def _on(model: ModelThere, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function says of the models of one refit."""
    return function(model.models, *arguments)


def _answers_there(
    models: ModelsHere, positions: Positions, asked: Sequence[Estimand], workers: int
) -> list[Answer]:
    with shared_cores([models.refits[0].predictor.estimator], workers):
        models.train(asked)
        return models.answers(0, asked, positions)


def _errors_there(
    models: ModelsHere, positions: Positions, estimand: Estimand
) -> CoefficientErrors | None:
    return models.errors_at(estimand, positions)


def _factual_there(models: ModelsHere, _: Positions) -> tuple[FloatArray, Engine]:
    whatif = models.case(0).whatif
    return whatif.factual, whatif.engine


def _mixtures(models: ModelsHere, _: Positions) -> Mixtures | None:
    return predictions_of_mixtures(models.refits, models.problem.population.variables, models.seeds)


def _codes(models: ModelsHere, _: Positions) -> frozenset[str]:
    return models.problem.codes


def _family(models: ModelsHere, _: Positions) -> tuple[Kind, Distribution | None]:
    found = models.problem.predictive
    return found.kind, found.distribution
