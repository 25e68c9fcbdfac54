"""Analyses whose models are on a cluster: estimands go to the models, measurements come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Any, Never, cast
from weakref import proxy

import cloudpickle

from pyinterp._typing import FloatArray, IntArray
from pyinterp.distributions import Distribution
from pyinterp.errors import OptionError
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.estimate import Measurement, ModelOnRows
from pyinterp.inference.half_sample.half_fits import (
    Mixtures,
    predictions_of_mixtures,
    share_in_mean,
)
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.learner.analysis import Analysis, measurement_key, on_rows
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.parallel.cluster import Cluster, There
from pyinterp.parallel.progress import ProgressOption
from pyinterp.parallel.threads import shared_cores
from pyinterp.resampling.refits import Refit
from pyinterp.storage import fingerprint
from pyinterp.whatif import Engine, WhatIf

UNKNOWN = 2**26  # bytes of a model that can't be pickled


@dataclass(frozen=True, kw_only=True)
class AnalysisOnCluster(Analysis):
    """An analysis of models in the processes of a cluster.

    Attributes
    ----------
    cluster : Cluster
    workers : int
        How many of the cluster's jobs share the cores.
    """

    cluster: Cluster
    workers: int

    def __getstate__(self) -> Never:
        raise OptionError(
            "Results whose models are on a cluster can't be pickled: use their `save`, or fit "
            "with `checkpoint=`."
        )

    @cached_property
    def cases(self) -> tuple[ModelOnRows, ...]:
        """One case per refit, which has the predictions of its rows as they are."""
        if self.whole is not None:
            return tuple(map(on_rows, self.whole.cases, self.positions))
        kind = self.problem.predictor.kind
        served, analysis = self._ask(_facts, kind), proxy(self)
        return tuple(
            ModelOnRows(
                whatif=_whatif(refit, *facts),
                train=refit.train,
                population=self.problem.population,
                level_codes=self.problem.level_codes,
                draw=partial(self.seeds.stream, "draws", refit.number),
                serve=partial(AnalysisOnCluster._serve_there, analysis, k),
                without=partial(Analysis._without, analysis, refit.number),
            )
            for k, (refit, facts) in enumerate(zip(self.refits, served, strict=True))
        )

    def _serve_there(self, k: int, kind: Kind) -> WhatIf:
        (facts,) = self.cluster.bring([self._start(k, _facts, kind)])
        return _whatif(self.refits[k], *facts)

    def engine_of_kind(self, kind: Kind) -> Engine:
        """Return the engine that computed predictions of a kind."""
        if self.whole is None:
            return super().engine_of_kind(kind)
        return Engine.of_all([engine for _, engine in self._ask(_facts, kind)])

    def measure_all(
        self, estimand: Estimand, progress: ProgressOption = False
    ) -> tuple[Measurement, ...]:
        """Return the measurements of all refits, each made beside its model."""
        return tuple(
            self._ask(
                _measure_here, estimand, self.workers, label=estimand.words.label, progress=progress
            )
        )

    @cached_property
    def mean_share(self) -> float:
        """The share of their training variance that means of predictions over refits keep."""
        found = self._ask(_mixtures)
        refused = any(each is None for each in found)
        return share_in_mean(None if refused else list(chain.from_iterable(found)))

    def coefficient_errors(self, estimand: Estimand) -> CoefficientErrors | None:
        """Return derivatives of the estimates along the directions in which coefficients vary."""
        if self.context.level != "model":
            return None
        key = fingerprint((*measurement_key(estimand), estimand.read))
        if key not in self.errors_of_coefficients:
            (errors,) = self._ask(_coefficient_errors, estimand)
            if errors is None:
                return None
            self.errors_of_coefficients[key] = errors
        return self.errors_of_coefficients[key]

    def _ask(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        label: str = "",
        progress: ProgressOption = False,
    ) -> list[Any]:
        """Return what a function says of every refit, asked where its model is."""
        started = [self._start(k, function, *arguments) for k in range(len(self.refits))]
        return self.cluster.bring(started, label=label, progress=progress)

    def _start(self, k: int, function: Callable[..., Any], *arguments: Any) -> There:
        rows: list[IntArray] = []
        part: Analysis = self
        while part.whole is not None:
            rows.insert(0, part.positions[k])
            part = part.whole
        place = self.refits[k].predictor.estimator.refit
        return self.cluster.start("question", _on, [place], rows, function, *arguments)


def on_cluster(analysis: Analysis, cluster: Cluster, workers: int) -> AnalysisOnCluster:
    """Return the analysis of models that stayed on a cluster, each a part of its `ModelThere`."""
    known = {part.name: getattr(analysis, part.name) for part in fields(analysis) if part.init}
    problem = analysis.problem
    parts = {part.name: getattr(problem, part.name) for part in fields(problem)}
    result = AnalysisOnCluster(**known, cluster=cluster, workers=workers)
    return replace(result, problem=_Problem(**parts, ask=partial(_first, result)))


@dataclass(frozen=True, kw_only=True)
class _Problem(Problem):
    """A problem whose model is on a cluster."""

    ask: Callable[[Callable[..., Any]], Any]

    @cached_property
    def predictive(self) -> Predictor:
        """The model's predictor of distributions; `PredictionError` if it states none."""
        kind, family = self.ask(_family)
        return replace(self.predictor, kind=kind, distribution=family)

    @cached_property
    def codes(self) -> frozenset[str]:
        """Numbers that the model takes as categories, though its formula does not."""
        return cast("frozenset[str]", self.ask(attrgetter("problem.codes")))


