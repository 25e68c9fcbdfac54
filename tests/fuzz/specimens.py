"""Small valid data, learners and results: what inputs are made of, and run against.

An input is a Python expression over the names of `names()`, so that the expression alone
reproduces it: ``python tests/fuzz/reproduce.py "res.pd('no such')"``.
"""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd
import scipy.sparse
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hostile import HOSTILE
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import IsolationForest, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pyinterp as pi
from pyinterp_papers.processes import friedman1, wood_classification

N = 40
PLAN = pi.HalfSampling(2, pairs=5)


@cache
def _frame():
    """Return response `y`, classes `c`, numbers `x`, `z` > 0 and `k`, levels `g`, clusters `s`."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=N), rng.uniform(1, 3, size=N)
    g = rng.permutation(np.resize(["a", "b", "c"], N))
    y = x + np.log(z) + (g == "b") + rng.normal(size=N) / 2
    c = np.where(x + rng.logistic(size=N) > 0, "yes", "no")
    k, s = rng.integers(0, 4, size=N), np.repeat(np.arange(N // 4), 4)
    return pd.DataFrame({"y": y, "x": x, "z": z, "g": g, "k": k, "c": c, "s": s})


@cache
def _shared():
    """Return results, which no call changes."""
    d = _frame()
    x, y, c = d[["x", "z"]], d["y"], d["c"]
    learner = pi.Learner.from_formula("y ~ x + z + g", d, LinearRegression())
    classifier = pi.Learner.from_formula("c ~ x + z + g", d, LogisticRegression())
    three = pi.Learner.from_formula("g ~ x + z", d, GaussianNB())
    res, clf = learner.fit(PLAN, seed=1), classifier.fit(PLAN, seed=1)
    fm = pi.FittedModel(LinearRegression().fit(x, y), x, y, seed=1)
    tree = pi.Learner.from_formula("y ~ x + z + g", d, DecisionTreeRegressor(max_depth=3)).fit(
        PLAN, seed=1
    )
    tree.pfi(metric="rmse")
    tree.pfi()  # kernels are compiled here, and not on an input's time
    boot = learner.fit(pi.Bootstrap(4), seed=1)
    return {
        "learner": learner,
        "classifier": classifier,
        "res": res,
        "clf": clf,
        "three": three.fit(pi.Bootstrap(3), seed=1),
        "boot": boot,
        "nested": learner.fit(pi.NestedBootstrap(60, splits=2), seed=1),
        "hold": learner.fit(pi.Holdout(0.6), seed=1),
        "fm": fm,
        "fclf": pi.FittedModel(LogisticRegression().fit(x, c), x, c, seed=1),
        "ftree": pi.FittedModel(DecisionTreeRegressor(max_depth=3).fit(x, y), x, y, seed=1),
        "pf": res.pfi(),
        "pf0": boot.pfi(),
        "pfg": res.pfi(by=np.where(np.arange(N) % 2, "a", "b")),
        "pdx": res.pd("x", points=4),
        "pdxg": res.pd(["x", "g"], points=3),
        "imp": res.importance(["mvim", "pfi"]),
        "cau": res.causal("x", points=3),
        "tree": tree,
        "ols": sm.OLS(y, sm.add_constant(x)).fit(),
        "ols_formula": smf.ols("y ~ x + z", d).fit(),
        "lin": LinearRegression().fit(x, y),
        "logit": LogisticRegression().fit(x, c),
        "process": friedman1(0),
        "wood": wood_classification(),
    }


def names():
    """Return the names of expressions; data and estimators are new in every call."""
    d = _frame().copy()
    fresh = {
        "d": d,
        "X": d[["x", "z"]].copy(),
        "y": d["y"].copy(),
        "c": d["c"].copy(),
        "A": d[["x", "z"]].to_numpy(copy=True),
        "LR": LinearRegression(),
        "LOGIT": LogisticRegression(),
        "TREE": DecisionTreeRegressor(max_depth=3, random_state=0),
    }
    return _MODULES | HOSTILE | _shared() | fresh


def bias(y, prediction):
    return prediction - y


def new_file():
    """Return a path at which there is no file yet."""
    return str(Path(mkdtemp()) / "new")


_MODULES = {
    "new_file": new_file,
    "np": np,
    "pd": pd,
    "pi": pi,
    "sm": sm,
    "smf": smf,
    "sparse": scipy.sparse,
    "LF": pi.Learner.from_formula,
    "PLAN": PLAN,
    "OWN": pi.mean_over_rows(bias, "bias", null=0.0),
    "N": N,
    **{
        kind.__name__: kind
        for kind in (
            DecisionTreeClassifier,
            DecisionTreeRegressor,
            DummyClassifier,
            DummyRegressor,
            GaussianNB,
            IsolationForest,
            KFold,
            KMeans,
            LinearRegression,
            LogisticRegression,
            OneHotEncoder,
            RandomForestRegressor,
            Ridge,
            StandardScaler,
        )
    },
    "make_pipeline": make_pipeline,
    "make_column_transformer": make_column_transformer,
}
