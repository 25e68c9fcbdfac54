"""Numbers that columns can't hold exactly, dates of Arrow, and models without their data."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fits import words_of
from numpy.testing import assert_allclose, assert_array_equal

import pyinterp as pi
from pyinterp.errors import NamesWarning

RNG = np.random.default_rng(0)
N = 60
YEAR = np.round(RNG.normal(2000, 5, N), 2)
B = RNG.normal(size=N)


def three_times(rows):
    return 3 * np.array([float(value) for value in rows["a"]])


@pytest.mark.parametrize("dtype", ["float32", "Float32"])
@pytest.mark.parametrize("size", [1.0, 50.0, 1000.0])
def test_slopes_in_single_precision(dtype, size):
    rows = pd.DataFrame({"a": (YEAR * size).astype(np.float32), "b": B}).astype({"a": dtype})
    fitted = pi.FittedModel(three_times, rows)
    assert_allclose(fitted.ame("a").params, 3)


def test_slopes_of_a_single_array():
    rows = np.column_stack([YEAR, B]).astype(np.float32)
    fitted = pi.FittedModel(lambda x: 3 * x[:, 0].astype(float), rows)
    assert_allclose(fitted.ame("x1").params, 3)


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars"])
def test_decimals(library):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array(YEAR).cast(pa.decimal128(12, 2), safe=False), "b": B})
    if library == "pandas":
        table = table.to_pandas(types_mapper=pd.ArrowDtype)
    if library == "polars":
        table = pytest.importorskip("polars").from_arrow(table)

    def model(rows):
        column = rows["a"]
        return 3 * np.array([float(str(value)) for value in column])

    fitted = pi.FittedModel(model, table)
    assert_allclose(fitted.ame("a").params, 3)
    at = fitted.pd("a", grid={"a": [7.12, 7.123456]}).params
    assert_allclose(at, [3 * 7.12, 3 * 7.123456])


@pytest.mark.parametrize("zone", ["Europe/Zurich", None])
def test_dates_of_arrow_with_a_time_zone(zone):
    pytest.importorskip("pyarrow")
    days = pd.Series(pd.date_range("2024-03-29 22:15", periods=N, freq="3h", tz=zone))
    rows = pd.DataFrame({"day": days, "b": B}).convert_dtypes(dtype_backend="pyarrow")

    def hour(rows):
        return rows["day"].dt.hour.to_numpy(np.float64)

    losses = pi.FittedModel(hour, rows, B).loss()
    assert_allclose(losses.params, np.mean((B - days.dt.hour) ** 2))


def test_results_without_data_warn_that_they_know_no_names():
    rows = pd.DataFrame({"a": YEAR, "b": B})
    results = sm.OLS(B, rows).fit()
    results.remove_data()
    with pytest.warns(NamesWarning, match="by position"):
        fitted = pi.FittedModel(results, rows)
    assert_array_equal(list(fitted.analysis.problem.features), ["a", "b"])


def test_a_table_says_what_xgboost_takes_for_an_offset():
    xgboost = pytest.importorskip("xgboost")
    years = RNG.uniform(1, 3, N)
    rows = pd.DataFrame({"a": YEAR, "years": years})
    counts = RNG.poisson(years)
    model = xgboost.XGBRegressor(objective="count:poisson", n_estimators=5)
    model.fit(rows[["a"]], counts, base_margin=np.log(years))
    fitted = pi.FittedModel(model, rows, counts, exposure="years")
    assert "trained with `base_margin`" in words_of(fitted.loss())
