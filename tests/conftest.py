"""Data that many tests share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def data() -> pd.DataFrame:
    """60 rows: response `y`, numbers `x` and `z` > 0, strings `g` of three levels."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=60), rng.uniform(1, 3, size=60)
    g = rng.permutation(np.repeat(["a", "b", "c"], 20))
    y = x + np.log(z) + (g == "b") + rng.normal(size=60)
    return pd.DataFrame({"y": y, "x": x, "z": z, "g": g})
