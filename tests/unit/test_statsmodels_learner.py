"""scikit-learn's own checks of estimators, on learners of statsmodels."""

import pytest
import statsmodels.api as sm
from sklearn.utils.estimator_checks import check_estimator

import pyinterp as pi

LEARNERS = {
    "OLS": pi.statsmodels_learner(sm.OLS),
    "QuantReg": pi.statsmodels_learner(sm.QuantReg, fit={"q": 0.7}),
    "GLM Gaussian": pi.statsmodels_learner(sm.GLM, family=sm.families.Gaussian()),
    "GLM binomial": pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial()),
    "Logit": pi.statsmodels_learner(sm.Logit),
    "MNLogit": pi.statsmodels_learner(sm.MNLogit),
}
SKIPPED = {"check_array_api_input"}  # arrays of other libraries, which need SCIPY_ARRAY_API


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.filterwarnings("ignore")  # statsmodels warns of fits to noise and of separation
def test_every_check_passes(name):
    results = check_estimator(LEARNERS[name], on_skip=None, on_fail=None)
    failures = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failures == {}
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= SKIPPED
