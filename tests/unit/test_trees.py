"""The exact engine: equal to the model's own predictions for every family, row and donor."""

import os
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from by_copies import Asked, compare, same_importance, whatif_of
from fits import model_of
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.testing import assert_allclose, assert_array_equal
from shared import normal_rows
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, PoissonRegressor, SGDClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier, XGBRegressor

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.models.predictor import Predictor
from pyinterp.whatif import PREDICTIONS, inputs, trees
from pyinterp.whatif.dispatch import dispatch
from pyinterp.whatif.read_forest import read_forest

DOUBLE = 1e-12  # the bar; rounding of sums in another order
SINGLE = 1e-5  # XGBoost sums in single precision

REGRESSORS = {
    "tree": DecisionTreeRegressor(random_state=0),
    "forest": RandomForestRegressor(15, random_state=0),
    "extra": ExtraTreesRegressor(15, random_state=0),
    "gb": GradientBoostingRegressor(n_estimators=20, random_state=0),
    "hist": HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=5),
    "hist poisson": HistGradientBoostingRegressor(loss="poisson", max_iter=10, min_samples_leaf=5),
    "xgb": XGBRegressor(n_estimators=15, max_depth=4, n_jobs=1),
    "xgb poisson": XGBRegressor(n_estimators=10, objective="count:poisson", n_jobs=1),
    "lgb": LGBMRegressor(n_estimators=15, min_child_samples=5, verbose=-1, n_jobs=1),
}
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(15, random_state=0),
    "extra": ExtraTreesClassifier(15, random_state=0),
    "gb": GradientBoostingClassifier(n_estimators=15, random_state=0),
    "hist": HistGradientBoostingClassifier(max_iter=15, min_samples_leaf=5),
    "xgb": XGBClassifier(n_estimators=10, max_depth=4, n_jobs=1),
    "lgb": LGBMClassifier(n_estimators=10, min_child_samples=5, verbose=-1, n_jobs=1),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Histogram boosting of few rows is many times slower with threads that wait for a core."""
    with threadpool_limits(1):
        yield


def make_data(seed=0, n=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = X[:, 1].round(1)  # ties, and thresholds between equal values
    X[:, 2] = rng.integers(0, 5, n)
    X[:, 3] = 1.0  # constant
    return X, X[:, 0] * X[:, 1] + (X[:, 2] == 3) + rng.normal(size=n) / 10


def is_walked(whatif, name):
    """Whether rows with donors of their own are predicted without copies."""
    asked = Asked(whatif)
    donors = whatif.sample.variables[[name]][:15]
    whatif.of([name]).pairs(np.arange(5), np.arange(15).reshape(5, 3), donors)
    whatif.predictor = asked.predictor
    return not asked.rows


def check(model, X, y, tolerance=DOUBLE, categorical=""):
    whatif = whatif_of(pi.FittedModel(model, X, y))
    assert whatif.engine.name == "trees, exact"
    donors = whatif.sample.variables
    for name in donors.columns:
        compare(whatif, [name], donors[:25], tolerance)
        if name == categorical:
            continue
        # Values that are thresholds themselves, beyond the data, and out of order.
        compare(whatif, [name], pd.DataFrame({name: [1.5, -9.0, 0.5, 9.0, 0.5]}), tolerance)
    compare(whatif, list(donors.columns[:2]), donors[:20], tolerance)
    merged = whatif.of([donors.columns[1]]).donors
    assert merged.counts.sum() == len(donors)
    compare(whatif, [donors.columns[1]], merged.frame, tolerance)


def compare_each(whatif, names=()):
    for name in names or whatif.sample.variables:
        compare(whatif, [name], whatif.sample.variables, DOUBLE)


def same(model, X, y, loss="squared"):
    """The engine's name; its importances are those of all predicted pairs."""
    return same_importance(lambda engine: pi.FittedModel(model, X, y, engine=engine), loss)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regression_equals_the_model(name):
    X, y = make_data()
    y = np.exp(y / 3) if "poisson" in name else y
    check(REGRESSORS[name].fit(X, y), X, y, SINGLE if "xgb" in name else DOUBLE)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classification_equals_the_model(name, classes):
    X, y = make_data()
    labels = np.digitize(y, [0.0, 0.7][: classes - 1])
    check(CLASSIFIERS[name].fit(X, labels), X, labels, SINGLE if "xgb" in name else DOUBLE)


def test_categories_of_histogram_boosting():
    X, y = make_data()
    options = {"max_iter": 20, "min_samples_leaf": 5, "categorical_features": [2]}
    check(HistGradientBoostingRegressor(**options).fit(X, y), X, y, categorical="x3")


