"""Fitted models with their rows and seeds, on which estimands are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_memory
from pyinterp.data.row_data import RowData
from pyinterp.errors import (
    DataError,
    InferenceError,
    OptionError,
    PredictionError,
)
from pyinterp.estimands.estimand import (
    Estimand,
    Measurement,
    ModelOnRows,
    Problem,
    check_estimate,
    check_in_range,
    check_weights,
)
from pyinterp.estimands.metric import metric_of_rows
from pyinterp.estimands.risk import risk
from pyinterp.inference import RefitEstimate, Replicates, gather, variance
from pyinterp.inference.half_sample.half_fits import HalfFits, signal_and_spread
from pyinterp.inference.half_sample.mean_share import mean_share
from pyinterp.learner.row_order import order_note
from pyinterp.losses.metrics import Metric
from pyinterp.losses.rowwise import Loss, choose
from pyinterp.models.adapters import one_thread
from pyinterp.models.coefficients import Coefficients, coefficients_of
from pyinterp.models.predictive import predictive
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.parallel import outcomes
from pyinterp.parallel.progress import ProgressOption
from pyinterp.parallel.threads import shared_cores, workers
from pyinterp.random import Seeds
from pyinterp.representation import about
from pyinterp.resampling.leave_out import LeaveOut
from pyinterp.resampling.refits import Refit, estimating
from pyinterp.results.header import Context, GoodnessOfFit, fingerprints
from pyinterp.whatif import (
    Engine,
    EngineName,
    WhatIf,
    dispatch,
    dispatch_labels,
    with_coefficients,
)

__all__ = ["Analysis"]

LEAST_ROWS = 2  # of a refit: a donor is another row


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """Fitted models with their rows, seeds and options, and the measurements made so far.

    Attributes
    ----------
    problem : Problem
        Population, features and predictor, which fix the terms of estimands.
    refits : tuple of Refit
        The fitted models, one or more, those in pairs included.
    correction : float
        c of Nadeau and Bengio.
    context : Context
        Names and numbers that headers of tables show.
    seeds : Seeds
        Root of the random streams.
    leave_out : LeaveOut or None
        Trains the refits again without some variables; None if there is no learner to train.
    data : RowData or None
        The user's data, in which subgroups are named; None if every refit draws rows of its own.
    whole : Analysis or None
        That of all rows, if this is one of some of them.
    within : mapping of int to ndarray of int
        By refit, the evaluation rows of `whole` that it keeps.
    memory_mb : float
        Bound on the memory of one predict call's copies.
    n_jobs : int or None
        Threads over refits.
    progress : bool or "log"
        Whether to show progress bars, or to write lines to a log.
    """

    problem: Problem
    refits: tuple[Refit, ...]
    correction: float
    context: Context
    seeds: Seeds
    leave_out: LeaveOut | None = None
    engine: EngineName = "auto"
    memory_mb: float = 256.0
    n_jobs: int | None = None
    progress: ProgressOption = True
    data: RowData | None = None
    whole: Analysis | None = None
    within: Mapping[int, IntArray] = field(default_factory=dict)
    _measurements_by_key: dict[Any, tuple[Measurement, ...]] = field(
        default_factory=dict, init=False
    )
    _fits: dict[Loss | Metric, GoodnessOfFit] = field(default_factory=dict, init=False)
    _among: dict[tuple[bytes, str], Analysis] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        check_memory(self.memory_mb)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed again when it is needed."""
        computed = {
            "cases",
            "engine_in_use",
            "half_fits",
            "_measurements_by_key",
            "_fits",
            "_among",
            "mean_share",
            "plan_note",
            "coefficients",
        }
        state = {name: v for name, v in vars(self).items() if name not in computed}
        return {**state, "_measurements_by_key": {}, "_fits": {}, "_among": {}}

    @cached_property
    def cases(self) -> tuple[ModelOnRows, ...]:
        """One case per refit; each keeps its predictions on the rows as they are."""
        return tuple(
            ModelOnRows(
                whatif=self._whatif(r),
                train=r.train,
                population=self.problem.population,
                draw=_Draws(self.seeds, r.number),
                serve=partial(self._serve, r.number),
                without=partial(self._without, r.number),
            )
            for r in self.refits
        )

    def among(self, rows: npt.NDArray[np.bool_], name: str) -> Analysis:
        """Return the analysis of the same fitted models on some of their evaluation rows.

        Parameters
        ----------
        rows : ndarray of bool, shape (N,)
            Which rows of the data to keep.
        name : str
            What these rows are called.

        Raises
        ------
        DataError
            If a refit keeps fewer than 2 evaluation rows.
        """
        key = rows.tobytes(), name
        if key not in self._among:
            self._among[key] = self._on(rows, name)
        return self._among[key]

    def _on(self, rows: npt.NDArray[np.bool_], name: str) -> Analysis:
        within = {r.number: np.flatnonzero(rows[r.evaluation.rows]) for r in self.refits}
        counts = [len(kept) for kept in within.values()]
        if min(counts) < LEAST_ROWS:
            few = sum(count < LEAST_ROWS for count in counts)
            total, least = int(rows.sum()), list(within)[int(np.argmin(counts))]
            raise DataError(
                f"Every refit needs at least {LEAST_ROWS} evaluation rows of a subgroup, but "
                f"{few} of {len(counts)} have fewer: the subgroup ({name}) has {total} "
                f"row{'' if total == 1 else 's'}, of which refit {least} has {min(counts)}. Merge "
                "groups, or draw within them (`strata=`)."
            )
        refits = tuple(_keep(refit, within[refit.number]) for refit in self.refits)
        kept = estimating(refits)
        population = self.problem.population
        context = replace(
            self.context,
            study_name="",  # of all rows
            n_evaluation=float(np.mean([r.n_evaluation for r in kept])),
            resamples=fingerprints(refits),
            subgroup=f"{int(rows[population.rows].sum())}, {name}",
        )
        data = self.data and replace(self.data, complete=self.data.complete & rows)
        return replace(self, refits=refits, context=context, data=data, whole=self, within=within)

    def engine_of(self, estimand: Estimand) -> Engine:
        """Return the engine that computed the estimand, for headers."""
        if estimand.leave_out:
            return Engine("refits without features")
        if estimand.engine:
            return Engine(estimand.engine)
        score = estimand.metric or estimand.loss
        if score is None and not estimand.distributional:
            return self.engine_in_use
        kind = "distribution" if score is None else score.needs
        if kind == self.problem.predictor.kind:
            return self.engine_in_use
        return Engine.of_all([case.of_kind(kind).engine for case in self.cases])

    @cached_property
    def engine_in_use(self) -> Engine:
        """The engines of what-if predictions, as one for all models."""
        return Engine.of_all([case.whatif.engine for case in self.cases])

    def measure(self, estimand: Estimand) -> tuple[Measurement, ...]:
        """Return the measurements of all refits, made once per key and function."""
        check_weights(estimand, self.problem.population)
        # A key that is used again for another function, as in a notebook, is another measurement.
        key = estimand.key, getattr(estimand.measure, "func", estimand.measure)
        if key not in self._measurements_by_key:
            if estimand.leave_out:
                self.need_trainer().train(estimand.leave_out, estimand.label)
            self._measurements_by_key[key] = self._measurements(estimand)
        return self._measurements_by_key[key]

    def _measurements(self, estimand: Estimand) -> tuple[Measurement, ...]:
        cases = self.cases
        estimators = [refit.predictor.estimator for refit in self.refits]
        with (
            shared_cores(estimators, workers(self._threads)),
            outcomes(
                [partial(estimand.measure, case) for case in cases],
                len(cases),
                n_jobs=self._threads,
                label=estimand.label,
                progress=self.progress,
                in_memory=True,  # models and measurements do not travel
            ) as measured,
        ):
            return tuple(measured)

    @cached_property
    def _threads(self) -> int | None:
        """Threads over refits: one if a learner says that it predicts in one thread only."""
        single = any(one_thread(refit.predictor.estimator) for refit in self.refits)
        return 1 if single else self.n_jobs

    def need_trainer(self) -> LeaveOut:
        """Return `leave_out`; raise `OptionError` if there is no learner to train again."""
        if self.leave_out is None:
            raise OptionError(
                "LOCO trains the learner again without each feature, but a fitted model has no "
                "learner to train; use the results of `pi.Learner(...).fit()`, for one model with "
                "`pi.Holdout(0.7)`."
            )
        return self.leave_out

    @cached_property
    def estimating(self) -> tuple[Refit, ...]:
        """The refits whose mean is the estimate: all, if there are only pairs."""
        return estimating(self.refits)

    @cached_property
    def labels(self) -> tuple[pd.Index, ...]:
        """The index of the evaluation rows of each of those refits."""
        return tuple(refit.evaluation.labels for refit in self.estimating)

    @cached_property
    def coefficients(self) -> Coefficients | None:
        """Those of one fitted model that states their covariance, and predicts by them."""
        if self.context.level != "model":
            return None
        (case,) = self.cases
        stated = coefficients_of(case.whatif.predictor.estimator)
        if stated is None:
            return None
        other = self.case_of(stated.shift(case.whatif.predictor, np.sqrt(np.diag(stated.cov))))
        return None if np.array_equal(other.whatif.factual, case.whatif.factual) else stated

    def case_of(self, predictor: Predictor) -> ModelOnRows:
        """Return the case of the one model with other coefficients, on the same rows."""
        (case,) = self.cases
        whatif = with_coefficients(case.whatif, predictor)
        return replace(case, whatif=whatif, serve=lambda _: whatif, _by_kind={})

    def replicates(self, estimand: Estimand, *, checked: bool = True) -> Replicates:
        """Return the estimates of every refit; `checked` for the shapes that the terms ask for."""
        estimates = [estimand.read(m) for m in self.measure(estimand)]
        if checked:
            for refit, estimate in zip(self.refits, estimates, strict=True):
                check_estimate(estimate, estimand.terms, refit.evaluation.nobs)
                check_in_range(estimate, estimand)
        return gather(
            [
                RefitEstimate(
                    e, r.group, r.evaluation.rows, r.evaluation.clusters, r.evaluation.weights
                )
                for r, e in zip(self.refits, estimates, strict=True)
            ],
            correction=self.correction,
            no_effect=estimand.no_effect,
            half_fits=self._half_fits(estimand),
        )

    def _half_fits(self, estimand: Estimand) -> HalfFits | None:
        fits = self.half_fits
        if fits is None or not estimand.varies_as_square:
            return fits
        return replace(fits, mean_share=self.mean_share)

    @cached_property
    def mean_share(self) -> float:
        """The share of their training variance that means of predictions over refits keep."""
        if self.whole is not None:
            return self.whole.mean_share
        return mean_share(self.refits, self.problem.population.variables, self.seeds)

    @cached_property
    def plan_note(self) -> str:
        """Footnotes on the plan, with one on rows that look ordered in time.

        Rows of clusters, repeated rows and rows of one's model have none.
        """
        if self.whole is not None:
            return self.whole.plan_note
        context, single = self.context, self.data is not None and self.data.repeats is None
        look = single and context.unit == "rows" and self.leave_out is not None
        return " ".join(filter(None, [context.plan_note, order_note(self.cases) if look else ""]))

    @cached_property
    def half_fits(self) -> HalfFits | None:
        """What refits on halves and refits of the estimate find; None without halves."""
        if self.whole is not None:
            return self.whole.half_fits
        halves = np.array([r.group is not None and r.group.kind == "pair" for r in self.refits])
        if self.problem.population.y is None or not halves.any():
            return None
        found = np.array([signal_and_spread(case.y, case.whatif.factual) for case in self.cases])
        return HalfFits(estimating=found[~halves], halves=found[halves])

    def fit(self, estimand: Estimand) -> GoodnessOfFit | None:
        """Return how good the predictions are, by the estimand's loss or metric.

        None without a response.
        """
        problem = self.problem
        if problem.population.y is None:
            return None
        if estimand.metric is not None:
            if estimand.metric not in self._fits:
                self._fits[estimand.metric] = self._fit_by_metric(estimand.metric)
            return self._fits[estimand.metric]
        loss = estimand.loss
        row_loss = choose(loss, problem.predictor, problem.response)
        if row_loss not in self._fits:
            self._fits[row_loss] = self._fit(row_loss)
        return self._fits[row_loss]

    def _fit_by_metric(self, metric: Metric) -> GoodnessOfFit:
        values = self.replicates(metric_of_rows(self.problem, metric))
        return GoodnessOfFit(
            name=metric.name,
            loss=float(values.per_refit.mean()),
            bse=_standard_error(values),
            share_name="",
            explained_share=float("nan"),
            kind="Metric",
        )

    def _fit(self, row_loss: Loss) -> GoodnessOfFit:
        problem = self.problem
        expected = self.replicates(risk(problem, loss=row_loss))
        spread = _standard_error(expected)
        label, explained_share = "", float("nan")
        if row_loss.constant is not None and problem.population.weights is None:
            share = risk(problem, loss=row_loss, relation="explained")
            label, explained_share = share.label, float(self.replicates(share).per_refit.mean())
        return GoodnessOfFit(
            name=row_loss.name,
            loss=float(expected.per_refit.mean()),
            bse=spread,
            share_name=label,
            explained_share=explained_share,
        )

    def _without(self, refit: int, variables: tuple[str, ...], kind: Kind) -> FloatArray | None:
        if self.whole is None:
            return self.need_trainer().predictions(refit, variables, kind)
        predictions = self.whole._without(refit, variables, kind)
        return None if predictions is None else predictions[self.within[refit]]

    def _serve(self, number: int, kind: Kind) -> WhatIf:
        """Return what-if predictions of a refit that are not those that it makes by default."""
        if self.whole is not None:
            _, same = self.whole._refit_and_rows(number)
            return same.of_kind(kind).take(self.within[number])
        refit, case = self._refit_and_rows(number)
        if kind == "label":
            return dispatch_labels(case.whatif, engine=self.engine)
        if kind == "distribution":
            if refit.predictor.kind == "probability":
                return case.whatif
            predictor = self._distribution_of(refit)
        else:
            predictor = refit.predictor.as_kind("answers")
        return dispatch(predictor, refit.design, refit.evaluation, memory_mb=self.memory_mb)

    def _distribution_of(self, refit: Refit) -> Predictor:
        row = refit.design.encode(refit.evaluation.variables[:1])
        predictor, family = predictive(refit.predictor, row), self.problem.predictive.distribution
        if predictor.distribution != family:
            raise PredictionError(
                "All refits must state the same family of distributions, but that of refit "
                f"{refit.number} is {predictor.distribution}, and of the first {family}; fix what "
                "makes them differ, such as the number of components."
            )
        return predictor

    def _refit_and_rows(self, number: int) -> tuple[Refit, ModelOnRows]:
        pairs = zip(self.refits, self.cases, strict=True)
        return next(pair for pair in pairs if pair[0].number == number)

    def _whatif(self, refit: Refit) -> WhatIf:
        if self.whole is not None:
            _, same = self.whole._refit_and_rows(refit.number)
            return same.whatif.take(self.within[refit.number])
        return dispatch(
            refit.predictor,
            refit.design,
            refit.evaluation,
            engine=self.engine,
            memory_mb=self.memory_mb,
        )

    def __repr__(self) -> str:
        return about(
            self, self.context.learner, f"{len(self.refits)} models", f"{self.context.nobs} rows"
        )


def _keep(refit: Refit, rows: IntArray) -> Refit:
    """Return a refit with some of its evaluation rows."""
    evaluation = refit.evaluation.take(rows)
    units = evaluation.rows if evaluation.clusters is None else evaluation.clusters
    return replace(refit, evaluation=evaluation, n_evaluation=len(np.unique(units)))


def _standard_error(replicates: Replicates) -> float:
    """Return the standard error of one value; missing if there is none to show."""
    try:
        return float(np.sqrt(variance(replicates, None).cov[0, 0]))
    except InferenceError:  # one refit of one cluster
        return float("nan")


@dataclass(frozen=True)
class _Draws:
    seeds: Seeds
    refit: int

    def __call__(self, name: str) -> np.random.Generator:
        return self.seeds.stream("draws", self.refit, name)
