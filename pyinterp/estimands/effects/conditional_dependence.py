"""Mean predictions given the variable, whose other variables go with the value: PD and M-plot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from pyinterp._typing import FloatArray
from pyinterp.checks import Interval, check_flag, check_number
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError, list_of
from pyinterp.estimands.effects.grids import (
    Grid,
    Points,
    grids_of,
    has_levels,
    points_of,
    variables_of,
)
from pyinterp.estimands.effects.partial_dependence import Average, PDKind, PDOf, partial_dependence
from pyinterp.estimands.effects.scales import Outputs, Scale
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.permutation import Replacement
from pyinterp.estimands.positivity import samplers_of
from pyinterp.estimands.questions import Choice, method, side_by_side
from pyinterp.samplers import SamplerLike, is_conditional
from pyinterp.samplers.categorical import Categorical
from pyinterp.samplers.residual import Residual
from pyinterp.samplers.sampler import Sampler

POINTS = 1024  # at which the density of residuals is evaluated
FEW_VALUES = 10  # of a number: its rows are grouped by it
SINGULAR = 1e-10  # share of the spread within a window below which there is no slope


# What only the marginal partial dependence has.
MARGINAL_ONLY: Mapping[str, str] = {"of": "prediction", "kind": "pd", "average": "mean"}


@method("pd")
def dependence(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    together: bool = True,
    grid: Grid = "quantile",
    points: int | None = None,
    of: PDOf = "prediction",
    kind: PDKind = "pd",
    scale: Scale | None = None,
    which_class: Any = None,
    average: Average = "mean",
    sampler: Replacement = "marginal",
) -> Estimand | Mapping[str, Estimand | Choice]:
    """Partial dependence (PD) on one to three variables, with its ICE curves.

    .. math:: PD_S(x) = E[f(x, X_C)]

    The estimate is the mean over evaluation rows and, for a learner, over refits (Molnar et
    al. 2021, eqs 2 and 7). All rows determine the grid, once for all refits.

    Parameters
    ----------
    features : str or sequence of str, optional
        One variable, or two or three that are set together. By default every variable has a
        curve.
    together : bool
        Whether the variables of a list are set together. If not, each of them has a curve.
    {grid}
    {points}
    of : {"prediction", "entropy", "nll"}
        The quantity that is averaged: predictions, the entropy of the predictive distribution,
        or the negative log likelihood of the rows' responses (Wood et al. 2024). The last two
        are in nats. They need a learner that predicts a distribution or class probabilities,
        and they exclude `scale`. `which_class` then compares one class with all others
        together.
    {kind}
    {scale}
    {which_class}
    {average}
    sampler : "marginal", str, Sampler or mapping
        "marginal" is the PD. "conditional", "residual" and "categorical" give the M-plot,
        :math:`E[f(x, X_C) | X_j = x]`. For it, a model of the variable weights each row by how
        likely the value x is, given the row's other variables.
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults or CurveResults
        Estimates in units of the prediction, one term per grid point and class.
        ``row_frame()`` has the ICE curves. `CurveResults` holds one `EstimandResults` per
        variable; it is returned without `features`, and with ``together=False``.

    Raises
    ------
    OptionError
        If a variable, level or class is unknown, or the grid can't be used.

    Examples
    --------
    >>> curve = res.pd("bmi", points=3).summary_frame()
    >>> curve[["estimate", "conf_low", "conf_high"]].round(1)
               estimate  conf_low  conf_high
    term
    bmi[18]        79.4      56.3      102.5
    bmi[25.7]     144.8     135.4      154.2
    bmi[42.2]     284.8     254.1      315.5
    >>> res.pd("sex").params.round(1).to_dict()
    {'sex[1]': 154.1, 'sex[2]': 145.2}
    """
    check_flag("together", together)
    options: dict[str, Any] = {"points": points, "scale": scale, "which_class": which_class}
    marginal: dict[str, Any] = {"of": of, "kind": kind, "average": average}
    function: Callable[..., Estimand] = partial_dependence
    if is_conditional(sampler):
        for option, default in MARGINAL_ONLY.items():
            if marginal[option] != default:
                raise OptionError(
                    "Conditional partial dependence is a weighted mean of predictions: leave "
                    f'`{option}` out, or `sampler="marginal"`.'
                )
        function, marginal = conditional_dependence, {"sampler": sampler}
    of_one = partial(function, **options, **marginal)
    if features is not None and together:
        return of_one(problem, features, grid=grid)
    variables = [name for feature in problem.features.values() for name in feature]
    grids = grids_of(variables if features is None else names_of(features), grid)
    return side_by_side(
        problem, {n: partial(of_one, features=n, grid=one) for n, one in grids.items()}
    )


def conditional_dependence(
    problem: Problem,
    features: str | Sequence[str],
    *,
    sampler: SamplerLike,
    grid: Grid = "quantile",
    points: int | None = None,
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    r"""Mean prediction at a value, over the other variables given the value.

    .. math:: E[f(x, X_C) | X_j = x] = E\Big[f(x, X_C) \frac{p(x | X_C)}{p(x)}\Big]

    A sampler learns the density of the variable given the others: the density of its residuals
    around its prediction, or probabilities of levels.
    """
    what = "Conditional partial dependence"
    names = (name,) = variables_of(problem, features, most=1, what=what)
    law = samplers_of(problem, {name: names}, sampler)[name]
    if not isinstance(law, Residual | Categorical):
        raise OptionError(
            f"{what} weights rows by the density of the variable given the "
            f'others, which "residual" and "categorical" have, but {type(law).__name__} has not.'
        )
    by_level = isinstance(law, Categorical)
    data = problem.population.variables
    rule = "unique" if by_level and isinstance(grid, str) else grid
    at = points_of(data, names, rule, points, problem.discrete)
    if by_level and (
        strange := [value for (value,) in at.cells if not (data[name] == value).any()]
    ):
        raise OptionError(
            f"`{name}` is drawn by levels, so its grid must be observed values; "
            f'{list_of(strange)} are not. Use `grid="unique"`, or `sampler="residual"`.'
        )
    outputs = Outputs.of(problem, scale, which_class)
    terms = at.terms(outputs.labels)
    how_likely = "probabilities of levels" if by_level else "density of residuals"
    return Estimand(
        key=("conditional pd", at, law, outputs),
        terms=terms,
        measure=partial(_measure, donors=at.frame(data), law=law, outputs=outputs),
        words=Words(
            label="PD",
            title="conditional partial dependence",
            quantity="conditional PD",
            of=name,
            details=outputs.details,
            unit=outputs.unit,
            meaning=(
                f"Mean {outputs.phrase} when `{name}` is set to the value shown, over rows "
                "weighted by how likely the value is given their other variables "
                f"({how_likely})."
            ),
            always=problem.notes_on_codes(at.names),
            notes=(
                f"Nothing is drawn, so mcse is 0, but what the sampler learns of `{name}` depends "
                "on the seed (its learner's, and that of 5 folds where training rows are not "
                "known), which mcse leaves out: other seeds show by how much.",
            ),
            missing=dict.fromkeys(
                terms.names, "a value that no evaluation row of a refit makes likely"
            ),
        ),
        parameter=Parameter(effect=True, range=outputs.range, relations=outputs.relations),
        no_weights=None,
    )


def _measure(
    case: ModelOnRows, *, donors: pd.DataFrame, law: Sampler, outputs: Outputs
) -> Measurement:
    (name,) = donors.columns
    density = _densities(case, law, donors[name])
    if case.weights is not None:
        density = density * case.weights[:, None]
    curves = outputs.curves(case.whatif, donors)
    return {"curve": Estimate.stack([Estimate.of_rows(one, density) for one in curves])}


def _densities(case: ModelOnRows, law: Sampler, values: pd.Series[Any]) -> FloatArray:
    """Return the density of every value given the other variables of every row, shape (n, g)."""
    learned = case.conditional(law, (str(values.name),))
    prediction = np.asarray(learned.prediction)
    if learned.levels:
        place = [list(learned.levels).index(value) for value in values]
        return prediction[:, place]
    away = values.to_numpy(np.float64) - prediction[:, None]
    column = case.sample.variables[str(values.name)].to_numpy(np.float64)
    return _kernel_density(column - prediction, away, case.weights)


def _kernel_density(sample: FloatArray, at: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return a normal kernel density estimate (Silverman's bandwidth), interpolated on a grid."""
    spread = np.subtract(*np.quantile(sample, [0.75, 0.25])) / 1.349
    width = 0.9 * min(sample.std(), spread or np.inf) * len(sample) ** -0.2
    if width == 0:
        return np.zeros(at.shape)
    grid = np.linspace(sample.min() - 4 * width, sample.max() + 4 * width, POINTS)
    deviation = sample.std(ddof=1) if weights is None else np.cov(sample, aweights=weights) ** 0.5
    density = stats.gaussian_kde(sample, width / deviation, weights)(grid)
    return np.interp(at, grid, density, left=0.0, right=0.0)


