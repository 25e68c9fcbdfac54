"""Partial dependence, the individual curves (ICE) that it averages, and their averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import linalg

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, check_flag
from pyinterp.data.columns import is_category, typical_rows
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import (
    Grid,
    Points,
    grids_of,
    hull_of,
    points_of,
    variables_of,
)
from pyinterp.estimands.effects.scales import Outputs, Scale, position_of
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.questions import method, side_by_side
from pyinterp.losses.predictive import entropy, negative_log_likelihood
from pyinterp.losses.rowwise import Loss

PDKind: TypeAlias = Literal["pd", "ice", "c-ice", "d-ice"]
PDOf: TypeAlias = Literal["prediction", "entropy", "nll"]
Average: TypeAlias = Literal["mean", "exemplar"]


class CurveOptions(TypedDict, total=False):
    """Options of all curves over a grid: where, on which scale, and of which class."""

    grid: Grid
    points: int | None
    scale: Scale | None
    which_class: Any


NO_WEIGHTS = "the curve of one row has none"
COVERAGE: Mapping[str, tuple[str, ...]] = {"mean": ("PD",), "probability": ("PD of probabilities",)}
QUANTITIES = {
    "entropy": ("entropy PD", "entropy-based", "entropy of the predictive distribution"),
    "nll": ("likelihood PD", "likelihood-based", "negative log likelihood of the response"),
}


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
) -> Estimand | Mapping[str, Estimand]:
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
    of_one = partial(
        partial_dependence,
        points=points,
        of=of,
        kind=kind,
        scale=scale,
        which_class=which_class,
        average=average,
    )
    if features is not None and together:
        return of_one(problem, features, grid=grid)
    variables = [name for feature in problem.features.values() for name in feature]
    grids = grids_of(variables if features is None else names_of(features), grid)
    return side_by_side(
        problem, {n: partial(of_one, features=n, grid=one) for n, one in grids.items()}
    )


def partial_dependence(
    problem: Problem,
    features: str | Sequence[str],
    *,
    grid: Grid = "quantile",
    points: int | None = None,
    of: PDOf = "prediction",
    kind: PDKind = "pd",
    scale: Scale | None = None,
    which_class: Any = None,
    average: Average = "mean",
) -> Estimand:
    """Partial dependence (PD) of one to three variables on a grid fixed from all rows.

    .. math:: PD_S(x) = E[f(x, X_C)]

    (Molnar et al. 2021, eqs 1 and 2). The curve of one row, :math:`f(x, x_C^{(i)})`, is its ICE.
    """
    check_choice("kind", kind, get_args(PDKind))
    check_choice("average", average, get_args(Average))
    check_choice("of", of, get_args(PDOf))
    names = variables_of(problem, features)
    if average != "mean" and kind != "pd":
        raise OptionError(
            f'`kind="{kind}"` is about the curves whose mean is the PD: it needs `average="mean"`, '
            f"not {average!r}."
        )
    at = points_of(problem.sample.variables, names, grid, points, problem.discrete)
    if kind == "c-ice" and len(at.cells) < 2:
        raise OptionError("Centered curves need two points or more: the first is the reference.")
    if of == "prediction":
        outputs = Outputs.of(problem, scale, which_class, rates=True)
        curve = _of_predictions(problem, at, outputs, average)
    elif scale is not None or average == "exemplar":
        option = "scale" if scale is not None else "average"
        raise OptionError(
            f'`of="{of}"` is the mean over rows of numbers in nats: leave `{option}` out.'
        )
    else:
        curve = _of_uncertainty(problem, at, of, which_class)
    return curve if kind == "pd" else _of_rows(curve, at, kind)


def _of_predictions(problem: Problem, at: Points, outputs: Outputs, average: Average) -> Estimand:
    """Return the estimand of mean predictions at points, or of the prediction of a typical row."""
    data = problem.sample.variables
    donors = at.frame(data)
    if outputs.scale == "rate":  # exposures of 1, whose logarithm is 0
        donors = donors.assign(**{problem.predictor.estimator.name: 0.0})
    mean = average == "mean"
    whose = "every row" if mean else "one row of medians and most frequent levels"
    setting = _setting(at, outputs.phrase, whose)
    studied = COVERAGE.get(outputs.scale, ()) if isinstance(outputs.scale, str) else ()
    return Estimand(
        key=("pd", at, outputs, average),
        terms=at.terms(outputs.labels),
        measure=partial(_measure, donors=donors, outputs=outputs, average=average),
        words=Words(
            label="PD",
            title="partial dependence",
            quantity="PD",
            of=", ".join(at.names),
            details=outputs.details + (() if mean else (average,)),
            unit=outputs.unit,
            meaning=f"Mean {setting}" if mean else f"{setting[0].upper()}{setting[1:]}",
            always=(*problem.notes_on_codes(at.names).values(),),
            remarks=partial(support_notes, data=data, at=at),
            exact="No Monte Carlo error.",
        ),
        parameter=Parameter(
            effect=True, range=outputs.range, relations=outputs.relations[: None if mean else 1]
        ),
        basis="rows" if mean else "one row",
        coverage=studied if mean else (),
        linear=mean and outputs.linear,
        why_no_weights=None if mean else NO_WEIGHTS,
    )


def _of_uncertainty(problem: Problem, at: Points, of: PDOf, which_class: Any) -> Estimand:
    r"""Return the partial dependence of entropy, or of the negative log likelihood.

    .. math:: E\{H[q(\cdot | x, X_C)]\}, \qquad -E\{\log q(Y | x, X_C)\}

    (Wood et al. 2024, eqs 7 to 9).
    """
    data, predictor = problem.sample.variables, problem.predictive
    position = position_of(predictor, which_class)
    likelihood = negative_log_likelihood(predictor, position)
    row_loss = likelihood if of == "nll" else entropy(predictor, position)
    of_response = of == "nll" and bool(problem.response)  # which must be there
    quantity, based, what = QUANTITIES[of]
    return Estimand(
        key=("pd", at, row_loss, "mean"),
        terms=at.terms([None]),
        measure=partial(
            _measure_losses, donors=at.frame(data), loss=row_loss, of_response=of_response
        ),
        words=Words(
            label="PD",
            title=f"{based} partial dependence",
            quantity=quantity,
            of=", ".join(at.names),
            details=() if which_class is None else (f"class {which_class}",),
            unit="nats",
            meaning=f"Mean {_setting(at, what, 'every row')}",
            always=(*problem.notes_on_codes(at.names).values(),),
            remarks=partial(support_notes, data=data, at=at),
        ),
        parameter=Parameter(effect=of == "entropy", range=row_loss.range),
        score=None if problem.sample.y is None else likelihood,
        predictions=None if predictor.distribution is None else "distribution",
        why_no_weights=None,
    )


def _setting(at: Points, predicted: str, whose: str) -> str:
    """Return the words for the quantity and the values that are set."""
    one = len(at.names) == 1
    what = "variable is set to the value" if one else "variables are set to the values"
    return f"{predicted} when the {what} shown for {whose}."


def _of_rows(curve: Estimand, at: Points, kind: PDKind) -> Estimand:
    """Return a curve with curves of single rows, centered or differentiated if need be.

    Raises
    ------
    OptionError
        If there are no slopes along these points.
    """
    rows = replace(
        curve,
        curves=True,
        why_no_weights="the curves of single rows, which its plot draws, have none",
    )
    if kind == "ice":
        return rows
    words, transform = curve.words, np.eye(len(at.cells))
    if kind == "c-ice":
        transform[:, 0] -= 1
        words = replace(
            words,
            label="c-PD",
            quantity=f"centered {words.quantity}",
            meaning=f"{words.meaning[:-1]}, minus that at the first.",
            zero_variance="the reference point, 0 by definition, or a feature that no refit uses",
        )
    else:
        if len(at.names) > 1 or isinstance(at.cells[0][0], str | bool):
            raise OptionError('`kind="d-ice"` is a slope: it needs one numeric variable.')
        if len(set(at.cells)) < max(2, len(at.cells)):
            raise OptionError(
                '`kind="d-ice"` is a slope: it needs at least two different grid points.'
            )
        values = np.array([value for (value,) in at.cells], dtype=np.float64)
        transform = np.column_stack([np.gradient(unit, values) for unit in transform])
        setting = f"{words.meaning[0].lower()}{words.meaning[1:]}"
        words = replace(
            words,
            label="d-PD",
            quantity=f"slope of {words.quantity}",
            unit="",
            meaning=f"Slope in the variable (at an end to the next point) of the {setting}",
        )
    classes = len(curve.terms.names) // len(at.cells)
    return replace(
        rows,
        read=partial(_read, transform=linalg.block_diag(*[transform] * classes)),
        form=kind,
        words=words,
        parameter=Parameter(null=0.0, effect=curve.parameter.effect),
        coverage=("centered PD",) if curve.coverage and kind == "c-ice" else (),
    )


def _measure(
    case: ModelOnRows, *, donors: pd.DataFrame, outputs: Outputs, average: Average
) -> Measurement:
    """Return the mean over rows of predictions at every point, shape (points x outputs,)."""
    n = case.evaluation.nobs
    if average == "exemplar":
        # One row of medians and most frequent levels, at all points.
        rows = typical_rows(case.evaluation.variables, len(donors), case.level_codes())
        for name, column in donors.items():
            rows[name] = column
        every, first = np.arange(len(donors))[None, :], np.zeros(1, dtype=np.intp)
        predictions = case.whatif.of(list(rows.columns)).pairs(first, every, rows)
        curves = np.repeat(outputs.values(predictions).swapaxes(0, 1), n, axis=0)
    else:
        curves = outputs.curves(case.whatif, donors)
    return {"curve": Estimate.of_rows(curves.reshape(len(curves), -1), case.weights)}


def _measure_losses(
    case: ModelOnRows, *, donors: pd.DataFrame, loss: Loss, of_response: bool
) -> Measurement:
    """Return the mean over rows of the loss at every point, shape (points,).

    Without `of_response` the loss is of the prediction alone, as an entropy: y is not read.
    """
    n = case.evaluation.nobs
    y, curves = case.y if of_response else np.zeros(n), np.empty((n, len(donors)))
    for rows, predictions in case.of_kind(loss.needs).of(list(donors.columns)).cross(donors):
        curves[rows] = loss(y[rows, None], predictions)
    return {"curve": Estimate.of_rows(curves, case.weights)}


def _read(measurement: Measurement, *, transform: FloatArray) -> Estimate:
    """Return linear functions of a curve, such as its points less their mean."""
    return measurement["curve"].linear(transform)


def support_notes(_: pd.Series[float], *, data: pd.DataFrame, at: Points) -> tuple[str, ...]:
    """Return notes on the grid: missing values, and points that are extrapolated."""
    notes, values = [], dict(zip(at.names, zip(*at.cells, strict=True), strict=True))
    for name in at.names:
        if count := data[name].isna().sum():
            notes.append(
                f"`{name}` is missing in {count} of {len(data)} rows; the grid is of its other "
                "values, and at each all rows are predicted."
            )
    numbers = [name for name in at.names if not is_category(data[name])]
    for name in numbers:
        low, high, points = data[name].min(), data[name].max(), np.unique(values[name])
        place = f"the observed range [{low:.6g}, {high:.6g}] of `{name}`"
        notes += _beyond(~((low <= points) & (points <= high)), place)
    for first, second in combinations(numbers, 2):
        pairs = np.unique([values[first], values[second]], axis=1).T
        if (hull := hull_of(data[[first, second]])) is not None:
            outside = hull.find_simplex(pairs, tol=1e-9) < 0
            notes += _beyond(outside, f"the convex hull of `{first}` and `{second}`")
    return tuple(notes)


def _beyond(outside: npt.NDArray[np.bool_], place: str) -> list[str]:
    """Return a note on the grid points that are outside the data, if there are some."""
    count = outside.sum()
    are = "is" if count == 1 else "are"
    note = f"{count} of {len(outside)} grid points {are} outside {place}: predictions there are "
    return [f"{note}extrapolated."] if count else []
