"""Average marginal effects: mean slopes of predictions at the observed values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import POSITIVE, check_number
from pyinterp.data.columns import one_column
from pyinterp.data.features import names_of
from pyinterp.data.sample import Sample
from pyinterp.errors import DesignError, FileError, OptionError
from pyinterp.estimands.effects.grids import (
    check_complete,
    has_levels,
    number_text,
    points_of,
    variables_of,
)
from pyinterp.estimands.effects.scales import Outputs, Scale
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words, notes_of_terms
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.questions import method

Step: TypeAlias = float | Literal["sd"] | None

SHARE_OF_RANGE = 1e-4  # of the default step, as in marginaleffects
LEAST_SPACINGS = 64  # of the default step, between numbers in the precision of the rows
PROBES = 200  # rows at which a model is asked whether its predictions are steps


@method("ame")
def ame(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    step: Step = None,
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    r"""Average marginal effects: mean slopes at the rows' values.

    .. math:: E\Big[\frac{\partial f(X)}{\partial x_j}\Big]

    by central differences; of a category, or a number of two values, mean changes from the
    first; ``pd(...).differences`` has ratios of levels. They are the ``get_margeff()`` of
    statsmodels, which leaves out exposures and offsets; here every row has its own. For statsmodels
    results in a `FittedModel`, so are their standard errors, of coefficients given the rows; for
    other models they are of rows, and for a learner of training too.

    Parameters
    ----------
    features : str or sequence of str, optional
        Variables; by default all.
    step : float or "sd", optional
        Width of the differences, which are shifted into the range of the rows at its ends; "sd" is
        one standard deviation of each variable. By default 1e-4 of its range, which models that
        predict steps, such as trees, refuse. Slopes stay per unit: ``t_test("10 * age = 0")`` is
        of ten.
    {scale}
    {which_class}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In units of the prediction per unit of the variable; one term per number, and per level
        but the first of a category or a number of two values (and class).

    Raises
    ------
    OptionError
        If a variable is unknown or constant, or the model predicts steps.

    Examples
    --------
    >>> res.ame(["bmi", "bp"]).conf_int().round(2)
             0      1
    term
    bmi   6.36  10.62
    bp    1.09   1.88
    """
    variables = [str(name) for name in problem.sample.variables.columns]
    varied = [name for name in variables if name != problem.offset]
    names = varied if features is None else list(dict.fromkeys(names_of(features)))
    variables_of(problem, names, most=max(len(names), 1), what="An average marginal effect")
    outputs = Outputs.of(problem, scale, which_class)
    data = problem.sample.variables
    # Of two values too: between them a tree sees no change.
    contrasts = [n for n in names if has_levels(problem, n) or data[n].nunique() == 2]
    levels = {name: _levels(data, name) for name in contrasts}
    numbers = [name for name in names if name not in levels]
    check_complete(data, numbers, "An average marginal effect")
    some = np.unique(np.linspace(0, len(data) - 1, PROBES).astype(int))
    probes = problem.sample.some(some).materialize()
    widths = {n: _width(problem, n, step, outputs, probes) for n in numbers}
    limits = {n: _limits(problem, n, widths[n], step, probes) for n in numbers}
    several = len(outputs.labels) > 1
    terms = [
        f"{label}: {term}" if several else term
        for name in names
        for label in outputs.labels
        for term in _term_names(name, levels.get(name))
    ]
    meaning = (
        f"Mean slope of the {outputs.phrase} in the variable, all variables of every row as they "
        f"are{'; a term [b - a] is the mean change from a to b' if levels else ''}."
        if numbers
        else f"A term [b - a] is the mean change of the {outputs.phrase} from a to b, all other "
        "variables of every row as they are."
    )
    always: tuple[str, ...] = ()
    if step is not None and widths:
        width = "one standard deviation" if step == "sd" else f"{step:g} at most"
        always = (f"Slopes are differences over {width}, within the range of the rows.",)
    return Estimand(
        key=("ame", tuple(names), tuple(widths.items()), outputs),
        terms=Terms.plain(terms),
        measure=partial(
            _measure_effects,
            names=names,
            widths=widths,
            limits=limits,
            levels=levels,
            outputs=outputs,
        ),
        words=Words(
            label="AME",
            title="average marginal effects",
            details=outputs.details,
            meaning=meaning,
            always=always,
            remarks=partial(notes_of_terms, problem.notes_on_codes(contrasts)),
            exact="No Monte Carlo error.",
            zero_variance="not used in any refit, or a slope that all refits and rows share",
        ),
        parameter=Parameter(null=0.0, effect=True),
        coverage=("AME",),
        version=1 if step is None else 3,  # others left the range, or were narrower at its ends
        linear=outputs.linear,
        why_no_weights=None,
    )


def _limits(
    problem: Problem, name: str, width: float, step: Step, probes: Sample
) -> tuple[float, float]:
    """Return the range of differences: of the rows, beyond which a tree is flat.

    Tiny differences may leave it, unless a spline has no basis there.
    """
    x = problem.sample.variables[name].to_numpy(np.float64)
    low, high = float(x.min()), float(x.max())
    if step is None:
        beyond = one_column(name, np.array([low - width / 2, high + width / 2]))
        with suppress(DesignError, FileError):  # no models are kept: they were measured
            problem.design.swap(probes, (name,), beyond).matrix(np.zeros(2, np.intp), np.arange(2))
            return -np.inf, np.inf
    return low, high


def _levels(data: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the levels that occur, as a column of the data's type."""
    levels = points_of(data, (name,), "unique").frame(data)
    if len(levels) < 2:
        raise OptionError(
            f"A contrast needs two levels, but `{name}` has one; name the other variables."
        )
    return levels


