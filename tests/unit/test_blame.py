"""Messages blame what is wrong, and say what mends it; what they say works."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import words_of
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from statsmodels.miscmodels.ordinal_model import OrderedModel

import pyinterp as pi
from pyinterp.errors import DesignError, OptionError, PredictionError, PyinterpError

N = 120
RNG = np.random.default_rng(1)
DATA = pd.DataFrame({"x": RNG.lognormal(0, 1, N), "z": RNG.normal(size=N), "u": RNG.normal(size=N)})
DATA["y"] = np.log(DATA.x) + DATA.z + RNG.normal(size=N)
DATA["time"] = RNG.exponential(size=N) + 0.01
DATA["count"] = RNG.poisson(DATA.time)
PLAN = pi.Subsampling(2)


def fit_of(formula, estimator, data=DATA, **options):
    return pi.Learner.from_formula(formula, data, estimator, **options).fit(PLAN, seed=1)


@pytest.fixture(scope="module")
def forest():
    return fit_of("y ~ np.log(x) + z", RandomForestRegressor(5, min_samples_leaf=5))


@pytest.mark.parametrize(
    "ask",
    [
        lambda res: res.pd("x", grid=[-1, 1]),
        lambda res: res.pd(["x", "z"], grid={"x": [0.0, 1], "z": [0, 1]}),
    ],
    ids=["grid", "surface"],
)
def test_values_asked_for_are_blamed_not_rows(forest, ask):
    said = r"`np\.log\(x\)` is not in .* or choose other values of x.*`step`, `grid` or `sampler`"
    with pytest.raises(DesignError, match=said) as caught:
        ask(forest)
    assert "drop" not in str(caught.value)
    assert np.isfinite(forest.ame("x", step=0.01).params).all()


@pytest.mark.parametrize(
    "formula", ["y ~ I(x - x.mean()) + z", "y ~ x.rank() + z", "y ~ I(x / x.std()) + z"]
)
def test_rows_that_depend_on_others_need_no_seed(formula):
    model = pi.FittedModel(smf.ols(formula, DATA).fit(), DATA[["x", "z"]], DATA.y)
    with pytest.raises(PredictionError, match=r"rows beside it.*before.*`center\(x\)`") as caught:
        model.pfi()
    assert "seed" not in str(caught.value)
    inside = smf.ols("y ~ center(x) + z", DATA).fit()
    assert (pi.FittedModel(inside, DATA[["x", "z"]], DATA.y).pfi().params > 0).all()


@pytest.mark.parametrize(
    "predict",
    [
        lambda rows: rows["x"] - rows["x"].mean(),
        lambda rows: rows["x"].rank(),
        lambda rows: rows["x"] / rows["x"].sum(),
    ],
)
def test_functions_of_several_rows_need_no_seed(predict):
    with pytest.raises(PredictionError, match="rows beside it"):
        pi.FittedModel(predict, DATA[["x", "z"]], DATA.y).pfi()


def test_draws_need_a_seed():
    draw = np.random.default_rng(1).normal
    model = pi.FittedModel(lambda rows: rows["x"] + draw(size=len(rows)), DATA[["x", "z"]], DATA.y)
    with pytest.raises(PredictionError, match="Fix the seed"):
        model.pfi()


@pytest.mark.parametrize("model", [sm.PHReg, OrderedModel])
def test_models_without_a_mean_are_no_learners(model):
    with pytest.raises(OptionError, match=f"{model.__name__} is no learner here: .*FittedModel"):
        pi.statsmodels_learner(model)


@pytest.mark.parametrize(
    "name", ["missing", "weights", "offset", "exposure", "groups", "subset", "unseen_levels"]
)
@pytest.mark.parametrize("method", ["fit", "fit_model"])
def test_options_of_a_learner_are_not_options_of_its_fit(name, method):
    learner = pi.Learner.from_formula("y ~ x", DATA, LinearRegression())
    said = rf"{method}\(\) takes no keyword argument `{name}`: .*`pi\.Learner`"
    with pytest.raises(TypeError, match=said):
        getattr(learner, method)(**{name: "time"})


class Forgets(LinearRegression):
    def __init__(self, degree=1):
        pass


TEXTS = DATA.assign(x=DATA.x.astype(str), g=1.0)


@pytest.mark.parametrize(
    ("formula", "estimator", "said"),
    [
        ("y ~ x", LinearRegression(), r"texts of numbers by `pandas\.to_numeric`"),
        ("y ~ z", smf.ols("y ~ z", DATA).fit(), r"explained by `pi\.FittedModel\("),
        ("y ~ z", lambda rows: rows["z"], "no `fit`|`fit` method"),
        ("y ~ z", Forgets(2), "every argument of its `__init__` as an attribute.*degree"),
        ("y ~ lg(z) + g", LinearRegression(), r"functions? that formulas .* know\.$"),
    ],
)
def test_what_is_wrong_is_named(formula, estimator, said):
    with pytest.raises(PyinterpError, match=said):
        fit_of(formula, estimator, TEXTS)


def test_an_exposure_has_no_slope_unless_it_is_asked_for():
    model = pi.statsmodels_learner(sm.GLM, family=sm.families.Poisson())
    res = fit_of("count ~ x + z", model, exposure="time")
    assert list(res.ame().params.index) == ["x", "z"]
    assert list(res.ame("log(time)").params.index) == ["log(time)"]
    fitted = sm.GLM(DATA["count"], DATA[["x", "z"]], sm.families.Poisson(), exposure=DATA.time)
    alone = pi.FittedModel(fitted.fit(), DATA[["x", "z"]], DATA["count"], exposure=DATA.time)
    assert list(alone.ame().params.index) == ["x", "z"]


@pytest.fixture(scope="module")
def grouped():
    return fit_of("y ~ x + z + u", LinearRegression(), groups={"both": ["x", "z"]})


@pytest.mark.parametrize("method", ["pfi", "cvim", "loco", "positivity"])
def test_a_variable_of_a_group_is_asked_as_without_the_group(grouped, method):
    alone = getattr(fit_of("y ~ x + z + u", LinearRegression()), method)(["x", "u"])
    found = getattr(grouped, method)(["x", "u"])
    pd.testing.assert_frame_equal(found.summary_frame(), alone.summary_frame())
    for call, name in ((method, "w"), ("h_statistic", "x")):
        with pytest.raises(OptionError, match=f"Can't find feature '{name}'"):
            getattr(grouped, call)(name)


@pytest.mark.parametrize("method", ["cvim", "importance"])
def test_the_empty_share_of_a_group_has_its_reason(grouped, method):
    text = " ".join(str(getattr(grouped, method)().summary()).split())
    assert "R²_j is of one variable: groups have none." in text


def test_a_group_has_no_row_of_shares(grouped):
    *_, shares = grouped.cvim().summary().tables
    assert [row[0].data for row in shares[1:]] == ["u"]
    assert len(grouped.cvim("both").summary().tables) == 1


def test_numbered_classes_with_their_own_numbers_are_named_once():
    rating = pd.Series(pd.Categorical(np.digitize(DATA.y, [-1, 1]) + 1, ordered=True), name="r")
    data = DATA.assign(r=rating)
    res = fit_of("r ~ x + z", LogisticRegression(), data)
    said = words_of(res.pd("z", points=2, scale={1: 1, 2: 2, 3: 3}))
    assert "1 1, 2 2" not in said
    assert "1, 2, 3" in said
    assert "1 0, 2 5, 3 9" in words_of(res.pd("z", points=2, scale={1: 0, 2: 5, 3: 9}))
