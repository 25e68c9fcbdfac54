"""Counts of code: its lines, classes and imports, and the functions on the way of a call."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


class Size(NamedTuple):
    """Lines of code, classes, and the lines that import in percent of all lines."""

    lines: int
    classes: int
    imports: float


class Way(NamedTuple):
    """How many functions of a package a call runs, in how many files, how deep."""

    functions: int
    files: int
    depth: int


def size_of(files: Iterable[Path]) -> Size:
    """Return the size of some files."""
    texts = [path.read_text(encoding="utf-8") for path in files]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return Size(
        sum(map(code_lines, texts)),
        sum(isinstance(node, ast.ClassDef) for node in nodes),
        100 * sum(map(_height, imports)) / sum(text.count("\n") for text in texts),
    )


def _height(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def code_lines(text: str) -> int:
    """Return the number of lines that hold code: no docstrings, comments and blank lines."""
    strings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            strings.update(range(first.lineno, first.lineno + _height(first)))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - strings)


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