@pytest.mark.parametrize("name", ["tree", "forest", "hist", "xgb", "lgb"])
def test_missing_donors_and_rows_go_where_the_model_sends_them(name):
    X, y = make_data()
    case = whatif_of(pi.FittedModel(clone(REGRESSORS[name]).fit(X, y), X, y))
    X[::6, 0] = np.nan
    X[3::7, 1] = np.nan
    frame = pd.DataFrame(X, columns=list(case.sample.variables))
    model = Predictor.of(REGRESSORS[name].fit(X, y))
    whatif = dispatch(model, case.design, replace(case.sample, variables=frame))
    assert whatif.engine.name == "trees, exact"
    for variable in frame:
        compare(whatif, [variable], frame[:25], SINGLE if name == "xgb" else DOUBLE)


def test_one_node_trees_and_unused_features():
    X, y = make_data()
    check(RandomForestRegressor(3, max_depth=1, random_state=0).fit(X, y), X, y)
    flat = DecisionTreeRegressor(min_samples_leaf=80).fit(X, y)
    check(flat, X, y)
    assert (pi.FittedModel(flat, X, y).pfi().params == 0).all()


class TestDesigns:
    data = pd.DataFrame(make_data()[0], columns=list("abkz")).assign(
        y=make_data()[1], g=lambda d: pd.Categorical.from_codes(d["k"].astype(int), list("uvwxy"))
    )

    def whatif(self, formula, learner, **options):
        data = self.data.assign(one="same")
        return whatif_of(model_of(formula, data, learner, **options))

    def test_a_variable_that_drives_several_columns(self):
        whatif = self.whatif("y ~ a + I(a**2) + np.sin(a) + b + C(k)", RandomForestRegressor(8))
        assert whatif.engine.name == "trees, exact"
        compare_each(whatif)

    def test_interactions_are_predicted_in_batches(self):
        compare_each(self.whatif("y ~ a*b + k", RandomForestRegressor(8)), "ak")

    @pytest.mark.parametrize(
        ("formula", "walked"),
        [
            ("y ~ a + b", True),
            ("y ~ I(a**2) + b", True),  # donors are in another order than their values
            ("y ~ C(a > 0) + b", True),
            ("y ~ a + I(a**2) + b", False),
            ("y ~ a*b", False),
            ("y ~ a:b + b", False),
        ],
    )
    def test_one_column_is_walked_for_rows_with_donors_of_their_own(self, formula, walked):
        whatif = self.whatif(formula, RandomForestRegressor(8))
        compare(whatif, ["a"], whatif.sample.variables, DOUBLE)
        assert is_walked(whatif, "a") is walked
        assert whatif.of(["a"]).most_draws == (1e8 if walked else PREDICTIONS)
        assert whatif.of(["a", "b"]).most_draws == PREDICTIONS

    def test_a_variable_without_a_column_changes_nothing(self):
        whatif = self.whatif("y ~ a + one", RandomForestRegressor(8))
        compare_each(whatif, ["one"])
        assert is_walked(whatif, "one")

    @pytest.mark.parametrize(
        ("steps", "walked"),
        [
            ([StandardScaler()], {"x1": True, "x2": True}),
            ([StandardScaler(), PCA(2, random_state=0)], {"x1": False, "x2": False}),
            ([PolynomialFeatures(include_bias=False)], {"x1": False, "x2": False}),
            # The product's column mixes both, but of every pair it can be told.
            ([FunctionTransformer(lambda X: X[:, :1] * X[:, 1:])], {"x1": True}),
        ],
    )
    def test_pipelines_are_asked_about_every_pair(self, steps, walked):
        X, y = self.data[["a", "b"]].to_numpy(), self.data["y"]
        model = make_pipeline(*steps, RandomForestRegressor(8, random_state=0)).fit(X, y)
        whatif = whatif_of(pi.FittedModel(model, X, y))
        assert (whatif.engine.name == "trees, exact") or not all(walked.values())
        compare_each(whatif, walked)
        assert {name: is_walked(whatif, name) for name in walked} == walked

    @pytest.mark.parametrize(
        "learner",
        [
            HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=10),
            LGBMRegressor(n_estimators=8, min_child_samples=5, verbose=-1, n_jobs=1),
            make_pipeline(
                ColumnTransformer([("g", OneHotEncoder(), ["g"])], remainder="passthrough"),
                RandomForestRegressor(8),
            ),
            make_pipeline(
                ColumnTransformer([("g", OneHotEncoder(), ["g"])], remainder=StandardScaler()),
                HistGradientBoostingRegressor(max_iter=10),
            ),
        ],
    )
    def test_frames_and_pipelines_equal_copies_whatever_the_engine(self, learner):
        compare_each(self.whatif("y ~ a + b + g", learner, design="frame"), "ag")

    def test_a_pipeline_that_mixes_columns_in_a_few_rows_only_is_not_walked(self):
        # a counts only where b is large: most rows hide that the step mixes columns.
        large = self.data["b"].nlargest(5).min()
        mix = FunctionTransformer(
            lambda X: np.column_stack([X[:, 0] * (X[:, 1] >= large), X[:, 2]])
        )
        forest = RandomForestRegressor(8, random_state=0)
        X = self.data[["a", "b", "k"]].to_numpy()
        y = 9 * X[:, 0] * (X[:, 1] >= large) + X[:, 2]
        model = make_pipeline(mix, forest).fit(X, y)
        whatif = whatif_of(pi.FittedModel(model, X, y))
        for donors in (30, len(X)):
            compare(whatif, ["x1"], whatif.sample.variables[:donors], DOUBLE)
        same(model, X, y)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_exact_pfi_and_its_variance_equal_those_of_all_predicted_pairs(loss):
    X, y = make_data()
    assert same(RandomForestRegressor(20, random_state=0).fit(X, y), X, y, loss) == "trees, exact"


