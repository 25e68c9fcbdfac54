"""Feature importance rank measure (FIRM): how much a partial dependence varies over its grid."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, Unpack, get_args

import numpy as np

from pyinterp._typing import BoolArray, FloatArray
from pyinterp.checks import check_choice, check_flag
from pyinterp.data.features import Names, names_of
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import grids_of, has_levels
from pyinterp.estimands.effects.partial_dependence import CurveOptions, partial_dependence
from pyinterp.estimands.estimand import (
    Correction,
    Estimand,
    Parameter,
    Problem,
    Terms,
    Words,
    notes_of_terms,
)
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.questions import method
from pyinterp.ranges import POSITIVE

Spread = Literal["sd", "mad", "iqr"]
NAMES = {
    "sd": "standard deviation",
    "mad": "median absolute deviation (times 1.4826)",
    "iqr": "interquartile range (type 7)",
    "range": "range / 4",
}

NO_TEST = "No test of 0: noise makes curves vary, so estimates are above 0 whatever the truth."
NO_CORRECTION = "No correction for that noise is known for the {}."
# A curve that varies less than this share of its size varies by rounding only.
ROUNDING = 1e-12
NORMAL = 1.4826  # R's constant of mad()


# Which values are a curve's, and how their spread is measured: "sd", "mad", "iqr" or "range".
Cells = tuple[slice, str]


@method("firm", importance=True)
def firm(
    problem: Problem,
    features: Names | None = None,
    *,
    spread: Spread = "sd",
    ice: bool = False,
    **curve: Unpack[CurveOptions],
) -> Estimand:
    r"""Flatness of partial dependence (FIRM), an importance that needs no loss.

    .. math:: i(x_j) = \Big\{\frac{1}{G - 1} \sum_{g=1}^G
        \big[PD_j(x_g) - \overline{PD}_j\big]^2 \Big\}^{1/2}

    over the G grid points; of a category :math:`(\max PD_j - \min PD_j) / 4` (Greenwell,
    Boehmke and McCarthy 2018, eq. 4). Grid points count alike, whatever the density of
    the feature. For a learner it is the mean over refits, which is biased upward: noise makes
    a curve vary. Beside it stands the flatness of the mean curve without that noise,

    .. math:: \Big\{ s^2(PD_j) - \frac{tr(C V)}{G - 1} \Big\}_+^{1/2}

    where V is the sampling covariance of the curve under `cov_type` and C the centering
    matrix. R's ``vip::vi_firm`` gives the plain value, to 12 digits on the same grid.

    Parameters
    ----------
    features : str or sequence of str, optional
        Variables; by default all, members of groups one by one.
    spread : {"sd", "mad", "iqr"}
        Spread of the curve of a number: standard deviation, median absolute deviation (times
        1.4826) or interquartile range (type 7). Whole numbers and booleans are numbers, as in
        vip, unless the formula makes categories of numbers, as ``C(year)`` does.
    ice : bool
        Take the spread of every row's curve, and their mean: the effect of the feature where
        interactions cancel in the mean curve.
    grid, points, scale, which_class
        Of the curves, as for `pd`; a mapping of grids may have several variables.
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In units of the prediction; one term per feature (and class). `corrected_params` has the
        corrected values: of standard deviations only, not of categories, "mad", "iqr" or
        ``ice=True``. There is no test of 0.

    Raises
    ------
    OptionError
        If a variable, level or class is unknown, or the grid can't be used.

    Examples
    --------
    >>> res.firm().params.round(1).to_dict()
    {'sex': 6.4, 'bmi': 47.0, 'bp': 24.7}
    """
    return flatness(problem, features, spread=spread, ice=ice, **curve)


def flatness(
    problem: Problem,
    features: Names | None = None,
    *,
    spread: Spread = "sd",
    ice: bool = False,
    categories: Collection[str] | None = None,
    **curve: Any,
) -> Estimand:
    r"""Flatness of the partial dependence of every feature, an importance without a loss (FIRM).

    .. math:: i(x_j) = \Big\{\frac{1}{G - 1} \sum_{g=1}^G \big[PD_j(x_g) - \overline{PD}_j\big]^2
        \Big\}^{1/2}

    and for a category :math:`(\max PD_j - \min PD_j) / 4` (Greenwell, Boehmke and McCarthy 2018,
    eq. 4).

    Parameters
    ----------
    problem : Problem
    features : str or sequence of str, optional
        Variables; by default all.
    spread : {"sd", "mad", "iqr"}
        Of numbers.
    ice : bool
        Take the spread of each row's curve, and the mean of these spreads over rows.
    categories : collection of str, optional
        The variables that have levels; by default those that are not numeric, and those that the
        formula makes categories.
    **curve
        Options of `partial_dependence`.
    """
    check_choice("spread", spread, get_args(Spread))
    check_flag("ice", ice)
    if features is None:
        names = [name for variables in problem.features.values() for name in variables]
    else:
        names = list(dict.fromkeys(names_of(features)))
        if not names:
            raise OptionError("`features` must name at least one variable.")
    curves = curves_of(problem, names, curve)
    if categories is None:
        # Booleans are numbers, as in vip.
        data = problem.sample.variables
        categories = [n for n in names if data[n].dtype != bool and has_levels(problem, n)]
    first = next(iter(curves.values()))
    classes = classes_of(first.terms)
    cells = _cells(curves, ["range" if name in categories else spread for name in curves])
    kinds = [kind for _, kind in cells]
    corrected = not ice and "sd" in kinds
    # Of numbers, if there are some.
    kind = spread if spread in kinds else "range"
    terms = Terms.plain(list(curves), classes)
    of_levels = f"Of categories ({{}}): {NAMES['range']}."
    levels = {t: of_levels for t, (_, k) in zip(terms.names, cells, strict=True) if k != kind}
    of_curve = replace(first.words, of=None)
    of = "the partial dependence"
    if ice:
        of_curve = replace(of_curve, quantity="ICE")
        of = "every row's own curve (ICE), averaged over rows,"
    meaning = f"{NAMES[kind].capitalize()} of {of} over its grid, noise included: no test of 0."
    meaning += " The grid is taken as given."
    what = "individual curves" if ice else NAMES[kind]
    return Estimand(
        key=("firm", tuple(part.key for part in curves.values())),
        terms=terms,
        measure=partial(_measure, curves=curves),
        read=partial(_read_rows if ice else _read, curves=curves, cells=cells),
        form=("rows" if ice else "curve", tuple(kinds)),
        words=Words(
            label="FIRM",
            title="flatness of partial dependence",
            details=(f"{'range / 4' if kind == 'range' else kind} of {of_curve.description}",),
            unit=first.words.unit,
            meaning=meaning,
            remarks=partial(notes_of_terms, problem.notes_on_codes(curves)),
            notes_on=levels,
            notes=(NO_TEST,) if corrected else (NO_TEST, NO_CORRECTION.format(what)),
            zero_variance="its curve does not vary in any refit",
        ),
        # Noise makes a curve vary: the estimate is positive where the truth is 0, and no test of
        # that value is one.
        parameter=Parameter(range=POSITIVE),
        coverage=() if ice else ("FIRM",),
        linear=not ice and all(one.linear for one in curves.values()),
        why_no_weights="it is of the curves of single rows" if ice else first.why_no_weights,
        correction=_correction(curves, cells) if corrected else None,
    )


def curves_of(
    problem: Problem, subsets: Sequence[str | tuple[str, ...]], curve: Mapping[str, Any]
) -> Mapping[str, Estimand]:
    """Return the partial dependence on every variable, or tuple of variables, by their names.

    A mapping of grids may have variables of all of them. The grid of a variable that varies must
    have two points: over one, nothing does.
    """
    grid = curve.get("grid")
    tuples = [(one,) if isinstance(one, str) else one for one in subsets]
    if isinstance(grid, Mapping):
        grids_of(list(dict.fromkeys(name for one in tuples for name in one)), grid)
    curves = {}
    for variables in tuples:
        options = dict(curve)
        if isinstance(grid, Mapping):
            options["grid"] = {n: grid[n] for n in variables if n in grid} or "quantile"
        estimand = partial_dependence(problem, variables, **options)
        curves[", ".join(variables)] = estimand
        for axis, name in zip(estimand.terms.axes, variables, strict=True):
            values = estimand.terms.layout[axis].unique()
            if len(values) == 1 and len(problem.sample.variables[name].unique()) > 1:
                raise OptionError(
                    f"How much a curve varies needs two points or more of `{name}`, but its grid "
                    f"has only {values[0]}; give more, or leave `grid` out."
                )
    return curves


def _measure(case: ModelOnRows, *, curves: Mapping[str, Estimand]) -> Measurement:
    """Measure all curves; the name of a component begins with the number of its curve."""
    return {
        (number, part): estimate
        for number, one in enumerate(curves.values())
        for part, estimate in one.measure(case).items()
    }


def _read_curves(measurement: Measurement, *, curves: Mapping[str, Estimand]) -> Estimate:
    """Return the estimates of all curves from their measurements."""
    parts: list[dict[str, Estimate]] = [{} for _ in curves]
    for (number, part), estimate in measurement.items():
        parts[number][part] = estimate
    pairs = zip(curves.values(), parts, strict=True)
    return Estimate.stack([one.read(components) for one, components in pairs])


def spread_of(values: FloatArray, kind: str, size: float | None = None) -> tuple[float, FloatArray]:
    """Return a spread of values, shape (G,), and its gradient; both are 0 where none vary.

    Parameters
    ----------
    values : ndarray of shape (G,)
    kind : {"sd", "mad", "iqr", "range"}
        "range" is divided by 4.
    size : float, optional
        Size of the numbers that `values` are computed from; by default `values` themselves.
    """
    if not _varies(values, size):
        return 0.0, np.zeros(len(values))
    spread = float(_spreads(values, kind))
    if kind == "sd":
        return spread, (values - values.mean()) / ((len(values) - 1) * spread)
    if kind == "mad":
        middle = _quantile(values, 0.5)
        around = values - middle @ values
        signed = NORMAL * _quantile(np.abs(around), 0.5) * np.sign(around)
        return spread, signed - signed.sum() * middle
    if kind == "iqr":
        return spread, _quantile(values, 0.75) - _quantile(values, 0.25)
    return spread, (_quantile(values, 1.0) - _quantile(values, 0.0)) / 4


def _quantile(values: FloatArray, share: float) -> FloatArray:
    """Return weights by which the type-7 quantile is a mean of `values`."""
    at = share * (len(values) - 1)
    low = int(np.floor(at))
    order = np.argsort(values, kind="stable")
    weights = np.zeros(len(values))
    weights[order[low]] += 1 - (at - low)
    if at > low:
        weights[order[low + 1]] += at - low
    return weights


def _varies(curves: FloatArray, size: float | None = None) -> BoolArray:
    """Whether curves, along the last axis, vary by more than rounding of numbers of a size."""
    sizes = np.abs(curves).max(axis=-1) if size is None else size
    return np.asarray(~(np.ptp(curves, axis=-1) <= ROUNDING * sizes))  # a missing one does


def _spreads(curves: FloatArray, kind: str) -> FloatArray:
    """Return the spread of curves along the last axis."""
    if kind == "sd":
        return np.asarray(np.std(curves, axis=-1, ddof=int(curves.shape[-1] > 1)))
    if kind == "mad":
        away = np.abs(curves - np.median(curves, axis=-1, keepdims=True))
        return np.asarray(NORMAL * np.median(away, axis=-1))
    if kind == "iqr":
        return np.asarray(np.subtract(*np.quantile(curves, [0.75, 0.25], axis=-1)))
    return np.asarray(np.ptp(curves, axis=-1) / 4)


def _cells(curves: Mapping[str, Estimand], kinds: Sequence[str]) -> list[Cells]:
    """Return the cells of every curve, and the kind of its spread: class by class."""
    cells, start = [], 0
    for curve, kind in zip(curves.values(), kinds, strict=True):
        ends = np.linspace(0, len(curve.terms.names), len(classes_of(curve.terms)) + 1, dtype=int)
        cells.append([(slice(start + a, start + b), kind) for a, b in pairwise(ends)])
        start += ends[-1]
    return [one for of_class in zip(*cells, strict=True) for one in of_class]


def classes_of(terms: Terms) -> list[Any]:
    """Return the classes of a curve's terms; [None] of a mean."""
    return list(dict.fromkeys(terms.layout["class"])) if "class" in terms.layout else [None]


