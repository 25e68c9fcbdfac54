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
from pyinterp.errors import OptionError, listed, shown
from pyinterp.inference import COV_TYPES, CovType
from pyinterp.learner.learner import Learner, LearnerResults
from pyinterp.resampling import FreshDraws, Resampling
from pyinterp.results.results import EstimandResults
from pyinterp.simulation.processes.process import Process
from pyinterp.simulation.studies.coverage_results import CoverageResults, pooled_truths
from pyinterp.simulation.studies.ledger import Line, Row
from pyinterp.simulation.studies.runner import Study, Unit, count_of

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

    def plan(process: Process, n: int) -> Resampling:
        return FreshDraws(partial(process.draw, 2 * round(TRAIN * n)), refits, fraction=0.5)

    return plan


@dataclass(frozen=True, kw_only=True)
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
        must be given, so that every data set has the same terms.
    n : sequence of int
        Sizes of data sets.
    resamplings : mapping of str to plan
        A plan, or a function of process and n that returns one, such as ``ideal()``.
    cov_types : mapping of str to sequence of str
        For every name in `resamplings`, the variance estimators to try.
    repetitions : int or mapping
        Data sets per row of the study, or a mapping from the names of learners; 0 for a study of
        what learners find on average only.
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
                f"{listed(sorted(self.resamplings))}; got {listed(sorted(self.cov_types))}."
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
        made = self.resamplings[name]
        return made if isinstance(made, Resampling) else made(process, n)

    def settings(self, row: Row) -> dict[str, Any]:
        """Return what the numbers of a row depend on besides the row."""
        kind, process, learner, n, plan = row
        truth_refits = count_of("truth_refits", self.truth_refits, learner, 1)
        if kind == "truth":
            return {"block": self.block * TRUTH_BLOCKS, "seed": self.seed}
        return {
            "block": self.block,
            "seed": self.seed,
            "alpha": self.alpha,
            "truth_refits": truth_refits,
            "plan": described(self.plan(plan, self.process(process), n)),
        }

    def terms(self, row: Row) -> tuple[str, ...]:
        """Return estimands, for coverage each with the plan's variance estimators."""
        kind, *_, plan = row
        if kind == "truth":
            return tuple(self.estimands)
        cov_types = dict.fromkeys(self.cov_types[plan])
        return tuple(f"{e}|{c}" for e, c in product(self.estimands, cov_types))

    def _units(self, kind: str) -> Iterator[Unit]:
        name = "truth_refits" if kind == "truth" else "repetitions"
        plans = ["truth"] if kind == "truth" else list(self.resamplings)
        size = self.block * (TRUTH_BLOCKS if kind == "truth" else 1)
        for process, learner, n, plan in product(self.dgps, self.learners, self.n, plans):
            total = count_of(name, getattr(self, name), learner, 0)
            yield from Unit.blocks((kind, process.name, learner, n, plan), total, size)

    def _try(self, row: Row) -> None:
        """Make a plan and its variances once, with a learner that learns nothing."""
        kind, name, learner, n, plan = row
        if kind == "truth":
            return
        process = self.process(name)
        formula, _ = self.formula_and_estimator(process, learner, n)
        idle = DummyRegressor() if process.classes is None else DummyClassifier()
        made = Learner.from_formula(formula, self.draw(process, n, -1), idle)
        results = made.fit(self.plan(plan, process, n), seed=1, progress=False)
        for cov_type in self.cov_types[plan]:
            results.loss(cov_type=cov_type)

    def _worker(self, kind: str, lines: Sequence[Line]) -> Callable[[Unit], Line]:
        if kind == "truth":
            return partial(_truth, self)
        return partial(_cover, self, pooled_truths(lines))

    def _results(self, lines: Sequence[Line]) -> CoverageResults:
        first = self.dgps[0], self.n[0]
        refits = {name: self.plan(name, *first).number for name in self.resamplings}
        known = [line for line in lines if line.row[0] == "truth" or line.row[4] in refits]
        return CoverageResults.of(known, refits)


