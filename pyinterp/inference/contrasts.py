"""Tests of linear hypotheses about terms, under the options of the results they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pyinterp._typing import FloatArray, IntArray, MeanRelation
from pyinterp.errors import InferenceError, OptionError, list_of, quote
from pyinterp.inference.half_sample.two_sides import ContrastVariance, contrast_variance
from pyinterp.inference.intervals import Alternative, adjusts_intervals, symbol
from pyinterp.inference.terms import IntervalScale, TermInference
from pyinterp.ranges import POSITIVE, SHARES
from pyinterp.representation import frozen

# Standard errors of contrasts below this share of the errors of single terms are rounding.
CERTAIN = 1e-6

# Ratios are differences on these scales.
SCALES = {"ratio": IntervalScale(POSITIVE), "odds ratio": IntervalScale(SHARES)}
OF_LOGARITHMS = ", P and limits are computed for the logarithm. Equal values have ratio 1."
MARGINAL = "Odds are of mean probabilities; a logistic coefficient gives another odds ratio."
# Of terms that vary as squares: by which error t divides.
ONE_SQUARE = (
    "Of a single importance the limits are those of its table, t and P too if its null value is "
    "tested; t divides by the s.e. at that value, not by std err."
)
TWO_SIDES = (
    "Of several importances t divides by the standard error on the side of the hypothesis, "
    "(coef - limit) / quantile of t, not by std err (Zou and Donner 2008)."
)
OPPOSITE: Mapping[Alternative, Alternative] = {
    "two-sided": "two-sided",
    "greater": "less",
    "less": "greater",
}

# Where the test of a hypothesis is: an inference, its term, and the term's weight.
Place = tuple[TermInference, int, float]


@frozen
class Hypotheses:
    """Linear hypotheses ``weights @ estimate = target``.

    Attributes
    ----------
    weights : ndarray of shape (k, q)
    target : ndarray of shape (k,)
    names : sequence of str
        Of the k hypotheses.
    terms : sequence of str
        Of the q terms.
    """

    weights: FloatArray
    target: FloatArray
    names: Sequence[str]
    terms: Sequence[str]

    def single(self, row: int) -> tuple[int, float] | None:
        """Return the term of a hypothesis about one term, and its weight; else None."""
        (used,) = np.nonzero(self.weights[row])
        return (int(used[0]), float(self.weights[row, used[0]])) if len(used) == 1 else None


def contrasts(
    hypotheses: Hypotheses,
    inference: TermInference,
    *,
    size: FloatArray,
    missing: Mapping[str, str],
    zero_variance: str,
    relation: MeanRelation = "difference",
) -> tuple[list[Place], list[str]]:
    """Return the places of tests of hypotheses under the options of `inference`, and notes on them.

    One about a single term is tested as in the table: the same statistic, p-value and interval,
    adjusted as one of the table's terms. The ones about several terms are a separate family for
    adjustments, by t tests; contrasts of importances have a standard error for each side.

    Parameters
    ----------
    hypotheses : Hypotheses
    inference : TermInference
        Of the terms.
    size : ndarray of shape (q,)
        Standard errors below this are rounding.
    missing : mapping of str to str
        By term, why it has no estimate if it has none.
    zero_variance : str
        Why there can be no variance.
    relation : {"difference", "ratio", "odds ratio"}
        Ratios are contrasts of logarithms, odds ratios of logits: missing where these are infinite.
    """
    plain, notes = inference.estimate, []
    if relation in SCALES:
        inference, size = inference.on(SCALES[relation]), 0 * size + CERTAIN**2  # without a unit
        notes += [symbol(inference.variance.df) + OF_LOGARITHMS, MARGINAL][: len(relation.split())]
    ends = np.isnan(inference.estimate) & ~np.isnan(plain)
    without = (hypotheses.weights[:, ends] != 0).any(axis=1)
    _check_terms(hypotheses, np.flatnonzero(~without), inference, size, missing, zero_variance)
    for row in range(len(hypotheses.names)):
        _check_inside(hypotheses, row, inference)
    (rows,) = np.nonzero((np.count_nonzero(hypotheses.weights, axis=1) > 1) & ~without)
    several = _several(hypotheses, rows, inference)
    places: list[Place] = []
    family = _of_family(hypotheses, np.flatnonzero(~without), inference)
    for row, target in enumerate(hypotheses.target):
        one = hypotheses.single(row)
        if without[row]:
            places.append((inference, int(ends.argmax()), 1.0))
        elif one is None:
            places.append((several, int(np.flatnonzero(rows == row)[0]), 1.0))
        else:
            term, weight = one
            side = inference.alternative if weight > 0 else OPPOSITE[inference.alternative]
            nulls = family.null.copy()
            nulls[term] = target / weight
            places.append((replace(family, null=nulls, alternative=side), term, weight))
    if inference.variance.varies_as_square and len(rows) < len(places):
        notes.append(ONE_SQUARE)
    if isinstance(several.variance, ContrastVariance) and len(rows):
        notes.append(TWO_SIDES)
    if inference.note:
        both = f"Adjusted ({inference.p_adjust or 'sup-t'}): hypotheses about one term as in the "
        both += "table, others among each other."
        notes.append(both if len(rows) < len(places) else several.note_on("these hypotheses"))
    if not inference.has_test:
        notes.append("No t and P: this model is taken as it is, and intervals are over rows.")
    if inference.alternative != "two-sided":
        notes.append(f"One-sided: the alternative is {inference.alternative}.")
    if without.any():
        which = list_of(np.compress(ends, hypotheses.terms))
        notes.append(f"No {relation} with {which}: it needs values above 0, odds also below 1.")
    return places, notes


def _of_family(hypotheses: Hypotheses, rows: IntArray, inference: TermInference) -> TermInference:
    """Return inference with the null values of all hypotheses about one term, which P adjusts.

    Adjustments step by step, such as Holm's, depend on the other P; others on their number alone.
    """
    if inference.p_adjust is None or adjusts_intervals(inference.p_adjust):
        return inference
    nulls, signs = dict[int, float](), set[bool]()
    for row in rows:
        if (one := hypotheses.single(row)) is not None:
            term, weight = one
            signs.add(inference.alternative == "two-sided" or weight > 0)
            if term in nulls or len(signs) > 1:
                raise OptionError(
                    f'With `p_adjust="{inference.p_adjust}"` hypotheses about single terms must be '
                    "about different terms, and one-sided ones on one side; ask one at a time, or "
                    'adjust by "bonferroni".'
                )
            nulls[term] = hypotheses.target[row] / weight
    null = inference.null.copy()
    null[[*nulls]] = [*nulls.values()]
    return replace(inference, null=null)


def _several(hypotheses: Hypotheses, rows: IntArray, inference: TermInference) -> TermInference:
    """Return inference about the contrasts of several terms, which stand in these rows."""
    weights = hypotheses.weights[rows]
    used = np.flatnonzero(weights.any(axis=0))  # terms without estimate are not
    weights = weights[:, used]
    of_terms = inference.variance.of(used)
    variance = contrast_variance(weights, of_terms, inference.estimate[used], inference.bse[used])
    return replace(
        inference,
        estimate=weights @ inference.estimate[used],
        bse=np.sqrt(np.clip(np.diag(variance.cov), 0.0, None)),
        null=hypotheses.target[rows],
        variance=variance,
        scale=IntervalScale(),
    )


def certain(weights: FloatArray, cov: FloatArray) -> FloatArray:
    """Return the variances below which variances of contrasts, shape (k,), are rounding."""
    return np.asarray(CERTAIN**2 * ((np.abs(weights) @ np.abs(cov)) * np.abs(weights)).sum(axis=-1))


def _check_terms(
    hypotheses: Hypotheses,
    rows: IntArray,
    inference: TermInference,
    size: FloatArray,
    missing: Mapping[str, str],
    zero_variance: str,
) -> None:
    """Raise unless all terms of these contrasts have an estimate, and contrasts vary."""
    for row in map(int, rows):
        weight, name = hypotheses.weights[row], hypotheses.names[row]
        (used,) = np.nonzero(weight)
        absent = [hypotheses.terms[int(j)] for j in used if np.isnan(inference.estimate[j])]
        if absent:
            why = missing.get(absent[0], "")
            raise InferenceError(
                f"A hypothesis can be tested about terms that have an estimate, but `{absent[0]}` "
                f"has no estimate{why and f' ({why})'}."
            )
        reason = inference.variance.reason
        nonzero, cov = weight[used], inference.variance.cov[np.ix_(used, used)]
        between = float(nonzero @ cov @ nonzero)
        rounding = float(np.square(np.abs(nonzero) * size[used]).max(initial=0.0))
        if reason or not between > max(rounding, float(certain(nonzero[None], cov)[0])):
            why = f": {reason}" if reason else f", as the contrast does not vary ({zero_variance})"
            raise InferenceError(f"The hypothesis {quote(name)} can't be tested{why}.")


def _check_inside(hypotheses: Hypotheses, row: int, inference: TermInference) -> None:
    """Raise for a value that a term can't have, or an end that its intervals can't hold."""
    one, (low, high) = hypotheses.single(row), inference.scale.range
    if one is None:
        return
    value, term = float(hypotheses.target[row] / one[1]), hypotheses.terms[one[0]]
    # Squares without a null value, such as mean squares: noise keeps estimates away from the end.
    away = inference.variance.varies_as_square and np.isnan(inference.null).all()
    ends = (inference.on_log_scale or away) and value in (low, high)
    if low <= value <= high and not ends:
        return
    where = f"between {low:g} and {high:g}"
    if np.isinf(low):
        where = f"below {high:g}" if ends else f"at most {high:g}"
    elif np.isinf(high):
        where = f"above {low:g}" if ends else f"at least {low:g}"
    why = ", and estimates stay away from that end, whatever the truth" if ends else ""
    raise InferenceError(
        f"`{term} = {value:g}` can't be tested: its values are {where}{why}. Test a value inside."
    )
