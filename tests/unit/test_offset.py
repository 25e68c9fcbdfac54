"""Offsets and exposures: every row keeps its own, through refits and what-if copies."""

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xgboost as xgb
from fits import fit_of, model_of, words_of
from numpy.testing import assert_allclose, assert_array_equal
from shared import normal_rows
from sklearn import get_config
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.errors import DataError, OptionError

POISSON = sm.families.Poisson()
FOLDS = KFold(3)


def counts(n=90):
    rng, data = normal_rows(n, "x z", 1)
    data["g"] = rng.choice(list("abc"), n)
    data["e"] = np.exp(1.5 * rng.normal(size=n)) * 10
    data["log_e"] = np.log(data["e"])
    data["c"] = rng.poisson(np.exp(0.5 * data["x"]) * data["e"]).astype(float)
    data["b"] = rng.binomial(1, 1 / (1 + np.exp(-data["x"] - data["log_e"] + 2)))
    data["y"] = data["x"] + data["log_e"] * 3 + rng.normal(size=n) + 20
    return data


def glm(**fit):
    return pi.statsmodels_learner(sm.GLM, family=POISSON, **fit)


def poisson_loss(y, mean):
    y, mean = np.asarray(y), np.asarray(mean)
    logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0)
    return float(2 * np.mean(logs - (y - mean)))


WAYS = {
    "exposure, column": lambda _: {"exposure": "e"},
    "exposure, array": lambda d: {"exposure": d["e"].to_numpy()},
    "offset, column": lambda _: {"offset": "log_e"},
    "offset, series": lambda d: {"offset": d["log_e"]},
}


@pytest.mark.parametrize("way", WAYS)
def test_refits_have_the_exposures_of_their_rows(way):
    data = counts()
    res = fit_of("c ~ x * g + z", data, glm(), FOLDS, **WAYS[way](data))
    losses = res.loss("poisson").refit_frame().iloc[:, 0]
    for refit, loss in zip(res.refits, losses, strict=True):
        train, rows = data.iloc[refit.train_rows], data.iloc[refit.evaluation.rows]
        by_hand = smf.glm("c ~ x * g + z", train, family=POISSON, exposure=train["e"]).fit()
        assert loss == pytest.approx(
            poisson_loss(rows["c"], by_hand.predict(rows, exposure=rows["e"])), rel=1e-9
        )


def test_curves_are_means_at_the_rows_exposures():
    data = counts()
    res = model_of("c ~ x * g + z", data, glm(), exposure="e")
    by_hand = smf.glm("c ~ x * g + z", data, family=POISSON, exposure=data["e"]).fit()
    curve = res.pd("x", grid=[-1.0, 0.5])
    expected = [by_hand.predict(data.assign(x=x), exposure=data["e"]).mean() for x in (-1.0, 0.5)]
    assert_allclose(curve.params, expected, rtol=1e-9)
    of_exposure = res.pd("log(e)", grid=[1.0]).params.iloc[0]
    assert of_exposure == pytest.approx(by_hand.predict(data, offset=np.ones(90)).mean(), rel=1e-9)
    assert list(res.pd(points=2)) == ["x", "z", "g"]


@pytest.mark.parametrize("model", ["poisson", "logit", "probit", "gaussian"])
def test_the_linear_engine_is_exact(model):
    data = counts()
    response, estimator = {
        "poisson": ("c", glm()),
        "logit": ("b", pi.statsmodels_learner(sm.Logit)),
        "probit": ("b", pi.statsmodels_learner(sm.Probit)),
        "gaussian": ("y", pi.statsmodels_learner(sm.GLM)),
    }[model]
    results = [
        fit_of(f"{response} ~ x * g + z", data, estimator, FOLDS, offset="log_e", engine=e)
        for e in ("linear", "batched")
    ]
    for ask in (lambda r: r.pfi(), lambda r: r.pd("x"), lambda r: r.loco("x")):
        one, other = map(ask, results)
        assert_allclose(one.params, other.params, rtol=1e-9, atol=1e-12)
        assert_allclose(one.bse, other.bse, rtol=1e-8, atol=1e-12)


