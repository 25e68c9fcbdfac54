"""Budgets of the house: lines, classes, and functions on the way of a call. They only go down."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi

PACKAGE = Path(str(pi.__file__)).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# Code without docstrings, comments and blank lines; classes; lines that import, in percent of all.
LINES, CLASSES, IMPORTS = 28_120, 293, 7.4
# The package's own functions that a later call runs, their files, and the deepest of them, with a
# few more where other libraries are loaded. Where it is to lead: 150, 25, 12 for `pfi`, 80, 18 for
# `fit`, 110, 22 for `pd`, 90, 12 for a table.
WAYS = {
    "pfi": (282, 45, 23),
    "fit": (127, 27, 13),
    "pd": (118, 24, 13),
    "table": (133, 22, 14),
}
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


class Way(NamedTuple):
    functions: int
    files: int
    depth: int


def code_lines(text: str) -> int:
    """Return the number of lines that hold code."""
    strings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            strings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - strings)


def way_of(call: Callable[[], Any]) -> Way:
    """Return how many functions of the package a call runs, in how many files, how deep."""
    functions, files = set(), set()
    depth = deepest = 0

    def see(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        name = frame.f_code.co_filename
        if not name.startswith(str(PACKAGE)):
            return
        if event == "call":
            functions.add((name, frame.f_code.co_qualname))
            files.add(name)
            depth += 1
            deepest = max(deepest, depth)
        elif event == "return":
            depth -= 1

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Way(len(functions), len(files), deepest)


def test_the_code_does_not_grow() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    trees = [ast.parse(text) for text in texts]
    classes = sum(isinstance(node, ast.ClassDef) for tree in trees for node in ast.walk(tree))
    imports = sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    assert sum(map(code_lines, texts)) <= LINES
    assert classes <= CLASSES
    assert 100 * imports / sum(text.count("\n") for text in texts) <= IMPORTS


@pytest.fixture(scope="module")
def learner() -> pi.Learner:
    data = pi.datasets.load_diabetes()
    return pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())


@pytest.mark.skipif(sys.gettrace() is not None, reason="coverage is measured")
def test_calls_do_not_walk_farther(learner: pi.Learner) -> None:
    def fit() -> Any:
        return learner.fit(seed=1, progress=False)

    fit().pfi().summary()  # what the first call alone does
    results, fresh = fit(), fit()
    results.pd("bmi")
    importances = fresh.pfi()
    str(importances.summary())
    once_more = fit()
    ways = {
        "fit": way_of(fit),
        "pfi": way_of(once_more.pfi),
        "pd": way_of(lambda: results.pd("bmi")),
        "table": way_of(lambda: str(importances.summary())),
    }
    beyond = {n: w for n, w in ways.items() if any(a > b for a, b in zip(w, WAYS[n], strict=True))}
    assert not beyond
