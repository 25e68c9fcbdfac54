"""Learners of R: the numbers of R's own calls, in the form of scikit-learn's estimators."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_regressor

import pyinterp as pi
from pyinterp.errors import DataError, OptionError, PredictionError, RefitError
from r_bridge import RCallError, RCode, RLearner, RWarning
from r_bridge.conversion import to_r
from r_bridge.session import SESSION

V = ["x1", "x2", "k", "f", "s"]
# By learner: its arguments, the same in R, and R's predictions.
OF_EVENT = "{p <- %s; cbind(1 - p, p)}"
REGRESSIONS = {
    "randomForest::randomForest": (
        {"ntree": 20, "keep_inbag": True},
        "ntree = 20, keep.inbag = TRUE",
        "predict(fit, d)",
    ),
    "rpart::rpart": ({"cp": 0.001}, "cp = 0.001", "predict(fit, d)"),
    "ranger::ranger": (
        {"num_trees": 20, "num.threads": 1},
        "num.trees = 20, num.threads = 1",
        "predict(fit, d)$predictions",
    ),
    "gbm::gbm": (
        {"n_trees": 20},
        "n.trees = 20, distribution = 'gaussian'",
        "predict(fit, d, n.trees = 20)",
    ),
    "nnet::nnet": (
        {"size": 2, "linout": True, "trace": False},
        "size = 2, linout = TRUE, trace = FALSE",
        "predict(fit, d)[, 1]",
    ),
    "stats::lm": ({}, "", "predict(fit, d)"),
    "stats::glm": (
        {"family": RCode("quasipoisson(link = 'log')")},
        "family = quasipoisson(link = 'log')",
        "predict(fit, d, type = 'response')",
    ),
    "mgcv::gam": (
        {"formula": "y ~ s(x1) + x2 + f", "method": "REML"},
        "method = 'REML'",
        "predict(fit, d)",
    ),
}
CLASSIFIERS = {
    "randomForest::randomForest": ({"ntree": 20}, "ntree = 20", "predict(fit, d, type='prob')"),
    "rpart::rpart": ({}, "", "predict(fit, d)"),
    "ranger::ranger": (
        {"num_trees": 20},
        "num.trees = 20, probability = TRUE",
        "predict(fit, d)$predictions[, c('yes', 'no')]",
    ),
    "gbm::gbm": (
        {"n_trees": 20},
        "n.trees = 20, distribution = 'bernoulli'",
        OF_EVENT % "predict(fit, d, n.trees = 20, type = 'response')",
    ),
    "nnet::nnet": (
        {"size": 2, "trace": False},
        "size = 2, trace = FALSE",
        OF_EVENT % "predict(fit, d)[, 1]",
    ),
    "nnet::multinom": (
        {"trace": False},
        "trace = FALSE",
        OF_EVENT % "predict(fit, d, type = 'probs')",
    ),
    "stats::glm": ({}, "family = binomial", OF_EVENT % "predict(fit, d, type = 'response')"),
    "mgcv::gam": (
        {"formula": "~ s(x1) + x2 + f"},
        "family = binomial",
        OF_EVENT % "predict(fit, d, type = 'response')",
    ),
}

pytestmark = pytest.mark.usefixtures("r")


@pytest.fixture
def in_r(r, rows):
    """Fit and predict in R, without the bridge's learners."""

    def compute(function, formula, arguments, predict, data):
        code = f"""function(d) {{
          old <- if (exists(".Random.seed", globalenv())) get(".Random.seed", globalenv())
          set.seed(7)
          fit <- {function}({formula}, data = d{", " if arguments else ""}{arguments})
          if (!is.null(old)) assign(".Random.seed", old, globalenv())
          unname(as.matrix({predict}))
        }}"""
        loaded = ("randomForest", "ranger", "gbm", "nnet", "mgcv", "rpart")
        for package in loaded:
            SESSION.call("loadNamespace", package)
        value = SESSION.call(code, data, console=[])
        return np.array(value.memoryview())

    return compute


def for_r(rows):
    """Return the rows with strings as factors, as R's users have them."""
    return rows.assign(s=pd.Categorical(rows["s"]))


