"""FIRM: closed forms, contributions by finite differences, the correction.

Numbers of R's vip are in tests/reference.
"""

import numpy as np
import pandas as pd
import pytest
from derivatives import derivatives
from fits import fit_of, model_of, words_of
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.estimands.importance.flatness import spread_of
from pyinterp_papers.processes import friedman1, molnar_linear

EXACT = 1e-12


def words(results):
    """Return a table's text without line breaks."""
    return words_of(results, notes="full")


@pytest.fixture(scope="module")
def pair():
    return pd.DataFrame(np.random.default_rng(5).normal(size=(40, 2)), columns=["a", "b"])


def test_firm_of_a_linear_model_is_its_coefficient_times_the_sd_of_the_grid(pair):
    """So in Greenwell's section 3.1, where 5/3 is printed the wrong way round."""
    model = pi.FittedModel(lambda rows: 3 * rows["a"] - 2 * rows["b"], pair)
    grid = {"a": [0.0, 1.0, 4.0], "b": [-1.0, 0.5]}
    found = model.firm(grid=grid)
    expected = [3 * np.std(grid["a"], ddof=1), 2 * np.std(grid["b"], ddof=1)]
    assert_allclose(found.params, expected, rtol=EXACT)
    iqr = model.firm("a", grid=grid["a"], spread="iqr").params["a"]
    assert iqr == pytest.approx(3 * (2.5 - 0.5), rel=EXACT)  # type 7, as R's IQR


def test_greenwells_section_4():
    """Two features of Friedman's function: FIRM by its own formulas."""
    process = friedman1()
    # The rows stand for the law of x2: a grid of midpoints instead of a sample.
    even = pd.DataFrame(dict.fromkeys(process.features, 0.5), index=range(2000))
    even["x2"], even["x3"], even["x5"] = (np.arange(2000) + 0.5) / 2000, 0.3, 0.7
    model = pi.FittedModel(process.f, even)
    x4 = np.linspace(0, 1, 11)
    # x4 enters as 10 x4: flatness is 10 sd of the grid, whatever the others.
    assert model.firm("x4", grid=x4).params["x4"] == pytest.approx(10 * x4.std(ddof=1), rel=EXACT)
    # f(x1) = E 10 sin(pi x1 X2) + const = 10 (1 - cos(pi x1)) / (pi x1) for the uniform law.
    x1 = np.linspace(0.1, 1, 10)
    curve = 10 * (1 - np.cos(np.pi * x1)) / (np.pi * x1)
    found = model.firm("x1", grid=x1)
    assert found.params["x1"] == pytest.approx(curve.std(ddof=1), abs=1e-5)  # midpoint rule


@pytest.mark.parametrize("options", [{}, {"spread": "mad"}, {"spread": "iqr"}, {"ice": True}])
def test_scaling_the_prediction_scales_firm(pair, options):
    """Curves of one millionth of a millionth vary as others do."""
    forest = RandomForestRegressor(10, random_state=1).fit(pair, pair["a"] * pair["b"] + pair["b"])
    once = pi.FittedModel(forest.predict, pair).firm(**options)
    for scale in (-3, 1e-12):
        other = pi.FittedModel(lambda rows, s=scale: s * (7 + forest.predict(rows)), pair)
        found = other.firm(**options)
        assert_allclose(found.params, abs(scale) * once.params, rtol=1e-9)
        assert_allclose(found.bse, abs(scale) * once.bse, rtol=1e-9)


@pytest.mark.parametrize("kind", ["sd", "mad", "iqr", "range"])
@pytest.mark.parametrize("points", [2, 3, 6, 7])
def test_gradients_by_finite_differences(kind, points):
    rng = np.random.default_rng(points)
    values = rng.normal(size=points)
    _, gradient = spread_of(values, kind)
    numeric = derivatives(lambda v: spread_of(v, kind)[0], values)
    assert_allclose(gradient, numeric, atol=1e-8)


