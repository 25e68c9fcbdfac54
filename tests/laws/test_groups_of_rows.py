"""`rows=` and `by=` are the same fitted models on some of their rows: nothing is fitted anew."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi

EXACT = 1e-12


def _data(n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    x = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    sex = np.where(rng.random(n) < 0.4, "f", "m")
    y = x["a"] * np.where(sex == "f", 2.0, 0.5) + x["b"] ** 2 + 0.3 * rng.normal(size=n)
    return x.assign(sex=sex, y=y, id=np.arange(n) // 3)


DATA = _data()
FEMALE = (DATA["sex"] == "f").to_numpy()
GRID = [-1.0, 0.0, 1.0]
MODELS = {
    "linear": LinearRegression(),
    "trees": RandomForestRegressor(5, max_depth=3, random_state=0),
    "batched": KNeighborsRegressor(5),
}
ESTIMANDS: dict[str, Any] = {
    "pfi": lambda r, **o: r.pfi(**o),
    "pfi ratio": lambda r, **o: r.pfi(relation="ratio", permutations=3, **o),
    "pfi rmse": lambda r, **o: r.pfi(metric="rmse", **o),
    "mvim": lambda r, **o: r.mvim(**o),
    "pd": lambda r, **o: r.pd("a", grid=GRID, **o),
    "c-ice": lambda r, **o: r.pd("a", grid=GRID, kind="c-ice", **o),
    "ale": lambda r, **o: r.ale("a", **o) if hasattr(r, "ale") else r.loss(**o),
    "firm": lambda r, **o: r.firm(["a", "b"], grid={"a": GRID, "b": GRID}, **o),
    "vint": lambda r, **o: r.vint([("a", "b")], grid={"a": GRID, "b": GRID}, **o),
    "h": lambda r, **o: r.h_statistic(**o),
    "loss": lambda r, **o: r.loss(**o),
}


def _model(name: str, data: pd.DataFrame) -> pi.FittedModel:
    fitted = MODELS[name].fit(DATA[["a", "b", "c"]], DATA["y"])
    return pi.FittedModel(fitted, data[["a", "b", "c"]], data["y"], seed=1)


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("model", MODELS)
def test_rows_are_those_of_a_model_on_filtered_rows(model: str, estimand: str) -> None:
    ask = ESTIMANDS[estimand]
    part = ask(_model(model, DATA), rows=FEMALE)
    alone = ask(_model(model, DATA[FEMALE]))
    np.testing.assert_allclose(part.params, alone.params, rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(part.bse, alone.bse, rtol=1e-9, atol=EXACT)
    assert part.df_resid == alone.df_resid


PLANS = {
    "half-sample": (pi.HalfSampling(3, pairs=4), "half-sample"),
    "corrected": (pi.Bootstrap(4), "corrected"),
    "naive": (pi.Bootstrap(4), "naive"),
    "nested-cv": (pi.NestedCrossValidation(3, repeats=1), "nested-cv"),
    "bootstrap": (pi.NestedBootstrap(6), "bootstrap"),
    "bootstrap-bca": (pi.NestedBootstrap(6), "bootstrap-bca"),
    "ustat": (pi.Holdout(0.5), "ustat"),
    "rows": (pi.Holdout(0.5), "rows"),
    "clusters": (pi.Holdout(0.5, cluster="id"), "ustat"),
}


def _fit(plan: str) -> pi.LearnerResults:
    learner = pi.Learner.from_formula("y ~ a + b + c", DATA, DecisionTreeRegressor(max_depth=3))
    return learner.fit(PLANS[plan][0], seed=2)


@pytest.mark.parametrize("plan", PLANS)
def test_by_has_the_numbers_of_rows_under_every_variance(plan: str) -> None:
    results, cov_type = _fit(plan), PLANS[plan][1]
    by = results.pfi(by="sex", cov_type=cov_type)
    assert list(by.params.index) == [f"{v} | {s}" for s in "fm" for v in "abc"]
    for level in "fm":
        alone = results.pfi(rows=f"sex == '{level}'", cov_type=cov_type)
        terms = [f"{v} | {level}" for v in "abc"]
        np.testing.assert_allclose(by.params[terms], alone.params, rtol=EXACT)
        np.testing.assert_allclose(
            by.cov_params().loc[terms, terms], alone.cov_params(), rtol=1e-9, atol=1e-14
        )
    eigenvalues = np.linalg.eigvalsh(by.cov_params())
    assert eigenvalues.min() > -1e-10 * eigenvalues.max()


@pytest.mark.parametrize("estimand", [*ESTIMANDS, "loco", "cvim", "amvim", "positivity"])
def test_by_serves_every_estimand_and_survives_pickle(estimand: str) -> None:
    ask = ESTIMANDS.get(estimand, lambda r, **o: getattr(r, estimand)(**o))
    results = _fit("corrected")
    by = pickle.loads(pickle.dumps(ask(results, by="sex")))
    alone = ask(results, rows=~FEMALE)
    half = len(by.params) // 2
    np.testing.assert_allclose(by.params[half:], alone.params, rtol=EXACT)
    assert " | f" in str(by.summary())
    by.plot().draw()
