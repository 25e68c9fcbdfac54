"""Partial dependence and the individual curves (ICE) that it averages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy import linalg

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice
from pyinterp.data.columns import typical_rows
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError, did_you_mean, list_of, quote, short
from pyinterp.estimands.effects.averages import AVERAGES, Average, average_curve
from pyinterp.estimands.effects.grids import Grid, Points, points_of
from pyinterp.estimands.effects.outputs import Outputs
from pyinterp.estimands.effects.scales import (
    Scale,
    Scores,
    UsedScale,
    name_of,
    position_of,
    range_of,
    rescale,
)
from pyinterp.estimands.effects.support import support_notes
from pyinterp.estimands.estimand import Estimand, Estimate, Measurement, ModelOnRows, Problem, Terms
from pyinterp.losses.predictive import entropy, negative_log_likelihood
from pyinterp.losses.rowwise import Loss
from pyinterp.ranges import REAL

__all__ = [
    "PDKind",
    "PDOf",
    "details_of",
    "partial_dependence",
    "terms_of",
    "unit_of",
    "variables_of",
    "words_of",
]

PDKind: TypeAlias = Literal["pd", "ice", "c-ice", "d-ice"]
PDOf: TypeAlias = Literal["prediction", "entropy", "nll"]


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

    (Molnar et al. 2021, eqs 1 and 2). Every row's own curve, :math:`f(x, x_C^{(i)})`, is its ICE.
    """
    check_choice("kind", kind, ("pd", "ice", "c-ice", "d-ice"))
    check_choice("average", average, AVERAGES)
    check_choice("of", of, ("prediction", "entropy", "nll"))
    if of != "prediction":
        return _of_uncertainty(
            problem, features, grid, points, of, kind, scale, which_class, average
        )
    names = variables_of(problem, features)
    at = points_of(problem.population.variables, names, grid, points, problem.discrete)
    _check_kind(kind, at, average)
    labels, positions, used_scale = Outputs.of(problem.predictor, scale, which_class, rates=True)
    donors = at.frame(problem.population.variables)
    if used_scale == "rate":  # exposures of 1, whose logarithm is 0
        donors = donors.assign(**{problem.predictor.estimator.name: 0.0})
    return Estimand(
        key=("pd", names, at.cells, positions, used_scale, average),
        terms=terms_of(at, labels),
        measure=partial(
            _measure,
            donors=donors,
            classes=positions,
            scale=used_scale,
            average=average,
        ),
        read=partial(_read, transform=_transform(kind, at, len(labels))),
        label={"pd": "PD", "ice": "PD", "c-ice": "c-PD", "d-ice": "d-PD"}[kind],
        title="partial dependence",
        quantity={"c-ice": "centered PD", "d-ice": "slope of PD"}.get(kind, "PD"),
        of=", ".join(names),
        details=details_of(used_scale, labels, average),
        null=None if kind in ("pd", "ice") else 0.0,
        effect=True,
        range=range_of(used_scale) if kind in ("pd", "ice") else REAL,
        unit=unit_of(problem, kind, used_scale),
        meaning=_meaning(problem, at, kind, used_scale, labels, average),
        exact="No Monte Carlo error.",
        coverage=_coverage(used_scale) if kind in ("pd", "ice") and average == "mean" else (),
        zero_variance=(
            "the reference point, 0 by definition, or a feature that no refit uses"
            if kind == "c-ice"
            else "all refits agree exactly, so there is no variance"
        ),
        no_model_error="the prediction of one made-up row is no mean over rows"
        if average == "exemplar"
        else "",
        remarks=_remarks(problem, at),
        curves=kind != "pd",
        no_weights=_no_weights(kind, average),
    )


def _coverage(scale: UsedScale) -> tuple[str, ...]:
    names = {"mean": "PD", "probability": "PD of probabilities"}
    return (names[scale],) if isinstance(scale, str) and scale in names else ()


