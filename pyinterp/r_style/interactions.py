"""R's vip and hstats without R: interactions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Unpack

import pandas as pd

from pyinterp.checks import check_count, check_flag
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError
from pyinterp.estimands.interaction.h_statistic import Order
from pyinterp.learner.interpretable import Interpretable
from pyinterp.parameters import takes
from pyinterp.r_style.arguments import Curve, check_results, chosen, translated

__all__ = ["hstats", "vint"]


@takes(Curve)
def vint(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    **curve: Unpack[Curve],
) -> pd.DataFrame:
    """Interaction of all pairs of features as ``vip::vint`` (vip before 0.4) computes it.

    Returns
    -------
    pandas.DataFrame
        Columns Variables, such as ``x1*x2``, and Interaction, largest first.
    """
    names = chosen(object, feature_names)
    pairs = list(combinations(names, 2))
    found = object.vint(pairs, **translated(object, curve, names)).params
    return pd.DataFrame(
        {"Variables": ["*".join(pair) for pair in pairs], "Interaction": found.to_numpy()}
    ).sort_values("Interaction", ascending=False, kind="stable", ignore_index=True)


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
    v : str or sequence of str, optional
        Features; by default all.
    pairwise_m, threeway_m : int
        Number of features, those with the largest overall numerators, whose pairs and triples are
        measured; `threeway_m` at most `pairwise_m`.
    n_max : int
        Rows at most; more are sampled, not the ones that R would sample.
    eps : float
        Numerators of at most this count as 0.
    normalize, squared : bool

    Returns
    -------
    pandas.DataFrame
        Columns statistic (h2, h2_overall, h2_pairwise, h2_threeway, pd_importance), term and value.
    """
    check_results(object)
    classes = object.analysis.problem.predictor.classes
    if classes is not None and len(classes) > 2:
        raise OptionError(
            f"`hstats` is for numbers and two classes here, not for {len(classes)}; "
            "`h_statistic` is for any number of them."
        )
    check_count("pairwise_m", pairwise_m, 0)
    check_count("threeway_m", threeway_m, 0)
    check_flag("normalize", normalize)
    check_flag("squared", squared)
    known = list(object.analysis.problem.features) if v is None else names_of(v, "v")
    own: dict[str, Any] = {"rows": n_max, "eps": eps}
    asked: dict[str, Any] = {**own, "normalize": normalize, "squared": squared}
    overall = object.h_statistic(known, order="overall", normalize=False, **own).params
    first = overall.sort_values(ascending=False, kind="stable").index

    def sets(most: int, size: int) -> list[tuple[str, ...]]:
        chosen = first[: min(most, len(known))]
        return list(combinations([name for name in known if name in chosen], size))

    def part(statistic: str, order: Order, of: Any, terms: Sequence[str]) -> pd.DataFrame:
        values = object.h_statistic(of, order=order, **asked).params.to_numpy()
        return pd.DataFrame({"statistic": statistic, "term": terms, "value": values})

    parts = [
        part("h2", "total", known, [""]),
        part("h2_overall", "overall", known, known),
    ]
    pairs, triples = sets(pairwise_m, 2), sets(min(threeway_m, pairwise_m), 3)
    if pairs:
        parts.append(part("h2_pairwise", "pairwise", pairs, [":".join(p) for p in pairs]))
    if triples:
        parts.append(part("h2_threeway", "three-way", triples, [":".join(t) for t in triples]))
    parts.append(part("pd_importance", "importance", known, known))
    return pd.concat(parts, ignore_index=True)