@pytest.mark.parametrize("function", REGRESSIONS)
def test_a_regression_predicts_what_r_predicts(function, rows, in_r, debian):
    debian(function)
    arguments, in_code, predict = REGRESSIONS[function]
    y = np.exp(rows["y"] / 4)  # positive
    learner = clone(RLearner(function, random_state=7, **arguments)).fit(rows[V], y)
    formula = str(arguments.get("formula", "y ~ x1 + x2 + k + f + s"))
    data = for_r(rows[V]).assign(y=y)
    expected = in_r(function, formula, in_code, predict, data)[:, 0]
    assert is_regressor(learner)
    assert_array_equal(learner.predict(rows[V]), expected)
    again = pickle.loads(pickle.dumps(learner))  # noqa: S301 - our own bytes
    assert_array_equal(again.predict(rows[V]), expected)
    assert learner.predict(rows[V][:1]).shape == (1,)
    assert np.isfinite(learner.score(rows[V], y))


@pytest.mark.parametrize("function", CLASSIFIERS)
def test_a_classifier_predicts_what_r_predicts(function, rows, in_r, debian):
    debian(function)
    given, arguments, predict = CLASSIFIERS[function]
    classes = pd.Categorical(rows["c"], categories=["yes", "no"])  # not in alphabetical order
    learner = RLearner(function, classifier=True, random_state=7, **given)
    assert is_classifier(learner)
    learner = clone(learner).fit(rows[V], classes)
    assert learner.classes_.tolist() == ["yes", "no"]
    y = pd.Series(classes.codes.astype(int) if function == "gbm::gbm" else classes)
    formula = "y " + str(given.get("formula", "~ x1 + x2 + k + f + s"))
    expected = in_r(function, formula, arguments, predict, for_r(rows[V]).assign(y=y))
    found = learner.predict_proba(rows[V])
    assert_allclose(found, expected, rtol=0, atol=1e-15)
    assert set(learner.predict(rows[V])) <= {"yes", "no"}
    assert (learner.predict(rows[V]) == learner.classes_[found.argmax(axis=1)]).all()
    assert learner.predict_proba(rows[V][:1]).shape == (1, 2)


def test_gbm_of_three_classes_warns_as_r_does(rows, debian):
    debian("gbm")
    y = np.digitize(rows["y"], [0.7, 1.6])
    learner = RLearner("gbm::gbm", classifier=True, n_trees=10, random_state=1)
    with pytest.warns(RWarning, match="ill-advised"):
        learner.fit(rows[V], y)
    assert learner.predict_proba(rows[V]).shape == (len(rows), 3)


def test_factors_keep_their_levels_and_their_order(rows):
    learner = RLearner("stats::lm").fit(rows[["f", "s"]], rows["y"])
    names = list(SESSION.call("function(fit) names(coef(fit))", learner.fit_.value))
    assert names == ["(Intercept)", "fmid", "fhigh", "sb"]
    one = rows[["f", "s"]][rows["f"] == "high"][:3]
    narrowed = one.assign(f=one["f"].cat.remove_unused_categories(), s=one["s"].astype("category"))
    assert_array_equal(learner.predict(narrowed), learner.predict(one))
    assert_array_equal(learner.predict(one.astype(str)), learner.predict(one))


def test_a_level_that_training_has_not_seen_is_an_error_of_r(rows, debian):
    learner = RLearner("stats::lm").fit(rows[["f", "s"]], rows["y"])
    with pytest.raises(RCallError, match=r"factor `?s`? has new level"):
        learner.predict(pd.DataFrame({"f": ["low"], "s": ["z"]}))
    debian("randomForest")
    forest = RLearner("randomForest::randomForest", ntree=5).fit(rows[["f", "s"]], rows["y"])
    with pytest.raises(RCallError, match=r"[Nn]ew factor levels"):
        forest.predict(pd.DataFrame({"f": ["low"], "s": ["z"]}))


def test_parameters_are_those_of_an_estimator():
    learner = RLearner("gbm::gbm", n_trees=5, **{"bag.fraction": 0.7})
    assert learner.get_params() == {
        "function": "gbm::gbm",
        "formula": None,
        "classifier": None,
        "predict_args": None,
        "random_state": None,
        "n_trees": 5,
        "bag.fraction": 0.7,
    }
    copy = clone(learner).set_params(n_trees=9, random_state=1, shrinkage=0.2)
    assert copy.get_params()["n_trees"] == 9
    assert (copy.random_state, copy.arguments["shrinkage"]) == (1, 0.2)
    assert learner.arguments["n_trees"] == 5
    assert "n_trees=5" in repr(learner)
    assert not hasattr(learner, "predict_proba")
    assert hasattr(learner.set_params(classifier=True), "predict_proba")


