"""Names decide which column is which, for every kind of model."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import words_of
from lightgbm import LGBMRegressor
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor, IsolationForest, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from xgboost import XGBRegressor

import pyinterp as pi
from pyinterp.errors import DataError, NamesWarning, OptionError, PredictionError

RNG = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame(
    {"a b": RNG.normal(size=N), "c": RNG.normal(size=N), "d": 5 + RNG.normal(size=N)}
)
Y = pd.Series(3 * FRAME["a b"] - FRAME["c"] + 0.1 * RNG.normal(size=N), name="y")
PLAIN = FRAME.rename(columns={"a b": "a"})


class Frames(BaseEstimator):
    """An estimator that keeps names as scikit-learn's do."""

    def fit(self, X, y):
        self.feature_names_in_ = np.array(X.columns, object)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.asarray(3 * X["a b"] - X["c"])


MODELS = {
    "linear": lambda: LinearRegression().fit(FRAME, Y),
    "forest": lambda: RandomForestRegressor(5, random_state=0).fit(FRAME, Y),
    "histogram": lambda: HistGradientBoostingRegressor(max_iter=5).fit(FRAME, Y),
    "pipeline": lambda: make_pipeline(StandardScaler(), LinearRegression()).fit(FRAME, Y),
    "search": lambda: GridSearchCV(LinearRegression(), {}, cv=2).fit(FRAME, Y),
    "xgboost": lambda: XGBRegressor(n_estimators=5).fit(FRAME, Y),
    "lightgbm": lambda: LGBMRegressor(n_estimators=5, verbose=-1).fit(FRAME, Y),
    "lightgbm booster": lambda: lightgbm.train({"verbose": -1}, lightgbm.Dataset(FRAME, Y), 5),
    "lightgbm in a pipeline": lambda: make_pipeline(LGBMRegressor(n_estimators=5, verbose=-1)).fit(
        FRAME, Y
    ),
    "own": lambda: Frames().fit(FRAME, Y),
    "ols": lambda: sm.OLS(Y, FRAME).fit(),
    "glm": lambda: sm.GLM(Y, FRAME).fit(),
    "ols by formula": lambda: smf.ols("y ~ Q('a b') + c + d", FRAME.assign(y=Y)).fit(),
}


def importances(model, rows):
    return pi.FittedModel(model, rows, Y).pfi(permutations="all").params


