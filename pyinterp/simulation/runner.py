"""What all studies share: units of work that become lines of a file, resumable and in parallel."""

from __future__ import annotations

import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from pyinterp.errors import check_jobs
from pyinterp.learner import Learner
from pyinterp.simulation.ledger import Ledger, Line
from pyinterp.simulation.process import Process

__all__ = ["Study", "Unit"]

Found = TypeVar("Found")


class Unit(NamedTuple):
    """A piece of work: a block of repetitions of a row of the study."""

    row: tuple[Any, ...]
    block: int
    size: int

    @classmethod
    def blocks(cls, row: tuple[Any, ...], total: int, size: int) -> Iterator[Unit]:
        """Cut all repetitions of a row into blocks, of which the last may be smaller."""
        for block in range(-(-total // size)):
            yield cls(row, block, min(size, total - block * size))


@dataclass(frozen=True, kw_only=True)
class Study(ABC, Generic[Found]):
    """Processes, learners and sizes of data; a subclass says what is done with them.

    Work comes in one or more kinds, each done before the next is begun, whose units are
    independent of each other: random streams are named by what they are for.
    """

    dgps: Sequence[Process]
    learners: Mapping[str, Any]
    n: Sequence[int]
    seed: int = 1

    _KINDS: ClassVar[tuple[str, ...]]

    @abstractmethod
    def _units(self, kind: str) -> Iterator[Unit]:
        """Yield all units of a kind of work, done or not."""

    @abstractmethod
    def _worker(self, kind: str, lines: Sequence[Line]) -> Callable[[Unit], Line]:
        """Return what does a unit, given the lines of the kinds before."""

    @abstractmethod
    def _results(self, lines: Sequence[Line]) -> Found:
        """Return the results that lines hold."""

    def run(
        self, path: str | os.PathLike[str], n_jobs: int | None = None, *, progress: bool = True
    ) -> Found:
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
        for kind in self._KINDS:
            left = [u for u in self._units(kind) if not ledger.holds(u.row, u.block)]
            do = self._worker(kind, ledger.lines)
            lines = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
                delayed(do)(unit) for unit in left
            )
            for line in tqdm(lines, total=len(left), desc=kind, disable=None if progress else True):
                ledger.add(line)
        ledger.compact()
        rows = {unit.row for kind in self._KINDS for unit in self._units(kind)}
        return self._results([line for line in ledger.lines if line.row in rows])

    def load(self, path: str | os.PathLike[str]) -> Found:
        """Return the results that `path` holds, of finished and unfinished rows."""
        return self._results(Ledger(path).lines)

    def learner(self, process: Process, name: str, data: pd.DataFrame) -> Learner:
        """Return a learner of the study on some data."""
        made = self.learners[name]
        if not isinstance(made, tuple) and not hasattr(made, "fit"):
            made = made(process, len(data))
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
