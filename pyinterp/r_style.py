"""R's pdp, vip and hstats without R: their functions, arguments, defaults and output.

Every function takes the results of a `Learner`, a `FittedModel` or anything with the same methods;
their evaluation rows stand for R's ``train``. Arguments are R's with underscores for dots, and the
values are those of the R packages, to rounding, on rows without missing values. Each asks a method
that also gives standard errors: `partial` asks ``pd(grid=pi.RGrid(...))``, `vi_firm` asks ``firm``,
`vi_permute` ``pfi(metric=...)``, `vint` ``vint`` and `hstats` ``h_statistic``.

For a learner all values are means over its refits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial as bind
from itertools import combinations
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.errors import OptionError, check_choice, did_you_mean
from pyinterp.estimands.base import check_names, names_of
from pyinterp.estimands.flatness import Spread, flatness
from pyinterp.estimands.grids import DECILES, Grid, Points, RGrid, in_hull
from pyinterp.estimands.h_statistic import Order
from pyinterp.estimands.relation import Relation
from pyinterp.estimands.scales import scaled
from pyinterp.interpretable import Interpretable
from pyinterp.metrics import MetricLike
from pyinterp.predictive import Predictor
from pyinterp.sample import FloatArray, is_category

__all__ = [
    "Curve",
    "classes_in_order",
    "factors",
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
    pred_grid : array, mapping or DataFrame
        The grid itself: values of one variable, or one row per point.
    type : {"auto", "regression", "classification"}
        "regression" of a classifier with two classes is the log-odds, a glm's linear predictor.
    inv_link : callable
        Applied to every prediction of a regression before the mean.
    which_class : int
        Which class, counted from 1 in R's order: for binomial models of statsmodels and of R's
        ``glm``, ``gam``, ``nnet`` and ``gbm`` 1 is the event; for other learners 1 is the first
        class.
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
    pred_grid: npt.ArrayLike | Mapping[str, npt.ArrayLike] | pd.DataFrame | None
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
        Subtract each curve's value at the first grid point; to curves of probabilities pdp then
        adds 0.5.
    approx : bool
        The curve of one row of medians and most frequent levels instead of the mean.
    **curve
        See `Curve`.

    Returns
    -------
    pandas.DataFrame
        A column per variable, ``yhat``, and ``yhat.id`` with `ice`.
    """
    names = names_of(pred_var, "pred_var")
    asked = _asked(object, curve, names)
    centered = ice and center
    found = object.pd(
        names,
        kind="c-ice" if centered else "pd",
        average="exemplar" if approx else "mean",
        **asked,
    )
    terms = found.estimand.terms
    points = terms.layout[list(terms.axes)].set_axis(list(terms.axis_names), axis=1)
    for name in terms.axis_names:
        column = _data(object)[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            points[name] = pd.Categorical(points[name], dtype=column.dtype)
    if not ice:
        return points.assign(yhat=found.params.to_numpy())
    curves = found.row_frame().to_numpy()
    if centered and asked["scale"] == "probability":
        curves = curves + 0.5
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
    var_continuous: Spread = "sd",
    **curve: Unpack[Curve],
) -> pd.DataFrame:
    """Flatness of partial dependence as ``vip::vi_firm`` computes it.

    Its range over 4 for factors (categorical columns), `var_continuous` for all else, strings
    among it; missing for a number that does not vary. Whether curves are centered does not matter.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, in the order of `feature_names`.
    """
    del center
    names = _names(object, feature_names)
    asked = _asked(object, curve, names)
    subject, data = object._analysis.subject, _data(object)
    estimand = flatness(
        subject, names, spread=var_continuous, ice=ice, categories=factors(data[names]), **asked
    )
    found = object._results(estimand, {}, None).params
    numbers = [n for n in names if n not in factors(data[names])]
    still = [n for n in numbers if (data[n] == data[n].iloc[0]).all()]  # the sd of one value
    return _importances(found.mask(found.index.isin(still)))


