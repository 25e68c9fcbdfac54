"""Coverage studies: how often intervals hold the truth, resumable and in parallel."""

from __future__ import annotations

import json
import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

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
from pyinterp.simulation.process import Process
from pyinterp.simulation.reports import CoverageResults

__all__ = ["CoverageStudy", "ideal"]

Plan: TypeAlias = Resampling | Callable[[Process, int], Resampling]
Ask: TypeAlias = Callable[..., EstimandResults]

TRAIN = 0.632


def ideal(refits: int = 15) -> Callable[[Process, int], Resampling]:
    """Return the plan with fresh data for every refit, which needs no correction (c = 0).

    As in the code behind Molnar et al. (2021, section 8), 0.632 n rows train and as many evaluate.
    """

    def plan(process: Process, n: int) -> Resampling:
        return FreshDraws(partial(process.draw, 2 * round(TRAIN * n)), refits, fraction=0.5)

    return plan


@dataclass(frozen=True)
class _Unit:
    """A piece of work whose result is one line of the file."""

    kind: str
    process: str
    learner: str
    n: int
    plan: str
    block: int
    size: int

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.kind, self.process, self.learner, self.n, self.plan, self.block, self.size)


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
            after every block of repetitions; a line that was cut off is dropped.
        n_jobs : int, optional
            Jobs over blocks, by joblib: ``joblib.parallel_config`` chooses the backend, a Dask
            cluster for example.
        progress : bool
            Show a progress bar on a terminal.
        """
        check_jobs(n_jobs)
        file = Path(path)
        lines = _read(file)
        truths = self._units("truth")
        self._work(file, lines, truths, partial(_truth, self), n_jobs, progress=progress)
        known = _pooled(lines)
        blocks = self._units("coverage")
        self._work(file, lines, blocks, partial(_cover, self, known), n_jobs, progress=progress)
        wanted = {u.key for u in (*truths, *blocks)}
        return CoverageResults.of([lines[key] for key in lines if key in wanted])

    def load(self, path: str | os.PathLike[str]) -> CoverageResults:
        """Return the results that `path` holds, of finished and unfinished rows."""
        return CoverageResults.of(list(_read(Path(path)).values()))

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

    def _units(self, kind: str) -> list[_Unit]:
        return list(self._all_units(kind))

    def _all_units(self, kind: str) -> Iterator[_Unit]:
        counts = self.truth_refits if kind == "truth" else self.repetitions
        plans = ["truth"] if kind == "truth" else list(self.resamplings)
        size = self.block * (10 if kind == "truth" else 1)
        for process in self.dgps:
            for learner in self.learners:
                total = counts if isinstance(counts, int) else counts[learner]
                for n in self.n:
                    for plan in plans:
                        for block in range(-(-total // size)):
                            rest = min(size, total - block * size)
                            yield _Unit(kind, process.name, learner, n, plan, block, rest)

    def _work(
        self,
        file: Path,
        lines: dict[tuple[Any, ...], dict[str, Any]],
        units: Sequence[_Unit],
        do: Callable[[_Unit], dict[str, Any]],
        n_jobs: int | None,
        *,
        progress: bool,
    ) -> None:
        left = [unit for unit in units if unit.key not in lines]
        if not left:
            return
        found = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(do)(unit) for unit in left
        )
        with file.open("a", encoding="utf-8") as out:
            for line in tqdm(
                found, total=len(left), desc=left[0].kind, disable=None if progress else True
            ):
                out.write(json.dumps(line) + "\n")
                out.flush()
                os.fsync(out.fileno())
                lines[tuple(line["key"])] = line


def _read(file: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return whole lines by key; a last line that was cut off is removed from the file."""
    if not file.exists():
        return {}
    text = file.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        with file.open("r+b") as cut:
            cut.truncate(len(whole))
    lines = [json.loads(line) for line in whole.decode().splitlines()]
    return {tuple(line["key"]): line for line in lines}


def _pooled(lines: Mapping[Any, Mapping[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the truth of every process, learner and n: by estimand, values of its terms."""
    sums: dict[tuple[Any, ...], dict[str, FloatArray]] = {}
    counts: dict[tuple[Any, ...], int] = {}
    for key, line in lines.items():
        if key[0] == "truth":
            row, size = key[1:4], key[6]
            counts[row] = counts.get(row, 0) + size
            into = sums.setdefault(row, {})
            for name, found in line["terms"].items():
                into[name] = into.get(name, 0.0) + size * np.array(found["mean"])
    return {
        row: {name: total / counts[row] for name, total in named.items()}
        for row, named in sums.items()
    }


def _truth(study: CoverageStudy, unit: _Unit) -> dict[str, Any]:
    process = study.process(unit.process)
    data = study.draw(process, unit.n, -1)  # for the formula and the classes only
    seed = study.stream(*map(str, unit.key))
    results = study.learner(process, unit.learner, data).fit(
        ideal(unit.size)(process, unit.n), seed=seed, progress=False
    )
    terms = {}
    for name, ask in study.estimands.items():
        asked = ask(results)
        values = asked.evidence.per_refit
        terms[name] = {
            "term": list(asked.params.index),
            "mean": values.mean(axis=0).tolist(),
            "square": np.square(values - values.mean(axis=0)).sum(axis=0).tolist(),
        }
    return {"key": list(unit.key), "terms": terms}


def _cover(
    study: CoverageStudy, truths: Mapping[tuple[Any, ...], Mapping[str, Any]], unit: _Unit
) -> dict[str, Any]:
    process = study.process(unit.process)
    truth = truths[unit.process, unit.learner, unit.n]
    plan = study.resamplings[unit.plan]
    if not isinstance(plan, Resampling):
        plan = plan(process, unit.n)
    kept: dict[str, list[FloatArray]] = {}
    first = unit.block * study.block
    for repetition in range(first, first + unit.size):
        data = study.draw(process, unit.n, repetition)
        seed = study.stream(*map(str, unit.key[:5]), repetition)
        learner = study.learner(process, unit.learner, data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of learners, thousands of times
            results = learner.fit(plan, seed=seed, progress=False)
        for name, ask in study.estimands.items():
            for cov_type in study.cov_types[unit.plan]:
                found = _one(ask, results, cov_type, truth[name], study.alpha)
                kept.setdefault(f"{name}|{cov_type}", []).append(found)
    return {
        "key": list(unit.key),
        "columns": list(COLUMNS),
        "terms": {name: _summed(np.array(found)) for name, found in kept.items()},
    }


# What is added up over repetitions, per term.
COLUMNS = ("covered", "rejected", "width", "width2", "estimate", "estimate2", "variance")


def _one(
    ask: Ask, results: LearnerResults, cov_type: CovType, truth: FloatArray, alpha: float
) -> FloatArray:
    """Return the columns for one data set, shape (terms, columns).

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
        "sums": [[float(f"{value:.7g}") for value in row] for row in found.sum(axis=0)],
        "share2": float(np.square(share).sum()),
    }
