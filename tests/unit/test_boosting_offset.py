"""Boosting with an offset starts at the constant that balances totals, in any unit."""

import warnings
from functools import partial

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from fits import words_of
from numpy.testing import assert_allclose, assert_array_equal
from shared import normal_rows
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import DataError, OptionError, RefitError
from pyinterp.models.offset_model import OffsetModel

FOLDS = KFold(2)
N = 300
OBJECTIVES = ["poisson", "gamma", "tweedie"]


def data_of(objective, unit=1.0):
    rng, data = normal_rows(N, "x z", 2)
    years = rng.uniform(0.1, 3, N)
    mean = years * np.exp(0.5 * data["x"] - 1.0)
    data["y"] = {
        "poisson": rng.poisson(mean).astype(float),
        "gamma": mean * rng.gamma(2, 0.5, N),
        "tweedie": [rng.gamma(2, 1, k).sum() for k in rng.poisson(2 * mean)],
        "regression": 3 + mean + rng.normal(size=N),
    }[objective]
    data["e"] = years * unit
    return data


def lightgbm(objective, **options):
    options = {"n_jobs": 1, "verbose": -1, "num_leaves": 8, "n_estimators": 5, **options}
    return lgb.LGBMRegressor(objective=objective, **options)


def xgboost(objective, **options):
    options = {"n_jobs": 1, "max_depth": 3, "n_estimators": 5, **options}
    names = {"poisson": "count:poisson", "regression": "reg:squarederror"}
    return xgb.XGBRegressor(objective=names.get(objective, f"reg:{objective}"), **options)


quiet = partial(lgb.LGBMRegressor, verbose=-1, n_jobs=1)
LIBRARIES = {"lightgbm": lightgbm, "xgboost": xgboost}
of_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)


def learner_of(data, estimator, *, log=True, **options):
    offset = {"exposure": data["e"]} if log else {"offset": np.log(data["e"])}
    return pi.Learner(data["y"], data[["x", "z"]], estimator, **offset, **options)


def rows_of(data):
    return data[["x", "z"]].assign(offset=np.log(data["e"]))


def started(estimator, data, weights=None):
    options = {} if weights is None else {"sample_weight": weights}
    return OffsetModel(estimator, "log(e)").fit(rows_of(data), data["y"].to_numpy(), **options)


@of_library
@pytest.mark.parametrize("trees", [5, 60])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_number_depends_on_the_unit_of_the_exposure(make, objective, trees):
    found = []
    loss = "gamma" if objective == "gamma" else "poisson"
    for unit in (1.0, 365.0, 1e-3):
        model = make(objective, n_estimators=trees, learning_rate=0.05)
        learner = learner_of(data_of(objective, unit), model)
        res = learner.fit(FOLDS, seed=1)
        numbers = [res.pd("x", grid=[-1.0, 1.0]), res.pfi(loss=loss, permutations=2)]
        numbers.append(res.loss(loss=loss, relation="explained"))
        values = [each.params.to_numpy() for each in numbers]
        values.append(res.pd("x", grid=[-1.0, 1.0], scale="rate").params.to_numpy() * unit)
        found.append(np.concatenate(values))
    assert_allclose(found[1], found[0], rtol=1e-8)
    assert_allclose(found[2], found[0], rtol=1e-8)


@of_library
@pytest.mark.parametrize("weighted", [False, True])
def test_the_start_has_a_closed_form(make, weighted):
    weights = np.random.default_rng(3).uniform(0.5, 2, N) if weighted else None
    w = np.ones(N) if weights is None else weights
    for objective in ("poisson", "gamma", "tweedie"):
        data = data_of(objective)
        start = started(make(objective), data, weights).base_
        expected = np.log((w @ data["y"]) / (w @ data["e"]))
        assert start == pytest.approx(expected, abs=1e-12)
    data = data_of("regression")
    start = started(make("regression"), data, weights).base_
    assert start == pytest.approx(np.average(data["y"] - np.log(data["e"]), weights=w), abs=1e-12)


@of_library
@pytest.mark.parametrize("objective", [*OBJECTIVES, "regression"])
def test_an_offset_of_0_changes_nothing(make, objective):
    data = data_of(objective)
    variables = data[["x", "z"]]
    # Earlier versions of XGBoost start near the mean.
    mean = {"base_score": data["y"].mean()} if make is xgboost else {}
    plain = make(objective, **mean).fit(variables, data["y"])
    with_offset = started(make(objective), data.assign(e=1.0))
    rows = variables.assign(offset=0.0)
    assert_allclose(with_offset.predict(rows), plain.predict(variables), rtol=2e-6)


