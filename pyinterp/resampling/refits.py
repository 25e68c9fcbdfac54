"""Refits: one learner trained on every part of a resampling plan."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from pyinterp._typing import IntArray, Matrix
from pyinterp.checks import check_choice, check_count, check_flag, check_jobs
from pyinterp.data.design import Design, FormulaDesign
from pyinterp.data.sample import Sample
from pyinterp.errors import (
    DataError,
    DesignError,
    OptionError,
    PyinterpError,
    RefitError,
    RefitWarning,
    level_of_caller,
    reason,
)
from pyinterp.models.adapters import by_variable, says, wants_codes
from pyinterp.models.copies import fresh, kept_streams, reseed, seeded_streams
from pyinterp.models.final_step import final_step
from pyinterp.models.predictive import predictive
from pyinterp.models.predictor import Predictor, learner_name
from pyinterp.models.remedies import explanation
from pyinterp.models.sample_weight import WEIGHT, weight_option
from pyinterp.models.threads import shared_cores
from pyinterp.parallel import EndOfCall, outcomes
from pyinterp.parallel.progress import ProgressOption
from pyinterp.random import Seeds
from pyinterp.representation import about
from pyinterp.resampling.checkpoint import Checkpoint, Shard
from pyinterp.resampling.levels import Unseen, in_words, unseen_among
from pyinterp.resampling.proof import Answers, digest_of, prove
from pyinterp.resampling.resampling import Group, RefitRows, Resampling, Units, is_half, some_rows

T = TypeVar("T")
OnError: TypeAlias = Literal["raise", "drop"]
DesignState: TypeAlias = Literal["all", "refit"]
UnseenLevels: TypeAlias = Literal["raise", "allow"]
Reseeds: TypeAlias = Literal["all", "unset", "none"]
REPORTS = ("feature_importances_", "tvalues")  # by models, beside what they predict


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


class Remains(NamedTuple):
    """What stays of a refit whose model is dropped.

    Attributes
    ----------
    predictor : Predictor
        Without the model.
    record : object
        What was measured; its `arrays` prove that it was measured by the same learner.
    """

    predictor: Predictor
    record: Any


ModelAndDesign: TypeAlias = tuple[Predictor | Remains, Design]


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
    prediction: str | None = None

    def __post_init__(self) -> None:
        if self.max_evaluation_rows is not None:
            check_count("max_evaluation_rows", self.max_evaluation_rows, least=2)
        check_flag("reseed", self.reseed)
        check_jobs(self.n_jobs, self.progress)
        check_choice("on_error", self.on_error, ("raise", "drop"))
        check_choice("design_state", self.design_state, ("all", "refit"))
        check_choice("unseen_levels", self.unseen_levels, ("raise", "allow"))

    @property
    def jobs(self) -> int | None:
        """How many refits are trained at once: one in threads, which share random streams."""
        in_threads = getattr(get_active_backend()[0], "supports_sharedmem", False)
        return 1 if in_threads else self.n_jobs

    @property
    def reseeds(self) -> Reseeds:
        """Which seeds inside the estimator every refit draws."""
        return "all" if self.reseed else "none"


def refit(
    estimator: Any,
    design: Design,
    sample: Sample,
    *,
    plan: Resampling,
    units: Units,
    read: Callable[[Any], Sample],
    seeds: Seeds,
    options: RefitOptions,
    checkpoint: Checkpoint | None = None,
    shard: Shard | None = None,
    finish: Callable[[Refit], Remains] | None = None,
    begin: Callable[[], tuple[Mapping[str, str], object]] = lambda: ({}, None),
) -> tuple[tuple[Refit, ...], str, str]:
    """Train `estimator` on every part of the plan; return refits, and notes on a checkpoint.

    Refits whose training fails are dropped if ``options.on_error`` is "drop". Those that the
    checkpoint keeps are not trained again, but for one of each kind, which must predict the
    same. It begins with facts and a call, which ``begin()`` returns. Of a shard, only its refits
    are trained, and returned.
    ``finish(refit)`` returns what stays of a refit, in the job that trains it.

    Raises
    ------
    RefitError
        If a refit fails (or, with "drop", if fewer than are needed succeed); it names the refit
        and chains the cause. If a worker process or its connection is lost.
    OptionError
        If the checkpoint keeps refits of another call.
    """
    parts = list(plan.parts(sample, units, seeds.stream("splits"), read))
    if options.max_evaluation_rows is not None:
        rng = seeds.stream("splits", name="evaluation rows")
        parts = some_rows(parts, options.max_evaluation_rows, rng)
    every = dict(enumerate(parts, 1))
    numbered = every if shard is None else shard.choose(parts)
    work = _Work(estimator, design, sample, every, plan, seeds, options, finish)
    done: dict[int, ModelAndDesign] = {}
    differ = folder = ""
    if work.unseen and options.on_error == "raise":
        raise RefitError(in_words(work.unseen, plan))
    if checkpoint is not None:
        samples = (rows for part in parts for rows in part[:2])
        rows = digest_of(samples, among=sample.rows if plan.shares_data else None)
        facts, call = begin()
        differ = checkpoint.begin({**facts, "rows": rows}, call)
        done = work.models_of(numbered, checkpoint)
        if done or shard is not None:
            with _lost_workers(done, len(numbered), checkpoint):
                proven = work.prove(checkpoint, differ)
            folder = f"{len(done)} of {len(numbered)} refits, {'' if proven else 'not '}proven"
            done |= work.models_of(numbered.keys() - done.keys(), checkpoint)  # maybe the first
    todo = [k for k in numbered if k not in done]
    failures: list[tuple[str, Exception]] = []
    with (
        _lost_workers(done, len(numbered), checkpoint),
        work.outcomes(todo, ordered=checkpoint is None) as fits,
    ):
        for k, outcome in fits:
            if not isinstance(outcome, Exception):
                done[k] = outcome, work.design_of(k)
                if checkpoint is not None:
                    checkpoint.keep_refit(k, done[k])
                continue
            failures.append((_failure_in_words(k, len(parts), outcome), outcome))
            if options.on_error == "raise":
                raise RefitError(failures[0][0]) from outcome
            if checkpoint is not None:
                checkpoint.keep_failure(k, failures[-1][0])
    refits = []
    for k, (outcome, fitted) in sorted(done.items()):
        # Of a dropped model its measurements too.
        kept = outcome._asdict() if isinstance(outcome, Remains) else {"predictor": outcome}
        refits.append(Refit(number=k, **kept, design=fitted, **numbered[k]._asdict()))
    if failures and (shard is None or not refits):
        lacking = "" if shard is not None else plan.lacking([r.group for r in refits])
        if not refits and not lacking:
            lacking = "No refit of this shard succeeded."
        _report(failures, len(parts), lacking)
    note = f"Refits of the folder had other settings: {differ}." if folder and differ else ""
    return tuple(refits), folder, note


@dataclass(frozen=True)
class _Work:
    """The training of a plan's parts, by their numbers."""

    estimator: Any
    design: Design
    sample: Sample
    parts: Mapping[int, RefitRows]
    plan: Resampling
    seeds: Seeds
    options: RefitOptions
    finish: Callable[[Refit], Remains] | None
    _designs: dict[int, Design] = field(default_factory=dict)

    @cached_property
    def unseen(self) -> Unseen:
        """Levels of evaluation rows that a part's training rows lack."""
        if self.options.unseen_levels == "allow":
            return []
        sample = self.sample if self.plan.shares_data else None
        try:
            return unseen_among(self.parts, self.design, sample)
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

    def models_of(
        self, numbers: Collection[int], checkpoint: Checkpoint
    ) -> dict[int, ModelAndDesign]:
        """Return the refits that are kept, with the designs that they were trained on."""
        found = checkpoint.refits(numbers)
        for k, (outcome, design) in found.items():
            mine = self.design_of(k)  # refits share one
            found[k] = outcome, mine if design.columns == mine.columns else design
        return found

    def prove(self, checkpoint: Checkpoint, differ: str) -> bool:
        """Make the last refit of each kind that is kept again; return whether it proves the others.

        The only one of its kind is made twice: streams and counters of the process have then gone
        on. Shards that find none begin with the first: one keeps it, the others compare theirs.
        """
        numbers = [*checkpoint.numbers(len(self.parts))]
        if not numbers:
            k = next(iter(self.parts))
            if isinstance(again := self._train(k), Exception):
                self._check_failure(k, again)
                return False
            mine = again, self.design_of(k)
            if checkpoint.keep_first(k, mine) is mine:
                return False
            numbers = [k]
        proofs = []
        for kind in (False, True):
            if some := [k for k in numbers if is_half(self.parts[k].group) is kind]:
                k = some[-1]
                answers = self._answers(k, *self.models_of([k], checkpoint)[k])
                make = partial(self._again, k)
                proofs.append(prove(k, answers, make, checkpoint, times=1 + (len(some) == 1)))
        if differ and not all(proofs):
            raise OptionError(
                f"{str(checkpoint.folder)!r} keeps refits of a learner that never repeats what it "
                f"does, with other settings ({differ}): nothing can be proven. Give another folder."
            )
        return all(proofs)

    def _check_failure(self, k: int, error: Exception) -> None:
        if self.options.on_error == "raise":
            raise RefitError(_failure_in_words(k, len(self.parts), error)) from error

    def _train(self, k: int) -> Predictor | Remains | Exception:
        """Train one part as it is trained among others."""
        with self.outcomes([k], ordered=True) as fits:
            ((_, outcome),) = fits
            return outcome

    def _again(self, k: int) -> Answers:
        """Train a part, and return its answers; none of a failure."""
        outcome = self._train(k)
        if isinstance(outcome, Exception):
            self._check_failure(k, outcome)
            return {}
        return self._answers(k, outcome, self.design_of(k))

    def _answers(self, k: int, outcome: Predictor | Remains, design: Design) -> Answers:
        """Return a refit's reports and predictions of its evaluation rows, or its measurements."""
        if isinstance(outcome, Remains):
            return dict(outcome.record.arrays)
        with shared_cores([outcome.estimator], effective_n_jobs(self.options.jobs)):
            _, answers = outcome_of(k, _all_answers, outcome, design, self.parts[k].evaluation)
        return {} if isinstance(answers, Exception) else answers

    @contextmanager
    def outcomes(
        self, numbers: Collection[int], *, ordered: bool
    ) -> Iterator[Iterable[tuple[int, Predictor | Remains | Exception]]]:
        """Train refits; the context yields pairs of a number and a model, its remains or an error.

        The global streams of random numbers are afterwards as they were before.
        """
        with (
            kept_streams(),
            outcomes(
                self._jobs(numbers),
                len(numbers),
                n_jobs=self.options.jobs,
                label="Refits",
                progress=self.options.progress,
                ordered=ordered,
            ) as fits,
        ):
            yield fits

    def _jobs(
        self, numbers: Iterable[int]
    ) -> Iterator[Callable[[], tuple[int, Predictor | Remains | Exception]]]:
        """Yield jobs that train refits; where rows have no design, jobs that return the error."""
        workers = effective_n_jobs(self.options.jobs)
        for k in numbers:
            train = self.parts[k].train
            try:
                design = self.design_of(k)
                matrix = design.rows_of(train)
            except PyinterpError as error:  # such as levels or values that were never seen
                yield partial(outcome_of, k, _failure, error)
                continue
            rng = self.seeds.stream("refits", k)
            fit = partial(fit_one, workers=workers, reseeds=self.options.reseeds)
            learner = by_variable(self.estimator, design)
            job = partial(outcome_of, k, fit, learner, matrix, train, rng)
            if self.finish is None:
                yield job
            else:
                yield partial(_finish, self.finish, design, self.parts[k], job)


