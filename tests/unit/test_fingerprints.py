"""Digests tell functions and objects apart by all that changes what they return."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from pyinterp.storage import fingerprint

K = 1


class Times:
    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, y: Any, p: Any) -> Any:
        return self.k * abs(y - p)

    def method(self, y: Any, p: Any) -> Any:
        return self.k * abs(y - p)


def closure(k: float) -> Callable[..., Any]:
    return lambda y: k * y


def by_keyword(k: float) -> Callable[..., Any]:
    return lambda y, *, k=k: k * y


def of_a_global(y: float) -> float:
    return K * y


def fitted(k: float) -> FrozenEstimator:
    return FrozenEstimator(LinearRegression().fit([[0.0], [1.0]], [0.0, k]))


def again(n: int) -> int:
    return 1 if n == 0 else again(n - 1)


@pytest.mark.parametrize(
    "make",
    [
        Times,
        lambda k: Times(k).method,
        closure,
        by_keyword,
        lambda k: partial(closure, k),
        lambda k: partial(closure, k=k),
        lambda k: np.vectorize(closure(k)),
        lambda k: lru_cache(closure(k)),
        lambda k: stats.norm(0, k).cdf,
        lambda k: np.poly1d([k]),
        fitted,
        lambda k: {"a": [Times(k)]},
    ],
)
def test_values_within_count(make: Callable[[float], Any]) -> None:
    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(make(1)) != fingerprint(make(2))


def test_values_of_the_script_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(of_a_global)
    monkeypatch.setitem(globals(), "K", 2)
    assert fingerprint(of_a_global) != before


def test_code_of_classes_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(Times(1))
    monkeypatch.setattr(Times, "__call__", lambda self, y, p: self.k * (y - p) ** 2)
    assert fingerprint(Times(1)) != before


def test_functions_of_a_notebook_are_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its `__main__` is a file of ipykernel, as that of a worker process is one of joblib."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", pytest.__file__, raising=False)
    one, other = (lambda y: y), (lambda y: 2 * y)
    for function in (one, other):
        function.__module__ = "__main__"
    assert fingerprint(one) != fingerprint(other)


def test_what_holds_itself_has_a_digest() -> None:
    itself: list[Any] = []
    itself.append(itself)
    assert fingerprint(itself)
    assert fingerprint(again) == fingerprint(again)


LOCAL = threading.local()


def of_a_lock(x: float) -> float:
    LOCAL.number = x
    return x


def test_what_cannot_be_pickled_counts_by_its_class() -> None:
    assert fingerprint(of_a_lock) != fingerprint(again)
    assert fingerprint(threading.Lock()) == fingerprint(threading.Lock())


def test_packages_of_other_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as those of a user, of Debian, or of an environment below this one."""
    for folder in ("dist-packages", "scripts"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder[:4]}_module.py").write_text("def f(x):\n    return x\n")
        monkeypatch.syspath_prepend(tmp_path / folder)
    for name, is_one in (("dist_module", True), ("scri_module", False)):
        module = importlib.import_module(name)
        before = fingerprint(module.f)
        module.f.__code__ = (lambda x: x + 1).__code__
        assert (fingerprint(module.f) == before) is is_one
