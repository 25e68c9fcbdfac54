"""Python code inside a formula: which variables it uses, how it is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyinterp.data.formula.code_checks import check_names, check_nodes, check_tokens, ufunc_of
from pyinterp.data.formula.columns import Columns
from pyinterp.data.formula.scope import DOUBLE
from pyinterp.data.formula.syntax import is_quote, name_in_quotes, tree_of, variables_of
from pyinterp.data.formula.tokens import Token, code_of, column_code

__all__ = ["Environment", "Factor", "column_factor", "read_factor"]


@dataclass(frozen=True)
class Factor:
    """A variable, or code that is evaluated for every row; terms are products of factors.

    Attributes
    ----------
    key : str
        What makes it the same factor as another, however it is written.
    code : str
        As written.
    column : str or None
        The column that it merely names, if it does.
    variables : tuple of str
        The columns that it uses.
    names : tuple of str
        Other names that it uses: of functions, and of the caller.
    code_to_run : str
        The code that is evaluated: operands of arithmetic are double numbers.
    levels_of : str or None
        The column whose values are its levels, if it has levels: itself, or x of ``C(x)``.
    """

    key: str
    code: str = field(compare=False)
    column: str | None = field(compare=False, default=None)
    variables: tuple[str, ...] = field(compare=False, default=())
    names: tuple[str, ...] = field(compare=False, default=())
    code_to_run: str = field(compare=False, default="")
    levels_of: str | None = field(compare=False, default=None)


@dataclass(frozen=True)
class Environment:
    """What names in a formula may stand for.

    Attributes
    ----------
    columns : Columns
        Of the data.
    scope : mapping
        Names of the caller.
    check : callable or None
        What else must hold of the code, for formulas that are not trusted.
    """

    columns: Columns
    scope: Mapping[str, Any]
    check: Callable[[ast.expr, str], None] | None = None


def column_factor(name: str) -> Factor:
    """Return the factor that is a column."""
    return Factor(f"column {name}", column_code(name), name, (name,), levels_of=name)


def read_factor(tokens: Sequence[Token], environment: Environment) -> Factor:
    """Read one piece of Python code.

    Raises
    ------
    FormulaError
        If it can't be read, uses an unknown name, or could mean something else in R.
    """
    code = code_of(list(tokens))
    columns = environment.columns
    check_tokens(tokens, code, columns, environment.scope)
    quoted_code = code_of(_with_columns(tokens, columns))
    tree = tree_of(quoted_code, columns)
    column = _column(tree)
    if column is not None and column in columns:
        return column_factor(column)
    check_nodes(tree, code)
    if environment.check is not None:
        environment.check(tree, code)
    check_names(tree, columns, environment.scope)
    return Factor(
        ast.unparse(tree),
        quoted_code,
        variables=variables_of(tree, columns),
        names=tuple(dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))),
        code_to_run=ast.unparse(_Doubles().visit(ast.parse(quoted_code, mode="eval").body)),
        levels_of=_levels_of(tree, columns),
    )


def _column(tree: ast.expr) -> str | None:
    if isinstance(tree, ast.Name):
        return tree.id
    return name_in_quotes(tree) if is_quote(tree) else None


def _levels_of(tree: ast.expr, columns: Columns) -> str | None:
    """Return x of ``C(x)``."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "C":
        column = _column(tree.args[0]) if tree.args else None
        return column if column in columns else None
    return None


def _with_columns(tokens: Sequence[Token], columns: Columns) -> list[Token]:
    """Write column names that Python would take for others as ``Q("name")``."""
    result = []
    for before, token, after in _neighbors(tokens):
        plain = token.kind == "name" and before != "." and after not in ("(", "=")
        column = columns.column_of(token.text) if plain and not token.text.isascii() else None
        result.append(token if column is None else token._replace(text=column_code(column)))
    return result


def _neighbors(tokens: Sequence[Token]) -> Iterator[tuple[str, Token, str]]:
    texts = ["", *(t.text for t in tokens), ""]
    return zip(texts, tokens, texts[2:], strict=False)


class _Doubles(ast.NodeTransformer):
    """Turns operands of arithmetic, and what NumPy's functions are given, into double numbers."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        node.left, node.right = _double(node.left), _double(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        node.operand = _double(node.operand)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ufunc_of(node.func) is not None:
            node.args = [_double(part) for part in node.args]
        return node


def _double(node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Name | ast.Call | ast.Compare | ast.Attribute):
        return node
    return ast.Call(ast.Name(DOUBLE, ast.Load()), [node], [])
