"""FIRM: numbers of R's vip, closed forms, contributions by finite differences, the correction."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.estimands.estimate import Estimate
from pyinterp.estimands.importance.flatness import spread_of
from pyinterp_papers.processes import friedman1, molnar_linear

DATA = Path(__file__).parents[1] / "reference" / "data"
LM_FRIEDMAN = "y ~ x1*x2 + x3 + I(x3**2) + x4 + x5 + I(x1**2) + x6 + x7 + x8 + x9 + x10"
LM_MIXED = "yreg ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2 + z1:z3"
GLM_MIXED = "ybin ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2"
VIP = 1e-10  # the bar
EXACT = 1e-12
R_GRID = {"grid": "equidistant", "points": 51}


def scores(name: str) -> pd.Series:
    return pd.read_csv(DATA / f"vip/{name}.csv").set_index("Variable")["Importance"]


def words(results: pi.EstimandResults) -> str:
    """Return a table's text without line breaks."""
    return " ".join(str(results.summary(notes="full")).split())


def assert_equal(found: pd.Series, expected: pd.Series, tolerance: float = VIP) -> None:
    np.testing.assert_allclose(found[expected.index], expected, rtol=0, atol=tolerance)


@pytest.fixture(scope="module")
def lm_friedman() -> pi.FittedModel:
    friedman = pd.read_csv(DATA / "inputs/friedman1.csv")
    return pi.Learner.from_formula(LM_FRIEDMAN, friedman, LinearRegression()).fit_model()


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    data = pd.read_csv(DATA / "inputs/mixed.csv")
    levels = json.loads((DATA / "inputs/mixed_levels.json").read_text())
    for name in ("f1", "f2"):
        data[name] = pd.Categorical(data[name], categories=levels[name])
    return data


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("firm_lmf", R_GRID),
        ("firm_lmf_ice", {"ice": True, **R_GRID}),
        ("firm_lmf_mad", {"spread": "mad", **R_GRID}),
    ],
)
def test_firm_of_lm_equals_vip(lm_friedman: pi.FittedModel, name: str, options: dict) -> None:
    assert_equal(lm_friedman.firm(**options).params, scores(name))


def test_firm_on_a_grid_of_quantiles_for_every_variable(lm_friedman: pi.FittedModel) -> None:
    data = pd.read_csv(DATA / "inputs/friedman1.csv")
    expected = scores("firm_lmf_quantiles")
    grid = {name: np.quantile(data[name], np.arange(1, 10) / 10) for name in expected.index}
    assert_equal(lm_friedman.firm(list(expected.index), grid=grid).params, expected)


def test_categories_take_the_range_and_numbers_the_sd_as_in_vip(mixed: pd.DataFrame) -> None:
    lm = pi.Learner.from_formula(LM_MIXED, mixed, LinearRegression()).fit_model()
    expected = scores("firm_lmm").drop("z4")  # R truncates the grid of integers
    found = lm.firm(**R_GRID)
    assert_equal(found.params, expected)
    assert "Of categories (`f1`, `f2`): range / 4." in words(found)
    assert found.corrected_params[["f1", "f2"]].isna().all()
    assert found.corrected_params[["z1", "z2"]].notna().all()
    glm = pi.statsmodels_learner(
        sm.GLM, family=sm.families.Binomial(), fit={"tol": 1e-14, "maxiter": 100}
    )
    fitted = pi.Learner.from_formula(GLM_MIXED, mixed, glm).fit_model()
    assert_equal(fitted.firm(**R_GRID).params, scores("firm_glm_prob").drop("z4"))


def test_firm_of_a_linear_model_is_its_coefficient_times_the_sd_of_the_grid() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=50), "b": rng.uniform(size=50)})
    model = pi.FittedModel(lambda rows: 3 * rows["a"] - 2 * rows["b"], X)
    grid = {"a": [0.0, 1.0, 4.0], "b": [-1.0, 0.5]}
    found = model.firm(grid=grid)
    expected = [3 * np.std(grid["a"], ddof=1), 2 * np.std(grid["b"], ddof=1)]
    np.testing.assert_allclose(found.params, expected, rtol=EXACT)
    iqr = model.firm("a", grid=grid["a"], spread="iqr").params["a"]
    assert iqr == pytest.approx(3 * (2.5 - 0.5), rel=EXACT)  # type 7, as R's IQR


def test_greenwells_section_3_1() -> None:
    """Y = 1 + 3 X1 - 5 X2: the second feature is 5/3 as important; printed the wrong way round."""
    X = pd.DataFrame(np.random.default_rng(10).uniform(size=(30, 2)), columns=["X1", "X2"])
    grid = dict.fromkeys(X, np.linspace(0, 1, 51))
    found = pi.FittedModel(lambda r: 1 + 3 * r["X1"] - 5 * r["X2"], X).firm(grid=grid).params
    assert found["X2"] / found["X1"] == pytest.approx(5 / 3, rel=EXACT)


