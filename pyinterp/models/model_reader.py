"""Reads evaluation rows for a model that was fitted elsewhere."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from pyinterp.data.columns import native
from pyinterp.data.design import Design, FrameDesign
from pyinterp.data.formula import names_in
from pyinterp.data.frames import column_of
from pyinterp.data.row_data import RowData
from pyinterp.errors import DataError
from pyinterp.models.column_names import Match, formula_of, is_statsmodels, match
from pyinterp.models.predictor import learner_name

__all__ = ["ModelReader"]


class ModelReader:
    """Picks the columns that a fitted model was trained on, and the response.

    Parameters
    ----------
    fitted : object
        A fitted estimator, results of statsmodels, or a function.
    data : RowData
        Evaluation rows.
    endog : str or None
        The column that is the response, if it is one.
    besides : collection of str
        Columns that are no variables, unless the model knows them by name.
    """

    def __init__(
        self, fitted: Any, data: RowData, endog: str | None, besides: Collection[str]
    ) -> None:
        self._fitted, self._data, self._endog = fitted, data, endog
        others = {*data.besides, *besides} | ({endog} if endog is not None else set())
        self._match: Match = match(fitted, data, others, learner_name(fitted))

    def read(self, data: RowData) -> RowData:
        """Pick variables, in the order of the model and with its names, and response."""
        variables = data.frame[self._match.columns]
        if self._match.names is not None:
            variables = variables.set_axis(self._match.names, axis=1)
        return data.pick(variables, self._response(), note=self._match.note)

    def design(self, variables: pd.DataFrame) -> Design:
        """Return the encoding of the variables for the model: as frames or as arrays."""
        if self._takes_frames():
            pandas_only = is_statsmodels(self._fitted) and self._data.form.library is not None
            if self._data.is_frame and not pandas_only:
                return self._data.frame_design(variables)
            return FrameDesign(list(variables.columns))
        return self._data.array_design(variables)

    def _takes_frames(self) -> bool:
        """Whether the model predicts frames: as in its training, or like the user's rows."""
        fitted, data = self._fitted, self._data
        if is_statsmodels(fitted):
            return formula_of(fitted) is not None
        if self._match.by_name or getattr(fitted, "feature_names_in_", None) is not None:
            return True
        if self._match.note:  # trained on an array
            columns = data.frame[self._match.columns]
            return not all(pd.api.types.is_numeric_dtype(dtype) for dtype in columns.dtypes)
        return data.is_frame

    def _response(self) -> pd.Series[Any] | None:
        """Return the response, which must be the one that the model predicts."""
        data, name = self._data, self._endog
        if name is not None:
            values = column_of(name, data.frame, "y", data=data.what).rename(name)
        elif data.endog is not None:
            values, name = data.endog, data.endog_name
        else:
            return None
        formula = formula_of(self._fitted)
        fitted_to = name if formula is None else formula.partition("~")[0].strip()
        if name and fitted_to != name and name in names_in(fitted_to, [name]):
            raise DataError(
                f"The model was fitted to `{fitted_to}`, not to `{name}`: pass the transformed "
                "response as an array, so that losses are on the scale of its predictions."
            )
        return native(values)
