"""What a fit keeps does not grow with the number of refits, but for their rows and predictions."""

import gc
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi

P = 20
MB = 1e6


def learner_of(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, P), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + rng.standard_normal(n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    learner = pi.Learner(y, frame, LinearRegression())
    learner.fit(pi.HalfSampling(2, pairs=5), seed=1).pfi("x0")  # imports
    return learner


def megabytes_after_pfi(learner, plan):
    gc.collect()
    tracemalloc.start()
    try:
        results = learner.fit(plan, seed=1)
        importances = results.pfi()
        gc.collect()
        traced, _ = tracemalloc.get_traced_memory()
        assert len(importances.params) == P
    finally:
        tracemalloc.stop()
    return traced / MB


pytestmark = pytest.mark.skipif(sys.gettrace() is not None, reason="coverage is measured")


def test_sums_stay_and_rows_of_refits_go():
    """285 MB where contributions of 45 refits are kept."""
    assert megabytes_after_pfi(learner_of(10_000), pi.HalfSampling()) <= 12


def test_more_refits_keep_positions_and_predictions():
    """Per refit 4 bytes a row that trains or evaluates, 8 bytes a prediction, and its model."""
    n, learner = 2_000, learner_of(2_000)
    some, more = (pi.HalfSampling(k, pairs=k) for k in (5, 15))
    growth = megabytes_after_pfi(learner, more) - megabytes_after_pfi(learner, some)
    rows = 0.632 + 0.368 + 4 * 0.5  # of a refit and of a pair
    bytes_of_refits = 10 * (4 * rows + 8 * (rows - 0.632 - 1)) * n
    of_models = 30 * 20_000  # coefficients, designs, digests
    assert growth <= (bytes_of_refits + of_models) / MB
