"""Frames go to R and come back; R sees what R would have read."""

import numpy as np
import pandas as pd
import pytest

from pyinterp.errors import DataError, OptionError
from r_bridge.conversion import RCode, frame_from_r, from_r
from r_bridge.session import SESSION

pytestmark = pytest.mark.usefixtures("r")


def back(frame):
    return frame_from_r(SESSION.call("identity", frame), SESSION.r)


def ask(function, *values):
    return from_r(SESSION.call(function, *values), SESSION.r)


COLUMNS = {
    "numbers": (pd.Series([1.5, -np.pi, 1e300]), "numeric"),
    "numbers, some missing": (pd.Series([1.5, np.nan, 2.0]), "numeric"),
    "integers": (pd.Series([-3, 0, 2**31 - 1]), "integer"),
    "booleans": (pd.Series([True, False, True]), "logical"),
    "strings": (pd.Series(["b", "", "ä ∂"]), "character"),
    "categories in order of their own": (
        pd.Series(pd.Categorical(["hi", "lo", "hi"], categories=["lo", "never", "hi"])),
        "factor",
    ),
    "categories, some missing": (
        pd.Series(pd.Categorical(["b", None, "a"], categories=["b", "a"])),
        "factor",
    ),
    "ordered categories": (
        pd.Series(pd.Categorical(["2", "1", "2"], categories=["2", "1"], ordered=True)),
        "ordered",
    ),
    "300 categories": (pd.Series(pd.Categorical([f"l{i}" for i in range(300)])), "factor"),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_a_column_goes_to_r_and_comes_back(what):
    column, in_r = COLUMNS[what]
    frame = pd.DataFrame({"a b": column})
    pd.testing.assert_frame_equal(back(frame), frame)
    assert ask("function(d) class(d[['a b']])[1]", frame).tolist() == [in_r]
    assert ask("function(d) sum(is.na(d))", frame)[0] == column.isna().sum()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series([2**40, 1]), [2.0**40, 1.0]),
        (pd.Series([3, None], dtype="Int64"), [3.0, np.nan]),
        (pd.Series([0.5, None], dtype="Float64"), [0.5, np.nan]),
        (pd.Series([1, 2.5], dtype=object), [1.0, 2.5]),
        (pd.Series([1, 2], dtype=np.uint8), [1, 2]),
        (pd.Series([0.25, 1], dtype=np.float32), [0.25, 1.0]),
    ],
)
def test_other_numbers_become_what_r_has(column, expected):
    np.testing.assert_array_equal(back(pd.DataFrame({"x": column}))["x"], expected)


@pytest.mark.parametrize("column", [[True, None, False], ["b", None, "a"]])
def test_missing_values_of_objects(column):
    found = back(pd.DataFrame({"x": pd.Series(column, dtype=object)}))["x"]
    assert [None if pd.isna(v) else v for v in found] == column


def test_missing_is_na_and_not_nan():
    frame = pd.DataFrame({"x": [1.0, np.nan]})
    assert not ask("function(d) is.nan(d$x)", frame).any()


def test_arrays_lists_mappings_and_code():
    matrix = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(ask("identity", matrix), matrix)
    assert ask("function(m) m[1, 2]", matrix)[0] == 1.0
    assert ask("function(l) l$b$c[2]", {"a": None, "b": {"c": [1, 2]}})[0] == 2
    assert ask("function(l) length(l)", [1, "a", None])[0] == 3
    assert ask("function(f) f(9)", RCode("sqrt"))[0] == 3.0
    assert ask("is.null", None)[0]


def test_what_r_can_not_be_given_is_said():
    with pytest.raises(OptionError, match="not complex"):
        SESSION.call("identity", 1j)
    times = pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])})
    with pytest.raises(DataError, match="column `t` has dtype datetime64"):
        SESSION.call("identity", times)


def test_frames_are_copies(r):
    values = np.arange(3.0)
    kept = SESSION.call("identity", pd.DataFrame({"x": values}))
    values[0] = 9.0
    again = frame_from_r(kept, SESSION.r)
    assert again["x"][0] == 0.0
    again.loc[0, "x"] = 5.0
    assert frame_from_r(kept, SESSION.r)["x"][0] == 0.0