def test_greenwells_section_4() -> None:
    """Its two features of Friedman's function: PD and FIRM by its own formulas (with erratum 3)."""
    x = np.random.default_rng(1).uniform(size=(400, 5))
    X = pd.DataFrame(x, columns=[f"x{j}" for j in range(1, 6)])
    process = friedman1()
    model = pi.FittedModel(
        process.f, X.assign(**dict.fromkeys([n for n in process.features if n not in X], 0.5))
    )
    x4 = np.linspace(0, 1, 11)
    # x4 enters as 10 x4: flatness is 10 sd of the grid, whatever the others.
    assert model.firm("x4", grid=x4).params["x4"] == pytest.approx(10 * x4.std(ddof=1), rel=EXACT)
    # f(x1) = E 10 sin(pi x1 X2) + const = 10 (1 - cos(pi x1)) / (pi x1) for the uniform law.
    # The rows stand for the law: a grid of midpoints instead of a sample.
    middle = (np.arange(2000) + 0.5) / 2000
    even = X.iloc[[0] * 2000].reset_index(drop=True).assign(x2=middle)
    even = even.assign(**dict.fromkeys([n for n in process.features if n not in X], 0.5))
    x1 = np.linspace(0.1, 1, 10)
    curve = 10 * (1 - np.cos(np.pi * x1)) / (np.pi * x1)
    found = pi.FittedModel(process.f, even).firm("x1", grid=x1)
    assert found.params["x1"] == pytest.approx(curve.std(ddof=1), abs=1e-5)  # midpoint rule
    pd14 = pi.FittedModel(process.f, even).pd(["x1", "x4"], grid={"x1": [0.3], "x4": [0.7]})
    fixed = 20 * (even["x3"].iloc[0] - 0.5) ** 2 + 5 * even["x5"].iloc[0]
    # Erratum 3, E 20 (X3 - 0.5)^2 + 5 X5 = 5/3 + 5/2 put back for the fixed values here.
    a, b = 0.3, 0.7
    printed = (5 * np.pi * a * (12 * b + 5) - 60 * np.cos(np.pi * a) + 60) / (6 * np.pi * a)
    assert pd14.params.iloc[0] - fixed + 5 / 3 + 5 / 2 == pytest.approx(printed, abs=1e-5)
    assert printed == pytest.approx(15.540, abs=5e-4)


def test_scaling_the_prediction_scales_firm() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    forest = RandomForestRegressor(10, random_state=1).fit(X, X["a"] * X["b"] + X["c"])
    once = pi.FittedModel(forest.predict, X)
    thrice = pi.FittedModel(lambda rows: 7 - 3 * forest.predict(rows), X)
    for options in ({}, {"spread": "mad"}, {"spread": "iqr"}, {"ice": True}):
        one, three = once.firm(**options), thrice.firm(**options)
        np.testing.assert_allclose(three.params, 3 * one.params, rtol=1e-9)
        np.testing.assert_allclose(three.bse, 3 * one.bse, rtol=1e-9)


def test_trees_exact_equals_batched() -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    forest = RandomForestRegressor(10, random_state=1).fit(X, X["a"] * X["b"] + X["c"])
    exact, batched = (pi.FittedModel(forest, X, engine=e).firm() for e in ("trees", "batched"))
    assert exact.engine.name == "trees, exact"
    for name in ("params", "bse", "corrected_params"):
        np.testing.assert_allclose(getattr(exact, name), getattr(batched, name), rtol=1e-9)


@pytest.mark.parametrize("kind", ["sd", "mad", "iqr", "range"])
@pytest.mark.parametrize("points", [2, 3, 6, 7])
def test_gradients_by_finite_differences(kind: str, points: int) -> None:
    rng = np.random.default_rng(points)
    values, step = rng.normal(size=points), 1e-6
    _, gradient = spread_of(values, kind)
    numeric = [
        (spread_of(values + step * e, kind)[0] - spread_of(values - step * e, kind)[0]) / 2 / step
        for e in np.eye(points)
    ]
    np.testing.assert_allclose(gradient, numeric, atol=1e-8)


def test_spreads_are_those_of_numpy() -> None:
    values = np.random.default_rng(4).normal(size=8)
    assert spread_of(values, "sd")[0] == pytest.approx(values.std(ddof=1), rel=EXACT)
    mad = 1.4826 * np.median(np.abs(values - np.median(values)))
    assert spread_of(values, "mad")[0] == pytest.approx(mad, rel=EXACT)
    iqr = np.quantile(values, 0.75) - np.quantile(values, 0.25)
    assert spread_of(values, "iqr")[0] == pytest.approx(iqr, rel=EXACT)
    assert spread_of(values, "range")[0] == pytest.approx(np.ptp(values) / 4, rel=EXACT)


