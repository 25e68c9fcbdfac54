"""scikit-learn's own checks of estimators, on learners of statsmodels."""

import pytest
import statsmodels.api as sm
from shared import check_of_sklearn

import pyinterp as pi

LEARNERS = {
    "OLS": pi.statsmodels_learner(sm.OLS),
    "QuantReg": pi.statsmodels_learner(sm.QuantReg, fit={"q": 0.7}),
    "GLM Gaussian": pi.statsmodels_learner(sm.GLM, family=sm.families.Gaussian()),
    "GLM binomial": pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial()),
    "Logit": pi.statsmodels_learner(sm.Logit),
    "MNLogit": pi.statsmodels_learner(sm.MNLogit),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.filterwarnings("ignore")  # statsmodels warns of fits to noise and of separation
def test_every_check_passes(name):
    check_of_sklearn(LEARNERS[name])
