"""Partial dependence, the individual curves (ICE) that it averages, and their averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import linalg, stats

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice
from pyinterp.data.columns import is_category, typical_rows
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import Grid, Points, hull_of, points_of, variables_of
from pyinterp.estimands.effects.scales import Outputs, Scale, position_of
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.losses.predictive import entropy, negative_log_likelihood
from pyinterp.losses.rowwise import Loss

PDKind: TypeAlias = Literal["pd", "ice", "c-ice", "d-ice"]
PDOf: TypeAlias = Literal["prediction", "entropy", "nll"]
Average: TypeAlias = Literal["mean", "median", "trimmed", "exemplar"]


class CurveOptions(TypedDict, total=False):
    """Options of all curves over a grid: where, on which scale, and of which class."""

    grid: Grid
    points: int | None
    scale: Scale | None
    which_class: Any


AVERAGES = ("mean", "median", "trimmed", "exemplar")
TRIM = 0.1  # at either end
NO_WEIGHTS = "of the averages of curves only the mean is weighted, not {average!r}"
COVERAGE: Mapping[str, tuple[str, ...]] = {"mean": ("PD",), "probability": ("PD of probabilities",)}
AVERAGE_OF = {
    "mean": "Mean",
    "median": "Median",
    "trimmed": "Trimmed mean (10% at either end)",
    "exemplar": "",
}
QUANTITIES = {
    "entropy": ("entropy PD", "entropy-based", "entropy of the predictive distribution"),
    "nll": ("likelihood PD", "likelihood-based", "negative log likelihood of the response"),
}


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
    check_choice("kind", kind, ("pd", "ice", "c-ice", "d-ice"))
    check_choice("average", average, AVERAGES)
    check_choice("of", of, ("prediction", "entropy", "nll"))
    names = variables_of(problem, features)
    at = points_of(problem.population.variables, names, grid, points, problem.discrete)
    if of == "prediction":
        outputs = Outputs.of(problem, scale, which_class, rates=True)
        curve = _of_predictions(problem, at, outputs, average)
    elif scale is not None or average == "exemplar":
        option = "scale" if scale is not None else "average"
        raise OptionError(
            f'`of="{of}"` is the mean over rows of numbers in nats: leave `{option}` out.'
        )
    else:
        curve = _of_uncertainty(problem, at, of, which_class, average)
    return curve if kind == "pd" else _of_rows(curve, at, kind, average)


def _of_predictions(problem: Problem, at: Points, outputs: Outputs, average: Average) -> Estimand:
    data = problem.population.variables
    donors = at.frame(data)
    if outputs.scale == "rate":  # exposures of 1, whose logarithm is 0
        donors = donors.assign(**{problem.predictor.estimator.name: 0.0})
    exemplar, mean = average == "exemplar", average == "mean"
    whose = "one row of medians and most frequent levels" if exemplar else "every row"
    robust = () if mean else ({"trimmed": "trimmed mean"}.get(average, average),)
    relations = outputs.relations if mean else outputs.relations[:1]
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
            details=outputs.details + robust,
            unit=outputs.unit,
            meaning=_setting(at, average, outputs.phrase, whose),
            always=problem.notes_on_codes(at.names),
            remarks=partial(support_notes, data=data[list(at.names)], at=at),
            exact="No Monte Carlo error.",
        ),
        parameter=Parameter(effect=True, range=outputs.range, relations=relations),
        basis="one row" if exemplar else "rows",
        coverage=studied if mean else (),
        no_weights=None if mean else NO_WEIGHTS.format(average=average),
    )


def _of_uncertainty(
    problem: Problem, at: Points, of: PDOf, which_class: Any, average: Average
) -> Estimand:
    r"""Return the partial dependence of entropy, or of the negative log likelihood.

    .. math:: E\{H[q(\cdot | x, X_C)]\}, \qquad -E\{\log q(Y | x, X_C)\}

    (Wood et al. 2024, eqs 7 to 9).
    """
    data, predictor = problem.population.variables, problem.predictive
    position = position_of(predictor, which_class)
    likelihood = negative_log_likelihood(predictor, position)
    row_loss = likelihood if of == "nll" else entropy(predictor, position)
    of_response = of == "nll" and bool(problem.response)  # which must be there
    quantity, based, what = QUANTITIES[of]
    return Estimand(
        key=("pd", at, row_loss, average),
        terms=at.terms([None]),
        measure=partial(
            _measure_losses,
            donors=at.frame(data),
            loss=row_loss,
            of_response=of_response,
            average=average,
        ),
        words=Words(
            label="PD",
            title=f"{based} partial dependence",
            quantity=quantity,
            of=", ".join(at.names),
            details=() if which_class is None else (f"class {which_class}",),
            unit="nats",
            meaning=_setting(at, average, what, "every row"),
            always=problem.notes_on_codes(at.names),
            remarks=partial(support_notes, data=data[list(at.names)], at=at),
        ),
        parameter=Parameter(effect=of == "entropy", range=row_loss.range),
        score=None if problem.population.y is None else likelihood,
        kind=None if predictor.distribution is None else "distribution",
        no_weights=None if average == "mean" else NO_WEIGHTS.format(average=average),
    )


def _setting(at: Points, average: Average, predicted: str, whose: str) -> str:
    """Return the sentence that names the average and the values that are set."""
    one = len(at.names) == 1
    what = "variable is set to the value" if one else "variables are set to the values"
    sentence = f"{AVERAGE_OF[average]} {predicted} when the {what} shown for {whose}.".strip()
    return f"{sentence[0].upper()}{sentence[1:]}"


def _of_rows(curve: Estimand, at: Points, kind: PDKind, average: Average) -> Estimand:
    """Return a curve with curves of single rows, centered or differentiated if need be.

    Raises
    ------
    OptionError
        If there are no slopes along these points, or the curve is no mean of curves.
    """
    if average != "mean":
        raise OptionError(
            f'`kind="{kind}"` is about the curves whose mean is the PD: it needs `average="mean"`, '
            f"not {average!r}."
        )
    rows = replace(
        curve, curves=True, no_weights="the curves of single rows, which its plot draws, have none"
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
            meaning=f"Slope in the variable of the {setting}",
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
    n = case.sample.nobs
    if average == "exemplar":
        # One row of medians and most frequent levels, at all points.
        rows = typical_rows(case.sample.variables, len(donors), case.level_codes())
        for name, column in donors.items():
            rows[name] = column
        every, first = np.arange(len(donors))[None, :], np.zeros(1, dtype=np.intp)
        predictions = case.whatif.of(list(rows.columns)).pairs(first, every, rows)
        curves = np.repeat(outputs.values(predictions), n, axis=1)
    else:
        curves = outputs.curves(case.whatif, donors)
    curves = np.concatenate(list(curves), axis=1)
    return {"curve": average_curve(curves, average, case.weights)}


def _measure_losses(
    case: ModelOnRows, *, donors: pd.DataFrame, loss: Loss, of_response: bool, average: Average
) -> Measurement:
    n = case.sample.nobs
    y, curves = case.y if of_response else np.zeros(n), np.empty((n, len(donors)))
    for rows, predictions in case.of_kind(loss.needs).of(list(donors.columns)).cross(donors):
        curves[rows] = loss(y[rows, None], predictions)
    return {"curve": average_curve(curves, average, case.weights)}


def _read(measurement: Measurement, *, transform: FloatArray) -> Estimate:
    return measurement["curve"].linear(transform)


def support_notes(_: pd.Series[float], *, data: pd.DataFrame, at: Points) -> tuple[str, ...]:
    """Return notes on the grid: missing values, and points that are extrapolated."""
    cells = pd.DataFrame(list(at.cells), columns=list(at.names))
    numbers = [name for name in at.names if not is_category(data[name])]
    counts = data[list(at.names)].isna().sum()
    notes = [
        f"`{name}` is missing in {count} of {len(data)} rows; the grid is of its other values, and "
        "at each all rows are predicted."
        for name, count in counts[counts > 0].items()
    ]
    for name in numbers:
        low, high = float(data[name].min()), float(data[name].max())
        values = cells[name].drop_duplicates()
        place = f"the observed range [{low:.6g}, {high:.6g}] of `{name}`"
        notes += _beyond(~values.between(low, high), place)
    for first, second in combinations(numbers, 2):
        pairs = cells[[first, second]].drop_duplicates().to_numpy(np.float64)
        if (hull := hull_of(data[[first, second]])) is not None:
            outside = hull.find_simplex(pairs, tol=1e-9) < 0
            notes += _beyond(outside, f"the convex hull of `{first}` and `{second}`")
    return tuple(notes)


def _beyond(outside: npt.NDArray[np.bool_] | pd.Series[bool], place: str) -> list[str]:
    """Return a note on the grid points that are outside the data, if there are some."""
    count = outside.sum()
    are = "is" if count == 1 else "are"
    note = f"{count} of {len(outside)} grid points {are} outside {place}: predictions there are "
    return [f"{note}extrapolated."] if count else []


def average_curve(
    curves: FloatArray, average: Average, weights: FloatArray | None = None
) -> Estimate:
    """Return the average of curves, shape (n, q), with every row's contribution.

    Only the mean takes weights of rows. Contributions to robust averages are their influence
    functions, with the average added. The trimmed mean leaves out the 10% smallest and largest
    values, as R's ``mean(trim=)``; the density at the median is estimated with Hall and Sheather's
    (1988) bandwidth.
    """
    if average in ("mean", "exemplar"):  # one made-up row has the same curve n times
        return Estimate.of_rows(curves, weights)
    n = len(curves)
    if average == "trimmed":
        cut, ordered = int(np.floor(TRIM * n)), np.sort(curves, axis=0)
        value = ordered[cut : n - cut].mean(axis=0)
        influence = np.clip(curves, ordered[cut], ordered[n - 1 - cut]) / (1 - 2 * TRIM)
    else:
        value = np.median(curves, axis=0)
        reach = min(_hall_sheather(n), 0.25)
        low, high = np.quantile(curves, [0.5 - reach, 0.5 + reach], axis=0)
        influence = np.sign(curves - value) * (high - low) / (4 * reach)
    rows = value + influence - influence.mean(axis=0)
    return Estimate(value=value, rows=rows, mc_variance=np.zeros(len(value)))


def _hall_sheather(n: int) -> float:
    """Return the bandwidth, in probability, for the density at the median."""
    z = float(stats.norm.isf(0.025))
    return float(n ** (-1 / 3) * z ** (2 / 3) * (1.5 * stats.norm.pdf(0) ** 2) ** (1 / 3))
