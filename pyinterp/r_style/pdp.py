"""R's pdp without R."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
import pandas as pd

from pyinterp.checks import check_flag
from pyinterp.data.features import names_of
from pyinterp.learner.interpretable import Interpretable
from pyinterp.parameters import takes
from pyinterp.r_style.arguments import Curve, rows_of, translated

__all__ = ["partial"]


@takes(Curve)
def partial(
    object: Interpretable,  # noqa: A002 - R's name
    pred_var: str | Sequence[str],
    *,
    ice: bool = False,
    center: bool = False,
    approx: bool = False,
    **curve: Unpack[Curve],
) -> pd.DataFrame:
    """Partial dependence as ``pdp::partial`` computes it.

    Parameters
    ----------
    object : results
        A `FittedModel`, or the results of a learner.
    pred_var : str or sequence of two str
        The variables.
    ice : bool
        Every row's own curve, with its number in a column ``yhat.id``.
    center : bool
        Subtract each curve's value at the first grid point; to curves of probabilities pdp then
        adds 0.5.
    approx : bool
        The curve of one row of medians and most frequent levels instead of the mean.
    **curve
        See `Curve`.

    Returns
    -------
    pandas.DataFrame
        A column per variable, ``yhat``, and ``yhat.id`` with `ice`.
    """
    for argument, flag in (("ice", ice), ("center", center), ("approx", approx)):
        check_flag(argument, flag)
    names = names_of(pred_var, "pred_var")
    asked = translated(object, curve, names)
    centered = ice and center
    found = object.pd(
        names,
        kind="c-ice" if centered else "pd",
        average="exemplar" if approx else "mean",
        **asked,
    )
    terms = found.estimand.terms
    points = terms.layout[list(terms.axes)].set_axis(list(terms.axis_names), axis=1)
    for name in terms.axis_names:
        column = rows_of(object)[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            points[name] = pd.Categorical(points[name], dtype=column.dtype)
    if not ice:
        return points.assign(yhat=found.params.to_numpy())
    curves = found.row_frame().to_numpy()
    if centered and asked["scale"] == "probability":
        curves = curves + 0.5
    n, g = curves.shape
    return pd.concat([points] * n, ignore_index=True).assign(
        **{"yhat": curves.ravel(), "yhat.id": np.repeat(np.arange(1, n + 1), g)}
    )
