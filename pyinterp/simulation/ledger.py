"""The file of a study: finished blocks of repetitions, one JSON line each, safe against a kill."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Ledger", "Line"]


class Line(NamedTuple):
    """Sums over the repetitions of some blocks of a row.

    Attributes
    ----------
    row : tuple
        What names the row: kind, process, learner, n and what else the study varies.
    blocks : list of int
        The blocks, which are counted only once.
    size : int
        Number of repetitions.
    terms : dict
        By estimand, numbers that add up over blocks, and the names of its terms.
    """

    row: tuple[Any, ...]
    blocks: list[int]
    size: int
    terms: dict[str, dict[str, Any]]

    def plus(self, other: Line) -> Line:
        """Return both lines as one."""
        terms = {
            name: {
                what: value if what == "term" else _sum(value, other.terms[name][what])
                for what, value in found.items()
            }
            for name, found in self.terms.items()
        }
        return Line(self.row, self.blocks + other.blocks, self.size + other.size, terms)


class Ledger:
    """The lines of a file; a last line that was cut off is removed from it.

    Parameters
    ----------
    path : path
        Made when the first line is added.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = Path(path)
        self.lines: list[Line] = []
        self._done: set[tuple[Any, ...]] = set()
        if self._file.exists():
            text = self._file.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            if len(whole) < len(text):
                os.truncate(self._file, len(whole))
            for made in map(json.loads, whole.decode().splitlines()):
                self._count(Line(tuple(made["row"]), made["blocks"], made["size"], made["terms"]))

    def holds(self, row: tuple[Any, ...], block: int) -> bool:
        """Whether a block is done."""
        return (*row, block) in self._done

    def add(self, line: Line) -> None:
        """Append a line and see it on the disk."""
        with self._file.open("a", encoding="utf-8") as out:
            _write(out, [line])
        self._count(line)

    def compact(self) -> None:
        """Make one line of the lines of every row; the file is replaced at once."""
        rows: dict[tuple[Any, ...], Line] = {}
        for line in sorted(self.lines, key=lambda line: min(line.blocks)):
            rows[line.row] = rows[line.row].plus(line) if line.row in rows else line
        if len(rows) == len(self.lines):
            return
        self.lines = [rows[row] for row in dict.fromkeys(line.row for line in self.lines)]
        beside = self._file.with_name(self._file.name + ".new")
        with beside.open("w", encoding="utf-8") as out:
            _write(out, self.lines)
        beside.replace(self._file)

    def _count(self, line: Line) -> None:
        self.lines.append(line)
        self._done |= {(*line.row, block) for block in line.blocks}


def _write(out: Any, lines: Iterable[Line]) -> None:
    for line in lines:
        out.write(json.dumps(line._asdict()) + "\n")
    out.flush()
    os.fsync(out.fileno())


def _sum(first: Any, second: Any) -> Any:
    return np.add(first, second).tolist()