def test_small_memory_gives_the_same(monkeypatch):

    X, y = make_data(n=150)
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    groups = {"both": ["x1", "x2"]}

    def asked():
        fitted = pi.FittedModel(model, X, y, groups=groups)
        return np.concatenate([fitted.pfi(loss=loss).params for loss in ("squared", "absolute")])

    whole = asked()
    monkeypatch.setattr(trees.TreesWhatIf, "block_bytes", 1)  # 64 rows at a time
    assert_allclose(asked(), whole, atol=1e-12)
    monkeypatch.setattr(trees, "BITS_BYTES", 0)  # and every split answered again
    assert_allclose(asked(), whole, atol=1e-12)


def test_pairs_in_small_blocks_are_the_same(monkeypatch):

    X, y = make_data(n=150)
    rows, index = np.arange(150)[::-1], np.arange(150 * 7).reshape(150, 7)
    donors = pd.DataFrame({"x1": np.random.default_rng(0).normal(size=index.size)})
    donors.loc[: 7 * 40, "x1"] = np.repeat(X[::-1, 0], 7)[: 7 * 40 + 1]  # nothing changes at first

    def asked():
        whatif = whatif_of(pi.FittedModel(model, X, y))
        assert is_walked(whatif, "x1")
        return whatif.of(["x1"]).pairs(rows, index, donors)

    for steps in ([], [StandardScaler()]):
        model = make_pipeline(*steps, RandomForestRegressor(10, random_state=0)).fit(X, y)
        with monkeypatch.context() as small:
            whole = asked()
            small.setattr(trees.TreesWhatIf, "block_bytes", 1)  # one row at a time
            small.setattr(inputs, "SLICE", 100)
            assert_array_equal(asked(), whole)


def test_the_engine_is_named_and_can_be_chosen():
    X, y = make_data()
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    assert "batched" in str(pi.FittedModel(forest, X, y, engine="batched").pfi().summary())
    with pytest.raises(OptionError, match='engine="trees"` can\'t serve LinearRegression'):
        pi.FittedModel(LinearRegression().fit(X, y), X, y, engine="trees").pfi()


def test_trees_with_another_kind_of_split_are_predicted_in_batches():
    # As scikit-learn's next release will have for categories; all nodes here split numbers.
    X, y = np.arange(40.0).reshape(-1, 2), np.arange(20.0)
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    assert same(model, X, y) == "trees, exact"
    model.tree_ = AnotherTree(model.tree_)
    assert same(model, X, y) == "batched"


class AnotherTree:
    """A tree whose nodes say whether they split categories."""

    def __init__(self, tree):
        self.tree = tree

    def __getattr__(self, name):
        return getattr(self.tree, name)

    def __getstate__(self):
        state = self.tree.__getstate__()
        old = state["nodes"]
        nodes = np.zeros(len(old), [*old.dtype.descr, ("is_categorical", "u1")])
        return {**state, "nodes": nodes}


class Shifted(RandomForestRegressor):
    def predict(self, X):
        return super().predict(X) + 1


class Clipped(Pipeline):
    def predict(self, X):
        return np.maximum(super().predict(X), 0)


class Own(LinearRegression):
    def _decision_function(self, X):
        return np.maximum(super()._decision_function(X), 0)


