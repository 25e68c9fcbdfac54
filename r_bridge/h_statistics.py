"""R's package hstats on models of Python: Friedman and Popescu's H statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from r_bridge.conversion import from_r, text_from_r
from r_bridge.handed import ModelForR, Rows, hand_over
from r_bridge.packages import need
from r_bridge.partial_dependence import variables_of
from r_bridge.session import SESSION

__all__ = ["hstats"]

STATISTICS = ("h2", "h2_overall", "h2_pairwise", "h2_threeway", "pd_importance")


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
    v : str or sequence of str, optional
        Features; by default all variables.
    pairwise_m, threeway_m : int
        Number of features, those with the largest overall statistic, whose pairs and triples are
        measured.
    approx : bool
        Replace dense features by `grid_size` quantiles.
    grid_size : int
        For `approx`.
    n_max : int
        Rows at most; more are sampled (see `seed`).
    eps : float
        Numerators below it count as 0.
    w : sequence of float, optional
        Weights of the rows.
    normalize, squared : bool
        As in R's ``h2_pairwise`` and its like.
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
    handed = hand_over(model, data, classes)
    wanted = None if v is None else handed.words(variables_of(v, handed, "v"))
    arguments: list[tuple[str, Any]] = [
        ("", handed.in_r()),
        ("X", handed.train),
        ("v", wanted),
        ("pairwise_m", pairwise_m),
        ("threeway_m", threeway_m),
        ("approx", approx),
        ("grid_size", grid_size),
        ("n_max", n_max),
        ("eps", eps),
        ("w", None if w is None else [float(weight) for weight in w]),
        ("verbose", False),
    ]
    made = SESSION.call_with("hstats::hstats", arguments, seed=seed)
    parts = [
        _values(made, name, handed, normalize=normalize, squared=squared) for name in STATISTICS
    ]
    return pd.concat([p for p in parts if p is not None], ignore_index=True)


def _values(
    made: Any, name: str, handed: ModelForR, *, normalize: bool, squared: bool
) -> pd.DataFrame | None:
    found = SESSION.call(f"hstats::{name}", made, normalize=normalize, squared=squared)
    matrix = found[text_from_r(SESSION.call("names", found)).index("M")]
    values = from_r(matrix, SESSION.r)
    if values is None:
        return None
    terms = [""] if name == "h2" else text_from_r(SESSION.call("rownames", matrix))
    terms = [handed.names.parts_from_r(term, ":") for term in terms]
    classes = handed.classes
    columns = ("",) if classes is None else classes
    frame = pd.DataFrame(
        [
            {"statistic": name, "term": term, "class": column, "value": values[i, j]}
            for j, column in enumerate(columns)
            for i, term in enumerate(terms)
        ]
    )
    return frame if classes is not None else frame.drop(columns="class")
