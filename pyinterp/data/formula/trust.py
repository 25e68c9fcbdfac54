"""Formulas from elsewhere: a list of what code may be, and nothing else is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from math import isfinite

from pyinterp.data.formula.syntax import is_quote, name_in_quotes
from pyinterp.errors import FormulaError, short

__all__ = ["FUNCTIONS_OF_NUMPY", "untrusted_check"]

FUNCTIONS_OF_NUMPY = {
    "abs", "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "cbrt", "ceil", "cos", "cosh", "deg2rad", "degrees", "divide", "equal", "exp",
    "exp2", "expm1", "fabs", "floor", "fmax", "fmin", "greater", "greater_equal", "hypot",
    "isfinite", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply",
    "negative", "not_equal", "positive", "rad2deg", "radians", "reciprocal", "rint", "sign",
    "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc",
}  # fmt: skip
_OF_NUMBERS = frozenset({"I", "center", "standardize", "scale"})
_BASES = frozenset({"bs", "cr", "cc"})
_CONTRASTS = frozenset({"Treatment", "Poly", "Sum", "Helmert", "Diff"})
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
LARGEST = 1e15  # of numbers that a formula writes
LARGEST_POWER = 20
LARGEST_OPTION = 100  # such as df: the columns of a spline take memory
LONGEST = 200  # characters of a level


class _NotOnTheListError(Exception):
    """A piece of code is not on the list."""


def untrusted_check(
    columns: Collection[str], numeric: Collection[str]
) -> Callable[[ast.expr, str], None]:
    """Return the check of formulas that are not trusted: columns and listed functions only.

    Parameters
    ----------
    columns : collection of str
        All columns.
    numeric : collection of str
        Those that hold numbers or truth values: only they take part in arithmetic.
    """
    grammar = _Grammar(columns, numeric)

    def check(tree: ast.expr, code: str) -> None:
        try:
            grammar.factor(tree)
        except _NotOnTheListError as piece:
            raise FormulaError(
                f"With `trusted=False` a formula is made of variables, numbers, arithmetic, "
                f"splines, contrasts and NumPy's elementwise functions, but `{short(code)}` has "
                f"`{piece}`. If you know who wrote it, use `trusted=True`."
            ) from None

    return check


class _Grammar:
    """The grammar of code that may be evaluated; every method raises for what is not in it."""

    def __init__(self, columns: Collection[str], numeric: Collection[str]) -> None:
        self._columns, self._numeric = columns, numeric

    def factor(self, node: ast.expr) -> None:
        """A column, a categorical factor, a spline, a comparison or a number for every row."""
        name = _function(node)
        if self._name(node) in self._columns:
            return
        if isinstance(node, ast.Call) and name == "C":
            self._categorical(node)
        elif isinstance(node, ast.Call) and name in _BASES:
            self._spline(node)
        elif isinstance(node, ast.Call) and name == "te":
            self._tensor(node)
        elif isinstance(node, ast.Call) and name == "I":
            self._inhibit(node)
        else:
            self._number(node)

    def _inhibit(self, node: ast.Call) -> None:
        (inside,) = _arguments(node, 1)
        if isinstance(inside, ast.Compare):
            self._comparison(inside)
        elif self._name(inside) not in self._columns:
            self._number(inside)

    def _comparison(self, node: ast.Compare) -> None:
        for side in (node.left, *node.comparators):
            if self._name(side) not in self._columns and not _is_level(side):
                self._number(side)

    def _number(self, node: ast.expr) -> None:
        """Numbers for every row."""
        if isinstance(node, ast.BinOp):
            self._arithmetic(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            self._number(node.operand)
        elif isinstance(node, ast.Call) and not is_quote(node):
            self._call(node)
        elif self._name(node) not in self._numeric:
            raise _not_on_the_list(node)

    def _arithmetic(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Pow):
            if not _is_number(node.right, LARGEST_POWER):
                raise _not_on_the_list(node)
            self._number(node.left)
            return
        sides = [side for side in (node.left, node.right) if not _is_number(side)]
        if not isinstance(node.op, _OPERATORS) or not sides:
            raise _not_on_the_list(node)
        for side in sides:
            self._number(side)

    def _call(self, node: ast.Call) -> None:
        """A function of numbers: one of NumPy's, or one that learns a mean."""
        if node.keywords or not (_of_numpy(node.func) or _function(node) in _OF_NUMBERS):
            raise _not_on_the_list(node)
        sides = [side for side in node.args if not _is_number(side)]
        if not sides or len(node.args) > 2:
            raise _not_on_the_list(node)
        for side in sides:
            self._number(side)

    def _categorical(self, node: ast.Call) -> None:
        """``C(x, contrast, levels=[...])``."""
        if not node.args or len(node.args) > 2:
            raise _not_on_the_list(node)
        if self._name(node.args[0]) not in self._columns:
            raise _not_on_the_list(node)
        for contrast in node.args[1:]:
            _check_contrast(contrast)
        for option in node.keywords:
            if option.arg not in ("levels", "contrast"):
                raise _not_on_the_list(node)
            (_check_levels if option.arg == "levels" else _check_contrast)(option.value)

    def _spline(self, node: ast.Call) -> None:
        if not node.args:
            raise _not_on_the_list(node)
        self._number(node.args[0])
        for option in (*node.args[1:], *(k.value for k in node.keywords)):
            _check_option(option)

    def _tensor(self, node: ast.Call) -> None:
        if node.keywords or not node.args:
            raise _not_on_the_list(node)
        for part in node.args:
            if not isinstance(part, ast.Call) or _function(part) not in _BASES:
                raise _not_on_the_list(part)
            self._spline(part)

    def _name(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return node.id
        return name_in_quotes(node) if is_quote(node) else None


def _not_on_the_list(node: ast.AST) -> _NotOnTheListError:
    return _NotOnTheListError(short(ast.unparse(node), 40))


def _function(node: ast.AST) -> str | None:
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return node.func.id if plain else None  # type: ignore[attr-defined]  # a Call of a Name


def _of_numpy(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "np"
        and node.attr in FUNCTIONS_OF_NUMPY
    )


def _arguments(node: ast.Call, number: int) -> list[ast.expr]:
    if node.keywords or len(node.args) != number:
        raise _not_on_the_list(node)
    return node.args


def _is_number(node: ast.AST, largest: float = LARGEST) -> bool:
    """Whether code is a number, maybe with a sign, of at most a given size."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    if not isinstance(node, ast.Constant) or type(node.value) not in (int, float):
        return False
    return isfinite(node.value) and abs(node.value) <= largest  # type: ignore[arg-type]  # a number


def _is_level(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant):
        return False
    text = isinstance(node.value, str) and len(node.value) <= LONGEST
    return text or isinstance(node.value, bool) or _is_number(node)


def _check_levels(node: ast.AST) -> None:
    if not isinstance(node, ast.List | ast.Tuple) or not all(map(_is_level, node.elts)):
        raise _not_on_the_list(node)


def _check_contrast(node: ast.expr) -> None:
    if isinstance(node, ast.Name) and node.id in _CONTRASTS:
        return
    if not isinstance(node, ast.Call) or _function(node) not in _CONTRASTS:
        raise _not_on_the_list(node)
    for option in (*node.args, *(k.value for k in node.keywords)):
        if not _is_level(option):
            raise _not_on_the_list(node)


def _check_option(node: ast.expr) -> None:
    """Raise unless an option of a spline is a small number, a truth value or a list of knots."""
    knots = isinstance(node, ast.List | ast.Tuple) and len(node.elts) <= LARGEST_OPTION
    if isinstance(node, ast.List | ast.Tuple) and knots and all(map(_is_number, node.elts)):
        return
    whole = isinstance(node, ast.Constant) and type(node.value) is int
    if whole and not _is_number(node, LARGEST_OPTION):
        raise _not_on_the_list(node)
    if not (_is_number(node) or _is_level(node)):
        raise _not_on_the_list(node)