def _remarks(problem: Problem, at: Points) -> Callable[[pd.Series[float]], Sequence[str]]:
    """Return the function that says where the grid leaves the data."""
    return partial(support_notes, data=problem.population.variables[list(at.names)], at=at)


ADJECTIVE = {"entropy": "entropy-based", "nll": "likelihood-based"}
QUANTITIES = {
    "entropy": ("entropy PD", "entropy of the predictive distribution"),
    "nll": ("likelihood PD", "negative log likelihood of the response"),
}


def _of_uncertainty(
    problem: Problem,
    features: str | Sequence[str],
    grid: Grid,
    points: int | None,
    of: PDOf,
    kind: PDKind,
    scale: Scale | None,
    which_class: Any,
    average: Average,
) -> Estimand:
    r"""Return the partial dependence of entropy, or of the negative log likelihood.

    .. math:: E\{H[q(\cdot | x, X_C)]\}, \qquad -E\{\log q(Y | x, X_C)\}

    (Wood et al. 2024, eqs 7 to 9).
    """
    if scale is not None or average == "exemplar":
        option = "scale" if scale is not None else "average"
        raise OptionError(
            f'`of="{of}"` is the mean over rows of numbers in nats: leave `{option}` out.'
        )
    names = variables_of(problem, features)
    at = points_of(problem.population.variables, names, grid, points, problem.discrete)
    _check_kind(kind, at, average)
    predictor = problem.predictive
    position = position_of(predictor, which_class)
    likelihood = negative_log_likelihood(predictor, position)
    row_loss = likelihood if of == "nll" else entropy(predictor, position)
    of_response = of == "nll" and problem.response  # which must be there
    quantity, what = QUANTITIES[of]
    labels = {"c-ice": "c-PD", "d-ice": "d-PD"}
    return Estimand(
        key=("pd", names, at.cells, row_loss, average),
        terms=terms_of(at, [None]),
        measure=partial(
            _measure_losses,
            donors=at.frame(problem.population.variables),
            loss=row_loss,
            needs_response=bool(of_response),
            average=average,
        ),
        read=partial(_read, transform=_transform(kind, at, 1)),
        label=labels.get(kind, "PD"),
        title=f"{ADJECTIVE[of]} partial dependence",
        quantity={"c-ice": f"centered {quantity}", "d-ice": f"slope of {quantity}"}.get(
            kind, quantity
        ),
        of=", ".join(names),
        details=() if which_class is None else (f"class {which_class}",),
        null=None if kind in ("pd", "ice") else 0.0,
        effect=of == "entropy",
        range=row_loss.range if kind in ("pd", "ice") else REAL,
        unit="" if kind == "d-ice" else "nats",
        meaning=_setting(at, kind, AVERAGE_OF[average], what, "every row"),
        zero_variance="all refits agree exactly, so there is no variance",
        loss=likelihood if problem.population.y is not None else None,
        distributional=predictor.distribution is not None,
        remarks=_remarks(problem, at),
        curves=kind != "pd",
        no_weights=_no_weights(kind, average),
    )


def _measure_losses(
    case: ModelOnRows, *, donors: pd.DataFrame, loss: Loss, needs_response: bool, average: Average
) -> Measurement:
    n = case.sample.nobs
    y, curves = case.y if needs_response else np.zeros(n), np.empty((n, len(donors)))
    for rows, predictions in case.serving(loss).of(list(donors.columns)).cross(donors):
        curves[rows] = loss(y[rows, None], predictions)
    return {"curve": average_curve(curves, average, case.weights)}


def variables_of(
    problem: Problem,
    features: str | Sequence[str],
    *,
    most: int = 3,
    what: str = "Partial dependence",
) -> tuple[str, ...]:
    """Return the names of one variable or of several different ones, checked."""
    names = tuple(names_of(features))
    variables = problem.population.variables.columns
    for name in names:
        if name not in variables:
            group = " (a group of variables; name one of them)" if name in problem.features else ""
            raise OptionError(
                f"Can't find variable `{short(name)}`{group}. Variables: {list_of(variables)}."
                + did_you_mean(name, variables)
            )
    if not 1 <= len(names) <= most or len(set(names)) < len(names):
        raise OptionError(f"{what} is of one variable{HOW_MANY[most]}, not of {quote(names)}.")
    return names