def test_arguments_with_dots_may_be_written_with_underscores(rows, debian):
    debian("gbm", "ranger", "randomForest")
    r = SESSION.r
    for function, given, expected in [
        ("gbm::gbm", ["n_trees", "interaction.depth"], ["n.trees", "interaction.depth"]),
        ("ranger::ranger", ["num_trees", "min_node_size"], ["num.trees", "min.node.size"]),
        ("randomForest::randomForest", ["keep_forest", "ntree"], ["keep.forest", "ntree"]),
        ("stats::lm", ["model", "no_such"], ["model", "no_such"]),
    ]:
        found = SESSION.call("argument_names", function, to_r(given, r))
        assert list(found) == expected
    control = RLearner("rpart::rpart", control={"maxdepth": 1, "cp": 0.0}).fit(rows[V], rows["y"])
    assert len(np.unique(control.predict(rows[V]))) == 2


def test_seeds(rows, debian):
    debian("randomForest")

    def fitted(state):
        learner = RLearner("randomForest::randomForest", ntree=5, random_state=state)
        return learner.fit(rows[V], rows["y"]).predict(rows[V])

    assert (fitted(3) == fitted(3)).all()
    assert (fitted(3) != fitted(4)).any()
    assert (fitted(np.random.RandomState(3)) == fitted(np.random.RandomState(3))).all()
    SESSION.call("set.seed", 5)
    first, second = fitted(None), fitted(None)
    SESSION.call("set.seed", 5)
    assert (fitted(None) == first).all()
    assert (first != second).any()


def test_what_r_prints_is_kept(rows, capfd):
    learner = RLearner("nnet::nnet", size=1, linout=True, random_state=1).fit(
        rows[["x1"]], rows["y"]
    )
    assert learner.console_.startswith("# weights:")
    assert capfd.readouterr() == ("", "")


def test_formulas(rows):
    x, y = rows[["x1", "x2"]], rows["y"]
    plain = RLearner("stats::lm").fit(x, y).predict(x)
    for formula in (
        "y ~ x1 + x2",
        "~ .",
        "anything ~ x1 + x2",
        "`the y` ~ .",
        "y ~ I(x1 * 2) + x2",
    ):
        assert_allclose(RLearner("stats::lm", formula=formula).fit(x, y).predict(x), plain)
    strange = x.set_axis(["a b", "y"], axis=1)
    assert_allclose(RLearner("stats::lm").fit(strange, y).predict(strange), plain)
    array = RLearner("stats::lm").fit(x.to_numpy(), y.to_numpy())
    assert_allclose(array.predict(x.to_numpy()), plain)
    for wrong, message in [
        ("x1 + x2", "must be a formula of R"),
        ("log(y) ~ x1", "must be a name"),
        ("x1 ~ x2", "also a variable"),
    ]:
        with pytest.raises(OptionError, match=message):
            RLearner("stats::lm", formula=wrong).fit(x, y)
    with pytest.raises(RCallError, match="unexpected"):
        RLearner("stats::lm", formula="y ~ x1 +* x2").fit(x, y)


@pytest.mark.parametrize(
    ("formula", "rest"),
    [
        ("y ~ s(x) + z", "y ~ z"),
        ("~ x * z + s(z, by = x) - 1", "~z - 1"),
        ("y ~ te(x, z) + offset(log(w)) + .^2 - x", "y ~ offset(log(w)) + .^2"),
        ("y ~ (x + z + w)^2", "y ~ (z + w + z:w)"),
        ("y ~ 0 + splines::ns(x, 3) + I(x^2) + (1 | z)", "y ~ 0 + (1 | z)"),
        ("y ~ x", "y ~ 1"),
    ],
)
def test_formulas_without_a_variable(formula, rest):
    learner = RLearner("stats::lm", formula=formula)
    learner.leave_out_of_formula(["x"], ["w", "z"])
    assert learner.formula == rest
    for lost in ("te(x, z) + w", "w + offset(x + z)"):
        with pytest.raises(OptionError, match="`z` alone where `x` is left out: add one, such as"):
            learner.set_params(formula=f"y ~ {lost}").leave_out_of_formula(["x"], ["w", "z"])


