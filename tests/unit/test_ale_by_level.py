"""Second-order ALE of a number and a category: loops, closed forms, influences of rows."""

import numpy as np
import pandas as pd
import pytest
from fits import model_of
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.accumulation import accumulate_pairs, interval_of

EXACT = 1e-9
EDGES = np.array([-4.0, -0.5, 0.5, 4.0])
LEVELS = ["b", "a", "c"]


def sample(n=150):
    rng = np.random.default_rng(5)
    g = rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2])
    x = rng.normal(size=n) + (g == "a")
    y = x * (g == "b") + np.sin(x) + (g == "c") + rng.normal(size=n)
    return pd.DataFrame({"x": x, "g": g, "h": rng.choice(list("uv"), n), "y": y})


def loops(predict, data):
    """Return what ``ALEPlot`` computes for a factor and a number, shape (levels, edges)."""
    k, m = len(LEVELS), len(EDGES) - 1
    changes = {}
    count = np.zeros((k, m))
    for i in range(len(data)):
        row = data.iloc[[i]]
        a = LEVELS.index(row["g"].iloc[0])
        b = next(j for j in range(m) if row["x"].iloc[0] <= EDGES[j + 1])
        count[a, b] += 1
        rise = [
            predict(row.assign(g=level, x=EDGES[b + 1]))[0]
            - predict(row.assign(g=level, x=EDGES[b]))[0]
            for level in LEVELS
        ]
        for s in (a - 1, a):
            if 0 <= s < k - 1:
                changes.setdefault((s, b), []).append(rise[s + 1] - rise[s])
    surface = np.zeros((k, m + 1))
    for a in range(1, k):
        for e in range(1, m + 1):
            surface[a, e] = sum(np.mean(changes[s, b]) for s in range(a) for b in range(e))
    by_level, by_edge = np.zeros(k), np.zeros(m + 1)
    for s in range(k - 1):
        weight = (count[s] + count[s + 1]) / 2
        step = surface[s + 1] - surface[s]
        by_level[s + 1] = by_level[s] + np.average((step[1:] + step[:-1]) / 2, weights=weight)
    for b in range(m):
        slope = np.average(surface[:, b + 1] - surface[:, b], weights=count[:, b])
        by_edge[b + 1] = by_edge[b] + slope
    rest = surface - by_level[:, None] - by_edge
    return rest - np.average((rest[:, 1:] + rest[:, :-1]) / 2, weights=count)


@pytest.mark.parametrize("names", [["x", "g"], ["g", "x"]])
def test_it_is_what_loops_compute(names):
    data = sample()
    forest = RandomForestRegressor(5, min_samples_leaf=5, random_state=1)
    fitted = model_of("y ~ x + g + h", data, forest)
    result = fitted.ale(names, grid={"x": EDGES, "g": LEVELS})
    (refit,) = fitted.analysis.refits
    expected = loops(lambda rows: refit.predictor(refit.design.encode(rows[["x", "g", "h"]])), data)
    layout = result.estimand.terms.layout
    number, category = ("value", "value2") if names[0] == "x" else ("value2", "value")
    at = [
        expected[LEVELS.index(level), np.searchsorted(EDGES, float(x))]
        for level, x in zip(layout[category], layout[number], strict=True)
    ]
    assert_allclose(result.params, at, atol=EXACT)
    assert "b, a, c" in str(result.summary(notes="full"))
    assert result.plot() is not None


def test_an_additive_model_has_none():
    fitted = model_of("y ~ x + g", sample(), LinearRegression())
    assert_allclose(fitted.ale(["x", "g"]).params, 0, atol=EXACT)


def test_a_slope_of_one_level_has_its_closed_form():
    """With x and g independent, x 1{g = b} has (x - mean) (1{g = b} - P(b))."""
    x = np.tile(np.arange(6.0), 8)
    g = np.repeat(list("aaabbbbc"), 6)
    data = pd.DataFrame({"x": x, "g": g, "y": x * (g == "b")})
    fitted = model_of("y ~ x * g", data, LinearRegression())
    result = fitted.ale(["x", "g"], points=20)
    layout = result.estimand.terms.layout
    middle = np.average(np.arange(5) + 0.5, weights=np.bincount(interval_of(x, np.arange(6.0))))
    truth = (layout["value"].astype(float) - middle) * ((layout["value2"] == "b") - 0.5)
    assert_allclose(result.params, truth, atol=1e-8)


def test_contributions_are_influences():
    """Compare with what doubling a row's weight does, by repeating every row many times."""
    rng = np.random.default_rng(0)
    n, edges = 30, np.array([0, 0.3, 0.6, 1.0])
    interval = interval_of(rng.uniform(size=n), edges)
    level = rng.integers(3, size=n)
    interval[(interval == 1) & (level > 0)] = 0  # cells without rows
    steps = rng.normal(size=(n, 2))
    steps[level == 0, 1] = steps[level == 2, 0] = np.nan
    level[:2] = -1

    def of(index):
        return accumulate_pairs(steps[index], level[index], interval[index], edges)

    value, rows = of(np.arange(n))
    assert_allclose(rows.mean(axis=0), value, atol=EXACT)
    copies = 20_000
    for row in (0, 7, 11):
        many = np.concatenate([np.repeat(np.arange(n), copies // n), [row]])
        moved = (of(many)[0] - value) * len(many)
        assert_allclose(moved, rows[row] - value, atol=0.01)
    weights = rng.integers(1, 4, n)
    repeated = of(np.repeat(np.arange(n), weights))[0]
    weighted = accumulate_pairs(
        steps, level, interval, edges, row_weights=weights / weights.mean()
    )[0]
    assert_allclose(weighted, repeated, atol=EXACT)


def test_learners_groups_and_levels_that_are_missing():
    learner = pi.Learner.from_formula("y ~ x * g + h", sample(), LinearRegression())
    result = learner.fit(pi.HalfSampling(5), seed=1, progress=False).ale(["g", "x"], points=4)
    assert (result.bse > 0).all()
    assert result.params.shape == (12,)
    by_group = learner.fit_model().ale(["x", "g"], points=3, by="h")
    assert len(by_group.params) == 18
    steps = np.full((4, 2), np.nan)
    steps[:, 0] = 1.0
    value, _ = accumulate_pairs(steps, np.zeros(4, int), np.zeros(4, int), np.array([0.0, 1.0]))
    assert np.isnan(value).all()


def test_two_categories_are_refused():
    fitted = model_of("y ~ x + g + h", sample(), LinearRegression())
    with pytest.raises(OptionError, match="`g` and `h` are categories"):
        fitted.ale(["g", "h"])