def vi_permute(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: str | Sequence[str] | None = None,
    *,
    metric: MetricLike,
    type: Relation = "difference",  # noqa: A002 - R's name
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
        Number of permutations, drawn here without fixed points and at most one less than rows.
    permutations : mapping of str to array of shape (n, nsim), optional
        The permutations themselves, row numbers from 0, such as R has drawn.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, and StDev over more than one permutation.
    """
    _check(object)
    asked = nsim if permutations is None else permutations
    found = object.pfi(feature_names, metric=metric, relation=type, permutations=asked)
    if permutations is None:
        number = min(nsim, min(len(rows) for rows in found.rows) - 1)
    else:
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
    names = _names(object, feature_names)
    pairs = list(combinations(names, 2))
    found = object.vint(pairs, **_asked(object, curve, names)).params
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
    _check(object)
    classes = object._analysis.subject.predictor.classes
    if classes is not None and len(classes) > 2:
        raise OptionError(
            f"`hstats` is for numbers and two classes here, not for {len(classes)}; "
            "`h_statistic` is for any number of them."
        )
    known = list(object._analysis.subject.features) if v is None else names_of(v, "v")
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


def vi(
    object: Interpretable,  # noqa: A002 - R's name
    method: Literal["model", "firm", "permute"] = "model",
    *,
    scale: bool = False,
    rank: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """Importances, largest first, as ``vip::vi`` lists them.

    Parameters
    ----------
    object : results
    method : {"model", "firm", "permute"}
        "model" is what the model itself reports, with its sign if it has one; terms have patsy's
        names.
    scale : bool
        Make the largest 100.
    rank : bool
        Give ranks, 1 for the largest.
    **options
        Those of `vi_firm`, of `vi_permute`, or of ``native_importance``.
    """
    check_choice("method", method, ("model", "firm", "permute"))
    if method == "model":
        _check(object)
        reported = object.native_importance(**options).params
        found = _importances(reported.abs())
        if (reported < 0).any():
            found["Sign"] = np.where(reported < 0, "NEG", "POS")
    else:
        found = (vi_firm if method == "firm" else vi_permute)(object, **options)
    found = found.sort_values("Importance", ascending=False, kind="stable", ignore_index=True)
    if scale:
        found["Importance"] *= 100 / found["Importance"].max()
    if rank:
        found["Importance"] = np.arange(1, len(found) + 1)
    return found


def factors(variables: pd.DataFrame) -> list[str]:
    """Return the variables that are factors in R: categorical columns, not strings."""
    return [str(n) for n, c in variables.items() if isinstance(c.dtype, pd.CategoricalDtype)]


def _check(object: Interpretable) -> None:  # noqa: A002 - R's name
    if not isinstance(object, Interpretable):
        raise OptionError(
            "R's functions here take the results of a learner's `fit`, or "
            f"`pi.FittedModel(model, X, y)`; got {type(object).__name__}."
        )


def _data(object: Interpretable) -> pd.DataFrame:  # noqa: A002 - R's name
    return object._analysis.subject.population.variables


def _names(
    object: Interpretable,  # noqa: A002 - R's name
    names: str | Sequence[str] | None,
) -> list[str]:
    _check(object)
    known = [str(name) for name in _data(object)]
    asked = known if names is None else names_of(names, "feature_names")
    check_names(asked, known, kind="variable", argument="feature_names")
    return asked


def _importances(params: pd.Series[float]) -> pd.DataFrame:
    return pd.DataFrame({"Variable": list(params.index), "Importance": params.to_numpy()})


class _Asked(TypedDict, total=False):
    """Options of ``pd`` that R's arguments stand for."""

    grid: Grid
    scale: Any
    which_class: Any


def _asked(
    object: Interpretable,  # noqa: A002 - R's name
    curve: Curve,
    names: Sequence[str],
) -> _Asked:
    _check(object)
    unknown = set(curve) - set(Curve.__annotations__)
    if unknown:
        raise TypeError(f"Unexpected keyword argument {sorted(unknown)[0]!r}.")
    given, cats, data = curve.get("pred_grid"), curve.get("cats", ()), _data(object)
    # With one variable, or with a factor, pdp has no hull.
    hull = curve.get("chull", False) and len(names) == 2
    hull = hull and not any(is_category(data[n]) for n in names if n in data)
    rule = RGrid(
        grid_resolution=curve.get("grid_resolution"),
        quantiles=curve.get("quantiles", False),
        probs=tuple(curve.get("probs", DECILES)),
        trim_outliers=curve.get("trim_outliers", False),
        chull=hull,
        cats=tuple(names_of(cats, "cats")) if cats else (),
        check_class=curve.get("check_class", True),
    )
    predictor = object._analysis.subject.predictor
    scale, which = _scale(predictor, curve)
    grid: Grid = rule
    if given is not None:
        grid = _given(given, names, data, rule)
    return {"grid": grid, "scale": scale, "which_class": which}


def _given(given: Any, names: Sequence[str], data: pd.DataFrame, rule: RGrid) -> Points:
    """Return a user's grid as pdp takes it: sorted by its columns, then of the data's types."""
    if not isinstance(given, Mapping | pd.DataFrame):
        given = {names[0]: np.atleast_1d(np.asarray(given))}
    frame = pd.DataFrame(given)
    absent = [name for name in names if name not in frame]
    if absent:
        raise OptionError(
            f"`pred_grid` needs a column for each of {list(names)}; it has {list(frame)}."
        )
    frame = frame[list(names)].sort_values(list(names), kind="stable", ignore_index=True)
    for name in names:
        column = data[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            for level in frame[name].unique():
                if level not in column.cat.categories:
                    raise OptionError(
                        f"{level!r} is not a level of `{name}`."
                        + did_you_mean(level, list(column.cat.categories))
                    )
        elif rule.check_class and pd.api.types.is_integer_dtype(column):
            frame[name] = np.trunc(frame[name].astype(np.float64))
    columns = [frame[name].tolist() for name in names]
    points = Points(tuple(names), tuple(zip(*columns, strict=True)))
    return in_hull(data, points) if rule.chull else points


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
    known, estimator = list(predictor.classes or ()), predictor.estimator
    model = getattr(estimator, "model", None)
    kind = model if isinstance(model, type) else type(model)
    first = kind.__name__ in EVENT_FIRST or getattr(estimator, "event_first", False)
    return known[::-1] if len(known) == 2 and first else known


def _class(predictor: Predictor, number: int) -> Any:
    known = classes_in_order(predictor)
    if not isinstance(number, int | np.integer) or not 1 <= number <= len(known):
        raise OptionError(
            f"`which_class` counts the classes from 1 to {len(known)}, in R's order "
            f"{known}; got {number!r}."
        )
    return known[number - 1]


def _on_link(inv_link: Callable[[FloatArray], FloatArray], probability: FloatArray) -> FloatArray:
    return np.asarray(inv_link(np.moveaxis(scaled(probability, (0, 1), "logit"), 0, -1)))
