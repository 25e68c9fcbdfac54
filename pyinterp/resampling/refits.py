"""Refits: one learner trained on every part of a resampling plan."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from joblib import effective_n_jobs

from pyinterp._typing import IntArray, Matrix
from pyinterp.checks import check_choice, check_count, check_flag, check_jobs
from pyinterp.data.design import Design, FormulaDesign
from pyinterp.data.sample import Sample
from pyinterp.errors import (
    DataError,
    DesignError,
    PyinterpError,
    RefitError,
    RefitWarning,
    level_of_caller,
    reason,
)
from pyinterp.models.adapters import wants_codes, wants_frames
from pyinterp.models.copies import fresh, reseed, seed_networks
from pyinterp.models.predictor import Predictor, learner_name
from pyinterp.models.remedies import explanation
from pyinterp.models.sample_weight import weight_option
from pyinterp.models.threads import shared_cores
from pyinterp.parallel import EndOfCall, outcomes
from pyinterp.parallel.progress import ProgressOption
from pyinterp.random import Seeds
from pyinterp.representation import about
from pyinterp.resampling.checkpoint import Checkpoint, Shard, digest_of
from pyinterp.resampling.levels import Unseen, in_words, unseen_among
from pyinterp.resampling.resampling import Group, Part, Resampling, Units, some_rows

T = TypeVar("T")
# A predictor, without its model if this was dropped, and what was measured of it then.
Outcome: TypeAlias = tuple[Predictor, Any]
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
        Number of distinct units (rows, or clusters) that the plan trains on and evaluates.
    group : Group or None
        The pair or bootstrap sample that it belongs to.
    share : float
        Of the rows that evaluate any refit: below 1 they are a random sample (`some_rows`).
    record : object
        What was measured of a model that was dropped.
    """

    number: int
    predictor: Predictor
    design: Design
    evaluation: Sample
    train: Sample | None
    n_train: int
    n_evaluation: int
    group: Group | None = None
    share: float = 1.0
    record: Any = None

    @property
    def train_rows(self) -> IntArray:
        """Positions in the data of its training rows, repeats included."""
        return np.empty(0, np.intp) if self.train is None else self.train.rows

    def __repr__(self) -> str:
        evaluate = f"{self.evaluation.n_units} evaluate"
        return about(self, f"number {self.number}", f"{self.n_train} train", evaluate)


