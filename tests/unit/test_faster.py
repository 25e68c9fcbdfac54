"""The header names an option with which a call makes ten times fewer predictions."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import pyinterp as pi

N = 400
FASTER = "`permutations=30` makes 1/13 of the predictions"


def rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 2))
    return x, x[:, 0] + rng.normal(size=N)


@pytest.mark.parametrize(
    ("model", "permutations", "decimals", "said"),
    [
        (KNeighborsRegressor(), "all", 9, True),
        (KNeighborsRegressor(), "auto", 9, False),
        (KNeighborsRegressor(), 300, 9, False),
        (KNeighborsRegressor(), "all", 0, False),
        (LinearRegression(), "all", 9, False),
    ],
)
def test_all_pairs_of_batches(model, permutations, decimals, said):
    x, y = rows()
    x = x.round(decimals)
    results = pi.FittedModel(model.fit(x, y), x, y, seed=0).pfi(permutations=permutations)
    assert (FASTER in str(results.summary())) == said


def test_of_learners_evaluation_rows_count():
    x, y = rows()
    learner = pi.Learner(y, x, KNeighborsRegressor())
    results = learner.fit(resampling=pi.Subsampling(2, fraction=0.9), seed=0)
    assert "Faster:" not in str(results.pfi(permutations="all").summary())
