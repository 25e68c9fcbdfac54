"""How often `population()` covers, and rejects, what is true of simulated worlds.

It is run as `studies/turns.py` says. The summary goes to `studies/results/population.csv`, with the
number of data sets in every row; `bias` there is in widths of intervals. Nothing in the package was
tuned on these data sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy import stats
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from turns import main  # beside this file

import pyinterp as pi
from pyinterp.estimands.population import LARGEST_BIAS

SUMMARY = Path(__file__).parent / "results" / "population.csv"
MILLION = 1_000_000
TREES = {"num_leaves": 8, "min_child_samples": 12, "verbose": -1, "n_jobs": 1}
FOREST = {"n_estimators": 50, "min_samples_leaf": 5, "n_jobs": 1}
LEARNERS: dict[str, tuple[Any, Any]] = {
    "boosting": (
        LGBMRegressor(n_estimators=60, learning_rate=0.08, **TREES),
        LGBMClassifier(n_estimators=40, learning_rate=0.08, **TREES),
    ),
    "forest": (
        RandomForestRegressor(max_features=0.6, **FOREST),
        RandomForestClassifier(max_features=0.6, **FOREST),
    ),
    "splines, ridge": (
        make_pipeline(
            StandardScaler(),
            SplineTransformer(5),
            PolynomialFeatures(2, interaction_only=True),
            RidgeCV(np.logspace(-1, 4, 6)),
        ),
        make_pipeline(StandardScaler(), SplineTransformer(5), LogisticRegression(C=0.3)),
    ),
    "linear": (LinearRegression(), LogisticRegression()),
}


@dataclass(frozen=True)
class World:
    """A law of data, with the truth of some terms: coefficient, and share of V(y)."""

    draw: Callable[[np.random.Generator, int], pd.DataFrame]
    truth: dict[str, tuple[float, float]]
    classifier: bool = False
    cluster: str | None = None
    weights: str | None = None


def expit(t: Any) -> Any:
    """Return the probability of a log odds."""
    return 1 / (1 + np.exp(-t))


def _constant(rng: np.random.Generator, n: int, noise: Any = None) -> pd.DataFrame:
    a, b, e, e2 = rng.normal(size=(4, n))
    x = 0.6 * a + 0.8 * e
    data = pd.DataFrame({"x": x, "null": 0.8 * x + 0.6 * e2, "a": a, "b": b})
    noise = rng.normal(size=n) if noise is None else noise(rng, n)
    return data.assign(y=(1 + 0.5 * b) * x + np.sin(2 * a) + 0.5 * b**2 + noise)


def _lognormal(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """The same with errors of variance 1 that are lognormal."""
    sd = np.sqrt((np.e - 1) * np.e)
    return _constant(rng, n, lambda r, k: (r.lognormal(size=k) - np.exp(0.5)) / sd)


def _changing(rng: np.random.Generator, n: int) -> pd.DataFrame:
    a, b, e, e2 = rng.normal(size=(4, n))
    x = 0.6 * a + 0.8 * np.exp(0.4 * b - 0.16) * e
    null = 0.7 * (a**2 - 1) / np.sqrt(2) + 0.7 * e2
    y = (1 + 0.5 * b) * x + np.sin(2 * a) + 0.5 * b**2 + rng.normal(size=n)
    return pd.DataFrame({"x": x, "null": null, "a": a, "b": b, "y": y})


def _shares(a: Any, b: Any) -> Any:
    p = np.exp(np.column_stack([0 * a, 0.8 * a, 0.8 * b]))
    return p / p.sum(axis=1, keepdims=True)


def _levels(rng: np.random.Generator, n: int) -> pd.DataFrame:
    a, b = rng.normal(size=(2, n))
    g = (rng.random(n)[:, None] > _shares(a, b).cumsum(axis=1)).sum(axis=1)
    y = np.where(g == 2, 1 + a, 0.0) + a + 0.5 * b**2 + rng.normal(size=n)
    return pd.DataFrame({"g": np.array(list("pqr"))[g], "a": a, "b": b, "y": y})


def _binary(rng: np.random.Generator, n: int) -> pd.DataFrame:
    a, b, e = rng.normal(size=(3, n))
    x = 0.6 * a + 0.8 * e
    y = rng.random(n) < expit(0.8 * x + a - 0.5 * b)
    return pd.DataFrame({"x": x, "a": a, "b": b, "y": y.astype(int)})


def _clusters(rng: np.random.Generator, n: int) -> pd.DataFrame:
    unit = np.repeat(np.arange(n // 5), 5)
    c, d = rng.normal(size=(2, n // 5))[:, unit]
    a, b, e = rng.normal(size=(3, n))
    x = 0.6 * a + 0.5 * c + 0.62 * e
    y = x + np.sin(2 * a) + 0.5 * b**2 + 0.7 * d + rng.normal(size=n)
    return pd.DataFrame({"x": x, "a": a, "b": b, "y": y, "unit": unit})


def _high(rng: np.random.Generator, n: int) -> pd.DataFrame:
    a, b, e = rng.normal(size=(3, n))
    x = np.sqrt(0.85) * a + np.sqrt(0.15) * e
    y = x + np.sin(2 * a) + 0.5 * b**2 + rng.normal(size=n)
    return pd.DataFrame({"x": x, "a": a, "b": b, "y": y})


def _twin(rng: np.random.Generator, n: int) -> pd.DataFrame:
    x, b, e = rng.normal(size=(3, n))
    y = x + 0.5 * b**2 + rng.normal(size=n)
    return pd.DataFrame({"null": 0.9 * x + np.sqrt(0.19) * e, "x": x, "b": b, "y": y})


def _noise(rng: np.random.Generator, n: int) -> pd.DataFrame:
    a, b, e = rng.normal(size=(3, n))
    null = 0.6 * a + 0.8 * e
    y = a + 0.5 * b**2 + (0.3 + np.abs(null)) * rng.normal(size=n)
    return pd.DataFrame({"null": null, "a": a, "b": b, "y": y})


def _square(rng: np.random.Generator, n: int) -> pd.DataFrame:
    a, b, c, e = rng.normal(size=(4, n))
    null = 0.7 * (a**2 - 1) / np.sqrt(2) + 0.7 * e
    return pd.DataFrame(
        {"null": null, "a": a, "b": b, "c": c, "y": 1.5 * a**2 + b + rng.normal(size=n)}
    )


def _weak(rng: np.random.Generator, n: int) -> pd.DataFrame:
    a, b, e = rng.normal(size=(3, n))
    x = 0.6 * a + 0.8 * e
    y = 0.25 * x + np.sin(2 * a) + 0.5 * b**2 + rng.normal(size=n)
    return pd.DataFrame({"x": x, "a": a, "b": b, "y": y})


def _interaction(rng: np.random.Generator, n: int) -> pd.DataFrame:
    a, b, x = rng.normal(size=(3, n))
    y = a + 0.6 * x * np.sign(a) + 0.5 * b + rng.normal(size=n)
    return pd.DataFrame({"x": x, "a": a, "b": b, "y": y})


def _both(
    f: Callable[[Any], Any], a: float, b: float, others: int, slope: float = 0.0
) -> Callable[..., pd.DataFrame]:
    """Return a world where y and x depend on one function of the others, with a slope of x."""

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        z = rng.normal(size=(n, others))
        x = b * f(z) + rng.normal(size=n)
        y = slope * x + a * f(z) + rng.normal(size=n)
        return _frame(z).assign(x=x, y=y)

    return draw


def _frame(z: Any) -> pd.DataFrame:
    return pd.DataFrame(z, columns=[f"z{j}" for j in range(z.shape[1])])


def _linear(
    texts: int, numbers: int, tails: float = 1e9, levels: int = 3
) -> Callable[..., pd.DataFrame]:
    """Return a linear world with texts and numbers, where lm is right."""

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        z, codes = rng.normal(size=(n, numbers)), rng.integers(levels, size=(n, texts))
        x = 0.5 * z[:, 0] + rng.standard_t(tails, size=n)
        effects = np.linspace(-1, 1.5, levels)[codes].sum(axis=1)
        y = 2 * x - z[:, 0] + effects + rng.standard_t(tails, size=n)
        data = _frame(z).assign(x=x, y=y)
        return data.assign(
            **{f"t{j}": np.array(list("abcdefgh"))[c] for j, c in enumerate(codes.T)}
        )

    return draw


def _tight(share: float) -> Callable[..., pd.DataFrame]:
    """Return a world where the others explain a share of x, not linearly."""

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        z = rng.normal(size=(n, 3))
        curve = np.tanh(1.5 * z[:, 0])
        x = curve + 0.5 * z[:, 1] + np.sqrt(0.77 * (1 / share - 1)) * rng.normal(size=n)
        return _frame(z).assign(x=x, y=x + curve + z[:, 2] + rng.normal(size=n))

    return draw


def _few_clusters(count: int) -> Callable[..., pd.DataFrame]:
    """Return a world of few clusters, of which x, y and a null have parts of their own."""

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        unit = np.arange(n) % count
        u, c, d = rng.normal(size=(3, count))[:, unit]
        z = rng.normal(size=n) + 0.7 * c
        x = c + 0.3 * rng.normal(size=n) + 0.3 * z
        y, null = x + z + u + rng.normal(size=n), d + 0.3 * rng.normal(size=n)
        return pd.DataFrame({"x": x, "null": null, "z": z, "y": y, "unit": unit})

    return draw


def _rare(share: float) -> Callable[..., pd.DataFrame]:
    """Return a world with a null and few events."""

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        z = rng.normal(size=(n, 3))
        log_odds = np.log(share / (1 - share)) + z[:, 0] + 0.5 * z[:, 1]
        null = 0.7 * z[:, 0] + rng.normal(size=n)
        return _frame(z).assign(null=null, y=(rng.random(n) < expit(log_odds)).astype(int))

    return draw


def _sampled(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Rows whose effect is large are sampled often: only weighted slopes have their mean."""
    z = rng.normal(size=(10 * n, 2))
    x = 0.5 * z[:, 0] + rng.normal(size=10 * n)
    y = (1 + z[:, 1]) * x + z[:, 0] + rng.normal(size=10 * n)
    p = expit(1.5 * z[:, 1])
    some = rng.choice(10 * n, n, replace=False, p=p / p.sum())
    return _frame(z).assign(x=x, y=y, w=1 / p).iloc[some].reset_index(drop=True)