def _term_names(name: str, levels: pd.DataFrame | None) -> list[str]:
    """Return the names of a variable's terms: itself, or every level less the first one."""
    if levels is None:
        return [name]
    first, *rest = map(number_text, levels[name])
    return [f"{name}[{level} - {first}]" for level in rest]


def _width(problem: Problem, name: str, step: Step, outputs: Outputs, probes: Sample) -> float:
    """Return the width of differences; refuse a tiny one for a model that predicts steps."""
    x = problem.sample.variables[name].to_numpy(dtype=np.float64)
    if isinstance(step, str):
        if step != "sd":
            raise OptionError(f'`step` must be a positive number, "sd" or None, not {step!r}.')
        width = float(x.std(ddof=1))
    elif step is not None:
        check_number("step", step, POSITIVE)
        width = float(step)
    else:
        width = SHARE_OF_RANGE * float(np.ptp(x))
    width = min(width, float(np.ptp(x)))
    if not width > 0:
        raise OptionError(f"A slope needs a variable that varies, but `{name}` is constant.")
    largest = np.abs(x).max()
    single = (problem.design.in_precision(name, x + width / 3) != x + width / 3).any()
    spacing = float(np.spacing(np.float32(largest) if single else largest))
    if step is None and single:
        width = max(width, LEAST_SPACINGS * spacing)
    if width <= spacing:
        raise OptionError(
            f"A step of {width:.3g} is too small for `{name}`: values differ by rounding only."
        )
    if step is None and _has_steps(problem, name, width, float(x.std()), outputs, probes):
        raise OptionError(
            f"The model predicts steps in `{name}`, as trees do: its slope is 0 but at jumps. Pass "
            f'the width of differences, such as `step="sd"` (here {x.std(ddof=1):.3g}).'
        )
    return width


def _has_steps(
    problem: Problem, name: str, width: float, wide: float, outputs: Outputs, rows: Sample
) -> bool:
    """Whether the model predicts steps: most rows that change over `wide` are flat over `width`.

    Some rows are predicted with a variable at the ends of two intervals around its value, one as
    wide as a standard deviation, the other as the difference by which slopes would be computed.
    """
    x = rows.variables[name].to_numpy(dtype=np.float64)
    ends = [x + by / 2 for by in (-wide, wide, -width, width)]
    at = np.clip(np.concatenate(ends), x.min(), x.max())  # not beyond the data
    every = np.arange(len(at))
    swap = problem.design.swap(rows, (name,), one_column(name, at))
    try:
        found = outputs.values(problem.predictor(swap.matrix(every % len(x), every)))
    except FileError:  # no models are kept: this was looked at when they were measured
        return False
    # By output, interval, end and row.
    low, high = np.moveaxis(found.reshape(len(found), 2, 2, len(x)), 2, 0)
    far, near = np.abs(high - low).max(axis=0)
    still = near[far > 0] == 0
    return bool(len(still)) and float(still.mean()) > 0.5


def _measure_effects(
    case: ModelOnRows,
    *,
    names: Sequence[str],
    widths: dict[str, float],
    limits: dict[str, tuple[float, float]],
    levels: dict[str, pd.DataFrame],
    outputs: Outputs,
) -> Measurement:
    """Return the means over rows of slopes and of contrasts of levels, side by side as named."""
    parts = [
        _contrasts(case, levels[name], outputs)
        if name in levels
        else _row_slopes(case, name, widths[name], limits[name], outputs)
        for name in names
    ]
    return {"effects": Estimate.of_rows(np.concatenate(parts, axis=1), case.weights)}


def _row_slopes(
    case: ModelOnRows, name: str, width: float, limits: tuple[float, float], outputs: Outputs
) -> FloatArray:
    """Return every row's slope, shape (n, outputs), by differences over `width` around its value.

    What does not depend on coefficients is made once: the delta method moves these many times.
    """
    whatif = case.whatif
    feature = whatif.of((name,))
    n = feature.sample.nobs

    def both_ends() -> tuple[Any, ...]:
        """Return rows, their pairs of the lower and the upper ends, these, and widths."""
        x = feature.sample.variables[name].to_numpy(dtype=np.float64)
        low = np.clip(x - width / 2, limits[0], limits[1] - width)
        ends = np.concatenate([low, np.minimum(low + width, limits[1])])
        held = whatif.design.in_precision(name, ends)  # single precision holds neither exactly
        widths = width if held is ends else (held[n:] - held[:n])[:, None]
        rows = np.arange(n)
        return rows, np.column_stack([rows, n + rows]), one_column(name, held), widths

    *pairs, widths = whatif.once((name, "ends"), both_ends)
    at = outputs.values(feature.pairs(*pairs))
    return np.asarray((at[..., 1] - at[..., 0]).T / widths)


def _contrasts(case: ModelOnRows, levels: pd.DataFrame, outputs: Outputs) -> FloatArray:
    """Return every row's changes from the first level, shape (n, outputs x other levels)."""
    at = outputs.curves(case.whatif, levels)
    return np.asarray(at[..., 1:] - at[..., :1]).reshape(len(at), -1)
