"""Evaluation rows of a model that was fitted elsewhere: its columns, matched by name or position.

Names decide wherever the model knows names, whatever kind of model it is; positions count only
where it knows none.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from pyinterp.data.columns import native
from pyinterp.data.design import Design, FrameDesign
from pyinterp.data.formula import names_in
from pyinterp.data.frames import column_of
from pyinterp.data.row_data import RowData
from pyinterp.errors import DataError, NamesWarning, level_of_caller, list_of
from pyinterp.models.final_step import entrance
from pyinterp.models.libraries import library_of
from pyinterp.models.predictor import learner_name

# Names that libraries, or people, give to columns of arrays: 0, x1, f2, Column_3.
NAME_WITH_NUMBER = re.compile(r"[A-Za-z]*_?(\d{1,6})")


class ModelReader:
    """Picks the columns that a fitted model was trained on, and the response.

    Parameters
    ----------
    fitted : object
        A fitted estimator, results, or a function.
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
        self._library = library_of(fitted)
        self._formula = self._library.formula(fitted)
        self._names: list[str] | None = None  # the model's, of columns of an array, which has none
        self._note = ""  # footnote and warning if names were left out of account
        others = {*data.besides, *besides} | ({endog} if endog is not None else set())
        self._columns, self._by_name = self._match(others, learner_name(fitted))

    def read(self, data: RowData) -> RowData:
        """Pick variables, in the order of the model and with its names, and response."""
        places = [*map([*data.frame].index, self._columns)]
        variables = data.frame.take(places, axis=1)  # by names it takes five times as long
        if self._names is not None:
            variables = variables.set_axis(self._names, axis=1)
        return data.pick(variables, self._response(), note=self._note)

    def design(self, variables: pd.DataFrame) -> Design:
        """Return the encoding of the variables for the model: as frames or as arrays."""
        if self._takes_frames():
            pandas_only = self._library.results and self._data.form.library is not None
            if self._data.is_frame and not pandas_only:
                return self._data.frame_design(variables)
            return FrameDesign(list(variables.columns))
        return self._data.array_design(variables)

    def _match(self, others: Collection[str], who: str) -> tuple[list[str], bool]:
        """Return the columns of new rows in the order of the model, and whether names matched them.

        `others` are columns that are no variables, unless the model knows them by name.

        Raises
        ------
        DataError
            If a name is missing or ambiguous, the number of columns differs, or they are seen to be
            in another order than in training.

        Warns
        -----
        NamesWarning
            If the model knows no names, but the columns have some.
        """
        fitted, data = self._fitted, self._data
        every = [str(column) for column in data.frame]
        if self._formula is not None:
            # Its variables are the names in it that its training data, a frame or a mapping, had.
            trained = getattr(getattr(fitted.model, "data", None), "frame", None)
            candidates = every if trained is None else [str(column) for column in trained]
            variables = names_in(self._formula.partition("~")[2], candidates)
            return _select(list(variables), every, who), True
        names = training_names(fitted) or _names_inside(fitted, every)
        # Arrays have no names, nor have frames with default numbers.
        labels = list(data.form.labels.values()) if data.is_frame else []
        named = data.is_frame and labels != list(range(len(every)))
        if getattr(fitted, "selects_columns", False) and named:
            return _select(names or [], every, who), True
        if names is not None and named:
            return _rename(fitted, names, every, who), True
        columns = [column for column in every if column not in others]
        _check_numbers(columns, data, who)
        own = getattr(entrance(fitted), "n_features_in_", None)
        expected = getattr(fitted, "n_features_in_", own)
        if names is not None:
            expected = len(names)
        elif self._library.results:
            expected = self._library.number(fitted)
        if expected is not None and expected != len(columns):
            which = f" ({list_of(names)})" if names else ""
            raise DataError(
                f"{who} was fitted on {expected} columns{which}, but `X` has {len(columns)}; pass "
                "the columns it was fitted on."
            )
        # Results without their data may know neither names nor their number.
        if not named or (expected is None and not self._library.results):
            self._names = names
            return columns, False
        self._note = (
            f"{who} was trained without names of columns: the columns of `X` were matched by "
            "position."
        )
        warnings.warn(
            f"{self._note} Pass them in the order of training, or train the model on a data frame.",
            NamesWarning,
            stacklevel=level_of_caller(),
        )
        return columns, False

    def _takes_frames(self) -> bool:
        """Whether the model predicts frames: as in its training, or like the user's rows."""
        fitted, data = self._fitted, self._data
        if self._library.results:
            return self._formula is not None
        if self._by_name or getattr(fitted, "feature_names_in_", None) is not None:
            return True
        if self._note:  # trained on an array
            columns = data.frame[self._columns]
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
        fitted_to = getattr(self._fitted, "transformed_", {}).get(name, name)  # by R
        if self._formula is not None:
            fitted_to = self._formula.partition("~")[0].strip()
        if name and fitted_to != name and name in names_in(fitted_to, [name]):
            raise DataError(
                f"The model was fitted to `{fitted_to}`, not to `{name}`: pass the transformed "
                "response as an array, so that losses are on the scale of its predictions."
            )
        return native(values)


