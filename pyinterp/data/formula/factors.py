"""Python code inside a formula, read as factors: nothing that R would read in another way."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, TypeGuard

import numpy as np

from pyinterp.data.formula.coding import DOUBLE, LANGUAGE, Factor
from pyinterp.data.formula.columns import Columns, bare_name
from pyinterp.data.formula.dialects import FUNCTIONS, INSIDE_A_CALL, VALUES, refuse
from pyinterp.data.formula.tokens import Token, code_of, column_code
from pyinterp.errors import FormulaError, did_you_mean, short

_NODES = (
    ast.Name, ast.Load, ast.Constant, ast.Call, ast.keyword, ast.Attribute, ast.BinOp, ast.UnaryOp,
    ast.USub, ast.UAdd, ast.Compare, ast.List, ast.Tuple, ast.Dict, ast.Lambda, ast.arguments,
    ast.arg, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
)  # fmt: skip
_REMEDIES = {
    ast.Compare: "write `np.logical_and(1 < x, x < 2)`",  # of three sides
    ast.Subscript: "rows and items can't be picked; compute the column before",
    ast.BoolOp: "write `np.logical_and(a, b)` or `np.logical_or(a, b)`",
    ast.Not: "write `np.logical_not(a)`",
    ast.In: "write `np.isin(x, [1, 2])`",
    ast.NotIn: "write `np.logical_not(np.isin(x, [1, 2]))`",
    ast.IfExp: "write `np.where(x > 1, a, b)`",
}
_NAME_WITH_DOTS = re.compile(r"(?<![\w.])([^\W\d]\w*(?:\.[^\W\d]\w*)+)\s*(\(?)")
_VALUES_OF_LANGUAGE = ("np", "ContrastMatrix", "Treatment", "Poly", "Sum", "Helmert", "Diff")
_BASES = ("bs", "cr", "cc", "te")


def column_factor(name: str) -> Factor:
    """Return the factor that is a column."""
    return Factor(f"column {name}", column_code(name), name, (name,), levels_of=name)


class FactorReader:
    """Reads pieces of Python code.

    Parameters
    ----------
    columns : Columns
        Of the data.
    scope : mapping from str
        Names of the caller.
    """

    def __init__(self, columns: Columns, scope: Mapping[str, Any]) -> None:
        self.columns, self._scope = columns, scope

    def read(self, tokens: Sequence[Token]) -> Factor:
        """Read one piece of code.

        Raises
        ------
        FormulaError
            If it can't be read, uses an unknown name, or could mean something else in R.
        """
        code, columns = code_of(tokens), self.columns
        if code in columns and code.isidentifier() and not keyword.iskeyword(code):
            return column_factor(code)
        self._check_tokens(tokens, code)
        quoted_code = code_of(self._with_columns(tokens))
        tree = columns.tree(quoted_code)
        column = bare_name(tree)
        if column is not None and column in columns:
            return column_factor(column)
        _check_nodes(tree, code)
        self._check_names(tree, code)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        categorical = tree.args[:1] if _is_call(tree, ("C",)) else []
        return Factor(
            ast.unparse(tree),
            quoted_code,
            variables=columns.used_by(tree),
            names=tuple(names.difference(columns.names)),
            code_to_run=ast.unparse(_Doubles().visit(columns.tree(quoted_code))),
            levels_of=next((n for n in map(bare_name, categorical) if n in columns), None),
        )

    def _check_tokens(self, tokens: Sequence[Token], code: str) -> None:
        """Raise if code has operators or names with dots that R reads in another way."""
        for token in tokens:
            if token.kind == "operator":
                refuse(token.text, code, INSIDE_A_CALL, self.columns)
        without_texts = code_of(token for token in tokens if token.kind != "string")
        for name, called in _NAME_WITH_DOTS.findall(without_texts):
            root = name.partition(".")[0]
            if root not in self._scope and root not in self.columns:
                _check_not_of_r(name, code, called=bool(called))
            if not called and name in self.columns:
                raise FormulaError(
                    f"`{short(name)}` is a column; write it as {short(column_code(name))}."
                )

    def _with_columns(self, tokens: Sequence[Token]) -> list[Token]:
        """Write column names that Python normalizes, as µ to μ, as ``Q("name")``.

        Names of ASCII are never changed. Names before ``(`` or ``=`` or after a dot are no columns.
        """
        texts = ["", *(token.text for token in tokens), ""]
        result = []
        for before, token, after in zip(texts, tokens, texts[2:], strict=False):
            column = None
            if token.kind == "name" and before != "." and after not in ("(", "="):
                column = None if token.text.isascii() else self.columns.column_of(token.text)
            result.append(token if column is None else token._replace(text=column_code(column)))
        return result

    def _check_names(self, tree: ast.expr, code: str) -> None:
        """Raise if code uses a name that is unknown, or that could mean two things."""
        # Left to patsy, a misspelt variable fails with a message about Python names, not the data.
        nodes = list(ast.walk(tree))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        inside = {id(node) for call in calls for node in ast.walk(call)}
        functions = {id(_root(call.func)) for call in calls}
        bound = {a.arg for node in nodes if isinstance(node, ast.Lambda) for a in node.args.args}
        for node in nodes:
            name = bare_name(node)
            if name is None or name in self.columns or name in bound:
                continue
            if isinstance(node, ast.Call):
                raise self.columns.unknown_name(name)
            if id(node) not in functions:
                self._check_value(name, code, called_with=id(node) in inside)
            # A variable of the caller such as ``C = 1.0`` can't be meant where one is called.
            theirs = self._scope.get(name, LANGUAGE.get(name))
            could_be_meant = callable(theirs) or isinstance(theirs, ModuleType)
            if name in LANGUAGE and theirs is not LANGUAGE[name] and could_be_meant:
                raise FormulaError(
                    f"`{name}` of `{short(code)}` could mean the function of formulas or that of "
                    "the code around the formula; rename the latter."
                )
        for call in calls:
            root = _root(call.func)
            if isinstance(root, ast.Name):
                self._check_function(root.id, call)

    def _check_value(self, name: str, code: str, *, called_with: bool) -> None:
        """Raise `FormulaError` unless a name that is no column is a value of the caller's code."""
        if not called_with or not self._is_in_reach(name):
            _check_not_of_r(name, code, called=False)
            raise self.columns.unknown_name(name)
        if name in LANGUAGE and name not in _VALUES_OF_LANGUAGE:
            raise FormulaError(
                f"`{name}` is a function of formulas and no value in `{short(code)}`; give a "
                "variable of that name another one."
            )

    def _check_function(self, name: str, call: ast.Call) -> None:
        """Raise if a function is unknown, or hidden by a column of the same name."""
        written, is_method = ast.unparse(call), isinstance(call.func, ast.Attribute)
        if name in self.columns:
            if is_method and name != "np":
                return
            raise FormulaError(
                f"`{short(name)}` is a column of the data, so `{short(written)}` can't use the "
                "function or module of that name; rename the column."
            )
        theirs = self._scope.get(name, getattr(builtins, name, None))
        if not self._is_in_reach(name) or not (is_method or name in LANGUAGE or callable(theirs)):
            if not is_method:
                _check_not_of_r(name, written, called=True)
            hint = f" Did you mean `np.{name}`?" if not is_method and hasattr(np, name) else ""
            raise FormulaError(
                f"Can't find `{short(name)}` of `{short(written)}`: it is neither a variable nor a "
                "function that formulas or the code around them know."
                f"{hint or did_you_mean(name, LANGUAGE)}"
            )

    def _is_in_reach(self, name: str) -> bool:
        """Whether a name is known to formulas, to the caller or to Python."""
        return name in LANGUAGE or name in self._scope or hasattr(builtins, name)


def _check_not_of_r(name: str, code: str, *, called: bool) -> None:
    """Raise if a name belongs to a function or a value of R or one of its packages."""
    if called and name in FUNCTIONS:
        raise FormulaError(
            f"`{name}` of `{short(code)}` is no function of this language: {FUNCTIONS[name]}."
        )
    if not called and name in VALUES:
        raise FormulaError(f"R's `{name}` is `{VALUES[name]}` in Python; got `{short(code)}`.")


def _check_nodes(tree: ast.expr, code: str) -> None:
    """Raise if code has syntax that formulas do not allow, such as indexing."""
    for node in ast.walk(tree):
        chained = isinstance(node, ast.Compare) and len(node.ops) > 1
        if chained or not isinstance(node, _NODES):
            remedy = _REMEDIES.get(type(node), "compute the column before")
            raise FormulaError(f"Can't use `{short(code)}` in a formula: {remedy}.")
        if isinstance(node, ast.keyword) and node.arg is None:
            raise FormulaError(f"Can't use `**` before an argument in `{short(code)}`.")
        if isinstance(node, ast.Call):
            _check_call(node)


def _check_call(call: ast.Call) -> None:
    """Raise if `Q`, `te`, `scale` or a function of NumPy has arguments that it can't take."""
    written, ufunc = short(ast.unparse(call)), _ufunc_of(call)
    if _is_call(call, ("Q",)) and bare_name(call) is None:
        raise FormulaError(f'`Q` takes the name of a column in quotes, `Q("x")`, not `{written}`.')
    if _is_call(call, ("te",)) and not all(_is_call(part, _BASES) for part in call.args):
        raise FormulaError(
            f"`te` takes splines, as in `te(cr(x, df=3), cr(z, df=3))`, not `{written}`."
        )
    if _is_call(call, ("scale",)) and (call.keywords or len(call.args) != 1):
        raise FormulaError(
            f"`scale` takes one column; with options write `standardize(...)`, not `{written}`."
        )
    if ufunc is not None and (len(call.args) > ufunc.nin or call.keywords):
        raise FormulaError(
            f"`np.{ufunc.__name__}` takes {ufunc.nin} column(s) and nothing else, not `{written}`: "
            "NumPy would write its result into the next one."
        )


def _is_call(node: ast.AST, names: Sequence[str]) -> TypeGuard[ast.Call]:
    """Whether code is a call of a function of one of these names."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _root(node: ast.expr) -> ast.expr:
    """Return `a` of ``a.b.c``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _ufunc_of(node: ast.AST) -> np.ufunc | None:
    """Return the elementwise function of NumPy that ``np.name(...)`` calls, if it is one."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name)):
            function = getattr(np, name, None)
            return function if isinstance(function, np.ufunc) else None
    return None


class _Doubles(ast.NodeTransformer):
    """Turns operands of arithmetic and arguments of NumPy's functions into double numbers."""

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the node with doubles in place of its operands, or of a ufunc's arguments."""
        self.generic_visit(node)
        if isinstance(node, ast.BinOp):
            node.left, node.right = _double(node.left), _double(node.right)
        elif isinstance(node, ast.UnaryOp):
            node.operand = _double(node.operand)
        elif isinstance(node, ast.Call) and _ufunc_of(node) is not None:
            node.args = [_double(part) for part in node.args]
        return node


def _double(node: ast.expr) -> ast.expr:
    """Return the code that makes a column or the result of a call a double; constants stay."""
    if not isinstance(node, ast.Name | ast.Call | ast.Compare | ast.Attribute):
        return node
    return ast.Call(ast.Name(DOUBLE, ast.Load()), [node], [])
