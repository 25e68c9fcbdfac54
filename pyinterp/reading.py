"""Reading: from a formula or arrays, and the user's data, to variables and a response."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import patsy

from pyinterp.design import ArrayDesign, Design, FormulaDesign, FrameDesign
from pyinterp.errors import DataError, FormulaError
from pyinterp.formula import column_named, names_in, parse
from pyinterp.sample import as_frame as read_frame
from pyinterp.sample import check_aligned

__all__ = ["ArrayReader", "FormulaReader", "Reader", "Source"]


@dataclass(frozen=True)
class Source:
    """Rows as the user gave them.

    Attributes
    ----------
    frame : pandas.DataFrame
        All columns, for strata and clusters.
    variables : pandas.DataFrame
        The columns used as variables.
    response : pandas.Series
        With the response's name.
    """

    frame: pd.DataFrame
    variables: pd.DataFrame
    response: pd.Series[Any]


class Reader(ABC):
    """How data in the user's form are read; the same for the data at hand and for fresh draws."""

    @abstractmethod
    def read(self, data: Any) -> Source:
        """Pick variables and response."""

    @abstractmethod
    def design(self, variables: pd.DataFrame, *, intercept: bool) -> Design:
        """Return the design, its state learned from `variables`."""


class FormulaReader(Reader):
    """Reads data frames by a formula.

    Parameters
    ----------
    formula : str
        As in `Learner.from_formula`.
    data : pandas.DataFrame
        Data at hand, which say what `.` stands for.
    env : patsy.EvalEnvironment
        The caller's namespace.
    as_frame : bool
        Hand the variables over as a DataFrame instead of a matrix.
    """

    def __init__(
        self, formula: str, data: pd.DataFrame, env: patsy.EvalEnvironment, *, as_frame: bool
    ) -> None:
        columns = list(read_frame(data).columns)
        self._env, self._as_frame = env, as_frame
        self._parsed = parse(formula, columns, env.namespace)
        try:
            terms = patsy.ModelDesc.from_formula(self._parsed.terms).rhs_termlist
        except patsy.PatsyError as error:
            reason = str(error).splitlines()[0]
            raise FormulaError(f"Can't read the terms of {formula!r}: {reason}.") from error
        codes = {factor.code: names_in(factor.code, columns) for t in terms for factor in t.factors}
        used = {name for names in codes.values() for name in names}
        if column_named(self._parsed.response) in used:
            raise FormulaError(
                f"The response `{self._parsed.response}` can't be on the right side too: it would "
                f"predict itself; got {formula!r}."
            )
        self._variables = [c for c in columns if c in used]
        if not self._variables:
            raise FormulaError(
                f"The formula must have at least one variable on its right side; got {formula!r}."
            )
        if as_frame:
            mixed = next((t.name() for t in terms if len(t.factors) > 1), None)
            built = next((c for c in codes if column_named(c) is None), None)
            if mixed or built:
                raise FormulaError(
                    f'`design="frame"` hands variables over as they are, but `{built or mixed}` is '
                    'not a variable; use `design="matrix"`, or build it inside a pipeline.'
                )

    def read(self, data: Any) -> Source:
        """Evaluate the response and pick the variables."""
        if not isinstance(data, pd.DataFrame):
            raise DataError(f"`data` must be a pandas DataFrame, not {type(data).__name__}.")
        frame = read_frame(data)
        absent = [v for v in self._variables if v not in frame]
        if absent:
            raise DataError(f"Variable `{absent[0]}` of the formula is not in the data.")
        return Source(frame, frame[self._variables], self._response(frame))

    def design(self, variables: pd.DataFrame, *, intercept: bool) -> Design:
        """Return the formula's design matrix, or the variables as a frame."""
        if self._as_frame:
            return FrameDesign(list(variables.columns))
        return FormulaDesign(self._parsed.terms, variables, self._env, intercept=intercept)

    def _response(self, frame: pd.DataFrame) -> pd.Series[Any]:
        code = self._parsed.response
        env = self._env.with_outer_namespace(vars(patsy.builtins))
        names = {"Q": _Quote(frame), **{str(c): frame[c] for c in frame.columns}}
        try:
            with np.errstate(all="ignore"):  # infinite and missing values are reported as such
                value = env.eval(code, inner_namespace=names)
        except Exception as error:
            raise FormulaError(f"Can't evaluate the response `{code}`: {error}.") from error
        if type(value).__name__ == "_CategoricalBox":  # patsy's C(...)
            value = pd.Categorical(value.data, categories=value.levels)
        values = value if isinstance(value, pd.Series) else _series(value)
        if values is None or len(values) != len(frame):
            raise FormulaError(
                f"The response `{code}` must be one column with a value for each of the "
                f"{len(frame)} rows of the data; it has shape {np.shape(value)}."
            )
        self._check_defined(values.reset_index(drop=True), frame)
        return values.reset_index(drop=True).rename(column_named(code) or code)

    def _check_defined(self, values: pd.Series[Any], frame: pd.DataFrame) -> None:
        code = self._parsed.response
        used = list(names_in(code, [str(c) for c in frame.columns]))
        undefined = (values.isna() & ~frame[used].isna().any(axis=1)).to_numpy(dtype=bool)
        if undefined.any():
            raise DataError(
                f"The response `{code}` is not defined in {int(undefined.sum())} of {len(frame)} "
                f"rows (the first is row {int(np.flatnonzero(undefined)[0])}); change the "
                "transformation or drop those rows."
            )


class ArrayReader(Reader):
    """Reads ``(endog, exog)``.

    Parameters
    ----------
    as_frame : bool
        `exog` is a DataFrame, and handed over as one.
    """

    def __init__(self, *, as_frame: bool) -> None:
        self._as_frame = as_frame

    def read(self, data: Any) -> Source:
        """Return exog as variables, endog as response."""
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise DataError(
                f"Data must be a pair (endog, exog) of arrays, not {type(data).__name__}."
            )
        endog, exog = data
        variables = read_frame(exog, "exog")
        if isinstance(endog, pd.DataFrame):
            endog = endog.squeeze(axis=1)
        check_aligned(endog, exog, "endog", "exog")
        response = endog if isinstance(endog, pd.Series) else _series(endog)
        if response is None or len(response) != len(variables):
            raise DataError(
                "`endog` must be one column with one value per row of `exog`; it has shape "
                f"{np.shape(endog)} for {len(variables)} rows."
            )
        name = str(response.name) if response.name is not None else "y"
        return Source(variables, variables, response.reset_index(drop=True).rename(name))

    def design(self, variables: pd.DataFrame, *, intercept: bool) -> Design:
        """Return the variables as a frame or as an array."""
        names = list(variables.columns)
        if self._as_frame:
            return FrameDesign(names)
        for name, column in variables.items():
            if not pd.api.types.is_numeric_dtype(column):
                raise DataError(
                    f"An array given as `exog` must hold numbers, but `{name}` has dtype "
                    f"{column.dtype}; pass a DataFrame, or use Learner.from_formula."
                )
        return ArrayDesign(names)


class _Quote:
    """patsy's Q for the response: a column whose name is not a Python name."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __call__(self, name: str) -> pd.Series[Any]:
        return self._frame[name]


def _series(values: Any) -> pd.Series[Any] | None:
    """Return one column of values as a Series; None if it is not one column."""
    if isinstance(values, pd.Categorical):
        return pd.Series(values)
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    return pd.Series(array) if array.ndim == 1 else None
