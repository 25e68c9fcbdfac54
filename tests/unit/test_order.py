"""Lines of tables are in an order that no machine's rounding decides."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fits import fit_of
from shared import normal_rows
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.estimands.estimand import Parameter
from pyinterp.results.summary import largest_first

IMPORTANCE = Parameter(no_effect=0.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12, 1e300])
def test_equal_but_for_rounding_stays_in_order(scale):
    exact = np.array([2.0, 3.0, -1.0, np.nan, 2.0, 0.0, -1.0])
    for sign in (-1, 1):
        noise = 1 + sign * np.array([1, 0, 1, 0, -1, 0, -1]) * 4e-16
        found = largest_first(pd.DataFrame({"estimate": exact * scale * noise}), IMPORTANCE)
        assert found.index.tolist() == [1, 0, 4, 5, 2, 6, 3]


def test_what_differs_is_sorted_and_infinite_values_are_ends():
    values = [1.0, 1.0 + 1e-7, np.inf, -np.inf, 5e-324, 0.0]
    found = largest_first(pd.DataFrame({"estimate": values}), IMPORTANCE)
    assert found.index.tolist() == [2, 1, 0, 4, 5, 3]


def test_levels_of_a_variable_stay_in_order():
    levels = pd.DataFrame({"estimate": [1.0, 2.0]}, ["k[b - a]", "k[c - a]"])
    assert largest_first(levels, IMPORTANCE).equals(levels)


FEW = pi.HalfSampling(0, pairs=5)


def signed_data(scale=1.0):
    """The largest effect is negative, and so is the second largest."""
    rng, frame = normal_rows(120, "small up down most")
    frame["y"] = scale * (frame @ [0.1, 1.0, -2.0, -4.0] + rng.normal(size=120))
    return frame


def bias_where(names):
    return pi.mean_over_rows(
        lambda y, prediction: (
            np.outer(y - prediction.mean(), [0.1, 1.0, -2.0, -4.0]) - [0, 0, 3, 5]
        ),
        "shift",
        names=names,
        null=0.0,
    )


def by_native(learner, **options):
    return lambda frame, _: fit_of("y ~ .", frame, learner, FEW).native_importance(**options)


def entropies(frame, names):
    """Two twins of opposite sign: with one replaced the model is less extreme, and less sure."""
    rng = np.random.default_rng(1)
    twin = pd.DataFrame({"most": rng.normal(size=400)})
    twin["down"] = twin["most"] + 0.5 * rng.normal(size=400)
    twin["up"], twin["small"] = rng.normal(size=400), rng.normal(size=400)
    score = 3 * twin["most"] - 2.5 * twin["down"] + 0.2 * twin["up"]
    twin["label"] = rng.uniform(size=400) < 1 / (1 + np.exp(-score))
    formula = f"label ~ {' + '.join(names)}"
    return fit_of(formula, twin, LogisticRegression(C=1e6), FEW).entropy_pfi()


def slopes(learner, **options):
    return lambda frame, _: fit_of("y ~ .", frame, learner, FEW).ame(**options)


KINDS = {
    "difference": lambda frame, names: pi.compare(
        fit_of("y ~ . - most + I(most > 0) + I(down > 0)", frame, LinearRegression()).pfi(names),
        fit_of("y ~ .", frame, LinearRegression()).pfi(names),
    ),
    "slopes": slopes(LinearRegression()),
    "one-sided": slopes(LinearRegression(), alternative="less"),
    "steps of trees": slopes(DecisionTreeRegressor(max_depth=4), step="sd"),
    "of a pipeline": slopes(make_pipeline(StandardScaler(), ElasticNet(0.01))),
    "coefficients": by_native(Ridge()),
    "coefficients of a pipeline": by_native(make_pipeline(StandardScaler(), Ridge())),
    "robust coefficients": by_native(HuberRegressor()),
    "raw of statsmodels": by_native(pi.statsmodels_learner(sm.OLS), type="raw"),
    "t of statsmodels": by_native(pi.statsmodels_learner(sm.OLS)),
    "weights of a network": by_native(
        MLPRegressor(hidden_layer_sizes=[2], solver="lbfgs", max_iter=200, random_state=0),
        type="olden",
    ),
    "entropy": entropies,
    "own": lambda frame, names: fit_of("y ~ .", frame, LinearRegression(), FEW).estimate(
        bias_where(names)
    ),
    "population": lambda frame, _: fit_of(
        "y ~ .", frame, LinearRegression(), pi.CrossValidation(3)
    ).population(),
    "one model": lambda frame, names: pi.FittedModel(
        LinearRegression().fit(frame[names], frame["y"]), frame[names]
    ).native_importance(),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_values_with_a_sign_are_ordered_by_size(kind):
    frame = signed_data()
    results = KINDS[kind](frame, list(frame)[:4])
    by_size = list(results.params.abs().sort_values(ascending=False).index)
    assert by_size != list(results.params.sort_values(ascending=False).index)
    assert (results.params[by_size[:1]] < 0).all()
    for top in (2, None):
        table = results.summary(top=top).tables[0]
        assert [row[0].data.split(" ")[0] for row in table[1:]] == by_size[:top]
        for look in ("dots", "bars", "forest"):
            assert results.plot(geom=look, top=top).data["term"].tolist() == by_size[:top]
        both = pi.plot({"one": results, "again": results}, top=top).data["term"]
        assert list(both.cat.categories) == by_size[:top][::-1]
    assert results.summary(sort=False).tables[0][1][0].data.split()[0] == results.params.index[0]
    assert list(results.tidy()["term"]) == list(results.params.index)


def test_classes_and_several_measures_are_ordered_by_size():
    frame = signed_data()
    label = pd.cut(frame["y"], [-np.inf, -2, 2, np.inf], labels=["low", "middle", "high"])
    frame = frame.assign(y=label.astype(str))
    results = fit_of("y ~ .", frame, LogisticRegression(), FEW).native_importance()
    shown = [row[0].data for row in results.summary(top=3).tables[0][1:]]
    assert shown == list(results.params.abs().sort_values(ascending=False).index[:3])
    both = fit_of("y ~ .", signed_data(), Ridge(), FEW).importance(["native", "pfi"])
    assert both.summary(top=1).tables[0][1][0].data == "most"


def test_certificates_are_in_the_order_of_their_table():
    fitted = fit_of("y ~ .", signed_data(), LinearRegression(), pi.Subsampling(3))
    certificate = pi.certify(fitted, fitted.ame(), data_sets=2, truth_refits=5)
    sizes = certificate.frame["truth"].abs().to_numpy()
    assert certificate.frame.index[0] == "most"
    assert (np.diff(sizes) < 0).all()


def test_ratios_are_ordered_by_their_distance_from_one():
    frame = pd.DataFrame({"estimate": [1.2, 0.3, np.nan, 1.6, 1.0]})
    ratios = Parameter(null=1.0)
    assert largest_first(frame, ratios).index.tolist() == [1, 3, 0, 4, 2]


def test_importances_are_ordered_with_their_sign():
    rng, frame = normal_rows(60, "a b c d", 1)
    frame["y"] = rng.normal(size=60)
    tree = DecisionTreeRegressor(random_state=0)
    pfi = fit_of("y ~ .", frame, tree).pfi()
    order = list(pfi.params.sort_values(ascending=False).index)
    assert order != list(pfi.params.abs().sort_values(ascending=False).index)
    assert [row[0].data for row in pfi.summary().tables[0][1:]] == order
    assert pfi.plot().data["term"].tolist() == order


@pytest.mark.parametrize(
    "learner", [DecisionTreeRegressor(max_depth=4, random_state=0), SVR(), Ridge()], ids=str
)
def test_the_level_that_is_first_matters_to_learners_that_are_linear_only(learner):
    data = normal_rows(90, "x y", 1)[1].assign(g=np.resize(list("abc"), 90))
    data["y"] += 2 * (data["g"] == "a")

    def found(levels):
        ordered = data.assign(g=pd.Categorical(data["g"], list(levels)))
        res = fit_of("y ~ x + g", ordered, learner, pi.HalfSampling(2, pairs=5))
        return [*res.pfi("g").params, *res.pd("g", grid=list("abc")).params]

    alike = np.allclose(found("abc"), found("bca"), rtol=1e-9)
    assert alike == (not isinstance(learner, Ridge))
