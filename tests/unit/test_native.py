"""Native importance: numbers of R's vip and NeuralNetTools, and the inputs of a feature."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import model_of, words_of
from numpy.testing import assert_allclose, assert_array_equal
from shared import normal_rows
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor
from test_interaction import DATA, LM_FRIEDMAN

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.estimands.importance.native import garson, olden

VIP = 1e-10  # the bar
EXACT = 1e-12
LM_MIXED = "yreg ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2 + z1:z3"
GLM_MIXED = "ybin ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2"


def vip_name(name):
    """Translate a column of patsy to one of R's model.matrix."""
    return name.replace(" ** ", "^").replace("[T.", "").replace("]", "")


@pytest.fixture(scope="module")
def mixed():
    data = pd.read_csv(DATA / "inputs/mixed.csv")
    levels = json.loads((DATA / "inputs/mixed_levels.json").read_text())
    for name in ("f1", "f2"):
        data[name] = pd.Categorical(data[name], categories=levels[name])
    return data


def assert_equal_vip(found, name, tolerance=VIP):
    """The absolute value is vip's importance, the sign its sign; no intercept."""
    expected = pd.read_csv(DATA / f"vip/{name}.csv").set_index("Variable")
    values = found.params.rename(vip_name)
    assert set(values.index) == set(expected.index)
    values = values[expected.index]
    assert_allclose(values.abs(), expected["Importance"], rtol=0, atol=tolerance)
    assert (np.where(values > 0, "POS", "NEG") == expected["Sign"]).all()


def test_t_and_coefficients_of_lm_equal_vip():
    friedman = pd.read_csv(DATA / "inputs/friedman1.csv")
    model = pi.FittedModel(smf.ols(LM_FRIEDMAN, friedman).fit(), friedman)
    stat = model.native_importance()
    assert stat.estimand.words.label == "t"
    assert_equal_vip(stat, "model_lmf_stat", 1e-8)  # QR against SVD with collinear squares
    assert_equal_vip(model.native_importance("raw"), "model_lmf_raw")


def test_factors_and_interactions_equal_vip(mixed):
    model = pi.FittedModel(smf.ols(LM_MIXED, mixed).fit(), mixed)
    assert_equal_vip(model.native_importance(), "model_lmm_stat")
    # The same through a learner, which hands statsmodels an array.
    assert_equal_vip(
        model_of(LM_MIXED, mixed, pi.statsmodels_learner(sm.OLS)).native_importance(),
        "model_lmm_stat",
    )
    assert_equal_vip(
        model_of(
            LM_FRIEDMAN, pd.read_csv(DATA / "inputs/friedman1.csv"), LinearRegression()
        ).native_importance(),
        "model_lmf_raw",
    )


def test_z_of_a_binomial_glm_equals_vip(mixed):
    options = {"tol": 1e-14, "maxiter": 100}
    fitted = smf.glm(GLM_MIXED, mixed, family=sm.families.Binomial()).fit(**options)
    model = pi.FittedModel(fitted, mixed)
    stat = model.native_importance()
    assert stat.estimand.words.label == "z"
    assert_equal_vip(stat, "model_glm_stat")
    assert_equal_vip(model.native_importance("raw"), "model_glm_raw")


def nnet():
    weights = pd.read_csv(DATA / "models/nnet_friedman.csv")
    table = weights.pivot_table(index="from", columns="to", values="weight", aggfunc="sum")
    units = [f"h{k}" for k in range(1, 5)]
    return table.loc[[f"x{j}" for j in range(1, 11)], units].to_numpy(), table.loc[units, "o"]


@pytest.mark.parametrize("function", [olden, garson])
def test_weights_of_a_network_equal_neuralnettools(function):
    expected = pd.read_csv(DATA / f"vip/model_nnet_{function.__name__}.csv")["Importance"]
    assert_allclose(function(*nnet()), expected, rtol=0, atol=VIP)


def test_garson_by_hand_and_its_laws():
    w = np.array([[1.0, -2.0, 0.0], [3.0, 2.0, 0.0]])
    found = garson(w.astype(int), [1, -5, 2])  # the third unit is not connected
    assert_allclose(found, [(1 / 4 + 1 / 2) / 2, (3 / 4 + 1 / 2) / 2], rtol=EXACT)
    both = garson(w, np.array([[1.0, 2.0], [1.0, 0.0], [1.0, 1.0]]))
    assert_allclose(both.sum(axis=0), 1, rtol=EXACT)
    assert_allclose(both[:, 1], [1 / 4, 3 / 4], rtol=EXACT)
    assert (garson(np.zeros((2, 2)), [1.0, 1.0]) == 0).all()


