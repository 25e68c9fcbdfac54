"""What code inside a formula may do: nothing that R would read in another way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pyinterp.data.formula.columns import Columns
from pyinterp.data.formula.dialects import FUNCTIONS, VALUES, refuse_inside_a_call
from pyinterp.data.formula.scope import LANGUAGE, check_not_hidden, in_reach, is_called
from pyinterp.data.formula.syntax import is_quote, name_in_quotes
from pyinterp.data.formula.tokens import Token, column_code
from pyinterp.errors import FormulaError, did_you_mean, short

__all__ = ["check_names", "check_nodes", "check_tokens", "ufunc_of"]

_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_ALLOWED_NODES = (
    ast.Name, ast.Load, ast.Constant, ast.Call, ast.keyword, ast.Attribute, ast.BinOp, ast.UnaryOp,
    ast.USub, ast.UAdd, ast.Compare, ast.List, ast.Tuple, ast.Dict, ast.Lambda, ast.arguments,
    ast.arg, *_COMPARISONS, *_ARITHMETIC,
)  # fmt: skip
_REMEDIES: Mapping[type[ast.AST], str] = {
    ast.Subscript: "rows and items can't be picked; compute the column before",
    ast.BoolOp: "write `np.logical_and(a, b)` or `np.logical_or(a, b)`",
    ast.Not: "write `np.logical_not(a)`",
    ast.In: "write `np.isin(x, [1, 2])`",
    ast.NotIn: "write `np.logical_not(np.isin(x, [1, 2]))`",
    ast.IfExp: "write `np.where(x > 1, a, b)`",
}
_VALUES_OF_LANGUAGE = ("np", "ContrastMatrix", "Treatment", "Poly", "Sum", "Helmert", "Diff")
_BASES = ("bs", "cr", "cc", "te")


def check_tokens(
    tokens: Sequence[Token], code: str, columns: Columns, scope: Mapping[str, Any]
) -> None:
    """Raise if code has operators or names with dots that R reads in another way."""
    for token in tokens:
        if token.kind == "operator":
            refuse_inside_a_call(token.text, code)
    for name, called in _names_with_dots(tokens):
        root = name.partition(".")[0]
        if called and name in FUNCTIONS and root not in scope and root not in columns:
            raise _of_another_package(name, code)
        if not called and name in VALUES and root not in scope and root not in columns:
            raise _value_of_r(name, code)
        if not called and name in columns:
            raise FormulaError(
                f"`{short(name)}` is a column; write it as {short(column_code(name))}."
            )


def _names_with_dots(tokens: Sequence[Token]) -> Iterator[tuple[str, bool]]:
    """Yield names with dots such as ``as.factor``, and whether they are called."""
    name = ""
    for token, after in pairwise([*tokens, Token("end", "", False)]):
        if token.kind == "name" or (token.text == "." and name):
            name += token.text
        if after.kind != "name" and after.text != ".":
            if "." in name:
                yield name, after.text == "("
            name = ""


def check_nodes(tree: ast.expr, code: str) -> None:
    """Raise if code has syntax that formulas do not allow, such as indexing."""
    for node in ast.walk(tree):
        chained = isinstance(node, ast.Compare) and len(node.ops) > 1
        if chained or not isinstance(node, _ALLOWED_NODES):
            remedy = _REMEDIES.get(type(node), "compute the column before")
            if chained:
                remedy = "write `np.logical_and(1 < x, x < 2)`"
            raise FormulaError(f"Can't use `{short(code)}` in a formula: {remedy}.")
        if isinstance(node, ast.keyword) and node.arg is None:
            raise FormulaError(f"Can't use `**` before an argument in `{short(code)}`.")
        if isinstance(node, ast.Call):
            _check_call(node)


def _check_call(call: ast.Call) -> None:
    """Raise if `Q`, `te`, `scale` or a function of NumPy has arguments that it can't take."""
    written = short(ast.unparse(call))
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name == "Q" and not is_quote(call):
        raise FormulaError(f'`Q` takes the name of a column in quotes, `Q("x")`, not `{written}`.')
    if name == "te" and not all(_calls(part, _BASES) for part in call.args):
        raise FormulaError(
            f"`te` takes splines, as in `te(cr(x, df=3), cr(z, df=3))`, not `{written}`."
        )
    if name == "scale" and (call.keywords or len(call.args) != 1):
        raise FormulaError(
            f"`scale` takes one column; with options write `standardize(...)`, not `{written}`."
        )
    ufunc = ufunc_of(call.func)
    if ufunc is not None and (len(call.args) > ufunc.nin or call.keywords):
        raise FormulaError(
            f"`np.{call.func.attr}` takes {ufunc.nin} column(s) and nothing else, not `{written}`: "  # type: ignore[attr-defined]  # an Attribute
            "NumPy would write its result into the next one."
        )


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def ufunc_of(node: ast.expr) -> np.ufunc | None:
    """Return the elementwise function of NumPy that ``np.name`` is, if it is one."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        function = getattr(np, node.attr, None) if node.value.id == "np" else None
        return function if isinstance(function, np.ufunc) else None
    return None


def check_names(tree: ast.expr, columns: Columns, scope: Mapping[str, Any]) -> None:
    """Raise if code uses a name that is unknown, or that could mean two things."""
    # Left to patsy, a misspelt variable fails with a message about Python names, not the data.
    bound = {a.arg for n in ast.walk(tree) if isinstance(n, ast.Lambda) for a in n.args.args}
    for name, called_with in _value_names(tree, inside=False):
        if name in columns or name in bound:
            continue
        if called_with and in_reach(name, scope):
            _check_value(name, ast.unparse(tree), scope)
            continue
        if name in VALUES:
            raise _value_of_r(name, ast.unparse(tree))
        raise columns.unknown_name(name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            _check_function(node, columns, scope)
            if is_quote(node) and name_in_quotes(node) not in columns:
                raise columns.unknown_name(name_in_quotes(node))


def _check_value(name: str, written: str, scope: Mapping[str, Any]) -> None:
    check_not_hidden(name, scope, written)
    if name in LANGUAGE and name not in _VALUES_OF_LANGUAGE:
        raise FormulaError(
            f"`{name}` is a function of formulas and no value in `{short(written)}`; give a "
            "variable of that name another one."
        )


def _value_names(node: ast.AST, *, inside: bool) -> Iterator[tuple[str, bool]]:
    """Yield names used as values, and whether they stand inside a function call."""
    if isinstance(node, ast.Name):
        yield node.id, inside
    elif isinstance(node, ast.Call):
        for part in (*node.args, *(k.value for k in node.keywords)):
            yield from _value_names(part, inside=True)
        if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
            yield from _value_names(node.func.value, inside=True)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _value_names(child, inside=inside)


def _check_function(call: ast.Call, columns: Columns, scope: Mapping[str, Any]) -> None:
    """Raise if a function is unknown, or hidden by a column of the same name."""
    base: ast.expr = call.func
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name):
        return
    name, written = base.id, ast.unparse(call)
    method = isinstance(call.func, ast.Attribute)
    hides = name in LANGUAGE or name in scope
    if name in columns and (not method or (hides and name == "np")):
        raise FormulaError(
            f"`{short(name)}` is a column of the data, so `{short(written)}` can't use the "
            "function or module of that name; rename the column."
        )
    if name in columns:
        return
    if not in_reach(name, scope) or not (method or is_called(name, scope)):
        raise _unknown_function(name, written, columns, method=method)
    check_not_hidden(name, scope, written)


def _value_of_r(name: str, written: str) -> FormulaError:
    return FormulaError(f"R's `{name}` is `{VALUES[name]}` in Python; got `{short(written)}`.")


def _unknown_function(name: str, written: str, columns: Columns, *, method: bool) -> FormulaError:
    if name in FUNCTIONS and not method:
        return _of_another_package(name, written)
    hint = f" Did you mean `np.{name}`?" if not method and hasattr(np, name) else ""
    return FormulaError(
        f"Can't find `{short(name)}` of `{short(written)}`: it is neither a variable nor a "
        "function that formulas or the code around them know."
        f"{hint or did_you_mean(name, columns.names)}"
    )


def _of_another_package(name: str, written: str) -> FormulaError:
    return FormulaError(
        f"`{name}` of `{short(written)}` is no function of this language: {FUNCTIONS[name]}."
    )