def described(plan: Resampling) -> str:
    """Say what a plan is: its label, and those of its options that are numbers or names."""
    names: list[str] = [field.name for field in fields(plan)] if is_dataclass(plan) else []
    options = {name: getattr(plan, name) for name in names}
    plain = [f"{k}={v!r}" for k, v in options.items() if isinstance(v, int | float | str)]
    return f"{plan.label} ({', '.join(plain)})"


def _truth(study: CoverageStudy, unit: Unit) -> Line:
    _, name, learner, n, _ = unit.row
    process = study.process(name)
    data = study.draw(process, n, -1)  # for the formula and the classes only
    seed = study.stream(*unit.row, unit.block, unit.size)
    plan = ideal(unit.size)(process, n)
    results = study.learner(process, learner, data).fit(plan, seed=seed, progress=False)
    terms = {}
    for name in unit.terms:
        asked = _asked(study.estimands[name], name, results)
        values = asked.replicates.per_refit
        terms[name] = {
            "term": list(asked.params.index),
            "sums": values.sum(axis=0).tolist(),
            "squares": np.square(values).sum(axis=0).tolist(),
        }
    return Line(unit.row, [unit.block], unit.size, terms, study.settings(unit.row))


def _cover(
    study: CoverageStudy, truths: Mapping[tuple[str, str, int, str], pd.DataFrame], unit: Unit
) -> Line:
    _, name, learner, n, plan_name = unit.row
    process = study.process(name)
    plan = study.plan(plan_name, process, n)
    kept: dict[str, list[FloatArray]] = {}
    first = unit.block * study.block
    for repetition in range(first, first + unit.size):
        data = study.draw(process, n, repetition)
        seed = study.stream(*unit.row, repetition)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of learners, thousands of times
            results = study.learner(process, learner, data).fit(plan, seed=seed, progress=False)
        for term in unit.terms:
            estimand, cov_type = term.rsplit("|", 1)
            asked = _asked(study.estimands[estimand], estimand, results, cov_type=cov_type)
            truth = truths[name, learner, n, estimand]
            if list(asked.params.index) != list(truth["term"]):
                raise OptionError(
                    f"An estimand must have the same terms for every data set, but those of "
                    f"{shown(estimand)} differ: {listed(asked.params.index, most=4)} and "
                    f"{listed(truth['term'], most=4)}. Give its grid."
                )
            found = _one(asked, truth["truth"].to_numpy(), study.alpha)
            kept.setdefault(term, []).append(found)
    terms = {name: _summed(np.array(found)) for name, found in kept.items()}
    return Line(unit.row, [unit.block], unit.size, terms, study.settings(unit.row))


def _asked(ask: Ask, name: str, results: LearnerResults, **reading: Any) -> EstimandResults:
    """Return what a function of the user asks of a fitted learner, checked."""
    found = ask(results, **reading)
    if not isinstance(found, EstimandResults):
        raise OptionError(
            f"The estimand {shown(name)} must return results such as those of pfi(), not "
            f"{shown(found)}."
        )
    return found


def _one(asked: EstimandResults, truth: FloatArray, alpha: float) -> FloatArray:
    """Return `COLUMNS` for one data set, shape (terms, columns).

    A term without variance, whose interval is the estimate itself, covers only if it is the truth.
    """
    estimate = np.asarray(asked.params)
    low, high = (np.where(np.isnan(v), estimate, v) for v in asked.conf_int(alpha).to_numpy().T)
    width = high - low
    return np.column_stack(
        [
            (low <= truth) & (truth <= high),
            np.nan_to_num(np.asarray(asked.pvalues), nan=1.0) < alpha,
            width,
            width**2,
            estimate - truth,
            (estimate - truth) ** 2,
            np.square(np.asarray(asked.bse)),
        ]
    ).astype(np.float64)


def _summed(found: FloatArray) -> dict[str, Any]:
    """Return sums over repetitions; the share covered of a repetition varies less than a term."""
    share = found[:, :, 0].mean(axis=1)
    return {
        "sums": found.sum(axis=0).tolist(),
        "shares": float(np.square(share).sum()),
    }