@pytest.mark.parametrize("name", MODELS)
def test_neither_order_nor_columns_that_the_model_does_not_know_matter(name):
    model = MODELS[name]()
    expected = importances(model, FRAME)
    assert set(expected.index) == set(FRAME.columns)
    extra = FRAME.assign(row_id=np.arange(N), when=pd.Timestamp("2024"), what=object(), y=Y)
    np.testing.assert_array_equal(importances(model, extra), expected)
    for rows in (FRAME[["d", "c", "a b"]], extra[["what", "c", "a b", "y", "d", "when"]]):
        moved = importances(model, rows)
        assert_allclose(moved[expected.index], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_missing_names_are_refused_and_listed_with_what_is_there(name):
    """In tests/oracles are more ways to lack a column."""
    rows = FRAME.rename(columns={"a b": "A"})[["d", "c", "A"]]
    missing = "a_b" if "lightgbm" in name else "a b"
    with pytest.raises(DataError, match=rf"lacks .*{missing}.*A"):
        importances(MODELS[name](), rows)


def test_variables_of_a_formula_are_those_of_its_training_data():
    """A variable that the rows lack is not taken from the code around the formula."""
    c = np.zeros(N)  # what patsy would take
    model = smf.ols("y ~ d + c", PLAIN.assign(y=Y)).fit()
    with pytest.raises(DataError, match="but lacks c"):
        importances(model, PLAIN[["a", "d"]])
    assert c is not None


def test_names_that_lightgbm_makes_the_same_are_ambiguous():
    model = LGBMRegressor(n_estimators=3, verbose=-1).fit(FRAME, Y)
    rows = FRAME.assign(**{"a_b": 0.0}).drop(columns="d")
    with pytest.raises(DataError, match="a b, a_b are the same to it"):
        importances(model, rows)


@pytest.mark.parametrize("name", ["linear", "forest", "xgboost", "lightgbm", "own", "ols"])
def test_rows_without_names_are_taken_in_the_model_s_order(name):
    model, array = MODELS[name](), FRAME.to_numpy()
    expected = importances(model, FRAME)
    for nameless in (array, pd.DataFrame(array)):
        assert_allclose(importances(model, nameless).to_numpy(), expected.to_numpy())
    for fewer in (array[:, :2], pd.DataFrame(array[:, :2])):
        with pytest.raises(DataError, match="was fitted on 3 columns"):
            importances(model, fewer)


@pytest.mark.parametrize(
    "model",
    [
        lambda: LinearRegression().fit(FRAME.to_numpy(), Y),
        lambda: LGBMRegressor(n_estimators=3, verbose=-1).fit(FRAME.to_numpy(), Y),
        lambda: XGBRegressor(n_estimators=3).fit(FRAME.to_numpy(), Y),
        lambda: sm.OLS(Y.to_numpy(), FRAME.to_numpy()).fit(),
        lambda: lambda rows: np.asarray(rows)[:, 0],
    ],
)
def test_models_that_know_no_names_take_columns_as_they_come(model):
    results = pi.FittedModel(model(), FRAME.to_numpy(), Y).pfi(permutations="all")
    by_place = results.params
    if isinstance(model(), type(lambda: 0)):  # a function is given what the user gives
        by_name = importances(model(), FRAME)
    else:
        with pytest.warns(NamesWarning, match="without names.*matched by position") as caught:
            named = pi.FittedModel(model(), FRAME, Y)
        assert caught[0].filename == __file__
        by_name = named.pfi(permutations="all").params
        assert "were matched by position" in words_of(named.pfi())
    assert_allclose(by_name.to_numpy(), by_place.to_numpy())
    assert list(by_name.index) == list(FRAME.columns)


@pytest.mark.parametrize("rows", [FRAME.to_numpy(), FRAME], ids=["array", "frame"])
def test_a_function_is_given_what_the_user_gives(rows):
    kinds = []
    importances(lambda X: kinds.append(type(X)) or np.asarray(X)[:, 0], rows)
    assert set(kinds) == {type(rows)}


def test_one_row_is_enough_for_an_effect():
    effect = pi.FittedModel(LinearRegression().fit(FRAME, Y), FRAME[:1]).pd("c", grid=[0.0, 1.0])
    assert_allclose(np.diff(effect.params), [-1.0], atol=0.1)
    assert effect.bse.isna().all()
    assert effect.conf_int().isna().all(axis=None)
    text = words_of(effect)
    assert "No standard errors and intervals: they need at least 2 rows; there is 1." in text


WEIGHTS = np.linspace(1, 2, N)


@pytest.mark.parametrize(
    "options",
    [
        {"weights": WEIGHTS},
        {"offset": list(WEIGHTS)},
        {"exposure": pd.Series(WEIGHTS)},
        {"var_weights": "z"},
        {"fit": {"cov_type": "cluster", "cov_kwds": {"groups": np.arange(N)}}},
    ],
    ids=lambda o: next(iter(o)),
)
def test_options_with_a_value_per_row_are_refused(options):
    with pytest.raises(OptionError, match="has one value per row, which would not follow the rows"):
        pi.statsmodels_learner(sm.GLM, **options)


def test_arrays_as_long_as_the_data_are_refused_whatever_their_name():
    for estimator in (
        GaussianProcessRegressor(alpha=WEIGHTS),
        GridSearchCV(LinearRegression(), {}, cv=PredefinedSplit(np.arange(N) % 2)),
        GridSearchCV(LinearRegression(), {}, cv=[(np.arange(30), np.arange(30, 60))]),
        GridSearchCV(LinearRegression(), {}, cv=iter([(np.arange(30), np.arange(30, 60))])),
        make_pipeline(StandardScaler(), GaussianProcessRegressor(alpha=WEIGHTS)),
        pi.statsmodels_learner(sm.OLS, anything=WEIGHTS),
    ):
        with pytest.raises(OptionError, match="has one value per row"):
            pi.Learner(Y, FRAME, estimator)


def test_a_model_with_an_exposure_is_refused_without_its_data_too():
    """Others, with theirs, are in tests/oracles."""
    counts, exog = np.arange(N) % 4, sm.add_constant(FRAME[["c"]])
    results = sm.Poisson(counts, exog, exposure=WEIGHTS).fit(disp=0)
    results.remove_data()
    with pytest.raises(OptionError, match="fitted with an exposure"):
        pi.FittedModel(results, exog, counts)


class Faulty(BaseEstimator):
    """A regressor whose predictions are wrong in one way."""

    def __init__(self, how=""):
        self.how = how

    def fit(self, X, y):
        self.rng_ = np.random.default_rng(0)
        return self

    def predict(self, X):
        mean = np.array(X, np.float64)[:, 0]
        if self.how == "writes":
            columns = X.iloc if isinstance(X, pd.DataFrame) else X
            columns[:, 0] = 0.0
            return mean
        return {
            "random": lambda: mean + self.rng_.normal(size=len(mean)),
            "complex": lambda: mean + 1j,
            "masked": lambda: np.ma.masked_array(mean, mask=mean > 0),
            "dates": lambda: np.full(len(mean), np.datetime64("2020-01-01")),
            "batch": lambda: mean - mean.mean(),
            "strings": lambda: mean.astype(str),
        }[self.how]()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("random", "same prediction each time"),
        ("batch", "same prediction each time"),
        ("complex", "must be real numbers"),
        ("dates", "must be real numbers"),
        ("strings", "must be real numbers"),
        ("masked", "must be finite"),
        ("writes", "must not change the rows"),
    ],
)
def test_faulty_predictions_are_refused(how, message):
    for rows in (FRAME, FRAME.to_numpy()):
        before = rows.copy()
        with pytest.raises(PredictionError, match=message):
            pi.FittedModel(Faulty(how).fit(rows, Y), rows, Y).pfi()
        np.testing.assert_array_equal(rows, before)
    with pytest.raises(PredictionError, match=message):
        pi.Learner(Y, FRAME, Faulty(how)).fit(pi.Bootstrap(2), seed=1).pfi()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: 3 * p, "must be between 0 and 1"),
        (lambda p: p / 2, "must add up to 1"),
        (lambda p: p * (1 + 1j), "must be real numbers"),
    ],
)
def test_probabilities_that_are_none(change, message):
    def proba(rows):
        p = 1 / (1 + np.exp(-np.asarray(rows)[:, 0]))
        return change(np.column_stack([1 - p, p]))

    with pytest.raises(PredictionError, match=message):
        pi.FittedModel(proba, FRAME, Y > 0, classes=[False, True]).pfi()


