"""Readers: from the user's data, by a formula or as arrays, to variables and a response."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype

from pyinterp.data.columns import is_category, is_date, native
from pyinterp.data.design import Design, FormulaDesign
from pyinterp.data.formula import names_in, parse
from pyinterp.data.formula.coding import Environment, Factor, RightSide
from pyinterp.data.formula.factors import column_factor
from pyinterp.data.formula.tokens import column_code
from pyinterp.data.frames import one_column
from pyinterp.data.row_data import RowData, read_rows
from pyinterp.data.weights import Beside
from pyinterp.errors import DataError, FormulaError, NamesWarning, level_of_caller, short

MOST_LEVELS = 0.8  # of the number of rows: a column with more names its rows
FEW_LEVELS = 20  # in so few rows as this, levels may be distinct by chance


class FormulaReader:
    """Reads data frames by a formula.

    Parameters
    ----------
    formula : str
        As in `Learner.from_formula`.
    data : RowData
        Rows at hand, which say which columns `.` stands for.
    scope : mapping from str
        The caller's names.
    as_frame : bool
        Hand the variables over as a DataFrame instead of a matrix.

    Attributes
    ----------
    variables : list of str
        The variables of the right side, in the order of the data.
    """

    def __init__(
        self, formula: str, data: RowData, scope: Mapping[str, Any], *, as_frame: bool
    ) -> None:
        self.formula = formula
        self._data = data if as_frame else None
        self._expand(_without(formula, list(map(str, data.frame)), data.besides), scope)

    @classmethod
    def of(
        cls, formula: str, data: object, scope: Mapping[str, Any], beside: Beside, *, as_frame: bool
    ) -> tuple[Self, RowData]:
        """Return the reader of the rows at hand, with weights and offset beside them, and these."""
        rows = read_rows(data, of_formula=True, beside=beside)
        reader = cls(formula, rows, scope, as_frame=as_frame)
        if "." in formula:
            _ask_about_numbers(reader.variables, formula, rows.frame)
        if rows.offset is not None:
            rows.offset.check_apart(reader.variables)
        return reader, reader.read(rows)

    def _expand(self, columns: Sequence[str], scope: Mapping[str, Any]) -> None:
        """Read the formula, in which `.` stands for these columns."""
        self._columns = columns
        self._response, self._terms = parse(self.formula, columns, scope)
        names = self._terms.names.union(self._response.names)
        self._scope = Environment({n: scope[n] for n in names if n in scope})
        used = self._terms.variables
        if used.issuperset(self._response.variables):
            raise FormulaError(
                f"The response `{short(self._response.code)}` can't be on the right side "
                f"too, where it would predict itself; got {short(self.formula)!r}."
            )
        self.variables = list(filter(used.__contains__, columns))
        if not self.variables:
            raise FormulaError(
                "The formula must have at least one variable on its right side; got "
                f"{short(self.formula)!r}."
            )
        if self._data is not None:
            _check_selects(self._terms)

    def without(self, column: str) -> Self:
        """Return the reader for whose `.` a column does not stand; itself if that is no change."""
        columns = _without(self.formula, list(self._columns), [column])
        if column not in self.variables or column in columns:
            return self
        new = copy(self)
        new._expand(columns, self._scope)
        return new

    def rows(self, data: Any) -> RowData:
        """Read a frame."""
        return read_rows(data, of_formula=True)

    def read(self, data: RowData) -> RowData:
        """Evaluate the response and pick the variables."""
        frame, response = data.frame, self._response
        for name in (*self.variables, *response.variables):
            if name not in frame:
                raise DataError(f"Variable `{short(name)}` of the formula is not in the data.")
        variables = frame[self.variables]
        return data.pick(variables, _response(response, frame, self._scope), self.needs(variables))

    def needs(self, variables: pd.DataFrame) -> dict[str, str]:
        """Return why columns of a matrix can't be missing where a variable is."""
        if self._data is not None:
            return {}
        needs: dict[str, str] = {}
        absent = set(variables.columns[variables.isna().any()])
        for factor in self._terms.factors if absent else ():
            lacking = [name for name in factor.variables if name in absent]
            if why := _need(factor, variables, self._scope) if lacking else "":
                needs |= dict.fromkeys(lacking, why)
        return needs

    def design(self, variables: pd.DataFrame, *, intercept: bool, every_level: bool) -> Design:
        """Return the formula's design matrix, or the variables as a frame."""
        if self._data is not None:
            return self._data.frame_design(variables)
        for factor in self._terms.factors:
            _check_factor(factor, variables)
        # An offset is the last column, whatever the formula has.
        offset = [(column_factor(str(c)),) for c in variables if c not in self.variables]
        terms = RightSide(self._terms.intercept, (*self._terms.products, *offset))
        terms = terms.with_every_level() if every_level else terms
        design = FormulaDesign(terms, variables, self._scope, intercept=intercept)
        design.check_rows()
        design.check_coding()
        return design