def _product(z: Any) -> Any:
    return z[:, 0] * z[:, 1]


def _friedman(z: Any) -> Any:
    u = stats.norm.cdf(z)
    f = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3]
    return (f + 5 * u[:, 4] - 14) / 5


def _of_levels() -> dict[str, tuple[float, float]]:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, MILLION))
    p = _shares(a, b)
    weight = p[:, 2] * p[:, 0] / (p[:, 2] + p[:, 0])
    effect = float((weight * (1 + a)).sum() / weight.sum())
    between = p[:, 2] * (1 - p[:, 2]) * (1 + a) ** 2
    share = float(between.mean() / _levels(rng, MILLION)["y"].var())
    return {"g[q - p]": (0.0, np.nan), "g[r - p]": (effect, np.nan), "g": (np.nan, share)}


def _of_binary() -> dict[str, tuple[float, float]]:
    rng = np.random.default_rng(0)
    a, b, e, other = rng.normal(size=(4, MILLION))
    high, low, new = (expit(0.8 * (0.6 * a + 0.8 * v) + a - 0.5 * b) for v in (e, -e, other))
    slope = float(np.mean(0.8 * e * (high - low) / 2) / 0.64)
    share = float(np.mean((high - new) ** 2) / 2 / (high.mean() * (1 - high.mean())))
    return {"x": (slope, share)}