def test_loco_trains_without_the_terms_of_a_variable(rows):
    learner = RLearner("stats::lm", formula="y ~ cos(pi * x1) + x2 * f")
    learner = pi.Learner.from_formula("y ~ x1 + x2 + f", rows, learner)
    results = learner.fit(pi.Subsampling(3), seed=1, progress=False)
    code = """function(train, new) {
      loss <- function(formula) mean((new$y - predict(lm(formula, train), new))^2)
      loss(y ~ cos(pi * x1) + f) - loss(y ~ cos(pi * x1) + x2 * f)
    }"""
    direct = [
        SESSION.call(code, rows.iloc[refit.train.rows], rows.iloc[refit.evaluation.rows])[0]
        for refit in results.refits
    ]
    assert_allclose(results.loco().params["x2"], np.mean(direct), rtol=1e-10)


def test_bad_input_is_said(rows):
    x, y = rows[["x1", "x2"]], rows["y"]
    with pytest.raises(ValueError, match="could not convert"):
        RLearner("stats::lm").fit(x, rows["c"])
    with pytest.raises(DataError, match="models two classes, but the response has 5"):
        RLearner("stats::glm", classifier=True).fit(x, rows["k"])
    with pytest.raises(DataError, match="needs two classes or more"):
        RLearner("stats::glm", classifier=True).fit(x, np.ones(len(x)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RLearner("stats::lm").fit(x, y[:-1])
    fitted = RLearner("stats::lm").fit(x, y)
    with pytest.raises(DataError, match="lacks x2"):
        fitted.predict(x[["x1"]])
    with pytest.raises(DataError, match="have no names"):
        fitted.predict(x[["x1"]].to_numpy())
    with pytest.raises(RCallError, match="could not find function"):
        RLearner("no_such_function").fit(x, y)


def test_a_package_that_is_not_known_is_asked_for_responses(rows):
    x, y = rows[["x1"]], rows["y"]
    test = RLearner("stats::t.test").fit(rows[["s"]], y)
    with pytest.raises(RCallError, match=r"class htest failed with .*; pass its .* `predict_args`"):
        test.predict(rows[["s"]])
    line = RLearner("stats::loess", formula="y ~ x1", predict_args={"se": False}).fit(x, y)
    assert line.predict(x).shape == (len(x),)
    with pytest.raises(RCallError, match="must give 120 numbers"):
        RLearner("stats::lm", predict_args={"type": "terms"}).fit(rows[["x1", "x2"]], y).predict(
            rows[["x1", "x2"]]
        )


def test_learners_hand_over_frames_and_see_what_the_response_is(rows, debian):
    debian("randomForest")
    forest = RLearner("randomForest::randomForest", ntree=10)
    data = rows.assign(c=pd.Categorical(rows["c"], categories=["yes", "no"]))
    learner = pi.Learner.from_formula("c ~ x1 + f + s", data, forest)
    assert learner.exog_names == ["x1", "f", "s"]
    res = learner.fit(pi.Subsampling(2), seed=1, progress=False)
    assert res.refits[0].predictor.classes == ("yes", "no")
    assert res.refits[0].predictor.estimator.classes_.tolist() == ["yes", "no"]
    assert forest.classifier is None
    numeric = pi.Learner.from_formula("y ~ x1 + f", data, forest)
    assert not is_classifier(numeric.estimator)
    matrix = pi.Learner.from_formula("y ~ x1 + f", data, forest, design="matrix")
    assert matrix.exog_names == ["f[T.mid]", "f[T.high]", "x1"]
    with pytest.raises(DataError, match="is a regressor"):
        pi.Learner.from_formula("c ~ x1", data, forest.set_params(classifier=False))


@pytest.mark.parametrize(
    ("learner", "family"),
    [
        (RLearner("mgcv::gam", formula="y ~ s(x1)", family="poisson"), "poisson"),
        (RLearner("stats::glm", family=RCode("quasipoisson")), "poisson"),
        (RLearner("stats::glm", family=RCode("Gamma(link = 'log')")), "gamma"),
        (RLearner("stats::glm", family=RCode("Gamma()")), ""),
        (RLearner("mgcv::gam", family=RCode("mgcv::nb()")), "negative binomial"),
        (RLearner("mgcv::gam", family="poisson", predict_args={"type": "link"}), ""),
        (RLearner("stats::glm"), ""),
    ],
)
def test_a_logarithmic_link_of_r_is_stated(learner, family):
    assert learner.aim.family == family


def test_a_gam_of_counts_has_its_deviance_and_positive_intervals(rows):
    data = rows.assign(count=np.arange(len(rows)) % 4)
    gam = RLearner("mgcv::gam", formula="count ~ s(x1, k = 4) + x2", family="poisson")
    results = pi.Learner.from_formula("count ~ x1 + x2", data, gam).fit(
        pi.HalfSampling(5, pairs=5), seed=1, progress=False
    )
    curve = results.pd("x1", points=3)
    assert curve.fit is not None
    assert (curve.fit.name, curve.fit.share_name) == ("Poisson deviance", "D²")
    assert "log scale" in curve.summary().as_text()


def test_refits_in_processes_are_the_same(rows):
    gam = RLearner("mgcv::gam", formula="y ~ s(x1, k = 5) + x2 + f")
    learner = pi.Learner.from_formula("y ~ x1 + x2 + f", rows, gam)
    here = learner.fit(pi.Subsampling(3), seed=1, progress=False)
    with joblib.parallel_config("loky"):
        there = learner.fit(pi.Subsampling(3), seed=1, n_jobs=2, progress=False)
    with joblib.parallel_config("threading"):  # one after the other, in this one
        also = learner.fit(pi.Subsampling(3), seed=1, n_jobs=2, progress=False)
    for other in (there, also):
        pd.testing.assert_series_equal(here.pfi().params, other.pfi().params)
        pd.testing.assert_series_equal(here.loco().params, other.loco().params)


def test_an_error_of_r_in_a_refit_says_so(rows):
    learner = pi.Learner.from_formula("y ~ x1", rows, RLearner("stats::lm", formula="y ~ nope"))
    with (
        joblib.parallel_config("loky"),
        pytest.raises(RefitError, match="object 'nope' not found") as caught,
    ):
        learner.fit(pi.Subsampling(2), seed=1, n_jobs=2, progress=False)
    assert isinstance(caught.value.__cause__, RCallError)
    fitted = RLearner("stats::lm").fit(rows[["s"]], rows["y"])
    with pytest.raises(PredictionError, match="has new level"):
        pi.FittedModel(fitted, rows[["s"]].assign(s="z")).pd("s", grid=["z"])


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        ("mgcv::gam", "y ~ s(x1) + x2"),
        ("stats::lm", None),
        ("nnet::nnet", None),
        ("randomForest::randomForest", None),
        ("ranger::ranger", None),
    ],
)
def test_functions_that_take_no_missing_values_say_how_to_leave_them_out(function, formula):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({name: rng.normal(size=60) for name in ("x1", "x2", "y")})
    data.loc[::10, "x2"] = np.nan
    more = {"size": 2, "trace": False} if function == "nnet::nnet" else {}
    learner = RLearner(function, formula=formula, **more)
    plan, terms = pi.Subsampling(2), "y ~ x1 + x2"
    with pytest.raises((PredictionError, RefitError), match=r'missing values: .*`missing="drop"`'):
        pi.Learner.from_formula(terms, data, learner, missing="keep").fit(plan, seed=1).pfi()
    assert pi.Learner.from_formula(terms, data, learner).fit(plan, seed=1).pfi().nobs == 54
    tree = pi.Learner.from_formula(terms, data, RLearner("rpart::rpart")).fit(plan, seed=1)
    assert tree.pfi().nobs == 60


