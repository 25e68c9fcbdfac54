"""Our numbers beside R's: pdp, vip and hstats called live, where they are installed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

import pyinterp as pi
import r_bridge
from pyinterp.errors import OptionError

RNG = np.random.default_rng(10)
N = 120
DATA = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"]).assign(
    k=RNG.integers(0, 6, size=N),
    f=pd.Categorical(RNG.choice(["u", "v", "w"], size=N), categories=["w", "v", "u"]),
)
Y = pd.Series(DATA["a"] * DATA["b"] + DATA["k"] + (DATA["f"] == "v"), name="y")
X = DATA[["a", "b", "k"]]
FOREST = pi.FittedModel(RandomForestRegressor(20, random_state=0).fit(X, Y), X, Y)
CLASSES = pi.FittedModel(
    RandomForestClassifier(20, random_state=0).fit(X, Y > 2), X, pd.Series(Y > 2, name="y")
)
FORMULA = pi.Learner.from_formula(
    "y ~ a * b + k + f", DATA.assign(y=Y), RandomForestRegressor(10, random_state=0)
)

Installed = Callable[..., None]


@pytest.mark.parametrize("options", [{}, {"quantiles": True}, {"trim_outliers": True}])
def test_partial_dependence(installed: Installed, options: dict[str, object]) -> None:
    installed("pdp")
    found = r_bridge.compare(FORMULA.fit_model(), "pdp", **options)
    assert set(found.frame["feature"]) == {"a", "b", "k", "f"}
    assert found.max_abs_diff < 1e-10


@pytest.mark.parametrize("options", [{}, {"which_class": 2}, {"prob": True}])
def test_classes(installed: Installed, options: dict[str, object]) -> None:
    installed("pdp")
    assert r_bridge.compare(CLASSES, "pdp", **options).max_abs_diff < 1e-10


def test_a_glm_counts_its_classes_as_r_does(installed: Installed) -> None:
    installed("pdp")
    frame = X.assign(y=Y.gt(Y.median()).astype(int))
    glm = smf.logit("y ~ a + k", frame).fit(disp=False)
    found = r_bridge.compare(pi.FittedModel(glm, frame, "y"), "pdp", ["k"], prob=True)
    assert found.max_abs_diff < 1e-10
    assert found.frame["r"].is_monotonic_increasing  # the probability of the event


def test_importances_with_the_permutations_of_r(installed: Installed) -> None:
    installed("pdp", "vip")
    found = r_bridge.compare(FOREST, "vip", nsim=3)
    assert found.frame["measure"].tolist() == ["FIRM"] * 3 + ["PFI, rmse"] * 3
    assert found.max_abs_diff < 1e-10
    firm = found.frame.iloc[:3]
    np.testing.assert_allclose(firm["default"], FOREST.firm().params)
    assert (np.abs(firm["default"] - firm["r"]) > 1e-6).any()  # R's grid is another
    text = str(found.summary())
    assert "grid, sd over it" in text
    assert "R's own 3 permutations" in " ".join(text.split())


def test_importances_of_classes_and_of_categories(installed: Installed) -> None:
    installed("pdp", "vip")
    assert r_bridge.compare(CLASSES, "vip").max_abs_diff < 1e-10
    three = pd.cut(Y, 3, labels=["lo", "mid", "hi"]).astype(str).rename("y")
    model = pi.FittedModel(LogisticRegression(max_iter=500).fit(X, three), X, three)
    found = r_bridge.compare(model, "vip", ["a", "k"])
    assert found.frame["measure"].iloc[-1] == "PFI, accuracy"
    assert found.max_abs_diff < 1e-10
    factor = r_bridge.compare(FORMULA.fit_model(), "vip", ["f"])
    assert factor.frame["convention"].iloc[0] == "range / 4"
    assert factor.max_abs_diff < 1e-10


def test_names_may_be_one_string_and_groups_are_taken_apart(installed: Installed) -> None:
    installed("pdp", "vip", "hstats")
    assert r_bridge.compare(FOREST, "pdp", "a").frame["feature"].unique().tolist() == ["a"]
    estimator = FOREST.analysis.problem.predictor.estimator
    grouped = pi.FittedModel(estimator, X, Y, groups={"both": ["a", "b"]})
    for what in ("pdp", "vip", "hstats"):
        assert r_bridge.compare(grouped, what).max_abs_diff < 1e-10


def test_strings_are_no_factors(installed: Installed) -> None:
    installed("pdp", "vip")
    frame = DATA.assign(f=DATA["f"].astype(str), y=Y)
    model = pi.Learner.from_formula("y ~ a + f + C(k)", frame, RandomForestRegressor(5)).fit_model()
    assert r_bridge.compare(model, "vip", ["f", "k"]).max_abs_diff < 1e-10


def test_the_event_stays_first_over_refits(installed: Installed) -> None:
    installed("pdp")
    frame = X.assign(y=(Y.gt(Y.median())).map({True: "yes", False: "no"}))
    made = pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial())
    learner = pi.Learner.from_formula("y ~ k", frame, made)
    for results in (learner.fit_model(), learner.fit(pi.Bootstrap(2), seed=1, progress=False)):
        found = r_bridge.compare(results, "pdp", prob=True)
        assert found.max_abs_diff < 1e-10
        assert found.frame["r"].is_monotonic_increasing


def test_a_value_that_one_side_lacks_is_a_difference(installed: Installed) -> None:
    installed("pdp", "vip")
    frame = X.assign(c=1.0)
    model = pi.FittedModel(RandomForestRegressor(5).fit(frame, Y), frame)
    found = r_bridge.compare(model, "vip", ["c", "k"])
    assert found.frame["r"].isna().tolist() == [True, False]  # sd of one value
    assert found.max_abs_diff < 1e-10
    found.frame.loc[0, "ours"] = 0.0
    assert found.max_abs_diff == np.inf


def test_a_learner_is_the_mean_of_its_refits(installed: Installed) -> None:
    installed("pdp")
    res = FORMULA.fit(pi.Bootstrap(3), seed=1, progress=False)
    found = r_bridge.compare(res, "pdp", ["a"])
    assert found.max_abs_diff < 1e-10
    assert "mean of 3 refits" in str(found.summary())


def test_h_statistics(installed: Installed) -> None:
    installed("hstats")
    found = r_bridge.compare(FOREST, "hstats", pairwise_m=3, threeway_m=3)
    assert found.max_abs_diff < 1e-10
    assert {"h2", "h2_overall", "h2_pairwise", "h2_threeway"} <= set(found.frame["measure"])
    some = r_bridge.compare(FOREST, "hstats", ["k", "a"], pairwise_m=2, threeway_m=3)
    assert some.max_abs_diff < 1e-10
    assert "k:a" in some.frame["feature"].tolist()
    with pytest.raises(OptionError, match="n_max=120"):
        r_bridge.compare(FOREST, "hstats", n_max=100)


def test_summaries_are_tables(installed: Installed) -> None:
    installed("pdp")
    found = r_bridge.compare(FOREST, "pdp")
    assert str(found) == repr(found) == str(found.summary())
    assert "<table" in found._repr_html_()
    assert "tabular" in found.summary().as_latex()
    assert "Largest difference:" in str(found)
    assert found.max_abs_diff == found.frame["difference"].abs().max()


def test_mistakes(installed: Installed) -> None:
    with pytest.raises(OptionError, match="FittedModel"):
        r_bridge.compare(RandomForestRegressor())
    with pytest.raises(OptionError, match="hstats"):
        r_bridge.compare(FOREST, "hstat")
    installed("pdp")
    with pytest.raises((OptionError, TypeError), match="grid_size"):
        r_bridge.compare(FOREST, "pdp", grid_size=4)
