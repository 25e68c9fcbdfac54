"""Syntax trees of code inside a formula, and the columns that they use."""

from __future__ import annotations

import ast

from pyinterp.data.formula.columns import Columns

__all__ = ["is_quote", "name_in_quotes", "tree_of", "variables_of"]

DEEPEST = 100  # deeper code makes Python's own reader fail


def tree_of(code: str, columns: Columns) -> ast.expr:
    """Return the syntax tree of an expression."""
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError as error:
        raise columns.unreadable(code, error.msg) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise columns.unreadable(code, "it is too deep or has characters of no meaning") from error
    if _is_deep(tree):
        raise columns.unreadable(code, "it is too deep; compute the column before the formula")
    return tree


def _is_deep(tree: ast.AST) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def variables_of(tree: ast.AST, columns: Columns) -> tuple[str, ...]:
    """Return the columns that code uses, ``Q("...")`` included."""
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    used: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in functions:
            used[node.id] = None
        elif is_quote(node):
            used[name_in_quotes(node)] = None
    return tuple(name for name in used if name in columns)


def is_quote(node: ast.AST) -> bool:
    """Whether code is ``Q("name")``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Q"
        and len(node.args) == 1
        and not node.keywords
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    )


def name_in_quotes(node: ast.AST) -> str:
    """Return the name inside ``Q("name")``."""
    return str(ast.literal_eval(node.args[0])) if isinstance(node, ast.Call) else ""
