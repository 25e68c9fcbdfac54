"""Section on the first call in a fresh process, with and without compiled code on disk.

As a script it is one measurement.
"""

from __future__ import annotations

import statistics
import tempfile
from typing import Any

from child import call, reply
from paired import spread, time_call

__all__ = ["startup"]

PROCESSES, GOAL = 3, 1.0


def startup(pairs: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        empty = call("startup.py", NUMBA_CACHE_DIR=folder)
        warm = [call("startup.py", NUMBA_CACHE_DIR=folder) for _ in range(min(pairs, PROCESSES))]
    extra = [run["first"] - run["second"] for run in warm]
    met = "met" if statistics.median(extra) <= GOAL else "missed"
    print(f"  empty cache {empty['first']:.2f} s, warm {spread(extra, '{:.2f}')} s", flush=True)
    return f"""## First call

`pfi()` of a small forest in a fresh process: seconds of the first call beyond those of the second.
With compiled code on disk the median of {len(warm)} processes.

| compiled code on disk | seconds (min, max) | goal |
|---|---|---|
| yes | {spread(extra, "{:.2f}")} | ≤ {GOAL:.1f}: {met} |
| no, compiled by the call | {empty["first"] - empty["second"]:.2f} | |

Before it, imports of pyinterp and `FittedModel(...)` take
{spread([run["made"] for run in warm], "{:.2f}")} s after those of scikit-learn.
"""


def measure() -> None:
    from sklearn.datasets import make_regression  # noqa: PLC0415  # not in the parent
    from sklearn.ensemble import RandomForestRegressor  # noqa: PLC0415

    X, y = make_regression(200, 4, random_state=0)
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)

    def make() -> Any:
        import pyinterp as pi  # noqa: PLC0415  # what is measured

        return pi.FittedModel(forest, X, y)

    made, model = time_call(make)
    first, _ = time_call(model.pfi)
    second, _ = time_call(make().pfi)  # a new object: nothing is kept
    reply(made=made, first=first, second=second)


if __name__ == "__main__":
    measure()
