"""Every public object and method has an example, which prints what it shows.

A method's example goes on from the example of the first class of `docs/api/index.md` that has it,
so that the methods of results share one fit.
"""

import doctest
import importlib
import inspect
import pkgutil
import re
import warnings
from contextlib import ExitStack
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest.mock import patch

import pytest

import pyinterp
import r_bridge
from pyinterp.inference import cov_types
from pyinterp.inference.cov_types import COV_TYPES
from pyinterp.whatif.dispatch import ENGINES

INDEX = Path(__file__).resolve().parents[2] / "docs" / "api" / "index.md"
TEMPLATE = INDEX.parents[1] / "_templates" / "autosummary" / "class.rst"
PACKAGES = ("pyinterp", "pyinterp_papers", "r_bridge")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
HEADING = re.compile(r"^ *Examples\n *--------\n", re.MULTILINE)
# Examples would need PyTorch, or a fit in R: their output is to be copied from a run there.
NOT_YET = {
    *(f"MCDropoutRegressor.{name}" for name in ("fit", "predict", "predict_components")),
    *(f"BayesByBackpropClassifier.{name}" for name in ("fit", "predict", "predict_proba")),
    *(f"RLearner.{name}" for name in ("fit", "score")),
    *(f"r_bridge.{name}" for name in ("partial", "vi_firm", "vi_permute", "hstats")),
    *(f"r_bridge.{name}" for name in ("RModel", "RCallError", "RMissingError")),
    "Reporting.predict",
}
# `compare`, `population` and `Learner.fit` alone call these, with parts that users do not have.
INSIDE = {"FreshDraws.parts", "Question.of", "RLearner.leave_out_of_formula"}
# What an example is read from: a name, and the object with its docstring.
Examples = list[tuple[str, Any]]


def public():
    """Yield every object of the reference, with its name."""
    module = ""
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.fullmatch(r"   ([\w.]+)", line):
            yield f"{module}.{found[1]}", named(f"{module}.{found[1]}")


def named(name):
    path, _, attribute = name.rpartition(".")
    if not path:
        return importlib.import_module(name)
    parent = named(path)
    if not hasattr(parent, attribute):
        importlib.import_module(name)
    return getattr(parent, attribute)


def methods(of):
    """Yield the package's functions among the public methods of a class, as its page lists them."""
    omitted = re.search(r'set hidden = "(.*)"', TEMPLATE.read_text(encoding="utf-8"))
    assert omitted is not None
    for name in dir(of):
        home = next(base for base in of.__mro__ if name in vars(base))
        method = getattr(vars(home)[name], "__func__", vars(home)[name])
        ours = home.__module__.split(".")[0] in PACKAGES and isinstance(method, FunctionType)
        if ours and not name.startswith("_") and name not in omitted[1].split(", "):
            yield f"{home.__name__}.{name}", method


def objects():
    """Return every object of the reference, with its methods that no object before it has."""
    before = set()
    every = {}
    for name, thing in public():
        of = {m: f for m, f in methods(thing) if f not in before} if isinstance(thing, type) else {}
        before.update(of.values())
        every[name] = [(name, thing), *of.items()]
    return every


OBJECTS = objects()


@pytest.mark.parametrize("name", OBJECTS)
def test_examples_are_there(name):
    without = {part for part, thing in OBJECTS[name] if not HEADING.search(thing.__doc__ or "")}
    assert without == {part for part, _ in OBJECTS[name]} & (NOT_YET | INSIDE)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Run in an empty folder, and forget what examples register."""
    monkeypatch.chdir(tmp_path)
    registries = (ENGINES, COV_TYPES, cov_types._PLACES, cov_types._NEEDS_OF)
    with ExitStack() as stack:
        for registry in registries:
            stack.enter_context(patch.dict(registry))
        yield


def run(name, thing, names):
    """Run an example with names of other examples; return the names that there are then."""
    test = doctest.DocTestParser().get_doctest(thing.__doc__ or "", names, name, None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False)
    assert result.failed == 0, name
    return test.globs


@pytest.mark.parametrize("name", OBJECTS)
def test_examples_print_what_they_show(name):
    if name.startswith("r_bridge."):
        pytest.importorskip("rpy2")
    (_, thing), *of = OBJECTS[name]
    names = run(name, thing, {})
    for method, function in of:
        run(method, function, dict(names))


def modules(package):
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [package.__name__, *(module.name for module in found)]


@pytest.mark.parametrize("name", [*modules(pyinterp), *modules(r_bridge)])
def test_examples_of_the_inside_print_what_they_show(name):
    """Docstrings that the reference does not list may have examples too."""
    if name.startswith("r_bridge."):
        pytest.importorskip("rpy2")
    listed = {inspect.unwrap(thing) for parts in OBJECTS.values() for _, thing in parts}
    module = importlib.import_module(name)
    for thing in vars(module).values():
        ours = inspect.isroutine(thing) or inspect.isclass(thing)
        if ours and thing.__module__ == name and inspect.unwrap(thing) not in listed:
            run(f"{name}.{thing.__qualname__}", thing, {})
