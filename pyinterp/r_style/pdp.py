"""R's pdp without R."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError, quote
from pyinterp.learner.interpretable import Interpretable
from pyinterp.r_style.arguments import DECILES, Curve, PredGrid, Task, rows_of, translate
from pyinterp.r_style.r_functions import PARTIAL
from pyinterp.results.results import EstimandResults

__all__ = ["partial"]


@PARTIAL.keywords("r_style")
def partial(
    object: Interpretable,  # noqa: A002 - R's name
    pred_var: str | Sequence[str] | None = None,
    *,
    pred_grid: PredGrid | None = None,
    grid_resolution: int | None = None,
    ice: bool = False,
    center: bool = False,
    approx: bool = False,
    quantiles: bool = False,
    probs: Sequence[float] = DECILES,
    trim_outliers: bool = False,
    type: Task = "auto",  # noqa: A002 - R's name
    inv_link: Callable[[FloatArray], FloatArray] | None = None,
    which_class: int = 1,
    prob: bool = False,
    chull: bool = False,
    cats: str | Sequence[str] | None = None,
    check_class: bool = True,
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
    curve = Curve(
        grid_resolution=grid_resolution,
        quantiles=quantiles,
        probs=probs,
        trim_outliers=trim_outliers,
        type=type,
        inv_link=inv_link,
        which_class=which_class,
        prob=prob,
        chull=chull,
        cats=cats,
        check_class=check_class,
    )
    names = _variables(pred_var, pred_grid)
    options = translate(object, curve, names, pred_grid)
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
    return _curves(points, results.row_frame().to_numpy() + half)


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


def _curves(points: pd.DataFrame, curves: FloatArray) -> pd.DataFrame:
    """Return the curves of all rows, shape (n, points), one below the other."""
    n, g = curves.shape
    return pd.concat([points] * n, ignore_index=True).assign(
        **{"yhat": curves.ravel(), "yhat.id": np.repeat(np.arange(1, n + 1), g)}
    )