class ArrayReader:
    """Reads ``(endog, exog)``.

    Parameters
    ----------
    data : RowData
        Rows at hand, of exog and endog.
    besides : collection of str
        Columns of `exog` that are no variables, other than weights and an offset.
    """

    formula = ""

    def __init__(self, data: RowData, besides: Collection[str] = ()) -> None:
        self._data, self._besides = data, (*data.besides, *besides)

    @classmethod
    def of(cls, endog: object, exog: object, beside: Beside) -> tuple[Self, RowData]:
        """Return the reader of the rows at hand, with weights and offset beside them, and these."""
        rows = read_rows(exog, endog, what="exog", beside=beside)
        reader = cls(rows)
        return reader, reader.read(rows)

    def rows(self, data: Any) -> RowData:
        """Read a pair of endog and exog."""
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise DataError(
                f"Data must be a pair (endog, exog) of arrays, not {type(data).__name__}."
            )
        return read_rows(data[1], data[0], what="exog")

    def read(self, data: RowData) -> RowData:
        """Return exog as variables, endog as response."""
        variables = data.frame.drop(columns=[c for c in data.frame if c in self._besides])
        if variables.shape[1] == 0:
            raise DataError("`exog` must have a variable beside the columns of weights and offset.")
        return data.pick(variables, data.endog)

    def without(self, column: str) -> Self:
        """Return the reader for which a column of exog is no variable."""
        return type(self)(self._data, [*self._besides, column])

    def design(self, variables: pd.DataFrame, *, intercept: bool, every_level: bool) -> Design:
        """Return the variables as a frame or as an array."""
        if self._data.is_frame:
            return self._data.frame_design(variables)
        for name, column in variables.items():
            if not pd.api.types.is_numeric_dtype(column):
                raise DataError(
                    f"An array given as `exog` must hold numbers, but `{short(name)}` has dtype "
                    f"{column.dtype}; pass a DataFrame, or use Learner.from_formula."
                )
        return self._data.array_design(variables)


Reader = FormulaReader | ArrayReader


def reread(reader: Reader, rows: pd.DataFrame) -> RowData:
    """Read rows as a reader returns them: the variables, and the response as last column."""
    data = replace(read_rows(rows), user_index=None)
    variables = data.frame.iloc[:, :-1]
    needs = reader.needs(variables) if isinstance(reader, FormulaReader) else {}
    return data.pick(variables, data.frame.iloc[:, -1], needs)


def _response(factor: Factor, frame: pd.DataFrame, scope: Mapping[str, Any]) -> pd.Series[Any]:
    """Return the response of a formula, which must be defined where its variables are."""
    value: Any = frame[factor.column] if factor.column else None
    if value is None:
        columns = {name: native(frame[name]) for name in factor.variables}
        try:
            value = factor.values(columns, scope)
        except Exception as error:
            raise FormulaError(
                f"Can't evaluate the response `{short(factor.code)}`: {short(error, 120)}."
            ) from error
    if type(value).__name__ == "_CategoricalBox":  # patsy's C(...)
        value = pd.Categorical(value.data, categories=value.levels)
    values = one_column(value)
    if values is None or len(values) != len(frame):
        raise FormulaError(
            f"The response `{short(factor.code)}` must be one column with a value for each of "
            f"the {len(frame)} rows of the data; it has shape {np.shape(value)}."
        )
    missing = frame[list(factor.variables)].isna().any(axis=1)
    undefined = (values.isna() & ~missing).to_numpy(bool)
    if undefined.any():
        raise DataError(
            f"The response `{short(factor.code)}` is not defined in {int(undefined.sum())} of "
            f"{len(frame)} rows (the first is row {int(np.flatnonzero(undefined)[0])}); change "
            "the transformation or drop those rows."
        )
    return values.rename(factor.column or factor.code)


