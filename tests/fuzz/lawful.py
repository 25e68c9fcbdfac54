"""Laws that hold for every value that the package returns."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import joblib
import numpy as np
import pandas as pd
from plotnine import ggplot

from pyinterp.results.results import EstimandResults
from pyinterp.results.together import CausalResults, CurveResults, ImportanceResults

__all__ = ["broken_laws", "numbers"]

Law = Callable[[EstimandResults, pd.DataFrame], str]


@singledispatch
def numbers(value: Any) -> str:
    """Return a fingerprint of the numbers of a value."""
    if isinstance(value, pd.DataFrame | pd.Series | np.ndarray | tuple | float | int | str):
        return str(joblib.hash(value))
    return ""


@numbers.register
def _(value: EstimandResults) -> str:
    return str(joblib.hash((value.params, value.variance.cov)))


@singledispatch
def broken_laws(value: Any) -> list[str]:
    """Return the laws that a value breaks."""
    if type(value).__module__.startswith(("pyinterp", "statsmodels")) and not str(value).strip():
        return ["the text is empty"]
    if isinstance(value, np.ndarray | float | complex) and np.iscomplexobj(value):
        return ["complex numbers"]
    return []


@broken_laws.register
def _(value: EstimandResults) -> list[str]:
    frame = value.summary_frame()
    return [fault for law in LAWS if (fault := law(value, frame))]


@broken_laws.register(CurveResults)
@broken_laws.register(ImportanceResults)
def _(value: CurveResults | ImportanceResults) -> list[str]:
    if not value.results:
        return ["a table without terms"]
    str(value)
    return [fault for part in value.results.values() for fault in broken_laws(part)]


@broken_laws.register
def _(value: CausalResults) -> list[str]:
    str(value)
    parts = (value.effects, value.importance, value.share, value.rest)
    return [fault for part in parts for fault in broken_laws(part)]


@broken_laws.register
def _(value: ggplot) -> list[str]:
    from matplotlib import pyplot as plt

    plt.close(value.draw())
    return []


@broken_laws.register
def _(value: pd.DataFrame) -> list[str]:
    if any(np.iscomplexobj(value[c]) for c in value if value.columns.is_unique):
        return ["complex numbers"]
    p = value.get("p_value", value.get("p.value"))
    return _first(_p_values(p)) if p is not None else []


def _first(fault: str) -> list[str]:
    return [fault] if fault else []


def _p_values(p: pd.Series[float]) -> str:
    known = p.dropna()
    return "" if known.between(0, 1).all() else f"p-values outside [0, 1]: {known.tolist()[:3]}"


def _terms(value: EstimandResults, frame: pd.DataFrame) -> str:
    index = value.params.index
    if not len(index):
        return "a table without terms"
    return "" if index.is_unique else f"terms are not unique: {list(index)[:4]}"


def _text(value: EstimandResults, frame: pd.DataFrame) -> str:
    text = "".join(value.summary().as_text().split())
    absent = [t for t in value.params.index if "".join(str(t).split()) not in text]
    return f"the table lacks the term {absent[0][:80]!r}" if absent else ""


def _explained(value: EstimandResults, frame: pd.DataFrame) -> str:
    estimate = frame["estimate"].to_numpy(float)
    if np.isinf(estimate).any():
        return "an infinite estimate"
    lost = value.params.index[np.isnan(estimate)]
    silent = [term for term in lost if term not in value.estimand.words.missing]
    return f"no estimate for {silent[0]!r} and no reason" if silent else ""


def _errors(value: EstimandResults, frame: pd.DataFrame) -> str:
    for name in ("std_error", "mcse"):
        known = frame[name].dropna()
        if not ((known >= 0) & np.isfinite(known)).all():
            return f"{name} is negative or infinite: {known.tolist()[:3]}"
    return ""


def _inside(value: EstimandResults, frame: pd.DataFrame) -> str:
    estimate, low, high = (frame[c].to_numpy(float) for c in ("estimate", "conf_low", "conf_high"))
    if (np.isnan(low) != np.isnan(high)).any():
        return "one limit of an interval is missing"
    given = ~np.isnan(low)
    slack = 1e-9 * np.abs(estimate[given])
    held = (low[given] <= estimate[given] + slack) & (estimate[given] - slack <= high[given])
    return "" if held.all() else "an interval does not hold its estimate"


def _limits(value: EstimandResults, frame: pd.DataFrame) -> str:
    """So few bootstraps have no limits, and tables must say so."""
    both = np.isneginf(frame["conf_low"].to_numpy(float)) & np.isposinf(
        frame["conf_high"].to_numpy(float)
    )
    told = "No limit for" in str(value.summary())
    return "an interval from -inf to inf" if both.any() and not told else ""


def _probabilities(value: EstimandResults, frame: pd.DataFrame) -> str:
    return _p_values(frame["p_value"])


def _rows(value: EstimandResults, frame: pd.DataFrame) -> str:
    text = value.summary().as_text()
    return "" if str(value.nobs) in text else "the table lacks the number of rows"


def _markup(value: EstimandResults, frame: pd.DataFrame) -> str:
    summary = value.summary()
    summary.as_latex()
    summary.as_csv()
    return "HTML that is not escaped" if "<b>" in summary.as_html() else ""


LAWS: tuple[Law, ...] = (
    _terms,
    _text,
    _explained,
    _errors,
    _inside,
    _limits,
    _probabilities,
    _rows,
    _markup,
)
