"""The user's rows: read once, with weights and offset, for learners and fitted models alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import BoolArray, Column, FloatArray, IntArray
from pyinterp.data.columns import is_exotic, read_variables
from pyinterp.data.design import ArrayDesign, FrameDesign
from pyinterp.data.form import Form, form_of
from pyinterp.data.frames import as_column, as_frame, column_of, is_frame
from pyinterp.data.missing import MissingValues
from pyinterp.data.queries import evaluate
from pyinterp.data.sample import Response, Sample, read_response
from pyinterp.data.weights import Beside, OffsetValues, Weights, read_offset, read_weights
from pyinterp.errors import DataError, OptionError, quote
from pyinterp.representation import about, frozen

Rows = str | npt.ArrayLike | None


@frozen
class RowData:
    """The user's rows, some repeated by frequency weights, and which of all N are analyzed.

    Attributes
    ----------
    frame : pandas.DataFrame, N rows
        All columns in the user's types, with a RangeIndex.
    endog : pandas.Series or None, N rows
        The response that was given with the frame, then as the reader has it, with its name.
    endog_name : str
        The user's name of the response; empty if it has none.
    is_frame : bool
        Whether the user's rows are a frame, not an array.
    form : Form
        How the user's frame is written.
    user_index : pandas.Index or None
        The user's names of the rows as given; None if they have none.
    complete : ndarray of bool, shape (N,)
        Which rows are analyzed.
    note : str
        Footnote: missing values behind rows that are left out, and those that are kept.
    gaps : int
        How many rows are left out for missing values.
    weights : Weights or None
    repeats : ndarray of int, shape (N,), or None
        Position in the user's data of every row, if weights repeat them.
    offset : OffsetValues or None
    what : str
        The name of the data in messages.
    variables : pandas.DataFrame, N rows
        Those that a reader has picked, in the order of the design, the offset last.
    needs : mapping of str to str
        Why a variable must have a value in every row, whatever the learner takes, by variable.
    """

    frame: pd.DataFrame
    endog: Column | None
    endog_name: str
    is_frame: bool
    form: Form
    user_index: pd.Index | None
    complete: BoolArray
    note: str = ""
    gaps: int = 0
    weights: Weights | None = None
    repeats: IntArray | None = None
    offset: OffsetValues | None = None
    what: str = "data"
    variables: pd.DataFrame = field(default_factory=pd.DataFrame)
    needs: Mapping[str, str] = field(default_factory=dict)

    @property
    def response(self) -> Column:
        """The response, which learners need."""
        if self.endog is None:
            raise DataError("A learner needs a response.")
        return self.endog

    def frame_design(self, variables: pd.DataFrame) -> FrameDesign:
        """Return the design that hands variables over in the form of the user's frame."""
        names = [str(name) for name in variables.columns]
        return FrameDesign(names, self.form.of_columns(self.frame, names))

    def array_design(self, variables: pd.DataFrame) -> ArrayDesign:
        """Return the design that hands variables over as an array of the type of the user's."""
        types = set(self.frame.dtypes)
        plain = next(iter(types))
        mixed = len(types) > 1 or not isinstance(plain, np.dtype) or is_exotic(plain)
        return ArrayDesign([str(name) for name in variables], np.float64 if mixed else plain)

    @property
    def besides(self) -> list[str]:
        """Columns of weights and an offset, which are no variables unless they are named."""
        parts = (self.weights, self.offset)
        return [part.column for part in parts if part is not None and part.column is not None]

    @cached_property
    def weighting(self) -> str:
        """Column and type of weights, and the size of the rows with them; empty without."""
        if self.weights is None:
            return ""
        return self.weights.in_words(np.flatnonzero(self.complete), self.repeats)

    def pick(
        self,
        variables: pd.DataFrame,
        endog: Column | None,
        needs: Mapping[str, str] | None = None,
        note: str = "",
    ) -> Self:
        """Return the same rows with the variables and the response that a reader has picked.

        The offset, if there is one, is the last variable, and the response is a column of the
        frame under its name.
        """
        if self.offset is not None:
            variables = self.offset.beside(variables, self.repeats)
        frame = self.frame
        if endog is not None and str(endog.name) not in frame:
            frame = frame.assign(**{str(endog.name): endog})
        return replace(
            self, frame=frame, variables=variables, endog=endog, needs=needs or {}, note=note
        )

    def column(self, by: str | npt.ArrayLike, what: str) -> Column:
        """Return a column by its name, or an array, for all N rows.

        Raises
        ------
        OptionError
            If there is no such column.
        DataError
            If an analyzed row has no value, or there is not one value per row.
        """
        column = self.values(by, what)
        absent = int(column[self.complete].isna().sum())
        if absent:
            raise DataError(f"`{what}` must have no missing values; {absent} rows have.")
        return column

    def values(self, by: str | npt.ArrayLike, what: str) -> Column:
        """Return a column by its name, or an array, for all N rows; values may be missing."""
        if isinstance(by, str):
            return column_of(by, self.frame, what, data=self.what)
        rows = len(self.frame) if self.weights is None else len(self.weights.values)
        column = as_column(by, rows, what, self.what, self.user_index)
        return column if self.repeats is None else column.take(self.repeats).reset_index(drop=True)

    def mask(self, rows: Rows, argument: str = "rows") -> BoolArray:
        """Return which of all N rows a mask, or a query of columns, names; None names all.

        Raises
        ------
        OptionError
            If a query can't be read, or `rows` are neither a query nor booleans.
        DataError
            If there is not one value per row, or it is missing.
        """
        if rows is None:
            return np.ones(len(self.frame), bool)
        if isinstance(rows, str):
            return _booleans(evaluate(rows, self.frame, argument), argument)
        return _booleans(self.values(rows, argument), argument)

    def choose(
        self,
        missing: MissingValues,
        subset: BoolArray | None = None,
        others: tuple[Column, ...] = (),
    ) -> Self:
        """Return the same rows with the analyzed ones of `subset`: complete, of positive weight.

        Parameters
        ----------
        missing : MissingValues
            What happens to rows with missing values.
        subset : ndarray of bool, shape (N,), optional
        others : tuple of Series, N rows
            Columns other than variables and response that must have a value in every row.
        """
        part = np.ones(len(self.frame), bool) if subset is None else subset
        if self.weights is not None and self.repeats is None:
            part = part & (self.weights.values > 0)  # noqa: PD011 - no frame
        must = [column[part] for column in (self.endog, *others) if column is not None]
        needs = dict(self.needs)
        if self.offset is not None:
            needs[self.offset.name] = "an offset is a known part of every prediction"
        mask, note = missing.rows(self.variables[part], must, needs)
        complete = np.zeros(len(part), bool)
        complete[part] = mask
        note = " ".join(filter(None, (note, self.note)))
        return replace(self, complete=complete, note=note, gaps=int((~mask).sum()))

    def analyze(
        self, missing: MissingValues, subset: Rows = None, *, classifier: bool
    ) -> tuple[Self, Sample]:
        """Return rows that say which of them a learner analyzes, and these.

        Parameters
        ----------
        missing : MissingValues
            What happens to rows with missing values.
        subset : str or array of bool, optional
            Rows to analyze.
        classifier : bool
            Whether the learner predicts classes.
        """
        part = self.mask(subset, "subset")
        if not part.any():
            which = quote(subset) if isinstance(subset, str) else "the mask"
            raise DataError(f"`subset` must keep some of the rows, but {which} keeps none.")
        data = self.choose(missing, part)
        y, response = read_response(
            data.response[data.complete],
            str(data.response.name),
            classifier=classifier,
            learner=missing.learner,
        )
        return data, data.sample(y, response)

    def sample(self, y: FloatArray | None, response: Response | None) -> Sample:
        """Return the analyzed rows, for which `y` is the response as numbers."""
        rows, index = np.flatnonzero(self.complete), self.user_index
        if index is not None and self.repeats is not None:
            index = index.take(self.repeats)
        return Sample(
            variables=read_variables(self.variables[self.complete]).reset_index(drop=True),
            y=y,
            response=response,
            rows=rows,
            index=None if index is None else index[self.complete],
            weights=None if self.weights is None else self.weights.of_rows(rows),
        )

    __repr__ = about


