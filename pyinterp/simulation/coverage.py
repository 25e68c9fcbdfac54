"""Coverage studies: how often intervals hold the truth, in units of work that a file remembers."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FilePath, FloatArray
from pyinterp.checks import (
    check_alpha,
    check_callable,
    check_choice,
    check_count,
    check_jobs,
    check_list,
    check_mapping,
)
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.inference import COV_TYPES, CovType
from pyinterp.learner.learner import Learner, LearnerResults
from pyinterp.models.predictor import check_estimator
from pyinterp.parallel import outcomes
from pyinterp.parallel.progress import ProgressOption
from pyinterp.representation import about
from pyinterp.resampling import FreshDraws, Resampling
from pyinterp.results.results import EstimandResults
from pyinterp.simulation.coverage_results import (
    COLUMNS,
    CoverageResults,
    Target,
    pooled_truths,
    results_of,
)
from pyinterp.simulation.process import Process, check_process
from pyinterp.simulation.records import Record, Row, StudyFile, Term

Plan = Resampling | Callable[[Process, int], Resampling]
Ask = Callable[..., EstimandResults]
Sums = dict[Term, dict[str, Any]]

TRAIN = 0.632
# Refits for the truth are cheaper than repetitions: so many blocks make one.
TRUTH_BLOCKS = 10


def ideal(refits: int = 15) -> Callable[[Process, int], Resampling]:
    """Return the plan with fresh data for every refit, which needs no correction (c = 0).

    As in the code behind Molnar et al. (2021, section 8), 0.632 n rows train and as many evaluate.

    Examples
    --------
    >>> from pyinterp.simulation import ideal
    >>> from pyinterp_papers.processes import molnar_linear
    >>> plan = ideal(5)(molnar_linear(), 100)
    >>> plan.number
    5
    """
    check_count("refits", refits)
    return partial(_fresh_draws, refits)


def _fresh_draws(refits: int, process: Process, n: int) -> Resampling:
    """Return the plan of refits that are trained and evaluated on fresh rows."""
    return FreshDraws(partial(process.draw, 2 * round(TRAIN * n)), refits, fraction=0.5)


@dataclass(frozen=True, kw_only=True, repr=False)
class CoverageStudy:
    r"""Simulate how often intervals hold the expectation of the learner's PD or importance.

    The truth of a learner at n is the mean of its estimates over many refits on fresh data, each
    trained on 0.632 n rows and evaluated on as many. Every repetition draws n rows, on which every
    plan is tried; a data set depends on the process, n and the repetition only, so that
    learners and plans are compared on the same data. Units of work are independent of each other:
    random streams are named by their purpose.

    The file knows a process, a learner and an estimand by name: a changed one needs another name,
    or another file.

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
        1 by default, as a file goes on only with the same data sets.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyinterp import LearnerResults, Subsampling
    >>> from pyinterp.simulation import CoverageStudy
    >>> from pyinterp_papers.processes import molnar_linear
    >>> study = CoverageStudy(
    ...     dgps=[molnar_linear()],
    ...     learners={"lm": LinearRegression()},
    ...     estimands={"pfi": LearnerResults.pfi},
    ...     n=[100],
    ...     resamplings={"subsampling": Subsampling(5)},
    ...     cov_types={"subsampling": ["corrected"]},
    ...     repetitions=10,
    ...     truth_refits=100,
    ... )
    >>> results = study.run("coverage.sqlite", progress=False)
    >>> results.rows[["estimand", "coverage"]]
      estimand  coverage
    0      pfi      0.65
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

    def __repr__(self) -> str:
        sizes = f"n = {list_of(self.n)}"
        return about(self, f"{len(self.dgps)} processes", f"{len(self.learners)} learners", sizes)

    def __post_init__(self) -> None:
        self._check_sources()
        self._check_plans()
        check_alpha(self.alpha)
        check_count("block", self.block)
        check_count("seed", self.seed, 0)
        for name, least in (("repetitions", 0), ("truth_refits", 1)):
            for learner in self.learners:
                self.count(name, learner, least)

    def _check_sources(self) -> None:
        """Raise ``OptionError`` unless data sets and learners can be made."""
        check_list("dgps", self.dgps, "[process]")
        check_list("n", self.n, "[100, 200]")
        check_mapping("learners", self.learners, "{'ols': LinearRegression()}")
        for process in self.dgps:
            check_process(process)
        for learner in self.learners.values():
            if not _is_maker(learner):
                check_estimator(formula_and_estimator(learner)[1])
        names = [process.name for process in self.dgps]
        for name in names:
            if names.count(name) > 1:
                raise OptionError(
                    "Processes must have different names, by which files know them, but two are "
                    f"called {quote(name)}; `dataclasses.replace(process, name=...)` gives another."
                )
        for rows in self.n:
            check_count("n", rows, 2)

    def _check_plans(self) -> None:
        """Raise ``OptionError`` unless every plan has its variances, and estimands can be asked."""
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

    def plan(self, name: str, process: Process, n: int) -> Resampling:
        """Return a plan of the study for data sets of n rows of a process.

        Examples
        --------
        >>> study.plan("subsampling", study.dgps[0], 100)
        Subsampling(refits=5)
        """
        plan = self.resamplings[name]
        return plan if isinstance(plan, Resampling) else plan(process, n)

    def truth_plan(self, process: Process, n: int, refits: int) -> Resampling:
        """Return the plan of refits on fresh data whose mean estimate is the truth at n.

        Examples
        --------
        >>> study.truth_plan(study.dgps[0], 100, refits=5).number
        5
        """
        return ideal(refits)(process, n)

    def settings(self, row: Row) -> dict[str, Any]:
        """Return the options, besides the row, on which its numbers depend.

        Examples
        --------
        >>> row, _ = next(study.totals())
        >>> study.settings(row)
        {'block': 200, 'seed': 1}
        """
        if row.kind == "truth":
            return {"block": self.block * TRUTH_BLOCKS, "seed": self.seed}
        return {
            "block": self.block,
            "seed": self.seed,
            "alpha": self.alpha,
            "truth_refits": self.count("truth_refits", row.learner, 1),
            "plan": plan_label(self.plan(row.plan, self.process(row.process), row.n)),
        }

    def terms(self, row: Row) -> tuple[Term, ...]:
        """Return the estimands; for coverage, each with every variance estimator of the plan.

        Examples
        --------
        >>> row, _ = next(study.totals())
        >>> study.terms(row)
        (('pfi',),)
        """
        if row.kind == "truth":
            return tuple((name,) for name in self.estimands)
        return tuple(product(self.estimands, dict.fromkeys(self.cov_types[row.plan])))

    def totals(self) -> Iterator[tuple[Row, int]]:
        """Yield the rows of the study, each with its number of refits or data sets.

        Examples
        --------
        >>> [(row.kind, number) for row, number in study.totals()]
        [('truth', 100), ('coverage', 10)]
        """
        every = list(product([process.name for process in self.dgps], self.learners, self.n))
        for process, learner, n in every:
            yield Row("truth", process, learner, n), self.count("truth_refits", learner, 0)
        for (process, learner, n), plan in product(every, self.resamplings):
            row = Row("coverage", process, learner, n, plan)
            yield row, self.count("repetitions", learner, 0)

    def run(
        self, path: FilePath, n_jobs: int | None = None, *, progress: ProgressOption = True
    ) -> CoverageResults:
        """Run the data sets that `path` does not hold yet, and return all results.

        Parameters
        ----------
        path : path
            An SQLite database, made if it is not there. Every block of repetitions is added as a
            whole and flushed to disk, so that a kill loses the blocks under way. Repetitions,
            learners, sizes and estimands may be added to a file; with other settings it can't be
            continued.
        n_jobs : int, optional
            Jobs over blocks, by joblib: ``joblib.parallel_config`` chooses the backend, a Dask
            cluster for example.
        progress : bool or "log"
            Show a progress bar, or write lines to a log; by default True, as in ``Learner.fit``.

        Raises
        ------
        OptionError
            If the file holds rows of the study that were made with other settings.
        DataError
            If it is no database of a study.

        Examples
        --------
        >>> study.run("study.sqlite", progress=False)
        <CoverageResults: 1 rows, 2 true values>
        """
        check_jobs(n_jobs, progress)
        file = StudyFile(path)
        records = file.records()
        rows = {row for row, _ in self.totals()}
        for record in records:
            if record.row in rows:
                self._check_settings(record, path)
        todo = list(self._todo(records))
        file.add([])  # a path that can't be written is an error before the work
        for kind in dict.fromkeys(block[0].row.kind for block in todo):
            same = [block for block in todo if block[0].row.kind == kind]
            worker = self._truth
            if kind == "coverage":
                worker = partial(self._cover, pooled_truths(file.records()))
            with outcomes(
                (partial(self._record, worker, block) for block in same),
                len(same),
                n_jobs=n_jobs,
                label=kind,
                progress=progress,
                unit="block",
                ordered=False,
            ) as blocks:
                for block in blocks:
                    file.add(block)
        records = file.records()
        return self.results([r for r in records if r.row in rows and r.term in self.terms(r.row)])

    def load(self, path: FilePath) -> CoverageResults:
        """Return the results that `path` holds, of finished and unfinished rows.

        Learners, sizes and estimands that the study does not have are among them; rows that it does
        not know how to report, of a plan that it does not have for example, are not.

        Parameters
        ----------
        path : path
            A database that `run` has written or is writing.

        Examples
        --------
        >>> results = study.run("study.sqlite", progress=False)
        >>> study.load("study.sqlite").rows.equals(results.rows)
        True
        """
        return self.results(StudyFile(path).records())

    def _record(self, worker: Callable[..., Sums], block: Sequence[Record]) -> list[Record]:
        """Do a block of repetitions, and return its records with their sums."""
        one, terms = block[0], [record.term for record in block]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of learners, thousands of times
            sums = worker(one.row, one.blocks[0], one.size, terms)
        return [record._replace(sums=sums[record.term]) for record in block]

    def _todo(self, records: Sequence[Record]) -> Iterator[list[Record]]:
        """Yield the blocks that are not done: a record for each of the missing terms, without sums.

        All repetitions of a row are cut into blocks, of which the last may be smaller.
        """
        sizes = {
            (record.row, record.term, block): record.size / len(record.blocks)
            for record in records
            for block in record.blocks
        }
        for row, total in self.totals():
            settings, terms = self.settings(row), self.terms(row)
            whole = settings["block"]
            for block, start in enumerate(range(0, total, whole)):
                size = min(whole, total - start)
                missing = [t for t in terms if sizes.get((row, t, block), 0) < size]
                if missing:
                    yield [Record(row, t, (block,), size, {}, settings) for t in missing]

    def _check_settings(self, record: Record, path: FilePath) -> None:
        """Raise `OptionError` if a file was begun with other settings than those of this study."""
        before, now = record.settings, self.settings(record.row)
        for name in {**now, **before}:
            if before.get(name) != now.get(name):
                raise OptionError(
                    f"A file can be continued with the settings that it was begun with, but "
                    f"{record.row} in {str(path)!r} has {name} = {before.get(name)!r}, and the "
                    f"study has {now.get(name)!r}: change that, or give another path."
                )

    def count(self, name: str, learner: str, least: int) -> int:
        """Return a learner's number of repetitions or refits, checked.

        Examples
        --------
        >>> study.count("repetitions", "lm", least=0)
        10
        """
        count = getattr(self, name)
        if isinstance(count, Mapping):
            if learner not in count:
                raise OptionError(
                    f"`{name}` must be a number or name every learner; {quote(learner)} is not in "
                    f"{list_of(count)}."
                )
            count = count[learner]
        check_count(name, count, least)
        return int(count)

    def learner(self, process: Process, name: str, data: pd.DataFrame) -> Learner:
        """Return a learner of the study on some data.

        Examples
        --------
        >>> data = study.draw(study.dgps[0], 100, 0)
        >>> study.learner(study.dgps[0], "lm", data).fit_model().nobs
        100
        """
        given = self.learners[name]
        given = given(process, len(data)) if _is_maker(given) else given
        formula, estimator = formula_and_estimator(given)
        return Learner.from_formula(formula, data, estimator)

    def draw(self, process: Process, n: int, repetition: int) -> pd.DataFrame:
        """Return the data set of a repetition.

        Examples
        --------
        >>> study.draw(study.process("linear"), 100, 0).shape
        (100, 3)
        """
        return process.draw(n, self.stream("data", process.name, n, repetition))

    def stream(self, *key: str | int) -> np.random.Generator:
        """Return the random stream of a key, whatever else is run.

        Examples
        --------
        >>> int(study.stream("coverage", 1).integers(100))
        37
        """
        words = [zlib.crc32(str(k).encode()) for k in key]
        return np.random.default_rng([self.seed, *words])

    def process(self, name: str) -> Process:
        """Return the process of that name.

        Examples
        --------
        >>> study.process(study.dgps[0].name) is study.dgps[0]
        True
        """
        return next(p for p in self.dgps if p.name == name)

    def _truth(self, row: Row, block: int, size: int, terms: Sequence[Term]) -> Sums:
        """Return sums over a block of refits on fresh data."""
        process = self.process(row.process)
        data = self.draw(process, row.n, -1)  # for the formula and the classes only
        # "truth" stands twice: streams are named as they were when rows of the truth named a plan.
        seed = self.stream("truth", row.process, row.learner, row.n, "truth", block, size)
        plan = self.truth_plan(process, row.n, size)
        learner = self.learner(process, row.learner, data)
        results = learner.fit(plan, seed=seed, progress=False)
        sums = {}
        for term in terms:
            answer = self._ask(term[0], results)
            values = answer.replicates.per_refit
            sums[term] = {
                "labels": tuple(answer.params.index),
                "sums": values.sum(axis=0),
                "squares": np.square(values).sum(axis=0),
            }
        return sums

    def _cover(
        self,
        truths: Mapping[Target, pd.DataFrame],
        row: Row,
        block: int,
        size: int,
        terms: Sequence[Term],
    ) -> Sums:
        """Return sums over a block of data sets.

        The share of terms covered varies less over data sets than single terms.
        """
        process = self.process(row.process)
        plan, first = self.plan(row.plan, process, row.n), block * self.settings(row)["block"]
        columns: dict[Term, list[FloatArray]] = {term: [] for term in terms}
        for repetition in range(first, first + size):
            learner = self.learner(process, row.learner, self.draw(process, row.n, repetition))
            seed = self.stream("coverage", row.process, row.learner, row.n, row.plan, repetition)
            results = learner.fit(plan, seed=seed, progress=False)
            for term in terms:
                truth = truths[*row[1:4], term[0]]
                columns[term].append(self._one(term, results, truth))
        sums = {}
        for term, values in columns.items():
            each = np.array(values)
            shares = each[:, :, COLUMNS.index("covered")].mean(axis=1)
            sums[term] = {"sums": each.sum(axis=0), "shares": np.square(shares).sum()}
        return sums

    def _ask(self, name: str, results: LearnerResults, **options: Any) -> EstimandResults:
        """Return the answer of the user's function of an estimand."""
        answer = self.estimands[name](results, **options)
        if not isinstance(answer, EstimandResults):
            raise OptionError(
                f"The estimand {quote(name)} must return results such as those of pfi(), not "
                f"{quote(answer)}."
            )
        return answer

    def _one(self, term: Term, results: LearnerResults, truth: pd.DataFrame) -> FloatArray:
        """Return `COLUMNS` for one data set, shape (terms, columns).

        A term without variance, whose interval is the estimate itself, covers only if it is the
        truth.
        """
        estimand, cov_type = term
        answer = self._ask(estimand, results, cov_type=cov_type)
        if list(answer.params.index) != list(truth["term"]):
            raise OptionError(
                f"An estimand must have the same terms for every data set, but those of "
                f"{quote(estimand)} differ: {list_of(answer.params.index, most=4)} and "
                f"{list_of(truth['term'], most=4)}. Give its grid."
            )
        estimate, value = np.asarray(answer.params), truth["truth"].to_numpy()
        limits = answer.conf_int(self.alpha).to_numpy().T
        low, high = (np.where(np.isnan(limit), estimate, limit) for limit in limits)
        width, error = high - low, estimate - value
        covered = (low <= value) & (value <= high)
        rejected = np.nan_to_num(np.asarray(answer.pvalues), nan=1.0) < self.alpha
        rejected = np.where(answer.null is None, np.nan, rejected)
        variance = np.square(np.asarray(answer.bse))
        columns = covered, rejected, width, width**2, error, error**2, variance
        return np.column_stack(columns).astype(np.float64)

    def results(self, records: Sequence[Record]) -> CoverageResults:
        """Return the results of records.

        Examples
        --------
        >>> study.results([]).rows.shape[0]
        0
        """
        refits = {k: self.plan(k, self.dgps[0], self.n[0]).number for k in self.resamplings}
        return results_of(records, refits)


def _is_maker(learner: object) -> bool:
    """Whether a learner is a function of process and n that returns one."""
    return callable(learner) and not isinstance(learner, type) and not hasattr(learner, "fit")


def formula_and_estimator(learner: object) -> tuple[str, Any]:
    """Return formula and estimator of a pair of both; of an estimator alone, with ``y ~ .``."""
    if not isinstance(learner, tuple):
        return "y ~ .", learner
    if len(learner) != 2:
        raise OptionError(
            "A learner must be an estimator or a pair of formula and estimator, such as "
            f'("y ~ x1", LinearRegression()), not {quote(learner)}.'
        )
    formula, estimator = learner
    return formula, estimator


def plan_label(plan: Resampling) -> str:
    """Return a plan in words: its label, and its options that are numbers or names."""
    names: list[str] = [field.name for field in fields(plan)] if is_dataclass(plan) else []
    options = {name: getattr(plan, name) for name in names}
    plain = [f"{k}={v!r}" for k, v in options.items() if isinstance(v, int | float | str)]
    return f"{plan.label} ({', '.join(plain)})"
