"""Refits: one learner trained on every part of a resampling plan."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.checks import check_choice, check_jobs
from pyinterp.data.design import Categories, Design, FormulaDesign
from pyinterp.data.sample import Response, Sample
from pyinterp.errors import (
    DesignError,
    PyinterpError,
    RefitError,
    RefitWarning,
    level_of_caller,
)
from pyinterp.models.adapters import wants_codes, wants_frames
from pyinterp.models.copies import fresh, reseed, seed_networks
from pyinterp.models.predictor import Predictor, learner_name
from pyinterp.models.remedies import explanation
from pyinterp.models.sample_weight import weight_option
from pyinterp.parallel import outcomes, threads
from pyinterp.parallel.progress import ProgressOption
from pyinterp.random import Seeds
from pyinterp.representation import about
from pyinterp.resampling import Group, Part, Resampling, Units

__all__ = [
    "DesignState",
    "OnError",
    "Refit",
    "RefitOptions",
    "UnseenLevels",
    "estimating",
    "fit_one",
    "refit",
]

OnError: TypeAlias = Literal["raise", "drop"]
DesignState: TypeAlias = Literal["all", "refit"]
UnseenLevels: TypeAlias = Literal["raise", "allow"]


@dataclass(frozen=True, kw_only=True)
class Refit:
    """A fitted model with the rows that evaluate it.

    Attributes
    ----------
    number : int
        1, 2, ... in the order of the plan; a dropped refit leaves a gap.
    predictor : Predictor
        The fitted estimator as a function of design rows.
    design : Design
        The encoding of its variables.
    evaluation : Sample
        The rows on which it is evaluated.
    train : Sample or None
        Its training rows, repeats included; None if the model was trained elsewhere.
    n_train, n_evaluation : int
        Number of distinct units (rows, or clusters) that train and evaluate.
    group : Group or None
        The pair, fold or bootstrap sample that it belongs to.
    """

    number: int
    predictor: Predictor
    design: Design
    evaluation: Sample
    train: Sample | None
    n_train: int
    n_evaluation: int
    group: Group | None = None

    @property
    def train_rows(self) -> IntArray:
        """Positions in the data of its training rows, repeats included."""
        return np.empty(0, np.intp) if self.train is None else self.train.rows

    def __repr__(self) -> str:
        return about(
            self, f"number {self.number}", f"{self.n_train} train", f"{self.n_evaluation} evaluate"
        )


@dataclass(frozen=True, kw_only=True)
class RefitOptions:
    """Options of the refits; see `Learner.fit`."""

    reseed: bool = True
    on_error: OnError = "raise"
    design_state: DesignState = "all"
    unseen_levels: UnseenLevels = "raise"
    n_jobs: int | None = None
    progress: ProgressOption = True

    def __post_init__(self) -> None:
        check_jobs(self.n_jobs)
        check_choice("on_error", self.on_error, ("raise", "drop"))
        check_choice("design_state", self.design_state, ("all", "refit"))
        check_choice("unseen_levels", self.unseen_levels, ("raise", "allow"))


def refit(
    estimator: Any,
    design: Design,
    population: Sample,
    *,
    plan: Resampling,
    units: Units,
    read: Callable[[Any], Sample],
    seeds: Seeds,
    options: RefitOptions,
) -> tuple[Refit, ...]:
    """Train `estimator` on every part of the plan.

    Refits whose training fails are left out if ``options.on_error`` is "drop".

    Raises
    ------
    RefitError
        If a refit fails (or, with "drop", if fewer than are needed succeed); it names the refit
        and chains the cause.
    """
    parts = list(plan.parts(population, units, seeds.stream("splits"), read))
    # Levels of the data at hand are coded once, those of fresh draws in every part.
    coded = design.categories(population.variables) if plan.shares_data else None
    designs = [_design_for(design, part, plan, options, population, coded) for part in parts]
    jobs: Iterator[Callable[[], Any]] = (
        partial(
            _attempt,
            estimator,
            *_training(refit_design, part),
            seeds.stream("refits", k) if options.reseed else None,
            workers=threads.workers(options.n_jobs),
            weights=part.train.weights,
        )
        for k, (refit_design, part) in enumerate(zip(designs, parts, strict=True), start=1)
    )
    refits = []
    failed: list[tuple[int, Exception]] = []
    with outcomes(
        jobs, len(parts), n_jobs=options.n_jobs, label="Refits", progress=options.progress
    ) as fits:
        for k, (outcome, refit_design, part) in enumerate(
            zip(fits, designs, parts, strict=True), start=1
        ):
            if isinstance(refit_design, Exception) or isinstance(outcome, Exception):
                error = refit_design if isinstance(refit_design, Exception) else outcome
                if options.on_error == "raise":
                    raise RefitError(_failure(k, len(parts), error)) from error
                failed.append((k, error))
            else:
                refits.append(_refit(k, outcome, refit_design, part))
    _report(failed, len(parts), plan.lacking([r.group for r in refits]))
    return tuple(refits)


def fit_one(
    estimator: Any,
    matrix: Matrix,
    y: FloatArray,
    response: Response,
    rng: np.random.Generator | None,
    *,
    workers: int = 1,
    keep_set: bool = False,
    weights: FloatArray | None = None,
) -> Predictor:
    """Train a copy of `estimator` on design rows `matrix` and responses `y`, maybe weighted.

    As one of several `workers` it uses its share of the cores.
    Every seed inside the estimator is drawn from `rng`; with `keep_set` only those that are None.
    Without `rng` all stay as they are.
    """
    model = fresh(estimator)
    if rng is not None:
        reseed(model, rng, keep_set=keep_set)
    option = None if weights is None else weight_option(model)
    weighted = {} if option is None else {option: weights}
    coded = response.classes is not None and wants_codes(model)
    with threads.shared_cores([model], workers), seed_networks(model, rng):
        if wants_frames(model):
            model.fit(matrix, response.column(y), **weighted)
        else:
            model.fit(matrix, y.astype(np.intp) if coded else response.labels(y), **weighted)
    predictor = Predictor.of(model, response.classes, coded=coded)
    return replace(predictor, ordinal=response.ordinal)


def fit_alone(
    estimator: Any,
    matrix: Matrix,
    y: FloatArray,
    response: Response,
    rng: np.random.Generator | None,
    *,
    keep_set: bool = False,
    weights: FloatArray | None = None,
) -> Predictor:
    """Train as `fit_one` does, where there are no other refits.

    Raises
    ------
    RefitError
        If the estimator can't be trained; it chains the cause.
    """
    try:
        return fit_one(estimator, matrix, y, response, rng, keep_set=keep_set, weights=weights)
    except PyinterpError:
        raise
    except Exception as error:
        raise RefitError(
            f"{learner_name(estimator)} can't be trained: {explanation(error)}"
        ) from error


def _training(design: Design | Exception, part: Part) -> tuple[Any, Any, Any]:
    if isinstance(design, Exception):
        return design, None, None
    try:
        train = part.train
        return design.encode(train.variables, train.index), train.y, train.response
    except PyinterpError as error:  # fresh rows with levels or values never seen
        return error, None, None


def _attempt(
    estimator: Any,
    matrix: Matrix | Exception,
    y: FloatArray,
    response: Response,
    rng: np.random.Generator | None,
    *,
    workers: int,
    weights: FloatArray | None,
) -> Predictor | Exception:
    if isinstance(matrix, Exception):
        return matrix
    try:
        return fit_one(estimator, matrix, y, response, rng, workers=workers, weights=weights)
    except Exception as error:  # noqa: BLE001 - any failure of a learner is reported by refit
        return error


def _refit(k: int, predictor: Predictor, design: Design, part: Part) -> Refit:
    return Refit(
        number=k,
        predictor=predictor,
        design=design,
        evaluation=part.evaluation,
        train=part.train,
        n_train=part.n_train,
        n_evaluation=part.n_evaluation,
        group=part.group,
    )


def _design_for(
    design: Design,
    part: Part,
    plan: Resampling,
    options: RefitOptions,
    population: Sample,
    coded: Mapping[str, Categories] | None,
) -> Design | Exception:
    try:
        if options.unseen_levels == "raise":
            _check_levels(design, part, plan, population, coded)
        if not isinstance(design, FormulaDesign):
            return design
        if options.design_state == "refit":
            design = design.relearn(part.train.variables)
        if options.design_state == "refit" or not plan.shares_data:
            design.encode(part.evaluation.variables)  # rows outside the knots or levels fail here
    except PyinterpError as error:
        return error
    return design


def _check_levels(
    design: Design,
    part: Part,
    plan: Resampling,
    population: Sample,
    coded: Mapping[str, Categories] | None,
) -> None:
    if coded is None:
        trained = design.categories(part.train.variables)
        evaluated = design.categories(part.evaluation.variables)
    else:
        where = np.searchsorted(population.rows, part.train.rows)
        trained = {name: factor.take(where) for name, factor in coded.items()}
        where = np.searchsorted(population.rows, part.evaluation.rows)
        evaluated = {name: factor.take(where) for name, factor in coded.items()}
    for name, (codes, levels) in evaluated.items():
        unseen = np.setdiff1d(codes, trained[name].codes)
        if len(unseen):
            strata = "draw within levels (`strata=`), " if plan.stratifies else ""
            raise DesignError(
                f"Level {levels[int(unseen[0])]!r} of `{name}` is in the evaluation rows but not "
                f"in the training rows: merge rare levels, {strata}or accept that it is treated "
                'as the reference level (`unseen_levels="allow"`).'
            )


def _failure(k: int, total: int, error: Exception) -> str:
    ours = isinstance(error, PyinterpError)
    message = f"{type(error).__name__}: {error}" if ours else explanation(error)
    return f"Refit {k} of {total} failed: {message}"


def _report(failed: Sequence[tuple[int, Exception]], total: int, lacking: str) -> None:
    if not failed:
        return
    k, first = failed[0]
    if lacking:
        raise RefitError(f"{lacking} {_failure(k, total, first)}") from first
    warnings.warn(
        f"{len(failed)} of {total} refits failed and were left out. {_failure(k, total, first)}",
        RefitWarning,
        stacklevel=level_of_caller(),
    )


def estimating(refits: Sequence[Refit]) -> tuple[Refit, ...]:
    """Return the refits whose mean is the estimate."""
    return tuple(r for r in refits if _estimates(r)) or tuple(refits)


def _estimates(refit: Refit) -> bool:
    return refit.group is None or refit.group.estimates