@dataclass(frozen=True, kw_only=True)
class RefitOptions:
    """Options of the refits; see `Learner.fit`."""

    reseed: bool = True
    on_error: OnError = "raise"
    design_state: DesignState = "all"
    unseen_levels: UnseenLevels = "raise"
    n_jobs: int | None = None
    progress: ProgressOption = True
    max_evaluation_rows: int | None = None

    def __post_init__(self) -> None:
        if self.max_evaluation_rows is not None:
            check_count("max_evaluation_rows", self.max_evaluation_rows, least=2)
        check_flag("reseed", self.reseed)
        check_jobs(self.n_jobs, self.progress)
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
    checkpoint: Checkpoint | None = None,
    shard: Shard | None = None,
    finish: Callable[[Refit], Outcome] | None = None,
    begin: Callable[[], tuple[Mapping[str, str], object]] = lambda: ({}, None),
) -> tuple[tuple[Refit, ...], str]:
    """Train `estimator` on every part of the plan; in words what a checkpoint had.

    Refits whose training fails are dropped if ``options.on_error`` is "drop". Those that the
    checkpoint keeps are not trained again. It begins with facts and a call, which ``begin()``
    returns. Of a shard, only its refits are trained, and returned.
    ``finish(refit)`` returns what stays of a refit, in the job that trains it.

    Raises
    ------
    RefitError
        If a refit fails (or, with "drop", if fewer than are needed succeed); it names the refit
        and chains the cause. If a worker process or its connection is lost.
    OptionError
        If the checkpoint keeps refits of another call.
    """
    parts = list(plan.parts(population, units, seeds.stream("splits"), read))
    if options.max_evaluation_rows is not None:
        rng = seeds.stream("splits", name="evaluation rows")
        parts = some_rows(parts, options.max_evaluation_rows, rng)
    every = dict(enumerate(parts, 1))
    numbered = every if shard is None else shard.choose(parts)
    work = _Work(estimator, design, population, every, plan, seeds, options, finish)
    done: dict[int, Outcome] = {}
    if checkpoint is not None:
        samples = (sample for part in parts for sample in part[:2])
        facts, call = begin()
        checkpoint.begin({**facts, "rows": digest_of(samples, positions=plan.shares_data)}, call)
        done = checkpoint.refits(numbered)
    folder = f"{len(done)} of {len(numbered)} refits" if done else ""
    if work.unseen and options.on_error == "raise":
        raise RefitError(in_words(work.unseen, plan))
    todo = sorted(numbered.keys() - done.keys())
    failures: list[tuple[str, Exception]] = []
    with (
        _lost_workers(done, len(numbered), checkpoint),
        outcomes(
            work.jobs(todo),
            len(todo),
            n_jobs=options.n_jobs,
            label="Refits",
            progress=options.progress,
            ordered=checkpoint is None,
        ) as fits,
    ):
        for k, outcome in fits:
            if not isinstance(outcome, Exception):
                if checkpoint is not None:
                    checkpoint.keep_refit(k, outcome)
                done[k] = outcome
                continue
            ours = isinstance(outcome, PyinterpError)
            why = f"{type(outcome).__name__}: {outcome}" if ours else explanation(outcome)
            failures.append((f"Refit {k} of {len(parts)} failed: {why}", outcome))
            if options.on_error == "raise":
                raise RefitError(failures[0][0]) from outcome
            if checkpoint is not None:
                checkpoint.keep_failure(k, failures[-1][0])
    refits = []
    for k in sorted(done):
        predictor, record = done[k]
        coding = work.design_of(k)
        refits.append(
            Refit(number=k, predictor=predictor, record=record, design=coding, **every[k]._asdict())
        )
    if failures and (shard is None or not refits):
        lacking = "" if shard is not None else plan.lacking([r.group for r in refits])
        if not refits and not lacking:
            lacking = "No refit of this shard succeeded."
        _report(failures, len(parts), lacking)
    return tuple(refits), folder


@dataclass(frozen=True)
class _Work:
    """The training of a plan's parts, by their numbers."""

    estimator: Any
    design: Design
    population: Sample
    parts: Mapping[int, Part]
    plan: Resampling
    seeds: Seeds
    options: RefitOptions
    finish: Callable[[Refit], Outcome] | None
    _designs: dict[int, Design] = field(default_factory=dict)

    @cached_property
    def unseen(self) -> Unseen:
        """Levels of evaluation rows that a part's training rows lack."""
        if self.options.unseen_levels == "allow":
            return []
        population = self.population if self.plan.shares_data else None
        try:
            return unseen_among(self.parts, self.design, population)
        except DesignError:  # fresh rows have a level that no row at hand has: their refit says so
            return []

    def design_of(self, k: int) -> Design:
        """Return the design of a part; raise if it has evaluation rows that can't be read."""
        if self.unseen and (unseen := [one for one in self.unseen if one[0] == k]):
            raise DesignError(in_words(unseen, self.plan))
        if not isinstance(self.design, FormulaDesign):
            return self.design
        if k not in self._designs:
            part, anew = self.parts[k], self.options.design_state == "refit"
            design = self.design.relearn(part.train.variables) if anew else self.design
            if anew or not self.plan.shares_data:
                # Rows outside the knots or levels fail here.
                design.encode(part.evaluation.variables)
            self._designs[k] = design
        return self._designs[k]

    def jobs(
        self, numbers: Iterable[int]
    ) -> Iterator[Callable[[], tuple[int, Outcome | Exception]]]:
        """Yield jobs that train parts; each returns its number with the outcome."""
        workers = effective_n_jobs(self.options.n_jobs)
        for k in numbers:
            train = self.parts[k].train
            try:
                design = self.design_of(k)
                matrix = design.rows_of(train)
            except PyinterpError as error:  # such as levels or values that were never seen
                yield partial(_outcome, k, error)
                continue
            rng = self.seeds.stream("refits", k) if self.options.reseed else None
            fit = partial(fit_one, self.estimator, matrix, train, rng, workers=workers)
            finish = None
            if self.finish is not None:
                finish = partial(_finish, self.finish, k, design, self.parts[k])
            yield partial(_outcome, k, fit, finish)


