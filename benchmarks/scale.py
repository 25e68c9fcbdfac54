"""Sections on growth: time and peak memory for more and more rows, and with many models.

As a script it is one measurement: `scale.py pfi 1000`, `scale.py whole 10000`, `scale.py kept 45`.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

import numpy as np
import pandas as pd
from cases import FEATURES, FOREST, forest, wine
from child import call, peak_bytes, reply
from paired import time_call
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

import pyinterp as pi

__all__ = ["fits", "scale"]

SIZES = (1_000, 10_000, 100_000, 1_000_000)
POINTS = 20
TIMES, GIGABYTES = 12, 2.0
# Of whole analyses: as many rows train as evaluate.
WHOLE, WIDE, MOST_GIGABYTES = (2_000, 20_000, 200_000, 1_000_000), 50, 6.0
TREES, MODELS, FEW = 500, 45, 5


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


def fits(_: int) -> str:
    lines, before = [], None
    for rows in WHOLE:
        run = call("scale.py", "whole", rows)
        grown = "" if before is None else f"{run['seconds'] / before:.1f}"
        peak = _verdict(run["peak"] / 1e9, MOST_GIGABYTES, "{:.2f}")
        lines.append(f"| {rows // 2:,} | {rows // 2:,} | {run['seconds']:.0f} | {grown} | {peak} |")
        print(f"  {rows:,} rows: {run['seconds']:.0f} s, {run['peak'] / 1e9:.2f} GB", flush=True)
        before = run["seconds"]
    models = []
    for what, words in (("kept", "kept"), ("dropped", "dropped, `keep_models=False`")):
        run = call("scale.py", what, MODELS)
        floor, peak = run["floor"] / 1e6, run["peak"] / 1e6
        models.append(f"| {words} | {run['seconds']:.0f} | {peak:.0f} | {peak - floor:.0f} |")
        print(f"  models {what}: {run['seconds']:.0f} s, {peak:.0f} MB", flush=True)
    body, rest = "\n".join(lines), "\n".join(models)
    return f"""## Whole analyses

Fit, PFI of all and PD of five of {WIDE} features in single precision; histogram boosting, half of
the rows train and half evaluate. Goal: at most {MOST_GIGABYTES:g} GB.

| training rows | evaluation rows | s | times the size before | peak memory, GB |
|---|---|---|---|---|
{body}

{MODELS} forests of {TREES} on data of the red wine data's size, with PFI and one PD. The last
column is without packages and compiled code, which are in memory after the same work with forests
of {FEW}.

| models | s | peak memory, MB | for the work, MB |
|---|---|---|---|
{rest}
"""


def _verdict(value: float, most: float, form: str) -> str:
    return f"{form.format(value)} ({'met' if value <= most else 'missed'})"


def _work(what: str, rows: int) -> Any:
    model = pi.FittedModel(*forest(rows))
    return model.pfi() if what == "pfi" else model.pd("x1", points=POINTS, kind="ice")


def _ask(results: Any) -> None:
    results.pfi()
    results.pd("w11")


def _many_models(what: str, number: int) -> None:
    X, y = wine()
    plan = pi.HalfSampling(refits=number // 3, pairs=number // 3)
    options: dict[str, Any] = {"seed": 1, "progress": False}
    if what == "dropped":
        options |= {"keep_models": False, "measure": _ask}

    def analyze(trees: int) -> None:
        _ask(pi.Learner(y, X, RandomForestRegressor(trees, n_jobs=1)).fit(plan, **options))

    analyze(FEW)
    floor = peak_bytes()
    seconds, _ = time_call(lambda: analyze(TREES))
    reply(seconds=seconds, peak=peak_bytes(), floor=floor)


def _whole(rows: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, WIDE), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.standard_normal(rows)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(WIDE)], copy=False)

    def analyze() -> None:
        learner = pi.Learner(y, frame, HistGradientBoostingRegressor(random_state=0))
        results = learner.fit(pi.Holdout(0.5), seed=1, progress=False)
        results.pfi()
        for name in frame.columns[:5]:
            results.pd(name)

    seconds, _ = time_call(analyze)
    reply(seconds=seconds, peak=peak_bytes())


def measure(what: str, rows: int) -> None:
    if what in ("kept", "dropped"):
        _many_models(what, rows)
    elif what == "whole":
        _whole(rows)
    else:
        _work(what, 100)  # compiled
        seconds, _ = time_call(lambda: _work(what, rows))
        reply(seconds=seconds, peak=peak_bytes())


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]))