def read_rows(
    data: object,
    endog: object = None,
    *,
    what: str = "data",
    beside: Beside = (None, None, None, None),
    endog_name: str = "endog",
    of_formula: bool = False,
) -> RowData:
    """Read the user's rows with their weights and offset.

    Parameters
    ----------
    data : frame or array
        Of any library; see `as_frame`.
    endog : array of shape (n,), optional
        The response, if it is no column of `data`.
    what, endog_name : str
        Their names for the caller.
    beside : tuple
        Weights and their type, the offset and the exposure, as in `Learner`.
    of_formula : bool
        Whether they must be a frame, for a formula.
    """
    columns = is_frame(data)
    if of_formula and not columns:
        raise DataError(
            f"`data` must be a data frame, not {type(data).__name__}; for arrays use "
            "Learner(endog, exog, estimator)."
        )
    frame, index = as_frame(data, what), None
    for each in (endog, data):  # the user's names of the rows
        if isinstance(each, pd.DataFrame | pd.Series):
            index = each.index

    def column(values: Any, argument: str) -> Column:
        return column_of(values, frame, argument, rows=index, data=what)

    response, name = None, ""
    if endog is not None:
        response, name = as_column(endog, len(frame), endog_name, what, index), _name_of(endog)
        response = response.rename(name or "y")
    weights, offset = read_weights(*beside[:2], column), read_offset(*beside[2:], column)
    form = form_of(data, frame)
    repeats = None if weights is None else weights.repeats()
    if repeats is not None:
        frame = frame.take(repeats).reset_index(drop=True)
        response = None if response is None else response.take(repeats).reset_index(drop=True)
    return RowData(
        frame=frame,
        endog=response,
        endog_name=name,
        is_frame=columns,
        form=form,
        user_index=index,
        complete=np.ones(len(frame), bool),
        weights=weights,
        repeats=repeats,
        offset=offset,
        what=what,
    )


def _name_of(endog: Any) -> str:
    """Return the name of a Series, or of a frame's only column."""
    if isinstance(endog, pd.DataFrame):
        return str(endog.columns[0])
    name = getattr(endog, "name", None)
    return "" if name is None else str(name)


def _booleans(values: Any, argument: str) -> BoolArray:
    """Return values as booleans, if they are; missing ones are not."""
    column = pd.Series(values).infer_objects()
    if column.isna().any():
        raise DataError(
            f"`{argument}` must be True or False in every row, but it is missing in "
            f"{int(column.isna().sum())} rows."
        )
    if not pd.api.types.is_bool_dtype(column):
        raise OptionError(
            f'`{argument}` must be a boolean per row, or a query such as "age > 50", not values '
            f"such as {quote(column.iloc[0])}; positions become a mask by "
            "`np.isin(np.arange(n), positions)`."
        )
    return column.to_numpy(bool)
