"""R-style formulas for patsy: `.` and `^` expanded, and which variables a piece of code uses."""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import NamedTuple

import numpy as np
import patsy.builtins

from pyinterp.errors import FormulaError, did_you_mean

__all__ = ["Formula", "column_named", "names_in", "parse", "quoted"]

_ENDS_OPERAND = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING)
INTERCEPT = "Intercept"  # patsy's name for the column of ones
_NOTHING: Mapping[str, object] = MappingProxyType({})


class Formula(NamedTuple):
    """A formula split at `~`, with `.` expanded; both sides are patsy code."""

    response: str
    terms: str


def quoted(name: str) -> str:
    """Return patsy code for a column: the bare name if it is a Python name, else ``Q("name")``."""
    if name.isidentifier() and not keyword.iskeyword(name) and name != INTERCEPT:
        return name
    return f"Q({name!r})"


def column_named(code: str) -> str | None:
    """Return the column that `code` merely names, bare or in ``Q("...")``; else None."""
    node = _python(code)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and _is_quote(node):
        return _quoted_name(node)
    return None


def names_in(code: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the `columns` that a piece of formula code uses, ``Q("...")`` included, in order."""
    known = dict.fromkeys(columns)
    used: dict[str, None] = {}
    tree = _python(code, tuple(known))
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in functions:
            used[node.id] = None
        elif isinstance(node, ast.Call) and _is_quote(node):
            used[_quoted_name(node)] = None
    return tuple(name for name in known if name in used)


def parse(formula: str, columns: Sequence[str], scope: Mapping[str, object] = _NOTHING) -> Formula:
    """Split a formula at `~` and expand R's `.` and `^` outside function calls.

    Parameters
    ----------
    formula : str
        For example ``"quality ~ . - pH"`` or ``"np.log(y) ~ (a + b)^2 + C(g)"``.
    columns : sequence of str
        The columns of the data; `.` stands for all that the response does not use.
    scope : mapping from str
        Names of the caller that may be called, and used inside calls, besides the columns.

    Raises
    ------
    FormulaError
        If there is no response, a variable or operator is unknown, or brackets do not match.
    """
    if not isinstance(formula, str):
        raise FormulaError(
            f'The formula must be a string such as "y ~ x", not {type(formula).__name__}.'
        )
    left, tilde, right = formula.replace("\n", " ").partition("~")
    if not tilde or not left.strip() or not right.strip() or "~" in right:
        raise FormulaError(
            f'A formula has the form "response ~ terms"; got {formula!r}. '
            'To use every other column write "y ~ .".'
        )
    response = left.strip()
    if response in columns and response != INTERCEPT and quoted(response) != response:
        raise FormulaError(
            f"The response `{response}` is not a Python name; write it as {quoted(response)}."
        )
    in_response = set(names_in(response, columns))
    rest = [quoted(c) for c in columns if c not in in_response]
    terms = _expand(right.strip(), rest, columns)
    for side in (response, terms):
        _check_names(side, columns, scope)
    return Formula(response, terms)


def _check_names(code: str, columns: Sequence[str], scope: Mapping[str, object]) -> None:
    # Left to patsy, a misspelt variable fails with a message about Python names, not the data.
    tree = _python(code, columns)
    known = set(columns)
    bound = {a.arg for n in ast.walk(tree) if isinstance(n, ast.Lambda) for a in n.args.args}
    for name, called_with in _value_names(tree, inside=False):
        if name in known or name in bound or (called_with and _in_reach(name, scope)):
            continue
        _unknown(name, columns)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        _check_function(node, columns, scope)
        if _is_quote(node) and _quoted_name(node) not in known:
            _unknown(_quoted_name(node), columns)


def _value_names(node: ast.AST, *, inside: bool) -> Iterator[tuple[str, bool]]:
    """Yield names used as values, and whether they stand inside a function call."""
    if isinstance(node, ast.Name):
        yield node.id, inside
    elif isinstance(node, ast.Call):
        for part in (*node.args, *(k.value for k in node.keywords)):
            yield from _value_names(part, inside=True)
    elif isinstance(node, ast.Attribute) and not inside:
        # `a.b` outside a call: an attribute of column a, or a column "a.b" that needs Q.
        if isinstance(node.value, ast.Name):
            yield node.value.id, False
        else:
            yield from _value_names(node.value, inside=False)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _value_names(child, inside=inside)


def _in_reach(name: str, scope: Mapping[str, object]) -> bool:
    return name in scope or hasattr(patsy.builtins, name) or hasattr(builtins, name)


def _check_function(call: ast.Call, columns: Sequence[str], scope: Mapping[str, object]) -> None:
    """Raise if a function is unknown, or hidden by a column of the same name."""
    base = call.func
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name):
        return
    name, written = base.id, ast.unparse(call)
    method = isinstance(call.func, ast.Attribute)
    if name in columns and (not method or isinstance(scope.get(name), ModuleType)):
        raise FormulaError(
            f"`{name}` is a column of the data, so `{written}` can't use the function or module of "
            "that name; rename the column."
        )
    if name not in columns and not _in_reach(name, scope):
        meant = f" Did you mean `np.{name}`?" if not method and hasattr(np, name) else ""
        raise FormulaError(
            f"Can't find `{name}` of `{written}`: it is neither a variable nor a function that "
            f"patsy or the code around the formula knows.{meant or did_you_mean(name, columns)}"
        )


def _unknown(name: str, columns: Sequence[str]) -> None:
    shown = ", ".join(map(str, columns[:12])) + (", ..." if len(columns) > 12 else "")
    dotted = next((c for c in columns if c.startswith(f"{name}.")), None)
    raise FormulaError(
        f"Can't find variable `{name}` in the data. Variables: {shown}."
        + (f" Write `{dotted}` as {quoted(dotted)}." if dotted else did_you_mean(name, columns))
    )


def _is_quote(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "Q"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Constant)
    )


def _quoted_name(node: ast.Call) -> str:
    return str(ast.literal_eval(node.args[0]))


def _python(code: str, columns: Sequence[str] = ()) -> ast.expr:
    # patsy's `:` is not Python; for finding names any binary operator will do.
    bare = _outside_calls(code, {":": "|"}, columns)
    try:
        return ast.parse(bare, mode="eval").body
    except SyntaxError as error:
        raise _unreadable(code, error.msg, columns) from error


def _unreadable(code: str, reason: str, columns: Sequence[str]) -> FormulaError:
    odd = next((c for c in columns if quoted(c) != c and c.strip() and c in code), None)
    hint = f" Write the column `{odd}` as {quoted(odd)}." if odd else ""
    return FormulaError(f"Can't read `{code}` as formula code: {reason}.{hint}")


def _expand(code: str, rest: Sequence[str], columns: Sequence[str]) -> str:
    replace = {"^": "**", ".": "(" + " + ".join(rest) + ")" if rest else "1"}
    if INTERCEPT in columns:
        replace[INTERCEPT] = quoted(INTERCEPT)  # or patsy takes it for the column of ones
    return _outside_calls(code, replace, columns)


def _outside_calls(code: str, replace: Mapping[str, str], columns: Sequence[str] = ()) -> str:
    """Replace operator tokens that stand outside function calls; `^` inside one is an error."""
    try:
        tokens = [
            t
            for t in tokenize.generate_tokens(io.StringIO(code).readline)
            if t.type not in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER)
        ]
    except (tokenize.TokenError, SyntaxError) as error:
        raise _unreadable(code, "its brackets or quotes do not match", columns) from error
    out: list[str] = []
    brackets: list[bool] = []  # True for the bracket of a call or an index
    previous: tokenize.TokenInfo | None = None
    for i, token in enumerate(tokens):
        text = token.string
        after_operand = previous is not None and (
            previous.type in _ENDS_OPERAND or previous.string in (")", "]")
        )
        in_call = any(brackets)
        if text in ("(", "[", "{"):
            brackets.append(after_operand or in_call or text != "(")
        elif text in (")", "]", "}") and brackets:
            brackets.pop()
        if text == "^" and in_call and "^" in replace:
            raise FormulaError(
                f"Inside a function call the power is Python's `**`, as in `I(x**2)`; got `{code}`."
            )
        attribute = text == "." and (
            after_operand and i + 1 < len(tokens) and tokens[i + 1].type == tokenize.NAME
        )
        if text in replace and not in_call and not attribute:
            text = replace[text]
        gap = previous is not None and token.start > previous.end
        out.append((" " if gap else "") + text)
        previous = token
    return "".join(out).strip()
