"""Typical rows: medians, whole where numbers are whole, and most frequent levels."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from pyinterp.data.columns import typical_rows, typical_value


@pytest.mark.parametrize(
    ("values", "value"),
    [
        ([1.0, 2.0, 4.0, 10.0], 3.0),
        ([1, 2, 3, 10], 2.0),  # the median is 2.5
        ([-1, -2, -3, -10], -2.0),  # towards 0
        (["b", "a", "b", "a", "c"], "a"),  # of equally frequent levels the first
        ([True, True, False], True),
    ],
)
def test_a_value_is_the_median_or_the_most_frequent_level(values, value):
    assert typical_value(pd.Series(values)) == value


def test_rows_have_the_types_of_the_variables():
    levels = pd.Categorical(["u", "v", "v"], categories=["w", "v", "u"])
    variables = pd.DataFrame({"x": [3, 1, 2], "g": levels, "flag": [True, False, True]})
    expected = pd.DataFrame(
        {"x": [2.0] * 4, "g": pd.Categorical(["v"] * 4, levels.categories), "flag": [True] * 4}
    )
    assert_frame_equal(typical_rows(variables, 4), expected)
