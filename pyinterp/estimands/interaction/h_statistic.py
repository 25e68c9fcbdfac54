"""Friedman and Popescu's H statistics: the share of a prediction's variance due to interactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import NOT_NEGATIVE, check_choice, check_count, check_flag, check_number
from pyinterp.data.features import Features, check_names, names_of
from pyinterp.estimands.effects.scales import Outputs, Scale
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.flatness import ROUNDING
from pyinterp.estimands.interaction.vint import Sets, sets_of
from pyinterp.estimands.questions import method
from pyinterp.ranges import POSITIVE

Order = Literal["overall", "pairwise", "three-way", "total", "importance"]

# Predictions that are kept between two uses; those beyond are made twice.
KEPT_BYTES = 2**27

# Effects of this share of the prediction's standard deviation count as 0: rounding errors of sums
# of predictions would take over their standard errors.
SMALLEST = 1e-6

# The name of the random stream that draws rows: all orders see the same ones.
DRAW = "rows of H statistics"


class Part(NamedTuple):
    """Partial dependence on some features, or on all others.

    Attributes
    ----------
    names : tuple of str
    others : bool
        Whether it is on all features but these; on all but none, it is the prediction.
    """

    names: tuple[str, ...]
    others: bool = False


PREDICTION = Part((), others=True)

# A sum of parts, each with its coefficient; every statistic is made of mean squares of such sums.
Combination = tuple[tuple[Part, float], ...]


@method("h_statistic")
def h_statistic(
    problem: Problem,
    features: str | Sets | None = None,
    *,
    order: Order = "overall",
    normalize: bool = True,
    squared: bool = True,
    most_rows: int = 500,
    eps: float = 0.0,
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    r"""Friedman and Popescu's H: the share of the prediction's variance due to interactions.

    With F partial dependences at the evaluation rows and f the prediction, all centered
    (Friedman and Popescu 2008, section 8.1):

    .. math::
        \text{overall} &= \overline{(f - F_j - F_{-j})^2} / \overline{f^2} \\
        \text{pairwise} &= \overline{(F_{jk} - F_j - F_k)^2} / \overline{F_{jk}^2} \\
        \text{three-way} &=
            \overline{(F_{jkl} - F_{jk} - F_{jl} - F_{kl} + F_j + F_k + F_l)^2}
            / \overline{F_{jkl}^2} \\
        \text{total} &= \overline{(f - \textstyle\sum_j F_j)^2} / \overline{f^2} \\
        \text{importance} &= \overline{(f - F_{-j})^2} / \overline{f^2}

    They are ``h2_overall``, ``h2_pairwise``, ``h2_threeway``, ``h2`` and ``pd_importance`` of
    R's hstats, to 12 digits on the same rows. A row is a point at which effects are evaluated
    and a background over which they average; standard errors count both.

    Parameters
    ----------
    features : str or sequence, optional
        Features (variables, or groups of variables). Of pairs and triples: features of which
        all are taken, or a list of tuples. By default all, which of pairs and triples can be
        many. For "total", those whose main effects are
        subtracted.
    order : {"overall", "pairwise", "three-way", "total", "importance"}
        Interactions of a feature with any others, of two, of three, all interactions together;
        or the importance of a feature, interactions included.
    normalize : bool
        Divide by the variance in the denominator. A share of next to nothing can be large:
        without it values are in units of the prediction and can be compared between pairs.
    squared : bool
        If not, take the root.
    most_rows : int
        Evaluation rows of a refit that are used at most, drawn at random. The work grows with
        their square.
    eps : float
        Mean squares of at most this count as 0, in squared units of the prediction (1e-10 in
        hstats). Those of at most 1e-12 of the variance of the prediction always do, and 0/0
        is 0.
    {scale}
    {which_class}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        One term per feature, pair or triple (and class). There is no test of 0: see
        `interactions`.

    Raises
    ------
    OptionError
        If a feature or class is unknown, or a pair is not one.

    Examples
    --------
    >>> product = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> product.fit(pi.Holdout(0.7), seed=1).h_statistic().params.round(3).to_dict()
    {'bmi': 0.002, 'bp': 0.002}
    """
    check_choice("order", order, get_args(Order))
    check_flag("normalize", normalize)
    check_flag("squared", squared)
    check_count("most_rows", most_rows, 2)
    check_number("eps", eps, NOT_NEGATIVE)
    subsets = _subsets(problem, features, order)
    outputs = Outputs.of(problem, scale, which_class)
    above, below = _parts(order, subsets)
    functions = tuple(dict.fromkeys([*above, *below]))
    due_to, what, whole = MEANINGS[order]
    importance = order == "importance"
    details: list[str] = [] if importance else [order]
    if not normalize:
        details.append("unnormalized")
    if importance and not squared:
        details.append("root")
    if normalize:
        share = "Share" if squared else "Root of the share"
        meaning = f"{share} of the variance of {whole} that is due to {due_to}"
    else:
        meaning = f"{'Mean' if squared else 'Root mean'} square of {due_to}"
    label = "PD importance" if importance else "H²" if squared else "H"
    unit = "" if normalize else outputs.unit
    notes = [
        f"{due_to[0].upper()}{due_to[1:]}: {what}.",
        "No test of 0: noise makes interactions, so estimates are above 0 whatever the truth.",
    ]
    if normalize:
        notes.append("Upper limits end at 1, unless the estimate is above 1.")
    if problem.sample.nobs > most_rows:
        notes.append(
            f"At most {most_rows} evaluation rows of a refit, drawn at random, are points and "
            "background alike."
        )
    return Estimand(
        key=("h", functions, tuple(problem.features.items()), outputs, most_rows),
        terms=Terms.plain(
            ["total" if order == "total" else ":".join(one) for one in subsets], outputs.labels
        ),
        measure=partial(
            _measure,
            functions=functions,
            features=problem.features,
            outputs=outputs,
            most=most_rows,
        ),
        read=partial(
            _read,
            above=[functions.index(function) for function in above],
            below=[functions.index(function) for function in below],
            functions=len(functions),
            normalize=normalize,
            squared=squared,
            eps=eps,
        ),
        form=(tuple(above), tuple(below), normalize, squared, eps),
        words=Words(
            label=label,
            title="importance by partial dependence" if importance else TITLE,
            details=(*details, *outputs.details),
            unit=f"{unit}²" if unit and squared else unit,
            # Their intervals exclude 0.
            meaning=f"{meaning}, noise included: no test of 0, see `interactions`.",
            notes=tuple(notes),
            zero_variance="0 in all refits",
        ),
        # The error of a mean square grows with its distance from 0.
        parameter=Parameter(range=POSITIVE, no_effect=0.0 if squared else None, share=normalize),
        coverage=("H",) if order == "overall" and normalize and squared else (),
        why_no_weights=None,
    )


TITLE = "interaction strength (Friedman's H)"
# By order: what the share is due to, how that is measured, and of what it is the share.
MEANINGS: Mapping[Order, tuple[str, str, str]] = {
    "overall": (
        "interactions of the feature",
        "what the prediction has beyond the sum of the partial dependence on the feature and that "
        "on all others",
        "the prediction",
    ),
    "pairwise": (
        "the interaction of the two",
        "what the partial dependence on both has beyond the sum of those on each",
        "the partial dependence on both",
    ),
    "three-way": (
        "the interaction of the three",
        "what the partial dependence on three has beyond those on two and on one of them",
        "that on all three",
    ),
    "total": (
        "interactions, and main effects of features left out",
        "what the prediction has beyond the sum of the partial dependences on single features",
        "the prediction",
    ),
    "importance": (
        "the feature, alone and in interactions",
        "what the prediction has beyond the partial dependence on all other features",
        "the prediction",
    ),
}


def _subsets(problem: Problem, features: str | Sets | None, order: Order) -> list[tuple[str, ...]]:
    """Return the features, pairs or triples that a statistic is of; all features for the total."""
    every = list(problem.features)
    if order in ("pairwise", "three-way"):
        size = 2 if order == "pairwise" else 3
        sets = [features] if isinstance(features, str) else features
        return sets_of(every, sets, size, "feature")
    names = every if features is None else list(dict.fromkeys(names_of(features)))
    check_names(names, every)
    return [tuple(names)] if order == "total" else [(name,) for name in names]


def _parts(
    order: Order, subsets: Sequence[tuple[str, ...]]
) -> tuple[list[Combination], list[Combination]]:
    """Return the sums whose mean squares are numerators and denominators, one each per term."""
    if order in ("pairwise", "three-way"):
        above = []
        for one in subsets:
            sizes = range(len(one), 0, -1)
            parts = [Part(some) for size in sizes for some in combinations(one, size)]
            above.append(tuple((p, (-1.0) ** (len(one) - len(p.names))) for p in parts))
        return above, [((Part(one), 1.0),) for one in subsets]
    whole = (PREDICTION, 1.0)
    if order == "total":
        above = [(whole, *((Part((name,)), -1.0) for name in one)) for one in subsets]
    elif order == "importance":
        above = [(whole, (Part(one, others=True), -1.0)) for one in subsets]
    else:
        above = [(whole, (Part(one), -1.0), (Part(one, others=True), -1.0)) for one in subsets]
    return above, [(whole,)] * len(above)


def _measure(
    case: ModelOnRows,
    *,
    functions: Sequence[Combination],
    features: Features,
    outputs: Outputs,
    most: int,
) -> Measurement:
    r"""Measure squares of sums of centered effects, with backgrounds' contributions to their means.

    With :math:`g = \sum_S c_S F_S` and :math:`F_S(x_i) = \frac1r \sum_t f(x_{iS}, x_{t,-S})`, the
    derivative of the mean of :math:`g_i^2` by the weight of row t as a background is
    :math:`\frac2r \sum_S c_S \sum_i g_i f(x_{iS}, x_{t,-S})`; that centering changes too does
    not matter, as g has mean 0. Weights of rows, with mean 1, make all means weighted ones. Of a
    random subset of r rows, a row stands for n / r rows; the other rows contribute nothing.
    """
    n, whatif = case.evaluation.nobs, case.whatif
    subset = np.arange(n)
    if n > most:
        subset = np.sort(case.draw(DRAW).choice(n, most, replace=False))
        whatif = whatif.take(subset)
    row_weights = np.ones(len(subset)) if case.weights is None else case.weights[subset]
    row_weights = row_weights / row_weights.mean()
    store: dict[tuple[str, ...], tuple[FloatArray, IntArray]] = {}

    def crossed(part: Part) -> FloatArray:
        """Return predictions of which a part at row i is the mean over t, shape (classes, t, i).

        They are kept for their next use up to `KEPT_BYTES`, without copies of equal donors.
        """
        if part.names in store:
            predictions, of_row = store[part.names]
        else:
            replaced = whatif.of([v for name in part.names for v in features[name]])
            of_row = replaced.donors.of_row
            predictions = np.empty((len(outputs.labels), len(subset), len(replaced.donors.counts)))
            for rows, block in replaced.cross():
                predictions[:, rows] = outputs.values(block)
            if sum(one.nbytes for one, _ in [*store.values(), (predictions, of_row)]) <= KEPT_BYTES:
                store[part.names] = predictions, of_row
        pairs = predictions[..., of_row]
        return pairs.swapaxes(1, 2) if part.others else pairs

    factual = outputs.values(whatif.factual)
    classes, r = factual.shape
    parts = list(dict.fromkeys(part for function in functions for part, _ in function))
    coefficients = np.zeros((len(parts), len(functions)))
    for number, function in enumerate(functions):
        for part, coefficient in function:
            coefficients[parts.index(part), number] = coefficient
    sums = np.zeros((classes, r, len(functions)))
    for part, of_part in zip(parts, coefficients, strict=True):
        effect = factual
        if part != PREDICTION:
            # Not by BLAS, whose sums depend on the number of threads.
            effect = np.einsum("cti,t->ci", crossed(part), row_weights) / r
        centered = effect - (effect @ row_weights)[:, None] / r
        sums += centered[..., None] * of_part
    # Sums that are 0 in exact arithmetic, or as good as 0.
    away = factual - (factual @ row_weights)[:, None] / r
    variance = np.square(away) @ row_weights / r
    floor = np.maximum((ROUNDING * np.abs(factual).max(axis=1)) ** 2, SMALLEST**2 * variance)
    still = np.einsum("crk,r->ck", np.square(sums), row_weights) / r <= floor[:, None]
    sums *= ~still[:, None]
    backgrounds = np.zeros_like(sums)
    for part, of_part in zip(parts, coefficients, strict=True):
        if part != PREDICTION:
            (uses,) = np.nonzero(of_part)
            weights = sums[..., uses] * of_part[uses] * row_weights[:, None]
            backgrounds[..., uses] += 2 / r * (crossed(part) @ weights) * row_weights[:, None]
    backgrounds -= backgrounds.mean(axis=1, keepdims=True) * row_weights[:, None]
    squares, donated = (
        np.moveaxis(values, 0, 1).reshape(r, -1) for values in (np.square(sums), backgrounds)
    )
    value = row_weights @ squares / r
    rows, donors = np.tile(value, (n, 1)), np.zeros((n, len(value)))
    rows[subset] += n / r * row_weights[:, None] * (squares - value)
    donors[subset] = n / r * donated
    mc_variance = np.zeros(len(value))
    return {"squares": Estimate(value=value, rows=rows, donors=donors, mc_variance=mc_variance)}


def _read(
    measurement: Measurement,
    *,
    above: Sequence[int],
    below: Sequence[int],
    functions: int,
    normalize: bool,
    squared: bool,
    eps: float,
) -> Estimate:
    """Return H by pair or feature: sums of squares, or roots, over others if `normalize`."""
    squares = measurement["squares"]
    classes = len(squares.value) // functions
    starts = np.repeat(np.arange(classes) * functions, len(above))
    top, bottom = starts + np.tile(above, classes), starts + np.tile(below, classes)
    q, numerator, denominator = len(top), squares.value[top], squares.value[bottom]
    counts = numerator > eps  # 0 / 0 is 0, and more than 0 / 0 is missing
    divisor = np.where(counts & normalize, denominator, 1.0)
    divisor[divisor == 0] = np.nan
    value = np.where(counts, numerator, 0.0) / divisor
    jacobian = np.zeros((q, len(squares.value)))
    jacobian[np.arange(q), top] = counts / divisor
    if normalize:
        jacobian[np.arange(q), bottom] -= value / divisor
    if not squared:
        value = np.sqrt(value)
        jacobian /= np.where(counts, 2 * value, 1.0)[:, None]
    return squares.through(value, jacobian)
