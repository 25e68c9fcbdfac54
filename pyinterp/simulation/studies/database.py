"""The file of a study: an SQLite database of finished blocks, written by one process at a time."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pyinterp.errors import DataError, reason
from pyinterp.simulation.studies import text
from pyinterp.simulation.studies.cells import KINDS, AnyRecord, Kind, Record

__all__ = ["StudyFile"]

# Rows, terms, sums and settings are JSON objects. The key of `blocks` sees to it that no block
# counts twice.
RECORDS = """
CREATE TABLE IF NOT EXISTS records (
    id INTEGER PRIMARY KEY,
    row TEXT NOT NULL,
    term TEXT NOT NULL,
    size INTEGER NOT NULL,
    sums TEXT NOT NULL,
    settings TEXT
)
"""
BLOCKS = """
CREATE TABLE IF NOT EXISTS blocks (
    row TEXT NOT NULL,
    term TEXT NOT NULL,
    block INTEGER NOT NULL,
    record INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    PRIMARY KEY (row, term, block)
)
"""
# The last block of a row may be smaller than others, and is made again for more repetitions.
SMALLER = """
DELETE FROM records WHERE size < :size AND id IN (
    SELECT record FROM blocks WHERE row = :row AND term = :term AND block = :block
) AND (SELECT COUNT(*) FROM blocks WHERE record = records.id) = 1
"""
ADD_RECORD = "INSERT INTO records (row, term, size, sums, settings) VALUES (?, ?, ?, ?, ?)"
ADD_BLOCK = "INSERT INTO blocks (row, term, block, record) VALUES (?, ?, ?, ?)"
PATIENCE = 60.0  # seconds that one waits for another process to have read or written a block


class StudyFile:
    """The records of a study, kept in a database.

    A block stands once for every term of its row. A block that was made again with more
    repetitions, because it was the last and smaller than others, takes the place of the smaller
    one. Files of JSON lines (`text`) are read, and not written.

    Parameters
    ----------
    path : path
        Made by the first record.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def records(self) -> list[AnyRecord]:
        """Return the records of the file, in the order in which they were added; none if new."""
        if not self._path.exists():
            return []
        records = self._of_database()
        return self._of_text() if records is None else records

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from writing.

        The lock is that of SQLite, on an empty database beside, which readers of this one do not
        meet: the system releases it when the process ends, however it does.
        """
        beside = self._path.with_name(f".{self._path.name}.lock")
        with ExitStack() as stack:
            try:
                connection = stack.enter_context(closing(_connection(beside, "rwc", timeout=0)))
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                raise DataError(self._lock_failure(error)) from error
            if self._path.exists() and self._of_database() is None:
                raise DataError(
                    "A study goes on in the database that it has written, but "
                    f"{str(self._path)!r} has another format: if it holds JSON lines, as early "
                    "versions wrote them, `load` reads it; to run the study give another path."
                )
            yield

    def add(self, records: Iterable[AnyRecord]) -> None:
        """Add the records of a block, all or none, and see them on the disk."""
        with closing(_connection(self._path, "rwc", timeout=PATIENCE)) as connection:
            self._insert(connection, records)

    def _of_database(self) -> list[AnyRecord] | None:
        """Return the records of a database, or None if the file is none."""
        try:
            with closing(_connection(self._path, "rw", timeout=PATIENCE)) as connection:
                return _select(connection)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                return None
            raise DataError(
                f"A study's file must be a database that a study has written, but reading "
                f"{str(self._path)!r} failed ({reason(error)}); give another path."
            ) from error

    def _of_text(self) -> list[AnyRecord]:
        """Return the records of JSON lines, as a database would keep them."""
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            self._insert(connection, text.read(self._path))
            return _select(connection)

    def _insert(self, connection: sqlite3.Connection, records: Iterable[AnyRecord]) -> None:
        """Add records, and tables where there are none, all of it or nothing."""
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(RECORDS)
            connection.execute(BLOCKS)
            for record in records:
                try:
                    _insert(connection, record)
                except sqlite3.IntegrityError as error:
                    raise DataError(
                        f"A block must stand once in a study's file, but one of blocks "
                        f"{list(record.blocks)} of {record.term} of {record.row} stands twice in "
                        f"{str(self._path)!r}: two files were joined, or two processes wrote it. "
                        "Remove one of the two."
                    ) from error

    def _lock_failure(self, error: sqlite3.OperationalError) -> str:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return (
                "A study's file can be written by one process at a time, and another one is "
                f"writing {str(self._path)!r}: wait for it, or give another path."
            )
        return (
            "A study's file must be in a folder that exists and can be written, but writing "
            f"beside {str(self._path)!r} failed ({reason(error)}); give another path."
        )


def _connection(path: Path, mode: str, *, timeout: float) -> sqlite3.Connection:
    """Return a connection on which transactions begin only by ``BEGIN``."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _insert(connection: sqlite3.Connection, record: AnyRecord) -> None:
    row = _json({"kind": record.row.kind, **asdict(record.row)})
    term = _json(record.term._asdict())
    if len(record.blocks) == 1:
        about = {"row": row, "term": term, "block": record.blocks[0], "size": record.size}
        connection.execute(SMALLER, about)
    sums, settings = _json(vars(record.sums)), _json(record.settings)
    number = connection.execute(ADD_RECORD, (row, term, record.size, sums, settings)).lastrowid
    connection.executemany(ADD_BLOCK, [(row, term, int(b), number) for b in record.blocks])


def _select(connection: sqlite3.Connection) -> list[AnyRecord]:
    """Return all records; none if there are no tables, as in a file that was only begun."""
    connection.execute("BEGIN")
    if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        return []
    blocks: dict[int, tuple[int, ...]] = {}
    for number, block in connection.execute("SELECT record, block FROM blocks ORDER BY block"):
        blocks[number] = (*blocks.get(number, ()), block)
    every = connection.execute(
        "SELECT id, row, term, size, sums, settings FROM records ORDER BY id"
    )
    return [_record(blocks[number], *values) for number, *values in every]


def _record(
    blocks: tuple[int, ...], row: str, term: str, size: int, sums: str, settings: str
) -> AnyRecord:
    names = json.loads(row)
    kind = KINDS[names.pop("kind")]
    return Record(
        kind.row(**{name: _frozen(value) for name, value in names.items()}),
        kind.term(**json.loads(term)),
        blocks,
        size,
        _sums(kind, json.loads(sums)),
        json.loads(settings),
    )


def _sums(kind: Kind, numbers: dict[str, Any]) -> Any:
    labels = {"labels": tuple(numbers.pop("labels"))} if "labels" in numbers else {}
    arrays = {n: np.array(v) if isinstance(v, list) else v for n, v in numbers.items()}
    return kind.sums(**labels, **arrays)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _json(value: Any) -> str:
    """Return a value as JSON; arrays and numbers of NumPy are lists and numbers."""
    return json.dumps(value, default=lambda array: array.tolist())
