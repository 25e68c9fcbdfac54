"""R's vip and hstats without R: interactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError
from pyinterp.estimands.interaction.h_statistic import Order
from pyinterp.learner.interpretable import Interpretable
from pyinterp.r_style.arguments import DECILES, Curve, Task, check_results, names_or_all, translate
from pyinterp.r_style.r_functions import HSTATS, VINT

__all__ = ["hstats", "vint"]


@VINT.keywords("r_style")
def vint(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    *,
    grid_resolution: int | None = None,
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
    """Interaction of all pairs of features as ``vip::vint`` (vip before 0.4) computes it.

    Parameters
    ----------
    object : results
    {arguments}

    Returns
    -------
    pandas.DataFrame
        Columns Variables, such as ``x1*x2``, and Interaction, largest first.
    """
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
    names = names_or_all(object, feature_names)
    pairs = list(combinations(names, 2))
    params = object.vint(pairs, **translate(object, curve, names)).params
    return pd.DataFrame(
        {"Variables": ["*".join(pair) for pair in pairs], "Interaction": params.to_numpy()}
    ).sort_values("Interaction", ascending=False, kind="stable", ignore_index=True)


class _Part(NamedTuple):
    """One statistic of hstats, its features or sets of them, and what these are called."""

    statistic: str
    order: Order
    features: Sequence[Any]
    terms: Sequence[str]


@HSTATS.keywords("r_style")
def hstats(
    object: Interpretable,  # noqa: A002 - R's name
    v: str | Sequence[str] | None = None,
    *,
    pairwise_m: int = 5,
    threeway_m: int = 0,
    n_max: int = 500,
    eps: float = 1e-10,
    normalize: bool = True,
    squared: bool = True,
) -> pd.DataFrame:
    """Friedman and Popescu's H statistics as ``hstats::hstats`` computes them.

    Parameters
    ----------
    object : results
        Of two classes the values are for the probability of the second.
    {arguments}

    Returns
    -------
    pandas.DataFrame
        Columns statistic (h2, h2_overall, h2_pairwise, h2_threeway, pd_importance), term and value.
    """
    HSTATS.check(
        {
            "pairwise_m": pairwise_m,
            "threeway_m": threeway_m,
            "n_max": n_max,
            "eps": eps,
            "normalize": normalize,
            "squared": squared,
        }
    )
    _check_classes(object)
    names = list(object.analysis.problem.features) if v is None else names_of(v, "v")
    sizes: dict[str, Any] = {"most_rows": n_max, "eps": eps}
    overall = object.h_statistic(names, order="overall", normalize=False, **sizes).params
    first = list(overall.sort_values(ascending=False, kind="stable").index)

    def strongest(number: int) -> list[str]:
        return [name for name in names if name in first[:number]]

    def frame(part: _Part) -> pd.DataFrame:
        values = object.h_statistic(
            part.features, order=part.order, normalize=normalize, squared=squared, **sizes
        ).params
        columns = {"statistic": part.statistic, "term": part.terms, "value": values.to_numpy()}
        return pd.DataFrame(columns)

    parts = _parts(names, strongest(pairwise_m), strongest(min(threeway_m, pairwise_m)))
    return pd.concat(map(frame, parts), ignore_index=True)


def _check_classes(object: Interpretable) -> None:  # noqa: A002 - R's name
    """Raise `OptionError` for what is no results, and for more than two classes."""
    check_results(object)
    classes = object.analysis.problem.predictor.classes
    if classes is not None and len(classes) > 2:
        raise OptionError(
            f"`hstats` is for numbers and two classes here, not for {len(classes)}; "
            "`h_statistic` is for any number of them."
        )


def _parts(names: Sequence[str], pairwise: Sequence[str], threeway: Sequence[str]) -> list[_Part]:
    """Return the statistics of features, of pairs of some and of triples of some, in R's order."""
    pairs, triples = list(combinations(pairwise, 2)), list(combinations(threeway, 3))
    parts = [
        _Part("h2", "total", names, [""]),
        _Part("h2_overall", "overall", names, names),
        _Part("h2_pairwise", "pairwise", pairs, [":".join(pair) for pair in pairs]),
        _Part("h2_threeway", "three-way", triples, [":".join(triple) for triple in triples]),
        _Part("pd_importance", "importance", names, names),
    ]
    return [part for part in parts if len(part.features)]