@pytest.mark.parametrize(
    "model",
    [
        Shifted(5, random_state=0),
        Clipped([("scale", StandardScaler()), ("lm", LinearRegression())]),
        Own(),
    ],
)
def test_a_model_that_predicts_in_its_own_way_is_predicted_in_batches(model):
    X, y = make_data()
    model.fit(X, y)
    assert pi.FittedModel(model, X, y).pfi().engine == ("batched", 0.0, "its `predict` is its own")
    if isinstance(model, Shifted):
        with pytest.raises(OptionError, match="can't serve Shifted: its `predict` is its own"):
            pi.FittedModel(model, X, y, engine="trees").pfi()


def test_a_model_that_the_trees_do_not_reproduce_is_predicted_in_batches(monkeypatch):
    X, y = make_data()
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    own = RandomForestRegressor.predict

    def shifted(self, X):
        return own(self, X) + 1

    shifted.__module__ = own.__module__
    monkeypatch.setattr(RandomForestRegressor, "predict", shifted)
    result = pi.FittedModel(model, X, y).pfi()
    assert "the trees engine does not reproduce" in result.engine.reason


@pytest.mark.parametrize("learner", [RandomForestRegressor(10), LinearRegression()])
@pytest.mark.parametrize("order", [[0, 1, 4, 3, 2], [0, 1, 2, 3, 4]])
def test_levels_that_no_row_has_are_read_as_the_model_reads_them(learner, order):
    rng = np.random.default_rng(0)
    k = rng.integers(0, 5, 200)
    X = pd.DataFrame({"k": pd.Categorical(k), "x": rng.normal(size=200)})
    y = np.array([0, 1, 2, 5, 9.0])[k] + X["x"]
    model = clone(learner).fit(X, y)
    few = X[k < 2].assign(k=lambda d: d["k"].cat.set_categories(order))
    exact, batched = (
        pi.FittedModel(model, few, y[k < 2], engine=engine).pd("k", grid="r").params
        for engine in ("auto", "batched")
    )
    pd.testing.assert_series_equal(exact, batched, rtol=1e-10)


def test_levels_that_the_model_does_not_know_do_not_matter_until_asked_for():
    X = pd.DataFrame({"g": pd.Categorical(list("abab") * 10, list("abc")), "x": np.arange(40.0)})
    y = np.where(X["g"] == "a", 1.0, 2.0) + X["x"] % 3
    for unknown in ("error", "ignore"):
        encoder = ColumnTransformer(
            [("g", OneHotEncoder(handle_unknown=unknown), ["g"])], remainder="passthrough"
        )
        model = make_pipeline(encoder, RandomForestRegressor(5, random_state=0)).fit(X, y)
        assert pi.FittedModel(model, X, y).pfi().engine.name == "trees, exact"


CODE = """
import numpy as np, pyinterp as pi
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.ensemble import RandomForestRegressor
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2)).round(1)
y = X[:, 0] + rng.normal(size=40)
m = RandomForestRegressor(3, random_state=0).fit(X, y)
c = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, y > 0)
print(*pi.FittedModel(m, X, y, groups={"both": ["x1", "x2"]}).pfi().params)
print(*pi.FittedModel(c, X, y > 0, seed=1).pfi(permutations=4).params)
print(*pi.FittedModel(m, X).pd("x1", points=5).params)
three = rng.integers(3, size=40)
f = RandomForestClassifier(2, random_state=0).fit(X, three)
for model, classes in ((f, three), (c, y > 0)):
    for loss in ("log", "brier"):
        print(*pi.FittedModel(model, X, classes).pfi(loss=loss).params.round(12))
"""


def test_without_compilation_the_numbers_are_the_same(capsys):
    plain = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", CODE],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    exec(CODE, {})  # noqa: S102 - the same, compiled
    assert plain.stdout == capsys.readouterr().out