def test_a_spread_of_0_has_no_gradient() -> None:
    for values in (np.full(5, 3.0), np.array([1.0]), np.full(5, 1e6) + 1e-9 * np.arange(5)):
        spread, gradient = spread_of(values, "sd")
        assert spread == 0
        assert not gradient.any()


@pytest.mark.parametrize("spread", ["sd", "mad", "iqr"])
def test_contributions_by_perturbing_the_weights_of_rows(spread: str) -> None:
    """A row's contribution is the derivative of FIRM by the row's weight (delta method)."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    model = pi.FittedModel(lambda rows: np.sin(rows["a"]) * (1 + rows["b"]) + rows["a"] ** 2, X)
    found = model.firm("a", points=7, spread=spread)
    curves = model.pd("a", points=7).row_frame().to_numpy()
    (estimate,) = found.replicates.estimates
    step = 1e-6

    def value(weights: np.ndarray) -> float:
        return spread_of(weights @ curves / weights.sum(), spread)[0]

    derivatives = [
        (value(np.ones(30) + step * e) - value(np.ones(30) - step * e)) / 2 / step
        for e in np.eye(30)
    ]
    deviations = (estimate.rows - estimate.value)[:, 0]
    np.testing.assert_allclose(deviations / 30, derivatives, atol=1e-8)


def test_ice_contributions_are_the_rows_own_spreads() -> None:
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    model = pi.FittedModel(lambda rows: rows["a"] * rows["b"], X)
    found = model.firm("a", grid=[-1.0, 1.0, 2.0], ice=True)
    own = np.abs(X["b"]) * np.std([-1, 1, 2], ddof=1)
    np.testing.assert_allclose(found.row_frame()["a"], own, rtol=EXACT)
    assert found.params["a"] == pytest.approx(own.mean(), rel=EXACT)
    assert found.bse["a"] == pytest.approx(own.std(ddof=1) / np.sqrt(40), rel=EXACT)
    assert found.corrected_params is None


def test_through_is_the_delta_method_of_donors_and_noise_too() -> None:
    rng = np.random.default_rng(7)
    rows, donors = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    estimate = Estimate(
        value=rows.mean(axis=0), rows=rows, donors=donors - donors.mean(0), mc_variance=np.ones(2)
    )
    jacobian = np.array([[2.0, 0.0], [1.0, -1.0], [0.0, 0.0]])
    linear = estimate.through(jacobian @ estimate.value, jacobian)
    same = estimate.linear(jacobian)
    for name in ("value", "rows", "donors", "mc_variance"):
        np.testing.assert_allclose(getattr(linear, name), getattr(same, name), atol=EXACT)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes: int) -> None:
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
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
        np.testing.assert_allclose(only, found.params[["w: a", "w: b"]], rtol=EXACT)
    curve = model.pd("b", points=5).params.to_numpy().reshape(-1, 5)
    expected = curve.std(axis=1, ddof=1)
    np.testing.assert_allclose(found.params.iloc[1::2], expected, rtol=EXACT)


def test_booleans_and_whole_numbers_are_numbers_unless_the_formula_says_otherwise() -> None:
    rng = np.random.default_rng(9)
    data = pd.DataFrame({"flag": rng.random(60) > 0.5, "year": rng.integers(2000, 2004, 60)})
    data["y"] = data["flag"] + data["year"] * 1.0 + rng.normal(size=60)
    plain = pi.Learner.from_formula("y ~ flag + year", data, LinearRegression()).fit_model()
    coded = pi.Learner.from_formula("y ~ flag + C(year)", data, LinearRegression()).fit_model()
    curve = plain.pd("flag").params
    assert plain.firm().params["flag"] == pytest.approx(curve.std(ddof=1), rel=EXACT)
    levels = coded.pd("year").params
    assert coded.firm().params["year"] == pytest.approx(np.ptp(levels) / 4, rel=EXACT)
    assert "Of categories (`year`)" in words(coded.firm())


def test_variables_of_groups_are_taken_one_by_one(data: pd.DataFrame) -> None:
    learner = pi.Learner.from_formula(
        "y ~ x + z + g", data, LinearRegression(), groups={"both": ["x", "z"]}
    )
    model = learner.fit_model()
    assert model.firm().exog_names == ["x", "z", "g"]
    with pytest.raises(OptionError, match="a group of variables; name one of them"):
        model.firm("both")


def test_bad_options_are_refused(data: pd.DataFrame) -> None:
    model = pi.Learner.from_formula("y ~ x + z", data, LinearRegression()).fit_model()
    with pytest.raises(OptionError, match="`spread` must be"):
        model.firm(spread="var")
    with pytest.raises(OptionError, match="`grid` names 'w', which is not among"):
        model.firm(grid={"w": [1, 2]})
    with pytest.raises(OptionError, match="no average over rows"):
        model.firm(ice=True, average="median")
    with pytest.raises(OptionError, match="at least one variable"):
        model.firm([])
    with pytest.raises(TypeError, match=r"firm\(\) takes no keyword argument `colour`"):
        model.firm(colour="red")


def test_jobs_change_nothing(data: pd.DataFrame) -> None:
    learner = pi.Learner.from_formula("y ~ x + z + g", data, DecisionTreeRegressor(max_depth=3))
    frames = [
        learner.fit(pi.HalfSampling(5, pairs=5), seed=1, n_jobs=jobs).firm().summary_frame()
        for jobs in (1, 2)
    ]
    pd.testing.assert_frame_equal(*frames)


def test_the_correction_subtracts_the_variance_of_the_centered_curve(data: pd.DataFrame) -> None:
    learner = pi.Learner.from_formula("y ~ x + z + g", data, LinearRegression())
    res = learner.fit(pi.HalfSampling(5, pairs=5), seed=1)
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
def test_the_corrected_flatness_is_nearer_to_the_truth() -> None:
    """A feature without effect (truth 0) and one with effect, 40 data sets of 60 rows."""
    process, grid = molnar_linear(), np.linspace(0, 1, 10)
    truth = np.std(grid, ddof=1)
    plain, corrected = [], []
    for seed in range(40):
        rows = process.draw(60, seed)
        rows["noise"] = np.random.default_rng(1000 + seed).uniform(size=60)
        learner = pi.Learner.from_formula("y ~ x1 + x2 + noise", rows, LinearRegression())
        res = learner.fit(pi.HalfSampling(5, pairs=5), seed=seed, progress=False)
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
def test_spreads_of_rows_own_curves(spread: str) -> None:
    """Each by a loop over rows, with scipy's and numpy's functions."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=9), "z": rng.normal(size=9) + 3})
    fitted = pi.FittedModel(lambda rows: (rows["x"] ** 3 + rows["x"] * rows["z"]).to_numpy(), frame)
    grid = [-1.0, 0.0, 0.5, 2.0, 3.0]
    one = {
        "sd": lambda v: np.std(v, ddof=1),
        "mad": lambda v: 1.4826 * np.median(np.abs(v - np.median(v))),
        "iqr": lambda v: np.quantile(v, 0.75) - np.quantile(v, 0.25),
    }[spread]
    expected = [one(np.array([x**3 + x * z for x in grid])) for z in frame["z"]]
    (estimate,) = fitted.firm("x", grid=grid, ice=True, spread=spread).replicates.estimates
    np.testing.assert_allclose(estimate.rows[:, 0], expected, rtol=1e-12)