HOW_MANY = {1: "", 2: " or of two different ones", 3: " or of two or three different ones"}


def _check_kind(kind: PDKind, points: Points, average: Average) -> None:
    """Raise `OptionError` unless centered curves or slopes exist for these points and average."""
    if kind != "pd" and average != "mean":
        raise OptionError(
            f'`kind="{kind}"` is about the curves whose mean is the PD: it needs `average="mean"`, '
            f"not {average!r}."
        )
    if kind != "d-ice":
        return
    if len(points.names) > 1 or isinstance(points.cells[0][0], str | bool):
        raise OptionError('`kind="d-ice"` is a slope: it needs one numeric variable.')
    if len(set(points.cells)) < max(2, len(points.cells)):
        raise OptionError('`kind="d-ice"` is a slope: it needs at least two different grid points.')


def terms_of(at: Points, labels: Sequence[Any]) -> Terms:
    """Return one term per point and class, class by class."""
    names, cells = at.names, _cell_names(at)
    columns: dict[str, list[Any]] = {}
    axes = tuple("value" if j == 0 else f"value{j + 1}" for j in range(len(names)))
    for j, axis in enumerate(axes):
        columns[axis] = [c[j] for _ in labels for c in at.cells]
    faceted = labels[0] is not None
    if faceted:
        columns["class"] = [label for label in labels for _ in at.cells]
    prefix = [f"{label}: " if len(labels) > 1 else "" for label in labels]
    return Terms(
        names=tuple(p + cell for p in prefix for cell in cells),
        layout=pd.DataFrame(columns),
        axes=axes,
        axis_names=names,
        facet="class" if faceted and len(labels) > 1 else None,
    )


def _cell_names(at: Points) -> list[str]:
    """Return unique names of the points, as short as they can be."""
    for text in (_short, repr):
        named = [
            ", ".join(f"{n}[{text(v)}]" for n, v in zip(at.names, c, strict=True)) for c in at.cells
        ]
        if len(set(named)) == len(set(at.cells)):
            break
    counts: dict[str, int] = {}
    for k, name in enumerate(named):  # quantiles of few values repeat
        counts[name] = counts.get(name, 0) + 1
        named[k] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return named


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _no_weights(kind: PDKind, average: Average) -> str:
    """Return why a PD takes no sampling weights; empty for the mean of curves."""
    if average != "mean":
        return f"of the averages of curves only the mean is weighted, not {average!r}"
    return "" if kind == "pd" else "the curves of single rows, which its plot draws, have none"


def _transform(kind: PDKind, at: Points, n_classes: int) -> FloatArray | None:
    """Return the matrix that turns curves into centered curves or slopes; None for identity."""
    if kind in ("pd", "ice"):
        return None
    one = np.eye(len(at.cells))
    if kind == "c-ice":
        one[:, 0] -= 1
    else:
        values = np.array([value for (value,) in at.cells], dtype=np.float64)
        one = np.column_stack([np.gradient(unit, values) for unit in one])
    return np.asarray(linalg.block_diag(*[one] * n_classes))


def _measure(
    case: ModelOnRows,
    *,
    donors: pd.DataFrame,
    classes: tuple[int, ...],
    scale: UsedScale,
    average: Average,
) -> Measurement:
    n, g = case.sample.nobs, len(donors)
    curves = np.empty((n, len(classes), g))
    if average == "exemplar":
        curves[:] = np.moveaxis(rescale(_of_exemplar(case, donors), classes, scale), 0, 1)
    else:
        for rows, predictions in case.whatif.of(list(donors.columns)).cross(donors):
            curves[rows] = np.moveaxis(rescale(predictions, classes, scale), 0, 1)
    return {"curve": average_curve(curves.reshape(n, -1), average, case.weights)}


