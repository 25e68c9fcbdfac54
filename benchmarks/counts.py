"""Counts of code: its tokens, lines and classes, and the functions on the way of a call."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable, Iterable
from inspect import signature
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NamedTuple

LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


class Size(NamedTuple):
    """Tokens and lines of code, and classes."""

    tokens: int
    lines: int
    classes: int


class ApiSize(NamedTuple):
    """Public functions of a package, methods of its public classes too, and their parameters."""

    names: int
    parameters: int


class Way(NamedTuple):
    """How many functions of a package a call runs, in how many files, how deep."""

    functions: int
    files: int
    depth: int


def size_of(files: Iterable[Path]) -> Size:
    """Return the size of some files."""
    sizes = [_size(path.read_text(encoding="utf-8")) for path in files]
    return Size(*map(sum, zip(*sizes, strict=True)))


def _size(text: str) -> Size:
    """Return the size of a file: what is no docstring, comment or layout is code."""
    nodes = [*ast.walk(ast.parse(text))]
    strings: set[int] = set()
    for node in nodes:
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            strings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
            tokens += token.start[0] not in strings
    return Size(tokens, len(code - strings), sum(isinstance(n, ast.ClassDef) for n in nodes))


def size_of_api(package: ModuleType) -> ApiSize:
    """Return the size of what a package has in ``__all__``; an inherited method counts once."""
    functions = set()
    for value in (getattr(package, name) for name in package.__all__):
        names = [n for n in dir(value) if n == "__init__" or not n.startswith("_")]
        parts = [getattr(value, n) for n in names] if isinstance(value, type) else [value]
        functions.update(getattr(part, "__func__", part) for part in parts if callable(part))
    own = [f for f in functions if str(f.__module__).partition(".")[0] == package.__name__]
    parameters = [p for f in own for p in signature(f).parameters if p not in ("self", "cls")]
    return ApiSize(len(own), len(parameters))


def way_of(call: Callable[[], Any], package: Path) -> Way:
    """Return how many functions of a package's folder a call runs."""
    functions, files = set(), set()
    depth = deepest = 0

    def see(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        name = frame.f_code.co_filename
        if not name.startswith(str(package)):
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