def test_probabilities_in_single_precision_are_fine():
    def proba(rows):
        p = (1 / (1 + np.exp(-np.asarray(rows)[:, :3]))).astype(np.float32)
        return p / p.sum(axis=1, keepdims=True)

    labels = np.where(Y > 1, "a", np.where(Y < -1, "b", "c"))
    assert pi.FittedModel(proba, FRAME, labels, classes=list("abc")).pfi().params.notna().all()


@pytest.mark.parametrize("estimator", [KMeans(), IsolationForest(), GaussianMixture()])
def test_what_is_no_classifier_or_regressor_is_refused(estimator):
    message = "must be a classifier or a regressor|does not say that it is a classifier"
    with pytest.raises(PredictionError, match=message):
        pi.Learner(Y, FRAME, estimator)
    with pytest.raises(PredictionError, match=message):
        pi.FittedModel(estimator.fit(FRAME), FRAME, Y)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7, 1e8])
@pytest.mark.parametrize(
    "learner",
    [
        LinearRegression(),
        RandomForestRegressor(10, random_state=0),
        HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5),
        XGBRegressor(n_estimators=10, max_depth=3),
        LGBMRegressor(n_estimators=10, min_child_samples=5, verbose=-1),
        pi.statsmodels_learner(sm.OLS),
    ],
    ids=lambda e: type(e).__name__,
)
def test_losses_come_from_one_source_whatever_the_offset(learner, offset):
    """The engine's numbers are those of the model's own predictions, to 1e-9 of their spread."""
    y = Y + offset
    model = learner.fit(FRAME, y)
    predict = model.predict
    result = pi.FittedModel(model, FRAME, y).pfi(permutations="all")
    factual = np.square(y - predict(FRAME)).mean()
    reach = float(np.ptp(predict(FRAME)))
    single = isinstance(learner, XGBRegressor)
    digits = 100 * 2.0**-52 * offset / max(reach, 1e-300)
    tolerance = ((1e-5 if single else 1e-9) + digits) * reach**2
    for name in FRAME.columns:
        every = pd.concat([FRAME] * (N - 1), ignore_index=True)
        every[name] = np.concatenate([np.roll(FRAME[name], shift) for shift in range(1, N)])
        moved = predict(every).reshape(N - 1, N)
        naive = (np.square(np.asarray(y) - moved).mean(axis=1) - factual).mean()
        assert result.params[name] == pytest.approx(naive, abs=tolerance)
    assert result.engine.error <= (1e-5 if single else 1e-10)
    glance = result.glance()
    assert glance["engine"].item() == result.engine.name
    assert glance["engine_error"].item() == result.engine.error


