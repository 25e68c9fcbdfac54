"""R's package hstats on models of Python: Friedman and Popescu's H statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from pyinterp.r_style.r_functions import HSTATS
from r_bridge.conversion import from_r, text_from_r
from r_bridge.model_for_r import ModelForR, Rows, hand_over
from r_bridge.packages import need
from r_bridge.partial_dependence import variables_of
from r_bridge.session import SESSION

__all__ = ["hstats"]

STATISTICS = ("h2", "h2_overall", "h2_pairwise", "h2_threeway", "pd_importance")


@HSTATS.keywords("r_bridge")
def hstats(
    model: Any,
    data: Rows,
    v: str | Sequence[str] | None = None,
    *,
    pairwise_m: int = 5,
    threeway_m: int = 0,
    approx: bool = False,
    grid_size: int = 50,
    n_max: int = 500,
    eps: float = 1e-10,
    w: Sequence[float] | None = None,
    normalize: bool = True,
    squared: bool = True,
    classes: Sequence[Any] | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """H statistics by R's ``hstats::hstats``, of a model of Python.

    Parameters
    ----------
    model, data, classes
        As for `partial`.
    {arguments}
    seed : int, optional
        R's ``set.seed``, for this call.

    Returns
    -------
    pandas.DataFrame
        One row per value: ``statistic`` ("h2", "h2_overall", "h2_pairwise", "h2_threeway",
        "pd_importance"), ``term`` ("x1", "x1:x2"; empty for "h2"), ``value`` and, for a classifier,
        ``class``; in R's order.
    """
    need("hstats", "`r_bridge.hstats`")
    sizes = {
        "pairwise_m": pairwise_m,
        "threeway_m": threeway_m,
        "approx": approx,
        "grid_size": grid_size,
        "n_max": n_max,
        "eps": eps,
    }
    HSTATS.check({**sizes, "normalize": normalize, "squared": squared})
    r_model = hand_over(model, data, classes)
    arguments: list[tuple[str, Any]] = [
        ("", r_model.in_r()),
        ("X", r_model.train),
        ("v", None if v is None else r_model.words(variables_of(v, r_model, "v"))),
        *sizes.items(),
        ("w", None if w is None else [float(weight) for weight in w]),
        ("verbose", False),
    ]
    value = SESSION.call_with("hstats::hstats", arguments, seed=seed)
    parts = [
        _values(value, name, r_model, normalize=normalize, squared=squared) for name in STATISTICS
    ]
    return pd.concat([p for p in parts if p is not None], ignore_index=True)


def _values(
    value: Any, name: str, r_model: ModelForR, *, normalize: bool, squared: bool
) -> pd.DataFrame | None:
    statistic = SESSION.call(f"hstats::{name}", value, normalize=normalize, squared=squared)
    matrix = statistic[text_from_r(SESSION.call("names", statistic)).index("M")]
    values = from_r(matrix, SESSION.r)
    if values is None:
        return None
    terms = [""] if name == "h2" else text_from_r(SESSION.call("rownames", matrix))
    terms = [":".join(map(r_model.names.from_r, term.split(":"))) for term in terms]
    classes = r_model.classes
    columns = ("",) if classes is None else classes
    frame = pd.DataFrame(
        [
            {"statistic": name, "term": term, "class": column, "value": values[i, j]}
            for j, column in enumerate(columns)
            for i, term in enumerate(terms)
        ]
    )
    return frame if classes is not None else frame.drop(columns="class")
