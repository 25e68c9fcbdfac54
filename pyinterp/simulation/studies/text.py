"""Results of studies as text: JSON lines, one for all whole blocks of a row.

Early versions kept the results of a study so. The repository still does, because lines can be
compared; ``studies/run.py`` writes them. Here alone names of several parts are one string.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np

from pyinterp.errors import DataError
from pyinterp.simulation.studies.cells import (
    AnyRecord,
    CoverageRow,
    Importance,
    ImportanceRow,
    ImportanceSums,
    Interval,
    IntervalSums,
    Mean,
    MeanSums,
    Measure,
    Record,
    Row,
    Sums,
    Term,
    TruthRow,
    pool_records,
)

__all__ = ["read", "write"]


def read(path: Path) -> Iterator[AnyRecord]:
    """Yield the records of a file, without a last line that is incomplete after a kill."""
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    for number, words in enumerate(whole.splitlines(), start=1):
        try:
            records = list(_records(**json.loads(words)))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(
                "A study's file must be an SQLite database or, of early versions, JSON objects "
                f"with row, blocks, size and terms, one a line, but line {number} of "
                f"{str(path)!r} is not; remove it, or give another path."
            ) from error
        yield from records


def write(path: Path, records: Iterable[AnyRecord]) -> None:
    """Write a file of records in place of the one that is there, all at once."""
    beside = path.with_name(path.name + ".new")
    with beside.open("w", encoding="utf-8") as out:
        for line in _lines(records):
            out.write(json.dumps(line, default=lambda array: array.tolist()) + "\n")
    beside.replace(path)


def _records(
    row: list[Any],
    blocks: list[int],
    size: int,
    terms: dict[str, dict[str, Any]],
    settings: dict[str, Any] | None = None,
) -> Iterator[AnyRecord]:
    """Yield the records of a line, by the names that its object has."""
    for name, numbers in terms.items():
        yield Record(
            _row(*row), _term(row[0], name), tuple(blocks), size, _sums(row[0], **numbers), settings
        )


def _row(kind: str, process: str, learner: str, n: int, *others: Any) -> Row:
    match kind, others:
        case "truth", _:
            return TruthRow(process, learner, n)
        case "coverage", (plan,):
            return CoverageRow(process, learner, n, plan)
        case "importance", (validation, block, features, measures):
            parts = tuple(features.split(" ")), tuple(measures.split(" "))
            return ImportanceRow(process, learner, n, validation, block, *parts)
    raise ValueError(kind)


def _term(kind: str, name: str) -> Term:
    if kind == "truth":
        return Mean(name)
    first, _, last = name.rpartition("|")
    if kind == "coverage":
        return Interval(first, last)
    return Importance(first, cast("Measure", last))


def _sums(kind: str, **numbers: Any) -> Sums:
    sums = np.array(numbers["sums"])
    if kind == "coverage":
        return IntervalSums(sums, numbers["shares"])
    squares = np.array(numbers["squares"])
    if kind == "truth":
        return MeanSums(tuple(numbers["term"]), sums, squares)
    return ImportanceSums(sums, squares)


def _lines(records: Iterable[AnyRecord]) -> Iterator[dict[str, Any]]:
    """Yield lines, one for all terms of the same blocks of a row.

    The last block of a row stays apart if it is smaller than others, so that it can be made again.
    """
    groups: dict[tuple[Row, str, int | None], list[AnyRecord]] = {}
    for record in records:
        settings = record.settings
        partial = settings is not None and record.size < settings["block"]
        key = record.row, json.dumps(settings), record.blocks[0] if partial else None
        groups.setdefault(key, []).append(record)
    for (row, about, _), group in groups.items():
        lines: dict[tuple[tuple[int, ...], int], dict[str, Any]] = {}
        for term, pool in pool_records(group)[row].items():
            numbers = {"term" if n == "labels" else n: v for n, v in vars(pool.sums).items()}
            lines.setdefault((pool.blocks, pool.size), {})["|".join(term)] = numbers
        for (blocks, size), terms in lines.items():
            line = {"row": _words(row), "blocks": blocks, "size": size, "terms": terms}
            yield line if about == "null" else line | {"settings": json.loads(about)}


def _words(row: Row) -> list[Any]:
    """Return the arguments of `_row`."""
    if isinstance(row, ImportanceRow):
        names = " ".join(row.features), " ".join(row.measures)
        others: tuple[Any, ...] = (row.validation, row.block, *names)
    else:
        others = (row.plan if isinstance(row, CoverageRow) else "truth",)
    return [row.kind, row.process, row.learner, row.n, *others]
