"""What a study has counted, block by block, and the file that keeps it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import numpy as np

from pyinterp._typing import FilePath, TwoArrays
from pyinterp.errors import DataError, reason
from pyinterp.storage.files import place_of

# Names of an estimate: an estimand; for its intervals also the variance estimator.
Term = tuple[str, ...]

TABLE = "CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, record TEXT NOT NULL)"
PATIENCE = 60.0  # seconds that one waits for another process to have read or written a block


class Row(NamedTuple):
    """Data sets and fits that all terms share.

    Attributes
    ----------
    kind : {"truth", "coverage"}
        Refits on fresh data, whose mean estimates are the truth; data sets to each of which a
        learner is fitted with a plan.
    process, learner : str
    n : int
        Rows of a data set.
    plan : str
        For coverage the name of the plan.
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

    def means(self) -> TwoArrays:
        """Return means over repetitions and their standard errors, of sums and of squares."""
        mean = self.sums["sums"] / self.size
        variance = np.clip(self.sums["squares"] / self.size - mean**2, 0, None)
        return mean, np.sqrt(variance / max(self.size - 1, 1))


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

    def __init__(self, path: FilePath) -> None:
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
