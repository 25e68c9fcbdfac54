"""Units of work of all studies, which become records of a file, resumable, in parallel."""

from __future__ import annotations

import json
import os
import sqlite3
import warnings
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_count, check_jobs, check_list, check_mapping
from pyinterp.errors import DataError, OptionError, list_of, quote, reason
from pyinterp.learner.learner import Learner
from pyinterp.models.predictor import check_estimator
from pyinterp.parallel import outcomes
from pyinterp.parallel.progress import ProgressOption
from pyinterp.representation import about
from pyinterp.simulation.processes.process import Process, check_process, formula_and_estimator
from pyinterp.storage.files import place_of

# Names of an estimate: an estimand; for its intervals also the variance estimator; for
# importances a feature and a measure.
Term: TypeAlias = tuple[str, ...]

TABLE = "CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, record TEXT NOT NULL)"
PATIENCE = 60.0  # seconds that one waits for another process to have read or written a block


class Row(NamedTuple):
    """Data sets and fits that all terms share.

    Attributes
    ----------
    kind : {"truth", "coverage", "importance"}
        Refits on fresh data, whose mean estimates are the truth; data sets to each of which a
        learner is fitted with a plan; blocks of models that share validation rows.
    process, learner : str
    n : int
        Rows of a data set.
    plan : str
        For coverage the name of the plan; for importances the data that a block of models shares.
    """

    kind: str
    process: str
    learner: str
    n: int
    plan: str = ""


class Record(NamedTuple):
    """Sums over the repetitions of some blocks of a row, for one term.

    Attributes
    ----------
    row : Row
    term : tuple of str
    blocks : tuple of int
        One block, or several that were added up.
    size : int
        Number of repetitions.
    sums : dict
        Arrays by name, which add up over repetitions, and maybe "labels", which stay.
    settings : dict
        The options that the numbers depend on.
    """

    row: Row
    term: Term
    blocks: tuple[int, ...]
    size: int
    sums: dict[str, Any]
    settings: dict[str, Any]

    def plus(self, other: Record) -> Record:
        """Return the record of the repetitions of both."""
        sums = {
            name: value if name == "labels" else value + other.sums[name]
            for name, value in self.sums.items()
        }
        return self._replace(
            blocks=self.blocks + other.blocks, size=self.size + other.size, sums=sums
        )

    def means(self, number: int) -> tuple[FloatArray, FloatArray]:
        """Return means and their standard errors, of sums of so many values and squares."""
        mean = self.sums["sums"] / number
        variance = np.clip(self.sums["squares"] / number - mean**2, 0, None)
        return mean, np.sqrt(variance / max(number - 1, 1))


def pool_records(records: Iterable[Record]) -> dict[Row, dict[Term, Record]]:
    """Add records up, by row and term, in the order of their blocks."""
    every = list(records)
    pools: dict[Row, dict[Term, Record]] = {record.row: {} for record in every}
    for record in sorted(every, key=lambda record: min(record.blocks)):
        terms = pools[record.row]
        pool = terms.get(record.term)
        terms[record.term] = record if pool is None else pool.plus(record)
    return pools


def as_json(record: Record) -> str:
    """Return a record as a JSON object."""
    return json.dumps(record._asdict(), default=lambda value: value.tolist())


def from_json(text: str) -> Record:
    """Return the record of a JSON object."""
    parts = json.loads(text)
    sums = {
        name: tuple(value) if name == "labels" else np.array(value)
        for name, value in parts["sums"].items()
    }
    blocks, term = tuple(parts["blocks"]), tuple(parts["term"])
    return Record(Row(*parts["row"]), term, blocks, parts["size"], sums, parts["settings"])


class StudyFile:
    """The records of a study, kept in an SQLite database.

    A block stands once for every term of its row: one that is made again, because it was the last
    and smaller than others, takes the place of the former.

    Parameters
    ----------
    path : path
        Made when records are added.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, _ = place_of(path)

    def records(self) -> list[Record]:
        """Return the records of the file, in the order in which they were added; none if new."""
        if not self._path.exists():
            return []
        with self._connection() as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                return []  # only begun
            every = connection.execute("SELECT record FROM study ORDER BY rowid")
            return [from_json(text) for (text,) in every]

    def begin(self) -> None:
        """Make the file if there is none."""
        with self._connection() as connection:
            connection.execute(TABLE)

    def add(self, records: Iterable[Record]) -> None:
        """Add the records of a block, all or none, and see them on the disk."""
        with self._connection() as connection:
            connection.execute(TABLE)
            for record in records:
                line = json.dumps(record[:3], default=int), as_json(record)
                connection.execute("INSERT OR REPLACE INTO study VALUES (?, ?)", line)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Connect for one transaction."""
        try:
            with closing(sqlite3.connect(self._path, timeout=PATIENCE)) as connection, connection:
                yield connection
        except sqlite3.Error as error:
            raise DataError(
                "A study's file must be a database that a study has written, or a new one in a "
                f"folder that exists, but {str(self._path)!r} is not ({reason(error)}); give "
                "another path."
            ) from error


class Unit(NamedTuple):
    """A piece of work: a block of repetitions of a row of the study, and the terms to compute."""

    row: Row
    block: int
    size: int
    terms: tuple[Term, ...]