def test_a_function_without_its_package_takes_a_matrix_too(rows):
    """As `cv.glmnet` does, after `library(glmnet)`; R says "invalid 'times' argument"."""
    SESSION.evaluate("cv.like <<- function(x, y, ...) rep(1, nrow(x))")
    for function in ("cv.like", "function(x, y) rep(1, nrow(x))"):
        with pytest.raises(OptionError, match=r"takes a matrix; write a function\(formula, data\)"):
            RLearner(function).fit(rows[["x1", "x2"]], rows["y"])
    SESSION.call("rm", list=pd.Series(["cv.like"]), envir=RCode("globalenv()"))


@pytest.mark.parametrize(
    "code",
    [
        "function(formula, data) { x <- formula; rep(1, nrow(x)) }",  # what glmnet does
        "function(formula, data) (function(x) rep(1, times = dim(x)[1]))(formula)",
    ],
)
def test_a_matrix_function_that_gets_a_formula_is_told_of_its_matrix(code):
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    with pytest.raises(RCallError, match=r"take a matrix.*model\.matrix\(formula, data\)"):
        RLearner(code).fit(rows, rows["a"])
    with pytest.raises(RCallError, match="other") as caught:
        RLearner("function(formula, data) stop('other')").fit(rows, rows["a"])
    assert "matrix" not in str(caught.value)
