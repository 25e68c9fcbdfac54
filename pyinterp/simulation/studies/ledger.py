"""The file of a study: finished blocks of repetitions, one JSON line each, safe against a kill."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from pyinterp.errors import DataError

__all__ = ["Ledger", "Line", "Row", "Sums", "pooled"]

Row: TypeAlias = tuple[Any, ...]


class Line(NamedTuple):
    """Sums over the repetitions of some blocks of a row.

    Attributes
    ----------
    row : tuple
        What names the row: kind, process, learner, n and what else the study varies.
    blocks : list of int
        The blocks.
    size : int
        Number of repetitions.
    terms : dict
        By estimand, numbers that add up over blocks, and the names of its terms.
    settings : dict or None
        All else that the numbers depend on; None in files of earlier versions.
    """

    row: Row
    blocks: list[int]
    size: int
    terms: dict[str, dict[str, Any]]
    settings: dict[str, Any] | None = None

    def size_of(self, block: int) -> int:
        """Return the repetitions of a block: of several, all but the last are whole."""
        if self.settings is None:
            return self.size // len(self.blocks)
        whole = int(self.settings["block"])
        rest = self.size - whole * (len(self.blocks) - 1)
        return rest if block == max(self.blocks) else whole


class Sums(NamedTuple):
    """What the lines of a row hold of one estimand: blocks, repetitions and added numbers."""

    blocks: list[int]
    size: int
    found: dict[str, Any]

    def plus(self, other: Sums) -> Sums:
        """Return both as one."""
        found = {
            what: value if what == "term" else np.add(value, other.found[what]).tolist()
            for what, value in self.found.items()
        }
        return Sums(self.blocks + other.blocks, self.size + other.size, found)


def pooled(lines: Iterable[Line]) -> dict[Row, dict[str, Sums]]:
    """Add lines up, by row and estimand."""
    rows: dict[Row, dict[str, Sums]] = {}
    for line in lines:
        known = rows.setdefault(line.row, {})
        for term, found in line.terms.items():
            one = Sums(line.blocks, line.size, found)
            known[term] = known[term].plus(one) if term in known else one
    return rows


class Ledger:
    """The lines of a file; a last line that was cut off is ignored.

    A block stands once for every estimand. A block that was made again with more repetitions,
    because it was the last and smaller than others, takes the place of the smaller one.

    Parameters
    ----------
    path : path
        Read, if it is there. What writes does so within `locked`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = Path(path)
        self._read()

    @property
    def lines(self) -> list[Line]:
        """What counts."""
        return [line for line in self._lines if line.terms]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing, take over what they wrote, drop a cut line.

        The lock is the system's, on a file beside: a kill releases it.
        """
        with self._file.with_name(f".{self._file.name}.lock").open("w") as beside:
            if not _locks(beside):
                raise DataError(
                    f"A study's file can be written by one process at a time, and another one is "
                    f"writing {str(self._file)!r}: wait for it, or give another path."
                )
            whole = self._read()
            if self._file.exists() and whole < self._file.stat().st_size:
                os.truncate(self._file, whole)
            yield

    def size(self, row: Row, block: int, term: str) -> int:
        """Return how many repetitions of a block are done for an estimand."""
        line = self._held.get((row, block, term))
        return 0 if line is None else line.size_of(block)

    def add(self, line: Line) -> None:
        """Append a line and see it on the disk."""
        self._count(line)
        with self._file.open("a", encoding="utf-8") as out:
            _write(out, [line])

    def compact(self) -> None:
        """Make as few lines as can be; the file, which is read again, is replaced at once.

        The last block of a row stays apart if it is smaller than others, so that it can be made
        again.
        """
        self._read()
        merged = list(_merged(self.lines))
        if len(merged) == len(self._lines):
            return
        beside = self._file.with_name(self._file.name + ".new")
        with beside.open("w", encoding="utf-8") as out:
            _write(out, merged)
        beside.replace(self._file)
        self._read()

    def _read(self) -> int:
        """Take up the lines of the file and return the length of those that are whole."""
        self._lines: list[Line] = []
        self._held: dict[tuple[Row, int, str], Line] = {}
        text = self._file.read_bytes() if self._file.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        for number, words in enumerate(whole.decode().splitlines(), start=1):
            try:
                made = json.loads(words)
                line = Line(**{**made, "row": tuple(made["row"])})
            except (ValueError, TypeError, KeyError) as error:
                raise DataError(
                    f"Every line of a study's file must be a JSON object with row, blocks, size "
                    f"and terms, but line {number} of {str(self._file)!r} is not; remove it, and "
                    "its blocks are made again."
                ) from error
            self._count(line)
        return len(whole)

    def _count(self, line: Line) -> None:
        for term in line.terms:
            for block in line.blocks:
                known = self._held.get((line.row, block, term))
                if known is not None:
                    self._supersede(known, line, block, term)
        self._lines.append(line)
        self._held |= {(line.row, b, term): line for term in line.terms for b in line.blocks}

    def _supersede(self, known: Line, line: Line, block: int, term: str) -> None:
        if known.blocks != [block] or line.blocks != [block] or line.size <= known.size:
            raise DataError(
                f"A block must stand once in a study's file, but block {block} of {term!r} of "
                f"{list(line.row)} stands twice in {str(self._file)!r}: two files were joined, or "
                "two processes wrote it. Remove one of the lines."
            )
        del known.terms[term]


def _merged(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield lines with all that the same blocks of a row gave."""
    apart: dict[tuple[Row, str, int | None], list[Line]] = {}
    settings: dict[str, dict[str, Any] | None] = {}
    for line in lines:
        words = json.dumps(line.settings)
        settings[words] = line.settings
        partial = line.settings is not None and line.size < line.settings["block"]
        key = line.row, words, line.blocks[0] if partial else None
        apart.setdefault(key, []).append(line)
    for (row, words, _), same in apart.items():
        ordered = sorted(same, key=lambda line: min(line.blocks))
        together: dict[tuple[tuple[int, ...], int], dict[str, dict[str, Any]]] = {}
        for term, (blocks, size, found) in pooled(ordered)[row].items():
            together.setdefault((tuple(blocks), size), {})[term] = found
        for (blocks_, size), terms in together.items():
            yield Line(row, list(blocks_), size, terms, settings[words])


def _write(out: IO[str], lines: Iterable[Line]) -> None:
    for line in lines:
        made = {name: value for name, value in line._asdict().items() if value is not None}
        out.write(json.dumps(made, default=_plain) + "\n")
    out.flush()
    os.fsync(out.fileno())


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    return value.item()


def _locks(file: IO[str]) -> bool:
    """Lock a file for as long as it is open; False if it is locked already."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - of that system only

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - not of every system

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
