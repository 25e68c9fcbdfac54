"""Requirements of estimators, by their own tags and attributes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from pyinterp.data.design import Design
from pyinterp.models.copies import fresh
from pyinterp.models.final_step import innermost
from pyinterp.models.libraries import library_of

# Parameters of estimators that may hold positions of columns.
_BY_COLUMN = re.compile(
    r"(cat|categorical|embedding|text)_features|feature_weights|interaction_(constraints|cst)|"
    r"monotone_constraints|monotonic_cst"
)

# Modules of learners that treat the levels of a category alike if each has a column.
_BY_LEVEL = re.compile(
    r"(sklearn\.(ensemble|gaussian_process|kernel_ridge|neighbors|neural_network|svm|tree)|"
    r"catboost|lightgbm|skorch|torch|xgboost)\b"
)

# How many variables a branch of trees may use, by scikit-learn's words.
SIZES = {"no_interactions": 1, "pairwise": 2}


def needs_intercept(estimator: Any) -> bool:
    """Whether the estimator wants the intercept column because it fits no intercept."""
    final = innermost(estimator)
    return bool(getattr(final, "needs_intercept", False) or not getattr(final, "fit_intercept", 1))


def says(estimator: Any, flag: str) -> bool:
    """Whether the estimator sets a flag.

    `fit_intercept`: it fits an intercept. `wants_frames`: it encodes categories itself, and so
    wants data frames. `one_thread`: it can predict in one thread only.
    """
    return bool(getattr(innermost(estimator), flag, False))


def wants_every_level(estimator: Any) -> bool:
    """Whether categories have a column for every level: unless it is linear, or not known."""
    kinds = type(innermost(estimator)).__mro__
    return any(_BY_LEVEL.match(kind.__module__) for kind in kinds)


def wants_codes(estimator: Any) -> bool:
    """Whether a classifier must be given class positions 0, 1, ... instead of labels."""
    return library_of(innermost(estimator)).wants_codes


def suit(estimator: Any, response: pd.Series[Any]) -> Any:
    """Return ``estimator.for_response(response)``, or the estimator if it has no such method."""
    suit = getattr(estimator, "for_response", None)
    return estimator if suit is None else suit(response)


def column_positions(estimator: Any) -> str:
    """Return the parameter by which an estimator refers to columns by position; empty if none."""
    for name, value in estimator.get_params(deep=True).items():
        last = name.split("__")[-1]
        if last == "transformers":  # of a ColumnTransformer: (name, transformer, columns)
            parts = [part for part in value or () if isinstance(part, tuple) and len(part) == 3]
            by_position = any(_holds_numbers(columns) for _, _, columns in parts)
        else:
            as_text = isinstance(value, str) and value[:1] in ("(", "[")  # such as "(1, -1)"
            by_position = bool(_BY_COLUMN.fullmatch(last)) and (as_text or _holds_numbers(value))
        if by_position:
            return str(name)
    return ""


def by_variable(estimator: Any, design: Design) -> Any:
    """Return an estimator whose constraint of interactions in words is of variables, not columns.

    Levels of a factor are columns of one variable, which trees may use together.
    """
    most = SIZES.get(str(getattr(estimator, "interaction_cst", None)))
    if most is None or len(design.columns) == len(design.variables):
        return estimator
    columns = [set(design.driven([name]).tolist()) for name in design.variables]
    sets = [set.union(*some) for some in combinations(columns, min(most, len(columns)))]
    return fresh(estimator).set_params(interaction_cst=sets)


def without_columns(estimator: Any, columns: Collection[str], kept: Collection[str]) -> Any:
    """Return a copy of an estimator whose parameters name no columns but those that are kept.

    These are parameters by name of column, the columns of a ColumnTransformer, and a formula.
    """
    changed, reduced, left_out = dict[str, Any](), fresh(estimator), {*columns} - {*kept}
    final = innermost(reduced)
    if hasattr(final, "leave_out_of_formula"):
        final.leave_out_of_formula(left_out, kept)
    for name, value in reduced.get_params(deep=True).items():
        last = name.split("__")[-1]
        if last == "transformers":
            changed[name] = [(*part[:2], _rest(part[2], left_out)) for part in value]
        elif _BY_COLUMN.fullmatch(last) and (rest := _rest(value, left_out)) is not value:
            changed[name] = rest
    reduced.set_params(**changed)
    return reduced


def _rest(names: Any, left_out: Collection[str]) -> Any:
    """Return names, or a mapping from names, without some of them."""
    every = [names] if isinstance(names, str) else names
    every = list(every) if isinstance(every, pd.Index | np.ndarray) else every
    if not isinstance(every, Mapping | list | tuple):
        return names
    kept = [name for name in every if not (isinstance(name, str) and name in left_out)]
    if len(kept) == len(every):
        return names
    return {name: every[name] for name in kept} if isinstance(every, Mapping) else type(every)(kept)


def _holds_numbers(value: Any) -> bool:
    """Whether columns are chosen by numbers or a mask; a mapping has names as keys."""
    if isinstance(value, slice):
        return _holds_numbers((value.start, value.stop))
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return any(_holds_numbers(part) for part in value)
    return isinstance(value, int | np.number | np.bool_)