def _variance(draw: Callable[..., pd.DataFrame]) -> float:
    return float(draw(np.random.default_rng(0), MILLION)["y"].var())


@cache
def worlds() -> dict[str, World]:
    """Return all worlds, with truths that are known or means of a million rows."""
    left = 1 / (1 / 0.64 + 0.64 / 0.36)  # V(x | others) where `null` is one of them
    null = {"null": (0.0, 0.0)}
    plain = {"x": (1.0, 1.25 * left / _variance(_constant)), **null}
    return {
        "constant spread": World(_constant, plain),
        "changing spread": World(_changing, {"x": (1.4, 1.4144 / _variance(_changing)), **null}),
        "three levels": World(_levels, _of_levels()),
        "binary y": World(_binary, _of_binary(), classifier=True),
        "clusters": World(_clusters, {"x": (1.0, 0.6344 / _variance(_clusters))}, cluster="unit"),
        "R²_j = .85": World(_high, {"x": (1.0, 0.15 / _variance(_high))}),
        "lognormal errors": World(_lognormal, plain),
        "null, correlation .9": World(_twin, null),
        "null, noise by it": World(_noise, null),
        "null, square": World(_square, null),
        "weak slope": World(_weak, {"x": (0.25, 0.04 / _variance(_weak))}),
        "interaction": World(_interaction, {"x": (0.0, 0.36 / _variance(_interaction))}),
        **_harder(),
    }