@method("m_plot")
def m_plot(
    problem: Problem,
    features: str | Sequence[str],
    *,
    grid: Grid = "quantile",
    points: int | None = None,
    span: float = 0.2,
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    r"""Mean prediction of rows near a value, :math:`E[f(X) | X_j = x]` (M-plot).

    What goes with the variable counts as its effect (Apley and Zhu 2020, section 1). If it is
    independent of the others the M-plot is the partial dependence. `pd` with
    ``sampler="conditional"`` has the same aim by way of a model of the variable.

    Parameters
    ----------
    features : str
        One variable.
    {grid}
    {points}
    span : float
        Share of the rows that a local line is put through, weighted by distance (tricube), as
        in R's ``loess(degree=1)``. Categories, and numbers of at most ten values, are grouped
        by value and have no use for it.
    {scale}
    {which_class}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In units of the prediction; one term per grid point (and class).

    Raises
    ------
    OptionError
        If the variable is unknown, or the grid leaves its observed range.

    Examples
    --------
    >>> res.m_plot("bmi", grid=[20, 25, 30]).summary_frame().iloc[:, :3].round(1)
             value  estimate  std_error
    term
    bmi[20]   20.0      80.3        5.9
    bmi[25]   25.0     138.2        4.8
    bmi[30]   30.0     190.1        6.5
    """
    check_number("span", span, Interval(0, 1, "high"))
    names = (name,) = variables_of(problem, features, most=1, what="An M-plot")
    data = problem.population.variables
    at = points_of(data, names, grid, points, problem.discrete)
    column, values = data[name], [value for (value,) in at.cells]
    few = column.nunique() <= FEW_VALUES and bool(pd.Series(values).isin(column).all())
    widths, near = None, f"of the rows with the value of `{name}` shown"
    if not (has_levels(problem, name) or few):
        widths = _widths(column.dropna().to_numpy(np.float64), values, span, name)
        near = (
            f"near the value of `{name}` shown: a local line through the nearest {100 * span:g}% "
            "of the rows"
        )
    missing = int(column.isna().sum())
    lacking = f"{missing} of {len(column)} rows lack `{name}`, and are near no value."
    outputs = Outputs.of(problem, scale, which_class)
    ends = outputs.range if widths is None else (-np.inf, np.inf)  # lines leave it
    terms = at.terms(outputs.labels)
    return Estimand(
        key=("m-plot", at, outputs, None if widths is None else span),
        terms=terms,
        measure=partial(_measure_near, at=at, widths=widths, outputs=outputs),
        words=Words(
            label="M-plot",
            title="mean prediction by value",
            quantity="M-plot",
            of=name,
            details=outputs.details,
            unit=outputs.unit,
            meaning=(
                f"Mean {outputs.phrase} {near}. What goes with the variable counts as its effect."
            ),
            always=(*problem.notes_on_codes(at.names), *([lacking] if missing else [])),
            missing=dict.fromkeys(terms.names, "no evaluation row near the value in a refit"),
        ),
        parameter=Parameter(effect=True, range=ends, relations=outputs.relations),
        coverage=("M-plot",) if outputs.scale == "mean" else (),
        no_weights=None,
    )


def _widths(x: FloatArray, values: list[float], span: float, name: str) -> FloatArray:
    """Return the distance from every value to its nearest rows' last, of all rows."""
    low, high = x.min(), x.max()
    if min(values) < low or max(values) > high:
        raise OptionError(
            f"An M-plot is a mean of rows near a value: the grid of `{name}` must be within the "
            f"observed range [{low:.6g}, {high:.6g}]; got {min(values):.6g} to {max(values):.6g}."
        )
    k = min(max(int(np.ceil(span * len(x))), 2), len(x)) - 1
    return np.array([np.partition(np.abs(x - value), k)[k] for value in values])


def _measure_near(
    case: ModelOnRows, *, at: Points, widths: FloatArray | None, outputs: Outputs
) -> Measurement:
    predictions = outputs.values(case.whatif.factual)
    column, values = case.sample.variables[at.names[0]], [cell[0] for cell in at.cells]
    if widths is None:
        same = np.column_stack([(column == value).to_numpy() for value in values])
        weights, away = same.astype(np.float64), np.zeros(same.shape)
    else:
        x = column.to_numpy(np.float64)[:, None]
        away = np.where(np.isnan(x), np.inf, x) - np.array(values, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(away == 0, 0.0, np.abs(away) / widths)
        weights = np.clip(1 - share**3, 0.0, None) ** 3  # tricube
        away[np.isinf(away)] = 0.0  # no row near, with weight 0
    if case.weights is not None:
        weights = weights * case.weights[:, None]
    return {"curve": Estimate.stack([_local_line(one, away, weights) for one in predictions])}


def _local_line(values: FloatArray, away: FloatArray, weights: FloatArray) -> Estimate:
    """Return the level at 0 of a weighted line through values, for every column of weights."""
    s0, s1, s2 = ((weights * away**power).mean(axis=0) for power in (0, 1, 2))
    spread = s0 * s2 - s1**2
    flat = spread <= SINGULAR * np.maximum(s0 * s2, np.finfo(np.float64).tiny)
    with np.errstate(invalid="ignore", divide="ignore"):
        line = weights * (s2 - s1 * away) / np.where(flat, 1.0, spread)
        kernel = np.where(flat, weights / s0, line)
        level = kernel.T @ values / len(values)
        slope = np.where(flat, 0.0, (weights * away).T @ values / len(values) - s1 * level)
        slope = np.where(flat, 0.0, slope / np.where(flat, 1.0, s2))
    rows = level + kernel * (values[:, None] - level - slope * away)
    return Estimate(value=level, rows=rows, mc_variance=np.zeros(len(level)))
