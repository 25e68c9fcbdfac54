"""scikit-learn's own tests of `sklearn.inspection`, run against our functions by an adapter.

Wording and types of errors are ours: where scikit-learn expects an error, one of ours must come.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn_adapter as adapter
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression

from pyinterp.errors import PyinterpError
from pyinterp.losses import metric_functions

TESTED = "1.9"
if not sklearn.__version__.startswith(TESTED):
    pytest.skip(f"conventions are of scikit-learn {TESTED}", allow_module_level=True)

FOLDER = "sklearn.inspection.tests"
MODULES = [
    pytest.importorskip(f"{FOLDER}.{name}", reason="the wheel of scikit-learn has no tests")
    for name in ("test_permutation_importance", "test_partial_dependence", "test_pd_utils")
]
OURS = {
    "permutation_importance": adapter.permutation_importance,
    "partial_dependence": adapter.partial_dependence,
    "_partial_dependence_brute": adapter.partial_dependence_brute,
    "_partial_dependence_recursion": adapter.not_ours,
    "_grid_from_X": adapter.not_ours,
    "_check_feature_names": adapter.not_ours,
    "_get_feature_index": adapter.not_ours,
}

HELPER = "a private function of scikit-learn, of which ours has no counterpart"
TRAINING_ROWS = (
    "the recursion averages over the training rows that reached a node and needs no rows; ours "
    "averages over the rows it is given, exactly for trees too"
)
BOTH = "ours computes probabilities of boosted trees exactly, where the recursion has scores only"
WHOLE = (
    "ours sets whole numbers to values of a grid as floats, so that nothing is truncated and there "
    "is nothing to refuse"
)
# Why a test, or one case of it, does not hold for our functions. Each must fail.
CONVENTIONS = {
    "test_check_feature_names": HELPER,
    "test_check_feature_names_error": HELPER,
    "test_get_feature_index": HELPER,
    "test_get_feature_names_error": HELPER,
    "test_grid_from_X": HELPER,
    "test_grid_from_X_error": HELPER,
    "test_grid_from_X_heterogeneous_type": HELPER,
    "test_grid_from_X_with_categorical": HELPER,
    "test_recursion_decision_tree_vs_forest_and_gbdt": TRAINING_ROWS,
    **{
        f"test_partial_dependence_helpers[est{k}-recursion-{j}]": TRAINING_ROWS
        for k in (2, 4)
        for j in range(5)
    },
    "test_partial_dependence_sample_weight_of_fitted_estimator": TRAINING_ROWS
    + ", by weights only if these are given",
    "test_partial_dependence_sample_weight_with_recursion": TRAINING_ROWS + ", weighted or not",
    "test_warning_recursion_non_constant_init": "ours has no recursion that leaves `init` out, of "
    "which to warn: it predicts with it",
    "test_hist_gbdt_sw_not_supported": "ours averages predictions, whatever weights the model was "
    "fitted with",
    "test_partial_dependence_error[estimator2-params2-'recursion' method, the response_method "
    "must be 'decision_function']": BOTH,
    "test_partial_dependence_error[estimator3-params3-'recursion' method, the response_method "
    "must be 'decision_function']": BOTH,
    "test_reject_array_with_integer_dtype": WHOLE,
    "test_reject_pandas_with_integer_dtype": WHOLE,
    "test_partial_dependence_empty_categorical_features": "ours has no `categorical_features`: "
    "categories are known by their type",
    "test_permutation_importance_max_samples_error": "ours has a mask of rows, `rows=`, which "
    "can't have more rows than there are",
    "test_permutation_importance_no_weights_scoring_function": "weights that are all the same are "
    "no weights, so that a scorer without weights serves; it is refused with others",
    "test_permutation_importance_sample_weight": "ours weights donors too, for the importance in "
    "the population; scikit-learn permutes all rows alike, here those without weight too",
}


class Words(ModuleType):
    """pytest, for which any error of ours is the expected one."""

    def __getattr__(self, name: str) -> Any:
        return getattr(pytest, name)

    @staticmethod
    @contextmanager
    def raises(*_: Any, **__: Any) -> Iterator[None]:
        """Expect an error of ours."""
        with pytest.raises(PyinterpError):
            yield


@pytest.fixture(autouse=True)
def our_functions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    test: FunctionType = request.function
    module = import_module(test.__module__)
    for name, function in OURS.items():
        if hasattr(module, name):
            monkeypatch.setattr(module, name, function)
    monkeypatch.setattr(module, "pytest", Words("pytest"))
    # scikit-learn's tests look at no standard errors: those of a few blocks of rows must do.
    for name in ("ROWS", "BLOCKS"):
        monkeypatch.setattr(metric_functions, name, 5)
    case = request.node.name
    why = CONVENTIONS.get(case, CONVENTIONS.get(test.__name__))
    if why is not None:
        request.applymarker(pytest.mark.xfail(reason=why, strict=True))


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error", None])
def test_the_same_permutations_give_the_same_importances(scoring: str | None) -> None:
    X, y = make_regression(60, 4, noise=5.0, random_state=1)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    options: dict[str, Any] = {"scoring": scoring, "n_repeats": 3, "random_state": 4}
    theirs = permutation_importance(model, X, y, **options)
    ours = adapter.permutation_importance(model, X, y, **options)
    np.testing.assert_allclose(ours.importances, theirs.importances, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["average", "both"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_grid_gives_the_same_curves(kind: str, weighted: bool) -> None:
    X, y = make_classification(60, 5, n_classes=3, n_informative=4, n_redundant=0, random_state=1)
    model = LogisticRegression().fit(X, y)
    weights = np.linspace(1, 2, 60) if weighted and kind == "average" else None
    options: dict[str, Any] = {"kind": kind, "grid_resolution": 4, "sample_weight": weights}
    for features in ([2], [3, 0], [0, 2, 4]):
        theirs = partial_dependence(model, X, features, **options)
        ours = adapter.partial_dependence(model, X, features, **options)
        for name in ("average", "individual")[: 1 + (kind == "both")]:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-10)


# Half of the many cases of shapes, those of the larger grid, are run with all oracles only.
RARE = {"test_output_shape": ("grid_resolution", 10)}


def _with_rare_cases(test: Any, name: str, value: int) -> Any:
    """Return a test with a mark at one value of a parameter."""
    marks = []
    for mark in test.pytestmark:
        values = list(mark.args[1])
        if mark.args[0] == name:
            rare = pytest.param(value, marks=pytest.mark.torture)
            values = [rare if one == value else one for one in values]
        marks.append(pytest.mark.parametrize(mark.args[0], values).mark)
    copy = FunctionType(test.__code__, vars(import_module(test.__module__)), test.__name__)
    copy.__module__, copy.pytestmark = test.__module__, marks
    return copy


for module in MODULES:
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    globals().update(tests)
for name, (parameter, value) in RARE.items():
    globals()[name] = _with_rare_cases(globals()[name], parameter, value)
