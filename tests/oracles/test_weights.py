"""Weights, offsets and exposures of statsmodels: as its own predictions have them, or refused."""

import naive
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from model_situations import ONCE

import pyinterp as pi
from pyinterp.errors import PyinterpError

few = settings(max_examples=5, derandomize=True, deadline=None, database=None, phases=ONCE)
POISSON = sm.families.Poisson()
seeds = st.integers(0, 999)


def counts(seed, spread):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=50), "z": rng.normal(size=50)})
    data["e"] = np.exp(spread * rng.normal(size=50)) * 10
    data["c"] = rng.poisson(np.exp(0.5 * data["x"]) * data["e"]).astype(float)
    return data


def fitted(data, way):
    log, e = np.log(data["e"]), data["e"]
    constant = sm.add_constant(data[["x", "z"]])
    fits = {
        "offset, formula": lambda: smf.glm("c ~ x + z", data, family=POISSON, offset=log),
        "exposure, formula": lambda: smf.glm("c ~ x + z", data, family=POISSON, exposure=e),
        "offset, arrays": lambda: sm.GLM(data["c"], constant, family=POISSON, offset=log),
        "exposure, arrays": lambda: sm.GLM(data["c"], constant, family=POISSON, exposure=e),
        "exposure, Poisson": lambda: sm.Poisson(data["c"], constant, exposure=e),
        "offset, NegativeBinomial": lambda: sm.NegativeBinomial(
            data["c"], constant, offset=log, loglike_method="nb1"
        ),
    }
    model = fits[way]()
    return model.fit() if isinstance(model, sm.GLM) else model.fit(disp=0)


WAYS = [
    "offset, formula",
    "exposure, formula",
    "offset, arrays",
    "exposure, arrays",
    "exposure, Poisson",
]


@pytest.mark.parametrize("way", WAYS)
@few
@given(seed=seeds, spread=st.sampled_from([0.0, 0.5, 2.0]))
def test_offsets_count(way, seed, spread):
    data = counts(seed, spread)
    results = fitted(data, way)
    rows = data[["x", "z"]] if "formula" in way else sm.add_constant(data[["x", "z"]])
    expected = naive.LOSSES["poisson"](data["c"].to_numpy(), np.asarray(results.predict()))
    log = np.log(data["e"])
    model = pi.FittedModel(results, rows, data["c"], offset=log)
    assert model.loss("poisson").params.iloc[0] == pytest.approx(expected.mean(), rel=1e-9)
    with pytest.raises(PyinterpError, match="fitted with an"):
        pi.FittedModel(results, rows, data["c"])


PLANS = [pi.Bootstrap(4), pi.Subsampling(4), pi.CrossValidation(4)]


@pytest.mark.parametrize("plan", PLANS, ids=["bootstrap", "subsampling", "folds"])
@few
@given(seed=seeds, ones=st.booleans())
def test_weights_go_with_their_rows(plan, seed, ones):
    """Every refit has the weights of its own rows, or weights of a fixed length are refused."""
    data = counts(seed, 0.5)
    weights = np.ones(50) if ones else data["e"].to_numpy() ** 2
    try:
        learner = pi.Learner.from_formula(
            "c ~ x + z", data, pi.statsmodels_learner(sm.WLS, weights=weights)
        )
        res = learner.fit(plan, seed=1, progress=False)
        got = res.loss().refit_frame().iloc[:, 0]
    except PyinterpError:
        return
    for refit, value in zip(res.refits, got, strict=True):
        train, rows = data.iloc[refit.train_rows], data.iloc[refit.evaluation.rows]
        results = smf.wls("c ~ x + z", train, weights=weights[refit.train_rows]).fit()
        assert value == pytest.approx(((rows["c"] - results.predict(rows)) ** 2).mean(), rel=1e-9)
