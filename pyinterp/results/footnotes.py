"""Footnotes of tables: what every reader needs, and what a paper needs besides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.inference.coverage import coverage_of
from pyinterp.inference.half_sample.constants import LARGEST_IDLE_SHARE, LARGEST_SKEWNESS
from pyinterp.losses.rowwise import Loss

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["Footnote", "NotesOption", "headings_of", "legend_of", "notes_of"]

NotesOption: TypeAlias = Literal["short", "full", "none"]
NO_MEAN = {
    "one row": "the prediction of one made-up row is no mean over rows",
    "model": "a number that the model reports is not a mean over rows; only refits of the learner "
    "show its sampling error",
}
NO_VALUE = "not defined in some refit"
NO_SIMULATION = " No simulations say how often such intervals cover."
MANY_TESTS = 20

# Level at which a value differs from the null value.
NOMINAL = 0.05
FEW_ROWS = (
    "Few rows decide {terms} (skewness of what rows contribute over root n; normal below "
    f"{LARGEST_SKEWNESS:g}): of 2.5% of intervals 6% or more may miss on one side."
)
FEW_REFITS = (
    "Share of refits on halves that never use the feature: {terms}. 95% intervals of such rows "
    "covered 45 to 65% in simulations."
)

LIMITS_OF_SQUARE = (
    "Limits are the hull of two t intervals: of the effect, the root of the importance, and with "
    "the standard error s0 = c / t at no effect. With c = {c}, q the quantile of t and a from "
    "std err^2 = 2 a^2 + 4 a max(c, 0), the lower limit is the smaller one of "
    "(root(c + a) - q root(a))^2, where a negative root counts as 0, and c - q s0, and the upper "
    "one (root(c + a) + q root(a))^2. For c of 0 or less they are c - q s0 and that, or c + q s0 "
    "if this is negative."
)
WHAT_P_TESTS = (
    "P tests whether the truth is {null} for this learner, not whether the response depends on the "
    "feature: where features are correlated, one that the response does not need has an "
    "importance too."
)
LOCO_TEST = (
    "P tests whether the learner predicts as well when it is trained without the feature. It is no "
    "test of relevance: a feature of pure noise has a value below the null."
)
ONE_SIDED_SQUARE = (
    "One-sided ({side}): a square has no sign, so P is the two-sided P, or 1 if the estimate is on "
    "the other side; the limit is one of the two-sided ones."
)


class Footnote(NamedTuple):
    """A footnote.

    Attributes
    ----------
    text : str
        What full footnotes say; empty if they leave it out.
    short : str
        What short footnotes say; empty if they leave it out.
    marks : frozenset of (str, str)
        Rows that carry its number, each as the heading of its block and the term.
    """

    text: str
    short: str = ""
    marks: frozenset[tuple[str, str]] = frozenset()


def notes_of(
    several: Sequence[EstimandResults],
    alpha: float,
    option: NotesOption,
    *,
    before: Sequence[Footnote] = (),
) -> list[Footnote]:
    """List the footnotes of a table of one or several estimands of one analysis, in `text`.

    What several have in common stands once; their meanings stand in the header.
    """
    alone, first = len(several) == 1, several[0].context
    notes = [
        *before,
        *_with_labels(several, [_about(r, alpha, alone=alone) for r in several], option),
        *_with_labels(several, [_intervals(r, alone=alone) for r in several], option),
        *_with_labels(several, [_tests(r, alone=alone) for r in several], option),
        *_of_rows(several),
        *_with_labels(several, [_limits(r, alpha) for r in several], option),
        *(_always(text) for text in (first.plan_note, first.missing_note) if text),
    ]
    for beside in dict.fromkeys(r.diagnostic for r in several if r.diagnostic is not None):
        notes += [_always(text) for text in beside.estimand.words.on(beside.params)]
    return list(dict.fromkeys(_texts(notes, option)))


def _texts(notes: Sequence[Footnote], option: NotesOption) -> list[Footnote]:
    """Return the footnotes that an option shows, what they say in `text` and `short`."""
    if option == "none":
        return []
    if option == "short":
        notes = [note._replace(text=note.short) for note in notes]
    return [note._replace(short=note.text) for note in notes if note.text]


def _always(text: str, marks: Iterable[tuple[str, str]] = ()) -> Footnote:
    return Footnote(text, text, frozenset(marks))


def _with_labels(
    several: Sequence[EstimandResults], notes: Sequence[Sequence[Footnote]], option: NotesOption
) -> list[Footnote]:
    """List the notes on several estimands, with their labels unless they are on all of them."""
    labels: dict[Footnote, list[str]] = {}
    for heading, some in zip(headings_of(several), notes, strict=True):
        for note in _texts(some, option):
            labels.setdefault(note, []).append(heading)
    return [
        note
        if len(names) == len(several)
        else _always(f"{', '.join(dict.fromkeys(names))}: {note.text}")
        for note, names in labels.items()
    ]


def _about(results: EstimandResults, alpha: float, *, alone: bool) -> list[Footnote]:
    """Say what the values are, what is wrong with them, and which are missing."""
    estimand, null, engine = results.estimand, results.null, results.context.engine
    words = estimand.words
    random = bool((results.mcse > 0).any())
    harm = ""
    squares = estimand.parameter.no_effect is not None
    if null is not None and squares and (results.conf_int(alpha)[1] < null).any():
        harm = f"{f'Below {null:g}' if null else 'Negative'}: predictions are better that way."
    if alone:
        meaning = f"{words.meaning} {harm}".rstrip()
        exact = f" {words.exact}" if words.exact and not random else ""
        notes = [Footnote(f"{meaning}{exact}", meaning)]
    else:
        notes = [_always(harm)]
    notes += [Footnote(text) for text in words.notes]
    if estimand.correction is not None and results.corrected_params is not None:
        notes.append(Footnote(estimand.correction.note))
    if random:
        error = f"Monte Carlo standard error of the estimates: at most {results.mcse.max():.2g}"
        notes.append(_always(f"{error}, {words.inexact}."))
    if engine.reason:
        notes.append(Footnote(f"Engine: {engine.name} ({engine.reason})."))
    return notes + [_always(text) for text in _absent(results)]


def _absent(results: EstimandResults) -> list[str]:
    """List the notes on terms without estimate or interval, and on values of estimates."""
    words, params, bse = results.estimand.words, results.params, results.bse
    reasons: dict[str, list[str]] = {}
    for term in params.index[params.isna()]:
        reasons.setdefault(words.missing.get(term, NO_VALUE), []).append(term)
    notes = [f"No estimate for {_enumerate(terms)}: {why}." for why, terms in reasons.items()]
    constant, unknown = bse.index[bse == 0], bse.index[params.notna() & bse.isna()]
    if results.without_error:
        notes.append(f"No standard error: {NO_MEAN[results.estimand.basis]}.")
    elif len(unknown) and not results.variance.reason:
        notes.append(f"No standard error for {_enumerate(unknown)}: {words.unknown_error}.")
    if len(constant):
        notes.append(f"No interval for {_enumerate(constant)}: {results.zero_variance}.")
    return [*notes, *words.on(params)]


def _intervals(results: EstimandResults, *, alone: bool) -> list[Footnote]:
    """Say what the intervals are for, or why there are none; in full notes, what they cover."""
    variance = results.variance
    if results.without_error:
        return []
    if variance.reason:
        return [_always(f"No standard errors and intervals: {variance.reason}.")]
    coverage = _coverage(results)
    # Variances that are no default are known to fall short.
    needed = coverage == NO_SIMULATION or variance.cov_type != "half-sample"
    short = coverage if needed else ""
    notes = [Footnote(f"{variance.note}{coverage}", f"{variance.note}{short}")]
    if not alone:  # what several have in common stands once
        notes = [_always(variance.note), Footnote(coverage.strip(), short.strip())]
    return [*notes, *([_always(variance.warning)] if variance.warning else [])]


def _tests(results: EstimandResults, *, alone: bool) -> list[Footnote]:
    """List the notes on limits, t and P, on sides, and on adjustments for many terms."""
    variance, null = results.variance, results.null
    if variance.reason or not (results.bse > 0).any():
        return []
    notes: list[Footnote] = []
    if variance.varies_as_square:
        notes = _of_square(results)
    elif results.alternative != "two-sided":
        than = "the value tested" if null is None else "the null value"
        notes = [_always(f"One-sided: the alternative is {results.alternative} than {than}.")]
    if variance.interval_note:
        notes.append(Footnote(variance.interval_note))
    if variance.test_note and null is not None:
        notes.append(Footnote(variance.test_note.format(null=f"{null:g}")))
    if results.inference.rescales:
        scale = results.inference.scale.name
        notes.append(_always(f"Intervals are symmetric on the {scale} scale."))
    adjusted = results.inference.note if alone else results.inference.note_of_each
    if adjusted:
        notes.append(_always(adjusted))
    count = int(results.pvalues.notna().sum())
    if count > MANY_TESTS and not adjusted:
        chance = f"about {count / 20:.0f} reject by chance if all truths are {null:g}"
        notes.append(_always(f"Of {count} tests at 5% {chance}; use `p_adjust`."))
    return notes


def _of_square(results: EstimandResults) -> list[Footnote]:
    """Say by which law P follows from t, and why limits are not estimate -/+ t std err."""
    variance, null = results.variance, results.null
    zero = f"{0.0 if null is None else null:g}"
    estimate = f"(estimate - {zero})" if null else "estimate"
    if null is None:
        limits = "Limits are not symmetric: like squares, estimates vary more the larger they are."
        return [_always(limits), Footnote(LIMITS_OF_SQUARE.format(c=estimate.strip("()")))]
    law = f"P: Student's t, {variance.df:g} df"
    if results.inference.note:
        law = f"P before adjustment: Student's t, {variance.df:g} df"
    at = f"at {zero}" if null else f"if the truth is {zero}"
    notes = [
        _always(
            f"t = {estimate} / its s.e. {at}, not std err; {law}. Near {zero} importances vary "
            f"less, so -+ 2 std err may hold {zero} though P < 0.05."
        ),
        Footnote(LIMITS_OF_SQUARE.format(c=estimate.strip("()"))),
        Footnote(LOCO_TEST if results.estimand.leave_out else WHAT_P_TESTS.format(null=zero)),
    ]
    if results.alternative != "two-sided":
        notes.append(_always(ONE_SIDED_SQUARE.format(side=results.alternative)))
    return notes


def _of_rows(several: Sequence[EstimandResults]) -> list[Footnote]:
    """Warn of intervals that few of the data's rows decide, or few refits."""
    rows: dict[str, dict[tuple[str, str], str]] = {FEW_ROWS: {}, FEW_REFITS: {}}
    for results, heading in zip(several, headings_of(several), strict=True):
        variance = results.variance
        if variance.reason or not variance.of_t or variance.cov_type == "delta":  # rows as they are
            continue
        skewed, idle = results.replicates.skewness, results.replicates.idle_share
        errors = np.asarray(results.bse > 0)
        # Not rows whose interval holds the null value: intervals of what does not matter are wide.
        differs = errors if results.null is None else np.asarray(results.pvalues < NOMINAL)
        for j, term in enumerate(results.exog_names):
            if errors[j] and differs[j] and skewed[j] > LARGEST_SKEWNESS:
                rows[FEW_ROWS][heading, term] = f"{term} ({skewed[j]:.2f})"
            if errors[j] and idle[j] > LARGEST_IDLE_SHARE:
                rows[FEW_REFITS][heading, term] = f"{term} ({idle[j]:.0%})"
    return [
        _always(warning.format(terms=_enumerate(list(dict.fromkeys(words.values())))), words)
        for warning, words in rows.items()
        if words
    ]


