"""How often `interactions()` rejects, in worlds with and without interactions of x.

It is run as `studies/turns.py` says. The summary goes to `studies/results/interactions.csv`, with
the number of data sets in every row. Nothing in the package was tuned on these data sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from population import LEARNERS, MILLION  # beside this file
from turns import fitted, main

from pyinterp.estimands.interactions import interactions
from pyinterp.estimands.population import LARGEST_BIAS

SUMMARY = Path(__file__).parent / "results" / "interactions.csv"
OFFSET = 58  # of seeds
LEVEL = 0.05
LEVELS = np.array(list("abcdefgh"))


@dataclass(frozen=True)
class World:
    """A law of data, in which x has interactions or not.

    Attributes
    ----------
    draw : callable
        ``draw(rng, n)`` returns a frame with x, y and others.
    share : float
        The share of V(y) that interactions of x have; missing if it is not known.
    null : bool
        Whether it has none.
    classifier : bool
    """

    draw: Callable[[np.random.Generator, int], pd.DataFrame]
    share: float = 0.0
    null: bool = True
    classifier: bool = False


def _normal(rng: np.random.Generator, n: int, correlation: float = 0.0) -> Any:
    common = np.sqrt(correlation) * rng.normal(size=(n, 1))
    return common + np.sqrt(1 - correlation) * rng.normal(size=(n, 5))


def _frame(X: Any, y: Any, x: Any = None) -> pd.DataFrame:
    data = pd.DataFrame(X, columns=["x", "a", "b", "c", "d"]).assign(y=y)
    return data if x is None else data.assign(x=x)


def _numbers(
    mean: Callable[[Any, Any, Any], Any],
    correlation: float = 0.0,
    tails: float | None = None,
    change: Callable[[Any], Any] | None = None,
) -> Callable[..., pd.DataFrame]:
    """Return a world of five numbers: the mean of y by the first three; x may be changed."""

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        X = _normal(rng, n, correlation)
        if change is not None:
            X[:, 0] = change(X)
        noise = rng.normal(size=n) if tails is None else rng.standard_t(tails, n)
        return _frame(X, mean(*X.T[:3]) + noise)

    return draw


def _factor(slopes: float) -> Callable[..., pd.DataFrame]:
    """Return a world where x has 8 levels with random effects, and slopes of b that differ."""

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        X, level = _normal(rng, n), np.arange(n) % 8
        effect, slope = rng.normal(0, 0.7, 8), 0.5 + slopes * rng.normal(size=8)
        y = effect[level] + np.sin(2 * X[:, 1]) + slope[level] * X[:, 2] + rng.normal(size=n)
        return _frame(X, y, LEVELS[level])

    return draw


def _by_level(slope: float) -> Callable[..., pd.DataFrame]:
    """Return a world where a factor of 4 levels shifts y, and the second one the slope of x too."""

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        X, level = _normal(rng, n), np.arange(n) % 4
        y = X[:, 0] + np.array([0, 0.5, 1, -0.5])[level] + np.sin(2 * X[:, 1])
        y = y + slope * X[:, 0] * (level == 1) + rng.normal(size=n)
        return _frame(X, y).assign(a=LEVELS[level])

    return draw


def _blocks(rng: np.random.Generator, _: int) -> pd.DataFrame:
    """Return a trial of 8 blocks, 4 amounts and 3 varieties, twice; x is the block."""
    at = np.array([(b, a, v) for b in range(8) for a in range(4) for v in range(3)] * 2)
    amount, ph = np.array([0, 1, 1.7, 2])[at[:, 1]], rng.normal(size=len(at))
    y = amount + 0.3 * (at[:, 2] == 1) + rng.normal(0, 0.5, 8)[at[:, 0]] + 0.2 * ph
    y = y + rng.normal(0, 0.4, len(at))
    return pd.DataFrame(
        {"x": LEVELS[at[:, 0]], "a": LEVELS[at[:, 1]], "b": LEVELS[at[:, 2]], "c": ph, "y": y}
    )


def _binary(rng: np.random.Generator, n: int) -> pd.DataFrame:
    X = _normal(rng, n)
    x, a, b = X.T[:3]
    p = 0.5 + 0.2 * np.sin(1.5 * x) + 0.25 * ((a > 0) - 0.5) + 0.05 * np.clip(b, -2, 2)
    return _frame(X, (rng.random(n) < p).astype(int))


def _twisted(X: Any) -> Any:
    return np.sin(3 * X[:, 1]) + 0.6 * X[:, 0]


def _spread(X: Any) -> Any:
    return 0.7 * X[:, 1] + np.exp(0.5 * X[:, 1]) * X[:, 0]


def _linear(x: Any, a: Any, b: Any) -> Any:
    return x + a - 0.5 * b


def _bent(x: Any, a: Any, b: Any) -> Any:
    return 1.5 * np.sin(2 * x) + 1.5 * (a > 0) + 0.5 * b


def _steps(x: Any, a: Any, b: Any) -> Any:
    return _bent(x, a, b) + 1.5 * (x > 0)


@cache
def worlds() -> dict[str, World]:
    """Return all worlds."""
    numbers: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "linear": (_linear, {}),
        "heavy tails": (_linear, {"tails": 2.5}),
        "sine and step": (_steps, {}),
        "correlation .7": (_bent, {"correlation": 0.7}),
        "square, correlation .7": (lambda x, a, _: x**2 + a, {"correlation": 0.7}),
        "product of others": (
            lambda x, a, b: 1.5 * np.sin(2 * x) + 1.5 * a * b,
            {"correlation": 0.7},
        ),
        "signs of others": (
            lambda x, a, b: 1.5 * np.sin(2 * x) + 2 * np.sign(a) * np.sign(b),
            {"correlation": 0.7},
        ),
        "spread of x by a": (lambda x, a, _: x**2 + 1.5 * np.sin(2 * a), {"change": _spread}),
        "sin 3a in both": (
            lambda x, a, _: 3 * np.sin(3 * a) + 1.5 * np.sin(2 * x),
            {"change": _twisted},
        ),
    }
    gate = 0.3085375  # P(x > .5)
    with_interactions: dict[str, tuple[Callable[..., Any], dict[str, Any], float]] = {
        ".3 x a": (lambda x, a, _: x + a + 0.3 * x * a, {}, 0.09),
        ".4 x a": (lambda x, a, _: x + a + 0.4 * x * a, {}, 0.16),
        ".4 x sign(a)": (lambda x, a, _: a + 0.4 * x * np.sign(a), {}, 0.16),
        "threshold": (
            lambda x, a, b: x + a + 1.2 * (x > 0.5) * (b > 0),
            {},
            0.36 * gate * (1 - gate),
        ),
        ".4 x a, correlation .7": (
            lambda x, a, _: x + a + 0.4 * x * a,
            {"correlation": 0.7},
            np.nan,
        ),
    }
    found = {name: World(_numbers(mean, **more)) for name, (mean, more) in numbers.items()}
    found |= {
        "8 levels": World(_factor(0.0)),
        "blocks": World(_blocks),
        "binary y": World(_binary, classifier=True),
    }
    for name, (mean, more, explained) in with_interactions.items():
        draw = _numbers(mean, **more)
        variance = draw(np.random.default_rng(0), MILLION)["y"].var()
        found[name] = World(draw, explained / variance, null=False)
    found["4 levels"] = World(_by_level(0.0))
    found["slopes by 4 levels"] = World(_by_level(0.6), np.nan, null=False)
    return {**found, "slopes by 8 levels": World(_factor(0.5), np.nan, null=False)}


NAMES = {"boosting": "boosting", "forest": "forest", "ridge": "splines, ridge"}
ONLY = {400: (".4 x a",)}  # of this size
COLUMNS = ["p_value", "estimate", "least", "bias", "f_test"]


def cells() -> list[tuple[str, int, str]]:
    """Return learner, size and world of every cell."""
    every = product((300, 400, 1000), NAMES, worlds())
    some = [(learner, n, w) for n, learner, w in every if w in ONLY.get(n, worlds())]
    return [(learner, n, w) for learner, n, w in some if w != "blocks" or n == 300]


def _products(data: pd.DataFrame) -> float:
    """Return P of the F test of the products of x with others in least squares."""
    others = " + ".join(data.columns.drop(["x", "y"]))
    few, many = (smf.ols(f"y ~ x {by} ({others})", data).fit() for by in "+*")
    return float(many.compare_f_test(few)[1])


def one_set(learner: str, n: int, world: str, k: int) -> list[dict[str, Any]]:
    """Return the numbers of x in one data set."""
    data, res = fitted(worlds()[world], LEARNERS[NAMES[learner]], n, k, OFFSET)
    found = res.estimate(replace(interactions(res.analysis.problem, "x"), diagnostic=None))
    rejected = found.pvalues["x"] < LEVEL  # else nobody needs the diagnostic, most of the work
    row = {
        "p_value": found.pvalues["x"],
        "estimate": found.params["x"],
        "least": found.conf_int().iloc[0, 0],
        "bias": res.interactions("x").diagnostics[0].params["x"] if rejected else np.nan,
        "f_test": _products(data),
    }
    return [row]


def summarize(data: pd.DataFrame) -> pd.DataFrame:
    """Return, for every cell, shares of data sets and their number."""
    every = worlds()
    data["share"] = data["world"].map({name: one.share for name, one in every.items()})
    data["null"] = data["world"].map({name: one.null for name, one in every.items()})
    data["rejects"] = (data["p_value"] < LEVEL).astype(float)
    data["silent"] = data["rejects"] * (data["bias"] <= LARGEST_BIAS)
    data["F_test"] = (data["f_test"] < LEVEL).astype(float)
    holds = (data["least"] <= data["share"] + 1e-12).astype(float)
    data["holds"] = holds.where(data["share"].notna())
    table = data.groupby(["n", "world", "learner"], sort=False).agg(
        sets=("set", "size"),
        null=("null", "first"),
        rejects=("rejects", "mean"),
        rejects_unmarked=("silent", "mean"),
        F_of_products=("F_test", "mean"),
        share=("share", "first"),
        mean_limit=("least", "mean"),
        limit_holds=("holds", "mean"),
    )
    return table.round(4).reset_index().sort_values(["n", "null", "world", "learner"])


if __name__ == "__main__":
    main(SUMMARY, cells(), one_set, COLUMNS, summarize)
