"""Accumulated local effects: closed forms, a loop after R's ALEPlot, and numerical influence."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, model_of, words_of
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.accumulation import accumulate, interval_of
from pyinterp.estimands.effects.ale import similarity_order

EXACT, NUMERICAL = 1e-10, 1e-5


def sample(n=150):
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    data = pd.DataFrame(
        {"x": x, "z": 0.6 * x + rng.normal(size=n), "g": rng.choice(list("abcd"), n)}
    )
    data.loc[data["g"] == "c", "z"] += 2
    data["y"] = x + 2 * data["z"] + x * data["z"] + (data["g"] == "b") + rng.normal(size=n)
    return data


@pytest.fixture(scope="module")
def forest():
    data = sample()
    return model_of("y ~ x + z + g", data, RandomForestRegressor(15))


def predict(fitted, data):
    (refit,) = fitted.analysis.refits
    return refit.predictor(refit.design.encode(data[["x", "z", "g"]]))


def values(result):
    return result.estimand.terms.layout["value"].to_numpy()


def ale_plot(fitted, data, name, edges):
    """Return what ``ALEPlot(X, model, pred.fun, J, K)`` computes for one number."""
    x = data[name].to_numpy()
    steps = {}
    at = [predict(fitted, data.assign(**{name: edge})) for edge in edges]
    for i, value in enumerate(x):
        b = max(int(np.sum(edges < value)) - 1, 0)
        steps.setdefault(b, []).append(at[b + 1][i] - at[b][i])
    running = np.concatenate([[0], np.cumsum([np.mean(steps[b]) for b in range(len(edges) - 1)])])
    middles = (running[1:] + running[:-1]) / 2
    return running - sum(middles[b] * len(steps[b]) for b in steps) / len(x)


def test_of_a_number_it_is_aleplot(forest):
    result = forest.ale("x", points=9)
    edges = values(result)
    quantiles = np.quantile(sample()["x"], np.linspace(0, 1, 9), method="inverted_cdf")
    assert_allclose(edges, quantiles)
    assert_allclose(result.params, ale_plot(forest, sample(), "x", edges), atol=EXACT)


def test_of_levels_it_is_aleplot(forest):
    data = sample()
    result = forest.ale("g")
    order = list(values(result))
    steps = {}
    at = [predict(forest, data.assign(g=level)) for level in order]
    for i, level in enumerate(data["g"]):
        k = order.index(level)
        if k < 3:
            steps.setdefault(k, []).append(at[k + 1][i] - at[k][i])
        if k > 0:
            steps.setdefault(k - 1, []).append(at[k][i] - at[k - 1][i])
    running = np.concatenate([[0], np.cumsum([np.mean(steps[k]) for k in range(3)])])
    shares = data["g"].value_counts(normalize=True)[order].to_numpy()
    assert_allclose(result.params, running - shares @ running, atol=EXACT)


def test_levels_that_are_alike_are_neighbors():
    data = sample(600).drop(columns="y")
    assert similarity_order(data, "g", list("abcd"))[-1] == "c"
    data["h"] = pd.cut(data["z"], 5, labels=list("mbzac")).astype(str)
    order = "".join(similarity_order(data, "h", list("abcmz")))
    assert order in ("mbzac", "cazbm")


def test_an_order_of_levels_can_be_asked_for(forest):
    result = forest.ale("g", grid=["d", "a", "c", "b"])
    assert list(values(result)) == ["d", "a", "c", "b"]
    assert "d, a, c, b" in str(result.summary(notes="full"))
    ordered = sample().assign(g=lambda d: pd.Categorical(d["g"], list("cadb"), ordered=True))
    assert list(values(model_of("y ~ x + z + g", ordered, LinearRegression()).ale("g"))) == list(
        "cadb"
    )


@pytest.mark.parametrize("grid", [{}, {"grid": [-0.5, 0, 1e-6, 0.5]}])
def test_of_a_line_it_is_the_slope(grid):
    """Also where a step has no rows."""
    fitted = model_of("y ~ x + z + g", sample(), LinearRegression())
    result = fitted.ale("x", **grid)
    edges = values(result)
    (slope,) = fitted.ame("x").params
    assert_allclose(np.diff(result.params), slope * np.diff(edges), atol=EXACT)


def test_contributions_are_influences():
    """Compare with what doubling a row's weight does, by repeating every row many times."""
    rng = np.random.default_rng(0)
    n, edges = 30, np.array([0, 0.2, 0.5, 0.7, 1.0])
    x, steps = rng.uniform(size=n), rng.normal(size=n)
    place = interval_of(x, edges)
    at, reference = np.full((n, 4), np.nan), np.zeros((n, 5))
    at[np.arange(n), place] = steps
    reference[np.arange(n), place] = reference[np.arange(n), place + 1] = 0.5

    def effect(index):
        return accumulate(at[index], reference[index], np.diff(edges))

    copies = 20_000
    value, rows = effect(np.arange(n))
    assert_allclose(rows.mean(axis=0), value, atol=EXACT)
    for row in (0, 7):
        many = np.concatenate([np.repeat(np.arange(n), copies // n), [row]])
        moved = (effect(many)[0] - value) * len(many)
        assert_allclose(moved, rows[row] - value, atol=0.01)


def test_rows_beyond_the_grid_are_left_out(forest):
    result = forest.ale("x", grid=[-0.5, 0, 0.5])
    inside = sample().query("-0.5 <= x <= 0.5")
    loop = ale_plot(forest, inside, "x", np.array([-0.5, 0, 0.5]))
    assert_allclose(result.params, loop, atol=EXACT)
    assert f"{150 - len(inside)} of 150 rows are beyond the grid" in words_of(result)


def test_refits_and_classes():
    data = sample().assign(k=lambda d: pd.cut(d["y"], 3, labels=["lo", "mid", "hi"]).astype(str))
    result = fit_of("k ~ x + z + g", data, RandomForestClassifier(8), pi.HalfSampling(2)).ale(
        "x", points=5
    )
    assert len(result.params) == 15
    # probabilities add up to 1, so their effects to 0
    assert_allclose(result.params.to_numpy().reshape(3, 5).sum(axis=0), 0, atol=EXACT)
    assert (result.bse > 0).all()


@pytest.mark.parametrize(
    ("features", "options", "words"),
    [
        (["x", "z"], {}, "is of one variable, not of .* `pd` and `h_statistic` show what two do"),
        ("x", {"grid": [1.0]}, "at least two different grid points"),
        ("g", {"grid": ["a", "e"]}, "'e' is not a level of `g`"),
        ("g", {"grid": ["a"]}, "needs at least two levels"),
        ("x", {"grid": {"z": [0, 1]}}, "'z' of `grid`"),
        ("q", {}, "Can't find variable `q`"),
    ],
)
def test_what_is_refused(forest, features, options, words):
    with pytest.raises(OptionError, match=words):
        forest.ale(features, **options)