def training_names(fitted: Any) -> list[str] | None:
    """Return the names of the columns of the training rows; None if the model knows none."""
    library = library_of(fitted)
    if library.results:
        return library.names(fitted)
    first = entrance(fitted)
    library = library_of(first)
    own = getattr(first, "feature_names_in_", library.names(first))
    names = getattr(fitted, "feature_names_in_", own)
    if names is None:
        return None
    columns = [str(name) for name in names]
    numbered = [library.default_name.format(j) for j in range(len(columns))]
    return None if columns == numbered else columns


def _names_inside(fitted: Any, columns: Sequence[str]) -> list[str] | None:
    """Return the names of columns that a model inside a user's own was trained on, if no others."""
    for model in getattr(fitted, "__dict__", {}).values():
        names = training_names(model) if hasattr(model, "predict") else None
        if sorted(names or ()) == sorted(columns):
            return names
    return None


def _check_numbers(columns: Sequence[str], data: RowData, who: str) -> None:
    """Raise if columns are numbered, but out of order: the model has no names to match them."""
    numbers = [
        int(name[1]) for name in map(NAME_WITH_NUMBER.fullmatch, columns) if name is not None
    ]
    if not data.is_frame or len(numbers) < len(columns) or len(numbers) < 2:
        return
    start = min(numbers)
    if numbers != sorted(numbers) and sorted(numbers) == list(range(start, start + len(numbers))):
        raise DataError(
            f"Columns of `X` have the numbers {list_of(numbers)}, but {who} knows no names to "
            "match them by; put them in the order of its training data, and name them."
        )


def _select(names: Sequence[str], columns: Sequence[str], who: str) -> list[str]:
    """Return `names`, all of which must be among the columns; other columns may be there too."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise DataError(
            f"`X` must have the columns that {who} was fitted on ({list_of(names)}), but lacks "
            f"{list_of(missing)}; it has {list_of(columns)}."
        )
    return list(names)


def _rename(fitted: Any, names: Sequence[str], columns: Sequence[str], who: str) -> list[str]:
    """Return the columns in the order of the model's names; its library may have rewritten them."""
    if set(names) <= set(columns):
        return _select(names, columns, who)
    spelling = library_of(entrance(fitted)).spelling
    owners: dict[str, list[str]] = {}
    for column in columns:
        owners.setdefault(spelling(column), []).append(column)
    for name in names:
        if len(owners.get(name, ())) > 1:
            raise DataError(
                f"`X` must have one column for each that {who} was fitted on, but "
                f"{list_of(owners[name])} are the same to it; it was fitted on {list_of(names)}."
            )
    return [owners[name][0] for name in _select(names, list(owners), who)]
