"""R's vip without R: importances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.checks import check_choice, check_count, check_flag, check_mapping
from pyinterp.estimands.importance.flatness import Spread, flatness
from pyinterp.estimands.importance.relation import Relation
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metrics import MetricLike
from pyinterp.parameters import takes
from pyinterp.r_style.arguments import Curve, check_results, chosen, factors, rows_of, translated

__all__ = ["vi", "vi_firm", "vi_permute"]


@takes(Curve)
def vi_firm(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    *,
    ice: bool = False,
    center: bool = False,
    var_continuous: Spread = "sd",
    **curve: Unpack[Curve],
) -> pd.DataFrame:
    """Flatness of partial dependence as ``vip::vi_firm`` computes it.

    Its range over 4 for factors (categorical columns), `var_continuous` for all else, strings
    among it; missing for a number that does not vary. Whether curves are centered does not matter.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, in the order of `feature_names`.
    """
    check_flag("center", center)
    names = chosen(object, feature_names)
    asked = translated(object, curve, names)
    problem, data = object.analysis.problem, rows_of(object)
    estimand = flatness(
        problem, names, spread=var_continuous, ice=ice, categories=factors(data[names]), **asked
    )
    found = object.estimate(estimand).params
    numbers = [n for n in names if n not in factors(data[names])]
    still = [n for n in numbers if (data[n] == data[n].iloc[0]).all()]  # the sd of one value
    return _importances(found.mask(found.index.isin(still)))


def vi_permute(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    *,
    metric: MetricLike,
    type: Relation = "difference",  # noqa: A002 - R's name
    nsim: int = 1,
    permutations: Mapping[str, npt.ArrayLike] | None = None,
) -> pd.DataFrame:
    """Permutation importance as ``vip::vi_permute`` computes it.

    Parameters
    ----------
    object : results
    feature_names : str or sequence of str, optional
    metric : str or Metric
        See `pyinterp.losses.metrics`.
    type : {"difference", "ratio"}
    nsim : int
        Number of permutations, drawn here without fixed points and at most one less than rows.
    permutations : mapping of str to array of shape (n, nsim), optional
        The permutations themselves, row numbers from 0, such as R has drawn.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, and StDev over more than one permutation.
    """
    check_results(object)
    check_count("nsim", nsim)
    if permutations is not None:
        check_mapping("permutations", permutations, "{'x': array of shape (n, nsim)}")
    asked = nsim if permutations is None else permutations
    found = object.pfi(feature_names, metric=metric, relation=type, permutations=asked)
    if permutations is None:
        number = min(nsim, min(len(rows) for rows in found.rows) - 1)
    else:
        number = np.shape(permutations[found.params.index[0]])[1]
    frame = _importances(found.params)
    if number > 1:
        frame["StDev"] = found.mcse.to_numpy() * np.sqrt(number)
    return frame


def vi(
    object: Interpretable,  # noqa: A002 - R's name
    method: Literal["model", "firm", "permute"] = "model",
    *,
    scale: bool = False,
    rank: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """Importances, largest first, as ``vip::vi`` lists them.

    Parameters
    ----------
    object : results
    method : {"model", "firm", "permute"}
        "model" is what the model itself reports, with its sign if it has one; terms have patsy's
        names.
    scale : bool
        Make the largest 100.
    rank : bool
        Give ranks, 1 for the largest.
    **options
        Those of `vi_firm`, of `vi_permute`, or of ``native_importance``.
    """
    check_choice("method", method, ("model", "firm", "permute"))
    check_flag("scale", scale)
    check_flag("rank", rank)
    if method == "model":
        check_results(object)
        reported = object.native_importance(**options).params
        found = _importances(reported.abs())
        if (reported < 0).any():
            found["Sign"] = np.where(reported < 0, "NEG", "POS")
    else:
        found = (vi_firm if method == "firm" else vi_permute)(object, **options)
    found = found.sort_values("Importance", ascending=False, kind="stable", ignore_index=True)
    if scale:
        found["Importance"] *= 100 / found["Importance"].max()
    if rank:
        found["Importance"] = np.arange(1, len(found) + 1)
    return found


def _importances(params: pd.Series[float]) -> pd.DataFrame:
    return pd.DataFrame({"Variable": list(params.index), "Importance": params.to_numpy()})
