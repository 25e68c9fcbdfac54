"""Python code inside a formula: what it may do, which variables it uses, how it is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from pyinterp.errors import FormulaError, did_you_mean, shown
from pyinterp.formula.columns import Columns
from pyinterp.formula.dialects import FUNCTIONS, VALUES, refuse_inside_a_call
from pyinterp.formula.scope import DOUBLE, LANGUAGE, check_not_hidden, in_reach, is_called
from pyinterp.formula.tokens import Token, joined, quoted

__all__ = ["Factor", "Reading", "column_factor", "is_quote", "quoted_name", "read_factor"]

DEEPEST = 100  # deeper code makes Python's own reader fail
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_ALLOWED = (
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
    evaluated : str
        The code that is evaluated: operands of arithmetic are double numbers.
    levels_of : str or None
        The column whose values are its levels, if it has levels: itself, or x of ``C(x)``.
    """

    key: str
    code: str = field(compare=False)
    column: str | None = field(compare=False, default=None)
    variables: tuple[str, ...] = field(compare=False, default=())
    names: tuple[str, ...] = field(compare=False, default=())
    evaluated: str = field(compare=False, default="")
    levels_of: str | None = field(compare=False, default=None)


@dataclass(frozen=True)
class Reading:
    """What code is read against.

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
    check: Any = None


def column_factor(name: str) -> Factor:
    """Return the factor that is a column."""
    return Factor(f"column {name}", quoted(name), name, (name,), levels_of=name)


def read_factor(tokens: Sequence[Token], reading: Reading) -> Factor:
    """Read one piece of Python code.

    Raises
    ------
    FormulaError
        If it can't be read, uses an unknown name, or could mean something else in R.
    """
    code = joined(list(tokens))
    columns = reading.columns
    _check_tokens(tokens, code, columns, reading.scope)
    own = joined(_with_columns(tokens, columns))
    tree = parsed(own, columns)
    column = _column(tree)
    if column is not None and column in columns:
        return column_factor(column)
    _check_nodes(tree, code)
    if reading.check is not None:
        reading.check(tree, code)
    _check_names(tree, columns, reading.scope)
    return Factor(
        ast.unparse(tree),
        own,
        variables=variables_of(tree, columns),
        names=tuple(dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))),
        evaluated=ast.unparse(_Doubles().visit(ast.parse(own, mode="eval").body)),
        levels_of=_levels_of(tree, columns),
    )


def parsed(code: str, columns: Columns) -> ast.expr:
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
            used[quoted_name(node)] = None
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


def quoted_name(node: ast.AST) -> str:
    """Return the name inside ``Q("name")``."""
    return str(ast.literal_eval(node.args[0])) if isinstance(node, ast.Call) else ""


def _column(tree: ast.expr) -> str | None:
    if isinstance(tree, ast.Name):
        return tree.id
    return quoted_name(tree) if is_quote(tree) else None


def _levels_of(tree: ast.expr, columns: Columns) -> str | None:
    """Return x of ``C(x)``."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "C":
        column = _column(tree.args[0]) if tree.args else None
        return column if column in columns else None
    return None


def _with_columns(tokens: Sequence[Token], columns: Columns) -> list[Token]:
    """Write names that Python would read as others in Q."""
    found = []
    for before, token, after in _neighbors(tokens):
        plain = token.kind == "name" and before != "." and after not in ("(", "=")
        column = columns.meant(token.text) if plain and not token.text.isascii() else None
        found.append(token if column is None else token._replace(text=quoted(column)))
    return found


def _neighbors(tokens: Sequence[Token]) -> Iterator[tuple[str, Token, str]]:
    texts = ["", *(t.text for t in tokens), ""]
    return zip(texts, tokens, texts[2:], strict=False)


def _check_tokens(
    tokens: Sequence[Token], code: str, columns: Columns, scope: Mapping[str, Any]
) -> None:
    for token in tokens:
        if token.kind == "operator":
            refuse_inside_a_call(token.text, code)
    for name, called in _dotted(tokens):
        root = name.partition(".")[0]
        if called and name in FUNCTIONS and root not in scope and root not in columns:
            raise _of_another_package(name, code)
        if not called and name in VALUES and root not in scope and root not in columns:
            raise _value_of_r(name, code)
        if not called and name in columns:
            raise FormulaError(f"`{shown(name)}` is a column; write it as {shown(quoted(name))}.")


