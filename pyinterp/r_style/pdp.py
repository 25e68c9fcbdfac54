"""R's pdp without R."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
import pandas as pd

from pyinterp.data.features import names_of
from pyinterp.errors import OptionError, quote
from pyinterp.learner.interpretable import Interpretable
from pyinterp.r_style.arguments import Curve, CurveKeywords, PredGrid, rows_of, translate
from pyinterp.r_style.r_functions import PARTIAL
from pyinterp.results.results import EstimandResults

__all__ = ["partial"]


@PARTIAL.keywords("r_style", Curve)
def partial(
    object: Interpretable,  # noqa: A002 - R's name
    pred_var: str | Sequence[str] | None = None,
    *,
    pred_grid: PredGrid | None = None,
    ice: bool = False,
    center: bool = False,
    approx: bool = False,
    **curve: Unpack[CurveKeywords],
) -> pd.DataFrame:
    """Partial dependence as ``pdp::partial`` computes it.

    Parameters
    ----------
    object : results
        A `FittedModel`, or the results of a learner.
    pred_var : str or sequence of str, optional
        One variable, two or three; by default the columns of `pred_grid`.
    {arguments}

    Returns
    -------
    pandas.DataFrame
        A column per variable, ``yhat``, and ``yhat.id`` with `ice`.
    """
    PARTIAL.check({"ice": ice, "center": center, "approx": approx})
    names = _variables(pred_var, pred_grid)
    options = translate(object, Curve(**curve), names, pred_grid)
    centered = ice and center
    results = object.pd(
        names,
        kind="c-ice" if centered else "pd",
        average="exemplar" if approx else "mean",
        **options,
    )
    points = _points(results, rows_of(object))
    if not ice:
        return points.assign(yhat=results.params.to_numpy())
    half = 0.5 if centered and options["scale"] == "probability" else 0.0
    curves = results.row_frame().to_numpy() + half
    number = np.repeat(np.arange(1, len(curves) + 1), len(points))
    every = pd.concat([points] * len(curves), ignore_index=True)
    return every.assign(**{"yhat": curves.ravel(), "yhat.id": number})


def _variables(pred_var: str | Sequence[str] | None, pred_grid: PredGrid | None) -> list[str]:
    """Return the variables that are named, or those of the grid."""
    if pred_var is not None:
        return names_of(pred_var, "pred_var")
    if not isinstance(pred_grid, Mapping | pd.DataFrame):
        raise OptionError(
            "`pred_var` can be left out if `pred_grid` has the variables as columns, such as "
            f"{{'x': [0, 1]}}; got {quote(pred_grid)}."
        )
    return [str(name) for name in pred_grid]


def _points(results: EstimandResults, data: pd.DataFrame) -> pd.DataFrame:
    """Return the grid points, factors as the data have them."""
    terms = results.estimand.terms
    points = terms.layout[list(terms.axes)].set_axis(list(terms.axis_names), axis=1)
    for name in terms.axis_names:
        column = data[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            points[name] = pd.Categorical(points[name], dtype=column.dtype)
    return points
