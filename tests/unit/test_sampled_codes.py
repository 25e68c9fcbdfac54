"""Numbers that a formula makes categories are levels for samplers and typical rows too."""

import numpy as np
import pandas as pd
import pytest
from fits import model_of
from sklearn.linear_model import LinearRegression

rng = np.random.default_rng(0)
N = 300
g = rng.choice([1, 2, 3], N, p=[0.45, 0.25, 0.3])
# The middle code has the largest values: what a line in the code can't see.
X = pd.DataFrame({"g": g, "x": 3 * (g == 2) + rng.normal(size=N), "z": rng.normal(size=N)})
DATA = X.assign(y=X["x"] + X["z"] + (g == 2) + rng.normal(size=N))


def model(formula, data=DATA):
    return model_of(formula, data, LinearRegression())


def test_codes_have_the_numbers_of_letters():
    letters = DATA.assign(g=pd.Series(g).map({1: "a", 2: "b", 3: "c"}))
    one, other = (model("y ~ x + z + C(g)", data) for data in (DATA, letters))
    for of, sampler in (
        ("x", "residual"),
        ("x", "subgroup"),
        ("g", "categorical"),
        ("g", "subgroup"),
    ):
        expected = other.positivity(of, sampler=sampler).params
        np.testing.assert_allclose(one.positivity(of, sampler=sampler).params, expected)
    # x is 3 where g is 2, else 0, with an error of variance 1: R² = V / (V + 1).
    variance = 9 * np.mean(g == 2) * np.mean(g != 2)
    found = one.positivity("x", sampler="residual").params["x"]
    assert found == pytest.approx(variance / (variance + 1), abs=0.05)


def test_typical_is_the_most_frequent_code():
    whole = model("y ~ x + z + C(g)")
    curve = whole.pd("x", grid=[0.0], average="exemplar").params.iloc[0]
    row = pd.DataFrame({"g": [1], "x": [0.0], "z": [DATA["z"].median()]})
    one = whole.analysis.refits[0]
    assert curve == pytest.approx(one.predictor(one.design.encode(row))[0])


def test_a_rounded_number_stays_a_number():
    rounded = DATA.assign(w=DATA["x"] + rng.normal(size=N) / 2)
    assert model("y ~ C(np.round(x)) + w", rounded).analysis.problem.level_codes() == frozenset()
    # w = x + error, of variance 1/4.
    found = model("y ~ C(np.round(x)) + w", rounded).positivity("w").params["w"]
    assert found == pytest.approx(1 - 0.25 / rounded["w"].var(), abs=0.05)
