"""Which columns a fitted model was trained on, and how the columns of new rows are matched to them.

Names decide wherever the model knows names, whatever kind of model it is; positions count only
where it knows none.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pyinterp.data.formula import names_in
from pyinterp.data.row_data import RowData
from pyinterp.errors import DataError, NamesWarning, level_of_caller, list_of
from pyinterp.models.final_step import entrance

__all__ = ["Match", "formula_of", "is_statsmodels", "match", "select"]

# Names that libraries, or people, give to columns of arrays: 0, x1, f2, Column_3.
NAME_WITH_NUMBER = re.compile(r"[A-Za-z]*_?(\d{1,6})")


@dataclass(frozen=True)
class Match:
    """Columns of new rows in the order of a model.

    Attributes
    ----------
    columns : list of str
    by_name : bool
        Whether they were matched by name.
    names : list of str or None
        The model's names of columns of an array, which has none.
    note : str
        Footnote and warning if names were left out of account; empty if not.
    """

    columns: list[str]
    by_name: bool
    names: list[str] | None = None
    note: str = ""


def match(fitted: Any, data: RowData, others: Collection[str], who: str) -> Match:
    """Match the columns of new rows to those that a model was trained on.

    Parameters
    ----------
    fitted : object
        A fitted estimator, statsmodels results, or a function.
    data : RowData
        The user's rows.
    others : collection of str
        Columns that are no variables, unless the model knows them by name.
    who : str
        Name of the model in messages.

    Raises
    ------
    DataError
        If a name is missing or ambiguous, the number of columns differs, or they are seen to be in
        another order than in training.

    Warns
    -----
    NamesWarning
        If the model knows no names, but the columns have some.
    """
    every = [str(column) for column in data.frame]
    formula = formula_of(fitted)
    if formula is not None:
        return Match(_select(_variables(fitted, formula, every), every, who), by_name=True)
    names, named = _training_names(fitted), _has_names(data)
    if getattr(fitted, "selects_columns", False) and named:
        return Match(_select(names or [], every, who), by_name=True)
    if names is not None and named:
        return Match(_rename(names, every, _rewriting(fitted), who), by_name=True)
    columns = [column for column in every if column not in others]
    _check_numbers(columns, data, who)
    expected = len(names) if names is not None else _count(fitted)
    if expected is not None and expected != len(columns):
        which = f" ({list_of(names)})" if names else ""
        raise DataError(
            f"{who} was fitted on {expected} columns{which}, but `X` has {len(columns)}; pass "
            "the columns it was fitted on."
        )
    # Results of statsmodels without their data may know neither names nor their number.
    if not named or (expected is None and not is_statsmodels(fitted)):
        return Match(columns, by_name=False, names=names)
    note = (
        f"{who} was trained without names of columns: the columns of `X` were matched by position."
    )
    warnings.warn(
        f"{note} Pass them in the order of training, or train the model on a data frame.",
        NamesWarning,
        stacklevel=level_of_caller(),
    )
    return Match(columns, by_name=False, note=note)


def select(fitted: Any, X: Any) -> Any:
    """Return rows with the model's columns alone, if it has their names and all are there.

    For functions that, like those of R, are given whole data frames.
    """
    names = _training_names(fitted)
    if names is None or not isinstance(X, pd.DataFrame):
        return X
    mask = [str(column) in names for column in X.columns]
    return X.loc[:, mask] if sum(mask) == len(names) else X


def is_statsmodels(fitted: Any) -> bool:
    """Whether `fitted` are results of a statsmodels model."""
    model = getattr(fitted, "model", None)
    of_package = type(model).__module__.partition(".")[0] == "statsmodels"
    return not isinstance(model, type) and (of_package or hasattr(model, "endog_names"))


def formula_of(fitted: Any) -> str | None:
    """Return the formula of statsmodels results; None of other models."""
    formula = getattr(getattr(fitted, "model", None), "formula", None)
    return formula if isinstance(formula, str) and "~" in formula else None


def _variables(fitted: Any, formula: str, columns: Sequence[str]) -> list[str]:
    """Return the variables of a formula: the names in it that its training data had."""
    trained = getattr(getattr(fitted.model, "data", None), "frame", None)
    candidates = columns if trained is None else [str(c) for c in trained]  # a frame or a mapping
    return list(names_in(formula.partition("~")[2], candidates))


def _training_names(fitted: Any) -> list[str] | None:
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
    exog = getattr(getattr(model, "data", None), "orig_exog", None)
    if isinstance(exog, pd.DataFrame):
        return [str(column) for column in exog.columns]
    names = [str(name) for name in getattr(model, "exog_names", None) or ()]
    # After `remove_data`, names other than the defaults of statsmodels are those of a frame.
    default = all(re.fullmatch(r"const|x\d+", name) for name in names)
    return None if exog is not None or default else names


def _of_glum(model: Any) -> list[str] | None:
    """Return the variables of a model of glum, which predicts columns by position."""
    spec = getattr(model, "X_model_spec_", None)  # of its formula
    if spec is not None:
        return [str(name) for name in spec.required_variables]
    names = getattr(model, "term_names_", None)  # a level each
    return None if names is None else list(dict.fromkeys(names))


def _count(fitted: Any) -> int | None:
    """Return the number of columns of the training rows; None if the model does not say."""
    if is_statsmodels(fitted):
        exog = getattr(fitted.model, "exog", None)
        return None if exog is None else int(exog.shape[1])
    count = getattr(fitted, "n_features_in_", None)
    if count is None:
        count = getattr(entrance(fitted), "n_features_in_", None)
    return None if count is None else int(count)


def _has_names(data: RowData) -> bool:
    """Whether rows have column names: arrays have none, nor have frames with default numbers."""
    if not data.is_frame:
        return False
    return list(data.form.labels.values()) != list(range(data.frame.shape[1]))


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


def _rewriting(fitted: Any) -> Callable[[str], str]:
    """Return how a library rewrites the names of columns before it keeps them."""
    if type(entrance(fitted)).__module__.startswith("lightgbm"):
        return lambda name: name.replace(" ", "_")
    return lambda name: name


def _select(names: Sequence[str], columns: Sequence[str], who: str) -> list[str]:
    """Return `names`, all of which must be among the columns; other columns may be there too."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise DataError(
            f"`X` must have the variables of {who}, {list_of(names)}, but lacks "
            f"{list_of(missing)}; it has {list_of(columns)}."
        )
    return list(names)


def _rename(
    names: Sequence[str], columns: Sequence[str], rewrite: Callable[[str], str], who: str
) -> list[str]:
    """Return the columns in the order of the model's names, which may be rewritten ones."""
    if set(names) <= set(columns):
        return list(names)
    owners: dict[str, list[str]] = {}
    for column in columns:
        owners.setdefault(rewrite(column), []).append(column)
    ambiguous = next((owners[n] for n in names if len(owners.get(n, ())) > 1), None)
    if ambiguous:
        raise DataError(
            f"`X` must have one column for each that {who} was fitted on, but {list_of(ambiguous)} "
            f"are the same to it; it was fitted on {list_of(names)}."
        )
    if missing := [name for name in names if name not in owners]:
        raise DataError(
            f"`X` must have the columns that {who} was fitted on ({list_of(names)}), but lacks "
            f"{list_of(missing)}; it has {list_of(columns)}."
        )
    return [owners[name][0] for name in names]
