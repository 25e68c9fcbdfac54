"""Section on growth: time and peak memory for more and more evaluation rows.

As a script it is one measurement: `scale.py pfi 1000`.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

from cases import FEATURES, FOREST, forest
from child import call, peak_bytes, reply
from paired import time_call

import pyinterp as pi

__all__ = ["scale"]

SIZES = (1_000, 10_000, 100_000, 1_000_000)
POINTS = 20
TIMES, GIGABYTES = 12, 2.0


def scale(pairs: int) -> str:
    lines, before = [], None
    for rows in SIZES:
        # Short runs are noisy.
        runs = [call("scale.py", "pfi", rows) for _ in range(pairs if rows < 100_000 else 1)]
        seconds = statistics.median(run["seconds"] for run in runs)
        peak = max(run["peak"] for run in runs) / 1e9
        grown = "" if before is None else _verdict(seconds / before, TIMES, "{:.1f}")
        lines.append(
            f"| exact PFI of {FEATURES} features | {rows:,} | {seconds:.2f} | {grown} | "
            f"{_verdict(peak, GIGABYTES, '{:.2f}')} |"
        )
        print(f"  {rows:,} rows: {seconds:.2f} s, {peak:.2f} GB", flush=True)
        before = seconds
    run = call("scale.py", "pd", SIZES[-1])
    lines.append(
        f"| PD and ICE of 1 feature, {POINTS} points | {SIZES[-1]:,} | {run['seconds']:.2f} | | "
        f"{_verdict(run['peak'] / 1e9, GIGABYTES, '{:.2f}')} |"
    )
    print(f"  PD and ICE: {run['seconds']:.2f} s, {run['peak'] / 1e9:.2f} GB", flush=True)
    body = "\n".join(lines)
    return f"""## Growth

The {FOREST}; each size in a process of its own, whose memory includes Python, packages, model
and data. Goals: ten times the rows take at most {TIMES} times as long, and all sizes at most
{GIGABYTES:g} GB.

| work | evaluation rows | s | times the size before | peak memory, GB |
|---|---|---|---|---|
{body}
"""


def _verdict(value: float, most: float, form: str) -> str:
    return f"{form.format(value)} ({'met' if value <= most else 'missed'})"


def _work(what: str, rows: int) -> Any:
    model = pi.FittedModel(*forest(rows))
    return model.pfi() if what == "pfi" else model.pd("x1", points=POINTS, kind="ice")


def measure(what: str, rows: int) -> None:
    _work(what, 100)  # compiled
    seconds, _ = time_call(lambda: _work(what, rows))
    reply(seconds=seconds, peak=peak_bytes())


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]))
