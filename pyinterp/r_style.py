"""R's pdp, vip and hstats without R: their functions, arguments, defaults and output.

Every function takes the results of a `Learner`, a `FittedModel` or anything with the same methods;
their evaluation rows stand for R's ``train``. Arguments are R's with underscores for dots, and the
values are those of the R packages, to rounding. Each asks a method that also gives standard
errors: `partial` asks ``pd(grid=pi.RGrid(...))``, `vi_firm` asks ``firm``, `vi_permute`
``pfi(metric=...)``, `vint` ``vint`` and `hstats` ``h_statistic``.

For a learner all values are means over its refits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial as bind
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.errors import OptionError, check_choice
from pyinterp.estimands.base import names_of
from pyinterp.estimands.grids import DECILES, Grid, RGrid
from pyinterp.interpretable import Interpretable
from pyinterp.metrics import METRICS, Metric, MetricLike
from pyinterp.predictive import Predictor
from pyinterp.sample import FloatArray

__all__ = [
    "Curve",
    "classes_in_order",
    "hstats",
    "partial",
    "vi",
    "vi_firm",
    "vi_permute",
    "vint",
]

# Binomial models of R's glm have the probability of the second level first.
EVENT_FIRST = ("GLM", "Logit", "Probit")


class Curve(TypedDict, total=False):
    """Arguments of ``pdp::partial``, which `vi_firm` and `vint` hand on to it.

    Attributes
    ----------
    grid_resolution, quantiles, probs, trim_outliers, chull, cats, check_class
        The grid: see `pyinterp.estimands.grids.RGrid`.
    pred_grid : array or DataFrame
        The grid itself.
    type : {"auto", "regression", "classification"}
        "regression" of a classifier with two classes is the log-odds, a glm's linear predictor.
    inv_link : callable
        Applied to every prediction of a regression before the mean.
    which_class : int
        Which class, counted from 1 in R's order: for binomial models of statsmodels, as for R's
        ``glm``, 1 is the event; for other learners 1 is the first class.
    prob : bool
        Probabilities of classes instead of centered logits (for two classes, half the logit).
    """

    grid_resolution: int | None
    quantiles: bool
    probs: Sequence[float]
    trim_outliers: bool
    chull: bool
    cats: str | Sequence[str]
    check_class: bool
    pred_grid: npt.ArrayLike | pd.DataFrame | None
    type: Literal["auto", "regression", "classification"]
    inv_link: Callable[[FloatArray], FloatArray] | None
    which_class: int
    prob: bool


def partial(
    object: Interpretable,  # noqa: A002 - R's name
    pred_var: str | Sequence[str],
    *,
    ice: bool = False,
    center: bool = False,
    approx: bool = False,
    **curve: Unpack[Curve],
) -> pd.DataFrame:
    """Partial dependence as ``pdp::partial`` computes it.

    Parameters
    ----------
    object : results
        A `FittedModel`, or the results of a learner.
    pred_var : str or sequence of two str
        The variables.
    ice : bool
        Every row's own curve, with its number in a column ``yhat.id``.
    center : bool
        Subtract each curve's value at the first grid point (pdp then adds 0.5 to curves of
        probabilities; here nothing is added).
    approx : bool
        The curve of one row of medians and most frequent levels instead of the mean.
    **curve
        See `Curve`.

    Returns
    -------
    pandas.DataFrame
        A column per variable, ``yhat``, and ``yhat.id`` with `ice`.
    """
    asked = _asked(object, curve)
    kind: Literal["c-ice", "pd"] = "c-ice" if ice and center else "pd"
    found = object.pd(pred_var, kind=kind, average="exemplar" if approx else "mean", **asked)
    terms = found.estimand.terms
    points = found.estimand.terms.layout[list(terms.axes)].set_axis(list(terms.axis_names), axis=1)
    for name in terms.axis_names:
        column = object._analysis.subject.population.variables[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            points[name] = pd.Categorical(points[name], dtype=column.dtype)
    if not ice:
        return points.assign(yhat=found.params.to_numpy())
    curves = found.row_frame().to_numpy()
    n, g = curves.shape
    return pd.concat([points] * n, ignore_index=True).assign(
        **{"yhat": curves.ravel(), "yhat.id": np.repeat(np.arange(1, n + 1), g)}
    )


def vi_firm(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    *,
    ice: bool = False,
    center: bool = False,
    var_continuous: Literal["sd", "mad", "iqr"] = "sd",
    **curve: Unpack[Curve],
) -> pd.DataFrame:
    """Flatness of partial dependence as ``vip::vi_firm`` computes it.

    Its range over 4 for categories, `var_continuous` otherwise; whether curves are centered
    does not matter.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, in the order of `feature_names`.
    """
    del center
    found = object.firm(feature_names, spread=var_continuous, ice=ice, **_asked(object, curve))
    return _importances(found.params)


def vi_permute(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    *,
    metric: MetricLike,
    type: Literal["difference", "ratio"] = "difference",  # noqa: A002 - R's name
    nsim: int = 1,
    permutations: Mapping[str, npt.ArrayLike] | None = None,
) -> pd.DataFrame:
    """Permutation importance as ``vip::vi_permute`` computes it.

    Parameters
    ----------
    object : results
    feature_names : str or sequence of str, optional
    metric : str or Metric
        See `pyinterp.metrics`.
    type : {"difference", "ratio"}
    nsim : int
        Number of permutations, drawn here without fixed points.
    permutations : mapping of str to array of shape (n, nsim), optional
        The permutations themselves, row numbers from 0, such as R has drawn.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, and StDev over more than one permutation.
    """
    chosen = METRICS.get(metric) if isinstance(metric, str) else metric
    if not isinstance(chosen, Metric):
        check_choice("metric", metric, METRICS)
    found = object.pfi(
        feature_names,
        metric=metric,
        relation=type,
        permutations=nsim if permutations is None else permutations,
    )
    number = nsim
    if permutations is not None:
        number = np.shape(permutations[found.params.index[0]])[1]
    frame = _importances(found.params)
    if number > 1:
        frame["StDev"] = found.mcse.to_numpy() * np.sqrt(number)
    return frame


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
    found = object.vint(feature_names, **_asked(object, curve)).params
    names = [" * ".join(pair.split(":")) for pair in found.index]
    frame = pd.DataFrame(
        {"Variables": [n.replace(" * ", "*") for n in names], "Interaction": found.to_numpy()}
    )
    return frame.sort_values("Interaction", ascending=False, kind="stable", ignore_index=True)


def hstats(
    object: Interpretable,  # noqa: A002 - R's name
    v: Sequence[str] | None = None,
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
        Of a classifier the values are for probabilities, of the second of two classes.
    v : sequence of str, optional
        Features; by default all. Of some only there is no h2, which is of all.
    pairwise_m, threeway_m : int
        Number of features, those with the largest overall numerators, whose pairs and triples are
        measured.
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
    asked: dict[str, Any] = {
        "rows": n_max,
        "eps": eps,
        "normalize": normalize,
        "squared": squared,
    }
    known = list(object._analysis.subject.features) if v is None else list(v)
    overall = object.h_statistic(known, order="overall", **asked | {"normalize": False}).params
    first = overall.sort_values(ascending=False, kind="stable").index

    def largest(number: int) -> list[str]:
        chosen = first[: min(number, len(known))]
        return [name for name in known if name in chosen]

    parts = {}
    if set(known) == set(object._analysis.subject.features):
        parts["h2"] = object.h_statistic(order="total", **asked).params.set_axis([""])
    parts["h2_overall"] = object.h_statistic(known, order="overall", **asked).params
    if pairwise_m >= 2:
        pairs = object.h_statistic(largest(pairwise_m), order="pairwise", **asked).params
        parts["h2_pairwise"] = pairs
    if threeway_m >= 3:
        triples = object.h_statistic(largest(threeway_m), order="three-way", **asked).params
        parts["h2_threeway"] = triples
    parts["pd_importance"] = object.h_statistic(known, order="importance", **asked).params
    return pd.concat(
        [
            pd.DataFrame(
                {"statistic": name, "term": list(values.index), "value": values.to_numpy()}
            )
            for name, values in parts.items()
        ],
        ignore_index=True,
    )


def vi(
    object: Interpretable,  # noqa: A002 - R's name
    method: Literal["firm", "permute"] = "firm",
    *,
    scale: bool = False,
    rank: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """Importances, largest first, as ``vip::vi`` lists them.

    Parameters
    ----------
    object : results
    method : {"firm", "permute"}
    scale : bool
        Make the largest 100.
    rank : bool
        Give ranks, 1 for the largest.
    **options
        Those of `vi_firm` or `vi_permute`.
    """
    check_choice("method", method, ("firm", "permute"))
    found = (vi_firm if method == "firm" else vi_permute)(object, **options)
    found = found.sort_values("Importance", ascending=False, kind="stable", ignore_index=True)
    if scale:
        found["Importance"] *= 100 / found["Importance"].max()
    if rank:
        found["Importance"] = np.arange(1, len(found) + 1)
    return found


def _importances(params: pd.Series[float]) -> pd.DataFrame:
    return pd.DataFrame({"Variable": list(params.index), "Importance": params.to_numpy()})


class _Asked(TypedDict, total=False):
    """Options of ``pd`` that R's arguments stand for."""

    grid: Grid
    scale: Any
    which_class: Any


