"""R's vip and hstats without R: interactions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Unpack

import pandas as pd

from pyinterp.data.features import names_of
from pyinterp.errors import OptionError
from pyinterp.estimands.interaction.h_statistic import Order
from pyinterp.learner.interpretable import Interpretable
from pyinterp.r_style.arguments import (
    Curve,
    CurveKeywords,
    check_results,
    names_or_all,
    translate,
)
from pyinterp.r_style.r_functions import HSTATS, VINT

__all__ = ["hstats", "vint"]


@VINT.keywords("r_style", Curve)
def vint(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    **curve: Unpack[CurveKeywords],
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
    names = names_or_all(object, feature_names)
    pairs = list(combinations(names, 2))
    params = object.vint(pairs, **translate(object, Curve(**curve), names)).params
    return pd.DataFrame(
        {"Variables": ["*".join(pair) for pair in pairs], "Interaction": params.to_numpy()}
    ).sort_values("Interaction", ascending=False, kind="stable", ignore_index=True)


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

    pairs = list(combinations(strongest(pairwise_m), 2))
    triples = list(combinations(strongest(min(threeway_m, pairwise_m)), 3))
    # The statistic, its order, its features or sets of them, and what these are called.
    parts: list[tuple[str, Order, Sequence[Any], Sequence[str]]] = [
        ("h2", "total", names, [""]),
        ("h2_overall", "overall", names, names),
        ("h2_pairwise", "pairwise", pairs, [":".join(pair) for pair in pairs]),
        ("h2_threeway", "three-way", triples, [":".join(triple) for triple in triples]),
        ("pd_importance", "importance", names, names),
    ]
    frames = []
    for statistic, order, features, terms in parts:
        if features:
            values = object.h_statistic(
                features, order=order, normalize=normalize, squared=squared, **sizes
            ).params
            columns = {"statistic": statistic, "term": terms, "value": values.to_numpy()}
            frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def _check_classes(object: Interpretable) -> None:  # noqa: A002 - R's name
    """Raise `OptionError` for what is no results, and for more than two classes."""
    check_results(object)
    classes = object.analysis.problem.predictor.classes
    if classes is not None and len(classes) > 2:
        raise OptionError(
            f"`hstats` is for numbers and two classes here, not for {len(classes)}; "
            "`h_statistic` is for any number of them."
        )
