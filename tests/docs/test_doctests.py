"""Every example in a docstring prints what it shows."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import pyinterp
import r_bridge


def modules(package: ModuleType) -> list[str]:
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [package.__name__, *(module.name for module in found)]


EVERY = [*modules(pyinterp), *modules(r_bridge)]


@pytest.mark.parametrize("name", EVERY)
def test_examples(name: str) -> None:
    if name.startswith("r_bridge."):
        pytest.importorskip("rpy2")
    module = importlib.import_module(name)
    failed = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    named = (importlib.import_module(name) for name in modules(pyinterp))
    assert sum(bool(t.examples) for m in named for t in finder.find(m)) >= 10