def _harder() -> dict[str, World]:
    """Return worlds that were wrong in silence, or are wrong still."""
    null, slope = {"x": (0.0, 0.0)}, {"x": (1.0, np.nan)}
    of_texts = {"x": (2.0, np.nan), "t0[b - a]": (1.25, np.nan), "t0[c - a]": (2.5, np.nan)}
    functions: dict[str, tuple[Callable[[Any], Any], float, float, int]] = {
        "product": (_product, 1, 1, 4),
        "product of 10": (_product, 1, 1, 10),
        "product of 19": (_product, 1, 1, 19),
        "product of 21": (_product, 1, 1, 21),
        "product of 30": (_product, 1, 1, 30),
        "no confounding, 21": (lambda z: 0 * z[:, 0], 1, 1, 21),
        "step": (lambda z: 1.0 * (z[:, 0] > 0), 4, 1.5, 4),
        "step at .8": (lambda z: 1.0 * (z[:, 0] > 0.8), 4, 1.5, 4),
        "sine": (lambda z: np.sin(3 * z[:, 0]), 3, 1, 4),
        "gate": (lambda z: 2.0 * (z[:, :2] > 0).all(axis=1), 1, 1, 10),
        "product of three": (lambda z: z[:, 0] * z[:, 1] * z[:, 2], 1, 1, 4),
        "Friedman": (_friedman, 1, 1, 6),
        "surface": (lambda z: 2 * np.sin(np.pi * stats.norm.cdf(z[:, :2]).prod(axis=1)), 1, 1, 6),
        "ratio": (lambda z: z[:, 0] / (0.5 + abs(z[:, 1])), 1, 1, 6),
        "exponential": (lambda z: np.exp((z[:, 0] + z[:, 1]) / 2), 1, 1, 6),
        "step of a sum": (lambda z: 2.0 * (z[:, 0] + z[:, 1] > 0.5), 1, 1, 6),
        "two signs": (lambda z: 2.0 * ((z[:, 0] > 0) != (z[:, 1] > 0)), 1, 1, 6),
    }
    return {
        "two texts": World(_linear(2, 1), of_texts),
        "three texts": World(_linear(3, 1), of_texts),
        "texts of 8": World(_linear(2, 1, levels=8), {"x": (2.0, np.nan)}),
        "five numbers": World(_linear(0, 5), {"x": (2.0, np.nan)}),
        "heavy tails": World(_linear(0, 4, tails=3), {"x": (2.0, np.nan)}),
        "5 of 30": World(_both(lambda z: z[:, :5].sum(axis=1), 1, 0.5, 30, 1.0), slope),
        **{name: World(_both(f, a, b, p), null) for name, (f, a, b, p) in functions.items()},
        **{f"R²_j = {share:g}": World(_tight(share), slope) for share in (0.8, 0.9, 0.95, 0.97)},
        **{
            f"{count} clusters": World(
                _few_clusters(count), {**slope, "null": (0.0, 0.0)}, cluster="unit"
            )
            for count in (12, 25, 50)
        },
        **{
            f"{share:.0%} events": World(_rare(share), {"null": (0.0, 0.0)}, classifier=True)
            for share in (0.03, 0.1, 0.5)
        },
        "informative sampling": World(_sampled, slope, weights="w"),
    }


COLUMNS = ["estimate", "std_error", "conf_low", "conf_high", "p_value"]
OF_TERMS = ["term", "slope", "share", *COLUMNS, "least", "relevant", "r2", "bias"]
# Rows, where they are not 500.
ROWS = {
    "two texts": 360,
    "three texts": 360,
    "five numbers": 360,
    "heavy tails": 400,
    "5 of 30": 200,
    "12 clusters": 144,
    "25 clusters": 300,
    "50 clusters": 600,
    "3% events": 1000,
}
# The same in more rows, of the linear learner.
MORE_ROWS = {"two texts": 1000, "five numbers": 1000, "product of 21": 2000, "product of 30": 2000}
# Harder worlds of all learners; the linear one has them all.
EVERY_LEARNER = {"two texts", "five numbers", "product of 21", "product of three", "Friedman"}
SEED = 58


