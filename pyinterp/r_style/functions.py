"""R's pdp, vip and hstats without R."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.checks import check_mapping
from pyinterp.data.features import Names, names_of
from pyinterp.errors import OptionError, quote
from pyinterp.estimands.importance.flatness import Spread, flatness
from pyinterp.estimands.importance.losses import Relation
from pyinterp.estimands.importance.native import Native
from pyinterp.estimands.interaction.h_statistic import Order
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metric_functions import MetricLike
from pyinterp.parameters import takes
from pyinterp.r_style.arguments import (
    Curve,
    PredGrid,
    check_results,
    different,
    factors,
    names_or_all,
    rows_of,
    translate,
)
from pyinterp.r_style.r_functions import HSTATS, PARTIAL, VI, VI_FIRM, VI_PERMUTE, VINT
from pyinterp.results.results import EstimandResults


@PARTIAL.keywords("r_style", Curve)
def partial(
    object: Interpretable,  # noqa: A002 - R's name
    pred_var: Names | None = None,
    *,
    pred_grid: PredGrid | None = None,
    ice: bool = False,
    center: bool = False,
    approx: bool = False,
    **curve: Any,  # of `Curve`
) -> pd.DataFrame:
    """Partial dependence as ``pdp::partial`` computes it.

    Parameters
    ----------
    object : results
        A ``FittedModel``, or the results of a learner.
    pred_var : str or sequence of str, optional
        One variable, two or three; by default the columns of `pred_grid`.
    {arguments}

    Returns
    -------
    pandas.DataFrame
        A column per variable, ``yhat``, and ``yhat.id`` with `ice`.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> model = learner.fit_model()
    >>> pi.r_style.partial(model, "bmi", grid_resolution=3).round(1)
        bmi   yhat
    0  18.0   78.4
    1  30.1  181.2
    2  42.2  284.0
    """
    PARTIAL.check(locals())
    if pred_var is not None:
        names = names_of(pred_var, "pred_var")
    elif isinstance(pred_grid, Mapping | pd.DataFrame):
        names = [str(name) for name in pred_grid]
    else:
        raise OptionError(
            "`pred_var` can be left out if `pred_grid` has the variables as columns, such as "
            f"{{'x': [0, 1]}}; got {quote(pred_grid)}."
        )
    options = translate(object, Curve(**curve), names, pred_grid)
    centered = ice and center
    results: EstimandResults = object.pd(
        names,
        kind="c-ice" if centered else "pd",
        average="exemplar" if approx else "mean",
        **options,
    )
    data, terms = rows_of(object), results.estimand.terms
    points: pd.DataFrame = terms.layout[list(terms.axes)].set_axis(list(terms.axis_names), axis=1)
    for name in factors(data[list(terms.axis_names)]):
        points[name] = points[name].astype(data[name].dtype)
    if not ice:
        return points.assign(yhat=results.params.to_numpy())
    half = 0.5 if centered and options["scale"] == "probability" else 0.0
    curves = results.row_frame().to_numpy() + half
    number = np.repeat(np.arange(1, len(curves) + 1), len(points))
    every = pd.concat([points] * len(curves), ignore_index=True)
    return every.assign(**{"yhat": curves.ravel(), "yhat.id": number})


@VI_FIRM.keywords("r_style", Curve)
def vi_firm(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: Names | None = None,
    *,
    var_continuous: Spread = "sd",
    ice: bool = False,
    center: bool = False,
    **curve: Any,  # of `Curve`
) -> pd.DataFrame:
    """Flatness of partial dependence as ``vip::vi_firm`` computes it.

    Its range over 4 for factors (categorical columns), `var_continuous` for all else, strings
    among it; missing for a number that does not vary.

    Parameters
    ----------
    object : results
    var_continuous : {"sd", "mad", "iqr"}
        Spread of the curve of a variable that is no factor.
    {arguments}

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, in the order of `feature_names`.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> model = learner.fit_model()
    >>> pi.r_style.vi_firm(model).round(2)
      Variable  Importance
    0      bmi       61.12
    1       bp       28.05
    """
    VI_FIRM.check({**locals(), **curve})
    names = names_or_all(object, feature_names)
    # One variable has no hull: R ignores `chull` here.
    options = translate(object, replace(Curve(**curve), chull=False), names)
    data = rows_of(object)[names]
    estimand = flatness(
        object.analysis.problem,
        names,
        spread=var_continuous,
        ice=ice,
        categories=factors(data),
        **options,
    )
    params = object.estimate(estimand).params
    # Of one value, R's sd is missing.
    numbers = data.drop(columns=factors(data))
    constant = [str(name) for name, x in numbers.items() if (x == x.iloc[0]).all()]
    return _importances(params.mask(params.index.isin(constant)))


@VI_PERMUTE.keywords("r_style")
def vi_permute(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: Names | None = None,
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
    metric : str or Metric
        See ``pyinterp.losses.metrics``; not "pr_auc", which is another number in R.
    {arguments}
    permutations : mapping of str to array of shape (n, nsim), optional
        The permutations themselves, row numbers from 0, such as R has drawn.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance, and StDev over more than one permutation.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> model = learner.fit_model(seed=1)
    >>> pi.r_style.vi_permute(model, metric="rmse", nsim=10).round(1)
      Variable  Importance  StDev
    0      bmi        21.1    2.3
    1       bp         7.0    0.9
    """
    check_results(object)
    VI_PERMUTE.check(locals())
    if isinstance(metric, str) and metric == "pr_auc":
        raise OptionError(
            "R's `pr_auc` joins the points of precision and recall by lines, which is not here; "
            'take `pfi(metric="pr_auc")`, the average precision, or `r_bridge.vi_permute`.'
        )
    if permutations is not None:
        check_mapping("permutations", permutations, "{'x': array of shape (n, nsim)}")
    results = object.pfi(
        feature_names,
        metric=metric,
        relation=type,
        permutations=nsim if permutations is None else permutations,
    )
    if permutations is None:
        evaluations = results.replicates.evaluations
        every = [len(rows) for rows in evaluations.at]
        rows = min(every[k] for k in evaluations.estimating)
        number = min(nsim, rows - 1)
    else:
        number = np.shape(permutations[results.params.index[0]])[1]
    frame = _importances(results.params)
    if number > 1:
        frame["StDev"] = results.mcse.to_numpy() * np.sqrt(number)
    return frame


