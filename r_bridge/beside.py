"""Our values beside R's, question by question, with the conventions behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp import r_style
from pyinterp.checks import check_choice
from pyinterp.errors import OptionError
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metrics import METRICS, MetricName
from r_bridge.conversion import from_r
from r_bridge.h_statistics import hstats
from r_bridge.importance import vi_firm, vi_permute, vint
from r_bridge.partial_dependence import partial
from r_bridge.session import SESSION

__all__ = ["WORDS", "Answer", "Question", "curves", "importances", "interactions", "statistics"]

WORDS = "convention"
# Metrics of vip that we have too.
VIP = tuple(name for name in METRICS if name != "mse")
OF_AN_EVENT = ("logloss", "roc_auc", "brier")


@dataclass(frozen=True, kw_only=True)
class Question:
    """What both sides are asked.

    Attributes
    ----------
    results : Interpretable
        What the user has.
    ours : Interpretable
        The same, as one function of rows.
    names : list of str
        The variables.
    metric, nsim, seed
        Of permutation importance.
    options : dict
        R's arguments.
    """

    results: Interpretable
    ours: Interpretable
    names: list[str]
    metric: MetricName | None
    nsim: int
    seed: int
    options: dict[str, Any]


class Answer(NamedTuple):
    """Values of both sides, the rows of a table, and its notes."""

    frame: pd.DataFrame
    table: pd.DataFrame
    notes: tuple[str, ...]


def curves(question: Question) -> Answer:
    """Compare the partial dependence of every variable."""
    ours, names, options = question.ours, question.names, question.options
    parts, rows = [], []
    for name in names:
        own, theirs = r_style.partial(ours, name, **options), partial(ours, None, name, **options)
        _check_same(own[name], theirs[name], name)
        values = own["yhat"].to_numpy(), theirs["yhat"].to_numpy()
        part = pd.DataFrame({"feature": name, "value": list(own[name]), "ours": values[0]})
        parts.append(part.assign(r=values[1]))
        rows.append(
            {
                "points": str(len(own)),
                "ours, first": values[0][0],
                "R, first": values[1][0],
                "ours, last": values[0][-1],
                "R, last": values[1][-1],
                "max |diff|": float(np.abs(values[0] - values[1]).max()),
            }
        )
    table = pd.DataFrame(rows, index=pd.Index(names))
    notes = [
        "Grid: that of pdp, min(number of distinct values, 51) equally spaced values, whole "
        "numbers truncated, all levels of a factor; `pd` takes quantiles, and this grid with "
        '`grid="r"`.'
        if not options
        else f"Grid: that of pdp with {_listed(options)}."
    ]
    notes += _scale_notes(ours, options)
    return Answer(_with_difference(pd.concat(parts, ignore_index=True)), table, tuple(notes))


def _scale_notes(ours: Interpretable, options: dict[str, Any]) -> list[str]:
    predictor = ours.analysis.problem.predictor
    if predictor.classes is None or options.get("type") == "regression":
        return []
    which = r_style.classes_in_order(predictor)[options.get("which_class", 1) - 1]
    if options.get("prob", False):
        return [f"Scale: probability of {which!r}; R counts the classes from `which.class = 1`."]
    half = ", half the logit" if len(predictor.classes) == 2 else ""
    return [
        f"Scale: pdp's centered logit of {which!r}, log p minus its mean over the classes{half}; "
        "`pd` takes the probability (of the second of two classes), and this with "
        '`scale="centered-logit"`.'
    ]


def importances(question: Question) -> Answer:
    """Compare FIRM and, if the response is known, permutation importance."""
    ours, names, options = question.ours, question.names, question.options
    data = ours.analysis.problem.population
    default = question.results.firm(names).params.to_numpy()
    if len(default) != len(names):  # several classes: pdp has one
        default = np.full(len(names), np.nan)
    levels = r_style.factors(data.variables[list(names)])
    words = ["range / 4" if name in levels else "grid, sd over it" for name in names]
    firm = _beside(
        "FIRM",
        r_style.vi_firm(ours, names, **options),
        vi_firm(ours, None, names, **options),
        default,
        words,
    )
    notes = [
        "FIRM: the sd over the grid points of pdp's partial dependence, range / 4 for factors "
        "(strings are none). default: `firm()`, whose grid are quantiles"
        + ("." if ours is question.results else ", of each refit on its own evaluation rows."),
        *_scale_notes(ours, options),
    ]
    if data.y is None:
        return Answer(firm, _shown(firm), tuple(notes))
    metric = question.metric or _default_metric(ours)
    check_choice("metric", metric, VIP)
    nsim, seed = question.nsim, question.seed
    pfi = _beside(
        f"PFI, {metric}",
        r_style.vi_permute(
            ours, names, metric=metric, permutations=_permutations(data.nobs, nsim, names, seed)
        ),
        vi_permute(
            ours,
            None,
            names,
            metric=metric,
            nsim=nsim,
            seed=seed,
            event_level="second" if _has_an_event(ours, metric) else None,
        ),
        np.full(len(names), np.nan),
        [f"{nsim} permutations"] * len(names),
    )
    notes.append(
        f"PFI: by how much the {metric} gets worse, the mean over R's own {nsim} permutations. "
        "`pfi()` has the mean over all pairs of rows of a per-row loss, and standard errors; vip's "
        "StDev is Monte Carlo error."
    )
    both = pd.concat([firm, pfi], ignore_index=True)
    return Answer(both, _shown(both), tuple(notes))


def _has_an_event(ours: Interpretable, metric: MetricName) -> bool:
    """Whether a metric is about the probability of one of two classes."""
    classes = ours.analysis.problem.predictor.classes
    return classes is not None and len(classes) == 2 and metric in OF_AN_EVENT


def _default_metric(ours: Interpretable) -> MetricName:
    classes = ours.analysis.problem.predictor.classes
    if classes is None:
        return "rmse"
    return "logloss" if len(classes) == 2 else "accuracy"


def _permutations(
    n: int, nsim: int, names: Sequence[str], seed: int
) -> dict[str, npt.NDArray[np.intp]]:
    """Return what vip draws: `sample(n)` for every feature in turn, `nsim` times over."""
    draws = from_r(
        SESSION.call(
            "function(n, k) vapply(seq_len(k), function(i) sample(n), integer(n))",
            n,
            nsim * len(names),
            seed=seed,
        ),
        SESSION.r,
    )
    index = np.asarray(draws, dtype=np.intp).reshape(n, nsim, len(names)) - 1
    return {name: index[:, :, j] for j, name in enumerate(names)}


def interactions(question: Question) -> Answer:
    """Compare vint of all pairs of variables."""
    ours, names, options = question.ours, question.names, question.options
    own = r_style.vint(ours, names, **options).set_index("Variables")["Interaction"]
    theirs = vint(ours, None, names, **options).set_index("Variables")["Interaction"]
    frame = pd.DataFrame({"ours": own, "r": theirs.loc[own.index]})
    frame = _with_difference(frame.rename_axis("feature").reset_index().assign(measure="vint"))
    notes = (
        "vint: for every value of one feature the sd of the partial dependence over the other, and "
        "the sd of those; both ways round, and their mean. It can't see effects of two categories "
        "that cross.",
        *_scale_notes(ours, options),
    )
    return Answer(frame, _shown(frame), notes)


def statistics(question: Question) -> Answer:
    """Compare the H statistics."""
    ours, names, options = question.ours, question.names, question.options
    n, most = ours.analysis.problem.population.nobs, options.get("n_max", 500)
    if n > most:
        raise OptionError(
            f"hstats samples {most} of the {n} rows, and which ones is R's own secret; pass "
            f"`n_max={n}`, or results of fewer rows."
        )
    own = r_style.hstats(ours, names, **options)
    theirs = hstats(ours, None, names, **options)
    classes = ours.analysis.problem.predictor.classes
    if classes is not None:
        theirs = theirs[theirs["class"] == str(classes[-1])].drop(columns="class")
    keys = ["statistic", "term"]
    both = own.merge(theirs, on=keys, how="outer", validate="1:1", suffixes=("_own", "_r"))
    if both.isna().any(axis=None):
        raise OptionError(
            "R and we chose different features for pairs: their overall statistics tie; pass "
            f"`pairwise_m={len(names)}`, so that all are taken."
        )
    columns = {"statistic": "measure", "term": "feature", "value_own": "ours", "value_r": "r"}
    frame = _with_difference(both.rename(columns=columns))
    notes = (
        "Shares of the variance of the prediction, all effects evaluated at the rows and centered: "
        "h2 of all interactions, h2_overall of those of one feature with any, h2_pairwise of two "
        "(a share of their joint effect), pd_importance of one feature with its interactions.",
        "Pairs are of the features with the largest overall statistic. `h_statistic` has standard "
        "errors.",
    )
    return Answer(frame, _shown(frame), notes)


def _beside(
    measure: str,
    own: pd.DataFrame,
    theirs: pd.DataFrame,
    default: npt.NDArray[Any],
    words: Sequence[str],
) -> pd.DataFrame:
    values = theirs.set_index("Variable")["Importance"].loc[own["Variable"]]
    return _with_difference(
        pd.DataFrame(
            {
                "measure": measure,
                "feature": own["Variable"],
                "ours": own["Importance"],
                "r": values.to_numpy(),
                "default": default,
                WORDS: words,
            }
        )
    )


def _with_difference(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(difference=frame["ours"] - frame["r"])


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    names = [
        f"{m}: {f}" if f else m for m, f in zip(frame["measure"], frame["feature"], strict=True)
    ]
    columns = [c for c in ("ours", "r", "difference", "default", WORDS) if c in frame]
    return frame[columns].rename(columns={"r": "R"}).set_axis(pd.Index(names))


def _check_same(own: pd.Series[Any], theirs: pd.Series[Any], name: str) -> None:
    if pd.api.types.is_numeric_dtype(own) and pd.api.types.is_numeric_dtype(theirs):
        scale = max(1.0, float(own.abs().max()))
        same = len(own) == len(theirs) and bool(
            (np.abs(own.to_numpy(float) - theirs.to_numpy(float)) <= 1e-9 * scale).all()
        )
    else:
        same = list(map(str, own)) == list(map(str, theirs))
    if not same:
        raise OptionError(
            f"The grids of `{name}` differ: ours is {list(own)[:5]}..., R's {list(theirs)[:5]}...; "
            "pass `pred_grid`."
        )


def _listed(options: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in options.items())
