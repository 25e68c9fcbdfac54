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
from pyinterp.models.predictor import learner_name

# Names that libraries, or people, give to columns of arrays: 0, x1, f2, Column_3.
NAME_WITH_NUMBER = re.compile(r"[A-Za-z]*_?(\d{1,6})")


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
        self._names: list[str] | None = None  # the model's, of columns of an array, which has none
        self._note = ""  # footnote and warning if names were left out of account
        others = {*data.besides, *besides} | ({endog} if endog is not None else set())
        self._columns, self._by_name = self._match(others, learner_name(fitted))

    def read(self, data: RowData) -> RowData:
        """Pick variables, in the order of the model and with its names, and response."""
        variables = data.frame[self._columns]
        if self._names is not None:
            variables = variables.set_axis(self._names, axis=1)
        return data.pick(variables, self._response(), note=self._note)

    def design(self, variables: pd.DataFrame) -> Design:
        """Return the encoding of the variables for the model: as frames or as arrays."""
        if self._takes_frames():
            pandas_only = is_statsmodels(self._fitted) and self._data.form.library is not None
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
        formula = formula_of(fitted)
        if formula is not None:
            # Its variables are the names in it that its training data, a frame or a mapping, had.
            trained = getattr(getattr(fitted.model, "data", None), "frame", None)
            candidates = every if trained is None else [str(column) for column in trained]
            variables = names_in(formula.partition("~")[2], candidates)
            return _select(list(variables), every, who), True
        names = training_names(fitted)
        # Arrays have no names, nor have frames with default numbers.
        labels = list(data.form.labels.values()) if data.is_frame else []
        named = data.is_frame and labels != list(range(len(every)))
        if getattr(fitted, "selects_columns", False) and named:
            return _select(names or [], every, who), True
        if names is not None and named:
            return _rename(fitted, names, every, who), True
        columns = [column for column in every if column not in others]
        _check_numbers(columns, data, who)
        expected = None if names is None else len(names)
        if names is None and is_statsmodels(fitted):
            exog = getattr(fitted.model, "exog", None)
            expected = None if exog is None else exog.shape[1]
        elif names is None:
            expected = getattr(fitted, "n_features_in_", None)
            if expected is None:
                expected = getattr(entrance(fitted), "n_features_in_", None)
        if expected is not None and expected != len(columns):
            which = f" ({list_of(names)})" if names else ""
            raise DataError(
                f"{who} was fitted on {expected} columns{which}, but `X` has {len(columns)}; pass "
                "the columns it was fitted on."
            )
        # Results of statsmodels without their data may know neither names nor their number.
        if not named or (expected is None and not is_statsmodels(fitted)):
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
        if is_statsmodels(fitted):
            return formula_of(fitted) is not None
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
        formula = formula_of(self._fitted)
        fitted_to = name if formula is None else formula.partition("~")[0].strip()
        if name and fitted_to != name and name in names_in(fitted_to, [name]):
            raise DataError(
                f"The model was fitted to `{fitted_to}`, not to `{name}`: pass the transformed "
                "response as an array, so that losses are on the scale of its predictions."
            )
        return native(values)


def is_statsmodels(fitted: Any) -> bool:
    """Whether `fitted` are results of a statsmodels model."""
    model = getattr(fitted, "model", None)
    of_package = type(model).__module__.partition(".")[0] == "statsmodels"
    return not isinstance(model, type) and (of_package or hasattr(model, "endog_names"))


def formula_of(fitted: Any) -> str | None:
    """Return the formula of statsmodels results; None of other models."""
    formula = getattr(getattr(fitted, "model", None), "formula", None)
    return formula if isinstance(formula, str) and "~" in formula else None


def training_names(fitted: Any) -> list[str] | None:
    """Return the names of the columns of the training rows; None if the model knows none."""
    if is_statsmodels(fitted):
        return _of_statsmodels(fitted.model)
    first = entrance(fitted)
    package = type(first).__module__.partition(".")[0]
    names = getattr(fitted, "feature_names_in_", None)
    if names is None:
        names = getattr(first, "feature_names_in_", None)
    if names is None and package == "catboost":
        names = getattr(first, "feature_names_", None)
    if names is None and package == "glum":
        names = _of_glum(first)
    if names is None:
        return None
    columns = [str(name) for name in names]
    # How these libraries number the columns of arrays.
    numbered = {"lightgbm": "Column_{}", "catboost": "{}", "glum": "_col_{}"}.get(package, "")
    return None if columns == [numbered.format(j) for j in range(len(columns))] else columns


def _of_statsmodels(model: Any) -> list[str] | None:
    """Return the column names of a model without a formula; None if they are the default ones."""
    # What was asked for once, statsmodels knows after `remove_data` too.
    names = [str(name) for name in getattr(model, "exog_names", None) or ()]
    exog = getattr(getattr(model, "data", None), "orig_exog", None)
    if isinstance(exog, pd.DataFrame):
        return [str(column) for column in exog.columns]
    # After `remove_data`, names other than the defaults of statsmodels come from a frame.
    default = all(re.fullmatch(r"const|x\d+", name) for name in names)
    return None if exog is not None or default else names


def _of_glum(model: Any) -> list[str] | None:
    """Return the variables of a model of glum, which predicts columns by position."""
    spec = getattr(model, "X_model_spec_", None)  # of its formula
    if spec is not None:
        return [str(name) for name in spec.required_variables]
    names = getattr(model, "term_names_", None)  # a level each
    return None if names is None else list(dict.fromkeys(names))


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
    """Return the columns in the order of the model's names, which LightGBM may have rewritten."""
    if set(names) <= set(columns) or not type(entrance(fitted)).__module__.startswith("lightgbm"):
        return _select(names, columns, who)
    owners: dict[str, list[str]] = {}
    for column in columns:
        owners.setdefault(column.replace(" ", "_"), []).append(column)
    for name in names:
        if len(owners.get(name, ())) > 1:
            raise DataError(
                f"`X` must have one column for each that {who} was fitted on, but "
                f"{list_of(owners[name])} are the same to it; it was fitted on {list_of(names)}."
            )
    return [owners[name][0] for name in _select(names, list(owners), who)]