SPREADS = {
    "sd": lambda v: np.std(v, ddof=1),
    "mad": lambda v: 1.4826 * np.median(np.abs(v - np.median(v))),
    "iqr": lambda v: np.quantile(v, 0.75) - np.quantile(v, 0.25),
    "range": lambda v: np.ptp(v) / 4,
}


def test_a_spread_of_0_has_no_gradient():
    for values in (np.full(5, 3.0), np.array([1.0]), np.full(5, 1e6) + 1e-9 * np.arange(5)):
        spread, gradient = spread_of(values, "sd")
        assert spread == 0
        assert not gradient.any()


@pytest.mark.parametrize("spread", ["sd", "mad", "iqr"])
def test_contributions_by_perturbing_the_weights_of_rows(pair, spread):
    """A row's contribution is the derivative of FIRM by the row's weight (delta method)."""
    model = pi.FittedModel(lambda rows: np.sin(rows["a"]) * (1 + rows["b"]) + rows["a"] ** 2, pair)
    found = model.firm("a", points=7, spread=spread)
    curves = model.pd("a", points=7).row_frame().to_numpy()
    (estimate,) = found.replicates.estimates

    def value(weights):
        return spread_of(weights @ curves / weights.sum(), spread)[0]

    deviations = (estimate.rows - estimate.value)[:, 0]
    assert_allclose(deviations / 40, derivatives(value, np.ones(40)), atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes):
    _, X = normal_rows(90, "a b", 8)
    y = np.array(list("uvw"))[np.digitize(X["a"] + X["b"] / 4, [0, 0.7][: classes - 1])]
    model = pi.FittedModel(RandomForestClassifier(20, random_state=1).fit(X, y), X, y)
    found = model.firm(points=5)
    if classes == 2:
        assert found.exog_names == ["a", "b"]
        assert found.summary_frame()["class"].tolist() == ["v", "v"]
        assert "class v" in str(found.summary())
    else:
        assert found.exog_names == [f"{c}: {n}" for c in "uvw" for n in "ab"]
        only = model.firm(points=5, which_class="w").params
        assert_allclose(only, found.params[["w: a", "w: b"]], rtol=EXACT)
        few = model.firm(points=5, which_class=["u", "w"]).params
        assert_allclose(few, found.params[["u: a", "u: b", "w: a", "w: b"]], rtol=EXACT)
    curve = model.pd("b", points=5).params.to_numpy().reshape(-1, 5)
    expected = curve.std(axis=1, ddof=1)
    assert_allclose(found.params.iloc[1::2], expected, rtol=EXACT)


def test_booleans_and_whole_numbers_are_numbers_unless_the_formula_says_otherwise():
    rng = np.random.default_rng(9)
    data = pd.DataFrame({"flag": rng.random(60) > 0.5, "year": rng.integers(2000, 2004, 60)})
    data["y"] = data["flag"] + data["year"] * 1.0 + rng.normal(size=60)
    plain = model_of("y ~ flag + year", data, LinearRegression())
    coded = model_of("y ~ flag + C(year)", data, LinearRegression())
    curve = plain.pd("flag").params
    assert plain.firm().params["flag"] == pytest.approx(curve.std(ddof=1), rel=EXACT)
    levels = coded.pd("year").params
    assert coded.firm().params["year"] == pytest.approx(np.ptp(levels) / 4, rel=EXACT)
    assert "Of categories (year)" in words(coded.firm())


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ([], {"spread": "var"}, OptionError, "`spread` must be"),
        ([], {"grid": {"w": [1, 2]}}, OptionError, "Can't find variable 'w' of `grid`"),
        ([[]], {}, OptionError, "at least one variable"),
        (["both"], {}, OptionError, "is a group of variables"),
        ([], {"colour": "red"}, TypeError, r"firm\(\) takes no keyword argument `colour`"),
    ],
)
def test_bad_options_are_refused(data, arguments, options, error, words):
    """Variables of groups are taken one by one."""
    groups = {"both": ["x", "z"]}
    model = model_of("y ~ x + z + g", data, LinearRegression(), groups=groups)
    with pytest.raises(error, match=words):
        model.firm(*arguments, **options)
    assert model.firm().exog_names == ["x", "z", "g"]


