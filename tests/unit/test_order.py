"""Lines of tables are in an order that no machine's rounding decides."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pyinterp.results.summary import largest_first


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12, 1e300])
def test_equal_but_for_rounding_stays_in_order(scale: float) -> None:
    exact = np.array([2.0, 3.0, -1.0, np.nan, 2.0, 0.0, -1.0])
    for sign in (-1, 1):
        noise = 1 + sign * np.array([1, 0, 1, 0, -1, 0, -1]) * 4e-16
        found = largest_first(pd.DataFrame({"estimate": exact * scale * noise}))
        assert found.index.tolist() == [1, 0, 4, 5, 2, 6, 3]


def test_what_differs_is_sorted_and_infinite_values_are_ends() -> None:
    values = [1.0, 1.0 + 1e-7, np.inf, -np.inf, 5e-324, 0.0]
    found = largest_first(pd.DataFrame({"estimate": values}))
    assert found.index.tolist() == [2, 1, 0, 4, 5, 3]
