"""Queries: conditions on columns, which are read by a grammar and evaluated by it alone."""

from __future__ import annotations

import ast
import operator
import re
from functools import reduce
from itertools import pairwise
from typing import Any

import pandas as pd

from pyinterp._typing import Column
from pyinterp.data.columns import native
from pyinterp.data.formula.coding import double
from pyinterp.data.formula.columns import Columns, bare_name
from pyinterp.data.formula.tokens import STRING, column_code
from pyinterp.errors import OptionError, PyinterpError, quote, reason, short

_TEXT_OR_NAME = re.compile(rf"(?P<text>{STRING})|`(?P<quoted>[^`]*)`|(?P<name>[^\W\d]\w*)")
_COMPARISONS = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
NUMBERS = ("integer", "floating", "boolean", "mixed-integer-float")
_ARITHMETIC = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip


def evaluate(query: str, frame: pd.DataFrame, argument: str) -> Column:
    """Return the value of a query for every row; nothing in it is run as code.

    Parameters
    ----------
    query : str
        Columns (names that are no names of Python between backticks), numbers, texts and truth
        values, with comparisons, ``in [...]``, arithmetic, ``and``, ``or``, ``not``, ``&``, ``|``
        and ``~``.
    frame : pandas.DataFrame
    argument : str
        The name of the query in messages.

    Raises
    ------
    OptionError
        If the query has anything else, names no column or compares values that can't be compared.
    """
    columns = Columns(map(str, frame.columns))
    try:
        tree = columns.tree(_without_backticks(query.strip(), columns))
        values = _Query(frame, columns).values(tree)
    except Exception as error:
        raise _refusal(
            query, argument, str(error) if isinstance(error, PyinterpError) else f"{reason(error)}."
        ) from error
    if not isinstance(values, pd.Series):
        raise _refusal(query, argument, "It gives one value for all rows; `==` compares.")
    # A condition that is missing keeps no row, as in R; a mask with missing values is refused.
    condition = bare_name(tree) is None and values.dtype == "boolean"
    return values.fillna(value=False).astype(bool) if condition else values


def _refusal(query: str, argument: str, why: str) -> OptionError:
    """Return the error with the form of a query, and the reason why this is none."""
    return OptionError(
        f"`{argument}` must be a query of columns such as \"age > 50 and sex == 'f'\", not "
        f"{quote(query)}. {why}"
    )


def _without_backticks(query: str, columns: Columns) -> str:
    """Return a query whose columns are names of Python or ``Q("name")``."""

    def code(match: re.Match[str]) -> str:
        if match["quoted"] is not None:
            return column_code(match["quoted"])
        # Python reads names in another form, in which they may name other columns.
        name = match["name"] or ""
        column = None if name.isascii() else columns.column_of(name)
        return match[0] if column is None else column_code(column)

    return _TEXT_OR_NAME.sub(code, query)


class _Query:
    """The grammar of queries, which evaluates its expressions and raises for all else."""

    def __init__(self, frame: pd.DataFrame, columns: Columns) -> None:
        self._frame, self._columns = frame, columns

    def values(self, node: ast.expr) -> Any:
        """Return a value per row, or one for all."""
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as value):
                return value
            case ast.Name() | ast.Call() if (name := bare_name(node)) is not None:
                return self._column(name)
            case ast.UnaryOp(op=ast.USub()):
                return -self._number(node.operand)
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                left, right = self._number(node.left), self._number(node.right)
                return _ARITHMETIC[type(node.op)](left, right)
        return self._truth(node)

    def _truth(self, node: ast.expr) -> Any:
        """Return the truth of comparisons and conditions for every row."""
        match node:
            case ast.Compare():
                sides = pairwise((node.left, *node.comparators))
                parts = (self._compare(op, *two) for op, two in zip(node.ops, sides, strict=True))
                return reduce(operator.and_, parts)
            case ast.UnaryOp(op=ast.Not() | ast.Invert()):
                return ~self._condition(node.operand)
            case ast.BoolOp():
                both = operator.and_ if isinstance(node.op, ast.And) else operator.or_
                return reduce(both, map(self._condition, node.values))
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
                both = operator.and_ if isinstance(node.op, ast.BitAnd) else operator.or_
                return both(self._condition(node.left), self._condition(node.right))
        raise _not_in_the_grammar(node)

    def _column(self, name: str) -> Column:
        """Return a column of the frame by its name."""
        if name not in self._columns:
            raise self._columns.unknown_name(name)
        return native(self._frame[name])

    def _condition(self, node: ast.expr) -> Any:
        """Return True or False per row."""
        values = self.values(node)
        values = values.infer_objects() if isinstance(values, pd.Series) else values
        if not isinstance(values, pd.Series) or not pd.api.types.is_bool_dtype(values):
            raise OptionError(f"`{short(ast.unparse(node))}` is not True or False in every row.")
        return values

    def _number(self, node: ast.expr) -> Any:
        """Return numbers in double precision: whole ones would overflow, or grow for ever."""
        values = self.values(node)
        if isinstance(values, pd.Series) and pd.api.types.is_numeric_dtype(values):
            return double(values)
        if isinstance(values, str | pd.Series):
            raise OptionError(f"`{short(ast.unparse(node))}` is no number; arithmetic needs some.")
        return float(values)

    def _compare(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Any:
        """Return, by row, whether a comparison with two sides is true."""
        if not isinstance(op, ast.In | ast.NotIn):
            if type(op) not in _COMPARISONS:
                raise OptionError("Values are compared by `==`, not by `is`.")
            return _comparison(op, self.values(left), self.values(right))
        column, members = self.values(left), getattr(right, "elts", None)
        if not isinstance(column, pd.Series) or members is None:
            raise OptionError("`in` takes a column and a list, as in `sex in ['f', 'm']`.")
        values = [self.values(member) for member in members]
        for member, value in zip(members, values, strict=True):
            if isinstance(value, pd.Series):
                raise _not_in_the_grammar(member)
        none = pd.Series(data=False, index=column.index, dtype="boolean").mask(column.isna())
        found = reduce(operator.or_, (_comparison(ast.Eq(), column, one) for one in values), none)
        return ~found if isinstance(op, ast.NotIn) else found


def _comparison(op: ast.cmpop, left: Any, right: Any) -> Any:
    """Return a comparison by row, missing where a side is; raise if types can't be compared."""
    sides = (left, right)
    columns = [side for side in sides if isinstance(side, pd.Series)]
    for column in columns:
        for value in sides:
            if isinstance(value, str | bool | int | float):
                _check_type(column, value)
    found = _COMPARISONS[type(op)](left, right)
    if not columns:
        return found
    return found.astype("boolean").mask(reduce(operator.or_, (each.isna() for each in columns)))


def _check_type(column: Column, value: str | float) -> None:
    """Raise unless a column can be equal to a value: texts to texts, numbers to numbers."""
    values = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    kind, text = pd.api.types.infer_dtype(values, skipna=True), isinstance(value, str)
    if kind.startswith("datetime") and text:
        pd.Timestamp(value)  # raises
    elif kind in (*(NUMBERS if text else ("string", "datetime64", "datetime")), "date", "decimal"):
        raise OptionError(
            f"`{column.name}` has values of type {kind}, and {value!r} is a "
            f"{'text' if text else 'number'}; both must be of one kind."
        )


def _not_in_the_grammar(node: ast.AST) -> OptionError:
    """Return the error with the parts of which queries consist."""
    return OptionError(
        f"`{short(ast.unparse(node))}` is none of columns, numbers, texts, comparisons, `in` "
        "lists, arithmetic, `and`, `or` and `not`; compute a column, or pass a mask."
    )