def _all_answers(predictor: Predictor, design: Design, rows: Sample) -> Answers:
    """Return predictions of all kinds, the stated distribution, and reported importances."""
    matrix = design.rows_of(rows)
    # What it predicts in words, without those of its class, decides on the loss.
    aim = replace(predictor.aim, words="")
    answers: dict[Any, Any] = {**predictor.by_kind(matrix), aim: np.zeros(0)}
    with suppress(PyinterpError):
        one = design.encode(rows.variables[:1])
        answers["distribution"] = predictive(predictor, one)(matrix)
    model = final_step(predictor.estimator).model
    for name in REPORTS:
        value = getattr(getattr(model, "results_", model), name, None)
        if value is not None:
            answers[name] = np.sort(np.asarray(value, np.float64), axis=None)
    return answers


def _failure_in_words(k: int, total: int, error: Exception) -> str:
    """Return the sentence on a refit that failed."""
    ours = isinstance(error, PyinterpError)
    why = f"{type(error).__name__}: {error}" if ours else explanation(error)
    return f"Refit {k} of {total} failed: {why}"


def _report(failures: Sequence[tuple[str, Exception]], total: int, lacking: str) -> None:
    """Warn of refits that failed; raise `RefitError` if those that succeeded are too few."""
    first, cause = failures[0]
    if lacking:
        raise RefitError(f"{lacking} {first}") from cause
    text = f"{len(failures)} of {total} refits failed and were left out. {first}"
    warnings.warn(text, RefitWarning, stacklevel=level_of_caller())


