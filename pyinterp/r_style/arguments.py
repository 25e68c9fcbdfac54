"""R's arguments in our words: grids, scales, classes and names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial as bind
from inspect import signature
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.columns import is_category
from pyinterp.data.features import Names, check_names, names_of
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.estimands.effects.grids import (
    Points,
    RGrid,
    as_floats,
    check_levels,
    in_hull,
    values_of,
)
from pyinterp.estimands.effects.scales import rescale
from pyinterp.learner.interpretable import Interpretable
from pyinterp.models.predictor import Predictor
from pyinterp.r_style.r_functions import PARTIAL
from pyinterp.representation import frozen

Task = Literal["auto", "regression", "classification"]
PredGrid = npt.ArrayLike | Mapping[str, npt.ArrayLike] | pd.DataFrame

# Binomial models of R's glm have the probability of the second level first.
EVENT_FIRST = ("GLM", "Logit", "Probit")


@frozen
class Curve(RGrid):
    """Arguments of ``pdp::partial`` that say where a curve is evaluated, and on which scale.

    They are listed in `pyinterp.r_style.r_functions.PARTIAL`, with R's defaults; the grid itself,
    `pred_grid`, is none of them. `inv_link` may be code that a caller hands on to R.
    """

    type: Task = "auto"
    inv_link: Any = None
    which_class: int = 1
    prob: bool = False

    def changes(self) -> dict[str, Any]:
        """Return the arguments that are not R's defaults."""
        return different(type(self), vars(self))


def different(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not the defaults of a function or class."""
    defaults = signature(function).parameters
    return {name: o for name, o in options.items() if o is not defaults[name].default}


def translate(
    object: Interpretable,  # noqa: A002 - R's name
    curve: Curve,
    names: Sequence[str],
    pred_grid: PredGrid | None = None,
) -> dict[str, Any]:
    """Return the options of ``pd`` that R's arguments stand for, for some variables."""
    data = rows_of(object)
    PARTIAL.check(vars(curve))
    # With one variable, or with a factor, pdp has no hull.
    hull = curve.chull and len(names) > 1
    hull = hull and not any(is_category(data[n]) for n in names[:2] if n in data)
    rule = replace(curve, chull=hull)
    grid = rule if pred_grid is None else _points(pred_grid, names, data, rule)
    predictor = object.analysis.problem.predictor
    check_scale(curve, predictor.classes)
    if predictor.classes is None:
        return {"grid": grid, "scale": curve.inv_link, "which_class": None}
    scale: Any = "probability" if curve.prob else "centered-logit"
    if curve.type == "regression":
        scale = "logit" if curve.inv_link is None else bind(_on_link, curve.inv_link)
    label = class_of(classes_in_order(predictor), curve.which_class)
    return {"grid": grid, "scale": scale, "which_class": label}


def _points(grid: PredGrid, names: Sequence[str], data: pd.DataFrame, rule: RGrid) -> Points:
    """Return a user's grid as pdp takes it: sorted by its columns, then of the data's types."""
    frame = frame_of_grid(grid, names)
    frame = frame.sort_values(list(names), kind="stable", ignore_index=True)
    for name in names:
        column = data[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            check_levels(frame[name].tolist(), list(column.cat.categories), name)
        elif not is_category(column):
            values = as_floats(frame[name].to_numpy(), name)
            whole = rule.check_class and pd.api.types.is_integer_dtype(column)
            frame[name] = np.trunc(values) if whole else values
    columns = [frame[name].tolist() for name in names]
    points = Points(tuple(names), tuple(zip(*columns, strict=True)))
    return in_hull(data, points) if rule.chull else points


def frame_of_grid(grid: PredGrid, names: Sequence[str]) -> pd.DataFrame:
    """Return a user's grid with a column for each variable, in order.

    Raises
    ------
    OptionError
        If a column is missing, or there is no row.
    """
    if not isinstance(grid, Mapping | pd.DataFrame):
        grid = {names[0]: values_of(grid, names[0])}
    try:
        frame = pd.DataFrame(grid)
    except (TypeError, ValueError):  # of different lengths
        frame = pd.DataFrame()
    if frame.empty or not set(names) <= set(frame.columns):
        raise OptionError(
            f"`pred_grid` needs a column for each of {list_of(names)} and at least one row; got "
            f"{quote(grid)}."
        )
    return frame[list(names)]


def check_scale(curve: Curve, classes: Sequence[object] | None) -> None:
    """Raise `OptionError` unless a model's predictions have the scale of a curve.

    Parameters
    ----------
    curve : Curve
    classes : sequence or None
        The model's classes; None if it predicts numbers.
    """
    if classes is None:
        if curve.type == "classification":
            raise OptionError('`type="classification"` needs a classifier.')
    elif curve.type != "regression":
        if curve.inv_link is not None:
            raise OptionError(
                '`inv_link` is for predictions of numbers; use it with `type="regression"`.'
            )
    elif len(classes) != 2:
        raise OptionError(
            'The `type="regression"` of a classifier is its log-odds, which need two classes; '
            f"this one has {len(classes)}."
        )


def classes_in_order(predictor: Predictor) -> list[Any]:
    """Return the classes in the order in which pdp counts them."""
    classes, estimator = list(predictor.classes or ()), predictor.estimator
    model = getattr(estimator, "model", None)
    kind = model if isinstance(model, type) else type(model)
    first = kind.__name__ in EVENT_FIRST or getattr(estimator, "event_first", False)
    return classes[::-1] if len(classes) == 2 and first else classes


def class_of(classes: Sequence[Any], which_class: int) -> Any:
    """Return a class by its number.

    Parameters
    ----------
    classes : sequence
        In the order in which pdp counts them.
    which_class : int
        Counted from 1.

    Raises
    ------
    OptionError
        If there are not so many.
    """
    if which_class > len(classes):
        raise OptionError(
            f"`which_class` counts the classes from 1 to {len(classes)}, in R's order "
            f"{list_of(classes)}; got {which_class}."
        )
    return classes[which_class - 1]


def _on_link(inv_link: Callable[[FloatArray], FloatArray], probability: FloatArray) -> FloatArray:
    """Return the inverse link of the logit of probabilities."""
    return inv_link(np.moveaxis(rescale(probability, (0, 1), "logit"), 0, -1))


def factors(variables: pd.DataFrame) -> list[str]:
    """Return the variables that are factors in R: categorical columns, not strings."""
    return [str(n) for n, c in variables.items() if isinstance(c.dtype, pd.CategoricalDtype)]


def check_results(object: Interpretable) -> None:  # noqa: A002 - R's name
    """Raise `OptionError` unless R can be asked about it."""
    if not isinstance(object, Interpretable):
        raise OptionError(
            "R's functions here take the results of a learner's `fit`, or "
            f"`pi.FittedModel(model, X, y)`; got {type(object).__name__}."
        )


def rows_of(object: Interpretable) -> pd.DataFrame:  # noqa: A002 - R's name
    """Return the variables of the rows that stand for R's training data."""
    check_results(object)
    return object.analysis.problem.sample.variables


def names_or_all(
    object: Interpretable,  # noqa: A002 - R's name
    names: Names | None,
) -> list[str]:
    """Return the variables that are asked for, or all."""
    variables = [str(name) for name in rows_of(object)]
    if names is None:
        return variables
    some = names_of(names, "feature_names")
    check_names(some, variables, kind="variable", argument="feature_names")
    return some