def cells() -> list[tuple[str, int, str]]:
    """Return learner, size and world of every cell."""
    every = {"linear": worlds(), "boosting": _few(), "forest": _few()}
    found = [(name, ROWS.get(w, 500), w) for name, some in every.items() for w in some]
    return found + [("linear", n, w) for w, n in MORE_ROWS.items()]


def _few() -> list[str]:
    """Return the worlds of learners that are not linear."""
    return [w for w in worlds() if w not in _harder() or w in EVERY_LEARNER]


def one_set(learner: str, n: int, name: str, k: int) -> list[dict[str, Any]]:
    """Return the numbers of every term of one data set."""
    world = worlds()[name]
    data = world.draw(np.random.default_rng([n, k, SEED]), n)
    plan = pi.CrossValidation(5, cluster=world.cluster)
    apart = {None, world.cluster, world.weights} - {None}
    variables = data.columns.drop(["y", *apart])
    model = pi.Learner.from_formula(
        f"y ~ {' + '.join(variables)}",
        data,
        LEARNERS[learner][world.classifier],
        weights=world.weights,
        weights_type=world.weights and "sampling",
    )
    asked = sorted({term.partition("[")[0] for term in world.truth})
    fits = model.fit(plan, seed=k, progress=False)
    found = fits.population(asked)
    excess = ols = None
    if learner == "linear" and not world.classifier:
        targets = fits.compare_targets(asked)
        t = targets.params / targets.bse
        excess = pd.Series(2 * stats.norm.sf(abs(t)), t.index)
        ols = smf.ols(f"y ~ {' + '.join(variables)}", data).fit().bse
    frame, limits = found.summary_frame(), found.importance.conf_int()[0]
    # One-sided limits of the table are at 95%.
    rows = []
    for term, (slope, share) in world.truth.items():
        row = {"term": term, "slope": slope, "share": share}
        if term in frame.index:
            row |= frame.loc[term, COLUMNS].to_dict()
        if term in limits.index:
            row |= {
                "least": limits[term],
                "relevant": found.relevance.pvalues[term],
                "r2": found.diagnostics[0].params[term],
                "bias": found.diagnostics[1].params[term],
            }
            if excess is not None:
                row["excess_p"] = excess[f"{term}, excess"]
        if ols is not None and term in ols.index:
            row["ols_error"] = ols[term]
        rows.append(row)
    return rows


def summarize(data: pd.DataFrame) -> pd.DataFrame:
    """Return, for every cell and term, shares of data sets and their number."""
    data["covers"] = (data["conf_low"] <= data["slope"]) & (data["slope"] <= data["conf_high"])
    data["covers"] = data["covers"].astype(float).where(data["estimate"].notna())
    data["holds"] = (data["least"] <= data["share"] + 1e-12).astype(float)
    data["holds"] = data["holds"].where(data["least"].notna() & data["share"].notna())
    data["own"] = (data["p_value"] < 0.05).astype(float).where(data["p_value"].notna())
    data["rejects"] = (data["relevant"] < 0.05).astype(float).where(data["relevant"].notna())
    data["marked"] = (data["bias"] > LARGEST_BIAS).astype(float).where(data["bias"].notna())
    data["unmarked_covers"] = data["covers"].where(data["marked"] == 0)
    data["unmarked_P"] = data["rejects"].where(data["marked"] == 0)
    data["excess"] = (data["excess_p"] < 0.05).astype(float).where(data["excess_p"].notna())
    data["width"] = data["std_error"] / data["ols_error"]
    data["errors_off"] = (data["estimate"] - data["slope"]) / (data["conf_high"] - data["conf_low"])
    order = ["n", "world", "learner", "term"]
    table = data.groupby(order, sort=False).agg(
        sets=("set", "size"),
        coefficient=("slope", "first"),
        mean_estimate=("estimate", "mean"),
        R2_j=("r2", "mean"),
        bias=("errors_off", "mean"),
        covers=("covers", "mean"),
        own_P=("own", "mean"),
        share=("share", "first"),
        mean_limit=("least", "mean"),
        limit_holds=("holds", "mean"),
        P_relevant=("rejects", "mean"),
        marked=("marked", "mean"),
        covers_if_unmarked=("unmarked_covers", "mean"),
        P_if_unmarked=("unmarked_P", "mean"),
        width=("width", "mean"),
        excess_P=("excess", "mean"),
    )
    return table.round(3).reset_index()


if __name__ == "__main__":
    main(SUMMARY, cells(), one_set, [*OF_TERMS, "ols_error", "excess_p"], summarize)