def _report(failures: Sequence[tuple[str, Exception]], total: int, lacking: str) -> None:
    """Warn of refits that failed; raise `RefitError` if those that succeeded are too few."""
    first, cause = failures[0]
    if lacking:
        raise RefitError(f"{lacking} {first}") from cause
    text = f"{len(failures)} of {total} refits failed and were left out. {first}"
    warnings.warn(text, RefitWarning, stacklevel=level_of_caller())


def fit_one(
    estimator: Any,
    matrix: Matrix,
    train: Sample,
    rng: np.random.Generator | None,
    *,
    workers: int = 1,
    keep_set: bool = False,
) -> Predictor:
    """Train a copy of `estimator` on the design `matrix` of rows and their responses.

    Their sampling weights are given to it. As one of several `workers` it uses its share of the
    cores.
    Every seed inside the estimator is drawn from `rng`; with `keep_set` only those that are None.
    Without `rng` all stay as they are.
    """
    y, response = train.y, train.response
    if y is None or response is None:
        raise DataError("A learner needs a response.")
    model = fresh(estimator)
    if rng is not None:
        reseed(model, rng, keep_set=keep_set)
    option = None if train.weights is None else weight_option(model)
    weights = {} if option is None else {option: train.weights}
    coded = response.classes is not None and wants_codes(model)
    with shared_cores([model], workers), seed_networks(model, rng):
        if wants_frames(model):
            model.fit(matrix, response.column(y), **weights)
        else:
            model.fit(matrix, y.astype(np.intp) if coded else response.labels(y), **weights)
    predictor = Predictor.of(model, response.classes, coded=coded)
    return replace(predictor, ordinal=response.ordinal, total=getattr(model, "total_", 1.0))


def fit_alone(estimator: Any, *arguments: Any, **options: Any) -> Predictor:
    """Train as `fit_one` does, where there are no other refits.

    Raises
    ------
    RefitError
        If the estimator can't be trained; it chains the cause.
    """
    try:
        return fit_one(estimator, *arguments, **options)
    except PyinterpError:
        raise
    except Exception as error:
        raise RefitError(
            f"{learner_name(estimator)} can't be trained: {explanation(error)}"
        ) from error


def outcome_of(k: int, function: Callable[..., T], *arguments: Any) -> tuple[int, T | Exception]:
    """Return a refit's number with the result of a function, or the exception that it raises."""
    try:
        return k, function(*arguments)
    except Exception as error:  # noqa: BLE001 - any failure of a learner is reported by its caller
        return k, error


def _outcome(
    k: int,
    fit: Callable[[], Predictor] | Exception,
    finish: Callable[[Predictor], Outcome] | None = None,
) -> tuple[int, Outcome | Exception]:
    """Return a refit's number with its outcome; errors of what follows the training are none."""
    if isinstance(fit, Exception):
        return k, fit
    try:
        predictor = fit()
    except Exception as error:  # noqa: BLE001 - any failure of a learner is reported by its caller
        return k, error
    return k, (predictor, None) if finish is None else finish(predictor)


def _finish(
    finish: Callable[[Refit], Outcome], k: int, design: Design, part: Part, predictor: Predictor
) -> Outcome:
    """Return what stays of a refit."""
    return finish(Refit(number=k, predictor=predictor, design=design, **part._asdict()))


@contextmanager
def _lost_workers(
    done: Mapping[int, object], total: int, checkpoint: Checkpoint | None
) -> Iterator[None]:
    """Say what was done, and how to go on, where Ctrl-C or a lost worker ends the training."""
    try:
        yield
    except (PyinterpError, EndOfCall):
        raise
    except (KeyboardInterrupt, Exception) as error:
        keep = 'With `fit(checkpoint="folder")` finished refits are kept for the next call.'
        if checkpoint is not None:
            keep = f"{str(checkpoint.folder)!r} keeps them: the same call goes on there."
        text = f"{len(done)} of {total} refits were done. {keep}"
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(text) from None
        why = reason(error).rstrip(".")
        raise RefitError(f"The training of refits was cut off: {why}. {text}") from error


def estimating(refits: Sequence[Refit]) -> tuple[Refit, ...]:
    """Return the refits whose mean is the estimate."""
    separate = tuple(filter(lambda r: r.group is None or r.group.kind != "pair", refits))
    return separate or tuple(refits)