def _of_exemplar(case: ModelOnRows, donors: pd.DataFrame) -> FloatArray:
    """Predict one row of medians and most frequent levels at all points, shape (1, g, ...)."""
    rows = typical_rows(case.sample.variables, len(donors))
    for name, column in donors.items():
        rows[name] = column
    every = np.arange(len(donors))[None, :]
    return case.whatif.of(list(rows.columns)).pairs(np.zeros(1, dtype=np.intp), every, rows)


def _read(measurement: Measurement, *, transform: FloatArray | None) -> Estimate:
    curve = measurement["curve"]
    return curve if transform is None else curve.linear(transform)


def details_of(scale: UsedScale, labels: Sequence[Any], average: Average) -> tuple[str, ...]:
    """Return the header's words in parentheses: scale, class and average, unless the default."""
    of_class = f"class {labels[0]}" if len(labels) == 1 and labels[0] is not None else ""
    parts = [
        "" if scale == "mean" else name_of(scale),
        of_class,
        "" if average == "mean" else {"trimmed": "trimmed mean"}.get(average, average),
    ]
    return tuple(part for part in parts if part)


def unit_of(problem: Problem, kind: PDKind, scale: UsedScale) -> str:
    """Return the unit of a curve: that of the response, or none that can be named."""
    if scale != "mean" or kind == "d-ice" or problem.population.response is None:
        return ""
    return problem.population.response.name


def _meaning(
    problem: Problem,
    at: Points,
    kind: PDKind,
    scale: UsedScale,
    labels: Sequence[Any],
    average: Average,
) -> str:
    """Return the first footnote: what the values are."""
    predicted = words_of(problem, scale, labels)
    whose = "every row" if average != "exemplar" else "one row of medians and most frequent levels"
    return _setting(at, kind, AVERAGE_OF[average], predicted, whose)


def words_of(problem: Problem, scale: UsedScale, labels: Sequence[Any]) -> str:
    """Return what is predicted, on its scale and of its class, in words."""
    response = problem.population.response
    name = "the response" if response is None else f"`{response.name}`"
    label = "the class shown" if len(labels) > 1 else str(labels[0])
    of_class = labels[0] is not None
    if isinstance(scale, Scores):
        return f"expected score of {name} ({scale})"
    if callable(scale):
        predicted = f"`{name_of(scale)}` of the " + (
            "predicted probability" if of_class else "prediction"
        )
    else:
        predicted = {
            "mean": "prediction",
            "probability": "predicted probability",
            "logit": "predicted logit",
            "centered-logit": "predicted centered logit (log p minus its mean over the classes)",
            "cumulative": "predicted probability",
            "rate": "predicted rate",
        }[scale]
    if of_class and scale == "cumulative" and len(labels) > 1:
        return f"{predicted} that {name} is at most the class shown"
    if of_class:
        predicted += f" that {name} is {label}"
    elif response is not None:
        predicted += f" of {name}"
    return predicted


AVERAGE_OF = {
    "mean": "mean",
    "median": "median",
    "trimmed": "trimmed mean (10% at either end)",
    "exemplar": "",
}


def _setting(at: Points, kind: PDKind, average_of: str, predicted: str, whose: str) -> str:
    """Return the sentence that says what is averaged, and which values are set."""
    is_set = (
        "variable is set to the value" if len(at.names) == 1 else "variables are set to the values"
    )
    setting = f"{average_of} {predicted} when the {is_set} shown for {whose}".strip()
    note = {
        "pd": setting,
        "ice": setting,
        "c-ice": f"{setting}, minus that at the first",
        "d-ice": f"slope in the variable of the {setting}",
    }[kind]
    return f"{note[0].upper()}{note[1:]}."
