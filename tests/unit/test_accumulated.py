"""AMVIM by accumulated local effects, against its formula by loops and numerical derivatives."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.linear_model import LinearRegression

import pyinterp as pi

STEP, NUMERICAL = 1e-6, 1e-6


def made(n):
    rng = np.random.default_rng(5)
    x = rng.normal(size=n)
    data = pd.DataFrame({"x": x, "z": x + rng.normal(size=n), "g": rng.choice(list("abc"), n)})
    data["still"] = 1.0
    data["only"] = "a"
    data["y"] = np.sin(2 * x) + x * data["z"] + (data["g"] == "b") + rng.normal(size=n)
    return data


@pytest.fixture(scope="module")
def results():
    """12 evaluation rows in 20 intervals: some are empty, and some have several rows."""
    formula = "y ~ np.sin(2 * x) + x * z + C(g) * z + still"
    return fit_of(formula, made(60), LinearRegression(), pi.Holdout(0.2))


def predicted(results, **values):
    (refit,) = results.refits
    return refit.predictor(refit.design.encode(refit.evaluation.variables.assign(**values)))


def accumulated(results):
    """Return the accumulated effect of x at its rows as a function of the weights of rows."""
    x = results.refits[0].evaluation.variables["x"].to_numpy()
    edges = np.quantile(made(60)["x"], np.linspace(0, 1, 21))
    bin_of = [max(int(np.sum(edges < v)) - 1, 0) for v in x]
    at = [predicted(results, x=edge) for edge in edges]
    steps = [at[b + 1][i] - at[b][i] for i, b in enumerate(bin_of)]

    def effect(weights):
        middle, slope = [], []
        for b in range(20):
            inside = [i for i in range(len(x)) if bin_of[i] == b]
            if inside:
                middle.append((edges[b] + edges[b + 1]) / 2)
                mean = np.average([steps[i] for i in inside], weights=weights[inside])
                slope.append(mean / (edges[b + 1] - edges[b]))
        assert 5 < len(middle) < len(x)
        every = np.interp((edges[1:] + edges[:-1]) / 2, middle, slope)
        return np.clip(x[:, None] - edges[:-1], 0, np.diff(edges)) @ every

    return effect


def averaged(results):
    """Return the partial dependence on g at its rows as a function of the weights of rows."""
    g = results.refits[0].evaluation.variables["g"]
    at = {level: predicted(results, g=level) for level in "abc"}
    return lambda weights: np.array([np.average(at[v], weights=weights) for v in g])


@pytest.mark.parametrize(("name", "effect_of"), [("x", accumulated), ("g", averaged)])
def test_it_is_twice_the_variance_of_the_effect(results, name, effect_of):
    effect = effect_of(results)
    (estimate,) = results.amvim(name, method="additive").replicates.estimates
    n = len(estimate.rows)
    same = np.full(n, 1 / n)
    around = effect(same) - effect(same).mean()
    variance = around @ around / (n - 1)
    assert estimate.value[0] == pytest.approx(2 * variance, rel=1e-10)
    assert estimate.donors is None

    def twice(weights):
        values = effect(weights)
        mean = np.average(values, weights=weights)
        return 2 * np.average((values - mean) ** 2, weights=weights)

    for i in range(n):
        along = STEP * (np.eye(n)[i] - same)
        slope = (twice(same + along) - twice(same - along)) / (2 * STEP)
        # The denominator of n - 1 instead of n, in what a row adds to the variance by its place.
        slope += 2 / (n - 1) * (around[i] ** 2 - twice(same) / 2)
        assert estimate.rows[i, 0] - estimate.value[0] == pytest.approx(slope, abs=NUMERICAL)


def test_features_that_do_not_vary_have_none(results):
    found = results.amvim("still", method="additive")
    assert found.params["still"] == 0
    assert (found.replicates.estimates[0].rows == 0).all()


def test_a_straight_line_has_the_variance_of_its_rows():
    """2 beta² V(x): an effect that is linear within and across intervals."""
    data = made(80)
    model = LinearRegression().fit(data[["x", "z"]], data["y"])
    fitted = pi.FittedModel(model, data[["x", "z"]], data["y"])
    found = fitted.amvim(method="additive").params
    expected = 2 * model.coef_**2 * data[["x", "z"]].var()
    np.testing.assert_allclose(found, expected, rtol=1e-10)
