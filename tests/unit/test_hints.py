"""Names of other packages, headers of tuned learners, and columns that number rows."""

import pickle
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.linear_model import LassoCV, LinearRegression, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

import pyinterp as pi
from pyinterp.errors import NamesWarning, OptionError
from pyinterp.models.specification import choices, specification

PEERS = ["vi", "coef", "shap", "anova", "partial_dependence", "ice",
         "feature_importances_", "score", "marginal_effects",
         "odds_ratio", "emmeans"]  # fmt: skip


def learner(estimator=None, rows=60, **more):
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["y", "a", "b"]).assign(**more)
    data["y"] += data["a"]
    return pi.Learner.from_formula("y ~ .", data, estimator or LinearRegression())


PLAN = pi.HalfSampling(5, pairs=5)


@pytest.fixture(scope="module")
def asked():
    lm = learner()
    res = lm.fit(PLAN, seed=1)
    return {"learner": lm, "fit": res, "model": lm.fit_model(), "result": res.pfi(), "package": pi}


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("of", ["learner", "fit", "model", "result", "package"])
def test_names_of_other_packages_say_what_to_write(asked, of, name):
    with pytest.raises(AttributeError, match=f"Instead of `{name}` write `") as caught:
        getattr(asked[of], name)
    written = re.findall(r"`(res\.[^`]+\))`", str(caught.value))
    assert written
    for code in written:  # what is said works
        if "x" not in code:
            eval(code, {"res": asked["fit"]})  # noqa: S307 - our own words


def test_a_learner_is_to_be_fitted_first(asked):
    with pytest.raises(
        AttributeError, match=r"`res\.pfi.*`res` is a fit, as of `learner\.fit\(seed=1\)`"
    ):
        asked["learner"].pfi()
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        asked["learner"].nosuch  # noqa: B018 - an error
    assert not hasattr(asked["fit"], "_nosuch")
    assert pickle.loads(pickle.dumps(asked["result"])).params.equals(asked["result"].params)  # noqa: S301


def test_errors_of_properties_are_their_own():
    class Broken(type(learner())):  # of the class of learners
        @property
        def vi(self):
            return int(self.missing_part)

    broken = Broken.__new__(Broken)
    with pytest.raises(AttributeError):
        broken.vi  # noqa: B018 - an error


def test_the_shape_of_a_plot_is_its_geom(asked):
    with pytest.raises(TypeError, match=r"plot\(\) takes no .* `kind`.*Did you mean `geom`"):
        asked["result"].plot(kind="bars")


def test_predict_has_no_intervals(asked):
    rows = pd.DataFrame({"a": [0.0], "b": [1.0]})
    assert asked["fit"].predict(rows).shape == (1,)
    with pytest.raises(OptionError, match=r"not `interval`.*`res\.pd\("):
        asked["fit"].predict(rows, interval="confidence")


GRID = {"alpha": [0.1, 1.0, 10.0]}
SEARCH = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 1.0]})


@pytest.mark.parametrize(
    ("estimator", "pattern"),
    [
        (SEARCH, r"alpha = (0\.1|1) in \d+ of 15"),
        (make_pipeline(StandardScaler(), GridSearchCV(Ridge(), GRID)), r"alpha = \S+ in \d+ of 15"),
        (RidgeCV([0.5]), r"alpha = 0\.5 in 15 of 15"),
        (TransformedTargetRegressor(LassoCV()), r"alpha = 0\.\d+ to \d\.\d+"),
        (Ridge(), None),
    ],
)
def test_what_was_chosen_is_in_the_header(estimator, pattern):
    res = learner(estimator).fit(PLAN, seed=1)
    (line,) = re.findall(r"Chosen: +(.+)", str(res.pfi().summary())) or [None]
    assert line is None if pattern is None else re.fullmatch(pattern, str(line))
    if estimator is SEARCH:  # counted by hand
        best = [r.predictor.estimator.best_params_["ridge__alpha"] for r in res.analysis.refits]
        times = max(best.count(value) for value in (0.1, 1.0))
        assert f"in {times} of 15" in str(line)
        assert choices([res.analysis.refits[0].predictor.estimator]) == f"alpha = {best[0]:g}"


@pytest.mark.parametrize(
    ("alphas", "said"),
    [
        ([1.0] * 3 + [0.1] * 2, "alpha = 1 in 3 of 5"),
        ([1.0] * 2 + [0.1] * 2 + [10.0], "alpha = 1 in 2, 0.1 in 2, 10 in 1 of 5"),
        ([0.1, 0.2, 0.3, 0.4, 0.5], "alpha = 0.1 to 0.5"),
        (["a", "a", "b", "c", "d", "e"], "alpha = 'a' in 2 of 6"),
    ],
)
def test_choices_are_counted(alphas, said):
    """All of few; of many numbers their range, and of many words the first."""
    fitted = [SimpleNamespace(best_params_={"ridge__alpha": a, "n": 3}) for a in alphas]
    assert choices(fitted) == f"{said}; n = 3 in {len(alphas)} of {len(alphas)}"


def test_the_learner_inside_long_pipelines_is_named():
    columns = [f"column_{k}" for k in range(30)]
    encoded = make_column_transformer((OneHotEncoder(), columns), (SplineTransformer(), columns))
    search = GridSearchCV(make_pipeline(encoded, Ridge(fit_intercept=False)), GRID)
    assert specification(search) == (
        "GridSearchCV(Pipeline(ColumnTransformer, Ridge(fit_intercept=False)))"
    )
    glance = learner(SEARCH).fit(PLAN, seed=1).pfi().glance()
    assert glance["learner"].item() == "GridSearchCV(Pipeline(Ridge))"


def test_the_version_is_in_the_header_and_no_date(asked):
    header = str(asked["result"].summary())
    assert f"pyinterp {pi.__version__}" in header
    assert "Date:" not in header


def test_whole_numbers_that_number_the_rows_are_asked_about():
    with pytest.warns(NamesWarning, match=r"`id` has another whole number in each of 60 rows"):
        learner(id=np.arange(60))
    learner(id=np.arange(60) // 2)
    learner(id=np.arange(60) / 2)
    learner(rows=12, id=np.arange(12))
    data = pd.DataFrame({"y": np.arange(60) ** 2.0, "id": np.arange(60)})
    pi.Learner.from_formula("y ~ id", data, LinearRegression())  # named


def test_contrasts_by_weights_have_the_names_of_their_sums(asked):
    curve = asked["fit"].pd("a", grid=[-1.0, 0.0, 1.0])
    names = curve.t_test([[-1, 0, 1], [-0.5, 0.25, 0]]).summary_frame().index.tolist()
    assert names == ["-a[-1] + a[1]", "-0.5 a[-1] + 0.25 a[0]"]


def test_a_factor_has_no_slope():
    res = learner(g=["u", "v"] * 30).fit(PLAN, seed=1)
    assert "Mean slope" not in str(res.ame("g").summary())
    assert "mean change" in str(res.ame("g").summary())
    assert "Mean slope" in str(res.ame("a").summary())
