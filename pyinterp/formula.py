"""R-style formulas for patsy: `.` and `^` expanded, and which variables a piece of code uses."""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from pyinterp.errors import FormulaError, did_you_mean

__all__ = ["Formula", "names_in", "parse", "quoted"]

_ENDS_OPERAND = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING)


class Formula(NamedTuple):
    """A formula split at `~`, with `.` expanded; both sides are patsy code."""

    response: str
    terms: str


def quoted(name: str) -> str:
    """Return patsy code for a column: the bare name if it is a Python name, else ``Q("name")``."""
    if name.isidentifier() and not keyword.iskeyword(name):
        return name
    return f"Q({name!r})"


def names_in(code: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the `columns` that a piece of formula code uses, ``Q("...")`` included, in order."""
    known = dict.fromkeys(columns)
    used: dict[str, None] = {}
    for node in ast.walk(_python(code)):
        if isinstance(node, ast.Name) and node.id in known:
            used[node.id] = None
        elif isinstance(node, ast.Call) and _is_quote(node):
            used[_quoted_name(node)] = None
    return tuple(name for name in known if name in used)


def parse(formula: str, columns: Sequence[str], scope: Container[str] = ()) -> Formula:
    """Split a formula at `~` and expand R's `.` and `^` outside function calls.

    Parameters
    ----------
    formula : str
        For example ``"quality ~ . - pH"`` or ``"np.log(y) ~ (a + b)^2 + C(g)"``.
    columns : sequence of str
        The columns of the data; `.` stands for all that the response does not use.
    scope : container of str
        Names of the caller that function arguments may use besides the columns.

    Raises
    ------
    FormulaError
        If there is no response, a variable or operator is unknown, or brackets do not match.
    """
    if not isinstance(formula, str):
        raise FormulaError(
            f'The formula must be a string such as "y ~ x", not {type(formula).__name__}.'
        )
    left, tilde, right = formula.partition("~")
    if not tilde or not left.strip() or not right.strip() or "~" in right:
        raise FormulaError(
            f'A formula has the form "response ~ terms"; got {formula!r}. '
            'To use every other column write "y ~ .".'
        )
    response = left.strip()
    in_response = set(names_in(response, columns))
    rest = [quoted(c) for c in columns if c not in in_response]
    terms = _expand(right.strip(), rest)
    for side in (response, terms):
        _check_names(side, columns, scope)
    return Formula(response, terms)


def _check_names(code: str, columns: Sequence[str], scope: Container[str]) -> None:
    # Left to patsy, a misspelt variable fails with a message about Python names, not the data.
    tree = _python(code)
    known = set(columns)
    bound = {a.arg for n in ast.walk(tree) if isinstance(n, ast.Lambda) for a in n.args.args}
    for name, called_with in _value_names(tree, inside=False):
        if name in known or name in bound or (called_with and name in scope):
            continue
        _unknown(name, columns)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_quote(node) and _quoted_name(node) not in known:
            _unknown(_quoted_name(node), columns)


def _value_names(node: ast.AST, *, inside: bool) -> Iterator[tuple[str, bool]]:
    """Yield names used as values, and whether they stand inside a function call."""
    if isinstance(node, ast.Name):
        yield node.id, inside
    elif isinstance(node, ast.Call):
        for part in (*node.args, *(k.value for k in node.keywords)):
            yield from _value_names(part, inside=True)
    elif isinstance(node, ast.Attribute):
        if not inside:
            return
        yield from _value_names(node.value, inside=True)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _value_names(child, inside=inside)


def _unknown(name: str, columns: Sequence[str]) -> None:
    shown = ", ".join(map(str, columns[:12])) + (", ..." if len(columns) > 12 else "")
    raise FormulaError(
        f"Can't find variable `{name}` in the data. Variables: {shown}."
        + did_you_mean(name, columns)
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


def _python(code: str) -> ast.AST:
    # patsy's `:` and `%in%` are not Python; for finding names any binary operator will do.
    try:
        return ast.parse(_outside_calls(code, {":": "|"}), mode="eval")
    except (SyntaxError, tokenize.TokenError) as error:
        raise FormulaError(f"Can't read `{code}` as formula code: {error}.") from error


def _expand(code: str, rest: Sequence[str]) -> str:
    dot = "(" + " + ".join(rest) + ")" if rest else "1"
    return _outside_calls(code, {"^": "**", ".": dot})


def _outside_calls(code: str, replace: dict[str, str]) -> str:
    """Replace operator tokens that stand outside function calls; `^` inside one is an error."""
    try:
        tokens = [
            t
            for t in tokenize.generate_tokens(io.StringIO(code).readline)
            if t.type not in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER)
        ]
    except tokenize.TokenError as error:
        raise FormulaError(f"Can't read `{code}` as formula code: {error.args[0]}.") from error
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