def test_the_correction_subtracts_the_variance_of_the_centered_curve(data):
    res = fit_of("y ~ x + z + g", data, LinearRegression(), pi.HalfSampling(5, pairs=5))
    for cov_type in ("half-sample", "corrected"):
        found = res.firm(points=6, cov_type=cov_type)
        curve = res.pd("x", points=6, cov_type=cov_type)
        center = np.eye(6) - 1 / 6
        noise = np.trace(center @ curve.cov_params().to_numpy()) / 5
        expected = np.sqrt(max(curve.params.var(ddof=1) - noise, 0))
        assert found.corrected_params["x"] == pytest.approx(expected, rel=1e-9)
    frame = found.summary_frame()
    assert "corrected" in frame
    text = str(found.summary())
    assert "FIRM corrected" in text
    assert "P>|t|" not in text  # no test of 0
    assert np.isnan(frame.loc["g", "corrected"])
    versus = pi.compare(res.firm(points=6), res.firm(points=6))
    assert versus.corrected_params is None
    assert "corrected:" not in str(versus.summary())


@pytest.mark.calibration
def test_the_corrected_flatness_is_nearer_to_the_truth():
    """A feature without effect (truth 0) and one with effect, 40 data sets of 60 rows."""
    process, grid = molnar_linear(), np.linspace(0, 1, 10)
    truth = np.std(grid, ddof=1)
    plain, corrected = [], []
    for seed in range(40):
        rows = process.draw(60, seed)
        rows["noise"] = np.random.default_rng(1000 + seed).uniform(size=60)
        learner = pi.Learner.from_formula("y ~ x1 + x2 + noise", rows, LinearRegression())
        res = learner.fit(pi.HalfSampling(5, pairs=5), seed=seed)
        found = res.firm(["x1", "noise"], grid=dict.fromkeys(["x1", "noise"], grid))
        plain.append(found.params)
        corrected.append(found.corrected_params)
    first, second = (pd.DataFrame(found).reset_index(drop=True) for found in (plain, corrected))
    # Of irrelevant features the plain one is far above 0, the corrected one nearer.
    assert first["noise"].mean() > 5 * first["noise"].sem()
    gain = first["noise"] - second["noise"]
    assert gain.mean() > 4 * gain.sem()
    squares = second**2 - truth**2
    # Where there is an effect the corrected square is unbiased but for what the variance bound is
    # too large by; the plain one is above the truth.
    assert abs(squares["x1"].mean()) < 3 * squares["x1"].sem()


@pytest.mark.parametrize("spread", ["sd", "mad", "iqr"])
def test_spreads_of_rows_own_curves(pair, spread):
    """Each by a loop over rows, and their mean as a mean of rows."""
    fitted = pi.FittedModel(lambda rows: rows["a"] ** 3 + rows["a"] * rows["b"], pair)
    grid = np.array([-1.0, 0.0, 0.5, 2.0, 3.0])
    own = np.array([SPREADS[spread](grid**3 + grid * b) for b in pair["b"]])
    found = fitted.firm("a", grid=grid, ice=True, spread=spread)
    assert_allclose(found.row_frame()["a"], own, rtol=EXACT)
    assert found.params["a"] == pytest.approx(own.mean(), rel=EXACT)
    assert found.bse["a"] == pytest.approx(own.std(ddof=1) / np.sqrt(40), rel=EXACT)
    assert found.corrected_params is None


def test_levels_of_rows_own_curves_have_a_range():
    """A quarter of it, by a loop over rows."""
    frame = pd.DataFrame({"f": list("abcab"), "z": [1.0, -2.0, 3.0, 0.5, 2.0]})
    size = {"a": 0.0, "b": 1.0, "c": -0.5}
    fitted = pi.FittedModel(lambda rows: (rows["f"].map(size) * rows["z"]).to_numpy(float), frame)
    expected = [np.ptp([v * z for v in size.values()]) / 4 for z in frame["z"]]
    (estimate,) = fitted.firm("f", ice=True).replicates.estimates
    assert_allclose(estimate.rows[:, 0], expected, rtol=1e-12)
