"""R-style formulas: terms, the variables that they use, and refusals.

In come a formula as text and the columns of the data; out go terms, factors and their coding. An
operator or a function that R's packages read in another way is an error with its remedy: a formula
means the same as in R, or nothing. Code inside function calls is Python.

=============  =================================================================
Module         Content
=============  =================================================================
`tokens`       Tokens, with R's operators that are refused
`columns`      The columns of the data, as code names them
`coding`       Factors, their names, and columns from terms; the module that imports patsy
`dialects`     Operators and functions of R's packages that are refused
`factors`      Python code as factors: nothing that R would read in another way
`algebra`      Terms as sets of products of factors: ``+ - : * / ^`` and ``.``
=============  =================================================================

Refusals may grow in `dialects.toml`; accepted formulas have to agree with R's ``model.matrix``.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from typing import Any

from pyinterp.data.formula.algebra import TermReader
from pyinterp.data.formula.coding import Factor, RightSide
from pyinterp.data.formula.columns import Columns
from pyinterp.data.formula.factors import FactorReader
from pyinterp.data.formula.tokens import atom_end, code_of, column_code, read_tokens
from pyinterp.errors import FormulaError, short


def parse(
    formula: str, columns: Iterable[str], scope: Mapping[str, Any] | None = None
) -> tuple[Factor, RightSide]:
    """Return the response and the terms of a formula; nothing of it is evaluated.

    Parameters
    ----------
    formula : str
        For example ``"quality ~ . - pH"`` or ``"np.log(y) ~ (a + b)^2 + C(g)"``.
    columns : iterable of str
        The columns of the data; ``.`` stands for all that the response does not use.
    scope : mapping from str
        Names of the caller that may be called, and used inside calls, besides the columns.

    Raises
    ------
    FormulaError
        If there is no response, a variable or operator is unknown or could mean something else in
        R, or brackets do not match.
    """
    if not isinstance(formula, str):
        raise FormulaError(
            f'The formula must be a string such as "y ~ x", not {type(formula).__name__}.'
        )
    data_columns = Columns(columns)
    reader = FactorReader(data_columns, scope or {})
    tokens = read_tokens(formula)
    places = [i for i, token in enumerate(tokens) if token.text == "~"]
    if len(places) != 1 or places[0] == 0 or places[0] == len(tokens) - 2:
        raise FormulaError(
            f"A formula has the form \"response ~ terms\"; got '{short(formula)}'. "
            'To use every other column write "y ~ .".'
        )
    left, right = tokens[: places[0]], tokens[places[0] + 1 :]
    name = code_of(left)
    if name in data_columns and (not name.isidentifier() or keyword.iskeyword(name)):
        raise FormulaError(
            f"The response `{short(name)}` is not a Python name; write it as "
            f"{short(column_code(name))}."
        )
    response = reader.read(left)
    if not response.variables:
        raise FormulaError(
            "The response must be a variable of the data, or made of one; got "
            f"`{short(response.code)}`."
        )
    rest = [c for c in data_columns.names if c not in response.variables]
    return response, TermReader(right, rest, reader).terms()


def names_in(code: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the `columns` that patsy code uses, ``Q("...")`` included, in their order.

    For code that another package has accepted: nothing is refused but unreadable code.
    """
    data_columns, tokens = Columns(columns), read_tokens(code)
    used: set[str] = set()
    at = 0
    while tokens[at].kind != "end":
        end = atom_end(tokens, at) if tokens[at].kind == "name" else at + 1
        if tokens[at].kind == "name":
            used.update(data_columns.used_by(data_columns.tree(code_of(tokens[at:end]))))
        at = end
    return tuple(name for name in data_columns.names if name in used)
