"""scikit-learn's own tests of `sklearn.inspection`, run against our functions by an adapter.

Wording and types of errors are ours: where scikit-learn expects an error, one of ours must come.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

import pytest
import sklearn
import sklearn_adapter as adapter

from pyinterp.errors import PyinterpError

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

# Why a test, or one case of it, does not hold for our functions. Each must fail.
CONVENTIONS: dict[str, str] = {}


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
    case = request.node.name
    why = CONVENTIONS.get(case, CONVENTIONS.get(test.__name__))
    if why is not None:
        request.applymarker(pytest.mark.xfail(reason=why, strict=True))


for module in MODULES:
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    globals().update(tests)
