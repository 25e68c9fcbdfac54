"""Feature importance rank measure (FIRM): how much a partial dependence varies over its grid."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, check_flag
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.averages import AVERAGES
from pyinterp.estimands.effects.grids import grids_of
from pyinterp.estimands.effects.partial_dependence import partial_dependence
from pyinterp.estimands.estimand import Correction, Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.ranges import POSITIVE

Spread: TypeAlias = Literal["sd", "mad", "iqr"]
SPREADS = ("sd", "mad", "iqr")
NAMES = {
    "sd": "standard deviation",
    "mad": "median absolute deviation (times 1.4826)",
    "iqr": "interquartile range (type 7)",
    "range": "range / 4",
}

# A curve that varies less than this share of its size varies by rounding only.
ROUNDING = 1e-12
NORMAL = 1.4826  # R's constant of mad()


class Block(NamedTuple):
    """The place of one curve among the values of several.

    Attributes
    ----------
    feature : str
    class_ : object
        The class that is predicted; None for a mean.
    at : slice
        Its values.
    spread : str
        How its spread is measured: "sd", "mad", "iqr" or "range".
    """

    feature: str
    class_: Any
    at: slice
    spread: str


def flatness(
    problem: Problem,
    features: str | Sequence[str] | None = None,
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
    check_choice("spread", spread, SPREADS)
    check_flag("ice", ice)
    check_choice("average", curve.get("average", "mean"), AVERAGES)
    if ice and curve.get("average", "mean") != "mean":
        raise OptionError(
            "`ice=True` takes the spread of every row's own curve, so there is no average over "
            f"rows to choose; leave `average={curve['average']!r}` out."
        )
    if features is None:
        names = [name for variables in problem.features.values() for name in variables]
    else:
        names = list(dict.fromkeys(names_of(features)))
        if not names:
            raise OptionError("`features` must name at least one variable.")
    curves = curves_of(problem, names, curve)
    if categories is None:
        categories = [name for name in names if _is_category(problem, name)]
    blocks = _blocks(categories, curves, spread)
    first = next(iter(curves.values()))
    corrected = not ice and any(block.spread == "sd" for block in blocks)
    kinds = list(dict.fromkeys(block.spread for block in blocks))
    labels = [block.class_ for block in blocks]
    several = len(set(labels)) > 1
    layout = pd.DataFrame(index=pd.RangeIndex(len(blocks)))
    if labels[0] is not None:
        layout["class"] = labels
    # Of numbers, if there are some.
    kind = spread if spread in kinds else "range"
    levels = dict.fromkeys(f"`{b.feature}`" for b in blocks if b.spread != kind)
    of_curve = replace(first.words, of=None)
    of = "the partial dependence"
    if ice:
        of_curve = replace(of_curve, quantity="ICE")
        of = "every row's own curve (ICE), averaged over rows,"
    meaning = f"{NAMES[kind].capitalize()} of {of} over its grid, which is taken as given."
    if levels:
        meaning += f" Of categories ({', '.join(levels)}): {NAMES['range']}."
    what = "individual curves" if ice else NAMES[kind]
    return Estimand(
        key=("firm", tuple(part.key for part in curves.values())),
        terms=Terms(
            names=tuple(f"{b.class_}: {b.feature}" if several else b.feature for b in blocks),
            layout=layout,
        ),
        measure=partial(_measure, curves=curves),
        read=partial(_read_rows if ice else _read, curves=curves, blocks=blocks),
        words=Words(
            label="FIRM",
            title="flatness of partial dependence",
            details=(f"{'range / 4' if kind == 'range' else kind} of {of_curve.description}",),
            unit=first.words.unit,
            meaning=meaning,
            notes=(NO_TEST,)
            if corrected
            else (NO_TEST, f"No correction for that noise is known for the {what}."),
            zero_variance="its curve does not vary in any refit",
        ),
        # Noise makes a curve vary: the estimate is positive where the truth is 0, and no test of
        # that value is one.
        parameter=Parameter(range=POSITIVE),
        coverage=() if ice else ("FIRM",),
        no_weights="it is of the curves of single rows" if ice else first.no_weights,
        correction=_correction(curves, blocks) if corrected else None,
    )


NO_TEST = "No test of 0: noise makes curves vary, so estimates are above 0 whatever the truth."


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
            if len(values) == 1 and len(problem.population.variables[name].unique()) > 1:
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
    """Return the estimates of all curves from what `_measure` returns."""
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
    if np.ptp(values) <= ROUNDING * (np.abs(values).max() if size is None else size):
        return 0.0, np.zeros(len(values))
    if kind == "sd":
        around = values - values.mean()
        sd = float(np.sqrt(around @ around / (len(values) - 1)))
        return sd, around / ((len(values) - 1) * sd)
    if kind == "mad":
        middle = _quantile(values, 0.5)
        around = values - middle @ values
        outer = _quantile(np.abs(around), 0.5)
        signed = NORMAL * outer * np.sign(around)
        return float(NORMAL * outer @ np.abs(around)), signed - signed.sum() * middle
    ends = (1.0, 0.0) if kind == "range" else (0.75, 0.25)
    weights = (_quantile(values, ends[0]) - _quantile(values, ends[1])) / (
        4.0 if kind == "range" else 1.0
    )
    return float(weights @ values), weights


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


def _spreads_of_rows(curves: FloatArray, kind: str) -> FloatArray:
    """Return the spread of every row of `curves`, shape (n, G)."""
    size = np.abs(curves).max(axis=1)
    varies = np.ptp(curves, axis=1) > ROUNDING * size
    if not varies.any():
        return np.zeros(len(curves))
    if kind == "sd":
        spreads = curves.std(axis=1, ddof=1)
    elif kind == "mad":
        away = np.abs(curves - np.median(curves, axis=1, keepdims=True))
        spreads = NORMAL * np.median(away, axis=1)
    elif kind == "iqr":
        spreads = np.subtract(*np.quantile(curves, [0.75, 0.25], axis=1))
    else:
        spreads = np.ptp(curves, axis=1) / 4
    return np.where(varies, spreads, 0.0)


def _is_category(problem: Problem, name: str) -> bool:
    """Whether a variable has levels: text, or numbers that the formula makes categories.

    Booleans and whole numbers count as numbers, as in vip, unless in a term such as ``C(year)``.
    """
    column = problem.population.variables[name]
    if column.dtype == bool:
        return False
    return name in problem.discrete or not pd.api.types.is_numeric_dtype(column)


def _blocks(
    categories: Collection[str], curves: Mapping[str, Estimand], spread: str
) -> tuple[Block, ...]:
    """Return the place of every curve among all values: class by class, features in order."""
    blocks: list[Block] = []
    start = 0
    for name, one in curves.items():
        classes = classes_of(one.terms)
        points = len(one.terms.names) // len(classes)
        for label in classes:
            kind = "range" if name in categories else spread
            blocks.append(Block(name, label, slice(start, start + points), kind))
            start += points
    order = list(dict.fromkeys(block.class_ for block in blocks))
    return tuple(sorted(blocks, key=lambda block: order.index(block.class_)))


def classes_of(terms: Terms) -> list[Any]:
    """Return the classes of a curve's terms; [None] of a mean."""
    return list(dict.fromkeys(terms.layout["class"])) if "class" in terms.layout else [None]