@VI.keywords("r_style", vi_firm, vi_permute)
def vi(
    object: Interpretable,  # noqa: A002 - R's name
    method: Literal["model", "firm", "permute"] = "model",
    feature_names: Names | None = None,
    *,
    scale: bool = False,
    rank: bool = False,
    type: str | None = None,  # noqa: A002 - R's name
    metric: MetricLike | None = None,
    **others: Any,  # of `vi_firm` or `vi_permute`
) -> pd.DataFrame:
    """Importances, largest first, as ``vip::vi`` lists them.

    Parameters
    ----------
    object : results
    {arguments}
    type : str, optional
        Of `vi_firm`, of `vi_permute`, or of ``native_importance``, by `method`.
    var_continuous, grid_resolution, ice, center, quantiles, probs, trim_outliers, inv_link
        Of `vi_firm`, with "firm" alone.
    which_class, prob, chull, cats, check_class
        Likewise.
    metric, nsim, permutations
        Of `vi_permute`, with "permute" alone.

    Returns
    -------
    pandas.DataFrame
        Columns Variable and Importance; StDev of several permutations; Sign if the model itself
        reports signs.

    Raises
    ------
    OptionError
        For "permute" without a metric.
    TypeError
        For an argument that belongs to another method.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> model = learner.fit_model()
    >>> pi.r_style.vi(model, "firm").round(2)
      Variable  Importance
    0      bmi       61.12
    1       bp       28.05
    """
    VI.check(locals())
    if method == "permute" and metric is None:
        raise OptionError('`method="permute"` needs a metric; give one, such as `metric="rmse"`.')
    keywords = {"feature_names": feature_names, "type": type, "metric": metric, **others}
    options = different(vi, keywords)
    functions: dict[str, Callable[..., pd.DataFrame]]
    functions = {"model": native, "firm": vi_firm, "permute": vi_permute}
    frame = functions[method](object, **options)
    frame = frame.sort_values("Importance", ascending=False, kind="stable", ignore_index=True)
    if scale:
        frame["Importance"] *= 100 / frame["Importance"].max()
    if rank:
        frame["Importance"] = np.arange(1, len(frame) + 1)
    return frame


