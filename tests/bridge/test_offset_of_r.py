"""Exposures and offsets of learners of R: a column that is no feature, as of statsmodels' GLM."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

import pyinterp as pi
from pyinterp.errors import OptionError, RefitError
from r_bridge import RCode, RLearner

pytestmark = pytest.mark.usefixtures("r")
PLAN = pi.HalfSampling(2, pairs=5)
FORMULA = "count ~ x + z"


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(150, 2)), columns=["x", "z"])
    data["years"] = rng.uniform(0.2, 4, 150)
    data["count"] = rng.poisson(data["years"] * np.exp(0.5 * data["x"] - 0.5)).astype(float)
    data["any"] = np.where(data["count"] > 0, "yes", "no")
    data["offset.1"] = data["years"]  # a name that is taken
    return data


def fit(learner, data, formula=FORMULA, **options):
    return pi.Learner.from_formula(formula, data, learner, **options).fit(
        PLAN, seed=1, progress=False
    )


def test_a_poisson_model_is_that_of_statsmodels(counts):
    exact = {"control": RCode("glm.control(epsilon = 1e-14)")}
    there = fit(RLearner("stats::glm", family=RCode("poisson"), **exact), counts, exposure="years")
    family = sm.families.Poisson()
    here = fit(
        pi.statsmodels_learner(sm.GLM, family=family, fit={"tol": 1e-14}), counts, exposure="years"
    )
    assert list(there.pfi().params.index) == ["x", "z"]
    for ask in (
        lambda r: r.pfi(),
        lambda r: r.pd("x", points=3),
        lambda r: r.pd("x", points=3, scale="rate"),
        lambda r: r.loss(),
    ):
        columns = ["estimate", "std_error", "conf_low", "conf_high"]
        one, other = (ask(r).summary_frame()[columns] for r in (there, here))
        assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_the_unit_of_exposure_changes_nothing(counts, debian):
    debian("mgcv")
    gam = RLearner("mgcv::gam", formula="~ s(x, k = 5) + z", family=RCode("poisson"))
    rates = []
    for unit in (1.0, 365.0):
        result = fit(gam, counts, exposure=unit * counts["years"])
        rates.append(result.pd("x", points=3, scale="rate").params.to_numpy() * unit)
    assert_allclose(rates[0], rates[1], rtol=1e-5)
    assert rates[0][2] > 1.5 * rates[0][0]


def test_offsets_of_classes_and_of_taken_names(counts):
    columns = "any ~ x + z + Q('offset.1')"
    there = fit(RLearner("stats::glm"), counts, columns, offset=np.log(counts["years"]))
    here = fit(
        pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial()), counts, columns,
        offset=np.log(counts["years"]),
    )  # fmt: skip
    assert_allclose(there.pfi().params, here.pfi().params, rtol=1e-4, atol=1e-7)


def test_an_offset_is_given_once(counts):
    """Two would be added up without a word."""
    learner = RLearner("stats::glm", formula="~ x + offset(log(years))", family=RCode("poisson"))
    with pytest.raises(RefitError, match="An offset must be given once"):
        fit(learner, counts, "count ~ x + years", exposure=counts["years"].to_numpy())


def test_what_adds_no_offset_is_refused(counts):
    with pytest.raises(OptionError, match=r"takes no offset; .* R's glm, gam, bam and lm"):
        fit(RLearner("nnet::nnet", size=2), counts, offset=counts["years"])
    with pytest.raises(OptionError, match="logarithmic link"):
        fit(RLearner("stats::lm"), counts, exposure="years")