def test_a_model_without_a_feature_keeps_the_offset():
    data = counts()
    loco = fit_of("c ~ x + z", data, glm(), FOLDS, exposure="e")
    differences = []
    for refit in loco.refits:
        train, rows = data.iloc[refit.train_rows], data.iloc[refit.evaluation.rows]
        losses = []
        for formula in ("c ~ z", "c ~ x + z"):
            by_hand = smf.glm(formula, train, family=POISSON, exposure=train["e"]).fit()
            losses.append(poisson_loss(rows["c"], by_hand.predict(rows, exposure=rows["e"])))
        differences.append(losses[0] - losses[1])
    got = loco.loco("x", loss="poisson").refit_frame().iloc[:, 0]
    assert_allclose(got, differences, rtol=1e-8)


BOOSTED = {
    "xgboost": lambda: xgb.XGBRegressor(n_estimators=8, max_depth=2),
    "lightgbm": lambda: lgb.LGBMRegressor(n_estimators=8, n_jobs=1, verbose=-1),
}


@pytest.mark.parametrize("library", BOOSTED)
def test_with_squared_error_an_offset_is_subtracted(library):
    data = counts()
    make = BOOSTED[library]
    variables = data[["x", "z"]]
    with_offset = pi.Learner(data["y"], variables, make(), offset=data["log_e"]).fit_model(seed=1)
    by_hand = make().fit(variables, data["y"] - data["log_e"])
    predicted = by_hand.predict(variables) + data["log_e"]
    assert with_offset.loss().params.iloc[0] == pytest.approx(
        ((data["y"] - predicted) ** 2).mean(), rel=1e-4
    )
    curve = with_offset.pd("x", grid=[0.5]).params.iloc[0]
    expected = by_hand.predict(variables.assign(x=0.5)).mean() + data["log_e"].mean()
    assert curve == pytest.approx(expected, rel=1e-5)


def test_boosted_counts_are_those_of_the_libraries():
    data = counts()
    variables = data[["x", "z"]]
    margin = xgb.XGBRegressor(n_estimators=8, objective="count:poisson")
    learner = pi.Learner(data["c"], variables, margin, exposure=data["e"])
    start = data["log_e"] + np.log(data["c"].sum() / data["e"].sum())
    by_hand = margin.fit(variables, data["c"], base_margin=start)
    mean = by_hand.get_booster().predict(xgb.DMatrix(variables, base_margin=start))
    loss = learner.fit_model(seed=1).loss("poisson").params.iloc[0]
    assert loss == pytest.approx(poisson_loss(data["c"], mean), rel=1e-5)

    counted = lgb.LGBMRegressor(n_estimators=8, objective="poisson", n_jobs=1, verbose=-1)
    fitted = counted.fit(variables, data["c"], init_score=data["log_e"])
    mean = fitted.predict(variables) * data["e"]  # a rate per unit of exposure
    model = pi.FittedModel(fitted, variables, data["c"], exposure=data["e"])
    assert model.loss("poisson").params.iloc[0] == pytest.approx(poisson_loss(data["c"], mean))


def test_frequencies_subsets_and_missing_exposures():
    data = counts()
    data["w"] = 1 + np.arange(90) % 3
    data.loc[[3, 7], "e"] = np.nan
    weighted = model_of(
        "c ~ x + z", data, glm(), exposure="e", weights="w", weights_type="frequency"
    )
    rows = data.loc[np.repeat(data.index, data["w"])].reset_index(drop=True)
    repeated = model_of("c ~ x + z", rows, glm(), exposure="e")
    assert_array_equal(weighted.pfi().params, repeated.pfi().params)
    assert repeated.analysis.context.dropped_rows == data["w"][[3, 7]].sum()


@pytest.mark.parametrize("formula", ["c ~ .", "c ~ . - log_e", "c ~ bs(x, df=4) * g + z:x"])
def test_the_offset_is_the_last_column_and_no_feature(formula):
    data = counts().drop(columns=["b", "y"])
    learner = pi.Learner.from_formula(formula, data, glm(), exposure="e")
    assert "e" not in learner.features
    assert "log(e)" not in learner.features
    assert "log(e)" in learner.design.columns[-1]


def test_new_rows_have_their_exposure():
    data = counts()
    res = fit_of("c ~ x + z", data, glm(), FOLDS, exposure="e")
    new = data[["x", "z", "e"]].head(4)
    assert_allclose(res.predict(new.assign(e=2 * new["e"])), 2 * res.predict(new))
    with pytest.raises(DataError, match="New rows must have the offset as column `e`"):
        res.predict(new[["x", "z"]])
    again = pickle.loads(pickle.dumps(res))  # noqa: S301 - our own bytes
    assert_array_equal(again.pfi().params, res.pfi().params)
    assert "offset log(e)" in str(res.pfi().summary())


