"""Interaction by flatness of partial dependence (vint): how much it depends on another variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Unpack

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import is_list
from pyinterp.data.features import check_names
from pyinterp.errors import OptionError, quote
from pyinterp.estimands.effects.grids import has_levels
from pyinterp.estimands.effects.partial_dependence import CurveOptions
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.flatness import NO_TEST, classes_of, curves_of, spread_of
from pyinterp.estimands.questions import method
from pyinterp.ranges import POSITIVE

Sets = Sequence[str] | Sequence[tuple[str, ...]]
WORDS = {2: "pair", 3: "triple"}
MEANING = (
    "Standard deviation, over the values of one variable, of the flatness (sd) of the other's "
    "partial dependence at that value, noise included: no test of 0. Mean of both directions. The "
    "grids are taken as given."
)


@method("vint")
def vint(problem: Problem, features: Sets | None = None, **curve: Unpack[CurveOptions]) -> Estimand:
    r"""Interaction of pairs of variables by the flatness of partial dependence (vint).

    .. math:: v_{jk} = \tfrac12 \Big[ sd_a\, sd_b\, PD_{jk}(a, b) + sd_b\, sd_a\,
        PD_{jk}(a, b) \Big]

    over grid points a of :math:`x_j` and b of :math:`x_k` (Greenwell, Boehmke and McCarthy
    2018, section 3.2), the standard deviation of categories too, as R's ``vip::vint`` of
    version 0.3 has it, to 12 digits on the same grid. It can't see effects of two categories
    that cross; `h_statistic` can.

    Parameters
    ----------
    features : sequence of str or of pairs of str, optional
        Variables, of which all pairs are taken, or pairs; by default all pairs.
    grid, points, scale, which_class
        Of the surfaces, as for `firm`.
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In units of the prediction; one term per pair (and class). There is no test of 0.

    Raises
    ------
    OptionError
        If a variable, level or class is unknown, a pair is not one, or the grid can't be used.

    Examples
    --------
    >>> product = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> product.fit(pi.Holdout(0.7), seed=1).vint().params.round(2).to_dict()
    {'bmi:bp': 4.91}
    """
    every = [name for variables in problem.features.values() for name in variables]
    subsets = sets_of(every, features, 2, "variable")
    curves = curves_of(problem, subsets, curve)
    first = next(iter(curves.values()))
    blind = [":".join(pair) for pair in subsets if all(has_levels(problem, name) for name in pair)]
    crossing = (
        f"Of two categories ({', '.join(blind)}) it can't see effects that cross: a 2 x 2 table "
        "whose effect changes sign has 0, while its H² is 1 (see `h_statistic`)."
    )
    return Estimand(
        # The measurement has numbers that are computed from surfaces, not the surfaces.
        key=("vint", tuple((one.key, one.form) for one in curves.values())),
        terms=Terms.plain([":".join(pair) for pair in subsets], classes_of(first.terms)),
        measure=partial(_measure, curves=curves),
        words=Words(
            label="vint",
            title="interaction by flatness of partial dependence",
            details=(replace(first.words, of=None).description,),
            unit=first.words.unit,
            meaning=MEANING,
            notes=(NO_TEST,),
            always=(crossing,) if blind else (),
            zero_variance="no refit lets the effect of one depend on the other",
        ),
        parameter=Parameter(range=POSITIVE),
        coverage=("vint",),
        why_no_weights=first.why_no_weights,
    )


def sets_of(every: Sequence[str], sets: Sets | None, size: int, what: str) -> list[tuple[str, ...]]:
    """Return pairs or triples of names: all, all of the names in `sets`, or the tuples in `sets`.

    Names in a tuple are in the order of `every`, so that a pair has one name in all tables. That
    name, such as "age:bmi", stands for the pair.

    Parameters
    ----------
    every : sequence of str
        All names.
    sets : sequence of str or of tuples of str, or None
    size : int
        2 for pairs, 3 for triples.
    what : str
        The word for a name in messages, such as "variable".
    """
    word = WORDS[size]
    chosen = every if sets is None else [sets] if _parts(sets, every) is not sets else sets
    if isinstance(chosen, str):
        raise OptionError(f"A {word} needs {size} {what}s; got {quote(sets)}.")
    items = [_parts(one, every) for one in chosen] if is_list(chosen) else [None]
    tuples = [tuple(one) for one in items if is_list(one)]
    names = [one for one in items if isinstance(one, str)] or [n for one in tuples for n in one]
    alike = len(tuples) == len(items) or (not tuples and len(names) == len(items))
    if not alike or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"Name {what}s, of which all {word}s are taken, or {word}s of them, not {quote(sets)}."
        )
    if names:
        check_names(names, every, kind=what)
    if not tuples:
        distinct = list(dict.fromkeys(names))
        if len(distinct) < size:
            raise OptionError(f"A {word} needs {size} {what}s; got {quote(distinct)}.")
        return list(combinations(sorted(distinct, key=list(every).index), size))
    for one in tuples:
        if len(set(one)) != size or len(one) != size:
            raise OptionError(f"A {word} is of {size} different {what}s, not {quote(one)}.")
    return list(dict.fromkeys(tuple(sorted(one, key=list(every).index)) for one in tuples))


def _parts(item: Any, every: Sequence[str]) -> Any:
    """Return the names in "age:bmi"; another item, or a name itself, as it is."""
    if not isinstance(item, str) or item in every or ":" not in item:
        return item
    parts = tuple(item.split(":"))
    return parts if set(parts) <= set(every) else item


def surface_interaction(values: FloatArray, layout: pd.DataFrame) -> tuple[float, FloatArray]:
    """Return vint of the values of one surface, shape (G,), and its gradient.

    Parameters
    ----------
    values : ndarray of shape (G,)
    layout : DataFrame, G rows
        Columns value and value2: the grid point of each value. A cell may be missing, or be there
        twice.
    """
    size = float(np.abs(values).max())
    total, gradient = 0.0, np.zeros(len(values))
    for axis in ("value", "value2"):
        codes = pd.factorize(layout[axis])[0]
        spreads = np.zeros(codes.max() + 1)
        inner = np.zeros((len(spreads), len(values)))
        for level in range(len(spreads)):
            cells = codes == level
            spreads[level], inner[level, cells] = spread_of(values[cells], "sd", size)
        outer, weights = spread_of(spreads, "sd", size)
        total += outer / 2
        gradient += weights @ inner / 2
    return total, gradient


def _measure(case: ModelOnRows, *, curves: Mapping[str, Estimand]) -> Measurement:
    """Return the interaction of every pair in its mean surface, class by class."""
    by_class: dict[Any, list[Estimate]] = {}
    for one in curves.values():
        surface, layout = one.read(one.measure(case)), one.terms.layout
        classes = classes_of(one.terms)
        points = len(layout) // len(classes)
        for k, label in enumerate(classes):
            cells = slice(k * points, (k + 1) * points)
            value, gradient = surface_interaction(surface.value[cells], layout[cells])
            jacobian = np.zeros((1, len(surface.value)))
            jacobian[0, cells] = gradient
            by_class.setdefault(label, []).append(surface.through(np.array([value]), jacobian))
    return {"vint": Estimate.stack([part for parts in by_class.values() for part in parts])}
