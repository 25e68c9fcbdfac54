"""What tests run with: a fault in place of a module, and a record of what each test calls."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections import defaultdict
from importlib.abc import MetaPathFinder
from types import CodeType

import pytest
from mutations import mutated

__all__ = ["Calls", "Chosen", "Fault"]


class Fault(MetaPathFinder):
    """Imports one module with its fault."""

    def __init__(self, root, mutant):
        self.path = root / mutant.module
        self.module = mutant.module.removesuffix(".py").replace("/", ".")
        self.code = compile(mutated(root, mutant), str(self.path), "exec")

    def find_spec(self, name, *_):
        if name != self.module:
            return None
        loader = Loader(name, str(self.path))
        loader.code = self.code
        return importlib.util.spec_from_file_location(name, self.path, loader=loader)


class Loader(importlib.machinery.SourceFileLoader):
    """Gives the code that it was given."""

    code: CodeType

    def get_code(self, fullname):
        return self.code


class Chosen:
    """Keeps some tests, in their order, and writes down the first that fails."""

    def __init__(self, tests, file):
        self.place = {test: k for k, test in enumerate(tests)}
        self.file = file

    def pytest_collection_modifyitems(self, items):
        kept = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(kept, key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.file.exists():
            self.file.write_text(report.nodeid)


class Calls:
    """Records how long each test takes, and the functions that it or its fixtures call."""

    def __init__(self, root, packages):
        self.root = f"{root}/"
        self.packages = tuple(f"{root}/{package}/" for package in packages)
        self.seconds = defaultdict(float)
        self.called = defaultdict(set)
        self.fixtures = {}
        self.failed = set()
        self.within = [None]

    def found(self):
        """Return seconds and functions of every test that passed."""
        return {
            test: (
                seconds,
                sorted(self.called[test].union(*(self.called[f] for f in self.fixtures[test]))),
            )
            for test, seconds in self.seconds.items()
            if test not in self.failed
        }

    def pytest_sessionstart(self):
        sys.settrace(self._call)

    def pytest_sessionfinish(self):
        sys.settrace(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        definitions = item._fixtureinfo.name2fixturedefs.values()
        self.fixtures[item.nodeid] = [_key(d) for several in definitions for d in several]
        self.within.append(item.nodeid)
        made = yield
        self.within.pop()
        return made

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        self.within.append(_key(fixturedef))
        try:
            made = yield
        finally:
            self.within.pop()
        return made

    def pytest_runtest_logreport(self, report):
        if report.when != "teardown":
            self.seconds[report.nodeid] += report.duration
        if not report.passed:
            self.failed.add(report.nodeid)

    def _call(self, frame, event, _):
        path = frame.f_code.co_filename
        if path.startswith(self.packages):
            function = frame.f_code.co_qualname.partition(".<locals>")[0]
            self.called[self.within[-1]].add(f"{path.removeprefix(self.root)}:{function}")


def _key(fixture):
    return f"fixture {fixture.baseid}::{fixture.argname}"
