"""Monte Carlo errors of some of all draws, exactly: by every choice that could have been made."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp import samplers

N = 6


class Mean(LinearRegression):
    """Of a, given b, whatever the rows."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0] / 2


def model():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 2)), columns=["a", "b"])
    y = X["a"] * X["b"] + np.random.default_rng(1).normal(size=N)
    return LinearRegression().fit(X, y), X, y


def asked(name, permutations):
    fitted = pi.FittedModel(*model())
    law = {"sampler": samplers.Residual(Mean()), "permutations": permutations}
    if name == "mvim":
        return fitted.mvim("a", permutations=permutations)
    return fitted.cvim("a", **law) if name == "cvim" else fitted.causal("a", **law).importance


@pytest.mark.parametrize("name", ["mvim", "cvim", "causal"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_squared_errors_are_unbiased(monkeypatch, name, k):
    """Over all choices of k of the n - 1 shifts of one order, their mean is the variance."""
    values, squares = [], []
    for shifts in combinations(range(1, N), k):
        index = (np.arange(N)[:, None] + np.array(shifts)) % N
        for module in ("estimands.importance.losses", "samplers.residual"):
            monkeypatch.setattr(
                f"pyinterp.{module}.balanced_permutations", lambda *_, index=index: index
            )
        found = asked(name, k)
        values.append(found.params.to_numpy())
        squares.append(found.mcse.to_numpy() ** 2)
    exact = asked(name, "all")
    found, expected = np.mean(squares, axis=0), np.var(values, axis=0)
    # A variance of draws is no mean of them: its error is that of a mean, which is an upper bound.
    means = (exact.params.index != "CVIM") | (name != "causal")
    assert (expected[means] > 0).all()
    np.testing.assert_allclose(found[means], expected[means], rtol=1e-9)
    assert (found >= expected * (1 - 1e-9)).all()
    np.testing.assert_allclose(np.mean(values, axis=0), exact.params, rtol=1e-9)
    assert (exact.mcse == 0).all()
