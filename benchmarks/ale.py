"""Section on accumulated local effects against six lines of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import EVALUATE, TRAIN, Case, case, ensembles
from paired import Line, table
from sklearn.linear_model import LinearRegression

import pyinterp as pi

POINTS = 20


def ale() -> str:
    cases = {**ensembles(), "linear model": case(LinearRegression())}
    whole = [_line(name, one) for name, one in cases.items()]
    parts = [part for name, one in cases.items() for part in _parts(name, one)]
    return f"""
ALE of one of 10 features between {POINTS} quantiles, {TRAIN:,} training rows and {EVALUATE:,} other
rows: all that a call does, then its parts. The first part is `pi.FittedModel(model, X, y)`, the
second is the ALE with its errors of a model whose engine was checked before.

{table(whole, "six lines")}

{table(parts, "six lines")}
"""


def _line(name: str, one: Case) -> Line:
    return Line(
        f"{name}: ALE",
        lambda: np.asarray(pi.FittedModel(*one).ale("x1", points=POINTS).params),
        lambda: six_lines(one),
        rtol=1e-4,  # of single precision
    )


def _parts(name: str, one: Case) -> list[Line]:
    def checked() -> tuple[Any]:
        model = pi.FittedModel(*one)
        model.ale("x2", points=POINTS)
        return (model,)

    return [
        Line(f"{name}: reading", lambda: pi.FittedModel(*one), lambda: six_lines(one)),
        Line(
            f"{name}: ALE, read before",
            lambda model: model.ale("x1", points=POINTS).bse,
            lambda _: six_lines(one),
            checked,
        ),
    ]


def six_lines(one: Case) -> np.ndarray:
    """Return the ALE of the first feature, as a user writes it."""
    x = np.sort(one.X[:, 0])
    edges = np.unique(x[np.ceil(len(x) * np.linspace(0, 1, POINTS) - 1e-8).astype(int).clip(1) - 1])
    at = np.clip(np.searchsorted(edges, one.X[:, 0], side="left") - 1, 0, len(edges) - 2)
    low, high = one.X.copy(), one.X.copy()
    low[:, 0], high[:, 0] = edges[at], edges[at + 1]
    steps = one.model.predict(high) - one.model.predict(low)
    curve = np.append(0, np.cumsum(np.bincount(at, steps) / np.bincount(at)))
    return curve - ((curve[at] + curve[at + 1]) / 2).mean()
