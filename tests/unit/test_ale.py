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
from pyinterp.estimands.effects.accumulation import accumulate, accumulate_pairs, interval_of
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


def ale_plot_pair(fitted, data, e1, e2):
    """Return what ``ALEPlot`` computes for two numbers, where no cell is empty."""
    k1, k2 = len(e1) - 1, len(e2) - 1
    total, count = np.zeros((k1, k2)), np.zeros((k1, k2))
    at = np.array([[predict(fitted, data.assign(x=v, z=w)) for w in e2] for v in e1])
    for i, (x, z) in enumerate(zip(data["x"], data["z"], strict=True)):
        a, b = max(int(np.sum(e1 < x)) - 1, 0), max(int(np.sum(e2 < z)) - 1, 0)
        f = at[a : a + 2, b : b + 2, i]
        total[a, b] += f[1, 1] - f[1, 0] - f[0, 1] + f[0, 0]
        count[a, b] += 1
    assert (count > 0).all()
    surface = np.zeros((k1 + 1, k2 + 1))
    surface[1:, 1:] = np.cumsum(np.cumsum(total / count, axis=0), axis=1)
    first, second = np.zeros(k1 + 1), np.zeros(k2 + 1)
    for a in range(k1):
        step = surface[a + 1] - surface[a]
        mean = sum(count[a, b] * (step[b] + step[b + 1]) / 2 for b in range(k2)) / count[a].sum()
        first[a + 1] = first[a] + mean
    for b in range(k2):
        step = surface[:, b + 1] - surface[:, b]
        mean = sum(count[a, b] * (step[a] + step[a + 1]) / 2 for a in range(k1))
        second[b + 1] = second[b] + mean / count[:, b].sum()
    rest = surface - first[:, None] - second[None, :]
    corners = (rest[1:, 1:] + rest[:-1, 1:] + rest[1:, :-1] + rest[:-1, :-1]) / 4
    return rest - (corners * count).sum() / count.sum()


def test_of_a_number_it_is_aleplot(forest):
    result = forest.ale("x", points=9)
    edges = values(result)
    quantiles = np.quantile(sample()["x"], np.linspace(0, 1, 9), method="inverted_cdf")
    assert_allclose(edges, quantiles)
    assert_allclose(result.params, ale_plot(forest, sample(), "x", edges), atol=EXACT)


def test_of_a_pair_it_is_aleplot(forest):
    e1, e2 = np.array([-4, -0.5, 0.5, 4.0]), np.array([-5, 0.0, 8.0])
    result = forest.ale(["x", "z"], grid={"x": e1, "z": e2})
    loop = ale_plot_pair(forest, sample(), e1, e2)
    assert_allclose(result.params, loop.T.ravel(), atol=EXACT)


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


def test_of_a_line_it_is_the_slope():
    fitted = model_of("y ~ x + z + g", sample(), LinearRegression())
    result = fitted.ale("x")
    edges = values(result)
    (slope,) = fitted.ame("x").params
    assert_allclose(np.diff(result.params), slope * np.diff(edges), atol=EXACT)
    assert_allclose(fitted.ale(["x", "z"]).params, 0, atol=EXACT)


def test_of_a_product_it_is_the_product_of_deviations():
    """With x and z independent on a full factorial, (x - mean) (z - mean) times the slope."""
    x, z = (a.ravel() for a in np.meshgrid(np.arange(6.0), np.arange(5.0)))
    data = pd.DataFrame({"x": x, "z": z, "y": 1 + x - z + 3 * x * z})
    fitted = model_of("y ~ x * z", data, LinearRegression())
    result = fitted.ale(["x", "z"], points=40)
    layout = result.estimand.terms.layout
    counts = {n: np.bincount(interval_of(data[n].to_numpy(), np.unique(data[n]))) for n in "xz"}
    centers = {n: np.average(np.unique(data[n])[:-1] + 0.5, weights=counts[n]) for n in "xz"}
    truth = 3 * (layout["value"] - centers["x"]) * (layout["value2"] - centers["z"])
    assert_allclose(result.params, truth, atol=1e-8)


def test_empty_cells_take_the_nearest_cells_step_per_area():
    """A product has the same mixed derivative everywhere, so that empty cells change nothing."""
    data = sample(40)
    fitted = model_of("y ~ x * z + g", data, LinearRegression())
    result = fitted.ale(["x", "z"], points=10)
    table = result.params.to_numpy().reshape(10, 10).T
    layout = result.estimand.terms.layout
    x, z = np.unique(layout["value"]), np.unique(layout["value2"])
    mixed = np.diff(np.diff(table, axis=0), axis=1) / np.outer(np.diff(x), np.diff(z))
    assert_allclose(mixed, mixed[0, 0], atol=1e-8)


def test_contributions_are_influences():
    """Compare with what doubling a row's weight does, by repeating every row many times."""
    rng = np.random.default_rng(0)
    n, edges = 30, np.array([0, 0.2, 0.5, 0.7, 1.0])
    x, z, steps = rng.uniform(size=n), rng.uniform(size=n), rng.normal(size=n)
    first, second = interval_of(x, edges), interval_of(z, np.array([0, 0.5, 1.0]))

    at, reference = np.full((n, 4), np.nan), np.zeros((n, 5))
    at[np.arange(n), first] = steps

    def pair(index):
        return accumulate_pairs(
            at[index], first[index], second[index], np.array([0, 0.5, 1.0]), first_edges=edges
        )

    def single(index):
        reference[np.arange(n), first] = reference[np.arange(n), first + 1] = 0.5
        return accumulate(at[index], reference[index], np.diff(edges))

    copies = 20_000
    for function in (pair, single):
        value, rows = function(np.arange(n))
        assert_allclose(rows.mean(axis=0), value, atol=EXACT)
        for row in (0, 7):
            many = np.concatenate([np.repeat(np.arange(n), copies // n), [row]])
            moved = (function(many)[0] - value) * len(many)
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
        (["x", "z", "g"], {}, "of one variable or of two different ones"),
        ("x", {"grid": [1.0]}, "at least two different grid points"),
        ("g", {"grid": ["a", "e"]}, "'e' is not a level of `g`"),
        ("g", {"grid": ["a"]}, "needs at least two levels"),
        (["x", "z"], {"grid": [0, 1]}, "must be a mapping"),
        ("q", {}, "Can't find variable `q`"),
    ],
)
def test_what_is_refused(forest, features, options, words):
    with pytest.raises(OptionError, match=words):
        forest.ale(features, **options)
