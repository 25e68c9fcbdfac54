"""Partial dependence and the individual curves (ICE) that it averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import linalg

from pyinterp.errors import OptionError, check_choice, did_you_mean
from pyinterp.estimands.base import Case, Estimand, Estimate, Measurement, Subject, Terms, names_of
from pyinterp.estimands.coverage import published, studied
from pyinterp.predictive import Predictor
from pyinterp.sample import FloatArray

__all__ = ["Grid", "PDKind", "Scale", "grid_values", "partial_dependence"]

Grid: TypeAlias = (
    Literal["quantile", "equidistant", "unique"] | npt.ArrayLike | Mapping[str, npt.ArrayLike]
)
PDKind: TypeAlias = Literal["pd", "ice", "c-ice", "d-ice"]
Scale: TypeAlias = Literal["probability", "logit"]

# The smallest probability told from 0, as in R's pdp.
EPSILON = float(np.finfo(np.float64).eps)

# Molnar et al. (2021, Table 1).
COVERAGE = {
    ("naive", "bootstrap"): published("38-59%"),
    ("naive", "subsampling"): published("33-51%"),
    ("corrected", "bootstrap"): published("86-98%"),
    ("corrected", "subsampling"): published("80-95%"),
    ("half-sample", "half-sampling"): studied("93-99%"),
}


def partial_dependence(
    subject: Subject,
    features: str | Sequence[str],
    *,
    grid: Grid = "quantile",
    points: int | None = None,
    kind: PDKind = "pd",
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    """Partial dependence (PD) of one or two variables on a grid fixed from all rows.

    .. math:: PD_S(x) = E[f(x, X_C)]

    (Molnar et al. 2021, eqs 1 and 2). Every row's own curve, :math:`f(x, x_C^{(i)})`, is its ICE.
    """
    check_choice("kind", kind, ("pd", "ice", "c-ice", "d-ice"))
    names = _variables(subject, features)
    axes = _axes(subject, names, grid, points)
    _check_kind(kind, axes)
    classes = _classes(subject.predictor, which_class)
    used_scale = _scale(subject.predictor, scale)
    # Like R's expand.grid: the first variable varies fastest.
    combinations = [cell[::-1] for cell in product(*reversed(list(axes.values())))]
    donors = pd.DataFrame(
        {
            name: _like([c[j] for c in combinations], subject.population.variables[name])
            for j, name in enumerate(names)
        }
    )
    labels = [label for label, _ in classes]
    terms = _terms(names, combinations, labels)
    transform = _transform(kind, list(axes.values()), len(classes))
    positions = tuple(position for _, position in classes)
    return Estimand(
        key=("pd", names, tuple(combinations), positions, used_scale),
        terms=terms,
        measure=partial(_measure, donors=donors, classes=positions, scale=used_scale),
        read=partial(_read, transform=transform),
        label={"pd": "PD", "ice": "PD", "c-ice": "c-PD", "d-ice": "d-PD"}[kind],
        title="Partial dependence",
        description=_description(names, kind, used_scale, labels),
        null=None if kind in ("pd", "ice") else 0.0,
        unit=_unit(subject, kind, used_scale),
        notes=_notes(subject, axes, kind, used_scale, labels),
        coverage=COVERAGE if kind in ("pd", "ice") else {},
        zero_variance=(
            "the reference point, 0 by definition, or a feature that no refit uses"
            if kind == "c-ice"
            else "all refits agree exactly, so there is no variance"
        ),
        curves=kind != "pd",
    )


def grid_values(
    column: pd.Series[Any], grid: Grid = "quantile", points: int = 20
) -> tuple[Any, ...]:
    """Return the grid of one variable.

    Parameters
    ----------
    column : pandas.Series
        The variable in all rows.
    grid : {"quantile", "equidistant", "unique"} or array
        "quantile": type-7 quantiles at equally spaced probabilities, the smallest and the largest
        value included (observed values, type 1, for whole numbers); all distinct values if there
        are at most `points`. "equidistant": from the
        smallest to the largest. "unique": all distinct values. An array is used as it is, sorted.
        Categories, strings and booleans always give their levels, unless an array is given.
    points : int
        Number of grid points.

    Returns
    -------
    tuple
        Increasing numbers, or levels in order.
    """
    numeric = pd.api.types.is_numeric_dtype(column) and column.dtype != bool
    if not isinstance(grid, str):
        return _user_grid(column, grid, numeric=numeric)
    check_choice("grid", grid, ("quantile", "equidistant", "unique"))
    if not numeric:
        return _levels(column)
    values = np.unique(column.to_numpy(dtype=np.float64))
    if grid == "equidistant":
        values = np.linspace(values[0], values[-1], points if len(values) > 1 else 1)
    elif grid == "quantile" and len(values) > points:
        # Whole numbers may be codes: between two of them a model may know nothing.
        whole = pd.api.types.is_integer_dtype(column)
        at, data = np.linspace(0, 1, points), column.to_numpy(np.float64)
        values = np.unique(
            np.quantile(data, at, method="inverted_cdf") if whole else np.quantile(data, at)
        )
    return tuple(values.tolist())


def _levels(column: pd.Series[Any]) -> tuple[Any, ...]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return tuple(column.cat.remove_unused_categories().cat.categories.tolist())
    return tuple(sorted(column.unique().tolist()))


def _user_grid(column: pd.Series[Any], grid: object, *, numeric: bool) -> tuple[Any, ...]:
    wanted = np.atleast_1d(np.asarray(grid))
    if not numeric:
        known = _levels(column)
        for level in wanted.tolist():
            if level not in known:
                raise OptionError(
                    f"{level!r} is not a level of `{column.name}`. Levels: "
                    f"{', '.join(map(str, known))}." + did_you_mean(level, known)
                )
        return tuple(level for level in known if level in wanted.tolist())
    if wanted.dtype.kind not in "iufb" or not np.isfinite(wanted.astype(np.float64)).all():
        raise OptionError(f"The grid of `{column.name}` must be finite numbers, not {grid!r}.")
    return tuple(np.unique(wanted.astype(np.float64)).tolist())


def _variables(subject: Subject, features: str | Sequence[str]) -> tuple[str, ...]:
    names = tuple(names_of(features))
    known = subject.population.variables.columns
    for name in names:
        if name not in known:
            group = " (a group of variables; name one of them)" if name in subject.features else ""
            raise OptionError(
                f"Can't find variable `{name}`{group}. Variables: {', '.join(known)}."
                + did_you_mean(name, known)
            )
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise OptionError(
            f"Partial dependence is of one variable or of two different ones, not of {names!r}."
        )
    return names


def _axes(
    subject: Subject, names: tuple[str, ...], grid: Grid, points: int | None
) -> dict[str, tuple[Any, ...]]:
    number = (20 if len(names) == 1 else 10) if points is None else points
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 2:
        raise OptionError(f"`points` must be a whole number of at least 2, not {points!r}.")
    data = subject.population.variables
    if isinstance(grid, Mapping):
        extra = [n for n in grid if n not in names]
        if extra:
            raise OptionError(f"`grid` names {extra[0]!r}, which is not among {list(names)}.")
        return {
            n: grid_values(data[n], grid.get(n, _rule(subject, n, "quantile")), number)
            for n in names
        }
    if not isinstance(grid, str) and len(names) > 1:
        raise OptionError(
            "A grid for two variables must be a mapping such as {'a': [0, 1], 'b': [2, 3]}."
        )
    return {n: grid_values(data[n], _rule(subject, n, grid), number) for n in names}


def _rule(subject: Subject, name: str, grid: Grid) -> Grid:
    """Return "unique" for numbers that the design treats as categories."""
    if not isinstance(grid, str):
        return grid
    check_choice("grid", grid, ("quantile", "equidistant", "unique"))
    return "unique" if name in subject.discrete else grid


def _check_kind(kind: PDKind, axes: Mapping[str, tuple[Any, ...]]) -> None:
    if kind != "d-ice":
        return
    if len(axes) > 1 or any(isinstance(v, str | bool) for v in next(iter(axes.values()))):
        raise OptionError('`kind="d-ice"` is a slope: it needs one numeric variable.')
    if len(next(iter(axes.values()))) < 2:
        raise OptionError('`kind="d-ice"` is a slope: it needs at least two grid points.')


def _classes(predictor: Predictor, which: Any) -> list[tuple[Any, int]]:
    """Return label and position of the wanted classes; by default the second of two, or all."""
    if predictor.classes is None:
        if which is not None:
            raise OptionError("`which_class` is for classifiers; this learner predicts a mean.")
        return [(None, -1)]
    known = list(predictor.classes)
    if which is None:
        wanted = known[1:] if len(known) == 2 else known
    else:
        wanted = list(which) if isinstance(which, list | tuple) else [which]
    for label in wanted:
        if label not in known:
            raise OptionError(
                f"`which_class` must be among {known}, not {label!r}.{did_you_mean(label, known)}"
            )
    return [(label, known.index(label)) for label in wanted]


def _scale(predictor: Predictor, scale: Scale | None) -> str:
    if predictor.classes is None:
        if scale is not None:
            raise OptionError("`scale` is for classifiers; this learner predicts a mean.")
        return "mean"
    chosen = scale or "probability"
    check_choice("scale", chosen, ("probability", "logit"))
    if chosen == "logit" and predictor.kind == "label":
        raise OptionError('`scale="logit"` needs a classifier with `predict_proba`.')
    return chosen


def _like(values: Sequence[Any], column: pd.Series[Any]) -> pd.Series[Any]:
    """Return grid values as a column of the variable's type; numbers become floats."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical(values, dtype=column.dtype))
    if pd.api.types.is_numeric_dtype(column) and column.dtype != bool:
        return pd.Series(np.asarray(values, dtype=np.float64))
    return pd.Series(list(values), dtype=column.dtype)