@pytest.mark.parametrize("value", [False, "false", np.False_])
def test_lightgbm_starts_at_0_where_the_user_says_so(value):
    data = data_of("poisson")
    model = started(lightgbm("poisson", boost_from_average=value), data)
    assert model.base_ == 0.0
    by_hand = lightgbm("poisson").fit(data[["x", "z"]], data["y"], init_score=np.log(data["e"]))
    rows, raw = rows_of(data), by_hand.predict(data[["x", "z"]], raw_score=True)
    assert_array_equal(model.predict(rows), np.exp(raw + rows.offset))


@pytest.mark.parametrize(("objective", "link"), [("poisson", np.log), ("regression", np.positive)])
def test_xgboost_starts_at_the_base_score_of_the_user(objective, link):
    data = data_of(objective)
    model = started(xgboost(objective, base_score=0.3), data)
    assert model.base_ == pytest.approx(link(0.3), rel=1e-12)
    at, rows = np.log(data["e"]) + link(0.3), data[["x", "z"]]
    by_hand = xgboost(objective).fit(rows, data["y"], base_margin=at)
    expected = by_hand.predict(rows, base_margin=at)
    assert_allclose(model.predict(rows_of(data)), expected, rtol=1e-5)


# XGBoost 3.4 warns of both.
@pytest.mark.filterwarnings("ignore:.*`booster=:UserWarning")
def test_dart_and_linear_boosters_of_xgboost_add_the_offset_once():
    data = data_of("poisson")
    for booster in ("dart", "gblinear"):
        model = started(xgboost("poisson", booster=booster, n_estimators=20, max_depth=None), data)
        rows = rows_of(data)
        by_hand = model.inside.get_booster().predict(
            xgb.DMatrix(data[["x", "z"]], base_margin=rows["offset"] + model.base_)
        )
        assert_allclose(model.predict(rows), by_hand, rtol=1e-5)
        assert model.predict(rows).sum() == pytest.approx(data["y"].sum(), rel=0.02)


SPELLINGS = ["l2", "rmse", "MSE", "mean_squared_error", "regression_l2", "l2_root", None, "mae"]


@pytest.mark.parametrize(
    ("kind", "objective"),
    [
        *((quiet, name) for name in SPELLINGS),
        *((xgb.XGBRegressor, f"reg:{n}") for n in ("squarederror", "absoluteerror")),
        (xgb.XGBRegressor, "reg:pseudohubererror"),
        (xgb.XGBRegressor, None),
    ],
)
def test_spellings_of_objectives(kind, objective):
    data = data_of("regression")
    estimator = kind(objective=objective, n_estimators=3, n_jobs=1)
    shifts = []
    for shift in (0.0, 5.0):
        offset = np.log(data["e"]) + shift
        learner = pi.Learner(data["y"] + shift, data[["x", "z"]], estimator, offset=offset)
        shifts.append(learner.fit_model(seed=1).pd("x", grid=[0.0]).params.iloc[0] - shift)
    assert shifts[0] == pytest.approx(shifts[1], rel=1e-5)
    with pytest.raises(OptionError, match="logarithmic link"):
        learner_of(data, estimator)


@pytest.mark.parametrize("name", ["loss", "app", "application", "objective_type", "objective"])
def test_aliases_of_the_parameter(name):
    data = data_of("poisson")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the alias
        rates = [
            learner_of(data, quiet(n_estimators=5, **options))
            .fit_model(seed=1)
            .pd("x", scale="rate")
            .params
            for options in ({name: "Poisson"}, {"objective": "poisson"})
        ]
    assert_array_equal(*rates)


def gradients(y, predicted):
    return predicted - y, np.ones(len(y))


@pytest.mark.parametrize(
    "estimator",
    [
        lgb.LGBMRegressor(objective=gradients),
        lgb.LGBMRegressor(objective="cross_entropy"),
        lgb.LGBMRegressor(objective="regression", reg_sqrt=True),
        xgb.XGBRegressor(objective=gradients),
        xgb.XGBRegressor(objective="rank:pairwise"),
        xgb.XGBRegressor(objective="binary:logistic"),
    ],
)
def test_objectives_without_a_known_link_are_refused(estimator):
    with pytest.raises(OptionError, match=r"the objective of .* must be one of poisson"):
        learner_of(data_of("poisson"), estimator, log=False)


def test_a_trained_model_of_any_objective_is_read_as_it_was():
    data = data_of("poisson")
    rows, y, margin = data[["x", "z"]], data["y"], np.log(data["e"])
    model = xgb.XGBRegressor(objective=gradients, n_estimators=3, n_jobs=1)
    fitted = pi.FittedModel(model.fit(rows, y, base_margin=margin), rows, y, offset=margin)
    expected = model.predict(rows, base_margin=margin)
    assert fitted.loss().params.iloc[0] == pytest.approx(((y - expected) ** 2).mean())
    custom = quiet(objective=gradients, n_estimators=3).fit(rows, y, init_score=margin)
    with pytest.raises(OptionError, match="must be one of poisson"):
        pi.FittedModel(custom, rows, y, offset=margin)


