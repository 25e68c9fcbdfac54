"""R's functions without R: what they return and refuse; their numbers are in tests/reference."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from fits import model_of
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp import r_style
from pyinterp.errors import OptionError

RNG = np.random.default_rng(6)
N = 80
DATA = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"]).assign(
    f=pd.Categorical(RNG.choice(["u", "v"], size=N))
)
Y = DATA["a"] * 2 + DATA["b"] + (DATA["f"] == "v") + RNG.normal(size=N)
FITTED = model_of("y ~ a * b + f", DATA.assign(y=Y), LinearRegression())
X = DATA[["a", "b"]]
LABELS = np.digitize(Y, [0, 1])


def test_partial_has_pdps_columns():
    curve = r_style.partial(FITTED, "a", grid_resolution=5)
    assert list(curve) == ["a", "yhat"]
    assert_allclose(curve["yhat"], FITTED.pd("a", grid=list(curve["a"])).params)
    levels = r_style.partial(FITTED, "f")
    assert list(levels["f"].cat.categories) == ["u", "v"]
    surface = r_style.partial(FITTED, ["a", "f"], grid_resolution=3)
    assert surface["a"].tolist() == surface["a"].tolist()[:3] * 2  # the first varies fastest


def test_ice_is_ordered_by_row():
    curves = r_style.partial(FITTED, "a", ice=True, grid_resolution=4)
    assert list(curves) == ["a", "yhat", "yhat.id"]
    assert curves["yhat.id"].tolist() == np.repeat(np.arange(1, N + 1), 4).tolist()
    centered = r_style.partial(FITTED, "a", ice=True, center=True, grid_resolution=4)
    first = curves.groupby("yhat.id")["yhat"].transform("first")
    assert_allclose(centered["yhat"], curves["yhat"] - first, atol=1e-12)


def test_classes_are_counted_as_in_r():
    frame = X.assign(y=(Y > 0).astype(int))
    glm = smf.logit("y ~ a + b", frame).fit(disp=False)
    event = r_style.partial(pi.FittedModel(glm, frame, "y"), "a", prob=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, frame["y"])
    first = r_style.partial(pi.FittedModel(forest, X), "a", prob=True)
    assert event["yhat"].is_monotonic_increasing  # of glm the event
    assert first["yhat"].iloc[0] > first["yhat"].iloc[-1]  # of all else the first class


def test_the_linear_predictor_of_a_classifier():
    model = pi.FittedModel(LogisticRegression().fit(X, Y > 0), X)
    half = r_style.partial(model, "a", which_class=2)["yhat"]
    link = r_style.partial(model, "a", which_class=2, type="regression")["yhat"]
    back = r_style.partial(
        model, "a", which_class=2, type="regression", inv_link=lambda t: 1 / (1 + np.exp(-t))
    )["yhat"]
    assert_allclose(link, 2 * half, rtol=1e-12)
    assert_allclose(back, r_style.partial(model, "a", which_class=2, prob=True)["yhat"])


def test_importances_are_in_the_order_asked_for_and_vi_sorts():
    firm = r_style.vi_firm(FITTED, ["b", "a"])
    assert firm["Variable"].tolist() == ["b", "a"]
    scaled = r_style.vi(FITTED, "firm", scale=True)
    assert scaled["Importance"].iloc[0] == 100
    assert scaled["Importance"].is_monotonic_decreasing
    ranked = r_style.vi(FITTED, "permute", rank=True, metric="rmse", nsim=2)
    assert ranked["Importance"].tolist() == [1, 2, 3]


def test_one_variable_has_no_hull():
    hull, plain = (r_style.vi_firm(FITTED, chull=chull) for chull in (True, False))
    pd.testing.assert_frame_equal(hull, plain)


def test_permutations_have_a_spread_only_if_there_are_several():
    assert "StDev" not in r_style.vi_permute(FITTED, metric="rmse")
    three = r_style.vi_permute(FITTED, ["a"], metric="rmse", nsim=3)
    found = FITTED.pfi(["a"], metric="rmse", permutations=3)
    assert three["StDev"][0] == pytest.approx(found.mcse["a"] * np.sqrt(3))


def test_interactions():
    pairs = r_style.vint(FITTED, ["a", "b", "f"], grid_resolution=5)
    assert pairs["Variables"].iloc[0] == "a*b"
    assert pairs["Interaction"].is_monotonic_decreasing
    found = r_style.hstats(FITTED).set_index(["statistic", "term"])["value"]
    assert found["h2_pairwise", "a:b"] == pytest.approx(found["h2_pairwise"].max())
    assert found["h2_pairwise", "a:f"] == 0
    some = r_style.hstats(FITTED, ["b", "a"], threeway_m=3, pairwise_m=2)
    assert some["term"].tolist() == ["", "b", "a", "b:a", "b", "a"]  # no triple without its pairs


def test_factors_alone_have_a_range():
    """Strings are no factors in vip, and numbers that a formula makes categories are not either."""
    frame = DATA.assign(s=DATA["f"].astype(str), k=RNG.integers(0, 3, N), y=Y)
    formula = "y ~ a + s + f + C(k)"
    model = model_of(formula, frame, LinearRegression())
    found = r_style.vi_firm(model).set_index("Variable")["Importance"]
    for name in ("s", "k"):
        curve = r_style.partial(model, name)["yhat"]
        assert found[name] == pytest.approx(curve.std())
    assert found["f"] == pytest.approx(np.ptp(r_style.partial(model, "f")["yhat"]) / 4)
    own = model.firm(grid="r").params
    assert own["s"] == pytest.approx(np.ptp(r_style.partial(model, "s")["yhat"]) / 4)


def test_the_sd_of_one_value_is_missing():
    frame = X.assign(c=1.0)
    model = pi.FittedModel(LinearRegression().fit(frame, Y), frame)
    assert np.isnan(r_style.vi_firm(model).set_index("Variable")["Importance"]["c"])
    assert model.firm("c").params["c"] == 0


def test_centered_curves_of_probabilities_are_around_a_half():
    model = pi.FittedModel(LogisticRegression().fit(X, Y > 0), X)
    options = {"ice": True, "center": True, "grid_resolution": 3}
    assert (r_style.partial(model, "a", prob=True, **options)["yhat"][::3] == 0.5).all()
    assert (r_style.partial(model, "a", **options)["yhat"][::3] == 0).all()


def test_given_grids_are_sorted_and_of_the_datas_types():
    frame = X.assign(k=RNG.integers(0, 9, N))
    model = pi.FittedModel(LinearRegression().fit(frame, Y), frame)
    assert r_style.partial(model, "k", pred_grid=[5.7, 2.2])["k"].tolist() == [2, 5]
    assert r_style.partial(model, "k", pred_grid=[5.7], check_class=False)["k"].tolist() == [5.7]
    rows = r_style.partial(model, ["a", "b"], pred_grid={"a": [1, 0], "b": [3, 4]})
    assert rows[["a", "b"]].to_numpy().tolist() == [[0, 4], [1, 3]]
    levels = r_style.partial(FITTED, "f", pred_grid=["v", "u"])
    assert levels["f"].tolist() == ["u", "v"]


def test_few_rows_have_few_permutations():
    few = pi.FittedModel(LinearRegression().fit(X, Y), X[:10], Y[:10], seed=1)
    frame = r_style.vi_permute(few, ["a"], metric="rmse", nsim=30)
    exact = r_style.vi_permute(few, ["a"], metric="rmse", nsim=9)
    assert frame["StDev"][0] == pytest.approx(exact["StDev"][0])


def test_the_models_own_importance_is_the_default_of_vi():
    frame = X.assign(y=Y)
    model = pi.FittedModel(smf.ols("y ~ a + b", frame).fit(), frame, "y")
    found = r_style.vi(model)
    assert found["Variable"].tolist() == ["a", "b"]
    assert found["Importance"][0] == pytest.approx(model.native_importance("stat").params["a"])


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda: r_style.partial(FITTED, "a", grid_size=5), TypeError, "grid_size"),
        (lambda: r_style.partial(FITTED, "a", type="classification"), OptionError, "classifier"),
        (lambda: r_style.vi_permute(FITTED, metric="pr_auc"), OptionError, "by lines"),
        (lambda: r_style.vi(FITTED, "shap"), OptionError, "firm"),
        (lambda: r_style.partial(LinearRegression(), "a"), OptionError, "FittedModel"),
        (lambda: r_style.partial(FITTED, "a", cats="kk"), OptionError, "'kk' of"),
        (lambda: r_style.partial(FITTED, "a", quantiles=True, probs=[5]), OptionError, "in .0, 1."),
        (lambda: r_style.partial(FITTED, "f", pred_grid=["x"]), OptionError, "not a level"),
        (lambda: r_style.partial(FITTED, ["a", "b"], pred_grid=[1]), OptionError, "a column for"),
        (lambda: r_style.partial(FITTED, "a", smooth=True), TypeError, "`plot..` of results"),
        (lambda: r_style.vi_firm(FITTED, pred_grid={"a": [1]}), TypeError, "of every feature"),
        (lambda: r_style.vint(FITTED, ice=True), TypeError, "the mean curve"),
        (lambda: r_style.hstats(FITTED, n_max=1), OptionError, "`n_max` must be"),
        (lambda: r_style.vi(FITTED, "firm", nsim=2), TypeError, "`nsim`"),
        (lambda: r_style.vi(FITTED, "permute"), OptionError, "needs a metric"),
    ],
)
def test_mistakes(ask, error, said):
    with pytest.raises(error, match=said):
        ask()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"which_class": 4}, "from 1 to 3"),
        ({"type": "regression"}, "need two classes"),
        ({"inv_link": np.exp}, 'type="regression"'),
    ],
)
def test_mistakes_with_classes(options, said):
    model = pi.FittedModel(LogisticRegression().fit(X, LABELS), X)
    with pytest.raises(OptionError, match=said):
        r_style.partial(model, "a", **options)


def test_options_of_vi_are_those_of_its_method():
    firm = r_style.vi(FITTED, "firm", ["a", "b"], grid_resolution=5, var_continuous="mad")
    direct = r_style.vi_firm(FITTED, ["a", "b"], grid_resolution=5, var_continuous="mad")
    assert dict(firm.to_numpy()) == dict(direct.to_numpy())
    ratio = r_style.vi(FITTED, "permute", metric="rmse", type="ratio")
    assert (ratio["Importance"] > 1).all()
    raw = r_style.vi(FITTED, type="raw")
    assert raw["Importance"].is_monotonic_decreasing


def test_h_statistics_of_three_classes_are_refused():
    model = pi.FittedModel(LogisticRegression().fit(X, LABELS), X)
    with pytest.raises(OptionError, match="not for 3"):
        r_style.hstats(model)


def three_variables():
    _, data = normal_rows(60, "x z w")
    model = LinearRegression().fit(data, data["x"] * data["z"] + data["w"])
    return pi.FittedModel(model, data), data


def test_three_variables_are_those_of_pdp():
    fitted, _ = three_variables()
    frame = pi.r_style.partial(fitted, ["x", "z", "w"], grid_resolution=4)
    assert list(frame) == ["x", "z", "w", "yhat"]
    assert len(frame) == 64
    assert frame["x"].iloc[:5].nunique() == 4  # the first varies fastest, as in expand.grid
    estimator = fitted.analysis.problem.predictor.estimator
    assert_allclose(frame["yhat"], estimator.predict(frame[["x", "z", "w"]]), atol=1e-12)
    inside = pi.r_style.partial(fitted, ["x", "z", "w"], grid_resolution=4, chull=True)
    pair = pi.r_style.partial(fitted, ["x", "z"], grid_resolution=4, chull=True)
    assert len(inside) == 4 * len(pair) < 64


def test_the_variables_of_a_grid_need_no_name():
    fitted, _ = three_variables()
    grid = pd.DataFrame({"x": [0.0, 1.0], "w": [0.5, 0.5]})
    omitted = pi.r_style.partial(fitted, pred_grid=grid)
    pd.testing.assert_frame_equal(omitted, pi.r_style.partial(fitted, ["x", "w"], pred_grid=grid))
    with pytest.raises(OptionError, match="`pred_var` can be left out if `pred_grid`"):
        pi.r_style.partial(fitted, pred_grid=[0, 1])