def test_levels_of_rows_own_curves_have_a_range() -> None:
    """A quarter of it, by a loop over rows."""
    frame = pd.DataFrame({"f": list("abcab"), "z": [1.0, -2.0, 3.0, 0.5, 2.0]})
    size = {"a": 0.0, "b": 1.0, "c": -0.5}
    fitted = pi.FittedModel(lambda rows: (rows["f"].map(size) * rows["z"]).to_numpy(float), frame)
    expected = [np.ptp([v * z for v in size.values()]) / 4 for z in frame["z"]]
    (estimate,) = fitted.firm("f", ice=True).replicates.estimates
    np.testing.assert_allclose(estimate.rows[:, 0], expected, rtol=1e-12)


def test_two_of_three_classes_have_names_of_their_own() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=90), "y": np.repeat(["a", "b", "c"], 30)})
    model = pi.Learner.from_formula("y ~ x", data, LogisticRegression()).fit_model(seed=1)
    assert list(model.firm(which_class=["a", "c"], points=4).params.index) == ["a: x", "c: x"]


def test_the_spread_of_curves_has_the_unit_of_the_prediction() -> None:
    """Curves of one millionth of a millionth vary as others do."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "z"])
    y = X["x"] * X["z"] + X["x"]
    for options in ({}, {"ice": True}, {"spread": "mad"}):
        small, usual = (
            pi.FittedModel(LinearRegression().fit(X, y * unit), X, y * unit).firm(
                points=4, **options
            )
            for unit in (1e-12, 1.0)
        )
        np.testing.assert_allclose(small.params * 1e12, usual.params, rtol=1e-9)
