"""R's vip without R: importances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Literal, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.checks import check_mapping
from pyinterp.errors import OptionError
from pyinterp.estimands.importance.flatness import Spread, flatness
from pyinterp.estimands.importance.native import Native
from pyinterp.estimands.importance.relation import Relation
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metric_functions import MetricLike
from pyinterp.r_style.arguments import (
    Curve,
    CurveKeywords,
    GridKeywords,
    check_results,
    different,
    factors,
    names_or_all,
    rows_of,
    translate,
)
from pyinterp.r_style.r_functions import VI, VI_FIRM, VI_PERMUTE

__all__ = ["vi", "vi_firm", "vi_permute"]


@VI_FIRM.keywords("r_style", Curve)
def vi_firm(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    *,
    var_continuous: Spread = "sd",
    ice: bool = False,
    center: bool = False,
    **curve: Unpack[CurveKeywords],
) -> pd.DataFrame:
    """Flatness of partial dependence as ``vip::vi_firm`` computes it.

    Its range over 4 for factors (categorical columns), `var_continuous` for all else, strings
    among it; missing for a number that does not vary.

    Parameters
    ----------
    object : results
    var_continuous : {"sd", "mad", "iqr"}
        Spread of the curve of what is no factor.
    {arguments}

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, in the order of `feature_names`.
    """
    VI_FIRM.check({"ice": ice, "center": center, **curve})
    names = names_or_all(object, feature_names)
    # One variable has no hull: R ignores `chull` here.
    options = translate(object, replace(Curve(**curve), chull=False), names)
    data = rows_of(object)[names]
    estimand = flatness(
        object.analysis.problem,
        names,
        spread=var_continuous,
        ice=ice,
        categories=factors(data),
        **options,
    )
    params = object.estimate(estimand).params
    return _importances(params.mask(params.index.isin(_constant(data))))


def _constant(data: pd.DataFrame) -> list[str]:
    """Return the variables, factors left out, that have one value: its sd is missing in R."""
    numbers = data.drop(columns=factors(data))
    return [str(name) for name, column in numbers.items() if (column == column.iloc[0]).all()]


@VI_PERMUTE.keywords("r_style")
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
    metric : str or Metric
        See `pyinterp.losses.metrics`; not "pr_auc", which is another number in R.
    {arguments}
    permutations : mapping of str to array of shape (n, nsim), optional
        The permutations themselves, row numbers from 0, such as R has drawn.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, and StDev over more than one permutation.
    """
    check_results(object)
    VI_PERMUTE.check({"type": type, "nsim": nsim})
    if metric == "pr_auc":
        raise OptionError(
            "R's `pr_auc` joins the points of precision and recall by lines, which is not here; "
            'take `pfi(metric="pr_auc")`, the average precision, or `r_bridge.vi_permute`.'
        )
    if permutations is not None:
        check_mapping("permutations", permutations, "{'x': array of shape (n, nsim)}")
    results = object.pfi(
        feature_names,
        metric=metric,
        relation=type,
        permutations=nsim if permutations is None else permutations,
    )
    if permutations is None:
        number = min(nsim, min(len(rows) for rows in results.rows) - 1)
    else:
        number = np.shape(permutations[results.params.index[0]])[1]
    frame = _importances(results.params)
    if number > 1:
        frame["StDev"] = results.mcse.to_numpy() * np.sqrt(number)
    return frame


class _Others(GridKeywords, total=False):
    """Keywords of `vi` that are those of `vi_firm` or of `vi_permute`."""

    var_continuous: Spread
    ice: bool
    center: bool
    nsim: int
    permutations: Mapping[str, npt.ArrayLike] | None


@VI.keywords("r_style", vi_firm, vi_permute)
def vi(
    object: Interpretable,  # noqa: A002 - R's name
    method: Literal["model", "firm", "permute"] = "model",
    feature_names: str | Sequence[str] | None = None,
    *,
    scale: bool = False,
    rank: bool = False,
    type: str | None = None,  # noqa: A002 - R's name
    metric: MetricLike | None = None,
    **others: Unpack[_Others],
) -> pd.DataFrame:
    """Importances, largest first, as ``vip::vi`` lists them.

    Parameters
    ----------
    object : results
    {arguments}
    type : str, optional
        Of `vi_firm`, of `vi_permute`, or of ``native_importance``, by `method`.
    var_continuous, grid_resolution, ice, center, quantiles, probs, trim_outliers, inv_link
        Of `vi_firm`, with "firm" alone.
    which_class, prob, chull, cats, check_class
        Likewise.
    metric, nsim, permutations
        Of `vi_permute`, with "permute" alone.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance; StDev of several permutations; Sign if the model itself
        reports signs.

    Raises
    ------
    OptionError
        For "permute" without a metric.
    TypeError
        For an argument that belongs to another method.
    """
    VI.check({"method": method, "scale": scale, "rank": rank})
    if method == "permute" and metric is None:
        raise OptionError('`method="permute"` needs a metric; give one, such as `metric="rmse"`.')
    keywords = {"feature_names": feature_names, "type": type, "metric": metric, **others}
    options = different(vi, keywords)
    functions: dict[str, Callable[..., pd.DataFrame]] = {
        "model": _report,
        "firm": vi_firm,
        "permute": vi_permute,
    }
    taken = {name: set(signature(function).parameters) for name, function in functions.items()}
    for name in options:
        if name not in taken[method]:
            where = " or ".join(f'"{other}"' for other in taken if name in taken[other])
            raise TypeError(f'`{name}` needs `method={where}`, not "{method}"; leave it out.')
    frame = functions[method](object, **options)
    frame = frame.sort_values("Importance", ascending=False, kind="stable", ignore_index=True)
    if scale:
        frame["Importance"] *= 100 / frame["Importance"].max()
    if rank:
        frame["Importance"] = np.arange(1, len(frame) + 1)
    return frame


def _report(
    object: Interpretable,  # noqa: A002 - R's name
    type: Native | None = None,  # noqa: A002 - R's name
) -> pd.DataFrame:
    """Return what the model itself reports."""
    check_results(object)
    params = object.native_importance(type).params
    frame = _importances(params.abs())
    if (params < 0).any():
        frame["Sign"] = np.where(params < 0, "NEG", "POS")
    return frame


def _importances(params: pd.Series[float]) -> pd.DataFrame:
    return pd.DataFrame({"Variable": list(params.index), "Importance": params.to_numpy()})
