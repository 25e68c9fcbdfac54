"""R's arguments in our words: grids, scales, classes and names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial as bind
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_callable, check_choice, check_count, check_flag
from pyinterp.data.features import check_names, names_of
from pyinterp.data.sample import is_category
from pyinterp.errors import OptionError, listed, shown
from pyinterp.estimands.effects.grids import (
    DECILES,
    Grid,
    Points,
    RGrid,
    as_floats,
    check_levels,
    in_hull,
    values_of,
)
from pyinterp.estimands.effects.scales import scaled
from pyinterp.learner.interpretable import Interpretable
from pyinterp.models.predictor import Predictor

__all__ = [
    "Curve",
    "CurveOptions",
    "check_results",
    "chosen",
    "classes_in_order",
    "factors",
    "rows_of",
    "translated",
]

# Binomial models of R's glm have the probability of the second level first.
EVENT_FIRST = ("GLM", "Logit", "Probit")


class Curve(TypedDict, total=False):
    """Arguments of ``pdp::partial``, which `vi_firm` and `vint` hand on to it.

    Attributes
    ----------
    grid_resolution, quantiles, probs, trim_outliers, chull, cats, check_class
        The grid: see `pyinterp.estimands.effects.grids.RGrid`.
    pred_grid : array, mapping or DataFrame
        The grid itself: values of one variable, or one row per point.
    type : {"auto", "regression", "classification"}
        "regression" of a classifier with two classes is the log-odds, a glm's linear predictor.
    inv_link : callable
        Applied to every prediction of a regression before the mean.
    which_class : int
        Which class, counted from 1 in R's order: for binomial models of statsmodels and of R's
        ``glm``, ``gam``, ``nnet`` and ``gbm`` 1 is the event; for other learners 1 is the first
        class.
    prob : bool
        Probabilities of classes instead of centered logits (for two classes, half the logit).
    """

    grid_resolution: int | None
    quantiles: bool
    probs: Sequence[float]
    trim_outliers: bool
    chull: bool
    cats: str | Sequence[str]
    check_class: bool
    pred_grid: npt.ArrayLike | Mapping[str, npt.ArrayLike] | pd.DataFrame | None
    type: Literal["auto", "regression", "classification"]
    inv_link: Callable[[FloatArray], FloatArray] | None
    which_class: int
    prob: bool


class CurveOptions(TypedDict, total=False):
    """Options of ``pd`` that R's arguments stand for."""

    grid: Grid
    scale: Any
    which_class: Any


def translated(
    object: Interpretable,  # noqa: A002 - R's name
    curve: Curve,
    names: Sequence[str],
) -> CurveOptions:
    """Return the options of ``pd`` that R's arguments stand for, for some variables."""
    check_results(object)
    for flag in ("chull", "prob"):
        check_flag(flag, curve.get(flag, False))
    given, cats, data = curve.get("pred_grid"), curve.get("cats", ()), rows_of(object)
    # With one variable, or with a factor, pdp has no hull.
    hull = curve.get("chull", False) and len(names) == 2
    hull = hull and not any(is_category(data[n]) for n in names if n in data)
    rule = RGrid(
        grid_resolution=curve.get("grid_resolution"),
        quantiles=curve.get("quantiles", False),
        probs=curve.get("probs", DECILES),
        trim_outliers=curve.get("trim_outliers", False),
        chull=hull,
        cats=[] if cats is None else names_of(cats, "cats"),
        check_class=curve.get("check_class", True),
    )
    predictor = object.analysis.problem.predictor
    scale, which = _scale(predictor, curve)
    grid: Grid = rule
    if given is not None:
        grid = _given(given, names, data, rule)
    return {"grid": grid, "scale": scale, "which_class": which}


def _given(given: Any, names: Sequence[str], data: pd.DataFrame, rule: RGrid) -> Points:
    """Return a user's grid as pdp takes it: sorted by its columns, then of the data's types."""
    if not isinstance(given, Mapping | pd.DataFrame):
        given = {names[0]: values_of(given, names[0])}
    frame = _framed(given)
    if frame.empty or not set(names) <= set(frame.columns):
        raise OptionError(
            f"`pred_grid` needs a column for each of {listed(names)} and at least one row; got "
            f"{shown(given)}."
        )
    frame = frame[list(names)].sort_values(list(names), kind="stable", ignore_index=True)
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


def _framed(given: Any) -> pd.DataFrame:
    """Return columns of a grid as a frame; an empty one if they are of different lengths."""
    try:
        return pd.DataFrame(given)
    except (TypeError, ValueError):
        return pd.DataFrame()


def _scale(predictor: Predictor, curve: Curve) -> tuple[Any, Any]:
    """Return scale and class of ``pd``."""
    kind, inv_link = curve.get("type", "auto"), curve.get("inv_link")
    check_choice("type", kind, ("auto", "regression", "classification"))
    if inv_link is not None:
        check_callable("inv_link", inv_link, "np.exp")
    number = curve.get("which_class", 1)
    check_count("which_class", number)
    if predictor.classes is None:
        if kind == "classification":
            raise OptionError('`type="classification"` needs a classifier.')
        return inv_link, None
    label = _class(predictor, number)
    if kind == "regression":
        if len(predictor.classes) != 2:
            raise OptionError(
                'The `type="regression"` of a classifier is its log-odds, which need two classes; '
                f"this one has {len(predictor.classes)}."
            )
        return ("logit", label) if inv_link is None else (bind(_on_link, inv_link), label)
    if inv_link is not None:
        raise OptionError(
            '`inv_link` is for predictions of numbers; use it with `type="regression"`.'
        )
    return "probability" if curve.get("prob", False) else "centered-logit", label


def classes_in_order(predictor: Predictor) -> list[Any]:
    """Return the classes in the order in which pdp counts them."""
    known, estimator = list(predictor.classes or ()), predictor.estimator
    model = getattr(estimator, "model", None)
    kind = model if isinstance(model, type) else type(model)
    first = kind.__name__ in EVENT_FIRST or getattr(estimator, "event_first", False)
    return known[::-1] if len(known) == 2 and first else known


def _class(predictor: Predictor, number: int) -> Any:
    known = classes_in_order(predictor)
    if number > len(known):
        raise OptionError(
            f"`which_class` counts the classes from 1 to {len(known)}, in R's order "
            f"{listed(known)}; got {number}."
        )
    return known[number - 1]


def _on_link(inv_link: Callable[[FloatArray], FloatArray], probability: FloatArray) -> FloatArray:
    return np.asarray(inv_link(np.moveaxis(scaled(probability, (0, 1), "logit"), 0, -1)))


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
    return object.analysis.problem.population.variables


def chosen(
    object: Interpretable,  # noqa: A002 - R's name
    names: str | Sequence[str] | None,
) -> list[str]:
    """Return the variables that are asked for, or all."""
    check_results(object)
    known = [str(name) for name in rows_of(object)]
    asked = known if names is None else names_of(names, "feature_names")
    check_names(asked, known, kind="variable", argument="feature_names")
    return asked
