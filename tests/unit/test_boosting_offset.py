"""Boosting with an offset starts at the constant that balances totals, in any unit."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import xgboost as xgb
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import DataError, OptionError, RefitError
from pyinterp.models.offset_model import OffsetModel

FOLDS = KFold(2)
N = 300
OBJECTIVES = ["poisson", "gamma", "tweedie", "binary"]


def data_of(objective: str, unit: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(N, 2)), columns=["x", "z"])
    years = rng.uniform(0.1, 3, N)
    mean = years * np.exp(0.5 * data["x"] - 1.0)
    data["y"] = {
        "poisson": rng.poisson(mean).astype(float),
        "gamma": mean * rng.gamma(2, 0.5, N),
        "tweedie": [rng.gamma(2, 1, k).sum() for k in rng.poisson(2 * mean)],
        "binary": (rng.uniform(size=N) < mean / (1 + mean)).astype(int),
        "regression": 3 + mean + rng.normal(size=N),
    }[objective]
    data["e"] = years * unit
    return data


def lightgbm(objective: str, **options: Any) -> Any:
    options = {"n_jobs": 1, "verbose": -1, "num_leaves": 8, "n_estimators": 5, **options}
    if objective == "binary":
        return lgb.LGBMClassifier(**options)
    return lgb.LGBMRegressor(objective=objective, **options)


def xgboost(objective: str, **options: Any) -> Any:
    options = {"n_jobs": 1, "max_depth": 3, "n_estimators": 5, **options}
    if objective == "binary":
        return xgb.XGBClassifier(**options)
    names = {"poisson": "count:poisson", "regression": "reg:squarederror"}
    return xgb.XGBRegressor(objective=names.get(objective, f"reg:{objective}"), **options)


LIBRARIES = {"lightgbm": lightgbm, "xgboost": xgboost}
of_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)


def learner_of(data: pd.DataFrame, estimator: Any, *, log: bool = True, **options: Any) -> Any:
    offset = {"exposure": data["e"]} if log else {"offset": np.log(data["e"])}
    return pi.Learner(data["y"], data[["x", "z"]], estimator, **offset, **options)


def started(
    estimator: Any, data: pd.DataFrame, weights: Any = None, labels: Any = None
) -> OffsetModel:
    rows = data[["x", "z"]].assign(offset=np.log(data["e"]))
    options = {} if weights is None else {"sample_weight": weights}
    y = data["y"] if labels is None else labels
    return OffsetModel(estimator, "log(e)").fit(rows, y.to_numpy(), **options)


@of_library
@pytest.mark.parametrize("trees", [5, 60])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_number_depends_on_the_unit_of_the_exposure(
    make: Any, objective: str, trees: int
) -> None:
    found = []
    loss = {"gamma": "gamma", "binary": "log"}.get(objective, "poisson")
    for unit in (1.0, 365.0, 1e-3):
        model = make(objective, n_estimators=trees, learning_rate=0.05)
        learner = learner_of(data_of(objective, unit), model, log=objective != "binary")
        res = learner.fit(FOLDS, seed=1, progress=False)
        numbers = [res.pd("x", grid=[-1.0, 1.0]), res.pfi(loss=loss, permutations=2)]
        numbers.append(res.loss(loss=loss, relation="explained"))
        values = [each.params.to_numpy() for each in numbers]
        if objective != "binary":
            rate = res.pd("x", grid=[-1.0, 1.0], scale="rate")
            values.append(rate.params.to_numpy() * unit)
        found.append(np.concatenate(values))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-8)


@of_library
@pytest.mark.parametrize("objective", ["poisson", "binary"])
def test_few_trees_balance_totals(make: Any, objective: str) -> None:
    data = data_of(objective)
    model = started(make(objective, learning_rate=0.05), data)
    rows = data[["x", "z"]].assign(offset=np.log(data["e"]))
    predicted = model.predict(rows) if objective == "poisson" else model.predict_proba(rows)[:, 1]
    assert predicted.sum() == pytest.approx(data["y"].sum(), rel=0.01)
    assert model.total_ == 1.0


@of_library
@pytest.mark.parametrize("weighted", [False, True])
def test_the_start_has_a_closed_form(make: Any, weighted: bool) -> None:
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


def intercept(data: pd.DataFrame, weights: Any, scale: float = 1.0) -> float:
    """Return the intercept of a logistic regression with nothing but the offset."""
    model = sm.GLM(
        data["y"],
        np.ones(N),
        family=sm.families.Binomial(),
        offset=scale * np.log(data["e"]),
        freq_weights=weights,
    )
    return float(model.fit(tol=1e-14).params.iloc[0]) / scale


RATIO = 4.0
CLASS_WEIGHTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "none": (1.0, {}),
    "scale_pos_weight": (RATIO, {"scale_pos_weight": RATIO}),
    "class_weight": (RATIO, {"class_weight": {"no": 1, "yes": RATIO}}),
    "is_unbalance": ("balanced", {"is_unbalance": True}),
    "unbalance": ("balanced", {"unbalance": "true"}),
    "balanced": ("balanced", {"class_weight": "balanced"}),
    "sigmoid": (1.0, {"sigmoid": 2.0}),
}


@pytest.mark.parametrize("case", CLASS_WEIGHTS)
@of_library
def test_the_start_of_a_logit_is_an_intercept(make: Any, case: str) -> None:
    positive, options = CLASS_WEIGHTS[case]
    if make is xgboost and set(options) - {"scale_pos_weight"}:
        pytest.skip("an option of LightGBM")
    data = data_of("binary")
    if positive == "balanced":
        positive = (data["y"] == 0).sum() / data["y"].sum()
    row_weights = np.random.default_rng(4).uniform(0.5, 2, N)
    weights = row_weights * np.where(data["y"] == 1, positive, 1.0)
    labels = data["y"] if make is xgboost else data["y"].map({0: "no", 1: "yes"})
    model = started(make("binary", **options), data, row_weights, labels)
    expected = intercept(data, weights, options.get("sigmoid", 1.0))
    assert model.base_ == pytest.approx(expected, abs=1e-8)
    assert model.total_ == 1.0  # totals as the weights have them


@of_library
@pytest.mark.parametrize("objective", [*OBJECTIVES, "regression"])
def test_an_offset_of_0_changes_nothing(make: Any, objective: str) -> None:
    data = data_of(objective)
    variables = data[["x", "z"]]
    # Earlier versions of XGBoost start near the mean.
    mean = {"base_score": data["y"].mean()} if make is xgboost else {}
    plain = make(objective, **mean).fit(variables, data["y"])
    with_offset = started(make(objective), data.assign(e=1.0))
    method = "predict_proba" if objective == "binary" else "predict"
    rows = variables.assign(offset=0.0)
    expected = getattr(plain, method)(variables)
    np.testing.assert_allclose(getattr(with_offset, method)(rows), expected, rtol=2e-6)
    np.testing.assert_array_equal(
        with_offset.predict(rows) > 0.5, np.asarray(plain.predict(variables)) > 0.5
    )


@pytest.mark.parametrize("value", [False, "false", np.False_])
def test_lightgbm_starts_at_0_where_the_user_says_so(value: Any) -> None:
    data = data_of("poisson")
    model = started(lightgbm("poisson", boost_from_average=value), data)
    assert model.base_ == 0.0
    by_hand = lightgbm("poisson").fit(data[["x", "z"]], data["y"], init_score=np.log(data["e"]))
    rows = data[["x", "z"]].assign(offset=np.log(data["e"]))
    np.testing.assert_array_equal(
        model.predict(rows), np.exp(by_hand.predict(data[["x", "z"]], raw_score=True) + rows.offset)
    )


@pytest.mark.parametrize(
    ("objective", "link"),
    [("poisson", np.log), ("binary", lambda p: np.log(p / (1 - p))), ("regression", np.positive)],
)
def test_xgboost_starts_at_the_base_score_of_the_user(objective: str, link: Any) -> None:
    data = data_of(objective)
    model = started(xgboost(objective, base_score=0.3), data)
    assert model.base_ == pytest.approx(link(0.3), rel=1e-12)
    by_hand = xgboost(objective).fit(
        data[["x", "z"]], data["y"], base_margin=np.log(data["e"]) + link(0.3)
    )
    at = np.log(data["e"]) + link(0.3)
    rows = data[["x", "z"]].assign(offset=np.log(data["e"]))
    method = "predict_proba" if objective == "binary" else "predict"
    expected = getattr(by_hand, method)(data[["x", "z"]], base_margin=at)
    np.testing.assert_allclose(getattr(model, method)(rows), expected, rtol=1e-5)


# XGBoost 3.4 warns of both.
@pytest.mark.filterwarnings("ignore:.*`booster=:UserWarning")
def test_dart_and_linear_boosters_of_xgboost_add_the_offset_once() -> None:
    data = data_of("poisson")
    for booster in ("dart", "gblinear"):
        model = started(xgboost("poisson", booster=booster, n_estimators=20, max_depth=None), data)
        rows = data[["x", "z"]].assign(offset=np.log(data["e"]))
        by_hand = model.inside.get_booster().predict(
            xgb.DMatrix(data[["x", "z"]], base_margin=rows["offset"] + model.base_)
        )
        np.testing.assert_allclose(model.predict(rows), by_hand, rtol=1e-5)
        assert model.predict(rows).sum() == pytest.approx(data["y"].sum(), rel=0.02)


SPELLINGS = {
    "lightgbm": [
        "l2",
        "rmse",
        "MSE",
        "mean_squared_error",
        "regression_l2",
        "l2_root",
        None,
        "mae",
    ],
    "xgboost": ["reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", None],
}


@pytest.mark.parametrize(
    ("library", "objective"), [(lib, name) for lib, names in SPELLINGS.items() for name in names]
)
def test_spellings_of_objectives(library: str, objective: Any) -> None:
    data = data_of("regression")
    kind = lgb.LGBMRegressor if library == "lightgbm" else xgb.XGBRegressor
    quiet = {"verbose": -1} if library == "lightgbm" else {}
    estimator = kind(objective=objective, n_estimators=3, n_jobs=1, **quiet)
    shifts = []
    for shift in (0.0, 5.0):
        learner = pi.Learner(
            data["y"] + shift, data[["x", "z"]], estimator, offset=np.log(data["e"]) + shift
        )
        shifts.append(learner.fit_model(seed=1).pd("x", grid=[0.0]).params.iloc[0] - shift)
    assert shifts[0] == pytest.approx(shifts[1], rel=1e-5)
    with pytest.raises(OptionError, match="logarithmic link"):
        learner_of(data, estimator)


@pytest.mark.parametrize("name", ["loss", "app", "application", "objective_type", "objective"])
def test_aliases_of_the_parameter(name: str) -> None:
    data = data_of("poisson")
    estimator = lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1, **{name: "Poisson"})
    plain = lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1, objective="poisson")
    rates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the alias
        for model in (estimator, plain):
            fitted = learner_of(data, model).fit_model(seed=1)
            rates.append(fitted.pd("x", scale="rate").params)
    np.testing.assert_array_equal(*rates)


def gradients(y: Any, predicted: Any) -> Any:
    return predicted - y, np.ones(len(y))


@pytest.mark.parametrize(
    "estimator",
    [
        lgb.LGBMRegressor(objective=gradients),
        lgb.LGBMRegressor(objective="cross_entropy"),
        lgb.LGBMRegressor(objective="regression", reg_sqrt=True),
        xgb.XGBRegressor(objective=gradients),
        xgb.XGBRegressor(objective="rank:pairwise"),
        xgb.XGBClassifier(objective="binary:logitraw"),
        xgb.XGBClassifier(objective="binary:hinge"),
    ],
)
def test_objectives_without_a_known_link_are_refused(estimator: Any) -> None:
    with pytest.raises(OptionError, match=r"the objective of .* must be one of poisson"):
        learner_of(data_of("binary"), estimator, log=False)


def test_a_trained_model_of_any_objective_is_read_as_it_was() -> None:
    data = data_of("poisson")
    margin = np.log(data["e"])
    model = xgb.XGBRegressor(objective=gradients, n_estimators=3, n_jobs=1)
    model.fit(data[["x", "z"]], data["y"], base_margin=margin)
    fitted = pi.FittedModel(model, data[["x", "z"]], data["y"], offset=margin)
    expected = model.predict(data[["x", "z"]], base_margin=margin)
    assert fitted.loss().params.iloc[0] == pytest.approx(((data["y"] - expected) ** 2).mean())
    custom = lgb.LGBMRegressor(objective=gradients, n_estimators=3, n_jobs=1, verbose=-1)
    custom.fit(data[["x", "z"]], data["y"], init_score=margin)
    with pytest.raises(OptionError, match="must be one of poisson"):
        pi.FittedModel(custom, data[["x", "z"]], data["y"], offset=margin)


@of_library
def test_more_than_two_classes_are_refused(make: Any) -> None:
    data = data_of("binary")
    data["y"] = np.arange(N) % 3
    with pytest.raises(OptionError, match="at most two classes"):
        learner_of(data, make("binary"), log=False).fit_model()


@of_library
@pytest.mark.parametrize("objective", ["poisson", "binary"])
def test_training_rows_without_events_are_an_error_that_says_so(make: Any, objective: str) -> None:
    data = data_of(objective)
    data["y"] = np.where(np.arange(N) < N // 2, 0, data["y"])
    learner = learner_of(data, make(objective), log=objective == "poisson")
    splits = [(np.arange(N // 2), np.arange(N // 2, N)), (np.arange(N // 2, N), np.arange(N // 2))]
    with pytest.raises(RefitError, match=r"Refit 1 of 2 failed.*can't start at a mean of 0"):
        learner.fit(splits, seed=1, progress=False)
    with pytest.raises(DataError, match="mean of -1, of training rows or as `base_score`"):
        learner_of(data, xgboost("poisson", base_score=-1.0)).fit_model()


def note_of(results: Any) -> str:
    return " ".join(str(results.summary()).split())


SENTENCE = "Predictions of the training rows add up to"


def test_totals_that_are_far_off_have_a_footnote(tmp_path: Path) -> None:
    data = data_of("poisson")
    slow = {"learning_rate": 0.05, "boost_from_average": False}
    learner = learner_of(data, lightgbm("poisson", **slow))
    res = learner.fit(FOLDS, seed=1, progress=False)
    ratios = []
    for refit in res.refits:
        train = data.iloc[refit.train_rows]
        by_hand = lightgbm("poisson", learning_rate=0.05)
        by_hand.fit(train[["x", "z"]], train["y"], init_score=np.log(train["e"]))
        rates = by_hand.predict(train[["x", "z"]])
        ratios.append((rates * train["e"]).sum() / train["y"].sum())
    sentence = f"{SENTENCE} {np.median(ratios):.2f} times the response."
    assert sentence in note_of(res.pfi())
    dropped = learner.fit(FOLDS, seed=1, progress=False, keep_models=False, measure="pfi")
    assert sentence in note_of(dropped.pfi())
    res.save(tmp_path / "fit.pi")
    assert sentence in note_of(pi.load(tmp_path / "fit.pi").pfi())
    assert SENTENCE in note_of(learner.fit_model().pfi())


def test_other_fits_have_no_footnote_on_totals() -> None:
    options = {"learning_rate": 0.05, "boost_from_average": False}
    gamma = learner_of(data_of("gamma"), lightgbm("gamma", **options))
    assert SENTENCE not in note_of(gamma.fit_model().pfi())
    centred = data_of("regression")
    centred["y"] -= centred["y"].mean()
    squared = learner_of(centred, lightgbm("regression"), log=False)
    assert SENTENCE not in note_of(squared.fit_model().pfi())
    for make in LIBRARIES.values():
        counts = learner_of(data_of("poisson"), make("poisson", n_estimators=100))
        assert SENTENCE not in note_of(counts.fit_model().pfi())


def test_a_negative_share_has_a_footnote() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    deep = pi.Learner(y, X, DecisionTreeRegressor()).fit(FOLDS, seed=1, progress=False)
    sentence = "R² below 0: one constant predicts better. The table describes a learner that"
    for results in (deep.pfi(), deep.pd("x1"), deep.importance()):
        assert sentence in note_of(results)
    assert sentence not in " ".join(str(deep.pfi().summary(notes="none")).split())
    useful = pi.Learner(X[:, 0], X, DecisionTreeRegressor()).fit(FOLDS, seed=1, progress=False)
    assert "below 0:" not in note_of(useful.pfi())
    beside = str(pi.summary_col({"deep": deep.pfi(), "useful": useful.pfi()}))
    assert "deep: R² or D² below 0: one constant" in " ".join(beside.split())
    assert "below 0" not in str(pi.summary_col({"useful": useful.pfi()}))


class CatBoostRegressor(DummyRegressor):  # type: ignore[misc]  # scikit-learn is untyped
    """Looks like CatBoost, which is not installed everywhere."""


CatBoostRegressor.__module__ = "catboost.core"


def test_catboost_takes_no_exposure_but_trained_models_of_rates_do() -> None:
    data = data_of("poisson")
    for estimator in (CatBoostRegressor(), make_pipeline(CatBoostRegressor())):
        with pytest.raises(OptionError, match="but CatBoost, which starts at a rate of 1"):
            learner_of(data, estimator)
    model = CatBoostRegressor().fit(data[["x", "z"]], data["y"] / data["e"], data["e"])
    fitted = pi.FittedModel(model, data[["x", "z"]], data["y"], exposure=data["e"])
    rate = data["y"].sum() / data["e"].sum()
    assert fitted.pd("x", grid=[0.0], scale="rate").params.iloc[0] == pytest.approx(rate)