def _limits(results: EstimandResults, alpha: float) -> list[Footnote]:
    """List the notes on limits that are infinite."""
    limits = results.inference.interval(alpha)
    sides = {"two-sided": limits, "greater": limits[:, :1], "less": limits[:, 1:]}
    infinite = np.flatnonzero(np.isinf(sides[results.alternative]).any(axis=1))
    if not len(infinite):
        return []
    terms = _enumerate(results.params.index[infinite])
    return [_always(f"No limit for {terms}: it lies {results.variance.too_few}.")]


def _enumerate(terms: Sequence[Any] | pd.Index) -> str:
    return ", ".join(map(str, terms[:6])) + (", ..." if len(terms) > 6 else "")


def _coverage(results: EstimandResults) -> str:
    """Return what simulations say, or that there are none; nothing for one fitted model."""
    estimand, context, variance = results.estimand, results.context, results.variance
    if variance.warning:
        return ""
    covered = coverage_of(
        tuple(estimand.coverage),
        loss=estimand.score.name if isinstance(estimand.score, Loss) else "",
        learners=context.family,
        cov_type=variance.cov_type,
        plan=context.study_name,
        n=context.nobs,
    )
    single = not results.inference.note and results.alternative == "two-sided"
    if covered:
        return f" {covered}" if single and not context.failed_refits else ""
    warned = context.level == "model" or variance.cov_type == "naive"
    return "" if warned else NO_SIMULATION


def headings_of(several: Sequence[EstimandResults]) -> list[str]:
    """Return headings of the estimates: labels, or descriptions if one label has two meanings."""
    estimands = [results.estimand for results in several]
    meanings = {(e.words.label, e.words.meaning) for e in estimands}
    labels = [label for label, _ in meanings]
    return [e.words.label if labels.count(e.words.label) == 1 else e.description for e in estimands]


def legend_of(several: Sequence[EstimandResults]) -> list[tuple[str, str]]:
    """Return headings of columns with what they mean, if no footnote says so."""
    headings = headings_of(several) if len(several) > 1 else []
    meanings = {h: r.estimand.words.meaning for h, r in zip(headings, several, strict=False)}
    for results in several:
        if results.diagnostic is not None:
            words = results.diagnostic.estimand.words
            meanings[words.label] = words.meaning
    return [(f"{heading}:", meaning) for heading, meaning in meanings.items()]
