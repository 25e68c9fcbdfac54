"""A photograph: some 400 numbers of every estimand, engine, plan and variance.

``python tests/photograph/photograph.py`` writes ``photograph.csv``, one number a line. It is taken
before code is moved, and compared afterwards: what is computed must not change with where it is
written.
"""

import importlib.metadata
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.ensemble import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi

FILE = Path(__file__).with_name("photograph.csv")
PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy", "statsmodels", "patsy")


@cache
def data():
    """80 rows: numbers x, z, w, categories g, and responses of every kind."""
    rng = np.random.default_rng(20)
    n = 80
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["x", "z", "w"])
    frame["w"] = 0.6 * frame["x"] + 0.8 * frame["w"]
    frame["g"] = pd.Categorical(rng.choice(["a", "b", "c"], n))
    signal = frame["x"] + frame["z"] ** 2 + (frame["g"] == "b") + frame["x"] * frame["z"]
    frame["y"] = signal + rng.normal(size=n)
    frame["two"] = np.where(signal + rng.logistic(size=n) > 1, "yes", "no")
    frame["three"] = pd.cut(frame["y"], [-np.inf, 0.5, 2, np.inf], labels=["low", "mid", "high"])
    frame["count"] = rng.poisson(np.exp(0.3 * frame["x"] + 0.2))
    return frame


LEARNERS = {
    "linear": ("y ~ x + z + w + g", LinearRegression),
    "splines": ("y ~ x*z + bs(w, df=4)", LinearRegression),
    "forest": ("y ~ x + z + w + g", lambda: RandomForestRegressor(8, random_state=1)),
    "boosting": ("y ~ x + z + w", lambda: GradientBoostingRegressor(n_estimators=12)),
    "neighbors": ("y ~ x + z + w", lambda: make_pipeline(StandardScaler(), KNeighborsRegressor(5))),
    "logistic": ("two ~ x + z + g", LogisticRegression),
    "classes": ("three ~ x + z", lambda: RandomForestClassifier(6, random_state=1)),
    "poisson": (
        "count ~ x + z",
        lambda: pi.statsmodels_learner(sm.GLM, family=sm.families.Poisson()),
    ),
}
PLANS = {
    "halves": lambda: pi.HalfSampling(3, pairs=5),
    "bootstrap": lambda: pi.Bootstrap(4),
    "subsampling": lambda: pi.Subsampling(4),
    "folds": lambda: pi.CrossValidation(4),
    "holdout": lambda: pi.Holdout(0.6),
    "nested bootstrap": lambda: pi.NestedBootstrap(20),
}


@cache
def results(learner, plan):
    """A learner of the list, fitted under a plan; `model` is one fitted model."""
    formula, estimator = LEARNERS[learner]
    chosen = pi.Learner.from_formula(formula, data(), estimator())
    if plan == "model":
        fitted = chosen.fit_model(seed=3)
        # As if the rows were new: losses of those that trained a model have no limits.
        one = fitted.analysis
        fitted.analysis = replace(one, context=replace(one.context, where="evaluation rows"))
        return fitted
    return chosen.fit(PLANS[plan](), seed=3, progress=False)