def _read(
    measurement: Measurement, *, curves: Mapping[str, Estimand], cells: Sequence[Cells]
) -> Estimate:
    """Return the spread of every feature's mean curve, by the delta method."""
    curve = _read_curves(measurement, curves=curves)
    spreads = np.zeros(len(cells))
    jacobian = np.zeros((len(cells), len(curve.value)))
    for j, (at, kind) in enumerate(cells):
        spreads[j], jacobian[j, at] = spread_of(curve.value[at], kind)
    return curve.through(spreads, jacobian)


def _read_rows(
    measurement: Measurement, *, curves: Mapping[str, Estimand], cells: Sequence[Cells]
) -> Estimate:
    """Return the mean over rows of the spread of every row's own curve, by feature."""
    rows = _read_curves(measurement, curves=curves).rows
    spreads = [
        np.where(_varies(rows[:, at]), _spreads(rows[:, at], kind), 0.0) for at, kind in cells
    ]
    return Estimate.of_rows(np.column_stack(spreads))


def _correction(curves: Mapping[str, Estimand], cells: Sequence[Cells]) -> Correction:
    """Return how the noise of curves, which makes flat ones vary, is taken out of spreads."""
    missing = "; of categories there is none" if any(kind != "sd" for _, kind in cells) else ""
    return Correction(
        underlying=partial(_read_curves, curves=curves),
        correct=partial(_corrected_spread, cells=cells),
        note=(
            "corrected: the flatness of the mean curve, the sampling variance of the curve "
            f"subtracted under the root; noise makes curves vary{missing}. Intervals are those of "
            "the plain value."
        ),
    )


def _corrected_spread(mean: FloatArray, cov: FloatArray, *, cells: Sequence[Cells]) -> FloatArray:
    r"""Return :math:`\{s^2(PD) - tr(C V) / (G - 1)\}^{1/2}`, C the centering matrix, or 0."""
    values = np.full(len(cells), np.nan)
    for j, (at, kind) in enumerate(cells):
        if kind == "sd":
            sd, points = spread_of(mean[at], "sd")[0], at.stop - at.start
            noise = np.trace(cov[at, at]) - cov[at, at].mean() * points
            values[j] = np.sqrt(max(sd**2 - noise / max(points - 1, 1), 0.0))
    return values