def _without(formula: str, columns: list[str], besides: Collection[str]) -> list[str]:
    """Return the columns that `.` stands for: weights are no variable unless they are named."""
    named = names_in(formula, besides) if besides else ()
    return [name for name in columns if name not in besides or name in named]


def _ask_about_numbers(variables: Sequence[str], formula: str, frame: pd.DataFrame) -> None:
    """Warn of whole numbers, by `.` alone, that differ in all rows."""
    for name in set(variables).difference(names_in(formula, variables)):
        column = frame[name]
        if len(column) >= FEW_LEVELS and is_integer_dtype(column.dtype) and column.is_unique:
            warnings.warn(
                f"`{short(name)}` has another whole number in each of {len(column)} rows. Does it "
                f"number the rows? Then leave it out, as in `y ~ . - {short(column_code(name))}`; "
                "if it is a quantity, name it in the formula.",
                NamesWarning,
                stacklevel=level_of_caller(),
            )


def _check_selects(terms: RightSide) -> None:
    """Raise if a term is more than a variable."""
    codes = [":".join(f.code for f in p) for p in terms.products if len(p) > 1]
    codes += [f.code for p in terms.products for f in p if f.column is None]
    if codes:
        raise FormulaError(
            f'`design="frame"` hands variables over as they are, but `{short(codes[0])}` is not a '
            'variable; use `design="matrix"`, or build it inside a pipeline.'
        )


def _need(factor: Factor, variables: pd.DataFrame, scope: Mapping[str, Any]) -> str:
    """Return why a factor needs its variables in every row; empty if it is missing with them."""
    if factor.column is not None and not is_category(variables[factor.column]):
        return ""
    if factor.levels_of is not None:
        return (
            f"the columns of the levels of `{short(factor.code)}` have no place for a missing one, "
            'which `design="frame"` hands over'
        )
    if factor.learns(scope):
        return f"`{short(factor.code)}` learns from all rows"
    rows = variables.isna()[list(factor.variables)].any(axis=1).to_numpy(bool)
    columns = {name: variables.loc[rows, name] for name in factor.variables}
    try:
        values = one_column(factor.values(columns, scope))
    except Exception:  # noqa: BLE001 - whatever a user's function raises
        values = None
    if values is None or not values.isna().all():
        return f"`{short(factor.code)}` has a value where its variable has none"
    return ""


def _check_factor(factor: Factor, variables: pd.DataFrame) -> None:
    """Raise `DataError` if levels of a formula's factor are dates, or nearly as many as rows."""
    name = factor.levels_of
    if name is None:
        return
    column = variables[name]
    if factor.column is not None and is_date(column.dtype):
        raise DataError(
            f"A formula's matrix needs numbers and levels, but `{short(name)}` holds "
            "dates: write what of them counts as a function that is defined in your script, "
            f'such as `month({short(factor.code)})`, or use `design="frame"`.'
        )
    if factor.column is not None and not is_category(column):
        return
    distinct = column.nunique()
    if distinct > MOST_LEVELS * len(variables) and distinct >= FEW_LEVELS:
        raise DataError(
            f"Column `{short(name)}` has {distinct} levels in {len(variables)} rows and looks "
            f"like an identifier, from which nothing can be learned about other rows. Leave "
            f"it out, as in `y ~ . - {short(column_code(name))}`, or convert texts of numbers by "
            "`pandas.to_numeric`."
        )