@takes()
def native(
    object: Interpretable,  # noqa: A002 - R's name
    type: Native | None = None,  # noqa: A002 - R's name
) -> pd.DataFrame:
    """Return the importances that the model itself reports."""
    check_results(object)
    params = object.native_importance(type).params
    frame = _importances(params.abs())
    if (params < 0).any():
        frame["Sign"] = np.where(params < 0, "NEG", "POS")
    return frame


def _importances(params: pd.Series[float]) -> pd.DataFrame:
    """Return estimates as the frame that R's vip returns: the variable and its importance."""
    return pd.DataFrame({"Variable": list(params.index), "Importance": params.to_numpy()})


@VINT.keywords("r_style", Curve)
def vint(
    object: Interpretable,  # noqa: A002 - R's name
    feature_names: Names | None = None,
    **curve: Any,  # of `Curve`
) -> pd.DataFrame:
    """Interaction of all pairs of features as ``vip::vint`` (vip before 0.4) computes it.

    Parameters
    ----------
    object : results
    {arguments}

    Returns
    -------
    pandas.DataFrame
        Columns Variables, such as ``x1*x2``, and Interaction, largest first.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> model = learner.fit_model()
    >>> pi.r_style.vint(model).round(2)
      Variables  Interaction
    0    bmi*bp        16.23
    """
    names = names_or_all(object, feature_names)
    pairs = list(combinations(names, 2))
    params = object.vint(pairs, **translate(object, Curve(**curve), names)).params
    return pd.DataFrame(
        {"Variables": ["*".join(pair) for pair in pairs], "Interaction": params.to_numpy()}
    ).sort_values("Interaction", ascending=False, kind="stable", ignore_index=True)


@HSTATS.keywords("r_style")
def hstats(
    object: Interpretable,  # noqa: A002 - R's name
    v: Names | None = None,
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
    {arguments}

    Returns
    -------
    pandas.DataFrame
        Columns statistic (h2, h2_overall, h2_pairwise, h2_threeway, pd_importance), term and value.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> model = learner.fit_model()
    >>> pi.r_style.hstats(model).round(3)
           statistic    term  value
    0             h2          0.020
    1     h2_overall     bmi  0.020
    2     h2_overall      bp  0.020
    3    h2_pairwise  bmi:bp  0.020
    4  pd_importance     bmi  0.620
    5  pd_importance      bp  0.173
    """
    HSTATS.check(locals())
    check_results(object)
    classes = object.analysis.problem.predictor.classes
    if classes is not None and len(classes) > 2:
        raise OptionError(
            f"`hstats` is for numbers and two classes here, not for {len(classes)}; "
            "`h_statistic` is for any number of them."
        )
    names = list(object.analysis.problem.features) if v is None else names_of(v, "v")
    sizes: dict[str, Any] = {"most_rows": n_max, "eps": eps}
    overall = object.h_statistic(names, order="overall", normalize=False, **sizes).params
    first = list(overall.sort_values(ascending=False, kind="stable").index)

    def strongest(number: int) -> list[str]:
        return [name for name in names if name in first[:number]]

    pairs = list(combinations(strongest(pairwise_m), 2))
    triples = list(combinations(strongest(min(threeway_m, pairwise_m)), 3))
    # The statistic, its order, its features or sets of them, and their names.
    parts: list[tuple[str, Order, Sequence[Any], Sequence[str]]] = [
        ("h2", "total", names, [""]),
        ("h2_overall", "overall", names, names),
        ("h2_pairwise", "pairwise", pairs, [":".join(pair) for pair in pairs]),
        ("h2_threeway", "three-way", triples, [":".join(triple) for triple in triples]),
        ("pd_importance", "importance", names, names),
    ]
    form: dict[str, Any] = {"normalize": normalize, "squared": squared}
    frames = []
    for statistic, order, features, terms in parts:
        if features:
            values = object.h_statistic(features, order=order, **sizes, **form).params
            columns = {"statistic": statistic, "term": terms, "value": values.to_numpy()}
            frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)
