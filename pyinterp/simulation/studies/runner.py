"""What all studies share: units of work that become lines of a file, resumable and in parallel."""

from __future__ import annotations

import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from pyinterp.checks import check_count, check_jobs, check_list, check_mapping
from pyinterp.errors import OptionError, listed, shown
from pyinterp.learner.learner import Learner
from pyinterp.models.predictor import check_estimator
from pyinterp.parallel import outcomes
from pyinterp.simulation.processes.process import Process, check_process, formula_and_estimator
from pyinterp.simulation.studies.ledger import Ledger, Line, Row

__all__ = ["Study", "Unit", "count_of"]

Answer = TypeVar("Answer")


class Unit(NamedTuple):
    """A piece of work: a block of repetitions of a row of the study, and what it is to give."""

    row: Row
    block: int
    size: int
    terms: tuple[str, ...] = ()

    @classmethod
    def blocks(cls, row: Row, total: int, size: int) -> Iterator[Unit]:
        """Cut all repetitions of a row into blocks, of which the last may be smaller."""
        for block in range(-(-total // size)):
            yield cls(row, block, min(size, total - block * size))


@dataclass(frozen=True, kw_only=True)
class Study(ABC, Generic[Answer]):
    """Processes, learners and sizes of data; a subclass says what is done with them.

    Work comes in one or more kinds, each done before the next is begun, whose units are
    independent of each other: random streams are named by what they are for.

    In the file a process, a learner and an estimand are known by their names: what changes needs
    another name, or another file.
    """

    dgps: Sequence[Process]
    learners: Mapping[str, Any]
    n: Sequence[int]
    seed: int = 1

    _KINDS: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        check_list("dgps", self.dgps, "[pi.simulation.friedman1()]")
        check_list("n", self.n, "[100, 200]")
        check_mapping("learners", self.learners, "{'ols': LinearRegression()}")
        check_count("seed", self.seed, 0)
        for process in self.dgps:
            check_process(process)
        for learner in self.learners.values():
            _check_learner(learner)
        names = [process.name for process in self.dgps]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise OptionError(
                "Processes must have different names, by which files know them, but two are called "
                f"{shown(twice)}; `dataclasses.replace(process, name=...)` gives another."
            )
        for rows in self.n:
            check_count("n", rows, 2)
        if len(set(self.n)) < len(self.n):
            raise OptionError(f"`n` must name every size once; got {shown(self.n)}.")

    @abstractmethod
    def settings(self, row: Row) -> dict[str, Any]:
        """Return what the numbers of a row depend on besides the row; `block` is its size."""

    @abstractmethod
    def terms(self, row: Row) -> tuple[str, ...]:
        """Return the names of what every block of a row gives."""

    @abstractmethod
    def _units(self, kind: str) -> Iterator[Unit]:
        """Yield all units of a kind of work, done or not."""

    @abstractmethod
    def _worker(self, kind: str, lines: Sequence[Line]) -> Callable[[Unit], Line]:
        """Return what does a unit, given the lines of the kinds before."""

    @abstractmethod
    def _results(self, lines: Sequence[Line]) -> Answer:
        """Return the results that lines hold."""

    def run(
        self, path: str | os.PathLike[str], n_jobs: int | None = None, *, progress: bool = True
    ) -> Answer:
        """Run what `path` does not hold yet, and return all results.

        Parameters
        ----------
        path : path
            A file of JSON lines, made if it is not there. A line is added, and flushed to disk,
            after every block of repetitions; a line that was cut off is dropped. In the end
            the lines of a row become one. Repetitions, learners, sizes and estimands may be added
            to those of a file; with other settings it can't be continued.
        n_jobs : int, optional
            Jobs over blocks, by joblib: ``joblib.parallel_config`` chooses the backend, a Dask
            cluster for example.
        progress : bool
            Show a progress bar on a terminal.

        Raises
        ------
        OptionError
            If the file holds rows of the study that were made with other settings.
        DataError
            If another process is writing the file, or a block stands in it twice.
        """
        check_jobs(n_jobs)
        ledger = Ledger(path)
        with ledger.locked():
            rows = {unit.row for kind in self._KINDS for unit in self._units(kind)}
            for line in ledger.lines:
                if line.row in rows:
                    self._check_settings(line, path)
            left = [unit for kind in self._KINDS for unit in self._left(kind, ledger)]
            for row in dict.fromkeys(unit.row for unit in left):
                self._try(row)
            for kind in self._KINDS:
                units = [unit for unit in left if unit.row[0] == kind]
                do = self._worker(kind, ledger.lines)
                with outcomes(
                    (partial(do, unit) for unit in units),
                    len(units),
                    n_jobs=n_jobs,
                    label=kind,
                    progress=progress,
                    unit="block",
                    ordered=False,
                ) as lines:
                    for line in lines:
                        ledger.add(line)
            ledger.compact()
        return self._results([self._own(line) for line in ledger.lines if line.row in rows])

    def load(self, path: str | os.PathLike[str]) -> Answer:
        """Return the results that `path` holds, of finished and unfinished rows.

        Learners, sizes and estimands that the study does not have are among them; what it does
        not know how to report, such as a plan that it does not have, is left out.
        """
        return self._results(Ledger(path).lines)

    def _try(self, row: Row) -> None:
        """Try what would fail in every unit of a row, before the work."""

    def _left(self, kind: str, ledger: Ledger) -> Iterator[Unit]:
        """Yield the units that are not done, with the terms that they lack."""
        for unit in self._units(kind):
            lacking = tuple(
                term
                for term in self.terms(unit.row)
                if ledger.size(unit.row, unit.block, term) < unit.size
            )
            if lacking:
                yield unit._replace(terms=lacking)

    def _own(self, line: Line) -> Line:
        """Return a line without terms that the study does not ask for."""
        asked = self.terms(line.row)
        return line._replace(terms={k: v for k, v in line.terms.items() if k in asked})

    def _check_settings(self, line: Line, path: str | os.PathLike[str]) -> None:
        if line.settings is None:
            raise OptionError(
                f"A file can be continued if its lines say how they were made, but those of "
                f"{list(line.row)} in {str(path)!r} don't: `load` reads them; to run the study "
                "give another path."
            )
        asked = self.settings(line.row)
        for name in {**asked, **line.settings}:
            was, now = line.settings.get(name), asked.get(name)
            if was != now:
                raise OptionError(
                    f"A file can be continued with the settings that it was begun with, but "
                    f"{list(line.row)} in {str(path)!r} has {name} = {was!r}, and the study has "
                    f"{now!r}: change that, or give another path."
                )

    def learner(self, process: Process, name: str, data: pd.DataFrame) -> Learner:
        """Return a learner of the study on some data."""
        formula, estimator = self.formula_and_estimator(process, name, len(data))
        return Learner.from_formula(formula, data, estimator)

    def formula_and_estimator(self, process: Process, name: str, n: int) -> tuple[str, Any]:
        """Return what a learner of the study is for n rows of a process."""
        made = self.learners[name]
        return formula_and_estimator(made(process, n) if _is_maker(made) else made)

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


def count_of(name: str, counts: int | Mapping[str, int], learner: str, least: int) -> int:
    """Return a learner's number of repetitions or refits, checked."""
    if isinstance(counts, Mapping) and learner not in counts:
        raise OptionError(
            f"`{name}` must be a number or name every learner; {shown(learner)} is not in "
            f"{listed(counts)}."
        )
    count = counts[learner] if isinstance(counts, Mapping) else counts
    check_count(name, count, least)
    return int(count)


def _is_maker(learner: object) -> bool:
    """Whether a learner is a function of process and n that returns one."""
    return callable(learner) and not isinstance(learner, type) and not hasattr(learner, "fit")


def _check_learner(learner: object) -> None:
    if not _is_maker(learner):
        check_estimator(formula_and_estimator(learner)[1])
