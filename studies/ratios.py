"""How often intervals of ratios, and of rare counts, cover what a learner is expected to predict.

    python studies/ratios.py SETS

Logistic and Poisson regression, n = 150, the default plan (45 refits). The truth is of the mean
curve over learners that are trained on as many new rows as a refit has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, PoissonRegressor

import pyinterp as pi

N, FITS, EVALUATED = 150, 1000, 1000
LEARNERS = {"hit": LogisticRegression(C=1e3), "count": PoissonRegressor(alpha=1e-3, max_iter=500)}


def draw(rng: np.random.Generator, n: int, response: str) -> pd.DataFrame:
    """Return n rows of one process: a risk of about 0.3, or counts of about 0.9."""
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["x", "b", "c"])
    if response == "hit":
        data["x"] = (rng.uniform(size=n) < 0.4).astype(float)
        logit = -1.2 + 0.8 * data["x"] + 0.6 * data["b"]
        return data.assign(hit=(rng.logistic(size=n) < logit).astype(int))
    return data.assign(count=rng.poisson(np.exp(-0.5 + 0.8 * data["x"] + 0.3 * data["b"])))


def truth(rng: np.random.Generator, response: str, values: list[float], n: int) -> np.ndarray:
    """Return the expected curve of learners that are trained on n rows."""
    model, curves = LEARNERS[response], []
    for _ in range(FITS):
        train, rows = draw(rng, n, response), draw(rng, EVALUATED, response)[["x", "b", "c"]]
        model.fit(train[["x", "b", "c"]], train[response])
        predict = model.predict_proba if response == "hit" else model.predict
        curve = [np.asarray(predict(rows.assign(x=value))) for value in values]
        curves.append([p[:, 1].mean() if response == "hit" else p.mean() for p in curve])
    return np.mean(curves, axis=0)


def covered(
    response: str, values: list[float], sets: int, ask: Callable[..., dict]
) -> pd.DataFrame:
    """Return, for every interval that is asked for, how often it covers, and its lower limits."""
    rng = np.random.default_rng(3)
    rows, expected = [], None
    for k in range(sets):
        data = draw(rng, N, response)
        learner = pi.Learner.from_formula(f"{response} ~ x + b + c", data, LEARNERS[response])
        results = learner.fit(seed=k, progress=False)
        if expected is None:
            n_train = results.analysis.context.n_train
            expected = truth(np.random.default_rng(4), response, values, int(n_train))
        for name, (low, high, of) in ask(results.pd("x", grid=values)).items():
            value = of(expected)
            rows.append((name, low <= value <= high, value > high, low, high - low))
    frame = pd.DataFrame(rows, columns=["interval", "covers", "missed above", "low", "width"])
    table = frame.groupby("interval").agg(
        covers=("covers", "mean"), above=("missed above", "mean"), smallest=("low", "min")
    )
    return table.assign(error=lambda t: np.sqrt(t["covers"] * (1 - t["covers"]) / sets))


def of_risks(curve: pi.EstimandResults) -> dict:
    """Return intervals of the risk difference, risk ratio and odds ratio."""
    odds = {
        "difference": lambda p: p[1] - p[0],
        "ratio": lambda p: p[1] / p[0],
        "odds ratio": lambda p: p[1] / (1 - p[1]) / (p[0] / (1 - p[0])),
    }
    found = {}
    for relation, of in odds.items():
        low, high = curve.differences(relation=relation).conf_int().iloc[0]
        found[relation] = (low, high, of)
    return found


def of_counts(curve: pi.EstimandResults) -> dict:
    """Return intervals of the curve's points, on the scale of its range and on the plain one."""
    plain, half = curve.params, 2.131449545559323 * curve.bse  # of t with 15 degrees of freedom
    found = {}
    for j, term in enumerate(curve.exog_names):
        low, high = curve.conf_int().iloc[j]
        found[f"{term}, as printed"] = (low, high, lambda p, j=j: p[j])
        ends = plain.iloc[j] - half.iloc[j], plain.iloc[j] + half.iloc[j]
        found[f"{term}, plain"] = (*ends, lambda p, j=j: p[j])
    return found


if __name__ == "__main__":
    number = int(sys.argv[1])
    print(covered("hit", [0.0, 1.0], number, of_risks).round(3))
    print(covered("count", [-2.0, 1.0], number, of_counts).round(3))
