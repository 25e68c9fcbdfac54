"""The study of the default rule computes what the package prints."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "studies" / "rule"


@pytest.mark.parametrize("world", ["lm", "kernel ridge 6", "linear beside tree, 0.2"])
def test_its_numbers_are_those_of_the_package(world, monkeypatch):
    """Estimates, parts of variances and both standard errors, one data set each."""
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("rules", "worlds", "simulate"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert importlib.import_module("simulate").check(world, 0) < 1e-6
