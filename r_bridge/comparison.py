"""Our numbers beside those of R's packages, on the identical prediction function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp import r_style
from pyinterp.errors import OptionError, check_choice
from pyinterp.estimands.base import check_names, names_of
from pyinterp.fitted import FittedModel
from pyinterp.interpretable import Interpretable
from pyinterp.metrics import METRICS, MetricName
from pyinterp.summary import Table, summarize_frame
from r_bridge.conversion import from_r, text_from_r
from r_bridge.h_statistics import hstats
from r_bridge.handed import hand_over
from r_bridge.importance import vi_firm, vi_permute, vint
from r_bridge.packages import need
from r_bridge.partial_dependence import partial
from r_bridge.session import SESSION

__all__ = ["RComparison", "compare"]

What: TypeAlias = Literal["pdp", "vip", "vint", "hstats"]
PACKAGES: dict[What, tuple[str, ...]] = {
    "pdp": ("pdp",),
    "vip": ("pdp", "vip"),
    "vint": ("pdp", "vip"),
    "hstats": ("hstats",),
}
WORDS = "convention"
# Metrics of vip that we have too.
VIP = tuple(name for name in METRICS if name != "mse")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RComparison:
    """Our values, R's and their difference.

    Attributes
    ----------
    what : str
    frame : pandas.DataFrame
        One row per value: what it is of, ``ours`` (in R's conventions), ``r`` and ``difference``;
        and ``default``, what our own method gives with its own defaults, where there is a
        value of the same name.
    table : pandas.DataFrame
        The rows that `summary` shows.
    facts : tuple of (str, str)
        The header.
    notes : tuple of str
        The conventions that R's numbers rest on, and how ours differ by default.
    """

    what: What
    frame: pd.DataFrame
    table: pd.DataFrame
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def max_abs_diff(self) -> float:
        """The largest absolute difference of ours and R's; infinite if one has no value."""
        return _largest(self.frame)

    def summary(self) -> Table:
        """Return a table; of curves a row per variable, its values those at the end points."""
        formats = {
            name: "" if name in (WORDS, "points") else "%.1e" if "diff" in name else "%.6g"
            for name in map(str, self.table)
        }
        title = f"pyinterp and R's {' and '.join(PACKAGES[self.what])} on the same predictions"
        return summarize_frame(self.table, formats, title=title, facts=self.facts, notes=self.notes)

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())


def compare(
    results: Interpretable,
    what: What = "pdp",
    features: str | Sequence[str] | None = None,
    *,
    metric: MetricName | None = None,
    nsim: int = 5,
    seed: int = 1,
    **options: Any,
) -> RComparison:
    """Ask R's packages what we have answered, on the identical prediction function.

    R calls the model back for every prediction, and ours are computed as `r_style` does, in R's
    conventions but by our own engines: what is left is rounding, or an error of one of the two.

    Parameters
    ----------
    results : FittedModel or LearnerResults
        Of a learner, the function compared is the mean of its refits' predictions, on all rows.
    what : {"pdp", "vip", "vint", "hstats"}
        "pdp": ``partial`` of every feature. "vip": ``vi_firm`` and, if the response is known,
        ``vi_permute`` with the very permutations that R draws. "vint" needs vip before 0.4.
    features : str or sequence of str, optional
        Variables; by default all.
    metric : str, optional
        Of ``vi_permute``; by default "rmse", for two classes "logloss", for more "accuracy".
    nsim, seed : int
        Number of permutations of ``vi_permute``, and R's ``set.seed`` before they are drawn.
    **options
        Of ``pdp::partial`` (see `pyinterp.r_style.Curve`), or of ``hstats`` (`v` is `features`).

    Returns
    -------
    RComparison

    Raises
    ------
    RMissingError
        If R, rpy2 or a package of R is absent.
    """
    if not isinstance(results, Interpretable):
        raise OptionError(
            "`compare` needs the results of a learner's `fit`, or `pi.FittedModel(model, X, y)`; "
            f"got {type(results).__name__}."
        )
    check_choice("what", what, PACKAGES)
    versions = {name: need(name, "`r_bridge.compare`") for name in PACKAGES[what]}
    ours = _one_function(results)
    names = _names(ours, features)
    asked: dict[str, Callable[[], tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]]] = {
        "pdp": lambda: _curves(ours, names, options),
        "vip": lambda: _importances(results, ours, names, metric, nsim, seed, options),
        "vint": lambda: _interactions(ours, names, options),
        "hstats": lambda: _statistics(ours, names, options),
    }
    frame, table, notes = asked[what]()
    frame["difference"] = frame["ours"] - frame["r"]
    context = ours._analysis.context
    said = ", ".join(f"{n} {'.'.join(map(str, v))}" for n, v in versions.items())
    base = text_from_r(SESSION.evaluate("as.character(getRversion())"))[0]
    learner = results._analysis.context.learner
    if ours is not results:
        learner += f", mean of {results._analysis.context.refits} refits"
    facts = (
        ("Function:", learner),
        ("R:", f"{base}, {said}"),
        ("Rows:", str(context.nobs)),
        ("Largest difference:", f"{_largest(frame):.1e}"),
        ("Engine:", ours._analysis.engine_name),
    )
    return RComparison(what=what, frame=frame, table=table, facts=facts, notes=notes)


