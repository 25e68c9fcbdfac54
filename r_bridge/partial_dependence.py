"""R's ``pdp::partial`` on models of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.features import check_names, names_of
from pyinterp.r_style.arguments import Curve, PredGrid, check_scale, class_of, frame_of_grid
from pyinterp.r_style.r_functions import PARTIAL
from r_bridge.conversion import RCode, frame_from_r
from r_bridge.model_for_r import ModelForR, Rows, hand_over
from r_bridge.packages import need
from r_bridge.session import SESSION

__all__ = ["RFunction", "in_r", "model_and_curve", "partial", "variables_of"]

RFunction: TypeAlias = RCode | Callable[[FloatArray], Any]


@PARTIAL.keywords("r_bridge", Curve)
def partial(
    model: Any,
    data: Rows,
    pred_var: str | Sequence[str],
    *,
    pred_grid: PredGrid | None = None,
    pred_fun: RCode | None = None,
    ice: bool = False,
    center: bool = False,
    approx: bool = False,
    classes: Sequence[Any] | None = None,
    **curve: Any,  # of `Curve`
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
        R's ``train``: the rows whose variables are replaced. None for the rows that a
        ``FittedModel`` or a learner's results bring along.
    pred_var : str or sequence of str
        Variable or variables.
    {arguments}
    classes : sequence, optional
        For a function that returns class probabilities: the classes in order.

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
    r_model = hand_over(model, data, classes)
    names = variables_of(pred_var, r_model, "pred_var")
    flags = {"ice": ice, "center": center, "approx": approx}
    arguments: list[tuple[str, Any]] = [
        *model_and_curve(r_model, Curve(**curve), pred_fun, flags),
        ("pred.var", r_model.words(names)),
        ("train", r_model.train),
    ]
    if pred_grid is not None:
        grid = frame_of_grid(pred_grid, names)
        arguments.append(("pred.grid", r_model.names.frame_to_r(grid)))
    result = frame_from_r(SESSION.call_with("pdp::partial", arguments), SESSION.r)
    return r_model.restore(result)


def variables_of(names: object, r_model: ModelForR, argument: str) -> list[str]:
    """Return one name or several as a list.

    Raises
    ------
    OptionError
        If there is none, or for a name that is no variable of the model.
    """
    variables = names_of(names, argument)
    check_names(variables, list(r_model.rows.columns), kind="variable", argument=argument)
    return variables


def model_and_curve(
    r_model: ModelForR, curve: Curve, pred_fun: RCode | None, flags: dict[str, bool]
) -> list[tuple[str, Any]]:
    """Return the model, R's first argument, and what is not R's default, under R's names.

    Parameters
    ----------
    r_model : ModelForR
    curve : Curve
    pred_fun : RCode or None
    flags : dict of str to bool
        Other arguments of ``partial`` whose default is FALSE.
    """
    # Code is R's to judge.
    values = {**vars(curve), **flags}
    PARTIAL.check({name: v for name, v in values.items() if not isinstance(v, RCode)})
    options = {**curve.changes(), **{name: flag for name, flag in flags.items() if flag}}
    if pred_fun is None:
        check_scale(curve, r_model.classes)
    else:
        options["pred_fun"] = pred_fun
    model = r_model
    if r_model.classes is not None:
        position = r_model.classes.index(class_of(r_model.class_names, curve.which_class))
        options["which_class"] = position + 1
        if curve.type == "regression" and pred_fun is None:
            model = r_model.log_odds(position)
            del options["which_class"]
    # pdp can find out for models of R alone what "auto" is.
    if curve.type == "auto":
        options["type"] = "regression" if model.classes is None else "classification"
    if curve.cats is not None:
        options["cats"] = r_model.words(variables_of(curve.cats, r_model, "cats"))
    r_names = {argument.word: argument.name for argument in PARTIAL.arguments}
    named = [(r_names[word], in_r(value, ["x"])) for word, value in options.items()]
    return [("", model.in_r()), *named]


def in_r(value: Any, arguments: Sequence[str]) -> Any:
    """Return functions of Python as functions of R, all else as it is."""
    return SESSION.function(value, arguments) if callable(value) else value
