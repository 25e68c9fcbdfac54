"""`importance()` takes every measure with one value per feature, and metrics by their names."""

from operator import methodcaller

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fits import fit_of, model_of
from pandas.testing import assert_frame_equal, assert_series_equal
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.svm import LinearSVC

import pyinterp as pi
from pyinterp.errors import LossError, OptionError
from pyinterp.estimands.importance.measures import measures

SAME_NAME = ("pfi", "mvim", "sage", "loco", "firm", "likelihood_pfi", "entropy_pfi")
ALONE = {name: methodcaller(name) for name in SAME_NAME} | {
    "cvim": lambda r: r.cvim(sampler="residual"),
    "conditional_pfi": lambda r: r.pfi(sampler="residual"),
    "amvim": lambda r: r.amvim(sampler="residual"),
    "native": lambda r: r.native_importance(),
    "population": lambda r: r.population(sampler="residual").relevance,
    "rmse": lambda r: r.pfi(metric="rmse"),
    "r2": lambda r: r.pfi(metric="r2"),
}


@pytest.fixture(scope="module")
def data():
    return pi.datasets.load_diabetes()[["bmi", "bp", "s5", "progression"]]


@pytest.fixture(scope="module")
def learner(data):
    return pi.Learner.from_formula("progression ~ .", data, BayesianRidge())


@pytest.fixture(scope="module", params=["learner", "model"])
def fitted(request, learner):
    if request.param == "model":
        return learner.fit_model(seed=1)
    return learner.fit(pi.HalfSampling(3, pairs=5), seed=1)


def test_every_measure_is_tested():
    assert set(measures()) < set(ALONE)


def test_a_measure_is_its_method(fitted):
    trains = isinstance(fitted, pi.LearnerResults)
    names = [name for name in ALONE if trains or name not in ("loco", "population")]
    together = fitted.importance(names, sampler="residual")
    assert list(together.params.columns) == names
    frames = {"params": together.params, "bse": together.bse, "tvalues": together.tvalues}
    frames["pvalues"] = together.pvalues
    for name in names:
        alone = ALONE[name](fitted)
        for attribute, frame in frames.items():
            expected = getattr(alone, attribute)
            assert_series_equal(frame[name], expected, check_exact=True, check_names=False)
        assert_frame_equal(together.conf_int(0.1)[name], alone.conf_int(0.1))
    assert len(together.summary_frame()) == 3 * len(names)
    # Measures that share a label are told apart by their descriptions.
    assert together.summary_frame()["measure"].nunique() == len(names)
    assert {"MVIM", "PFI (rmse)", "PFI (squared error)"} <= set(together.labels)


def test_options_go_where_they_are_taken(fitted):
    options = {"alternative": "greater", "p_adjust": "holm", "rows": "bmi > 22"}
    both = fitted.importance(["pfi", "rmse", "firm"], ["bmi", "s5"], permutations=3, **options)
    alone = fitted.pfi(["bmi", "s5"], permutations=3, **options)
    assert_series_equal(both.pvalues["pfi"], alone.pvalues, check_names=False)
    by_metric = fitted.pfi(["bmi", "s5"], metric="rmse", permutations=3, **options)
    assert_series_equal(both.params["rmse"], by_metric.params, check_names=False)
    firm = fitted.firm(["bmi", "s5"], **options)
    assert_frame_equal(both["firm"].conf_int(), firm.conf_int())


def test_what_a_measure_has_no_value_for_is_empty(data):
    levels = data.assign(g=np.where(data["s5"] > 4.6, "high", "low")).drop(columns="s5")
    ols = pi.statsmodels_learner(sm.OLS)
    res = fit_of("progression ~ .", levels, ols, pi.Subsampling(3))
    together = res.importance(["pfi", "native", "mvim"])
    columns = [name for name in res.native_importance().params.index if name not in ("bmi", "bp")]
    assert list(together.terms) == ["bmi", "bp", "g", *columns]
    params = together.params
    assert params.index.equals(together.terms)
    assert params.isna().sum().to_dict() == {"pfi": 1, "native": 1, "mvim": 1}
    assert np.isnan(params.loc["g", "native"])
    assert together.conf_int().loc["g"].isna().tolist() == [False, False, True, True, False, False]
    for frame in (together.bse, together.tvalues, together.pvalues):
        assert frame.index.equals(together.terms)


