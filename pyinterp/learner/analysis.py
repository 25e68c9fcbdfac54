"""Fitted models with their rows and seeds, on which estimands are measured."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, TypeAlias
from weakref import proxy

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.row_data import RowData, Rows
from pyinterp.errors import DataError, InferenceError, OptionError, PredictionError, quote
from pyinterp.estimands.estimand import Estimand, Problem, check_estimate, check_weights
from pyinterp.estimands.estimate import Measurement, ModelOnRows
from pyinterp.estimands.groups import RowGroups
from pyinterp.estimands.risk import metric_of_rows, risk
from pyinterp.inference import CovType, RefitEstimate, Replicates, variance
from pyinterp.inference.cov_types import needs_coefficients
from pyinterp.inference.half_sample.half_fits import HalfFits, mean_share, signal_and_spread
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.learner.row_order import order_note
from pyinterp.losses.metrics import Metric
from pyinterp.losses.rowwise import Loss, choose
from pyinterp.models.coefficients import Coefficients, coefficients_of
from pyinterp.models.predictive import predictive
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.parallel import outcomes
from pyinterp.parallel.progress import ProgressOption
from pyinterp.parallel.threads import shared_cores
from pyinterp.random import Seeds
from pyinterp.representation import about
from pyinterp.resampling.checkpoint import Checkpoint, Shard
from pyinterp.resampling.leave_out import LeaveOut
from pyinterp.resampling.refits import Refit, estimating
from pyinterp.results.header import Context, GoodnessOfFit, fingerprints
from pyinterp.storage import fingerprint
from pyinterp.whatif import Engine, EngineName, WhatIf, dispatch, dispatch_labels, with_coefficients

MeasurementKey: TypeAlias = tuple[Hashable, Callable[..., Measurement]]

# What is computed again when it is needed.
MADE_AGAIN = ("measurements", "subsets", "errors_of_coefficients", "_fits")
LEAST_ROWS = 2  # of a refit: a donor is another row
# Step of coefficients, in standard errors: differences of fourth order then err by about 1e-9 of
# the derivative, as much by their order as by rounding of slopes, which are differences themselves.
STEP = 0.005
WEIGHTS = {1: 8 / 12, -1: -8 / 12, 2: -1 / 12, -2: 1 / 12}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was measured of one estimand.

    Attributes
    ----------
    description : str
        What the estimand is called in headers.
    by_refit : tuple of mapping
        The means over rows of every refit, by name.
    """

    description: str
    by_refit: tuple[Measurement, ...]


