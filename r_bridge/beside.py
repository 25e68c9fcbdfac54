"""Our values beside R's, question by question, with the conventions behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp import r_style
from pyinterp.checks import check_choice
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metrics import METRICS, MetricName
from pyinterp.r_style.r_functions import TABLE
from r_bridge.conversion import from_r
from r_bridge.h_statistics import hstats
from r_bridge.importance import vi_firm, vi_permute
from r_bridge.partial_dependence import partial
from r_bridge.session import SESSION

__all__ = [
    "CONVENTIONS",
    "WORDS",
    "Answer",
    "Question",
    "curves",
    "importances",
    "sentence",
    "statistics",
]

WORDS = "convention"
# Metrics of vip that we have too.
VIP = tuple(name for name in METRICS if name not in ("mse", "log_loss", "pr_auc"))
STATISTICS = (
    "Shares of the variance of the prediction, all effects evaluated at the rows and centered: "
    "h2 of all interactions, h2_overall of those of one feature with any, h2_pairwise of two "
    "(a share of their joint effect), pd_importance of one feature with its interactions.",
    "Pairs are of the features with the largest overall statistic. `h_statistic` has standard "
    "errors.",
)
OF_AN_EVENT = ("logloss", "roc_auc", "brier")


# Conventions in which R's numbers differ from ours: the topic, what R's packages do (`r`), what
# we do by default (`here`) and how to do as R does here (`same`), if there is an option for it.
CONVENTIONS = {
    key: {field: " ".join(text.split()) for field, text in words.items()}
    for key, words in TABLE["conventions"].items()
}


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


# Values of both sides, the rows of a table, and its notes.
Answer: TypeAlias = tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]


def sentence(key: str) -> str:
    """Return a convention as a note under a table."""
    words = CONVENTIONS[key]
    as_in_r = f" As in R: {words['same']}." if "same" in words else ""
    topic = words["topic"][0].upper() + words["topic"][1:]
    return f"{topic}. {words['r']}. Here by default: {words['here']}.{as_in_r}"


def curves(question: Question) -> Answer:
    """Compare the partial dependence of every variable."""
    ours, options = question.ours, question.options
    parts = []
    for name in question.names:
        here = r_style.partial(ours, name, **options)
        there = partial(ours, None, name, **options)
        _check_same(here[name], there[name], name)
        columns = {"feature": name, "value": list(here[name])}
        parts.append(pd.DataFrame(columns).assign(ours=here["yhat"], r=there["yhat"]))
    rows = [_end_points(part) for part in parts]
    notes = [f"Grid: that of pdp with {_enumerate(options)}."]
    if not options:
        notes = _sentences(("grid",), question, factors=("levels",))
    return (
        _with_difference(pd.concat(parts, ignore_index=True)),
        pd.DataFrame(rows, index=pd.Index(question.names)),
        (*notes, *_scale_notes(ours, options)),
    )


def _sentences(
    keys: Sequence[str],
    question: Question,
    factors: Sequence[str] = (),
    strings: Sequence[str] = (),
) -> list[str]:
    """Return conventions as notes; some only if there are factors or strings."""
    data = question.ours.analysis.problem.sample.variables[question.names]
    some = r_style.factors(data)
    texts = [name for name in question.names if is_category(data[name]) and name not in some]
    every = [*keys, *(factors if some else ()), *(strings if texts else ())]
    return [sentence(key) for key in every]


def _end_points(curve: pd.DataFrame) -> dict[str, Any]:
    """Return the row of a table for one curve."""
    here, there = curve["ours"].to_numpy(), curve["r"].to_numpy()
    return {
        "points": str(len(curve)),
        "ours, first": here[0],
        "R, first": there[0],
        "ours, last": here[-1],
        "R, last": there[-1],
        "max |diff|": float(np.abs(here - there).max()),
    }


def _scale_notes(ours: Interpretable, options: dict[str, Any]) -> list[str]:
    predictor = ours.analysis.problem.predictor
    if predictor.classes is None or options.get("type") == "regression":
        return []
    label = r_style.classes_in_order(predictor)[options.get("which_class", 1) - 1]
    if options.get("prob", False):
        return [f"Scale: probability of {label!r}; R counts the classes from `which.class = 1`."]
    return [f"Class: {label!r}. {sentence('scale')}"]


def importances(question: Question) -> Answer:
    """Compare FIRM and, if the response is known, permutation importance."""
    parts = [_firm(question)]
    each = "" if question.ours is question.results else ", of each refit on its evaluation rows"
    notes = [
        *_sentences(("firm",), question, factors=("category",), strings=("strings",)),
        f"The column default has `firm()`{each}.",
        *_scale_notes(question.ours, question.options),
    ]
    if question.ours.analysis.problem.sample.y is not None:
        metric = question.metric or _default_metric(question.ours)
        check_choice("metric", metric, VIP)
        parts.append(_permutation(question, metric))
        notes += [
            f"PFI: by how much the {metric} gets worse, the mean over R's own {question.nsim} "
            "permutations.",
            *_sentences(("permutation", "spread"), question),
        ]
    frame = pd.concat(parts, ignore_index=True)
    return frame, _cells(frame), tuple(notes)


def _firm(question: Question) -> pd.DataFrame:
    ours, names, options = question.ours, question.names, question.options
    default = question.results.firm(names).params.to_numpy()
    if len(default) != len(names):  # several classes: pdp has one
        default = np.full(len(names), np.nan)
    levels = r_style.factors(ours.analysis.problem.sample.variables[list(names)])
    return _beside(
        "FIRM",
        r_style.vi_firm(ours, names, **options),
        vi_firm(ours, None, names, **options),
        default,
        ["range / 4" if name in levels else "grid, sd over it" for name in names],
    )


def _permutation(question: Question, metric: MetricName) -> pd.DataFrame:
    ours, names, nsim, seed = question.ours, question.names, question.nsim, question.seed
    # One of two, whose probability some metrics are about.
    has_event = len(ours.analysis.problem.predictor.classes or ()) == 2 and metric in OF_AN_EVENT
    permutations = _permutations(ours.analysis.problem.sample.nobs, nsim, names, seed)
    return _beside(
        f"PFI, {metric}",
        r_style.vi_permute(ours, names, metric=metric, permutations=permutations),
        vi_permute(
            ours,
            None,
            names,
            metric=metric,
            nsim=nsim,
            seed=seed,
            event_level="second" if has_event else None,
        ),
        np.full(len(names), np.nan),
        [f"{nsim} permutations"] * len(names),
    )


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


def statistics(question: Question) -> Answer:
    """Compare the H statistics."""
    ours, names, options = question.ours, question.names, question.options
    n, most = ours.analysis.problem.sample.nobs, options.get("n_max", 500)
    if n > most:
        raise OptionError(
            f"hstats samples {most} of the {n} rows, and which ones is R's own secret; pass "
            f"`n_max={n}`, or results of fewer rows."
        )
    here = r_style.hstats(ours, names, **options)
    there = hstats(ours, None, names, **options)
    classes = ours.analysis.problem.predictor.classes
    if classes is not None:
        there = there[there["class"] == str(classes[-1])].drop(columns="class")
    keys = ["statistic", "term"]
    both = here.merge(there, on=keys, how="outer", validate="1:1", suffixes=("_ours", "_r"))
    if both.isna().any(axis=None):
        raise OptionError(
            "R and we chose different features for pairs: their overall statistics tie; pass "
            f"`pairwise_m={len(names)}`, so that all are taken."
        )
    columns = {"statistic": "measure", "term": "feature", "value_ours": "ours", "value_r": "r"}
    frame = _with_difference(both.rename(columns=columns))
    return frame, _cells(frame), STATISTICS


def _beside(
    measure: str,
    here: pd.DataFrame,
    there: pd.DataFrame,
    default: npt.NDArray[Any],
    words: Sequence[str],
) -> pd.DataFrame:
    values = there.set_index("Variable")["Importance"].loc[here["Variable"]]
    return _with_difference(
        pd.DataFrame(
            {
                "measure": measure,
                "feature": here["Variable"],
                "ours": here["Importance"],
                "r": values.to_numpy(),
                "default": default,
                WORDS: words,
            }
        )
    )


def _with_difference(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(difference=frame["ours"] - frame["r"])


def _cells(frame: pd.DataFrame) -> pd.DataFrame:
    names = [
        f"{m}: {f}" if f else m for m, f in zip(frame["measure"], frame["feature"], strict=True)
    ]
    columns = [c for c in ("ours", "r", "difference", "default", WORDS) if c in frame]
    return frame[columns].rename(columns={"r": "R"}).set_axis(pd.Index(names))


def _check_same(here: pd.Series[Any], there: pd.Series[Any], name: str) -> None:
    same = len(here) == len(there)
    if same and pd.api.types.is_numeric_dtype(here) and pd.api.types.is_numeric_dtype(there):
        same = bool((np.abs(here - there) <= 1e-9 * max(1.0, float(here.abs().max()))).all())
    elif same:
        same = list(map(str, here)) == list(map(str, there))
    if not same:
        raise OptionError(
            f"The grids of `{name}` differ: ours is {list(here)[:5]}..., R's {list(there)[:5]}...; "
            "pass `pred_grid`."
        )


def _enumerate(options: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in options.items())