def _terms(
    names: tuple[str, ...], combinations: Sequence[tuple[Any, ...]], labels: Sequence[Any]
) -> Terms:
    cells = [
        ", ".join(f"{n}[{_short(v)}]" for n, v in zip(names, c, strict=True)) for c in combinations
    ]
    if len(set(cells)) < len(cells):
        cells = [
            ", ".join(f"{n}[{v!r}]" for n, v in zip(names, c, strict=True)) for c in combinations
        ]
    columns: dict[str, list[Any]] = {}
    axes = tuple("value" if j == 0 else f"value{j + 1}" for j in range(len(names)))
    for j, axis in enumerate(axes):
        columns[axis] = [c[j] for _ in labels for c in combinations]
    faceted = labels[0] is not None
    if faceted:
        columns["class"] = [label for label in labels for _ in combinations]
    prefix = [f"{label}: " if len(labels) > 1 else "" for label in labels]
    return Terms(
        names=tuple(p + cell for p in prefix for cell in cells),
        layout=pd.DataFrame(columns),
        axes=axes,
        axis_names=names,
        facet="class" if faceted and len(labels) > 1 else None,
    )


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _transform(kind: PDKind, axes: Sequence[tuple[Any, ...]], n_classes: int) -> FloatArray | None:
    """Return the matrix that turns curves into centered curves or slopes; None for identity."""
    points = int(np.prod([len(a) for a in axes]))
    if kind in ("pd", "ice"):
        return None
    if kind == "c-ice":
        one = np.eye(points)
        one[:, 0] -= 1
    else:
        at = np.asarray(axes[0], dtype=np.float64)
        one = np.column_stack([np.gradient(unit, at) for unit in np.eye(points)])
    return np.asarray(linalg.block_diag(*[one] * n_classes))