class TestWhatTheRowsDoNotShow:
    """Models that are read wrongly only where no row of the sample is."""

    @pytest.mark.parametrize(
        "model",
        [
            DecisionTreeRegressor(max_leaf_nodes=12, random_state=0),
            RandomForestRegressor(10, max_leaf_nodes=12, random_state=0),
            ExtraTreesRegressor(10, max_leaf_nodes=12, random_state=0),
        ],
    )
    def test_trees_grown_best_first_are_not_in_preorder(self, model):
        X, y = make_data()
        check(model.fit(X, y), X, y)

    def test_formulas_of_statsmodels_that_mix_in_a_few_rows(self):
        _, data = normal_rows(200, "y a")
        data["flag"] = (np.arange(200) % 20 == 7).astype(float)
        data["y"] += data["a"] * data["flag"] * 9 + data["a"]
        same(smf.ols("y ~ a*flag", data).fit(), data, "y")

    @pytest.mark.parametrize(
        ("model", "missing"),
        [
            (XGBRegressor(n_estimators=10, missing=-999.0, n_jobs=1), -999.0),
            (XGBRegressor(n_estimators=10, missing=0.0, n_jobs=1), 0.0),
            (clone(REGRESSORS["lgb"]).set_params(zero_as_missing=True), 0.0),
        ],
    )
    def test_what_a_library_takes_for_missing(self, model, missing):
        X, y = make_data()
        X[:, 0] += 20
        trained = X.copy()
        trained[::3, 0] = missing
        whatif = whatif_of(pi.FittedModel(model.fit(trained, y), X, y))
        xgboost = isinstance(model, XGBRegressor)
        assert not xgboost or whatif.engine.name == "trees, exact"
        tolerance = SINGLE if xgboost else DOUBLE
        compare(whatif, ["x1"], pd.DataFrame({"x1": [missing, 20.0]}), tolerance)

    def test_rows_with_fewer_levels_than_lightgbm_was_trained_on(self):
        rng = np.random.default_rng(0)
        data = pd.DataFrame({"g": pd.Categorical(rng.choice(list("abcde"), 200))})
        data["x"] = rng.normal(size=200)
        y = data["g"].cat.codes.map({0: 3.0, 1: -2.0, 2: 5.0, 3: 0.0, 4: 9.0}) + data["x"]
        model = clone(REGRESSORS["lgb"]).fit(data, y)
        kept = data["g"].isin(list("bde"))
        rows = data[kept].assign(g=lambda d: d["g"].cat.remove_unused_categories())
        rows, y = rows.reset_index(drop=True), y[kept].reset_index(drop=True)
        assert same(model, rows, y) == "trees, exact"

    def test_early_stopping_of_xgboost_with_texts_of_categories(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(
            {"x": rng.normal(size=300), "g": pd.Categorical(rng.choice([*"uvw"], 300))}
        )
        y = X["x"] + 2.0 * (X["g"] == "v") + rng.normal(size=300)
        model = XGBRegressor(
            n_estimators=50, early_stopping_rounds=2, enable_categorical=True, n_jobs=1
        )
        model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
        assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
        rows = X[::-1].reset_index(drop=True)
        rows["g"] = pd.Categorical(rows["g"].astype(str), [*"wvu"])  # other codes
        forest = read_forest(model, "mean")
        if forest is None:
            pytest.skip("this XGBoost keeps no names of categories, so that the model is asked")
        assert forest.levels == {1: [*"uvw"]}
        fitted = pi.FittedModel(model, rows, y[::-1].reset_index(drop=True))
        assert fitted.pfi().engine.name == "trees, exact"

    def test_early_stopping_of_xgboost(self):
        X, y = make_data(n=200)
        model = XGBRegressor(n_estimators=200, early_stopping_rounds=3, n_jobs=1)
        model.fit(X[:100], y[:100], eval_set=[(X[100:], y[100:])], verbose=False)
        assert model.best_iteration < 150
        check(model, X, y, SINGLE)

    def test_saturated_classifiers_do_not_show_their_link(self):
        rng = np.random.default_rng(0)
        centers = np.array([[100, 150], [-150, 100], [120, -180]])
        y = np.repeat([0, 1, 2], 40)
        X = centers[y] + rng.normal(size=(120, 2))
        same(SGDClassifier(loss="log_loss", random_state=0).fit(X, y), X, y, "brier")

    def test_predictions_that_are_not_finite_are_refused(self):
        X, y = make_data()
        fitted = pi.FittedModel(PoissonRegressor().fit(X, np.exp(y / 3)), X, np.exp(y / 3))
        with pytest.raises(pi.errors.PredictionError, match="Predictions must be finite"):
            fitted.pd("x1", grid=[0, 1e6])


def test_any_number_of_threads_adds_up_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    exog = rng.normal(size=(2_500, 3))  # three slices of rows
    endog = exog[:, 0] + rng.normal(size=2_500)
    forest = RandomForestRegressor(5, max_depth=6, random_state=0).fit(exog, endog)
    threads, run = set(), trees.summed_pairs

    def spied(*arguments):
        threads.add(threading.get_ident())
        run(*arguments)

    monkeypatch.setattr(trees, "summed_pairs", spied)
    found = []
    for n_jobs in (1, 2, 4):
        forest.set_params(n_jobs=n_jobs)
        found.append(pi.FittedModel(forest, exog, endog).pfi().replicates.per_refit)
    assert len(threads) > 1
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
