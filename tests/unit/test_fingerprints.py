"""Digests tell functions and objects apart by what changes what they return, or refuse."""

from __future__ import annotations

import contextlib
import importlib
import logging
import sqlite3
import sys
import threading
import weakref
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from pyinterp.errors import OptionError
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


LOCK, LOG = threading.RLock(), logging.getLogger("a program")
TABLE: Any = None


def of_a_lock(x: float) -> float:
    with LOCK:
        LOG.debug("%s", x)
    return x


def of_a_table(x: float) -> Any:
    return TABLE, x


class Guarded:
    def __init__(self, k: float) -> None:
        self.lock, self.k = threading.Lock(), k


def test_locks_and_logs_hold_no_value() -> None:
    before = fingerprint(of_a_lock)
    of_a_lock(1.0)
    assert fingerprint(of_a_lock) == before
    assert fingerprint(Guarded(1)) == fingerprint(Guarded(1)) != fingerprint(Guarded(2))


def test_what_a_thread_or_a_weak_reference_leads_to_counts() -> None:
    local, of_one, of_two = threading.local(), Times(1), Times(2)
    before = fingerprint(local)
    local.k = 1
    assert fingerprint(local) != before
    assert fingerprint(weakref.ref(of_one)) != fingerprint(weakref.ref(of_two))


def test_an_object_with_an_attribute_of_numba_counts_whole() -> None:
    one, two = Times(1), Times(2)
    one.py_func = two.py_func = again  # type: ignore[attr-defined]
    assert fingerprint(one) != fingerprint(two)


def test_what_cannot_be_told_from_another_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of another table would come back."""
    values: list[Any] = [sqlite3.connect(":memory:"), (k for k in [1])]
    with contextlib.suppress(ImportError):
        values.append(importlib.import_module("polars").DataFrame({"a": [1]}))
    for value in values:
        monkeypatch.setitem(globals(), "TABLE", value)
        with pytest.raises(OptionError, match="can't be"):
            fingerprint(of_a_table)


def test_compiled_functions_count_by_their_code() -> None:
    one, other = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)
    assert fingerprint(one) != fingerprint(other)


def test_packages_of_other_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as those of a user, of Debian, or of an environment below this one."""
    places = {
        "dist-packages": "one",
        "scripts": "two",
        "site-packages/own": "three",
        "my-site-packages": "four",
    }
    for place, name in places.items():
        folder = tmp_path / place
        folder.mkdir(parents=True)
        (folder / f"{name}_module.py").write_text("def f(x):\n    return x\n")
        monkeypatch.syspath_prepend(folder)
    for name in places.values():
        module = importlib.import_module(f"{name}_module")
        before = fingerprint(module.f)
        module.f.__code__ = (lambda x: x + 1).__code__
        assert (fingerprint(module.f) == before) is (name == "one")
