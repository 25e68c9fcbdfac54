"""Numbers that a learner takes as categories: told from numbers, and read by every estimand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from fits import words_of
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVR, LinearSVC
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import PredictionError

VALUES = [1, 2, 3, 7]
EFFECT = {1: 0.0, 2: 5.0, 3: -3.0, 7: 2.0}
SINGLE = 1e-5  # XGBoost predicts in single precision
PLAN = pi.HalfSampling(2, pairs=5)


def rows_of(n=200, seed=7):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"g": rng.choice(VALUES, n), "x": rng.normal(size=n)})


X = rows_of()
NOISE = 0.1 * np.random.default_rng(8).normal(size=len(X))
Y = X["g"].map(EFFECT) + X["x"] + NOISE


def beside(*encoders, last):
    step = make_pipeline(*encoders) if len(encoders) > 1 else encoders[0]
    return make_pipeline(make_column_transformer((step, ["g"]), remainder="passthrough"), last)


def lightgbm(kind="LGBMRegressor", **options):
    module = pytest.importorskip("lightgbm")
    options = {"n_estimators": 20, "verbose": -1, "min_data_per_group": 1, **options}
    return getattr(module, kind)(cat_smooth=1, n_jobs=1, **options)


def xgboost(**options):
    return pytest.importorskip("xgboost").XGBRegressor(n_estimators=20, n_jobs=1, **options)


IGNORE = OneHotEncoder(handle_unknown="ignore")
UNKNOWN = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
CODES = {
    "one-hot, error": lambda: beside(OneHotEncoder(), last=Ridge()),
    "one-hot, ignore": lambda: beside(IGNORE, last=Ridge()),
    "one-hot, drop": lambda: beside(
        OneHotEncoder(drop="first", handle_unknown="ignore"), last=Ridge()
    ),
    "imputer, one-hot": lambda: beside(SimpleImputer(), IGNORE, last=Ridge()),
    "ordinal": lambda: beside(UNKNOWN, last=DecisionTreeRegressor()),
    "target": lambda: beside(TargetEncoder(target_type="continuous"), last=Ridge()),
    "search": lambda: GridSearchCV(beside(IGNORE, last=Ridge()), {"ridge__alpha": [0.1, 1.0]}),
    "transformed response": lambda: TransformedTargetRegressor(beside(IGNORE, last=Ridge())),
    "vote": lambda: VotingRegressor([("a", beside(IGNORE, last=Ridge()))]),
    "histogram boosting": lambda: HistGradientBoostingRegressor(categorical_features=["g"]),
    "lightgbm": lambda: lightgbm(categorical_feature=[0]),
    "scaler, lightgbm": lambda: make_pipeline(
        make_column_transformer((StandardScaler(), ["x"]), remainder="passthrough"),
        lightgbm(categorical_feature=[1]),
    ),
    "xgboost": lambda: xgboost(enable_categorical=True, feature_types=["c", "float"]),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # of unknown levels, and of names of columns
@pytest.mark.parametrize("name", CODES)
def test_what_the_learner_takes_as_levels_has_contrasts(name):
    model = CODES[name]().fit(X, Y)
    means = np.array([model.predict(X.assign(g=value)).mean() for value in VALUES])
    fitted = pi.FittedModel(model, X, Y)
    effects = fitted.ame("g", step=1.0)
    grid = fitted.pd("g", grid="equidistant", points=4)
    firm = fitted.firm("g")
    assert effects.params.index.tolist() == ["g[2 - 1]", "g[3 - 1]", "g[7 - 1]"]
    assert effects.params.to_numpy() == pytest.approx(means[1:] - means[0], abs=SINGLE)
    assert grid.tidy()["value"].tolist() == VALUES
    assert firm.params["g"] == pytest.approx(np.ptp(means) / 4, abs=SINGLE)
    for results in (effects, grid, firm, fitted.ale("g")):
        text = words_of(results)
        assert "g is a code: the learner treats its 4 values as levels." in text


NUMBERS = {
    "ols": LinearRegression,
    "lasso": lambda: Lasso(alpha=0.3),
    "parabola": lambda: make_pipeline(PolynomialFeatures(2), LinearRegression()),
    "spline": lambda: make_pipeline(
        SplineTransformer(4, extrapolation="constant"), LinearRegression()
    ),
    "periodic": lambda: make_pipeline(
        SplineTransformer(4, extrapolation="periodic"), LinearRegression()
    ),
    "bins": lambda: make_pipeline(
        KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), LinearRegression()
    ),
    "tree": DecisionTreeRegressor,
    "forest": lambda: RandomForestRegressor(10, random_state=1),
    "boosting": lambda: GradientBoostingRegressor(max_depth=1, n_estimators=20),
    "histogram boosting": lambda: HistGradientBoostingRegressor(max_iter=15),
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "neighbor": lambda: KNeighborsRegressor(1),
    "svr": lambda: make_pipeline(StandardScaler(), SVR()),
    "kernel ridge": lambda: KernelRidge(kernel="rbf"),
    "gaussian process": lambda: GaussianProcessRegressor(alpha=0.5),
}
SHAPES = {
    "line": {1: 1.0, 2: 2.0, 3: 3.0, 7: 7.0},
    "peak": {1: 0.0, 2: 0.0, 3: 3.0, 7: 0.0},
    "valley": {1: 4.0, 2: 0.0, 3: 0.0, 7: 4.0},
    "saw": EFFECT,
    "none": dict.fromkeys(VALUES, 0.0),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_no_code(name, shape):
    model = NUMBERS[name]().fit(X, X["g"].map(SHAPES[shape]) + X["x"] + NOISE)
    assert pi.FittedModel(model, X, Y).analysis.problem.codes == frozenset()


@pytest.mark.parametrize(
    "function",
    [
        lambda g: (g - 3) ** 2,
        lambda g: np.abs(g - 4),
        lambda g: np.cos(2 * np.pi * g / 6),
        lambda g: np.sin(2 * np.pi * g),
        np.log,
        lambda g: g % 2,
        lambda g: 1 / (g - 2.99),
        lambda g: 1.0 * (g > 2),
    ],
)
def test_a_function_of_numbers_is_no_code(function):
    fitted = pi.FittedModel(lambda Z: function(Z["g"]) + Z["x"], X, Y)
    assert fitted.analysis.problem.codes == frozenset()


def test_functions_of_levels_are_codes():
    def refuses(Z):
        if not Z["g"].isin(VALUES).all():
            raise ValueError("unknown level")
        return Z["g"].map(EFFECT) + Z["x"]

    for function in (refuses, lambda Z: Z["g"].map(EFFECT).fillna(0.5) + Z["x"]):
        assert pi.FittedModel(function, X, Y).analysis.problem.codes == {"g"}


def test_two_values_are_a_number():
    two = X.assign(g=np.where(X["g"] > 2, 1, 0))
    fitted = pi.FittedModel(beside(OneHotEncoder(), last=Ridge()).fit(two, Y), two, Y)
    assert fitted.analysis.problem.codes == frozenset()
    assert fitted.ame("g").params.index.tolist() == ["g[1 - 0]"]


def test_declared_facts_decide_where_predictions_do_not():
    labels = (Y > 0).astype(int)
    classifier = beside(IGNORE, last=LinearSVC()).fit(X, labels)
    calibrated = CalibratedClassifierCV(lightgbm("LGBMClassifier", categorical_feature=[0]), cv=3)
    unused = beside(IGNORE, last=Ridge()).fit(X, X["x"])  # g has no effect
    with warnings.catch_warnings(action="ignore"):  # LightGBM warns of the way it is declared
        models = (classifier, calibrated.fit(X, labels), unused)
    for model, y in zip(models, (labels, labels, X["x"]), strict=True):
        assert pi.FittedModel(model, X, y).analysis.problem.codes == {"g"}
    by_position = make_pipeline(
        make_column_transformer((IGNORE, [0]), remainder="passthrough"), Ridge()
    )
    array = X.to_numpy()
    assert pi.FittedModel(by_position.fit(array, Y), array, Y).analysis.problem.codes == {"x1"}


@pytest.mark.parametrize("name", ["one-hot, ignore", "histogram boosting", "xgboost"])
def test_learners_files_and_dropped_models_agree(name, tmp_path):
    learner = pi.Learner.from_formula("y ~ g + x", X.assign(y=Y), CODES[name](), design="frame")

    questions = [
        pi.ask("ame", "g", step=1.0),
        pi.ask("firm", "g"),
        pi.ask("pd", "g", grid="equidistant"),
    ]

    def ask(results):
        return [results.answer(question) for question in questions]

    results = learner.fit(PLAN, seed=1)
    before = ask(results)
    results.save(tmp_path / "fit.pyinterp")
    dropped = learner.fit(PLAN, seed=1, keep_models=False, measure=questions)
    for other in (pi.load(tmp_path / "fit.pyinterp"), dropped):
        for one, two in zip(before, ask(other), strict=True):
            assert str(one.summary()) == str(two.summary())
    assert before[0].params.index.tolist() == ["g[2 - 1]", "g[3 - 1]", "g[7 - 1]"]


def test_an_error_of_the_model_is_quoted_with_its_own_reason():
    smf = pytest.importorskip("statsmodels.formula.api")
    data = X.assign(y=Y)
    results = smf.ols("y ~ x + C(g)", data).fit()
    fitted = pi.FittedModel(results.predict, data[["x", "g"]], data["y"])
    with pytest.raises(PredictionError, match=r"observation with value 4\.5 does not match"):
        _ = fitted.pd("g", grid=[4.5]).params