class _Mean:
    """What predicts the mean of refits."""

    def __init__(self, predict: Callable[[pd.DataFrame], Any], *, event_first: bool) -> None:
        self.event_first = event_first
        self._mean = predict

    def predict(self, variables: pd.DataFrame) -> Any:
        return self._mean(variables)


class _MeanProbability(_Mean):
    def __init__(
        self, predict: Callable[[pd.DataFrame], Any], classes: Sequence[Any], *, event_first: bool
    ) -> None:
        super().__init__(predict, event_first=event_first)
        self.classes_ = np.asarray(classes, dtype=object)

    def predict_proba(self, variables: pd.DataFrame) -> Any:
        return self._mean(variables)


def _one_function(results: Interpretable) -> Interpretable:
    """Return a fitted model as it is, and of a learner the mean of its refits.

    R knows no groups of variables: of a fitted model that has some, its function alone.
    """
    analysis = results._analysis
    grouped = any(len(variables) > 1 for variables in analysis.subject.features.values())
    if len(analysis.refits) == 1 and not grouped:
        return results
    handed = hand_over(results, None)
    population, predictor = analysis.subject.population, analysis.subject.predictor
    y: Any = population.y
    response = population.response
    if response is not None and response.classes is not None and y is not None:
        y = pd.Series([response.classes[int(code)] for code in y])
    name = "y" if response is None else response.name
    classes = predictor.classes
    first = classes is not None and r_style.classes_in_order(predictor)[0] != classes[0]
    made = (
        _Mean(handed.predict, event_first=first)
        if classes is None
        else _MeanProbability(handed.predict, classes, event_first=first)
    )
    return FittedModel(made, population.variables, None if y is None else pd.Series(y).rename(name))


def _names(results: Interpretable, features: str | Sequence[str] | None) -> list[str]:
    known = [str(name) for name in results._analysis.subject.population.variables]
    asked = known if features is None else names_of(features)
    check_names(asked, known, kind="variable")
    return asked


def _largest(frame: pd.DataFrame) -> float:
    """Return the largest absolute difference; infinite where only one of the two is missing."""
    one_missing = frame["ours"].isna() != frame["r"].isna()
    return float("inf") if one_missing.any() else float((frame["ours"] - frame["r"]).abs().max())


