"""Paired timings: both sides in turn, in one process, and the table that quotes their ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Pairs", "pairs_of", "spread", "table", "time_call"]


@dataclass(frozen=True)
class Pairs:
    """Seconds of both sides, pair by pair.

    `last` holds what the last pair of calls returned; `notes` fills further columns of the table.
    """

    work: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    goal: float | None
    notes: tuple[str, ...]
    last: tuple[Any, Any]

    @property
    def ratios(self) -> list[float]:
        return [b / a for a, b in zip(self.ours, self.theirs, strict=True)]


def time_call(
    call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    start = clock()
    value = call()
    return clock() - start, value


def pairs_of(
    work: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    *,
    pairs: int,
    goal: float | None = None,
    notes: tuple[str, ...] = (),
    warm: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> Pairs:
    """Time both sides `pairs` times; who goes first alternates, so that drift favors nobody."""
    if warm:  # compiled, caches filled
        ours()
    seconds: list[tuple[float, float]] = []
    values: tuple[Any, Any] = (None, None)
    for i in range(pairs):
        if i % 2 == 0:
            a, b = time_call(ours, clock), time_call(theirs, clock)
        else:
            b, a = time_call(theirs, clock), time_call(ours, clock)
        seconds.append((a[0], b[0]))
        values = a[1], b[1]
    result = Pairs(
        work, tuple(s[0] for s in seconds), tuple(s[1] for s in seconds), goal, notes, values
    )
    print(f"  {work}: {spread(result.ratios)}", flush=True)
    return result


def spread(values: Sequence[float], form: str = "{:.3g}") -> str:
    """Return the median, with the smallest and the largest value if there are several."""
    middle = form.format(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({form.format(min(values))}, {form.format(max(values))})"


def table(rows: Sequence[Pairs], peer: str, notes: tuple[str, ...] = ()) -> str:
    """Return the rows as a Markdown table, with the goals that they have."""
    lines = [
        f"| work | ours, s | {peer}, s | ratio (min, max) | pairs | goal |"
        + "".join(f" {note} |" for note in notes),
        "|---|---|---|---|---|---|" + "---|" * len(notes),
    ]
    lines += [
        f"| {r.work} | {statistics.median(r.ours):.3f} | {statistics.median(r.theirs):.3f} | "
        f"{spread(r.ratios)} | {len(r.ratios)} | {_verdict(r)} |"
        + "".join(f" {note} |" for note in r.notes)
        for r in rows
    ]
    return "\n".join(lines)


def _verdict(row: Pairs) -> str:
    if row.goal is None:
        return ""
    met = statistics.median(row.ratios) >= row.goal
    return f"≥ {row.goal:g}: {'met' if met else 'missed'}"