Answer = TypeVar("Answer")
Worker: TypeAlias = Callable[[Unit], Mapping[Term, dict[str, Any]]]


@dataclass(frozen=True, kw_only=True)
class Study(ABC, Generic[Answer]):
    """Processes, learners and sizes of data; a subclass simulates with them.

    Work comes in one or more kinds, each done before the next is begun, whose units are
    independent of each other: random streams are named by their purpose.

    The file knows a process, a learner and an estimand by name: a changed one needs
    another name, or another file.
    """

    dgps: Sequence[Process]
    learners: Mapping[str, Any]
    n: Sequence[int]
    seed: int = 1

    def __repr__(self) -> str:
        sizes = f"n = {list_of(self.n)}"
        return about(self, f"{len(self.dgps)} processes", f"{len(self.learners)} learners", sizes)

    def __post_init__(self) -> None:
        check_list("dgps", self.dgps, "[pi.simulation.friedman1()]")
        check_list("n", self.n, "[100, 200]")
        check_mapping("learners", self.learners, "{'ols': LinearRegression()}")
        check_count("seed", self.seed, 0)
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
        if len(set(self.n)) < len(self.n):
            raise OptionError(f"`n` must name every size once; got {quote(self.n)}.")

    @abstractmethod
    def settings(self, row: Row) -> dict[str, Any]:
        """Return the options, besides the row, on which its numbers depend; `block` is its size."""

    @abstractmethod
    def terms(self, row: Row) -> tuple[Term, ...]:
        """Return the terms that are computed in every block of a row."""

    @abstractmethod
    def totals(self) -> Iterator[tuple[Row, int]]:
        """Yield the rows of the study, kind by kind, each with its number of repetitions."""

    @abstractmethod
    def _worker(self, kind: str, records: Sequence[Record]) -> Worker:
        """Return the function of a unit of work: its terms with their sums, by earlier records."""

    @abstractmethod
    def results(self, records: Sequence[Record]) -> Answer:
        """Return the results of records."""

    def run(
        self,
        path: str | os.PathLike[str],
        n_jobs: int | None = None,
        *,
        progress: ProgressOption = True,
    ) -> Answer:
        """Run what `path` does not hold yet, and return all results.

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
            Show a progress bar, or write lines to a log, as ``Learner.fit`` does.

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
        units = list(self._todo(records))
        for row in dict.fromkeys(unit.row for unit in units):
            self._try(row)
        file.begin()  # a path that can't be written is an error before the work
        for kind in dict.fromkeys(unit.row.kind for unit in units):
            same = [unit for unit in units if unit.row.kind == kind]
            worker = self._worker(kind, file.records())
            with outcomes(
                (partial(self._record, worker, unit) for unit in same),
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

    def load(self, path: str | os.PathLike[str]) -> Answer:
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

    def _record(self, worker: Worker, unit: Unit) -> list[Record]:
        """Do a unit of work, and return its records."""
        settings = self.settings(unit.row)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of learners, thousands of times
            sums = worker(unit)
        return [
            Record(unit.row, term, (unit.block,), unit.size, one, settings)
            for term, one in sums.items()
        ]

    def _try(self, row: Row) -> None:
        """Raise before the work an error that would be raised in every unit of a row."""

    def _todo(self, records: Sequence[Record]) -> Iterator[Unit]:
        """Yield the units of work that are not done, each with the terms that are missing.

        All repetitions of a row are cut into blocks, of which the last may be smaller.
        """
        sizes = {
            (record.row, record.term, block): record.size / len(record.blocks)
            for record in records
            for block in record.blocks
        }
        for row, total in self.totals():
            whole = self.settings(row)["block"]
            for block, start in enumerate(range(0, total, whole)):
                size = min(whole, total - start)
                terms = self.terms(row)
                missing = tuple(t for t in terms if sizes.get((row, t, block), 0) < size)
                if missing:
                    yield Unit(row, block, size, missing)

    def _check_settings(self, record: Record, path: str | os.PathLike[str]) -> None:
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
        formula, estimator = self.formula_and_estimator(process, name, len(data))
        return Learner.from_formula(formula, data, estimator)

    def _learners(self, unit: Unit) -> Iterator[tuple[int, Learner]]:
        """Yield the number of every repetition of a unit, with the learner on its data set."""
        row, process = unit.row, self.process(unit.row.process)
        first = unit.block * int(self.settings(row)["block"])
        for repetition in range(first, first + unit.size):
            data = self.draw(process, row.n, repetition)
            yield repetition, self.learner(process, row.learner, data)

    def formula_and_estimator(self, process: Process, name: str, n: int) -> tuple[str, Any]:
        """Return formula and estimator of a learner of the study, for n rows of a process.

        Examples
        --------
        >>> study.formula_and_estimator(study.dgps[0], "lm", 100)
        ('y ~ .', LinearRegression())
        """
        learner = self.learners[name]
        return formula_and_estimator(learner(process, n) if _is_maker(learner) else learner)

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


def _is_maker(learner: object) -> bool:
    """Whether a learner is a function of process and n that returns one."""
    return callable(learner) and not isinstance(learner, type) and not hasattr(learner, "fit")
