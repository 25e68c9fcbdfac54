"""Coverage studies: how often intervals hold the truth, resumable and in parallel."""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from pyinterp.errors import OptionError, check_jobs
from pyinterp.inference import CovType
from pyinterp.learner import Learner, LearnerResults
from pyinterp.resampling import FreshDraws, Resampling
from pyinterp.results import EstimandResults
from pyinterp.sample import FloatArray
from pyinterp.simulation.ledger import Ledger, Line
from pyinterp.simulation.process import Process
from pyinterp.simulation.reports import CoverageResults, pooled_truths

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

    def plan(process: Process, n: int) -> Resampling:
        return FreshDraws(partial(process.draw, 2 * round(TRAIN * n)), refits, fraction=0.5)

    return plan


Row: TypeAlias = tuple[str, str, str, int, str]


class _Unit(NamedTuple):
    """A piece of work: a block of repetitions of a row of the study."""

    row: Row
    block: int
    size: int


@dataclass(frozen=True, kw_only=True)
class CoverageStudy:
    r"""Simulate how often intervals hold the expectation of the learner's PD or importance.

    The truth of a learner at n is the mean of its estimates over many refits on fresh data, each
    trained on 0.632 n rows and evaluated on as many. Every repetition draws n rows, on which every
    plan is tried; a data set depends on the process, n and the repetition only, so that
    learners and plans are compared on the same data.

    Parameters
    ----------
    dgps : sequence of Process
    learners : mapping of str to estimator, or to (formula, estimator)
        The formula is ``"y ~ ."`` by default.
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
        Data sets per row of the study, or a mapping from the names of learners.
    truth_refits : int or mapping
        Refits for the truth, likewise.
    alpha : float
        1 - alpha is the nominal coverage.
    block : int
        Repetitions per checkpoint.
    seed : int
    """

    dgps: Sequence[Process]
    learners: Mapping[str, Any]
    estimands: Mapping[str, Ask]
    n: Sequence[int]
    resamplings: Mapping[str, Plan]
    cov_types: Mapping[str, Sequence[CovType]]
    repetitions: int | Mapping[str, int] = 1000
    truth_refits: int | Mapping[str, int] = 2000
    alpha: float = 0.05
    block: int = 20
    seed: int = 1

    def __post_init__(self) -> None:
        if set(self.cov_types) != set(self.resamplings):
            raise OptionError(
                "`cov_types` must name the plans of `resamplings`, "
                f"{sorted(self.resamplings)}; got {sorted(self.cov_types)}."
            )

    def run(
        self, path: str | os.PathLike[str], n_jobs: int | None = None, *, progress: bool = True
    ) -> CoverageResults:
        """Run what `path` does not hold yet, and return all results.

        Parameters
        ----------
        path : path
            A file of JSON lines, made if it is not there. A line is added, and flushed to disk,
            after every block of repetitions; a line that was cut off is dropped. In the end
            the lines of a row become one.
        n_jobs : int, optional
            Jobs over blocks, by joblib: ``joblib.parallel_config`` chooses the backend, a Dask
            cluster for example.
        progress : bool
            Show a progress bar on a terminal.
        """
        check_jobs(n_jobs)
        ledger = Ledger(path)
        self._work(ledger, "truth", partial(_truth, self), n_jobs, progress=progress)
        known = pooled_truths(ledger.lines)
        self._work(ledger, "coverage", partial(_cover, self, known), n_jobs, progress=progress)
        ledger.compact()
        rows = {unit.row for kind in ("truth", "coverage") for unit in self._units(kind)}
        return CoverageResults.of([line for line in ledger.lines if line.row in rows], self._refits)

    def load(self, path: str | os.PathLike[str]) -> CoverageResults:
        """Return the results that `path` holds, of finished and unfinished rows."""
        return CoverageResults.of(Ledger(path).lines, self._refits)

    def learner(self, process: Process, name: str, data: pd.DataFrame) -> Learner:
        """Return a learner of the study on some data."""
        made = self.learners[name]
        formula, estimator = made if isinstance(made, tuple) else ("y ~ .", made)
        return Learner.from_formula(formula, data, estimator)

    def draw(self, process: Process, n: int, repetition: int) -> pd.DataFrame:
        """Return the data set of a repetition."""
        return process.draw(n, self.stream("data", process.name, n, repetition))

    def stream(self, *key: str | int) -> np.random.Generator:
        """Return the random stream of a key, whatever else is run."""
        words = [zlib.crc32(str(k).encode()) for k in key]
        return np.random.default_rng([self.seed, *words])

    def process(self, name: str) -> Process:
        """Return the process of that name."""
        return next(p for p in self.dgps if p.name == name)

    def plan(self, name: str, process: Process, n: int) -> Resampling:
        """Return a plan of the study for data sets of n rows of a process."""
        made = self.resamplings[name]
        return made if isinstance(made, Resampling) else made(process, n)

    @property
    def _refits(self) -> dict[str, int]:
        first = self.dgps[0], self.n[0]
        return {name: self.plan(name, *first).number for name in self.resamplings}

    def _units(self, kind: str) -> Iterator[_Unit]:
        counts = self.truth_refits if kind == "truth" else self.repetitions
        plans = ["truth"] if kind == "truth" else list(self.resamplings)
        size = self.block * (TRUTH_BLOCKS if kind == "truth" else 1)
        for process, learner, n, plan in product(self.dgps, self.learners, self.n, plans):
            total = counts if isinstance(counts, int) else counts[learner]
            row = (kind, process.name, learner, n, plan)
            for block in range(-(-total // size)):
                yield _Unit(row, block, min(size, total - block * size))

    def _work(
        self,
        ledger: Ledger,
        kind: str,
        do: Callable[[_Unit], Line],
        n_jobs: int | None,
        *,
        progress: bool,
    ) -> None:
        left = [u for u in self._units(kind) if not ledger.holds(u.row, u.block)]
        lines = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(do)(unit) for unit in left
        )
        for line in tqdm(lines, total=len(left), desc=kind, disable=None if progress else True):
            ledger.add(line)


def _truth(study: CoverageStudy, unit: _Unit) -> Line:
    _, name, learner, n, _ = unit.row
    process = study.process(name)
    data = study.draw(process, n, -1)  # for the formula and the classes only
    seed = study.stream(*unit.row, unit.block, unit.size)
    plan = ideal(unit.size)(process, n)
    results = study.learner(process, learner, data).fit(plan, seed=seed, progress=False)
    terms = {}
    for name, ask in study.estimands.items():
        asked = ask(results)
        values = asked.evidence.per_refit
        terms[name] = {
            "term": list(asked.params.index),
            "sums": values.sum(axis=0).tolist(),
            "squares": np.square(values).sum(axis=0).tolist(),
        }
    return Line(unit.row, [unit.block], unit.size, terms)


def _cover(
    study: CoverageStudy, truths: Mapping[tuple[str, str, int, str], pd.DataFrame], unit: _Unit
) -> Line:
    _, name, learner, n, plan_name = unit.row
    process = study.process(name)
    plan = study.plan(plan_name, process, n)
    truth = {
        estimand: truths[name, learner, n, estimand]["truth"].to_numpy()
        for estimand in study.estimands
    }
    kept: dict[str, list[FloatArray]] = {}
    first = unit.block * study.block
    for repetition in range(first, first + unit.size):
        data = study.draw(process, n, repetition)
        seed = study.stream(*unit.row, repetition)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of learners, thousands of times
            results = study.learner(process, learner, data).fit(plan, seed=seed, progress=False)
        for estimand, ask in study.estimands.items():
            for cov_type in study.cov_types[plan_name]:
                found = _one(ask, results, cov_type, truth[estimand], study.alpha)
                kept.setdefault(f"{estimand}|{cov_type}", []).append(found)
    terms = {name: _summed(np.array(found)) for name, found in kept.items()}
    return Line(unit.row, [unit.block], unit.size, terms)


def _one(
    ask: Ask, results: LearnerResults, cov_type: CovType, truth: FloatArray, alpha: float
) -> FloatArray:
    """Return `COLUMNS` for one data set, shape (terms, columns).

    A term without variance, whose interval is the estimate itself, covers only if it is the truth.
    """
    asked = ask(results, cov_type=cov_type)
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
