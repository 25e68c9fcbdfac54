"""Which columns a fitted model was trained on, and how the columns of new rows are matched to them.

Names decide wherever the model knows names, whatever kind of model it is; positions count only
where it knows none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from pyinterp.data.formula import names_in
from pyinterp.errors import DataError, list_of
from pyinterp.models.final_step import innermost

__all__ = ["formula_of", "is_statsmodels", "match", "select", "uses"]


def match(fitted: Any, X: object, frame: pd.DataFrame, who: str) -> tuple[list[str], bool]:
    """Match the columns of new rows to those that a model was trained on.

    Parameters
    ----------
    fitted : object
        A fitted estimator, statsmodels results, or a function.
    X : object
        The user's rows.
    frame : pandas.DataFrame
        The same rows.
    who : str
        Name of the model in messages.

    Returns
    -------
    columns : list of str
        Columns of `frame` in the order of the model.
    named : bool
        Whether they were matched by name.

    Raises
    ------
    DataError
        If a name is missing, unexpected or ambiguous, or the number of columns differs.
    """
    columns = list(frame.columns)
    formula = formula_of(fitted)
    if formula is not None:
        return _select(_variables(fitted, formula, columns), columns, who), True
    names = _training_names(fitted)
    if getattr(fitted, "selects_columns", False) and _has_names(X):
        return _select(names or [], columns, who), True
    if names is not None and _has_names(X):
        return _rename(names, columns, _rewriting(fitted), who), True
    _check_numbers(X, who)
    expected = len(names) if names is not None else _count(fitted)
    if expected is not None and expected != len(columns):
        which = f" ({list_of(names)})" if names else ""
        raise DataError(
            f"{who} was fitted on {expected} columns{which}, but `X` has {len(columns)}; pass "
            "the columns it was fitted on."
        )
    return columns, False


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


def uses(fitted: Any, column: str) -> bool:
    """Whether a model is known to have been trained on a column of this name."""
    formula = formula_of(fitted)
    names = names_in(formula.partition("~")[2], [column]) if formula else _training_names(fitted)
    return column in (names or ())


def _variables(fitted: Any, formula: str, columns: Sequence[str]) -> list[str]:
    """Return the variables of a formula: the names in it that its training data had."""
    trained = getattr(getattr(fitted.model, "data", None), "frame", None)
    candidates = columns if trained is None else [str(c) for c in trained]  # a frame or a mapping
    return list(names_in(formula.partition("~")[2], candidates))


def _training_names(fitted: Any) -> list[str] | None:
    """Return the names of the columns of the training rows; None if the model knows none."""
    if is_statsmodels(fitted):
        return _of_statsmodels(fitted.model)
    package = type(innermost(fitted)).__module__.partition(".")[0]
    names = getattr(fitted, "feature_names_in_", None)
    if names is None and package == "catboost":
        names = getattr(fitted, "feature_names_", None)
    if names is None and package == "lightgbm" and callable(getattr(fitted, "feature_name", None)):
        names = fitted.feature_name()
    if names is None:
        return None
    columns = [str(name) for name in names]
    # How these libraries number the columns of arrays.
    numbered = {"lightgbm": "Column_{}", "catboost": "{}"}.get(package, "")
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


def _count(fitted: Any) -> int | None:
    """Return the number of columns of the training rows; None if the model does not say."""
    if is_statsmodels(fitted):
        exog = getattr(fitted.model, "exog", None)
        return None if exog is None else int(exog.shape[1])
    count = getattr(fitted, "n_features_in_", None)
    return None if count is None else int(count)


def _has_names(X: object) -> bool:
    """Whether rows have column names: arrays have none, nor have frames with default numbers."""
    if not isinstance(X, pd.DataFrame):
        return False
    return not X.columns.equals(pd.RangeIndex(X.shape[1]))


def _check_numbers(X: object, who: str) -> None:
    """Raise if columns are numbered, but out of order: the model has no names to match them."""
    if isinstance(X, pd.DataFrame) and pd.api.types.is_integer_dtype(X.columns):
        numbers: list[Any] = X.columns.tolist()
        if numbers != sorted(numbers) and sorted(numbers) == list(range(len(numbers))):
            raise DataError(
                f"Columns of `X` have the numbers {list_of(numbers)}, but {who} knows no names to "
                "match them by; put them in the order of its training data, and name them."
            )


def _rewriting(fitted: Any) -> Callable[[str], str]:
    """Return how a library rewrites the names of columns before it keeps them."""
    if type(innermost(fitted)).__module__.startswith("lightgbm"):
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
    if set(names) == set(columns):
        return list(names)
    owners: dict[str, list[str]] = {}
    for column in columns:
        owners.setdefault(rewrite(column), []).append(column)
    ambiguous = next((same for same in owners.values() if len(same) > 1), None)
    if ambiguous:
        raise DataError(
            f"`X` must have one column for each that {who} was fitted on, but {list_of(ambiguous)} "
            f"are the same to it; it was fitted on {list_of(names)}."
        )
    if set(names) != set(owners):
        missing = [name for name in names if name not in owners]
        unexpected = [same[0] for name, same in owners.items() if name not in names]
        parts = (("missing", missing), ("unexpected", unexpected))
        wrong = "; ".join(f"{what}: {list_of(those)}" for what, those in parts if those)
        raise DataError(
            f"`X` must have the columns that {who} was fitted on ({list_of(names)}), and no "
            f"others. It has {list_of(columns)} ({wrong})."
        )
    return [owners[name][0] for name in names]
