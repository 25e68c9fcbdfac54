"""Sections on growth: time and peak memory of more rows and of many models, each in a process.

As a script it is one measurement: `growth.py pfi 1000`, `growth.py whole 10000`,
`growth.py kept 45`, `growth.py first 200`, `growth.py refits 1000`, `growth.py one 1000`.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import numpy as np
import pandas as pd
from cases import FOREST, Case, case, wine
from child import call, peak_bytes, reply
from paired import seconds_of
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

import pyinterp as pi

SIZES, WHOLE = (1_000, 10_000, 100_000, 1_000_000), (2_000, 20_000, 200_000, 1_000_000)
POINTS, WIDE, TREES, MODELS, FEW = 20, 50, 500, 45, 5
COLUMNS, STUDIES = 20, {"one": "1 refit", "refits": f"{MODELS} refits"}


def growth() -> str:
    with tempfile.TemporaryDirectory() as empty:
        lines = [
            _line("first `pfi()`, compiled code on disk", "first", 200),
            _line("first `pfi()`, which compiles", "first", 200, NUMBA_CACHE_DIR=empty),
        ]
    lines += [_line(f"exact PFI of 10 features, {n:,} rows", "pfi", n) for n in SIZES]
    most = SIZES[-1]
    lines.append(_line(f"PD and ICE of 1 feature, {POINTS} points, {most:,} rows", "pd", most))
    return f"""
A forest of 100 and rows that evaluate it. Each line is a process of its own, whose memory includes
Python, packages, model and data. The first two lines are those of a small forest.

{_table(lines)}
"""


def whole() -> str:
    halves = [(n, f"{n // 2:,} rows train, {n // 2:,} evaluate") for n in WHOLE]
    lines = [_line(text, "whole", n) for n, text in halves]
    lines += [_line(f"{MODELS} forests, {what}", what, MODELS) for what in ("kept", "dropped")]
    for n in SIZES:
        lines += [_line(f"{n:,} rows, {many}", what, n) for what, many in STUDIES.items()]
    return f"""
Fit, PFI of all and PD of five of {WIDE} features in single precision, by histogram boosting. Then
{MODELS} forests of {TREES} on data of the red wine data's size, with PFI and one PD, kept or
dropped (`keep_models=False`); "beyond" is without packages and compiled code, which are in memory
after the same work with forests of {FEW}. Last, fit and PFI of {COLUMNS} features, once and in all
refits of the default plan.

{_table(lines)}
"""


def _line(work: str, *arguments: object, **environment: str) -> str:
    run = call("growth.py", *arguments, **environment)
    memory = f"{run['peak'] / 1e6:,.0f}"
    if "floor" in run:
        memory += f" ({(run['peak'] - run['floor']) / 1e6:,.0f} beyond)"
    line = f"| {work} | {run['seconds']:.3g} | {memory} |"
    print(line, flush=True)
    return line


def _table(lines: list[str]) -> str:
    return "\n".join(["| work | CPU s | peak memory, MB |", "|---|---|---|", *lines])


def _few_rows(what: str, one: Case) -> Any:
    model = pi.FittedModel(*one)
    return model.pfi() if what == "pfi" else model.pd("x1", points=POINTS, kind="ice")


def _histograms(rows: int, columns: int) -> pi.Learner:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.standard_normal(rows)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(columns)], copy=False)
    return pi.Learner(y, frame, HistGradientBoostingRegressor(random_state=0))


def _analyze(rows: int) -> None:
    results = _histograms(rows, WIDE).fit(pi.Holdout(0.5), seed=1, progress=False)
    results.pfi()
    for j in range(5):
        results.pd(f"x{j + 1}")


def _study(what: str, rows: int) -> None:
    plan = pi.Holdout() if what == "one" else None
    _histograms(rows, COLUMNS).fit(plan, seed=1, progress=False).pfi()


def _many_models(what: str, number: int, trees: int) -> None:
    X, y = wine()
    plan = pi.HalfSampling(refits=number // 3, pairs=number // 3)
    options: dict[str, Any] = {"seed": 1, "progress": False}
    if what == "dropped":
        options |= {"keep_models": False, "measure": ["pfi", pi.ask("pd", "w11")]}
    _ask(pi.Learner(y, X, RandomForestRegressor(trees, n_jobs=1)).fit(plan, **options))


def _ask(results: Any) -> None:
    results.pfi()
    results.pd("w11")


def measure(what: str, number: int) -> None:
    more = {}
    if what == "first":
        X, y = np.random.default_rng(0).normal(size=(number, 5)), np.arange(number)
        forest = clone(FOREST).set_params(n_estimators=10).fit(X, y)
        seconds, _ = seconds_of(pi.FittedModel(forest, X, y).pfi)
    elif what == "whole":
        seconds, _ = seconds_of(_analyze, number)
    elif what in STUDIES:
        seconds, _ = seconds_of(_study, what, number)
    elif what in ("kept", "dropped"):
        _many_models(what, number, FEW)
        more["floor"] = peak_bytes()
        seconds, _ = seconds_of(_many_models, what, number, TREES)
    else:
        _few_rows(what, case(FOREST, evaluate=100))  # compiled
        seconds, _ = seconds_of(_few_rows, what, case(FOREST, evaluate=number))
    reply(seconds=seconds, peak=peak_bytes(), **more)


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]))
