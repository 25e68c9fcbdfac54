"""R's functions without R: what they return and refuse; their numbers are in tests/reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp import r_style
from pyinterp.errors import LossError, OptionError

RNG = np.random.default_rng(6)
N = 80
DATA = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"]).assign(
    f=pd.Categorical(RNG.choice(["u", "v"], size=N))
)
Y = DATA["a"] * 2 + DATA["b"] + (DATA["f"] == "v") + RNG.normal(size=N)
FITTED = pi.Learner.from_formula("y ~ a * b + f", DATA.assign(y=Y), LinearRegression()).fit_model()
X = DATA[["a", "b"]]
LABELS = np.digitize(Y, [0, 1])


def test_partial_has_pdps_columns() -> None:
    curve = r_style.partial(FITTED, "a", grid_resolution=5)
    assert list(curve) == ["a", "yhat"]
    np.testing.assert_allclose(curve["yhat"], FITTED.pd("a", grid=list(curve["a"])).params)
    levels = r_style.partial(FITTED, "f")
    assert list(levels["f"].cat.categories) == ["u", "v"]
    surface = r_style.partial(FITTED, ["a", "f"], grid_resolution=3)
    assert surface["a"].tolist() == surface["a"].tolist()[:3] * 2  # the first varies fastest


def test_ice_is_ordered_by_row() -> None:
    curves = r_style.partial(FITTED, "a", ice=True, grid_resolution=4)
    assert list(curves) == ["a", "yhat", "yhat.id"]
    assert curves["yhat.id"].tolist() == np.repeat(np.arange(1, N + 1), 4).tolist()
    centered = r_style.partial(FITTED, "a", ice=True, center=True, grid_resolution=4)
    first = curves.groupby("yhat.id")["yhat"].transform("first")
    np.testing.assert_allclose(centered["yhat"], curves["yhat"] - first, atol=1e-12)


def test_classes_are_counted_as_in_r() -> None:
    frame = X.assign(y=(Y > 0).astype(int))
    glm = smf.logit("y ~ a + b", frame).fit(disp=False)
    event = r_style.partial(pi.FittedModel(glm, frame, "y"), "a", prob=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, frame["y"])
    first = r_style.partial(pi.FittedModel(forest, X), "a", prob=True)
    assert event["yhat"].is_monotonic_increasing  # of glm the event
    assert first["yhat"].iloc[0] > first["yhat"].iloc[-1]  # of all else the first class


def test_the_linear_predictor_of_a_classifier() -> None:
    model = pi.FittedModel(LogisticRegression().fit(X, Y > 0), X)
    half = r_style.partial(model, "a", which_class=2)["yhat"]
    link = r_style.partial(model, "a", which_class=2, type="regression")["yhat"]
    back = r_style.partial(
        model, "a", which_class=2, type="regression", inv_link=lambda t: 1 / (1 + np.exp(-t))
    )["yhat"]
    np.testing.assert_allclose(link, 2 * half, rtol=1e-12)
    np.testing.assert_allclose(back, r_style.partial(model, "a", which_class=2, prob=True)["yhat"])


def test_importances_are_in_the_order_asked_for_and_vi_sorts() -> None:
    firm = r_style.vi_firm(FITTED, ["b", "a"])
    assert firm["Variable"].tolist() == ["b", "a"]
    scaled = r_style.vi(FITTED, "firm", scale=True)
    assert scaled["Importance"].iloc[0] == 100
    assert scaled["Importance"].is_monotonic_decreasing
    ranked = r_style.vi(FITTED, "permute", rank=True, metric="rmse", nsim=2)
    assert ranked["Importance"].tolist() == [1, 2, 3]


def test_permutations_have_a_spread_only_if_there_are_several() -> None:
    assert "StDev" not in r_style.vi_permute(FITTED, metric="rmse")
    three = r_style.vi_permute(FITTED, ["a"], metric="rmse", nsim=3)
    found = FITTED.pfi(["a"], metric="rmse", permutations=3)
    assert three["StDev"][0] == pytest.approx(found.mcse["a"] * np.sqrt(3))


def test_interactions() -> None:
    pairs = r_style.vint(FITTED, ["a", "b", "f"], grid_resolution=5)
    assert pairs["Variables"].iloc[0] == "a*b"
    assert pairs["Interaction"].is_monotonic_decreasing
    found = r_style.hstats(FITTED).set_index(["statistic", "term"])["value"]
    assert found["h2_pairwise", "a:b"] == pytest.approx(found["h2_pairwise"].max())
    assert found["h2_pairwise", "a:f"] == 0
    assert ("h2", "") not in r_style.hstats(FITTED, ["a", "b"]).set_index(
        ["statistic", "term"]
    ).index


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda: r_style.partial(FITTED, "a", grid_size=5), TypeError, "grid_size"),
        (lambda: r_style.partial(FITTED, "z"), OptionError, "z"),
        (lambda: r_style.partial(FITTED, "a", type="classification"), OptionError, "classifier"),
        (lambda: r_style.vi_permute(FITTED, metric="RMSE"), OptionError, "rmse"),
        (lambda: r_style.vi_permute(FITTED, metric="accuracy"), LossError, "a classifier"),
        (lambda: r_style.vi(FITTED, "shap"), OptionError, "firm"),
    ],
)
def test_mistakes(ask: Callable[[], object], error: type[Exception], said: str) -> None:
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
def test_mistakes_with_classes(options: dict[str, object], said: str) -> None:
    model = pi.FittedModel(LogisticRegression().fit(X, LABELS), X)
    with pytest.raises(OptionError, match=said):
        r_style.partial(model, "a", **options)