REFUSALS = [
    ("both", glm(), "c ~ x", {"offset": "log_e", "exposure": "e"}, OptionError, "not both"),
    ("negative", glm(), "c ~ z", {"exposure": "x"}, DataError, "must be positive"),
    ("no column", glm(), "c ~ z", {"offset": "loge"}, OptionError, "not in `data`.*`log_e`"),
    ("variable too", glm(), "c ~ z + e", {"exposure": "e"}, OptionError, "can't be a variable too"),
    ("no log link", pi.statsmodels_learner(sm.GLM), "y ~ z", {"exposure": "e"}, OptionError, "log"),
    ("OLS", pi.statsmodels_learner(sm.OLS), "y ~ z", {"offset": "log_e"}, OptionError, "takes no"),
    ("no weights", KNeighborsRegressor(), "c ~ z", {"exposure": "e"}, OptionError, "take an `expo"),
    (
        "pipeline",
        make_pipeline(StandardScaler(), PoissonRegressor()),
        "c ~ z",
        {"offset": "log_e"},
        OptionError,
        "takes no offset",
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=[case[0] for case in REFUSALS])
def test_refusals(case):
    _, estimator, formula, options, error, sentence = case
    with pytest.raises(error, match=sentence):
        pi.Learner.from_formula(formula, counts(), estimator, **options)


def test_fitted_models_have_the_offset_they_were_fitted_with():
    data = counts()
    plain = smf.glm("c ~ x", data, family=POISSON).fit()
    with pytest.raises(OptionError, match="fitted without an offset"):
        pi.FittedModel(plain, data, "c", exposure="e")
    exposed = smf.glm("c ~ x", data, family=POISSON, exposure=data["e"]).fit()
    with pytest.raises(OptionError, match="pass that of the evaluation rows"):
        pi.FittedModel(exposed, data, "c")
    with pytest.raises(OptionError, match="draws new data"):
        fit_of("c ~ x", data, glm(), pi.FreshDraws(lambda _: data, 3), exposure="e")


RATES = {
    "poisson": PoissonRegressor(alpha=0, solver="newton-cholesky", tol=1e-12),
    "pipeline": make_pipeline(StandardScaler(), PoissonRegressor(alpha=0.1)),
    "boosting": HistGradientBoostingRegressor(loss="poisson", max_iter=5, min_samples_leaf=5),
    "forest": RandomForestRegressor(5, random_state=0),
}


@pytest.mark.parametrize("name", RATES)
def test_learners_of_rates_are_weighted_by_exposure(name):
    if name == "pipeline" and get_config()["enable_metadata_routing"]:
        pytest.skip("with routing on, the steps must request weights")
    data = counts()
    data["e"] = np.exp(np.log(data["e"]))  # rounded as the exposure is, which trees may see
    res = fit_of("c ~ x + z", data, RATES[name], FOLDS, exposure="e", reseed=False)
    losses = res.loss("poisson").refit_frame().iloc[:, 0]
    curves = res.pd("x", grid=[-1.0, 0.5]).refit_frame().to_numpy()
    rates = res.pd("x", grid=[-1.0, 0.5], scale="rate")
    step = "poissonregressor__sample_weight" if name == "pipeline" else "sample_weight"
    for k, refit in enumerate(res.refits):
        train, rows = data.iloc[refit.train_rows], data.iloc[refit.evaluation.rows]
        unit = train["e"].mean()  # in which penalties and base scores see exposures
        exposure = train["e"] / unit
        model = clone(RATES[name]).fit(
            train[["x", "z"]].to_numpy(), train["c"] / exposure, **{step: exposure}
        )

        def rate(frame, model=model, unit=unit):
            return model.predict(frame[["x", "z"]].to_numpy()) / unit

        mean = rate(rows) * rows["e"]
        assert_allclose(losses.iloc[k], poisson_loss(rows["c"], mean), rtol=1e-10)
        for j, x in enumerate((-1.0, 0.5)):
            moved = rate(rows.assign(x=x))
            assert_allclose(curves[k, j], (moved * rows["e"]).mean(), rtol=1e-10)
            assert_allclose(rates.refit_frame().to_numpy()[k, j], moved.mean(), rtol=1e-10)
    assert "rate" in str(rates.summary())


def test_a_poisson_model_of_rates_is_that_with_an_offset():
    data = counts()
    by_rates = pi.Learner.from_formula("c ~ x + z", data, RATES["poisson"], exposure="e")
    by_offset = pi.Learner.from_formula("c ~ x + z", data, glm(), exposure="e")
    one, other = (learner.fit_model() for learner in (by_rates, by_offset))
    for ask in (lambda r: r.pd("x"), lambda r: r.pd("x", scale="rate"), lambda r: r.pfi()):
        assert_allclose(ask(one).params, ask(other).params, rtol=1e-4)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data))
    both = model_of(
        "c ~ x + z", data, RATES["poisson"], exposure="e", weights=weights, weights_type="sampling"
    )
    by_hand = smf.glm(
        "c ~ x + z", data, family=POISSON, exposure=data["e"], freq_weights=weights
    ).fit()
    rates = by_hand.predict(data.assign(x=0.5), exposure=np.ones(len(data)))
    found = both.pd("x", grid=[0.5], scale="rate").params
    assert_allclose(found, np.average(rates, weights=weights), rtol=1e-4)


