"""Coverage studies: how often intervals hold the truth, resumable and in parallel."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from itertools import product
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier, DummyRegressor

from pyinterp._typing import FloatArray
from pyinterp.checks import (
    check_alpha,
    check_callable,
    check_choice,
    check_count,
    check_list,
    check_mapping,
)
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.inference import COV_TYPES, CovType
from pyinterp.learner.learner import Learner, LearnerResults
from pyinterp.resampling import FreshDraws, Resampling
from pyinterp.results.results import EstimandResults
from pyinterp.simulation.processes.process import Process
from pyinterp.simulation.studies.cells import (
    AnyRecord,
    CoverageRow,
    Interval,
    IntervalRecord,
    IntervalSums,
    Mean,
    MeanRecord,
    MeanSums,
    Record,
    Target,
    TruthRow,
    interval_records,
    mean_records,
)
from pyinterp.simulation.studies.coverage_results import CoverageResults, pooled_truths
from pyinterp.simulation.studies.runner import AnyUnit, Study, Unit, count_of

__all__ = ["CoverageStudy", "ideal"]

Plan: TypeAlias = Resampling | Callable[[Process, int], Resampling]
Ask: TypeAlias = Callable[..., EstimandResults]

TRAIN = 0.632
# Refits for the truth are cheaper than repetitions: so many blocks make one.
TRUTH_BLOCKS = 10


def ideal(refits: int = 15) -> Callable[[Process, int], Resampling]:
    """Return the plan with fresh data for every refit, which needs no correction (c = 0).

    As in the code behind Molnar et al. (2021, section 8), 0.632 n rows train and as many evaluate.
    """
    check_count("refits", refits)

    return _Ideal(refits)


@dataclass(frozen=True)
class _Ideal:
    """The plan `ideal` of a process and n."""

    refits: int

    def __call__(self, process: Process, n: int) -> Resampling:
        return FreshDraws(partial(process.draw, 2 * round(TRAIN * n)), self.refits, fraction=0.5)

    def __repr__(self) -> str:
        return f"ideal({self.refits})"


@dataclass(frozen=True, kw_only=True, repr=False)
class CoverageStudy(Study[CoverageResults]):
    r"""Simulate how often intervals hold the expectation of the learner's PD or importance.

    The truth of a learner at n is the mean of its estimates over many refits on fresh data, each
    trained on 0.632 n rows and evaluated on as many. Every repetition draws n rows, on which every
    plan is tried; a data set depends on the process, n and the repetition only, so that
    learners and plans are compared on the same data.

    Parameters
    ----------
    dgps : sequence of Process
    learners : mapping of str to estimator, or to (formula, estimator)
        The formula is ``"y ~ ."`` by default. Where settings depend on them, a function of process
        and n that returns either.
    estimands : mapping of str to callable
        ``ask(results, cov_type=...)`` returns results for the fitted learner, such as
        ``LearnerResults.pfi`` or ``partial(LearnerResults.pd, features="x1", grid=[0, 1])``. Grids
        must be arrays, so that every data set has the same terms.
    n : sequence of int
        Sizes of data sets.
    resamplings : mapping of str to plan
        A plan, or a function of process and n that returns one, such as ``ideal()``.
    cov_types : mapping of str to sequence of str
        For every name in `resamplings`, the variance estimators to try.
    repetitions : int or mapping
        Data sets per row of the study, or a mapping from the names of learners; 0 for a study of
        the mean estimates of learners only.
    truth_refits : int or mapping
        Refits for the truth, likewise.
    alpha : float
        1 - alpha is the nominal coverage.
    block : int
        Repetitions per checkpoint.
    seed : int
    """

    _KINDS: ClassVar[tuple[str, ...]] = ("truth", "coverage")

    estimands: Mapping[str, Ask]
    resamplings: Mapping[str, Plan]
    cov_types: Mapping[str, Sequence[CovType]]
    repetitions: int | Mapping[str, int] = 1000
    truth_refits: int | Mapping[str, int] = 2000
    alpha: float = 0.05
    block: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        check_mapping("estimands", self.estimands, "{'pfi': LearnerResults.pfi}")
        check_mapping("resamplings", self.resamplings, "{'boot': Bootstrap(15)}", empty=True)
        check_mapping("cov_types", self.cov_types, "{'boot': ['corrected']}", empty=True)
        for ask in self.estimands.values():
            check_callable("estimands", ask, "LearnerResults.pfi")
        for plan in self.resamplings.values():
            if not isinstance(plan, Resampling):
                check_callable("resamplings", plan, "ideal()")
        if set(self.cov_types) != set(self.resamplings):
            raise OptionError(
                "`cov_types` must name the plans of `resamplings`, "
                f"{list_of(sorted(self.resamplings))}; got {list_of(sorted(self.cov_types))}."
            )
        for several in self.cov_types.values():
            check_list("cov_types", several, "['corrected']")
            for cov_type in several:
                check_choice("cov_types", cov_type, COV_TYPES)
        check_alpha(self.alpha)
        check_count("block", self.block)
        for name, least in (("repetitions", 0), ("truth_refits", 1)):
            for learner in self.learners:
                count_of(name, getattr(self, name), learner, least)

    def plan(self, name: str, process: Process, n: int) -> Resampling:
        """Return a plan of the study for data sets of n rows of a process."""
        plan = self.resamplings[name]
        return plan if isinstance(plan, Resampling) else plan(process, n)

    def truth_plan(self, process: Process, n: int, refits: int) -> Resampling:
        """Return the plan of refits on fresh data whose mean estimate is the truth at n."""
        return ideal(refits)(process, n)

    def settings(self, row: TruthRow | CoverageRow) -> dict[str, Any]:
        """Return the options, besides the row, on which its numbers depend."""
        if isinstance(row, TruthRow):
            return {"block": self.block * TRUTH_BLOCKS, "seed": self.seed}
        return {
            "block": self.block,
            "seed": self.seed,
            "alpha": self.alpha,
            "truth_refits": count_of("truth_refits", self.truth_refits, row.learner, 1),
            "plan": plan_label(self.plan(row.plan, self.process(row.process), row.n)),
        }

    def terms(self, row: TruthRow | CoverageRow) -> tuple[Mean | Interval, ...]:
        """Return the estimands; for coverage, each with every variance estimator of the plan."""
        if isinstance(row, TruthRow):
            return tuple(map(Mean, self.estimands))
        cov_types = dict.fromkeys(self.cov_types[row.plan])
        return tuple(Interval(*names) for names in product(self.estimands, cov_types))

    def _units(self, kind: str) -> Iterator[AnyUnit]:
        return self._truth_units() if kind == "truth" else self._coverage_units()

    def _truth_units(self) -> Iterator[Unit[TruthRow, Mean]]:
        for process, learner, n in product(self.dgps, self.learners, self.n):
            total = count_of("truth_refits", self.truth_refits, learner, 0)
            row = TruthRow(process.name, learner, n)
            yield from Unit.blocks(row, total, self.block * TRUTH_BLOCKS)

    def _coverage_units(self) -> Iterator[Unit[CoverageRow, Interval]]:
        every = product(self.dgps, self.learners, self.n, self.resamplings)
        for process, learner, n, plan in every:
            total = count_of("repetitions", self.repetitions, learner, 0)
            row = CoverageRow(process.name, learner, n, plan)
            yield from Unit.blocks(row, total, self.block)

    def _try(self, row: TruthRow | CoverageRow) -> None:
        """Fit a learner that learns nothing, so that plans and variances fail before the work."""
        if isinstance(row, TruthRow):
            return
        process = self.process(row.process)
        formula, _ = self.formula_and_estimator(process, row.learner, row.n)
        idle = DummyRegressor() if process.classes is None else DummyClassifier()
        learner = Learner.from_formula(formula, self.draw(process, row.n, -1), idle)
        plan = self.plan(row.plan, process, row.n)
        results = learner.fit(plan, seed=1, progress=False)
        for cov_type in self.cov_types[row.plan]:
            results.loss(cov_type=cov_type)

    def _worker(
        self, kind: str, records: Sequence[AnyRecord]
    ) -> Callable[[AnyUnit], Sequence[AnyRecord]]:
        if kind == "truth":
            return partial(_truth, self)
        return partial(_cover, self, pooled_truths(mean_records(records)))

    def _results(self, records: Sequence[AnyRecord]) -> CoverageResults:
        first = self.dgps[0], self.n[0]
        refits = {name: self.plan(name, *first).number for name in self.resamplings}
        intervals = [r for r in interval_records(records) if r.row.plan in refits]
        return CoverageResults.of(mean_records(records), intervals, refits)


def plan_label(plan: Resampling) -> str:
    """Return a plan in words: its label, and those of its options that are numbers or names."""
    names: list[str] = [field.name for field in fields(plan)] if is_dataclass(plan) else []
    options = {name: getattr(plan, name) for name in names}
    plain = [f"{k}={v!r}" for k, v in options.items() if isinstance(v, int | float | str)]
    return f"{plan.label} ({', '.join(plain)})"


def _truth(study: CoverageStudy, unit: Unit[TruthRow, Mean]) -> list[MeanRecord]:
    """Return the records of a block of refits on fresh data."""
    row = unit.row
    process = study.process(row.process)
    data = study.draw(process, row.n, -1)  # for the formula and the classes only
    # "truth" stands twice: streams are named as they were when rows of the truth named a plan.
    seed = study.stream("truth", row.process, row.learner, row.n, "truth", unit.block, unit.size)
    plan = study.truth_plan(process, row.n, unit.size)
    learner = study.learner(process, row.learner, data)
    results = learner.fit(plan, seed=seed, progress=False)
    settings = study.settings(row)
    return [
        Record(row, term, (unit.block,), unit.size, _means(study, term, results), settings)
        for term in unit.terms
    ]


def _means(study: CoverageStudy, term: Mean, results: LearnerResults) -> MeanSums:
    answer = study.estimands[term.estimand](results)
    _check_answer(term.estimand, answer)
    values = answer.replicates.per_refit
    return MeanSums(tuple(answer.params.index), values.sum(axis=0), np.square(values).sum(axis=0))


def _cover(
    study: CoverageStudy, truths: Mapping[Target, pd.DataFrame], unit: Unit[CoverageRow, Interval]
) -> list[IntervalRecord]:
    row = unit.row
    process = study.process(row.process)
    plan = study.plan(row.plan, process, row.n)
    columns: dict[Interval, list[FloatArray]] = {term: [] for term in unit.terms}
    first = unit.block * study.block
    for repetition in range(first, first + unit.size):
        data = study.draw(process, row.n, repetition)
        seed = study.stream("coverage", row.process, row.learner, row.n, row.plan, repetition)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of learners, thousands of times
            learner = study.learner(process, row.learner, data)
            results = learner.fit(plan, seed=seed, progress=False)
        for term in unit.terms:
            truth = truths[Target(row.process, row.learner, row.n, term.estimand)]
            columns[term].append(_one(study, term, results, truth))
    settings = study.settings(row)
    return [
        Record(row, term, (unit.block,), unit.size, _sums(np.array(values)), settings)
        for term, values in columns.items()
    ]


def _check_answer(name: str, answer: object) -> None:
    """Raise `OptionError` unless a function of the user has returned results."""
    if not isinstance(answer, EstimandResults):
        raise OptionError(
            f"The estimand {quote(name)} must return results such as those of pfi(), not "
            f"{quote(answer)}."
        )


def _one(
    study: CoverageStudy, term: Interval, results: LearnerResults, truth: pd.DataFrame
) -> FloatArray:
    """Return `COLUMNS` for one data set, shape (terms, columns).

    A term without variance, whose interval is the estimate itself, covers only if it is the truth.
    """
    answer = study.estimands[term.estimand](results, cov_type=term.cov_type)
    _check_answer(term.estimand, answer)
    if list(answer.params.index) != list(truth["term"]):
        raise OptionError(
            f"An estimand must have the same terms for every data set, but those of "
            f"{quote(term.estimand)} differ: {list_of(answer.params.index, most=4)} and "
            f"{list_of(truth['term'], most=4)}. Give its grid."
        )
    estimate, value = np.asarray(answer.params), truth["truth"].to_numpy()
    limits = answer.conf_int(study.alpha).to_numpy().T
    low, high = (np.where(np.isnan(limit), estimate, limit) for limit in limits)
    width = high - low
    return np.column_stack(
        [
            (low <= value) & (value <= high),
            np.nan_to_num(np.asarray(answer.pvalues), nan=1.0) < study.alpha,
            width,
            width**2,
            estimate - value,
            (estimate - value) ** 2,
            np.square(np.asarray(answer.bse)),
        ]
    ).astype(np.float64)


def _sums(columns: FloatArray) -> IntervalSums:
    """Return sums over repetitions; the share covered of a repetition varies less than a term."""
    share = columns[:, :, 0].mean(axis=1)
    return IntervalSums(columns.sum(axis=0), float(np.square(share).sum()))