def _curves(
    ours: Interpretable, names: Sequence[str], options: dict[str, Any]
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
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
    return pd.concat(parts, ignore_index=True), table, tuple(notes)


def _scale_notes(ours: Interpretable, options: dict[str, Any]) -> list[str]:
    predictor = ours._analysis.subject.predictor
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


def _importances(
    results: Interpretable,
    ours: Interpretable,
    names: Sequence[str],
    metric: MetricName | None,
    nsim: int,
    seed: int,
    options: dict[str, Any],
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    own, theirs = r_style.vi_firm(ours, names, **options), vi_firm(ours, None, names, **options)
    data = ours._analysis.subject.population
    default = results.firm(names).params
    if len(default) != len(names):  # several classes: pdp has one
        default = pd.Series(np.nan, index=list(names))
    levels = r_style.factors(data.variables[list(names)])
    words = ["range / 4" if name in levels else "grid, sd over it" for name in names]
    firm = _beside("FIRM", own, theirs, default.to_numpy(), words)
    notes = [
        "FIRM: the sd over the grid points of pdp's partial dependence, range / 4 for factors "
        "(strings are none). default: `firm()`, whose grid are quantiles"
        + ("." if ours is results else ", of each refit on its own evaluation rows."),
        *_scale_notes(ours, options),
    ]
    if data.y is None:
        return firm, _shown(firm), tuple(notes)
    chosen = metric or _default_metric(ours)
    check_choice("metric", chosen, VIP)
    index = _permutations(data.nobs, nsim, names, seed)
    second = {"event_level": "second"} if chosen in ("logloss", "roc_auc", "brier") else {}
    r_values = vi_permute(
        ours, None, names, metric=chosen, nsim=nsim, seed=seed, **_for_two(ours, second)
    )
    own = r_style.vi_permute(ours, names, metric=chosen, permutations=index)
    pfi = _beside(
        f"PFI, {chosen}",
        own,
        r_values,
        np.full(len(names), np.nan),
        [f"{nsim} permutations"] * len(names),
    )
    notes.append(
        f"PFI: by how much the {chosen} gets worse, the mean over R's own {nsim} permutations. "
        "`pfi()` has the mean over all pairs of rows of a per-row loss, and standard errors; vip's "
        "StDev is Monte Carlo error."
    )
    both = pd.concat([firm, pfi], ignore_index=True)
    return both, _shown(both), tuple(notes)


def _for_two(ours: Interpretable, second: dict[str, Any]) -> dict[str, Any]:
    classes = ours._analysis.subject.predictor.classes
    return second if classes is not None and len(classes) == 2 else {}


def _default_metric(ours: Interpretable) -> MetricName:
    classes = ours._analysis.subject.predictor.classes
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


def _interactions(
    ours: Interpretable, names: Sequence[str], options: dict[str, Any]
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    own = r_style.vint(ours, names, **options).set_index("Variables")["Interaction"]
    theirs = vint(ours, None, names, **options).set_index("Variables")["Interaction"]
    frame = pd.DataFrame({"ours": own, "r": theirs.loc[own.index]})
    frame = frame.rename_axis("feature").reset_index().assign(measure="vint")
    notes = (
        "vint: for every value of one feature the sd of the partial dependence over the other, and "
        "the sd of those; both ways round, and their mean. It can't see effects of two categories "
        "that cross.",
        *_scale_notes(ours, options),
    )
    return frame, _shown(frame), notes


def _statistics(
    ours: Interpretable, names: Sequence[str], options: dict[str, Any]
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    n, most = ours._analysis.subject.population.nobs, options.get("n_max", 500)
    if n > most:
        raise OptionError(
            f"hstats samples {most} of the {n} rows, and which ones is R's own secret; pass "
            f"`n_max={n}`, or results of fewer rows."
        )
    own = r_style.hstats(ours, names, **options)
    theirs = hstats(ours, None, names, **options)
    classes = ours._analysis.subject.predictor.classes
    if classes is not None:
        theirs = theirs[theirs["class"] == str(classes[-1])].drop(columns="class")
    keys = ["statistic", "term"]
    both = own.merge(theirs, on=keys, how="outer", validate="1:1", suffixes=("_own", "_r"))
    if both.isna().any(axis=None):
        raise OptionError(
            "R and we chose different features for pairs: their overall statistics tie; pass "
            f"`pairwise_m={len(names)}`, so that all are taken."
        )
    frame = both.rename(
        columns={"statistic": "measure", "term": "feature", "value_own": "ours", "value_r": "r"}
    )
    notes = (
        "Shares of the variance of the prediction, all effects evaluated at the rows and centered: "
        "h2 of all interactions, h2_overall of those of one feature with any, h2_pairwise of two "
        "(a share of their joint effect), pd_importance of one feature with its interactions.",
        "Pairs are of the features with the largest overall statistic. `h_statistic` has standard "
        "errors.",
    )
    return frame, _shown(frame), notes


def _beside(
    measure: str,
    own: pd.DataFrame,
    theirs: pd.DataFrame,
    default: npt.NDArray[Any],
    words: Sequence[str],
) -> pd.DataFrame:
    values = theirs.set_index("Variable")["Importance"].loc[own["Variable"]]
    return pd.DataFrame(
        {
            "measure": measure,
            "feature": own["Variable"],
            "ours": own["Importance"],
            "r": values.to_numpy(),
            "default": default,
            WORDS: words,
        }
    )


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    names = [
        f"{m}: {f}" if f else m for m, f in zip(frame["measure"], frame["feature"], strict=True)
    ]
    columns = {
        "ours": "ours",
        "r": "R",
        "difference": "difference",
        "default": "default",
        WORDS: WORDS,
    }
    full = frame.assign(difference=frame["ours"] - frame["r"])
    kept = full[[c for c in columns if c in full]].rename(columns=columns)
    return kept.set_axis(pd.Index(names))


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