def test_networks_of_scikit_learn():
    _, X = normal_rows(60, "a b c")
    network = MLPRegressor(hidden_layer_sizes=[4], solver="lbfgs", max_iter=5000, random_state=1)
    model = pi.FittedModel(network.fit(X, X["a"] - X["b"]), X)
    default = model.native_importance()
    w_in, w_out = network.coefs_
    assert_allclose(default.params, (w_in @ w_out)[:, 0], rtol=EXACT)
    assert default.params["a"] > 0 > default.params["b"]
    assert model.native_importance("garson").params.sum() == pytest.approx(1)
    labels = np.array(list("uvw"))[np.digitize(X["a"], [-0.5, 0.5])]
    several = MLPClassifier(
        hidden_layer_sizes=[4], solver="lbfgs", max_iter=5000, random_state=1
    ).fit(X, labels)
    found = pi.FittedModel(several, X, labels).native_importance("garson").params
    assert found.index.tolist() == [f"{c}: {n}" for c in "uvw" for n in "abc"]
    assert_allclose(found.to_numpy().reshape(3, 3).sum(axis=1), 1, rtol=EXACT)


def test_impurity_adds_up_the_columns_of_a_variable(data):
    found = model_of("y ~ x + z + g", data, RandomForestRegressor(20))
    design, forest = found.analysis.refits[0].design, found.analysis.refits[0].predictor.estimator
    own = pd.Series(forest.feature_importances_, index=design.columns)
    by_hand = {"x": own["x"], "z": own["z"], "g": own.filter(like="g[").sum()}
    params = found.native_importance().params
    assert_allclose(params[list(by_hand)], list(by_hand.values()), rtol=EXACT)
    assert params.sum() == pytest.approx(1)
    both = (
        model_of("y ~ x + z + g", data, RandomForestRegressor(20), groups={"both": ["x", "z"]})
        .native_importance()
        .params
    )
    assert both["both"] == pytest.approx(own["x"] + own["z"])


def test_a_column_of_two_variables_counts_for_both(data):
    learner = pi.Learner.from_formula("y ~ x + x:z", data, DecisionTreeRegressor(max_depth=3))
    found = learner.fit_model(seed=1).native_importance().params
    (tree,) = (r.predictor.estimator for r in learner.fit_model(seed=1).analysis.refits)
    assert_allclose(found, [1.0, tree.feature_importances_[1]], rtol=EXACT)


def test_which_inputs_of_a_pipeline_a_variable_drives(data):
    encode = make_column_transformer((OneHotEncoder(), ["g"]), remainder=StandardScaler())
    pipeline = make_pipeline(encode, RandomForestRegressor(20))
    model = model_of("y ~ x + z + g", data, pipeline, design="frame")
    fitted = model.analysis.refits[0].predictor.estimator
    names = fitted[:-1].get_feature_names_out()
    own = pd.Series(fitted[-1].feature_importances_, index=names)
    found = model.native_importance().params
    assert found["g"] == pytest.approx(own.filter(like="onehotencoder__").sum())
    assert found["x"] == pytest.approx(own["remainder__x"])
    gaps = data[["x", "z", "g"]].assign(x=data["x"].where(data["z"] > 0))
    missing = make_pipeline(encode, RandomForestRegressor(20, random_state=0)).fit(gaps, data["y"])
    found = pi.FittedModel(missing, gaps, data["y"]).native_importance().params
    assert found.sum() == pytest.approx(1)
    linear = make_pipeline(encode, LinearRegression())
    raw = model_of("y ~ x + z + g", data, linear, design="frame").native_importance()
    assert raw.exog_names == names.tolist()
    blind = make_pipeline(encode, FunctionTransformer(), LinearRegression())
    unnamed = model_of("y ~ x + z + g", data, blind, design="frame")
    with pytest.raises(OptionError, match=r"names of the 5 inputs of .* can't be told"):
        unnamed.native_importance()


