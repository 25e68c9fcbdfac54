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


def check_rows_alone(results: Any, X: Any) -> None:
    """Raise `OptionError` if `predict` of statsmodels results needs more than rows of `X`.

    Models with a smooth can also predict rows of its basis, whose columns have names.
    """
    model, needs = results.model, "exog_infl"
    if hasattr(model, "smoother"):
        needs = "exog_smooth"
        enough = set(model.exog_names) <= set(getattr(X, "columns", model.exog_names))
    else:
        enough = getattr(model, "_no_exog_infl", True)  # a constant needs no rows
    if not enough:
        raise OptionError(
            f"{type(model).__name__} predicts from `exog` and `{needs}`, but `X` is `exog` alone: "
            "pass a data frame with the variables of both, and instead of the results a function "
            f"of its rows, such as `lambda Z: results.predict(Z[['x']], {needs}=Z[['z']])`."
        )


def check_offset(results: Any, *, given: bool) -> None:
    """Raise `OptionError` if statsmodels results need an offset that is not there, or take none.

    Their ``predict`` takes an offset of 0 for new rows.
    """
    model = results.model
    needs = []
    for name in ("offset", "exposure"):
        # Without them statsmodels keeps None, or zeros; the flag stays when data are removed.
        flag = getattr(model, f"_{name}_name", None) or getattr(model, f"_has_{name}", False)
        values = getattr(model, name, None)
        if flag or (values is not None and np.any(np.asarray(values, dtype=np.float64))):
            needs.append(name)
    if needs and not given:
        raise OptionError(
            f"The model was fitted with an {needs[0]}, which its `predict` leaves out for new "
            "rows, so that every prediction would be wrong: pass that of the evaluation rows, a "
            "column or array, as `offset=` or `exposure=`."
        )
    if given and not needs:
        raise OptionError(
            "The model was fitted without an offset or exposure, which can't be added to its "
            "predictions; leave `offset` and `exposure` out."
        )


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