Ask = Callable[[Any], Any]
BASIC = {
    "loss": lambda r: r.loss(),
    "explained": lambda r: r.loss(relation="explained"),
    "pfi": lambda r: r.pfi(),
    "pd": lambda r: r.pd("x", points=3),
}
DEEPER = {
    "pd grid": lambda r: r.pd(["x", "z"], points=2),
    "pd centered": lambda r: r.pd("x", points=3, kind="c-ice"),
    "pd slopes": lambda r: r.pd("x", points=3, kind="d-ice"),
    "firm": lambda r: r.firm(points=4),
    "vint": lambda r: r.vint(points=3),
    "h": lambda r: r.h_statistic(most_rows=12),
    "h pairs": lambda r: r.h_statistic(order="pairwise", most_rows=12),
    "h total": lambda r: r.h_statistic(order="total", most_rows=12),
    "mvim": lambda r: r.mvim(),
    "cvim": lambda r: r.cvim(),
    "cvim subgroup": lambda r: r.cvim("x", sampler="subgroup"),
    "amvim": lambda r: r.amvim(),
    "amvim additive": lambda r: r.amvim(["x", "z"], method="additive"),
    "positivity": lambda r: r.positivity(),
    "pfi ratio": lambda r: r.pfi(relation="ratio"),
    "pfi absolute": lambda r: r.pfi(loss="absolute"),
    "pfi rmse": lambda r: r.pfi(metric="rmse", permutations=3),
    "pfi some": lambda r: r.pfi(permutations=5),
    "pfi conditional": lambda r: r.pfi(sampler="conditional", permutations=5),
    "importance": lambda r: r.importance(["pfi", "cvim"]),
    "causal": lambda r: r.causal("x", points=3),
}
OTHERS = [
    ("splines", "folds", "loco", lambda r: r.loco()),
    ("linear", "folds", "loco", lambda r: r.loco()),
    ("splines", "folds", "native", lambda r: r.native_importance()),
    ("linear", "folds", "native", lambda r: r.native_importance()),
    ("forest", "halves", "native", lambda r: r.native_importance()),
    ("neighbors", "halves", "knockoff", lambda r: r.pfi("x", sampler="knockoff")),
    ("neighbors", "model", "knockoff", lambda r: r.pfi("x", sampler="knockoff")),
    ("classes", "folds", "logit", lambda r: r.pd("x", points=3, scale="centered-logit")),
    ("logistic", "folds", "log loss", lambda r: r.pfi(loss="log")),
    ("logistic", "folds", "roc_auc", lambda r: r.pfi(metric="roc_auc")),
]
VARIANCES = {
    "halves": ("half-sample", "corrected", "naive"),
    "nested bootstrap": ("bootstrap",),
    "model": ("ustat", "rows"),
}
OPTIONS = [
    {},
    {"alternative": "greater"},
    {"p_adjust": "holm"},
    {"p_adjust": "bonferroni"},
    {"simultaneous": True},
]


def asked():
    """Yield learner, plan, name of the question, and the question."""
    for learner, plan in product(LEARNERS, ("halves", "model")):
        for name, ask in BASIC.items():
            yield learner, plan, name, ask
    for plan in PLANS.keys() - {"halves"}:
        yield "linear", plan, "pfi", BASIC["pfi"]
        yield "linear", plan, "pd", BASIC["pd"]
    for learner, plan in product(("linear", "forest", "neighbors"), ("halves", "model")):
        for name, ask in DEEPER.items():
            yield learner, plan, name, ask
    yield from OTHERS
    for plan, types in VARIANCES.items():
        for cov_type, options in product(types, OPTIONS):
            every = {"cov_type": cov_type, **options}
            yield "linear", plan, f"pfi {every}", partial(_pfi, every)


def _pfi(options, fitted):
    return fitted.pfi(**options)


def questions():
    """What is asked: a name, and a function that gives the answer."""
    return {
        f"{learner}, {plan}: {name}": partial(_answer, learner, plan, ask)
        for learner, plan, name, ask in sorted(asked(), key=lambda question: question[:3])
    }


def _answer(learner, plan, ask):
    return ask(results(learner, plan))


COLUMNS = ("estimate", "conf_low")


def numbers_of(answer):
    """Estimate and lower limit of the middle term; missing ones left out."""
    parts = [answer]
    if not hasattr(answer, "summary_frame"):  # of a causal reading
        parts = [answer.effects, answer.importance, answer.share]
    frame = pd.concat([part.summary_frame() for part in parts])
    row = frame.iloc[len(frame) // 2]
    kept = {f"{row.name}, {column}": row[column] for column in COLUMNS}
    return pd.Series({name: value for name, value in kept.items() if np.isfinite(value)})


def versions():
    """Versions of the packages behind the numbers."""
    return {name: importlib.metadata.version(name) for name in PACKAGES}


if __name__ == "__main__":
    lines = [
        (question, name, repr(float(value)))
        for question, ask in questions().items()
        for name, value in numbers_of(ask()).items()
    ]
    head = " ".join(f"{name}={version}" for name, version in versions().items())
    table = pd.DataFrame(lines, columns=["question", "number", "value"])
    FILE.write_text(
        f"# {head}\n{table.to_csv(index=False, lineterminator=chr(10))}", encoding="utf-8"
    )
    print(f"{len(table)} numbers")
