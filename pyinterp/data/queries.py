"""Queries: conditions on columns, which pandas evaluates after a check that they are no code."""

from __future__ import annotations

import ast
import re
from typing import Any

import pandas as pd

from pyinterp.data.columns import native
from pyinterp.data.formula.columns import Columns
from pyinterp.data.formula.tokens import STRING
from pyinterp.errors import OptionError, PyinterpError, quote, reason

_TEXT_OR_COLUMN = re.compile(rf"{STRING}|`(?P<quoted>[^`]*)`")
_NODES = (
    ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.Compare, ast.cmpop, ast.BoolOp,
    ast.boolop, ast.UnaryOp, ast.Not, ast.Invert, ast.USub, ast.BinOp, ast.BitAnd, ast.BitOr,
)  # fmt: skip


def evaluate(query: str, frame: pd.DataFrame, argument: str) -> pd.Series[Any]:
    """Return the value of a query for every row; nothing in it is run as code.

    Parameters
    ----------
    query : str
        Columns (names that are no names of Python between backticks), numbers, texts and truth
        values, with comparisons, ``in [...]``, ``and``, ``or``, ``not``, ``&``, ``|`` and ``~``.
    frame : pandas.DataFrame
    argument : str
        The name of the query in messages.

    Raises
    ------
    OptionError
        If the query has anything else, names no column or compares values that can't be compared.
    """
    try:
        values = _values(query.strip(), frame)
    except Exception as error:
        why = str(error) if isinstance(error, PyinterpError) else f"{reason(error)}."
        raise OptionError(
            f"`{argument}` must be a query of columns such as \"age > 50 and sex == 'f'\", not "
            f"{quote(query)}. {why}"
        ) from error
    return values


def _values(query: str, frame: pd.DataFrame) -> pd.Series[Any]:
    words: dict[str, str] = {}  # in place of quoted names, so that pandas reads what is checked

    def word(match: re.Match[str]) -> str:
        name = match["quoted"]
        return match[0] if name is None else words.setdefault(name, f"_quoted_{len(words)}")

    code, columns = _TEXT_OR_COLUMN.sub(word, query), {}
    names = {word: name for name, word in words.items()}
    for node in ast.walk(ast.parse(code, mode="eval").body):
        if not isinstance(node, _NODES):
            raise OptionError(
                "It can have columns, numbers, texts, comparisons, `in` lists, `and`, `or` and "
                "`not`; for all else compute a column, or pass a mask."
            )
        if isinstance(node, ast.Name):
            name = names.get(node.id, node.id)
            if name not in frame:
                raise Columns(map(str, frame)).unknown_name(name)
            columns[node.id] = native(frame[name])
    values = pd.DataFrame(columns).eval(code, engine="python", local_dict={}, global_dict={})
    if not isinstance(values, pd.Series):
        raise OptionError("It gives one value for all rows; `==` compares.")
    return values