def _read(
    measurement: Measurement, *, curves: Mapping[str, Estimand], blocks: Sequence[Block]
) -> Estimate:
    curve = _read_curves(measurement, curves=curves)
    spreads = np.zeros(len(blocks))
    jacobian = np.zeros((len(blocks), len(curve.value)))
    for j, block in enumerate(blocks):
        spreads[j], jacobian[j, block.at] = spread_of(curve.value[block.at], block.spread)
    return curve.through(spreads, jacobian)


def _read_rows(
    measurement: Measurement, *, curves: Mapping[str, Estimand], blocks: Sequence[Block]
) -> Estimate:
    rows = _read_curves(measurement, curves=curves).rows
    return Estimate.of_rows(
        np.column_stack([_spreads_of_rows(rows[:, b.at], b.spread) for b in blocks])
    )


def _correction(curves: Mapping[str, Estimand], blocks: Sequence[Block]) -> Correction:
    missing = "; of categories there is none" if any(b.spread != "sd" for b in blocks) else ""
    return Correction(
        underlying=partial(_read_curves, curves=curves),
        correct=partial(_corrected_spread, blocks=blocks),
        note=(
            "corrected: the flatness of the mean curve, the sampling variance of the curve "
            f"subtracted under the root; noise makes curves vary{missing}. Intervals are those of "
            "the plain value."
        ),
    )


def _corrected_spread(mean: FloatArray, cov: FloatArray, *, blocks: Sequence[Block]) -> FloatArray:
    r"""Return :math:`\{s^2(PD) - tr(C V) / (G - 1)\}^{1/2}`, C the centering matrix, or 0."""
    values = np.full(len(blocks), np.nan)
    for j, block in enumerate(blocks):
        if block.spread != "sd":
            continue
        points = block.at.stop - block.at.start
        sd, _ = spread_of(mean[block.at], "sd")
        covariance = cov[block.at, block.at]
        noise = (np.trace(covariance) - covariance.mean() * points) / max(points - 1, 1)
        values[j] = np.sqrt(max(sd**2 - noise, 0.0))
    return values