def _asked(object: Interpretable, curve: Curve) -> _Asked:  # noqa: A002 - R's name
    unknown = set(curve) - set(Curve.__annotations__)
    if unknown:
        raise TypeError(f"Unexpected keyword argument {sorted(unknown)[0]!r}.")
    given = curve.get("pred_grid")
    cats = curve.get("cats", ())
    grid: Grid = RGrid(
        grid_resolution=curve.get("grid_resolution"),
        quantiles=curve.get("quantiles", False),
        probs=tuple(curve.get("probs", DECILES)),
        trim_outliers=curve.get("trim_outliers", False),
        chull=curve.get("chull", False),
        cats=tuple(names_of(cats, "cats")) if cats else (),
        check_class=curve.get("check_class", True),
    )
    predictor = object._analysis.subject.predictor
    scale, which = _scale(predictor, curve)
    return {"grid": grid if given is None else given, "scale": scale, "which_class": which}


def _scale(predictor: Predictor, curve: Curve) -> tuple[Any, Any]:
    """Return scale and class of ``pd``."""
    kind, inv_link = curve.get("type", "auto"), curve.get("inv_link")
    check_choice("type", kind, ("auto", "regression", "classification"))
    if predictor.classes is None:
        if kind == "classification":
            raise OptionError('`type="classification"` needs a classifier.')
        return inv_link, None
    label = _class(predictor, curve.get("which_class", 1))
    if kind == "regression":
        if len(predictor.classes) != 2:
            raise OptionError(
                'The `type="regression"` of a classifier is its log-odds, which need two classes; '
                f"this one has {len(predictor.classes)}."
            )
        return ("logit", label) if inv_link is None else (bind(_on_link, inv_link), label)
    if inv_link is not None:
        raise OptionError(
            '`inv_link` is for predictions of numbers; use it with `type="regression"`.'
        )
    return "probability" if curve.get("prob", False) else "centered-logit", label


def classes_in_order(predictor: Predictor) -> list[Any]:
    """Return the classes in the order in which pdp counts them."""
    known = list(predictor.classes or ())
    model = getattr(predictor.estimator, "model", None)
    kind = model if isinstance(model, type) else type(model)
    event_first = getattr(predictor.estimator, "event_first", False)
    event_first = event_first or kind.__name__ in EVENT_FIRST
    return known[::-1] if len(known) == 2 and event_first else known


def _class(predictor: Predictor, number: int) -> Any:
    known = classes_in_order(predictor)
    if not isinstance(number, int | np.integer) or not 1 <= number <= len(known):
        raise OptionError(
            f"`which_class` counts the classes from 1 to {len(known)}, in R's order "
            f"{known}; got {number!r}."
        )
    return known[number - 1]


def _on_link(inv_link: Callable[[FloatArray], FloatArray], probability: FloatArray) -> FloatArray:
    return np.asarray(inv_link(np.log(probability) - np.log1p(-probability)))