def test_predictions_that_single_precision_makes_constant_are_not_read_exactly():
    rng, rows = normal_rows(200, "a b c")
    y = 1e7 + rng.normal(size=200)
    model = XGBRegressor(n_estimators=20, max_depth=3, n_jobs=1).fit(rows, y)
    assert np.ptp(model.predict(rows)) == 0
    result = pi.FittedModel(model, rows, y).pfi()
    assert (result.params == 0).all()
    assert result.engine.name == "batched"


CENTERED = FunctionTransformer(lambda X: X - np.asarray(X).mean(axis=0))


@pytest.mark.parametrize("offset", [0.0, 1e5, 1e7])
def test_random_predictions_are_seen_whatever_the_offset(offset):
    rng = np.random.default_rng(0)
    for model in (
        lambda rows: offset + 3 * np.asarray(rows)[:, 0] + 0.2 * rng.normal(size=len(rows)),
        lambda rows: offset + 3 * (np.asarray(rows)[:, 0] - np.asarray(rows)[:, 0].mean()),
        make_pipeline(CENTERED, LinearRegression()).fit(FRAME, Y + offset),
    ):
        with pytest.raises(PredictionError, match="same prediction each time"):
            pi.FittedModel(model, FRAME, Y + offset).pfi()


@pytest.mark.parametrize("frame", [True, False])
def test_another_order_of_rounding_in_a_batch_is_no_randomness(frame):
    """As of some BLAS: terms of size 1e6 that cancel, in an order by the size of the batch."""
    rng = np.random.default_rng(0)
    matrix = (1e6 + rng.normal(size=(40, 3))).astype(np.float32)
    orders = {40: (0, 1, 2), 20: (2, 1, 0)}

    def predict(rows):
        terms = np.asarray(rows) * np.float32([1, -1.3, 0.3])
        order = orders.get(len(rows), (1, 0, 2))
        return (terms[:, order[0]] + terms[:, order[1]]) + terms[:, order[2]]

    X = pd.DataFrame(matrix, columns=list("abc")) if frame else matrix
    some = X[::2]
    assert np.abs(predict(some) - predict(X)[::2]).max() > 0.01
    y = predict(X)
    assert np.isfinite(pi.FittedModel(predict, X, y).loss().params).all()

    with pytest.raises(PredictionError, match="same prediction each time"):
        pi.FittedModel(lambda rows: predict(rows) + len(rows), X, y).loss()


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("code", ["I(d - np.mean(d))", "I(d / np.std(d))"])
def test_a_formula_that_depends_on_the_other_rows_is_refused(n, code):
    data = PLAIN.assign(y=Y)
    model = smf.ols(f"y ~ {code}", data).fit()
    with pytest.raises(PredictionError, match="same prediction each time"):
        pi.FittedModel(model, data[:n], "y").pd("d", grid=[0.0, 5.0])


@pytest.mark.parametrize("labels", [["0", "1", "2"], ["Column_0", "Column_1", "Column_2"]])
@pytest.mark.parametrize("model", [LinearRegression(), XGBRegressor(n_estimators=5)])
def test_names_that_look_like_numbers_are_names(labels, model):
    rows = FRAME.set_axis(labels, axis=1)
    fitted = model.fit(rows, Y)
    expected, moved = importances(fitted, rows), importances(fitted, rows[labels[::-1]])
    assert_allclose(moved[expected.index], expected, rtol=1e-6)


def test_names_are_known_after_data_are_removed():
    results = sm.OLS(Y, FRAME).fit()
    expected = importances(results, FRAME)
    results.remove_data()
    moved = importances(results, FRAME[["d", "c", "a b"]])
    assert_allclose(moved[expected.index], expected)


@pytest.mark.parametrize("stem", [None, "x", "f", "Column_"])
def test_numbers_out_of_order_are_refused(stem):
    names = [2, 1, 0] if stem is None else [f"{stem}{k}" for k in (2, 1, 0)]
    model = LinearRegression().fit(FRAME.to_numpy(), Y)
    with pytest.raises(DataError, match="knows no names to match them by"):
        importances(model, FRAME.set_axis(names, axis=1))


@pytest.mark.filterwarnings("ignore:Using dict data structures:DeprecationWarning")
def test_a_model_of_a_mapping():
    model = smf.ols("y ~ c", {"c": FRAME["c"].to_numpy(), "y": Y.to_numpy()}).fit()
    assert importances(model, FRAME[["c"]])["c"] > 0