def _by_row(model: Any, train: Sample) -> dict[str, Any]:
    """Return the arguments of `fit` by row: sampling weights, and groups if it takes some.

    A group is a cluster, or repeats of a row.
    """
    groups = train.rows if train.clusters is None else train.clusters
    options: dict[str, Any] = {}
    several = None if pd.Index(groups).is_unique else groups
    for name, values in ((WEIGHT, train.weights), ("groups", several)):
        option = None if values is None else weight_option(model, name)
        if option is not None:
            options[option] = values
    return options


def fit_one(
    estimator: Any,
    matrix: Matrix,
    train: Sample,
    rng: np.random.Generator,
    *,
    workers: int = 1,
    reseeds: Reseeds = "all",
) -> Predictor:
    """Train a copy of `estimator` on the design `matrix` of rows and their responses.

    Their sampling weights are given to it, and their clusters if its `fit` takes `groups`. As one
    of several `workers` it uses its share of the cores.
    Seeds inside the estimator are drawn from `rng`: all, those that are None, or none. So are the
    streams of the process.
    """
    y, response = train.y, train.response
    if y is None or response is None:
        raise DataError("A learner needs a response.")
    model, loaded = fresh(estimator), "torch" in sys.modules
    if reseeds != "none":
        reseed(model, rng, keep_set=reseeds == "unset")
    by_row = _by_row(model, train)
    coded = response.classes is not None and wants_codes(model)
    with shared_cores([model], workers), seeded_streams(rng):
        if says(model, "wants_frames"):
            model.fit(matrix, response.column(y), **by_row)
        else:
            model.fit(matrix, y.astype(np.intp) if coded else response.labels(y), **by_row)
    if not loaded and "torch" in sys.modules:  # the learner loaded it, so its stream had no seed
        again = np.random.default_rng(rng.bit_generator.seed_seq)  # type: ignore[arg-type] # is one
        return fit_one(estimator, matrix, train, again, workers=workers, reseeds=reseeds)
    predictor = Predictor.of(model, response.classes, coded=coded)
    return replace(predictor, ordinal=response.ordinal, total=getattr(model, "total_", 1.0))


@kept_streams()
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


def _finish(
    finish: Callable[[Refit], Remains],
    design: Design,
    part: RefitRows,
    job: Callable[[], tuple[int, Predictor | Exception]],
) -> tuple[int, Remains | Exception]:
    """Return the outcome of a training, or of the work after it, whose errors are raised."""
    k, outcome = job()
    if isinstance(outcome, Exception):
        return k, outcome
    return k, finish(Refit(number=k, predictor=outcome, design=design, **part._asdict()))


def _failure(error: Exception) -> Exception:
    """Return the outcome of a refit whose rows can't be encoded."""
    return error


@contextmanager
def _lost_workers(
    done: Mapping[int, object], total: int, checkpoint: Checkpoint | None
) -> Iterator[None]:
    """Say how many refits are done, and how to go on, if Ctrl-C or a lost worker ends training."""
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
    separate = tuple(filter(lambda r: not is_half(r.group), refits))
    return separate or tuple(refits)
