"""Options with one value per row are refused: resampling would not resample them alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
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
    for name, value in options.items():
        last = str(name).split("__")[-1]
        if OTHERS.fullmatch(last):
            continue
        if isinstance(value, Mapping):
            check_row_options(value, who, lengths, columns=columns)
            continue
        array = isinstance(value, np.ndarray | pd.Series | pd.DataFrame | pd.Index)
        per_row = array and not set(np.shape(value)).isdisjoint(lengths)
        if last == "cv":  # splits that are given, and folds, are positions of rows
            plan = value is None or isinstance(value, int) or hasattr(value, "split")
            per_row = not plan or isinstance(value, PredefinedSplit)
        elif PER_ROW.fullmatch(last) and (array or isinstance(value, list | tuple)):
            per_row = np.size(value) > 1
        elif PER_ROW.fullmatch(last) and isinstance(value, str):
            per_row = columns
        if per_row:
            raise OptionError(
                f"`{last}` of {who} has one value per row, which would not follow the rows into "
                "resamples: refits would pair it with others. Leave it out, or take it from "
                "columns of `X` in an estimator of your own; a Learner takes `weights`, `offset` "
                "and `exposure`, which follow the rows, but no groups of rows."
            )
