"""What all plots share: colors, limits of intervals, labels and captions."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["BLUE", "COLORS", "GRAY", "caption", "label", "rows_with_interval"]

BLUE, GRAY = "#0072B2", "#999999"  # Okabe and Ito: told apart by color-blind readers
COLORS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def rows_with_interval(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows with an interval; its open side, if it has one, is not drawn."""
    limited = np.isfinite(frame[["conf_low", "conf_high"]].to_numpy(dtype=np.float64))
    rows: pd.DataFrame = frame[limited.any(axis=1)]
    return rows.assign(
        conf_low=rows["conf_low"].where(np.isfinite(rows["conf_low"]), rows["estimate"]),
        conf_high=rows["conf_high"].where(np.isfinite(rows["conf_high"]), rows["estimate"]),
    )


def label(results: EstimandResults) -> str:
    """Return the label of the axis that has estimates."""
    unit = results.estimand.unit
    return f"{results.estimand.description}{f' [{unit}]' if unit else ''}"


def caption(results: EstimandResults, alpha: float, *, surface: bool) -> str:
    """Return what the estimates rest on and what the intervals are."""
    context = results.context
    level = f"{100 * (1 - alpha):g}%"
    side = "" if results.alternative == "two-sided" else "one-sided "
    if context.level == "learner":
        over = f"{context.refits} refits ({context.plan})"
    else:
        over = f"one fitted model, {context.n_evaluation:.0f} evaluation rows"
    band = "pointwise " if results.estimand.terms.axes else ""
    if results.simultaneous:
        band = "simultaneous "
    intervals = f"{level} {side}{band}intervals ({results.variance.label})"
    what = "" if surface else f" {intervals}."
    absent = int(results.params.isna().sum()) if results.estimand.terms.axes else 0
    if absent:
        what += f" {absent} of {len(results.params)} points have no estimate."
    return "\n".join(textwrap.wrap(f"{context.learner}, {over}.{what}", 60))
