"""Frames of every library, columns that are not used, dates, indexes, weights of 0."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import model_of, words_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import pyinterp as pi
from pyinterp.errors import DataError

N = 60
RNG = np.random.default_rng(2)
DATA = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "k": RNG.integers(0, 5, N),
        "g": RNG.choice(list("uvw"), N),
        "w": RNG.integers(0, 3, N),
        "day": pd.Timestamp("2024-01-20") + pd.to_timedelta(RNG.integers(0, 90, N), "D"),
    }
)
DATA["y"] = DATA.x + DATA.k + 2.0 * (DATA.g == "v") + RNG.normal(size=N)
PLAN, LINEAR = pi.Bootstrap(3), LinearRegression()


def fit_of(formula, data, estimator=LINEAR, **options):
    return pi.Learner.from_formula(formula, data, estimator, **options).fit(PLAN, seed=1)


def assert_same(found, expected, **tolerance):
    assert_allclose(found.pfi().params, expected.pfi().params, **tolerance)


def month(dates):
    return dates.dt.month


def polars():
    return pytest.importorskip("polars").DataFrame({c: DATA[c].to_list() for c in DATA})


def lazy():
    return polars().lazy()


def pyarrow():
    return pytest.importorskip("pyarrow").table({c: DATA[c].to_list() for c in DATA})


def duckdb():
    known = DATA  # noqa: F841 - DuckDB reads it by its name
    return pytest.importorskip("duckdb").sql("select * from known")


def columns():
    return {name: DATA[name].to_numpy() for name in DATA}


FRAMES = [polars, lazy, pyarrow, duckdb, columns]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("formula", "estimator"),
    [
        ("y ~ x + k + g", LinearRegression()),
        ("np.exp(y / 9) ~ x * C(k) + month(day)", LinearRegression()),
        ("g ~ x + y", LogisticRegression()),
    ],
)
def test_every_frame_gives_what_pandas_gives(frame, formula, estimator):
    options = {"weights": "w", "weights_type": "frequency", "subset": "x < 2"}
    found, expected = (fit_of(formula, data, estimator, **options) for data in (frame(), DATA))
    assert_same(found, expected, rtol=0)
    assert_array_equal(found.pd("x").params, expected.pd("x").params)
    assert_array_equal(found.predict(frame()), expected.predict(DATA))
    assert found.nobs == expected.nobs


@pytest.mark.parametrize("frame", FRAMES)
def test_every_frame_serves_arrays_and_fitted_models(frame):
    model = LinearRegression().fit(DATA[["x", "k"]], DATA.y)
    by_formula = smf.ols("y ~ x * k + g", DATA).fit()
    for fitted in (model, by_formula):
        found, expected = (pi.FittedModel(fitted, d, "y", seed=1) for d in (frame(), DATA))
        assert_same(found, expected)
    learner = pi.Learner(columns()["y"], DATA[["x", "k"]], LINEAR)
    y = frame()["y"] if frame in (polars, pyarrow) else DATA.y.to_list()
    other = pi.Learner(y, {c: DATA[c] for c in ("x", "k")}, LINEAR)
    assert_same(other.fit(PLAN, seed=1), learner.fit(PLAN, seed=1))


class Stranger:
    """An object that can do nothing."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError("compared")

    __hash__ = None


def test_columns_that_are_not_used_are_not_touched():
    data = DATA.assign(
        who=[Stranger() for _ in range(N)], gap=pd.NaT, z=1j, inf=np.inf, listed=[[1, 2]] * N
    )
    found, expected = fit_of("y ~ x + g", data), fit_of("y ~ x + g", DATA)
    assert_same(found, expected, rtol=0)
    assert_array_equal(found.predict(data), expected.predict(DATA))
    by_query = found.pfi(rows="x > 0").params
    assert_array_equal(by_query, expected.pfi(rows="x > 0").params)
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["g"]), remainder="passthrough"),
        LinearRegression(),
    ).fit(DATA[["x", "g"]], DATA.y)
    assert_same(pi.FittedModel(model, data, "y"), pi.FittedModel(model, DATA, "y"), rtol=0)


def test_a_date_is_read_by_a_function_or_a_pipeline():
    expected = fit_of("y ~ x + month", DATA.assign(month=DATA.day.dt.month))
    read = FunctionTransformer(lambda X: X.assign(day=X["day"].dt.month))
    by_formula = fit_of("y ~ x + month(day)", DATA)
    by_pipeline = fit_of("y ~ x + day", DATA, make_pipeline(read, LINEAR), design="frame")
    for found in (by_formula, by_pipeline):
        assert_same(found, expected, rtol=1e-9)
    with pytest.raises(DataError, match="`day` holds dates"):
        fit_of("y ~ x + day", DATA)


