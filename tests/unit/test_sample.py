"""Reading columns: what becomes a number, a boolean or a level, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.data.columns import read_variables
from pyinterp.data.frames import as_frame
from pyinterp.data.sample import Response, Sample, read_response
from pyinterp.errors import DataError

N = 8
NUMBERS = np.arange(N)
LEVELS = ["a", "b"] * (N // 2)
TRUTH = [True, False] * (N // 2)


def column(values, dtype=None):
    return pd.Series(values, dtype=dtype, name="v")


def read(values):
    return read_variables(values.to_frame())["v"]


@pytest.mark.parametrize(
    "dtype", ["int64", "uint8", "float32", "float64", "Int64", "Float64", "object", "Sparse[float]"]
)
def test_numbers_are_read_as_numpy_numbers(dtype):
    found = read(column(NUMBERS).astype(dtype))
    assert isinstance(found.dtype, np.dtype)
    assert found.dtype.kind in "iuf"
    assert_array_equal(found, NUMBERS)


@pytest.mark.parametrize("dtype", ["bool", "boolean", "object"])
def test_booleans_are_read_as_booleans(dtype):
    found = read(column(TRUTH).astype(dtype))
    assert found.dtype == bool
    assert_array_equal(found, TRUTH)


@pytest.mark.parametrize("dtype", ["str", "string", "object", "category"])
def test_strings_and_categories_are_read_as_such(dtype):
    given = column(LEVELS).astype(dtype)
    assert read(given).dtype == ("str" if dtype == "string" else given.dtype.name)
    assert read(given).tolist() == LEVELS


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (NUMBERS, "Int64"),
        (NUMBERS, "Float64"),
        (NUMBERS, "object"),
        (TRUTH, "boolean"),
        (TRUTH, "object"),
        (LEVELS, "string"),
        pytest.param(
            LEVELS,
            "str",
            marks=pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 makes texts of them"),
        ),
        (LEVELS, "object"),
        (LEVELS, "category"),
    ],
)
def test_a_missing_value_of_any_kind_is_found(values, dtype, missing):
    given = column(list(values)).astype("object")
    given.iloc[2] = missing
    read = read_variables(given.astype(dtype).to_frame())
    assert_array_equal(read["v"].notna(), np.arange(N) != 2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.to_timedelta(NUMBERS, "D"), "not timedelta64"),
        (NUMBERS * 1j, "not complex128"),
        ([object()] * N, "object column of object; convert it with pandas.to_numeric or astype"),
        ([*LEVELS[1:], 1], "object column of int, str"),
        ([*NUMBERS[1:], np.inf], r"be finite.*1 infinite value\(s\) \(first in row 7\)"),
    ],
)
def test_a_column_of_another_kind_is_a_clear_error(values, message):
    with pytest.raises(DataError, match=f"Column `v` must .*{message}"):
        read(column(values))


def test_arrays_get_the_names_of_statsmodels():
    assert list(as_frame(np.ones((2, 3))).columns) == ["x1", "x2", "x3"]
    assert list(as_frame(np.ones(4)).columns) == ["x1"]
    assert list(as_frame(pd.Series([1.0, 2.0], name="a")).columns) == ["a"]


def test_a_frame_gets_string_names_and_a_range_index():
    given = pd.DataFrame({1: [1.0, 2.0], "a": [3.0, 4.0]}, index=["r", "r"])
    found = as_frame(given)
    assert list(found.columns) == ["1", "a"]
    assert found.index.tolist() == [0, 1]
    assert given.index.tolist() == ["r", "r"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pd.DataFrame(np.ones((2, 2)), columns=[1, "1"]), "must be unique, but `1`"),
        (pd.DataFrame({"a": []}), r"must have rows and columns; it has shape \(0, 1\)"),
        (np.ones((2, 2, 2)), r"not an array of 3 dimension\(s\) and dtype float64"),
        (np.array([["a"], ["b"]]), "numeric array"),
        ({"a": [1, 2], "b": [1]}, "all of one length"),
        ("data.csv", "not str"),
    ],
)
def test_data_of_another_kind_is_a_clear_error(given, message):
    with pytest.raises(DataError, match=message):
        as_frame(given)


def response(values, *, classifier, **options):
    return read_response(values, "v", classifier=classifier, learner="Learner", **options)


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (column(LEVELS), ("a", "b")),
        (column(TRUTH), (False, True)),
        (column(NUMBERS % 3), (0, 1, 2)),
        (column(NUMBERS % 2 + 3.0), (3.0, 4.0)),
        (column(pd.Categorical(LEVELS, ["b", "a", "unused"])), ("b", "a")),
    ],
)
def test_classes_are_sorted_or_in_the_order_of_the_categories(values, classes):
    codes, about = response(values, classifier=True)
    assert about.classes == classes
    assert [type(c) for c in about.classes] == [type(c) for c in classes]
    assert about.labels(codes).tolist() == values.tolist()


@pytest.mark.parametrize("dtype", ["int64", "float32", "Int64", "Float64", "object"])
def test_a_numeric_response_is_read_as_float(dtype):
    numbers, about = response(column(NUMBERS).astype(dtype), classifier=False)
    assert numbers.dtype == np.float64
    assert about.classes is None
    assert_array_equal(numbers, NUMBERS)


REGRESSOR = "Learner is a regressor and needs a numeric response"


@pytest.mark.parametrize(
    ("values", "classifier", "message"),
    [
        *((values, False, REGRESSOR) for values in (LEVELS, TRUTH, pd.Categorical(LEVELS))),
        (NUMBERS / 3, True, "is a classifier, but the response `v` has fractional"),
        *(
            ([one] * N, one != 2.0, f"`v` must vary, but it is {one!r} in every row")
            for one in (2.0, "a", True)
        ),
    ],
)
def test_a_response_that_does_not_suit_is_an_error(values, classifier, message):
    with pytest.raises(DataError, match=message):
        response(column(values), classifier=classifier)
    # A fitted model may be evaluated on a constant response.
    numbers, _ = response(column([2.0] * N), classifier=False, constant_ok=True)
    assert_array_equal(numbers, 2.0)


def test_responses_whose_fourth_powers_leave_the_numbers_are_refused():
    some = np.random.default_rng(1).normal(size=60)
    for unit, sentence in ((1e71, r"be at most 1e\+70 in size"), (1e-72, "vary by at least 1e-70")):
        with pytest.raises(DataError, match=f"`y` must {sentence}"):
            read_response(pd.Series(unit * some), "y", classifier=False, learner="ols")


@pytest.mark.parametrize("unit", [1e-69, 1e69])
def test_tests_do_not_depend_on_the_unit_of_the_response(unit):
    data = pd.DataFrame(np.random.default_rng(2).normal(size=(60, 2)), columns=["x1", "x2"])
    data["y"] = data["x1"] + data["x2"] ** 2

    def table(factor):
        frame = data.assign(y=factor * data["y"])
        return (
            fit_of("y ~ .", frame, LinearRegression(), pi.HalfSampling(3, pairs=6))
            .pfi()
            .summary_frame()
        )

    for column_name in ("statistic", "p_value"):
        assert_allclose(table(unit)[column_name], table(1.0)[column_name], rtol=1e-9)


def test_taking_rows_keeps_all_parts_together():
    sample = Sample(
        variables=pd.DataFrame({"a": [10.0, 11.0, 12.0]}),
        y=np.array([0.0, 1.0, 2.0]),
        response=Response(name="y"),
        rows=np.array([5, 6, 7]),
        clusters=np.array([0, 0, 1]),
    )
    taken = sample.take(np.array([2, 0, 2]))
    assert taken.nobs == 3
    for found, expected in (
        (taken.variables["a"], [12.0, 10.0, 12.0]),
        (taken.variables.index, [0, 1, 2]),
        (taken.y, [2, 0, 2]),
        (taken.rows, [7, 5, 7]),
        (taken.clusters, [1, 0, 1]),
    ):
        assert found.tolist() == expected
