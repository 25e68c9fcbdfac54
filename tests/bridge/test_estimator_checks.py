"""scikit-learn's own checks of estimators, on learners of R."""

import pytest
from shared import check_of_sklearn

from r_bridge import RLearner

LEARNERS = {
    "stats::lm": {},
    "rpart::rpart": {"classifier": True},
    "nnet::multinom": {"classifier": True, "trace": False},
}
EXPECTED_FAILURES = {
    "check_no_attributes_set_in_init": (
        "R's arguments have any names, such as `n.trees` or `fit`: they are kept in one mapping, "
        "the attribute `arguments`, and are parameters of `get_params`"
    )
}

pytestmark = pytest.mark.usefixtures("r")


@pytest.mark.parametrize("function", LEARNERS)
@pytest.mark.filterwarnings("ignore::r_bridge.RWarning", "ignore::UserWarning")
def test_every_check_passes_or_is_declared(function, debian):
    """R warns of fits to noise, scikit-learn of skipped checks: no reason to stop a check."""
    debian(function)
    learner = RLearner(function, **LEARNERS[function])
    takes = learner.__sklearn_tags__().input_tags.allow_nan
    nan = {} if takes else {"check_estimators_nan_inf": "R itself stops, or predicts NA"}
    check_of_sklearn(learner, **EXPECTED_FAILURES, **nan)