def measurement_key(estimand: Estimand) -> MeasurementKey:
    """Return by what measurements are kept: the estimand's key, and its function.

    A key that is used again for another function, as in a notebook, is another measurement.
    """
    return estimand.key, getattr(estimand.measure, "func", estimand.measure)


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
        The user's data, in which subgroups are named; None if every refit draws new rows.
    whole : Analysis or None
        The analysis of all rows, if this is one of some of them.
    positions : tuple of ndarray of int
        By refit, its rows among the evaluation rows of `whole`.
    checkpoint : Checkpoint or None
        Keeps what was measured.
    shard : Shard or None
        Which part of a plan's refits these are, if they are not all.
    memory_mb : float
        Bound on the memory of one predict call's copies.
    n_jobs : int or None
        Threads over refits.
    measurements : dict of (hashable, callable) to Finding
        By the key and the function of an estimand.
    subsets : dict of (bytes, str) to Analysis
        Analyses of some of the rows, by mask and name.
    errors_of_coefficients : dict of str to CoefficientErrors
        By the digest of an estimand.
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
    data: RowData | None = None
    whole: Analysis | None = None
    positions: tuple[IntArray, ...] = ()
    checkpoint: Checkpoint | None = None
    shard: Shard | None = None
    measurements: dict[MeasurementKey, Finding] = field(default_factory=dict, init=False)
    subsets: dict[tuple[bytes, str], Analysis] = field(default_factory=dict, init=False)
    errors_of_coefficients: dict[str, CoefficientErrors] = field(default_factory=dict, init=False)
    _fits: dict[Loss | Metric, GoodnessOfFit] = field(default_factory=dict, init=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out measurements, which are made again when they are needed."""
        state = {part.name: getattr(self, part.name) for part in fields(self) if part.init}
        return {**state, **{name: {} for name in MADE_AGAIN}}

    @cached_property
    def cases(self) -> tuple[ModelOnRows, ...]:
        """One case per refit; each keeps its predictions on the rows as they are.

        Raises
        ------
        OptionError
            If the refits are a shard, which says nothing by itself.
        """
        if self.shard is not None:
            raise OptionError(
                "Estimates need the refits of all shards, but these are of shard "
                f"{self.shard.number} of {self.shard.count}; `pi.join` has all, when all are done."
            )
        if self.whole is not None:
            return tuple(map(on_rows, self.whole.cases, self.positions))
        cases = []
        analysis = proxy(self)  # without a cycle models go with their analysis
        for refit in self.refits:
            whatif = dispatch(
                refit.predictor,
                refit.design,
                refit.evaluation,
                engine=self.engine,
                memory_mb=self.memory_mb,
            )
            case = ModelOnRows(
                whatif=whatif,
                train=refit.train,
                population=self.problem.population,
                level_codes=self.problem.level_codes,
                draw=partial(self.seeds.stream, "draws", refit.number),
                serve=partial(Analysis._serve, analysis, refit, whatif),
                without=partial(Analysis._without, analysis, refit.number),
            )
            cases.append(case)
        return tuple(cases)

    def _serve(self, refit: Refit, whatif: WhatIf, kind: Kind) -> WhatIf:
        """Return what-if predictions of a refit that are not the ones it makes by default."""
        if kind == "label":
            return dispatch_labels(whatif, engine=self.engine)
        predictor = refit.predictor
        if kind == "distribution":
            if predictor.kind == "probability":
                return whatif
            predictor = predictive(predictor, refit.design.encode(refit.evaluation.variables[:1]))
            family = self.problem.predictive.distribution
            if predictor.distribution != family:
                raise PredictionError(
                    "All refits must state the same family of distributions, but that of refit "
                    f"{refit.number} is {predictor.distribution}, and of the first {family}; fix "
                    "what makes them differ, such as the number of components."
                )
        else:
            predictor = predictor.as_kind("answers")
        return dispatch(predictor, refit.design, refit.evaluation, memory_mb=self.memory_mb)

    def _without(self, refit: int, variables: tuple[str, ...], kind: Kind) -> FloatArray | None:
        return self.need_trainer().predictions(refit, variables, kind)

    def user_data(self, argument: str) -> RowData:
        """Return the user's data; raise `OptionError` if every refit draws new rows."""
        if self.data is None:
            raise OptionError(
                f"`{argument}` can't be with fresh draws: every refit is evaluated on rows of its "
                "own, which a mask or a column of the data does not name."
            )
        return self.data

    def among(self, rows: Rows) -> Analysis:
        """Return the analysis of the evaluation rows that a mask or a query names."""
        data = self.user_data("rows")
        mask = data.mask(rows)
        if not (mask & data.complete).any():
            name = quote(rows) if isinstance(rows, str) else "the mask"
            raise DataError(f"`rows` must keep some of the analyzed rows, but {name} keeps none.")
        return self.on(mask, rows if isinstance(rows, str) else "by a mask")

    def groups(self, by: str | npt.ArrayLike) -> RowGroups:
        """Return the groups of rows that are the levels of a column, by its name or as an array."""
        data = self.user_data("by")
        name = by if isinstance(by, str) else getattr(by, "name", None)
        column = data.column(by, "by")
        return RowGroups.of(column, data.complete, "group" if name is None else str(name))

    def on(self, rows: npt.NDArray[np.bool_], name: str) -> Analysis:
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
        if key in self.subsets:
            return self.subsets[key]
        kept = tuple([np.flatnonzero(rows[refit.evaluation.rows]) for refit in self.refits])
        counts = [len(each) for each in kept]
        if min(counts) < LEAST_ROWS:
            few = sum(count < LEAST_ROWS for count in counts)
            total, least = int(rows.sum()), self.refits[int(np.argmin(counts))].number
            raise DataError(
                f"Every refit needs at least {LEAST_ROWS} evaluation rows of a subgroup, but "
                f"{few} of {len(counts)} have fewer: the subgroup ({name}) has {total} "
                f"row{'' if total == 1 else 's'}, of which refit {least} has {min(counts)}. Merge "
                "groups, or draw within them (`strata=`)."
            )
        refits = tuple(
            replace(refit, evaluation=refit.evaluation.take(rows))
            for refit, rows in zip(self.refits, kept, strict=True)
        )
        sizes = [refit.evaluation.n_units for refit in estimating(refits)]
        context = replace(
            self.context,
            study_name="",  # of all rows
            n_evaluation=float(np.mean(sizes)),
            resamples=fingerprints(refits),
            subgroup=f"{int(rows[self.problem.population.rows].sum())}, {name}",
        )
        data = self.data and replace(self.data, complete=self.data.complete & rows)
        self.subsets[key] = replace(
            self, refits=refits, context=context, data=data, whole=self, positions=kept
        )
        return self.subsets[key]

    @property
    def all_rows(self) -> Analysis:
        """The analysis of all rows: itself, unless it is one of some of them."""
        return self if self.whole is None else self.whole.all_rows

    def engine_of(self, estimand: Estimand) -> Engine:
        """Return the engine that computed the estimand, for headers."""
        if estimand.leave_out:
            return Engine("refits without features")
        if estimand.basis == "model":
            return Engine("the fitted model")
        kind = estimand.kind if estimand.score is None else estimand.score.needs
        return self.engine_of_kind(kind or self.problem.predictor.kind)

    def engine_of_kind(self, kind: Kind) -> Engine:
        """Return the engine that computed predictions of a kind, for headers."""
        return Engine.of_all([case.of_kind(kind).engine for case in self.cases])

    def measure(
        self, estimand: Estimand, progress: ProgressOption = False
    ) -> tuple[Measurement, ...]:
        """Return the measurements of all refits, made once per key and function."""
        check_weights(estimand, self.problem.population)
        key = measurement_key(estimand)
        if key in self.measurements:
            return self.measurements[key].by_refit
        if self.checkpoint is None or self.whole is not None:
            by_refit = self.measure_all(estimand, progress)
        else:
            # Refits that failed once may succeed in another call.
            numbers = [refit.number for refit in self.refits]
            digest = fingerprint((key, self.engine, numbers))
            by_refit = self.checkpoint.recall(digest)
            if by_refit is None:
                by_refit = self.measure_all(estimand, progress)
                self.checkpoint.keep(digest, by_refit)
        self.measurements[key] = Finding(description=estimand.description, by_refit=by_refit)
        return by_refit

    def measure_all(
        self, estimand: Estimand, progress: ProgressOption = False
    ) -> tuple[Measurement, ...]:
        """Return the measurements of all refits, made anew."""
        if estimand.leave_out:
            self.need_trainer().train(estimand.leave_out, estimand.words.label, progress)
        jobs = [partial(estimand.measure, case) for case in self.cases]
        estimators = [refit.predictor.estimator for refit in self.refits]
        with (
            shared_cores(estimators, effective_n_jobs(self.n_jobs)),
            outcomes(
                jobs,
                len(jobs),
                n_jobs=self.n_jobs,
                label=estimand.words.label,
                progress=progress,
                in_memory=True,  # models and measurements do not travel
            ) as measured,
        ):
            return tuple(measured)

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
    def coefficients(self) -> Coefficients | None:
        """The coefficients of one model that states their covariance, and predicts by them."""
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

    def coefficient_errors(self, estimand: Estimand) -> CoefficientErrors | None:
        """Return derivatives of the estimates along the directions in which coefficients vary.

        By central differences of the estimand itself, measured with the coefficients moved: any
        estimand, and any formula. None without coefficients.
        """
        if self.coefficients is None:
            return None
        key = fingerprint((*measurement_key(estimand), estimand.read))
        if key in self.errors_of_coefficients:
            return self.errors_of_coefficients[key]
        changes = []
        for direction in self.coefficients.directions().T:
            values = []
            for steps, weight in WEIGHTS.items():
                by = steps * STEP * direction
                case = self.case_of(self.coefficients.shift(self.refits[0].predictor, by))
                values.append(weight * estimand.read(estimand.measure(case)).value)
            changes.append(np.sum(values, axis=0) / STEP)
        errors = CoefficientErrors(
            np.array(changes), self.coefficients.df, self.coefficients.cov_type
        )
        self.errors_of_coefficients[key] = errors
        return errors

    def replicates(
        self, estimand: Estimand, cov_type: CovType | None = None, *, checked: bool = True
    ) -> Replicates:
        """Return the estimates of every refit; `checked` for the shapes that the terms ask for.

        With the errors of coefficients where the delta method is the variance, as it is by default
        of effects. Distributions are predicted by more than coefficients.
        """
        estimates = []
        for refit, measurement in zip(self.refits, self.measure(estimand), strict=True):
            estimate, rows = estimand.read(measurement), refit.evaluation
            if checked:
                check_estimate(estimate, estimand, rows.nobs)
            estimates.append(
                RefitEstimate(estimate, rows.rows, refit.group, rows.clusters, rows.weights)
            )
        half_fits = self.all_rows.half_fits
        if half_fits is not None and estimand.parameter.no_effect is not None:
            half_fits = replace(half_fits, mean_share=self.all_rows.mean_share)
        replicates = Replicates(
            refits=tuple(estimates),
            correction=self.correction,
            no_effect=estimand.parameter.no_effect,
            half_fits=() if half_fits is None else (half_fits,),
            share=self.refits[0].share if estimand.basis == "rows" else 1.0,
        )
        effect = estimand.parameter.effect
        by_delta = effect if cov_type is None else needs_coefficients(cov_type)
        if not by_delta or estimand.kind == "distribution":
            return replicates
        return replace(replicates, coefficient_errors=self.coefficient_errors(estimand))

    @cached_property
    def mean_share(self) -> float:
        """The share of their training variance that means of predictions over refits keep."""
        return mean_share(self.refits, self.problem.population.variables, self.seeds)

    @cached_property
    def plan_note(self) -> str:
        """Footnotes on the plan, on rows that look ordered in time, and on totals with an offset.

        Rows of clusters, repeated rows and rows of one's model have none on their order. Totals are
        the median over refits.
        """
        context, single = self.context, self.data is not None and self.data.repeats is None
        look = single and context.unit == "rows" and self.leave_out is not None
        order = order_note(self.cases) if look else ""
        total = np.median([r.predictor.total for r in self.refits]) if context.offset else 1.0
        far = f"Predictions of the training rows add up to {total:.2f} times the response."
        return " ".join(filter(None, [context.plan_note, order, far if total != 1 else ""]))

    @cached_property
    def half_fits(self) -> HalfFits | None:
        """What refits on halves and refits of the estimate find; None without halves."""
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
        score = estimand.score
        if not isinstance(score, Metric):
            score = choose(score, problem.predictor, problem.response)
        if score in self._fits:
            return self._fits[score]
        share_name, share = "", float("nan")
        if isinstance(score, Metric):
            values = self.replicates(metric_of_rows(problem, score))
        else:
            values = self.replicates(risk(problem, loss=score))
            if score.constant is not None and problem.population.weights is None:
                explained = risk(problem, loss=score, relation="explained")
                share_name = explained.words.label
                share = float(self.replicates(explained).per_refit.mean())
        try:
            bse = float(np.sqrt(variance(values, None).cov[0, 0]))
        except InferenceError:  # one refit of one cluster
            bse = float("nan")
        self._fits[score] = GoodnessOfFit(
            name=score.name,
            loss=float(values.per_refit.mean()),
            bse=bse,
            share_name=share_name,
            explained_share=share,
            kind="Metric" if isinstance(score, Metric) else "Loss",
        )
        return self._fits[score]

    def __repr__(self) -> str:
        return about(
            self, self.context.learner, f"{len(self.refits)} models", f"{self.context.nobs} rows"
        )


def on_rows(case: ModelOnRows, rows: IntArray) -> ModelOnRows:
    """Return the case of the same model on some of its evaluation rows."""

    def serve(kind: Kind) -> WhatIf:
        return case.of_kind(kind).take(rows)

    def without(variables: tuple[str, ...], kind: Kind) -> FloatArray | None:
        predictions = case.without(variables, kind)
        return None if predictions is None else predictions[rows]

    return replace(
        case,
        whatif=case.whatif.take(rows),
        serve=serve,
        without=without,
        _by_kind={},
        _distributions={},
    )