def test_coefficients_of_several_classes(data):
    data["k"] = pd.cut(data["y"], 3, labels=["lo", "mid", "hi"])
    three = model_of("k ~ x + z", data, LogisticRegression())
    raw = three.native_importance()
    model = three.analysis.refits[0].predictor.estimator
    assert raw.exog_names == [f"{c}: {n}" for c in ("lo", "mid", "hi") for n in ("x", "z")]
    order = [list(model.classes_).index(c) for c in ("lo", "mid", "hi")]
    assert_allclose(raw.params, model.coef_[order].ravel(), rtol=EXACT)
    logit = pi.Learner.from_formula("k ~ x + z", data, pi.statsmodels_learner(sm.MNLogit))
    z = logit.fit_model().native_importance()
    results = logit.fit_model().analysis.refits[0].predictor.estimator.results_
    # Two classes against the first in statsmodels' order, which is alphabetical.
    assert z.exog_names == ["lo: x", "lo: z", "mid: x", "mid: z"]
    assert_allclose(z.params, results.tvalues[1:].T.ravel(), rtol=EXACT)
    vote = model_of("k ~ x + z", data, SVC(kernel="linear"))
    with pytest.raises(OptionError, match="has no weights of its own for each of its classes"):
        vote.native_importance()


def test_the_class_of_two_is_the_models_second(data):
    data["k"] = pd.Categorical(np.where(data["y"] > 1, "yes", "no"), ["yes", "no"])
    two = model_of("k ~ x + z", data, LogisticRegression())
    raw = two.native_importance()
    assert raw.summary_frame()["class"].tolist() == ["yes", "yes"]  # of scikit-learn's order
    assert raw.params["x"] > 0


def test_one_model_has_no_interval_and_says_why_refits_have_one(data):
    learner = pi.Learner.from_formula("y ~ x + z + g", data, pi.statsmodels_learner(sm.OLS))
    one = learner.fit_model().native_importance()
    assert one.bse.isna().all()
    assert one.conf_int().isna().all(axis=None)
    text = words_of(one)
    assert "is not a mean over rows; only refits of the learner show its sampling error" in text
    assert "Engine: the fitted model" in text
    res = learner.fit(pi.HalfSampling(5, pairs=5), seed=1)
    over = res.native_importance()
    assert (over.bse > 0).all()
    values = [r.predictor.estimator.results_.tvalues[1:] for r in res.refits if r.group is None]
    assert_allclose(over.params, np.mean(values, axis=0)[[0, 1, 2, 3]], rtol=1e-9)
    raw = res.native_importance("raw")
    assert raw.null == 0
    assert np.isfinite(raw.pvalues).all()


def test_what_a_model_does_not_have_is_refused(data):
    with pytest.raises(OptionError, match="reports no importance of its own"):
        model_of("y ~ x + z", data, HistGradientBoostingRegressor(max_iter=3)).native_importance()
    line = model_of("y ~ x + z", data, LinearRegression())
    for kind, needed in {
        "stat": "a model with standard errors",
        "impurity": "a model with `feature_importances_`",
        "olden": "a network of one hidden layer",
    }.items():
        with pytest.raises(OptionError, match=f'`type="{kind}"` needs {needed}'):
            line.native_importance(kind)
    tree = model_of("y ~ x + z", data, DecisionTreeRegressor())
    with pytest.raises(OptionError, match=r'`type="raw"` needs a linear model'):
        tree.native_importance("raw")


def test_a_machine_for_two_classes_has_its_weights():
    """One row; one for several classes has a row for every pair of classes, and is refused."""
    _, X = normal_rows(60, "a b")
    y = np.where(X["a"] > X["b"], "yes", "no")
    model = SVC(kernel="linear").fit(X, y)
    found = pi.FittedModel(model, X, y).native_importance("raw")
    assert_array_equal(found.params, model.coef_[0])


def test_statistics_of_a_pipelines_last_step_are_named_by_it():
    _, data = normal_rows(60, "a b y")
    piped = make_pipeline(FunctionTransformer(), pi.statsmodels_learner(sm.OLS))
    for estimator in (pi.statsmodels_learner(sm.OLS), piped):
        found = model_of("y ~ a + b", data, estimator).native_importance("stat")
        expected = sm.OLS(data["y"], sm.add_constant(data[["a", "b"]])).fit().tvalues[1:]
        assert_allclose(found.params, expected, rtol=1e-9)
        assert found.estimand.words.label == "t"