def test_the_rate_of_results_of_statsmodels():
    data = counts()
    results = smf.glm("c ~ x * g", data, family=POISSON, exposure=data["e"]).fit()
    fitted = pi.FittedModel(results, data, "c", exposure="e")
    found = fitted.pd("x", grid=[-1.0, 0.5], scale="rate")
    expected = [results.predict(data.assign(x=x), exposure=np.ones(90)).mean() for x in (-1.0, 0.5)]
    assert_allclose(found.params, expected, rtol=1e-10)
    assert "delta" in str(found.summary())
    plain = pi.FittedModel(smf.glm("c ~ x", data, family=POISSON).fit(), data, "c")
    with pytest.raises(OptionError, match="A rate needs an `exposure`"):
        plain.pd("x", scale="rate")
    with pytest.raises(OptionError, match=r"alone: `pd\(.*differences"):
        fitted.ame("x", scale="rate")
    assert "own offset `log(e)`" in fitted.ame("x").estimand.words.meaning


def test_a_binomial_model_with_an_offset_predicts_classes():
    data = counts()
    results = smf.glm("b ~ x", data, family=sm.families.Binomial(), offset=data["log_e"]).fit()
    fitted = pi.FittedModel(results, data, "b", offset="log_e")
    p = results.predict(data, offset=data["log_e"])
    log_loss = -np.where(data["b"] == 1, np.log(p), np.log(1 - p)).mean()
    assert_allclose(fitted.loss().params, log_loss, rtol=1e-10)
    assert fitted.analysis.problem.predictor.classes == (0, 1)


def test_a_fitted_model_is_taken_to_predict_rates_and_says_so():
    data = counts()
    model = RATES["poisson"].fit(data[["x", "z"]], data["c"] / data["e"], sample_weight=data["e"])
    fitted = pi.FittedModel(model, data, "c", exposure="e")
    mean = model.predict(data[["x", "z"]]) * data["e"]
    assert_allclose(fitted.loss("poisson").params, poisson_loss(data["c"], mean), rtol=1e-10)
    assert "is taken to predict rates" in words_of(fitted.pfi())


def test_functions_and_boosters_take_no_exposure():
    data = counts()
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(data[["x"]], data["c"]), 3)
    for model in (booster, lambda rows: rows["x"]):
        with pytest.raises(OptionError, match="takes no offset"):
            pi.FittedModel(model, data[["x"]], data["c"], exposure=data["e"])


@pytest.mark.parametrize("unit", [365.0, 1e-3])
@pytest.mark.parametrize(
    "estimator", [Ridge(1.0), PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=1000)]
)
def test_penalized_rates_do_not_depend_on_the_unit_of_exposure(estimator, unit):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=200), "years": rng.uniform(0.1, 2, 200)})
    data["claims"] = rng.poisson(data["years"] * np.exp(-1 + 0.5 * data["x"]))
    curves = [
        model_of("claims ~ x", rows, estimator, exposure="years").pd("x", grid=[-1.0, 1.0]).params
        for rows in (data, data.assign(years=unit * data["years"]))
    ]
    assert_allclose(*curves, rtol=1e-6)