def _first(analysis: AnalysisOnCluster, function: Callable[..., Any]) -> Any:
    (answer,) = analysis.cluster.bring([analysis._start(0, function)])
    return answer


def _whatif(refit: Refit, factual: FloatArray, engine: Engine) -> WhatIf:
    whatif = WhatIf(refit.predictor, refit.design, refit.evaluation)
    whatif.factual, whatif.engine = factual, engine
    return whatif


# What follows is done where models are.


class ModelThere:
    """A refit and the analysis of it alone, in a process of a cluster.

    Parameters
    ----------
    refit : Refit
    analyze : callable
        ``analyze(refits)`` returns the analysis of refits.
    """

    def __init__(self, refit: Refit, *, analyze: Callable[[tuple[Refit, ...]], Analysis]) -> None:
        self.predictor, self._refit, self._analyze = refit.predictor, refit, analyze
        try:
            self._size = len(cloudpickle.dumps(refit.predictor.estimator))
        except Exception:  # noqa: BLE001 - it stays here, as nobody can move it
            self._size = UNKNOWN

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of the refit, which keeps what estimands share."""
        return self._analyze((self._refit,))

    def __sizeof__(self) -> int:
        """Return the size of the model, by which the cluster leaves it where it is."""
        return self._size


def _on(
    model: ModelThere, rows: list[IntArray], function: Callable[..., Any], *arguments: Any
) -> Any:
    """Return what a function says of the analysis of one refit on some of its rows."""
    analysis = model.analysis
    for positions in rows:
        analysis = replace(analysis, whole=analysis, positions=(positions,))
    return function(analysis, *arguments)


def _facts(analysis: Analysis, kind: Kind) -> tuple[FloatArray, Engine]:
    whatif = analysis.cases[0].of_kind(kind)
    return whatif.factual, whatif.engine


def _measure_here(analysis: Analysis, estimand: Estimand, workers: int) -> Measurement:
    with shared_cores([analysis.refits[0].predictor.estimator], workers):
        (measurement,) = analysis.measure_all(estimand)
        return measurement


def _mixtures(analysis: Analysis) -> Mixtures | None:
    variables = analysis.problem.population.variables
    return predictions_of_mixtures(analysis.refits, variables, analysis.seeds)


def _coefficient_errors(analysis: Analysis, estimand: Estimand) -> CoefficientErrors | None:
    return analysis.coefficient_errors(estimand)


def _family(analysis: Analysis) -> tuple[Kind, Distribution | None]:
    found = analysis.problem.predictive
    return found.kind, found.distribution
