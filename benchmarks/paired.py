"""Paired timings: both sides in turn, in one process, and the table of their ratios."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

PAIRS = 5
MOST = 20  # seconds of a pair that is repeated


class Line(NamedTuple):
    """A line of a table: what ours and theirs do, given what `fresh` returns.

    `rtol` is the largest relative difference of what they return; `times` is how often theirs
    would have to run.
    """

    work: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    fresh: Callable[[], tuple[Any, ...]] = tuple
    rtol: float | None = None
    times: float = 1


def cpu() -> float:
    """Return the CPU seconds of this process, its threads and its children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def seconds_of(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and what it returned."""
    start = cpu()
    value = call(*arguments)
    return cpu() - start, value


def table(lines: Iterable[Line], peer: str, *, ours_over_theirs: bool = False) -> str:
    """Time lines, and return them as a Markdown table."""
    ratio = f"ours / {peer}" if ours_over_theirs else f"{peer} / ours"
    rows = [
        f"| work | ours, CPU s | {peer}, CPU s | {ratio} (min, max) | pairs |",
        "|---|---|---|---|---|",
    ]
    for line in lines:
        pairs = _pairs(line)
        ratios = [a / b if ours_over_theirs else b / a for a, b in pairs]
        a, b = (f"{statistics.median(s):.3g}" for s in zip(*pairs, strict=True))
        number = str(len(pairs)) if len(pairs) > 1 else "1 pair"
        rows.append(f"| {line.work} | {a} | {b} | {_spread(ratios)} | {number} |")
        print(rows[-1], flush=True)
    return "\n".join(rows)


def _pairs(line: Line) -> list[tuple[float, float]]:
    """Return seconds of both sides; who goes first alternates, so that drift favors nobody."""
    pairs: list[tuple[float, float]] = []
    for i in range(1 + PAIRS):
        inputs, sides = (line.fresh(), line.fresh()), (line.ours, line.theirs)
        done = {k: seconds_of(sides[k], *inputs[k]) for k in ((0, 1) if i % 2 else (1, 0))}
        if line.rtol is not None:
            np.testing.assert_allclose(done[0][1], done[1][1], line.rtol, err_msg=line.work)
        pairs.append((done[0][0], done[1][0] * line.times))
        if done[0][0] + done[1][0] > MOST:
            return pairs[-1:]
    return pairs[1:]  # the first compiles and imports


def _spread(values: list[float]) -> str:
    middle = f"{statistics.median(values):.3g}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.3g}, {max(values):.3g})"
