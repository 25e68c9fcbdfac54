"""The same question in both languages, on the same model: the answers are the same.

Tolerances: means of the same predictions differ by rounding alone.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
import r_bridge
from pyinterp.errors import DataError, NamesWarning, OptionError
from r_bridge import RCode, RModel
from r_bridge.conversion import frame_from_r, from_r
from r_bridge.model_for_r import hand_over
from r_bridge.session import SESSION

TOLERANCE = 1e-10
V = ["x1", "x2", "k", "f"]

pytestmark = pytest.mark.usefixtures("r")


@pytest.fixture
def in_r(r, rows):
    """Define variables in R's global environment, where `d` holds the rows."""
    data = rows[[*V, "y"]].assign(c=pd.Categorical(rows["c"], categories=["yes", "no"]))
    SESSION.call("assign", "d", data, envir=RCode("globalenv()"))
    return lambda code: SESSION.call(f"function() evalq({{ {code} }}, globalenv())", console=[])


def curve(code, in_r):
    return frame_from_r(in_r(f"as.data.frame({code})"), SESSION.r)


def ours(model, rows, feature, grid):
    fitted = pi.FittedModel(model, rows[V], rows["y"])
    return fitted.pd(feature, grid=list(grid)).params.to_numpy()


@pytest.mark.parametrize("feature", V)
def test_pd_of_a_random_forest_is_that_of_partial_plot(feature, rows, in_r, debian):
    debian("randomForest")
    in_r("set.seed(1); rf <- randomForest::randomForest(y ~ x1 + x2 + k + f, d, ntree = 30)")
    drawn = curve(f"randomForest::partialPlot(rf, d, '{feature}', plot = FALSE)", in_r)
    found = ours(RModel("rf"), rows, feature, drawn["x"])
    assert_allclose(found, drawn["y"], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("feature", V)
def test_pd_of_boosted_stumps_is_that_of_plot_gbm(feature, rows, in_r, debian):
    """plot.gbm averages inside the trees, by the rows of their nodes: for stumps fitted to all rows
    that is the mean over rows, for deeper trees it is another estimate.
    """
    debian("gbm")
    in_r(
        "set.seed(1); gb <- gbm::gbm(y ~ x1 + x2 + k + f, 'gaussian', d, n.trees = 50, "
        "interaction.depth = 1, bag.fraction = 1)"
    )
    drawn = curve(f"gbm::plot.gbm(gb, '{feature}', return.grid = TRUE)", in_r)
    found = ours(RModel("gb"), rows, feature, drawn[feature])
    assert_allclose(found, drawn["y"], rtol=0, atol=TOLERANCE)


def test_what_models_can_be_handed_over(rows):
    numbers = rows[["x1", "x2"]]
    model = LinearRegression().fit(numbers, rows["y"])
    learner = pi.Learner.from_formula("y ~ x1 + x2", rows, LinearRegression())
    res = learner.fit(pi.Subsampling(3), seed=1, progress=False)
    ols = smf.ols("y ~ x1 + x2", rows).fit()
    for given, data, expected in [
        (model, rows, model.predict(numbers)),
        (pi.FittedModel(model, numbers), None, model.predict(numbers)),
        (lambda frame: frame["x1"] * 2, numbers, 2 * rows["x1"]),
        (res, None, res.predict(numbers)),
        (ols, rows, ols.predict(rows)),
        (sm.OLS(rows["y"], numbers).fit(), numbers, sm.OLS(rows["y"], numbers).fit().predict()),
    ]:
        handed = hand_over(given, data)
        in_r = from_r(SESSION.call("stats::predict", handed.in_r(), handed.rows), SESSION.r)
        assert_allclose(in_r, expected, rtol=0, atol=1e-12)
    with pytest.warns(NamesWarning, match="matched by position"):
        hand_over(LinearRegression().fit(numbers.to_numpy(), rows["y"]), numbers)
    with pytest.raises(OptionError, match="`data` must be given"):
        hand_over(model, None)
    with pytest.raises(DataError, match="lacks x2"):
        hand_over(res, rows[["x1"]])


def test_a_classifier_gives_r_classes_and_probabilities(rows):
    model = LogisticRegression().fit(rows[["x1", "x2"]], rows["c"])
    handed = hand_over(model, rows)
    found = SESSION.call("function(m, d) predict(m, d, type = 'prob')", handed.in_r(), handed.rows)
    expected = model.predict_proba(rows[["x1", "x2"]])
    assert_array_equal(from_r(found, SESSION.r), expected)
    assert list(SESSION.call("colnames", found)) == ["no", "yes"]
    label = SESSION.call("function(m, d) predict(m, d, type = 'class')", handed.in_r(), handed.rows)
    assert list(from_r(label, SESSION.r)) == list(model.predict(rows[["x1", "x2"]]))


def test_columns_come_back_to_the_model_as_they_were(rows):
    levels = pd.Categorical(rows["k"], categories=[4, 3, 2, 1, 0], ordered=True)
    frame = rows[["x1", "k", "f", "s"]].assign(c=levels, b=rows["x1"] > 0)
    seen = []

    def model(given):
        seen.append(given)
        return given["x1"].to_numpy()

    handed = hand_over(model, frame)
    found = from_r(SESSION.call("stats::predict", handed.in_r(), handed.rows), SESSION.r)
    assert_array_equal(found, frame["x1"])
    pd.testing.assert_frame_equal(seen[-1], frame)


def test_pdp_on_a_model_of_python_is_pdp_on_the_model_of_r(rows, in_r, installed, debian):
    """One model twice: R's own object, and the same through Python, with R's defaults."""
    debian("rpart")
    installed("pdp")
    in_r("tree <- rpart::rpart(y ~ x1 + x2 + k + f, d); m <- lm(y ~ x1 * f + x2 + k, d)")
    in_r("classes <- rpart::rpart(c ~ x1 + x2 + k + f, d, cp = 0.001)")
    for name, call, options in [
        ("tree", "'x1'", {}),
        ("m", "'f'", {}),
        ("m", "'k'", {}),
        ("m", "'x1', quantiles = TRUE", {"quantiles": True}),
        ("m", "'x1', ice = TRUE, center = TRUE", {"ice": True, "center": True}),
        ("m", "'x1', trim.outliers = TRUE", {"trim_outliers": True}),
        ("m", "'x1', approx = TRUE", {"approx": True}),
        ("m", "'x1', inv.link = exp", {"inv_link": np.exp}),
        ("m", "'x1', inv.link = exp", {"inv_link": RCode("exp")}),
        ("classes", "'x1'", {}),
        ("classes", "'x1', which.class = 2", {"which_class": 2}),
        ("classes", "'f', prob = TRUE", {"prob": True}),
    ]:
        expected = curve(f"pdp::partial({name}, {call}, train = d[, 1:4])", in_r)
        feature = call.split("'")[1]
        found = r_bridge.partial(RModel(name), rows[V], feature, **options)
        assert list(found.columns) == list(expected.columns)
        assert found[feature].dtype == rows[feature].dtype
        assert_allclose(found["yhat"], expected["yhat"], rtol=0, atol=TOLERANCE)
        assert found[feature].tolist() == expected[feature].tolist()
    two = r_bridge.partial(RModel("m"), rows[V], ["x1", "f"], grid_resolution=3)
    drawn = curve("pdp::partial(m, c('x1', 'f'), grid.resolution = 3, train = d[, 1:4])", in_r)
    assert_allclose(two["yhat"], drawn["yhat"], rtol=0, atol=TOLERANCE)
    grid = r_bridge.partial(RModel("m"), rows[V], "x1", pred_grid={"x1": [1.0, -1.0]})
    assert grid["x1"].tolist() == [-1.0, 1.0]


def test_vip_on_a_model_of_python(rows, in_r, installed):
    installed("pdp", "vip")
    in_r("m <- lm(y ~ x1 * f + x2 + k, d)")
    expected = curve("vip::vi_firm(m, feature_names = names(d)[1:4], train = d[, 1:4])", in_r)
    found = r_bridge.vi_firm(RModel("m"), rows[V])
    assert found["Variable"].tolist() == ["x1", "f", "x2", "k"]  # the order of the formula
    found = r_bridge.vi_firm(RModel("m"), rows[V], V)
    assert_allclose(found["Importance"], expected["Importance"], atol=TOLERANCE)
    spread = r_bridge.vi_firm(RModel("m"), rows[V], ["x1"], var_continuous=np.ptp)
    assert spread["Importance"][0] > found["Importance"][0]
    call = (
        "set.seed(3); vip::vi_permute(m, feature_names = names(d)[1:4], train = d[, 1:5], "
        "target = 'y', metric = 'rmse', nsim = 3, pred_wrapper = predict)"
    )
    expected = curve(f"{{ {call} }}", in_r)
    fitted = pi.FittedModel(RModel("m"), rows[V], rows["y"])
    found = r_bridge.vi_permute(fitted, None, V, metric="rmse", nsim=3, seed=3)
    named = r_bridge.vi_permute(
        RModel("m"), rows[[*V, "y"]], V, target="y", metric="rmse", nsim=3, seed=3
    )
    for frame in (found, named):
        assert_allclose(frame["Importance"], expected["Importance"], atol=TOLERANCE)
        assert_allclose(frame["StDev"], expected["StDev"], atol=TOLERANCE)
    raw = found.attrs["raw_scores"]
    assert_allclose(raw.mean(axis=1), found["Importance"], atol=1e-12)


def test_hstats_on_a_model_of_python(rows, in_r, installed):
    installed("hstats")
    in_r("m <- lm(y ~ x1 * f + x2 + k, d)")
    found = r_bridge.hstats(RModel("m"), rows[V])
    pairs = found[found["statistic"] == "h2_pairwise"].set_index("term")["value"]
    in_r("h <- hstats::hstats(m, d[, 1:4], verbose = FALSE)")
    expected = from_r(in_r("hstats::h2_pairwise(h)$M"), SESSION.r)[:, 0]
    assert_allclose(pairs, expected, rtol=0, atol=TOLERANCE)
    assert set(found["statistic"]) == {"h2", "h2_overall", "h2_pairwise", "pd_importance"}
    assert pairs.index[0] == "x1:f"
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    forest.fit(rows[["x1", "x2"]], rows["c"])
    by_class = r_bridge.hstats(forest, rows)
    assert set(by_class["class"]) == {"no", "yes"}


def test_a_model_from_a_file(rows, in_r, tmp_path):
    path = tmp_path / "model.rds"
    in_r(f"m <- glm(c ~ x1 + f, binomial, d); saveRDS(m, '{path}')")
    for given in (path, str(path), "m", RCode("m"), SESSION.evaluate("m")):
        model = RModel(given)
        assert model.classes_.tolist() == ["yes", "no"]
        assert list(model.feature_names_in_) == ["x1", "f"]
        assert model.learner_name == "glm"
        assert model.predict_proba(rows).shape == (len(rows), 2)
    res = pi.FittedModel(RModel(path), rows[["x1", "f"]], rows["c"]).pfi()
    assert res.params.index.tolist() == ["x1", "f"]
    with pytest.raises(OptionError, match="does not exist"):
        RModel("nowhere.rds")
    with pytest.raises(OptionError, match="must be the name of an object"):
        RModel(3)
    with pytest.raises(r_bridge.RCallError, match="not found"):
        RModel("not_there")
    with pytest.raises(OptionError, match="`classes` must be 2"):
        RModel("m", classes=["a", "b", "c"])
    with pytest.raises(DataError, match="lacks f"):
        RModel("m").predict(rows[["x1"]])


def test_results_go_to_r_under_brooms_names(rows):
    """By rpy2's own converter, which %R uses, and by ours."""
    from rpy2.robjects import conversion, default_converter, pandas2ri

    X = rows[["x1", "x2"]]
    frame = pi.FittedModel(LinearRegression().fit(X, rows["y"]), X, rows["y"]).pd("x1").to_r()
    with conversion.localconverter(default_converter + pandas2ri.converter):
        there = conversion.get_conversion().py2rpy(frame)
    names = ["term", "value", "estimate", "std.error", "std.error.null", "statistic", "p.value"]
    assert list(there.names)[:7] == names
    back = frame_from_r(SESSION.call("identity", frame), SESSION.r)
    assert list(back)[:7] == names
    assert_array_equal(back["estimate"], frame["estimate"])
