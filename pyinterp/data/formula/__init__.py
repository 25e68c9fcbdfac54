"""R-style formulas: terms, the variables that they use, and what is refused.

In come a formula as text and the columns of the data; out go terms, factors and their coding. An
operator or a function that R's packages read in another way is an error with its remedy: a formula
means what it means in R, or nothing. Code inside function calls is Python.

=============  =================================================================
Module         What is in it
=============  =================================================================
`tokens`       Tokens, those of R's operators that are refused included
`algebra`      Terms as sets of products of factors: ``+ - : * / ^`` and ``.``
`expressions`  Python code inside a formula: its variables, its evaluation
`syntax`       Syntax trees of that code, and the columns that they use
`scope`        What names stand for: the language's functions, then the caller's
`columns`      The columns of the data, as formulas name them
`code_checks`  What code may do: nothing that R would read in another way
`dialects`     Operators and functions of R's packages that are refused
`trust`        Formulas from elsewhere: a list of what code may be
`coding`       Columns from terms; the one module that imports patsy
=============  =================================================================

What is refused may grow in `dialects`; what is accepted has to agree with R's ``model.matrix``.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from pyinterp.data.formula.algebra import Terms, atom_end, read_terms
from pyinterp.data.formula.coding import (
    Coding,
    callers_names,
    evaluate,
    learn,
    learns,
    library_coding,
    linear_hypotheses,
    reason_of,
)
from pyinterp.data.formula.columns import Columns
from pyinterp.data.formula.expressions import Environment, Factor, column_factor, read_factor
from pyinterp.data.formula.scope import Scope, namespace
from pyinterp.data.formula.syntax import tree_of, variables_of
from pyinterp.data.formula.tokens import Token, code_of, column_code, read_tokens
from pyinterp.data.formula.trust import untrusted_check
from pyinterp.errors import FormulaError, short

__all__ = [
    "Coding",
    "Factor",
    "Formula",
    "Scope",
    "Terms",
    "callers_names",
    "column_code",
    "column_factor",
    "evaluate",
    "learn",
    "learns",
    "library_coding",
    "linear_hypotheses",
    "names_in",
    "namespace",
    "parse",
    "parse_terms",
    "reason_of",
]

_NOTHING: Mapping[str, object] = MappingProxyType({})


class Formula(NamedTuple):
    """A formula split at `~`, with `.` expanded."""

    response: Factor
    terms: Terms


def parse(
    formula: str,
    columns: Iterable[str],
    scope: Mapping[str, Any] = _NOTHING,
    *,
    numeric: Collection[str] | None = None,
) -> Formula:
    """Read a formula; nothing of it is evaluated.

    Parameters
    ----------
    formula : str
        For example ``"quality ~ . - pH"`` or ``"np.log(y) ~ (a + b)^2 + C(g)"``.
    columns : iterable of str
        The columns of the data; `.` stands for all that the response does not use.
    scope : mapping from str
        Names of the caller that may be called, and used inside calls, besides the columns.
    numeric : collection of str, optional
        Columns that hold numbers. If given the formula is not trusted: it may use columns and
        listed functions only.

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
    environment = _environment(data_columns, scope, numeric)
    left, right = _sides(formula, data_columns)
    response = read_factor(left, environment)
    if not response.variables:
        raise FormulaError(
            "The response must be a variable of the data, or made of one; got "
            f"`{short(response.code)}`."
        )
    rest = [c for c in data_columns.names if c not in response.variables]
    terms = read_terms(right, rest, environment)
    return Formula(response, terms)


def parse_terms(code: str, columns: Iterable[str], scope: Mapping[str, Any] = _NOTHING) -> Terms:
    """Read the right side of a formula; `.` stands for all columns."""
    environment = _environment(Columns(columns), scope, None)
    return read_terms(read_tokens(code), environment.columns.names, environment)


def names_in(code: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the `columns` that patsy code uses, ``Q("...")`` included, in their order.

    For code that another package has accepted: nothing is refused but what can't be read.
    """
    data_columns = Columns(columns)
    tokens = read_tokens(code)
    used: set[str] = set()
    at = 0
    while tokens[at].kind != "end":
        if tokens[at].kind == "name":
            end = atom_end(tokens, at)
            used.update(variables_of(tree_of(code_of(tokens[at:end]), data_columns), data_columns))
            at = end
        else:
            at += 1
    return tuple(name for name in data_columns.names if name in used)


def _environment(
    columns: Columns, scope: Mapping[str, Any], numeric: Collection[str] | None
) -> Environment:
    if numeric is None:
        return Environment(columns, scope)
    return Environment(columns, {}, untrusted_check(frozenset(columns.names), frozenset(numeric)))


def _sides(formula: str, columns: Columns) -> tuple[Sequence[Token], Sequence[Token]]:
    """Return the tokens left and right of `~`."""
    tokens = read_tokens(formula)
    places = [i for i, token in enumerate(tokens) if token.text == "~"]
    if len(places) != 1 or places[0] == 0 or places[0] == len(tokens) - 2:
        raise FormulaError(
            f"A formula has the form \"response ~ terms\"; got '{short(formula)}'. "
            'To use every other column write "y ~ .".'
        )
    left, right = tokens[: places[0]], tokens[places[0] + 1 :]
    name = code_of(left)
    if name in columns and (not name.isidentifier() or keyword.iskeyword(name)):
        raise FormulaError(
            f"The response `{short(name)}` is not a Python name; write it as "
            f"{short(column_code(name))}."
        )
    return left, right