@of_library
def test_classes_are_refused(make):
    data = data_of("poisson")
    data["y"] = np.arange(N) % 2
    kind = lgb.LGBMClassifier if make is lightgbm else xgb.XGBClassifier
    with pytest.raises(OptionError, match=r"takes no offset; those that do are .* regressors of"):
        learner_of(data, kind(), log=False)


@of_library
def test_training_rows_without_events_are_an_error_that_says_so(make):
    data = data_of("poisson")
    data["y"] = np.where(np.arange(N) < N // 2, 0, data["y"])
    learner = learner_of(data, make("poisson"))
    splits = [(np.arange(N // 2), np.arange(N // 2, N)), (np.arange(N // 2, N), np.arange(N // 2))]
    with pytest.raises(RefitError, match=r"Refit 1 of 2 failed.*can't start at a mean of 0"):
        learner.fit(splits, seed=1)
    with pytest.raises(DataError, match="mean of -1, of training rows or as `base_score`"):
        learner_of(data, xgboost("poisson", base_score=-1.0)).fit_model()


SENTENCE = "Predictions of the training rows add up to"


def test_totals_that_are_far_off_have_a_footnote(tmp_path):
    data = data_of("poisson")
    slow = {"learning_rate": 0.05, "boost_from_average": False}
    learner = learner_of(data, lightgbm("poisson", **slow))
    res = learner.fit(FOLDS, seed=1)
    ratios = []
    for refit in res.refits:
        train = data.iloc[refit.train_rows]
        by_hand = lightgbm("poisson", learning_rate=0.05)
        by_hand.fit(train[["x", "z"]], train["y"], init_score=np.log(train["e"]))
        rates = by_hand.predict(train[["x", "z"]])
        ratios.append((rates * train["e"]).sum() / train["y"].sum())
    sentence = f"{SENTENCE} {np.median(ratios):.2f} times the response."
    dropped = learner.fit(FOLDS, seed=1, keep_models=False, measure="pfi")
    assert sentence in words_of(res.pfi())
    res.save(tmp_path / "fit.pi")
    for fit in (dropped, pi.load(tmp_path / "fit.pi")):
        assert sentence in words_of(fit.pfi())
    assert SENTENCE in words_of(learner.fit_model().pfi())


def test_other_fits_have_no_footnote_on_totals():
    options = {"learning_rate": 0.05, "boost_from_average": False}
    gamma = learner_of(data_of("gamma"), lightgbm("gamma", **options))
    assert SENTENCE not in words_of(gamma.fit_model().pfi())
    centred = data_of("regression")
    centred["y"] -= centred["y"].mean()
    squared = learner_of(centred, lightgbm("regression"), log=False)
    assert SENTENCE not in words_of(squared.fit_model().pfi())
    for make in LIBRARIES.values():
        counts = learner_of(data_of("poisson"), make("poisson", n_estimators=100))
        assert SENTENCE not in words_of(counts.fit_model().pfi())


def test_a_negative_share_has_a_footnote():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    deep = pi.Learner(y, X, DecisionTreeRegressor()).fit(FOLDS, seed=1)
    sentence = "R² below 0: one constant predicts better. The table describes a learner that"
    for results in (deep.pfi(), deep.pd("x1"), deep.importance()):
        assert sentence in words_of(results)
    assert sentence not in words_of(deep.pfi(), notes="none")
    useful = pi.Learner(X[:, 0], X, DecisionTreeRegressor()).fit(FOLDS, seed=1)
    assert "below 0:" not in words_of(useful.pfi())
    beside = str(pi.summary_col({"deep": deep.pfi(), "useful": useful.pfi()}))
    assert "deep: R² or D² below 0: one constant" in " ".join(beside.split())
    assert "below 0" not in str(pi.summary_col({"useful": useful.pfi()}))


class CatBoostRegressor(DummyRegressor):  # scikit-learn is untyped
    """Looks like CatBoost, which is not installed everywhere."""


CatBoostRegressor.__module__ = "catboost.core"


def test_catboost_takes_no_exposure_but_trained_models_of_rates_do():
    data = data_of("poisson")
    for estimator in (CatBoostRegressor(), make_pipeline(CatBoostRegressor())):
        with pytest.raises(OptionError, match="but CatBoost, which starts at a rate of 1"):
            learner_of(data, estimator)
    model = CatBoostRegressor().fit(data[["x", "z"]], data["y"] / data["e"], data["e"])
    fitted = pi.FittedModel(model, data[["x", "z"]], data["y"], exposure=data["e"])
    rate = data["y"].sum() / data["e"].sum()
    assert fitted.pd("x", grid=[0.0], scale="rate").params.iloc[0] == pytest.approx(rate)