class ByIndex(RegressorMixin, BaseEstimator):
    """Predicts by the user's names of the rows, which must be those of its rows."""

    def fit(self, X, y):
        assert (X.index.to_numpy() == 7 * X["row"].to_numpy()).all()
        self.fitted_ = True
        return self

    def predict(self, X):
        assert (X.index.to_numpy() % 7 == 0).all()
        return X["x"].to_numpy() + (X.index.to_numpy() // 7) % 2


def test_the_index_reaches_fit_and_predict():
    X = pd.DataFrame({"x": DATA.x, "row": np.arange(N)}).set_axis(7 * np.arange(N), axis=0)
    y = X["x"] + np.arange(N) % 2
    results = pi.Learner(y, X, ByIndex()).fit(PLAN, seed=1)
    assert results.loss().params.iloc[0] < 1e-20
    assert abs(results.pfi().params["row"]) < 1e-20
    assert results.pd("x").params.is_monotonic_increasing


def test_rows_of_weight_0_are_dropped():
    kept = DATA[DATA.w > 0].reset_index(drop=True)
    for kind in ("sampling", "frequency"):
        options = {"weights": "w", "weights_type": kind}
        all_rows, fewer = (
            pi.Learner.from_formula("y ~ x + g", data, LinearRegression(), **options)
            for data in (DATA, kept)
        )
        assert all_rows.sample.nobs == fewer.sample.nobs
        assert all_rows.dropped_rows == 0
        model, small = all_rows.fit_model(seed=0), fewer.fit_model(seed=0)
        for question in ("pfi", "ame", "loss"):
            one, two = getattr(model, question)(), getattr(small, question)()
            assert_allclose(one.params, two.params, rtol=1e-10)
            assert_allclose(one.bse, two.bse, rtol=1e-10)
    rows = sm.add_constant(DATA[["x", "k"]].to_numpy(float))
    wls = sm.WLS(DATA.y, rows, weights=DATA.w).fit()
    assert_allclose(
        model_of("y ~ x + k", DATA, LinearRegression(), **options).ame().params,
        wls.params[1:],
        rtol=1e-9,
    )
    fitted = pi.FittedModel(
        LinearRegression().fit(DATA[["x"]], DATA.y), DATA, "y", weights="w", weights_type="sampling"
    )
    assert fitted.analysis.context.nobs == len(kept)
    assert f"{N - len(kept)} of weight 0 left out" in words_of(fitted.loss())
    with pytest.raises(DataError, match="All weights are 0"):
        pi.Learner(
            DATA.y, DATA[["x"]], LinearRegression(), weights=np.zeros(N), weights_type="sampling"
        )


class Texts(RegressorMixin, BaseEstimator):
    """Predicts by the texts of a column, which must be those of its training."""

    def fit(self, X, y):
        self.means_ = pd.Series(np.asarray(y)).groupby(X["k"].map(str).to_numpy()).mean()
        return self

    def predict(self, X):
        return self.means_.reindex(X["k"].map(str)).fillna(1e6).to_numpy()


@pytest.mark.parametrize("missing", [[], [None], [np.nan], [pd.NA]])
@pytest.mark.parametrize("kind", [int, np.int64, bool, float])
def test_objects_are_handed_over_as_they_are(kind, missing):
    """A number among objects is no other number: its text would be another."""
    values = [kind(k % 2 if kind is bool else k) for k in DATA.k]
    values[: len(missing)] = missing
    X = pd.DataFrame({"k": pd.Series(values, dtype=object), "x": DATA.x})
    model = Texts().fit(X, DATA.y)
    fitted = pi.FittedModel(model, X, DATA.y, missing="keep")
    expected = np.square(DATA.y - model.predict(X)).mean()
    assert_allclose(fitted.loss().params, expected, rtol=1e-12)
    assert (model.predict(X) < 1e5).all()
    assert fitted.pfi().params["k"] < 1e5
    assert model_of(
        "y ~ k + x", X.assign(y=DATA.y), Texts(), design="frame", missing="keep"
    ).pfi().params["k"] == pytest.approx(fitted.pfi().params["k"])


class Nulls(RegressorMixin, BaseEstimator):
    """Tells NaN from null, as polars does."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        x = X["x"]
        filled = x.fill_nan(5.0).fill_null(-7.0) if hasattr(x, "fill_nan") else x.fill_null(-7.0)
        return np.asarray(filled.to_numpy(), float)


@pytest.mark.parametrize("hole", [None, float("nan")])
def test_nan_is_no_null(hole):
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({"x": [hole, *DATA.x[1:]], "z": DATA.k.to_list()})
    fitted = pi.FittedModel(Nulls().fit(X, None), X, DATA.y, missing="keep")
    expected = np.square(DATA.y - Nulls().predict(X)).mean()
    assert_allclose(fitted.loss().params, expected, rtol=1e-12)