def test_units_have_a_panel_each_and_top_is_of_the_first_measure(fitted):
    squared = fitted.importance(["pfi", "mvim"]).plot()
    assert type(squared.facet).__name__ == "facet_null"
    plot = fitted.importance(["pfi", "firm", "rmse"]).plot(top=2)
    assert plot.data["panel"].nunique() == 3
    assert plot.data["measure"].nunique() == 3
    first = fitted.pfi().params.sort_values(ascending=False).index[:2]
    assert list(plot.data["term"].cat.categories) == first[::-1].tolist()
    assert "2 of 3" in plot.labels.caption


def test_classes(data):
    high = data.assign(progression=data["progression"] > 140)
    model = model_of("progression ~ .", high, LogisticRegression(max_iter=1000))
    both = model.importance(["likelihood_pfi", "entropy_pfi", "roc_auc"])
    assert_series_equal(
        both.params["roc_auc"], model.pfi(metric="roc_auc").params, check_names=False
    )
    with pytest.raises(LossError, match="'rmse' needs numeric predictions"):
        model.importance(["pfi", "rmse"])


def headings(results):
    """The heading of every block's first column, but that of the diagnostic."""
    blocks = [[str(cell.data).strip() for cell in table[0]] for table in results.summary().tables]
    return [block[1] for block in blocks if block[1] != "R²_j"]


def of_classes(data, estimator, count=2):
    """A model of classes, as many rows in each."""
    labels = pd.qcut(data["progression"], count, labels=list("abc"[:count])).astype(str)
    return model_of("progression ~ .", data.assign(progression=labels), estimator)


def test_the_default_is_by_the_loss_of_the_learner(learner, data):
    logistic = LogisticRegression(max_iter=1000)
    by_other_loss = [
        (of_classes(data, logistic), "log loss"),
        (of_classes(data, logistic, 3), "log loss"),
        (of_classes(data, LinearSVC()), "zero-one loss"),
    ]
    for model, loss in by_other_loss:
        found = model.importance(sampler={"s5": "knockoff"})
        assert list(found.params.columns) == ["pfi", "conditional_pfi"]
        assert headings(found) == ["PFI", "PFI given the others"]
        alone = model.pfi(sampler={"bmi": "residual", "bp": "residual", "s5": "knockoff"})
        for name in ("params", "bse"):
            expected = pd.DataFrame({"pfi": getattr(model.pfi(), name)})
            expected["conditional_pfi"] = getattr(alone, name)
            assert_frame_equal(getattr(found, name), expected, check_exact=True)
        conditional = found["conditional_pfi"].estimand
        assert conditional.description == f"PFI given the others ({loss})"
        assert conditional.score is alone.estimand.score
    squared = learner.fit_model(seed=1).importance()
    assert headings(squared) == ["MVIM", "CVIM", "AMVIM"]


def test_squared_loss_beside_another_says_so(learner, data):
    model, regression = of_classes(data, LogisticRegression()), learner.fit_model(seed=1)
    odd = " (squared: not comparable)"
    cases = [
        (model, ["pfi", "cvim", "conditional_pfi"], ["PFI", f"CVIM{odd}", "PFI given the others"]),
        (model, ["mvim", "roc_auc", "amvim"], [f"MVIM{odd}", "PFI", f"AMVIM{odd}"]),
        (regression, ["rmse", "cvim"], ["PFI", f"CVIM{odd}"]),
        # Squared loss alone, by whatever name, and what is no loss at all.
        (model, ["cvim", "firm", "entropy_pfi"], ["CVIM", "FIRM", "PFI_H"]),
        (regression, ["pfi", "cvim", "mse"], ["PFI (squared error)", "CVIM", "PFI (mse)"]),
    ]
    for one, names, expected in cases:
        found = one.importance(names)
        assert headings(found) == expected, names
        assert all(heading in found.summary().as_csv() for heading in expected)


def test_what_is_refused(fitted, learner):
    with pytest.raises(
        OptionError, match=r"must be among .*pfi, .*population, or metrics: rmse"
    ) as error:
        fitted.importance(["pfi", "roc_acu"])
    assert "Did you mean `roc_auc`?" in str(error.value)
    with pytest.raises(OptionError, match="`measures` must name at least one measure"):
        fitted.importance([])
    with pytest.raises(OptionError, match="`rows` would change nothing: native importance"):
        fitted.importance(["native"], rows="bmi > 22")
    with pytest.raises(OptionError, match="a fitted model has no learner to train"):
        learner.fit_model().importance(["loco"])