def _measure(
    case: Case, *, donors: pd.DataFrame, classes: tuple[int, ...], scale: str
) -> Measurement:
    n, g = case.sample.nobs, len(donors)
    curves = np.empty((n, len(classes), g))
    for rows, predictions in case.whatif.cross(list(donors.columns), donors):
        if scale == "mean":
            curves[rows, 0] = predictions
        else:
            values = _logit(predictions) if scale == "logit" else predictions
            for j, k in enumerate(classes):
                curves[rows, j] = values[..., k]
    return {"curve": Estimate.of_rows(curves.reshape(n, -1))}


def _read(measurement: Measurement, *, transform: FloatArray | None) -> Estimate:
    curve = measurement["curve"]
    return curve if transform is None else curve.linear(transform)


def _logit(probability: FloatArray) -> FloatArray:
    """Return the logit for two classes; for more, log p centered at its mean over the classes."""
    logs = np.log(np.maximum(probability, EPSILON))
    if probability.shape[-1] == 2:
        return np.asarray(logs - logs[..., ::-1])
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True))


def _description(names: tuple[str, ...], kind: PDKind, scale: str, labels: Sequence[Any]) -> str:
    what = {"pd": "PD", "ice": "PD", "c-ice": "centered PD", "d-ice": "slope of PD"}[kind]
    of_class = f", class {labels[0]}" if len(labels) == 1 and labels[0] is not None else ""
    return f"{what} of {', '.join(names)}" + (f" ({scale}{of_class})" if scale != "mean" else "")


def _unit(subject: Subject, kind: PDKind, scale: str) -> str:
    if scale != "mean" or kind == "d-ice" or subject.population.response is None:
        return ""
    return subject.population.response.name


def _notes(
    subject: Subject,
    axes: Mapping[str, tuple[Any, ...]],
    kind: PDKind,
    scale: str,
    labels: Sequence[Any],
) -> tuple[str, ...]:
    response = subject.population.response
    name = "the response" if response is None else f"`{response.name}`"
    label = "the class shown" if len(labels) > 1 else str(labels[0])
    what = {
        "mean": "mean prediction" if response is None else f"mean prediction of {name}",
        "probability": f"mean predicted probability that {name} is {label}",
        "logit": f"mean predicted logit of {name} being {label}",
    }[scale]
    listed = " and ".join(f"`{n}`" for n in axes)
    is_set = "is set to the value" if len(axes) == 1 else "are set to the values"
    setting = f"{what} when {listed} {is_set} shown for every row"
    first = ", ".join(f"{n} = {_short(values[0])}" for n, values in axes.items())
    note = {
        "pd": setting,
        "ice": setting,
        "c-ice": f"{setting}, minus that at {first}",
        "d-ice": f"slope in {listed} of the {setting}",
    }[kind]
    return (f"{note[0].upper()}{note[1:]}.",)
