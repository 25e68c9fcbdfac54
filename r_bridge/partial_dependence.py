"""R's ``pdp::partial`` on models of Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice
from pyinterp.data.features import names_of
from pyinterp.errors import DataError, OptionError, did_you_mean
from r_bridge.checks import check_whole
from r_bridge.conversion import RCode, frame_from_r
from r_bridge.handed import OF_PDP, ModelForR, Rows, hand_over
from r_bridge.packages import need
from r_bridge.session import SESSION

__all__ = ["PdpOptions", "RFunction", "in_r", "model_and_options", "partial", "variables_of"]

RFunction: TypeAlias = RCode | Callable[[FloatArray], Any]


class PdpOptions(TypedDict, total=False):
    """Options of ``pdp::partial``, R's dots as underscores; what is not given has R's default.

    Attributes
    ----------
    grid_resolution : int
        Number of equidistant grid points; by default min(number of unique values, 51).
    ice, center : bool
        ICE curves, centered at the first grid point.
    approx : bool
        Predict the median row instead of all rows.
    quantiles : bool
        Grid of quantiles at `probs`.
    probs : sequence of float
        By default 0.1, 0.2, ..., 0.9.
    trim_outliers : bool
        Leave the outliers of a boxplot out of the grid's range.
    type : {"auto", "regression", "classification"}
        "auto" is what the model does. "regression" of a classifier with two classes is the log-odds
        of the class of interest, a glm's linear predictor.
    inv_link : RCode or callable
        Applied to every prediction of a regression, before the mean.
    which_class : int
        The class of interest, counted from 1 in the order of the model's classes; of binomial
        models of statsmodels, as of R's ``glm``, 1 is the event.
    prob : bool
        Class probabilities instead of centered logits.
    pred_fun : RCode
        ``function(object, newdata)``, in R.
    chull : bool
        Only grid points inside the convex hull of two variables.
    cats : sequence of str
        Numeric variables that are categories.
    check_class : bool
        Give grid values the class of their column: those of an integer column are truncated.
    """

    grid_resolution: int
    ice: bool
    center: bool
    approx: bool
    quantiles: bool
    probs: Sequence[float]
    trim_outliers: bool
    type: Literal["auto", "regression", "classification"]
    inv_link: RFunction
    which_class: int
    prob: bool
    pred_fun: RCode
    chull: bool
    cats: Sequence[str]
    check_class: bool


def partial(
    model: Any,
    data: Rows,
    pred_var: str | Sequence[str],
    *,
    pred_grid: pd.DataFrame | Mapping[str, Sequence[Any]] | None = None,
    classes: Sequence[Any] | None = None,
    **options: Unpack[PdpOptions],
) -> pd.DataFrame:
    """Partial dependence and ICE by R's ``pdp::partial``, of a model of Python.

    R makes the grid, the copies of the rows, the scale and the means. It asks the model for
    predictions through its own `predict`, so that for a classifier ``prob = FALSE`` is R's centered
    logit, ``log p_k - mean(log p)``, as R computes it.

    Parameters
    ----------
    model : estimator, function, statsmodels results, FittedModel or LearnerResults
        What predicts. Of a learner, the mean over its refits.
    data : DataFrame or array
        R's ``train``: the rows whose variables are replaced. None for the rows that a `FittedModel`
        or a learner's results bring along.
    pred_var : str or sequence of str
        Variable or variables.
    pred_grid : DataFrame or mapping, optional
        The grid; R sorts it.
    classes : sequence, optional
        For a function that returns class probabilities: the classes in order.
    **options
        See `PdpOptions`.

    Returns
    -------
    pandas.DataFrame
        R's columns: the variables, ``yhat`` and, with ``ice=True``, ``yhat.id``.

    Raises
    ------
    RMissingError
        If R, rpy2 or the package pdp is absent.
    RCallError
        If R stops.
    """
    need("pdp", "`r_bridge.partial`")
    handed = hand_over(model, data, classes)
    arguments: list[tuple[str, Any]] = [
        *model_and_options(handed, options),
        ("pred.var", handed.words(_of_a_curve(pred_var, handed))),
        ("train", handed.train),
    ]
    if pred_grid is not None:
        arguments.append(("pred.grid", handed.names.frame_to_r(pd.DataFrame(pred_grid))))
    result = frame_from_r(SESSION.call_with("pdp::partial", arguments), SESSION.r)
    return handed.restored(result)


def _of_a_curve(names: object, handed: ModelForR) -> list[str]:
    wanted = variables_of(names, handed, "pred_var")
    for name in wanted:
        if name in OF_PDP:
            raise DataError(
                f"`pred_var` must not be named as a column of pdp's value, {' or '.join(OF_PDP)}; "
                f"rename the variable `{name}`."
            )
    return wanted


def variables_of(names: object, handed: ModelForR, argument: str) -> list[str]:
    """Return one name or several as a list.

    Raises
    ------
    OptionError
        If there is none.
    DataError
        For a name that is no variable of the model.
    """
    wanted = names_of(names, argument)
    if not wanted:
        raise OptionError(
            f"`{argument}` must name at least one variable of the model: "
            f"{', '.join(handed.rows.columns)}."
        )
    for name in wanted:
        if name not in handed.rows:
            raise DataError(
                f"`{argument}` must name variables of the model; got {name!r}, but they are "
                f"{', '.join(handed.rows.columns)}." + did_you_mean(name, handed.rows)
            )
    return wanted


def model_and_options(handed: ModelForR, options: PdpOptions) -> list[tuple[str, Any]]:
    """Return the model, R's first argument, and the options under R's names."""
    given: dict[str, Any] = {"type": "auto", **options}
    check_choice("type", given["type"], ("auto", "regression", "classification"))
    if given["type"] == "classification" and handed.classes is None:
        raise OptionError('`type="classification"` needs a classifier.')
    if given.get("grid_resolution") is not None:
        check_whole("grid_resolution", given["grid_resolution"], 1)
    model = handed
    if handed.classes is not None:
        position = _position(handed, given.pop("which_class", 1))
        if given["type"] == "regression" and "pred_fun" not in given:
            model = handed.log_odds(position)
        else:
            given["which_class"] = position + 1
    if given["type"] == "auto":  # which pdp can find out for models of R alone
        given["type"] = model.task
    if given.get("cats") is not None:
        given["cats"] = handed.words(variables_of(given["cats"], handed, "cats"))
    named = [(name.replace("_", "."), in_r(value, ["x"])) for name, value in given.items()]
    return [("", model.in_r()), *named]


def _position(handed: ModelForR, which_class: int) -> int:
    """Return where the class that is meant stands among the model's, from 0."""
    if which_class not in range(1, len(handed.counted) + 1):
        raise OptionError(
            f"`which_class` counts the classes from 1 to {len(handed.counted)}, in the order "
            f"{list(handed.counted)}; got {which_class!r}."
        )
    return (handed.classes or ()).index(handed.counted[which_class - 1])


def in_r(value: Any, arguments: Sequence[str]) -> Any:
    """Return functions of Python as functions of R, all else as it is."""
    return SESSION.function(value, arguments) if callable(value) else value
