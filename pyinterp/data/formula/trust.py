"""Formulas from elsewhere: a list of allowed code, and nothing else is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator
from math import isfinite, prod
from typing import Any, TypeGuard

import pandas as pd

from pyinterp.data.columns import is_category
from pyinterp.data.formula.coding import Factor, Terms
from pyinterp.data.formula.columns import bare_name
from pyinterp.errors import FormulaError, short

FUNCTIONS_OF_NUMPY = {
    "abs", "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "cbrt", "ceil", "cos", "cosh", "deg2rad", "degrees", "divide", "equal", "exp",
    "exp2", "expm1", "fabs", "floor", "fmax", "fmin", "greater", "greater_equal", "hypot",
    "isfinite", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply",
    "negative", "not_equal", "positive", "rad2deg", "radians", "reciprocal", "rint", "sign",
    "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc",
}  # fmt: skip
_OF_NUMBERS = ("I", "center", "standardize", "scale")
_BASES = ("bs", "cr", "cc")
_CONTRASTS = ("Treatment", "Poly", "Sum", "Helmert", "Diff")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
LARGEST = 1e15  # of numbers that a formula writes
LARGEST_POWER = 20
LARGEST_DEGREE = 5  # of `bs`: from 21 on FITPACK writes beyond its arrays
LARGEST_OPTION = 100  # such as df: the columns of a spline take memory
LONGEST = 200  # characters of a level
MOST_COLUMNS = 5_000  # of terms that have more than one


class Grammar:
    """The grammar of code that may be evaluated; its methods yield the pieces outside of it.

    Parameters
    ----------
    columns : container of str
        All columns.
    numeric : container of str
        Those that hold numbers or truth values: only they take part in arithmetic.
    """

    def __init__(self, columns: Container[str | None], numeric: Container[str | None]) -> None:
        self._columns, self._numeric = columns, numeric

    def check(self, tree: ast.expr, code: str) -> None:
        """Raise `FormulaError` unless code is made of columns and listed functions only."""
        for piece in self.factor(tree):
            raise FormulaError(
                f"With `trusted=False` a formula is made of variables, numbers, arithmetic, "
                f"splines, contrasts and NumPy's elementwise functions, but `{short(code)}` has "
                f"`{short(ast.unparse(piece), 40)}`. If you know who wrote it, use `trusted=True`."
            )

    def factor(self, node: ast.expr) -> Iterator[ast.AST]:
        """A column, a categorical factor, a spline, a comparison or a number for every row."""
        match node:
            case _ if self._is_column(node):
                return
            case ast.Call(func=ast.Name(id="C"), args=[_] | [_, _]):
                yield from self._categorical(node)
            case ast.Call(func=ast.Name(id="te"), args=[_, *_] as parts, keywords=[]):
                for part in parts:
                    yield from self._spline(part)
            case ast.Call(func=ast.Name(id="I"), args=[ast.Compare() as inside], keywords=[]):
                for side in (inside.left, *inside.comparators):
                    if not self._is_column(side) and not _is_level(side):
                        yield from self._numbers(side)
            case ast.Call(func=ast.Name(id="I"), args=[column]) if self._is_column(column):
                yield from node.keywords
            case ast.Call(func=ast.Name(id=name)) if name in _BASES:
                yield from self._spline(node)
            case _:
                yield from self._numbers(node)

    def _categorical(self, node: ast.Call) -> Iterator[ast.AST]:
        """``C(x, contrast, levels=[...])``."""
        column, *contrasts = node.args
        if not self._is_column(column):
            yield column
        for option in node.keywords:
            if option.arg == "contrast":
                contrasts.append(option.value)
            elif option.arg != "levels" or not _is_list_of(option.value, _is_level):
                yield option.value
        for contrast in contrasts:
            match contrast:
                case ast.Name(id=name) if name in _CONTRASTS:
                    continue
                case ast.Call(func=ast.Name(id=name), args=levels) if name in _CONTRASTS:
                    levels = [*levels, *(keyword.value for keyword in contrast.keywords)]
                    yield from (level for level in levels if not _is_level(level))
                case _:
                    yield contrast

    def _spline(self, node: ast.expr) -> Iterator[ast.AST]:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[x, *options]) if name in _BASES:
                yield from self._numbers(x)
                for option in (*options, *(keyword.value for keyword in node.keywords)):
                    if not _is_option(option):
                        yield option
                degrees = [*options[2:3], *(k.value for k in node.keywords if k.arg == "degree")]
                yield from (
                    d for d in degrees if name == "bs" and not _is_number(d, LARGEST_DEGREE)
                )
            case _:
                yield node

    def _numbers(self, node: ast.expr) -> Iterator[ast.AST]:
        """Numbers for every row."""
        match node:
            case ast.BinOp(op=ast.Pow()) if _is_number(node.right, LARGEST_POWER):
                yield from self._numbers(node.left)
            case ast.BinOp(op=operator) if isinstance(operator, _OPERATORS):
                yield from self._some_numbers(node, (node.left, node.right))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                yield from self._numbers(node.operand)
            case ast.Call(args=[_] | [_, _], keywords=[]) if _is_of_numbers(node.func):
                yield from self._some_numbers(node, node.args)
            case _ if bare_name(node) not in self._numeric:
                yield node

    def _some_numbers(self, node: ast.expr, sides: Iterable[ast.expr]) -> Iterator[ast.AST]:
        """Numbers for every row and constants, but not constants alone."""
        of_rows = [side for side in sides if not _is_number(side)]
        if not of_rows:
            yield node
        for side in of_rows:
            yield from self._numbers(side)

    def _is_column(self, node: ast.expr) -> bool:
        return bare_name(node) in self._columns


def check_size(terms: Terms, frame: pd.DataFrame) -> None:
    """Raise `FormulaError` if terms may make so many columns that their design has no end."""
    widths = {factor: _width(factor, frame) for factor in terms.factors}
    counts = {product: prod(map(widths.__getitem__, product)) for product in terms.products}
    if sum(n for product, n in counts.items() if n > 1 or len(product) > 1) > MOST_COLUMNS:
        largest = ":".join(factor.code for factor in max(counts, key=lambda each: counts[each]))
        raise FormulaError(
            f"With `trusted=False` the terms of a formula may make {MOST_COLUMNS:,} columns, "
            f"numbers as they are aside, but these, such as `{short(largest)}`, make more. Write "
            "fewer, or if you know who wrote it, use `trusted=True`."
        )


def _width(factor: Factor, frame: pd.DataFrame) -> int:
    """Return how many columns a factor makes at most."""
    code = ast.parse(factor.code, mode="eval").body
    match code:
        case ast.Call(func=ast.Name(id=name), args=parts) if name in ("te", *_BASES):
            return prod(map(_width_of_spline, parts if name == "te" else [code]))
        case ast.Call(args=[ast.Compare()]):
            return 2
    every = factor.key.startswith("C(")
    columns = [frame[n] for n in factor.variables if every or is_category(frame[n])]
    named = sum(isinstance(node, ast.Constant) for node in ast.walk(code))
    return max(2, named, *(len(pd.Categorical(c).categories) for c in columns)) if columns else 1


def _width_of_spline(code: Any) -> int:
    """Return `df`, or how many columns knots and a degree make at most."""
    options = [*code.args[1:], *(keyword.value for keyword in code.keywords)]
    knots = sum(len(option.elts) + 4 for option in options if hasattr(option, "elts"))
    return knots + sum(v for v in (getattr(o, "value", 0) for o in options) if type(v) is int)


def _is_of_numbers(function: ast.expr) -> bool:
    """Whether a function is an elementwise one of NumPy, or one that learns a mean."""
    match function:
        case ast.Attribute(value=ast.Name(id="np"), attr=name):
            return name in FUNCTIONS_OF_NUMPY
        case ast.Name(id=name):
            return name in _OF_NUMBERS
    return False


def _is_option(node: ast.expr) -> bool:
    """Whether an option of a spline is a small number, a truth value or a list of knots."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _is_number(node, LARGEST_OPTION)
    return _is_level(node) or (_is_list_of(node, _is_number) and len(node.elts) <= LARGEST_OPTION)


def _is_list_of(
    node: ast.expr, is_member: Callable[[ast.expr], bool]
) -> TypeGuard[ast.List | ast.Tuple]:
    return isinstance(node, ast.List | ast.Tuple) and all(map(is_member, node.elts))


def _is_number(node: ast.expr, largest: float = LARGEST) -> bool:
    """Whether code is a number, maybe with a sign, of at most a given size."""
    match node:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant() as operand):
            return _is_number(operand, largest)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return isfinite(value) and abs(value) <= largest
    return False


def _is_level(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return len(text) <= LONGEST
        case ast.Constant(value=bool()):
            return True
    return _is_number(node)
