"""Section on a whole study: what interpreting costs next to the refits that it needs anyway."""

from __future__ import annotations

import statistics

from cases import wine
from paired import spread, time_call
from sklearn.ensemble import RandomForestRegressor

import pyinterp as pi

__all__ = ["study"]

REFITS, TREES, REPETITIONS, GOAL, WHOLE = 15, 500, 3, 0.20, 2.0


def study(pairs: int) -> str:
    _once(trees=5)  # compiled, imports done
    seconds = [_once() for _ in range(min(pairs, REPETITIONS))]
    fit, pfi, pd, cvim = (statistics.median(s) for s in zip(*seconds, strict=True))
    shares = [(p + d) / f for f, p, d, _ in seconds]
    met = "met" if statistics.median(shares) <= GOAL else "missed"
    wholes = [(f + c) / f for f, _, _, c in seconds]
    whole = "met" if statistics.median(wholes) <= WHOLE else "missed"
    X, _ = wine()
    values = X.nunique()
    return f"""## A study of the size of the wine data

{REFITS} bootstrap refits of a forest of {TREES}; {len(X):,} simulated rows, {X.shape[1]} features
of {values.min()} to {values.max()} distinct values; PFI and PD (20 points) of all features, with
their tables of intervals; CVIM of all features by exchanged residuals, all pairs, the features'
own learners included. Medians of {len(seconds)} repetitions.

| refits, s | PFI, s | PD, s | share of the refits' time (min, max) | goal |
|---|---|---|---|---|
| {fit:.2f} | {pfi:.2f} | {pd:.2f} | {spread(shares, "{:.2f}")} | ≤ {GOAL:.2f}: {met} |

| refits, s | CVIM, s | refits and CVIM / refits (min, max) | goal |
|---|---|---|---|
| {fit:.2f} | {cvim:.2f} | {spread(wholes, "{:.2f}")} | ≤ {WHOLE:.2f}: {whole} |
"""


def _once(trees: int = TREES) -> tuple[float, float, float, float]:
    """Return the seconds of refits, PFI, PD and CVIM; results that keep anything are new."""
    X, y = wine()
    learner = pi.Learner(y, X, RandomForestRegressor(trees))
    fit, res = time_call(lambda: learner.fit(pi.Bootstrap(REFITS), seed=1, progress=False))
    pfi, _ = time_call(lambda: res.pfi().summary())
    pd, _ = time_call(lambda: [res.pd(name).summary() for name in X.columns])
    cvim, _ = time_call(lambda: res.cvim().summary())
    print(f"  refits {fit:.2f} s, PFI {pfi:.2f} s, PD {pd:.2f} s, CVIM {cvim:.2f} s", flush=True)
    return fit, pfi, pd, cvim