def _dotted(tokens: Sequence[Token]) -> Iterator[tuple[str, bool]]:
    """Yield names with dots such as ``as.factor``, and whether they are called."""
    name = ""
    for token, after in pairwise([*tokens, Token("end", "", False)]):
        if token.kind == "name" or (token.text == "." and name):
            name += token.text
        if after.kind != "name" and after.text != ".":
            if "." in name:
                yield name, after.text == "("
            name = ""


def _check_nodes(tree: ast.expr, code: str) -> None:
    """Raise unless all of the code is of a kind that reads the same in R, or nowhere else."""
    for node in ast.walk(tree):
        chained = isinstance(node, ast.Compare) and len(node.ops) > 1
        if chained or not isinstance(node, _ALLOWED):
            remedy = _REMEDIES.get(type(node), "compute the column before")
            if chained:
                remedy = "write `np.logical_and(1 < x, x < 2)`"
            raise FormulaError(f"Can't use `{shown(code)}` in a formula: {remedy}.")
        if isinstance(node, ast.keyword) and node.arg is None:
            raise FormulaError(f"Can't use `**` before an argument in `{shown(code)}`.")
        if isinstance(node, ast.Call):
            _check_call(node)


def _check_call(call: ast.Call) -> None:
    """Raise if a function would not do what its arguments say."""
    written = shown(ast.unparse(call))
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
    ufunc = _ufunc(call.func)
    if ufunc is not None and (len(call.args) > ufunc.nin or call.keywords):
        raise FormulaError(
            f"`np.{call.func.attr}` takes {ufunc.nin} column(s) and nothing else, not `{written}`: "  # type: ignore[attr-defined]  # an Attribute
            "NumPy would write its result into the next one."
        )


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _ufunc(node: ast.expr) -> np.ufunc | None:
    """Return the elementwise function of NumPy that ``np.name`` is, if it is one."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        found = getattr(np, node.attr, None) if node.value.id == "np" else None
        return found if isinstance(found, np.ufunc) else None
    return None


def _check_names(tree: ast.expr, columns: Columns, scope: Mapping[str, Any]) -> None:
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
        raise columns.unknown(name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            _check_function(node, columns, scope)
            if is_quote(node) and quoted_name(node) not in columns:
                raise columns.unknown(quoted_name(node))


def _check_value(name: str, written: str, scope: Mapping[str, Any]) -> None:
    check_not_hidden(name, scope, written)
    if name in LANGUAGE and name not in _VALUES_OF_LANGUAGE:
        raise FormulaError(
            f"`{name}` is a function of formulas and no value in `{shown(written)}`; give a "
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
            f"`{shown(name)}` is a column of the data, so `{shown(written)}` can't use the "
            "function or module of that name; rename the column."
        )
    if name in columns:
        return
    if not in_reach(name, scope) or not (method or is_called(name, scope)):
        raise _unknown_function(name, written, columns, method=method)
    check_not_hidden(name, scope, written)


def _value_of_r(name: str, written: str) -> FormulaError:
    return FormulaError(f"R's `{name}` is `{VALUES[name]}` in Python; got `{shown(written)}`.")


def _unknown_function(name: str, written: str, columns: Columns, *, method: bool) -> FormulaError:
    if name in FUNCTIONS and not method:
        return _of_another_package(name, written)
    hint = f" Did you mean `np.{name}`?" if not method and hasattr(np, name) else ""
    return FormulaError(
        f"Can't find `{shown(name)}` of `{shown(written)}`: it is neither a variable nor a "
        "function that formulas or the code around them know."
        f"{hint or did_you_mean(name, columns.names)}"
    )


def _of_another_package(name: str, written: str) -> FormulaError:
    return FormulaError(
        f"`{name}` of `{shown(written)}` is no function of this language: {FUNCTIONS[name]}."
    )


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
        if _ufunc(node.func) is not None:
            node.args = [_double(part) for part in node.args]
        return node


def _double(node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Name | ast.Call | ast.Compare | ast.Attribute):
        return node
    return ast.Call(ast.Name(DOUBLE, ast.Load()), [node], [])
