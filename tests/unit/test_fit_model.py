"""`fit_model` fits the very estimator that was given."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("seed", [None, 0, 7])
def test_a_random_state_that_is_set_is_kept(data, seed, piped):
    forest = RandomForestRegressor(5, random_state=1)
    estimator = make_pipeline(StandardScaler(), forest) if piped else forest
    X, y = data[["x", "z"]], data["y"]
    fitted = pi.Learner(y, X, estimator).fit_model(seed=seed)
    theirs = pi.FittedModel(clone(estimator).fit(X, y), X, y)
    assert_array_equal(fitted.pfi().params, theirs.pfi().params)
    assert_array_equal(fitted.pd("x").params, theirs.pd("x").params)


def test_losses_of_rows_that_trained_have_no_limits(data):
    fitted = pi.Learner(data["y"], data[["x", "z"]], RandomForestRegressor(5)).fit_model()
    for found in (fitted.pfi(metric="rmse"), fitted.mvim(), pi.compare(fitted, fitted)):
        assert found.bse.isna().all()
        assert "these rows trained the model" in str(found.summary())
    assert (fitted.pd("x").bse > 0).all()


def test_one_that_is_none_takes_the_seed(data):
    learner = pi.Learner(data["y"], data[["x", "z"]], RandomForestRegressor(5))
    first, same, other = (learner.fit_model(seed=s).pfi().params for s in (1, 1, 2))
    assert_array_equal(first, same)
    assert not np.array_equal(first, other)
    assert learner.estimator.random_state is None
