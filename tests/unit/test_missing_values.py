"""Missing values: which rows are kept, what is refused, and what tables say of both."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import xgboost
from fits import words_of
from numpy.testing import assert_array_equal
from shared import normal_rows
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import pyinterp as pi
from pyinterp.errors import DataError, DesignError, InferenceError, OptionError, RefitError
from pyinterp.models.missing_values import takes_missing

N = 60
PLAN = pi.Subsampling(3)
FOREST = RandomForestRegressor(5, random_state=0)
LINE = LinearRegression()


class OwnClass(RegressorMixin, BaseEstimator):
    """Says nothing of missing values, and takes them."""

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return self.mean_ + np.nan_to_num(np.asarray(X, float)).sum(axis=1)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, N))
    g = pd.Categorical(rng.choice(["a", "b", "c"], N))
    data = pd.DataFrame({"y": x + rng.normal(size=N), "x": x, "z": z, "g": g})
    data.loc[[1, 2, 3], "x"] = np.nan
    data.loc[[3, 4], "g"] = np.nan
    data.loc[5, "y"] = np.nan
    return data


def grid_of(results):
    return results.estimand.terms.layout.iloc[:, 0]


def learner(data, formula, estimator, **options):
    return pi.Learner.from_formula(formula, data, estimator, **options)


@pytest.mark.parametrize(
    ("estimator", "taken"),
    [
        (LINE, False),
        (FOREST, True),
        (GradientBoostingRegressor(), False),
        (xgboost.XGBRegressor(), True),
        (lightgbm.LGBMRegressor(), True),
        (make_pipeline(StandardScaler(), KNNImputer(), LINE), True),
        (make_pipeline(StandardScaler(), LINE), False),
        (make_pipeline("passthrough", FOREST), True),
        (make_pipeline(FunctionTransformer(), FOREST), None),
        (
            make_pipeline(
                make_column_transformer((OneHotEncoder(), ["g"]), remainder=SimpleImputer()), LINE
            ),
            True,
        ),
        (
            make_pipeline(
                make_column_transformer((OneHotEncoder(), ["g"]), remainder="passthrough"), LINE
            ),
            None,  # the columns that pass may have no missing value
        ),
        (GridSearchCV(FOREST, {}), True),
        (TransformedTargetRegressor(FOREST), True),
        (CalibratedClassifierCV(RandomForestClassifier()), True),
        (BaggingRegressor(LINE), False),
        (VotingRegressor([("a", FOREST), ("b", LINE)]), False),
        (pi.statsmodels_learner(sm.OLS), False),
        (OwnClass(), None),
        (lambda X: X, None),
    ],
)
def test_which_learners_take_missing_values(estimator, taken):
    assert takes_missing(estimator) is taken


def test_auto_keeps_or_drops_by_the_learner_and_counts(data):
    kept = learner(data, "y ~ x + z", FOREST)
    assert (kept.sample.nobs, kept.dropped_rows) == (N - 1, 1)
    dropped = learner(data, "y ~ x + z", LINE)
    assert (dropped.sample.nobs, dropped.dropped_rows) == (N - 4, 4)
    text = words_of(kept.fit(PLAN, seed=0).pfi())
    assert "1 row is left out for missing values: y 1." in text
    assert "3 analyzed rows have missing values, which the learner takes: x 3." in text
    assert "59 (1 dropped)" in text
    text = words_of(dropped.fit(PLAN, seed=0))
    assert "4 rows are left out for missing values: x 3, y 1." in text


def test_comparisons_need_the_same_rows(data):
    forest, line = (learner(data, "y ~ x + z", e).fit(PLAN, seed=1) for e in (FOREST, LINE))
    with pytest.raises(InferenceError, match=r'the other was not.*missing="drop"'):
        pi.compare(forest, line)
    whole = [
        learner(data, "y ~ x + z", e, missing="drop").fit(PLAN, seed=1) for e in (FOREST, LINE)
    ]
    assert np.isfinite(pi.compare(whole).params).all()


def test_texts_in_frames_have_advice(data):
    texts = data.dropna().assign(g=lambda d: d["g"].astype(str))
    with pytest.raises(RefitError, match=r'could not convert.*design="matrix".*category'):
        learner(texts, "y ~ x + g", FOREST, design="frame").fit(PLAN, seed=1)


def test_drop_is_the_same_as_no_such_rows(data):
    some = learner(data, "y ~ x + z", FOREST, missing="drop").fit(PLAN, seed=1)
    whole = learner(data.dropna(subset=["x", "z", "y"]), "y ~ x + z", FOREST).fit(PLAN, seed=1)
    assert_array_equal(some.pfi().params, whole.pfi().params)


def test_keep_needs_a_learner_that_takes_them(data):
    with pytest.raises(OptionError, match=r"LinearRegression takes none.*imputer"):
        learner(data, "y ~ x", LINE, missing="keep")
    own = learner(data, "y ~ x + z", OwnClass(), missing="keep")  # its word is taken
    assert own.sample.nobs == N - 1
    assert learner(data, "y ~ x + z", OwnClass()).sample.nobs == N - 4
    assert np.isfinite(own.fit(PLAN, seed=0).pfi().params).all()


def test_raise_names_counts(data):
    with pytest.raises(DataError, match=r"5 rows have missing values \(in x 3, g 2, y 1\)"):
        learner(data, "y ~ .", FOREST, missing="raise", design="frame")


class TestMatrices:
    """Columns made by a formula, where a variable is missing."""

    def test_numbers_and_functions_of_a_row_are_missing_with_it(self, data):
        made = learner(data, "y ~ x + I(x**2) + np.exp(x) + x:z + z", FOREST)
        matrix = made.design.encode(made.sample.variables)
        assert made.sample.nobs == N - 1
        assert_array_equal(np.isnan(matrix).any(axis=1), made.sample.variables["x"].isna())
        assert np.isfinite(made.fit(PLAN, seed=0).pfi().params).all()

    @pytest.mark.parametrize(
        ("formula", "why"),
        [
            ("y ~ x + g", r'levels of `g`.*design="frame"'),
            ("y ~ C(x > 0) + z", "has a value where"),
            ("y ~ bs(x, df=4) + z", "learns from all rows"),
        ],
    )
    def test_what_can_not_be_missing_is_left_out(self, data, formula, why):
        made = learner(data, formula, FOREST)
        lacking = data[["y", "g"]] if "g" in formula else data[["y", "x"]]
        assert made.sample.nobs == int(lacking.notna().all(axis=1).sum())
        assert np.isfinite(made.fit(PLAN, seed=0).pfi().params).all()
        with pytest.raises(DataError, match=why):
            learner(data, formula, FOREST, missing="keep")

    def test_all_rows_lost_say_why(self, data):
        empty = data.assign(g=pd.Categorical([np.nan] * N, ["a", "b"]))
        with pytest.raises(DataError, match=r'All 60 rows .*design="frame"'):
            learner(empty, "y ~ x + g", FOREST)

    def test_a_function_that_is_not_finite_is_still_refused(self, data):
        with pytest.raises(DesignError, match="must be finite"):
            learner(data, "y ~ np.log(z)", FOREST)


class TestEstimands:
    """What each makes of rows that lack the variable."""

    @pytest.fixture
    def results(self, data):
        return learner(
            data, "y ~ .", HistGradientBoostingRegressor(max_iter=5), design="frame"
        ).fit(PLAN, seed=0)

    def test_grids_are_of_observed_values(self, results):
        curve = results.pd("x")
        values = grid_of(curve)
        assert values.notna().all()
        text = words_of(curve)
        assert "`x` is missing in 3 of 59 rows; the grid is of its other values" in text
        assert list(grid_of(results.pd("g"))) == ["a", "b", "c"]
        for grid in ("equidistant", "unique", "r", pi.r_style.RGrid(quantiles=True)):
            assert results.pd("x", grid=grid).params.notna().all()
        assert (
            results.pd(["x", "z"], grid=pi.r_style.RGrid(chull=True, grid_resolution=5))
            .params.notna()
            .all()
        )

    @pytest.mark.parametrize(
        "ask",
        [
            lambda r: r.ale("x"),
            lambda r: r.ame("x", step="sd"),
            lambda r: r.pfi("x", sampler="conditional"),
            lambda r: r.cvim("g"),
        ],
    )
    def test_refusals_name_the_variable_and_count(self, results, ask):
        with pytest.raises(OptionError, match=r"is missing in [23] of 59 rows.*missing=\"drop\""):
            ask(results)

    @pytest.mark.parametrize(
        "ask",
        [
            lambda r: r.ale("z"),
            lambda r: r.ame("z", step="sd"),
            lambda r: r.pfi("z", sampler="conditional"),
            lambda r: r.pfi("z", sampler="subgroup"),
            lambda r: r.firm(),
            lambda r: r.vint(["x", "z"]),
            lambda r: r.h_statistic(["x", "z", "g"]),
            lambda r: r.loco(),
            lambda r: r.loss(),
            lambda r: r.metric("rmse"),
            lambda r: r.mvim(),
            lambda r: r.pd("x", kind="ice"),
            lambda r: r.causal("z"),
        ],
    )
    def test_all_else_is_served(self, results, ask):
        asked = ask(results)
        asked = getattr(asked, "effects", asked)
        assert asked.params.notna().all()
        str(asked.summary())

    def test_adjusted_importance_says_what_it_lacks(self, results):
        table = results.amvim(method="additive")
        assert table.params.isna().to_dict() == {"x": True, "z": False, "g": True}
        assert "along which nothing accumulates" in words_of(table)

    def test_a_variable_with_one_value_and_missing_ones_varies(self, data):
        one = data.assign(x=data["x"].where(data["x"].isna(), 1.0))
        text = str(learner(one, "y ~ x + z", FOREST).fit(PLAN, seed=0).pfi().summary())
        assert "constant in the data" not in text


def test_booleans_with_missing_values_are_levels():
    data = pd.DataFrame(
        {"y": np.arange(N) % 7.0, "b": pd.array([True, False, None] * 20, "boolean")}
    )
    model = HistGradientBoostingRegressor(max_iter=3)
    made = learner(data.assign(z=data["y"] ** 2), "y ~ .", model, design="frame")
    assert list(grid_of(made.fit(PLAN, seed=0).pd("b"))) == [False, True]


def test_a_variable_without_any_value_is_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50), "q": np.nan, "y": rng.normal(size=50)})
    learner = HistGradientBoostingRegressor()
    with pytest.raises(DataError, match="Variable `q` is missing in every row"):
        pi.Learner.from_formula("y ~ .", frame, learner, design="frame")


def test_a_variable_with_the_name_of_the_response_leaves_its_rows_out_too():
    rng, X = normal_rows(30, "y x")
    response = X["y"].to_numpy() + rng.normal(size=30)
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, response)
    gaps = X.assign(y=X["y"].mask(X["y"] > 1))
    fitted = pi.FittedModel(model, gaps, response, missing="drop")
    assert fitted.nobs == len(gaps.dropna()) < 30
