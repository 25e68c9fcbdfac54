"""Options with one value per row are refused: resampling would not resample them alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import PredefinedSplit

from pyinterp.errors import OptionError

# Options of statsmodels, scikit-learn, XGBoost and LightGBM that hold one value per row.
PER_ROW = re.compile(
    "base_margin|dep_data|endog|entry|exog(_infl|_precision|_re|_smooth|_vc)?|exposure|groups|"
    "init_score|offset|sample_weight|sigma|status|strata|subset|time|(freq_|var_)?weights"
)
# Options whose values are candidates, or one per column, whatever their number.
OTHERS = re.compile(
    "Cs|alphas|class_weight|knots|param_distributions|param_grid|priors|quantiles|search_spaces|"
    "start_params"
)


def check_row_options(
    options: Mapping[str, Any], who: str, lengths: Collection[int] = (), *, columns: bool = False
) -> None:
    """Raise `OptionError` if some option has one value per row.

    Parameters
    ----------
    options : mapping
        Parameters of an estimator, or options of a model; mappings inside are looked into.
    who : str
        Name of the estimator in messages.
    lengths : collection of int
        Numbers of rows: an array of this length is taken to have one value per row, whatever the
        option is called.
    columns : bool
        Whether a text is the name of a column.
    """
    for name, value in _all(options):
        column = columns and PER_ROW.fullmatch(name) and isinstance(value, str)
        if column or is_per_row(name, value, lengths):
            raise OptionError(
                f"`{name}` of {who} has one value per row, which would not follow the rows into "
                "resamples: refits would pair it with others. Leave it out, or take it from "
                "columns of `X` in an estimator of your own; a Learner takes `weights`, `offset` "
                "and `exposure`, which follow the rows, but no groups of rows."
            )


def is_per_row(name: str, value: Any, lengths: Collection[int] = ()) -> bool:
    """Whether an option has one value per row, by its name or by its length."""
    if name == "cv":  # splits that are given, and folds, are positions of rows
        plan = value is None or isinstance(value, int) or hasattr(value, "split")
        return not plan or isinstance(value, PredefinedSplit)
    array = isinstance(value, np.ndarray | pd.Series | pd.DataFrame | pd.Index)
    if PER_ROW.fullmatch(name) and (array or isinstance(value, list | tuple)):
        return np.size(value) > 1
    return array and any(size in lengths for size in np.shape(value))


def _all(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield options by their last name, of mappings inside too."""
    for name, value in options.items():
        last = str(name).split("__")[-1]
        if OTHERS.fullmatch(last):
            continue
        if isinstance(value, Mapping):
            yield from _all(value)
        else:
            yield last, value
