"""M-plots and conditional partial dependence: laws, loess, and a closed form."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, model_of, words_of
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError

EXACT = 1e-10


@pytest.fixture(scope="module")
def normal():
    """x and z standard normal with correlation 0.8; g alone."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=1500)
    data = pd.DataFrame({"x": x, "z": 0.8 * x + 0.6 * rng.normal(size=1500)})
    data["g"] = np.where(rng.uniform(size=1500) < 0.5, "a", "b")
    data["y"] = data["x"] + 2 * data["z"] + (data["g"] == "b") + rng.normal(size=1500) / 10
    return data


def test_on_a_full_factorial_it_is_the_partial_dependence():
    """Independent features: E[f(X) | x] is E[f(x, X_C)]."""
    a, b, c = (m.ravel() for m in np.meshgrid(list("uvw"), np.arange(4.0), np.arange(3.0)))
    data = pd.DataFrame({"a": a, "b": b, "c": c})
    data["y"] = data["b"] * (data["a"] == "v") + data["b"] * data["c"]
    full = model_of("y ~ a * b * c", data, LinearRegression())
    for name in "abc":
        assert_allclose(full.m_plot(name).params, full.pd(name).params, atol=EXACT)


def test_of_a_level_it_is_the_mean_prediction_of_its_rows(normal):
    model = model_of("y ~ x + z + g", normal, LinearRegression())
    (refit,) = model.analysis.refits
    predictions = pd.Series(refit.predictor(refit.design.encode(normal[["x", "z", "g"]])))
    groups = predictions.groupby(normal["g"])
    result = model.m_plot("g")
    assert_allclose(result.params, groups.mean(), atol=EXACT)
    spread = groups.std(ddof=0) / np.sqrt(groups.size())
    assert_allclose(result.bse, spread * np.sqrt(1500 / 1499), rtol=1e-6)


def test_of_normal_features_the_slope_has_the_others_share(normal):
    """E[x + 2 z | x] = (1 + 2 * 0.8) x, where the partial dependence has slope 1."""
    model = model_of("y ~ x + z + g", normal, LinearRegression())
    grid = np.array([-1.0, 0, 1.0])
    for result, tolerance in (
        (model.m_plot("x", grid=grid), 0.15),
        (model.pd("x", sampler="conditional", grid=grid), 0.15),
    ):
        assert_allclose(np.diff(result.params), 2.6, atol=tolerance)
        assert (result.bse > 0).all()
    assert_allclose(np.diff(model.pd("x", grid=grid).params), 1, atol=0.01)


def test_a_line_is_kept_as_it_is(normal):
    """Local lines have no bias for predictions that are a line, whatever the span."""
    model = model_of("y ~ x", normal, LinearRegression())
    for span in (0.05, 0.5, 1):
        result = model.m_plot("x", points=6, span=span)
        assert_allclose(result.params, model.pd("x", points=6).params, atol=1e-9)


def test_it_is_a_weighted_least_squares_fit(normal):
    """The level at the point of a line with tricube weights, as ``loess(degree = 1)`` has it."""
    model = model_of("y ~ x + z + g", normal, LinearRegression())
    (refit,) = model.analysis.refits
    predictions = refit.predictor(refit.design.encode(normal[["x", "z", "g"]]))
    away = normal["x"].to_numpy() - 0.7
    width = np.sort(np.abs(away))[299]
    weights = np.clip(1 - np.abs(away / width) ** 3, 0, None) ** 3
    line = np.polynomial.Polynomial.fit(away, predictions, 1, w=np.sqrt(weights))
    assert model.m_plot("x", grid=[0.7]).params.iloc[0] == pytest.approx(line(0), rel=1e-9)


def test_conditional_pd_of_a_level_weights_rows_by_its_probability():
    """Against a loop over the sampler's probabilities, and without other variables the PD."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"z": rng.normal(size=120)})
    data["g"] = np.where(data["z"] + rng.normal(size=120) > 0, "hi", "lo")
    data["y"] = data["z"] * (data["g"] == "hi")
    model = model_of("y ~ z * g", data, LinearRegression())
    sampler = pi.samplers.Categorical()
    result = model.pd("g", sampler=sampler)
    (case,) = model.analysis.cases
    learned = case.conditional(sampler, ("g",))
    (refit,) = model.analysis.refits
    for k, level in enumerate(learned.levels):
        f = refit.predictor(refit.design.encode(data[["z", "g"]].assign(g=level)))
        expected = np.average(f, weights=learned.prediction[:, k])
        assert result.params[f"g[{level}]"] == pytest.approx(expected, rel=1e-9)


def test_conditional_pd_says_that_it_depends_on_the_seed(normal):
    """Folds of rows differ by seed, where nothing is drawn."""
    small = normal.head(120)
    curves = []
    for seed in (1, 2):
        model = pi.FittedModel(lambda d: d[:, 0] * d[:, 1], small[["x", "z"]].to_numpy(), seed=seed)
        curves.append(model.pd("x1", sampler="residual", points=4))
    assert (curves[0].params != curves[1].params).all()
    assert (curves[0].mcse == 0).all()
    assert "depends on the seed" in words_of(curves[0], notes="full")


def test_classes_refits_and_tables(normal):
    small = normal.head(120).assign(k=lambda d: pd.cut(d["y"], 3, labels=list("lmh")).astype(str))
    results = fit_of("k ~ x + z + g", small, RandomForestClassifier(8), pi.HalfSampling(2, pairs=5))
    for result in (results.m_plot("x", points=4), results.pd("x", sampler="residual", points=4)):
        sums = result.params.to_numpy().reshape(3, 4).sum(axis=0)
        assert_allclose(sums, 1, atol=1e-9)
        assert "`x`" in str(result.summary())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: f.m_plot("x", grid=[0, 100]), r"within the observed range \[.*got 0 to 100"),
        (lambda f: f.m_plot(["x", "z"]), "An M-plot is of one variable, not of"),
        (lambda f: f.pd("x", sampler="subgroup"), "Subgroup has not"),
        (lambda f: f.pd(["x", "z"], sampler="conditional"), "is of one variable, not of"),
        (lambda f: f.pd("x", sampler="conditional", kind="ice"), "leave `kind` out"),
    ],
)
def test_what_is_refused(normal, call, words):
    with pytest.raises(OptionError, match=words):
        call(model_of("y ~ x + z + g", normal.head(100), LinearRegression()))
