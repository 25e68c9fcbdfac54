"""Footnotes of tables: what every reader needs, and what a paper needs besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.inference.coverage import CoverageCase, coverage_of
from pyinterp.inference.half_sample.constants import SKEWED
from pyinterp.inference.half_sample.row_warnings import skewness

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["Footnote", "NotesOption", "null_heading", "of_one", "of_several", "texts_of"]

NotesOption: TypeAlias = Literal["short", "full", "none"]
NO_VALUE = "not defined in some refit"
NO_SIMULATION = " No simulations say how often such intervals cover."
# Level at which a value differs from the null value, for footnotes.
NOMINAL = 0.05


class Footnote(NamedTuple):
    """A footnote.

    Attributes
    ----------
    text : str
    short : str
        What short footnotes say of it; empty if they leave it out.
    """

    text: str
    short: str = ""


def texts_of(footnotes: Sequence[Footnote], option: NotesOption) -> list[str]:
    """Return the texts that a table shows."""
    if option == "none":
        return []
    texts = [note.short if option == "short" else note.text for note in footnotes]
    return [text for text in texts if text]


def of_one(results: EstimandResults, alpha: float) -> list[Footnote]:
    """List the footnotes of one estimand's table."""
    notes = _about(results)
    if not results.estimand.without_error(results.context.level):
        notes += [*_validity(results), *_inference(results, alpha)]
    notes += _tests([results])
    notes += _rows(results)
    if results.diagnostic is not None:
        notes += _beside(results.diagnostic)
    return notes


def of_several(
    several: Sequence[EstimandResults], alpha: float, *, before: Sequence[str] = (), tests: bool
) -> list[Footnote]:
    """List the footnotes of a table of several estimands of one analysis.

    Parameters
    ----------
    several : sequence of EstimandResults
    alpha : float
    before : sequence of str
        What stands before all others.
    tests : bool
        Whether the table has tests.
    """
    first = several[0]
    notes = [*map(_always, before), *_with_labels(several)]
    for diagnostic in dict.fromkeys(r.diagnostic for r in several if r.diagnostic is not None):
        notes += _beside(diagnostic)
    about = [_always(first.variance.note)] if not first.variance.reason else _validity(first)
    notes += [*about, *_missing(first)]
    notes += _of_some(several, lambda results: _inference(results, alpha))
    return list(dict.fromkeys(notes + (_tests(several) if tests else [])))


def null_heading(results: EstimandResults) -> str:
    """Return what tables call the standard error at the null value."""
    return f"s.e. at {results.estimand.null:g}"


def _always(text: str) -> Footnote:
    return Footnote(text, text)


def _with_labels(several: Sequence[EstimandResults]) -> list[Footnote]:
    """List the notes on several estimands with their labels; a common note is listed once."""
    return [_with_label(note, labels) for note, labels in _labels_by_note(several, _about).items()]


def _of_some(
    several: Sequence[EstimandResults], notes_of: Callable[[EstimandResults], Sequence[Footnote]]
) -> list[Footnote]:
    """List the notes on several estimands, with their labels unless they are on all of them."""
    return [
        note if len(labels) == len(several) else _with_label(note, labels)
        for note, labels in _labels_by_note(several, notes_of).items()
    ]


def _labels_by_note(
    several: Sequence[EstimandResults], notes_of: Callable[[EstimandResults], Sequence[Footnote]]
) -> Mapping[Footnote, Sequence[str]]:
    labels: dict[Footnote, list[str]] = {}
    for results in several:
        for note in notes_of(results):
            labels.setdefault(note, []).append(results.estimand.label)
    return labels


def _with_label(note: Footnote, labels: Sequence[str]) -> Footnote:
    start = ", ".join(labels)
    return Footnote(f"{start}: {note.text}", f"{start}: {note.short}" if note.short else "")


def _validity(results: EstimandResults) -> list[Footnote]:
    """Say what the intervals are for and cover, or why there are none."""
    variance = results.variance
    if variance.reason:
        return [_always(f"No standard errors and intervals: {variance.reason}.")]
    return [_always(variance.note + _coverage(results))]


def _skewness(results: EstimandResults) -> list[Footnote]:
    """Name the terms whose intervals miss on one side, as few rows decide.

    Not those whose interval holds the null value: intervals of what does not matter are wide.
    """
    if not results.variance.of_t:
        return []
    values = pd.Series(skewness(results.replicates), index=results.params.index)
    what = "what rows contribute"
    if results.replicates.relative:
        what += " to them, or to the loss that divides them,"
    differs = results.pvalues < NOMINAL if results.null is not None else results.bse > 0
    skewed = values.index[(values > SKEWED) & (results.bse > 0) & differs]
    if not len(skewed):
        return []
    return [
        _always(
            f"Few rows decide {_enumerate(skewed)} (the skewness of {what} is above "
            f"{SKEWED:g} √n): nominal 95% intervals may cover less, 70-100% in simulations."
        )
    ]


def _about(results: EstimandResults) -> list[Footnote]:
    """List the notes on the estimand, the engine, and terms without estimate or interval."""
    estimand = results.estimand
    exact = estimand.exact and not (results.mcse > 0).any()
    meaning = f"{estimand.meaning} {estimand.exact}" if exact else estimand.meaning
    notes = [Footnote(meaning, estimand.meaning), *map(_always, estimand.notes)]
    if estimand.correction is not None and results.corrected_params is not None:
        notes.append(Footnote(estimand.correction.note))
    if (results.mcse > 0).any():
        notes.append(Footnote(estimand.inexact))
    if results.context.engine.reason:
        engine = results.context.engine
        notes.append(Footnote(f"Engine: {engine.name} ({engine.reason})."))
    return notes + [_always(text) for text in _absent(results)]


def _rows(results: EstimandResults) -> list[Footnote]:
    """List the notes on the resampling plan and on rows with missing values."""
    plan = results.context.plan_note
    return [*([_always(plan)] if plan else []), *_missing(results)]


def _missing(results: EstimandResults) -> list[Footnote]:
    note = results.context.missing_note
    return [_always(note)] if note else []


def _absent(results: EstimandResults) -> list[str]:
    """List the notes on terms without estimate or interval, and on values of estimates."""
    estimand, level = results.estimand, results.context.level
    absent = results.params.index[results.params.isna()]
    reasons = pd.Series([estimand.missing.get(t, NO_VALUE) for t in absent], index=absent)
    notes = [
        f"No estimate for {_enumerate(terms.index)}: {reason}."
        for reason, terms in reasons.groupby(reasons, sort=False)
    ]
    constant = results.bse.index[results.bse == 0]
    unknown = results.bse.index[results.params.notna() & results.bse.isna()]
    if estimand.without_error(level):
        notes.append(f"No standard error: {estimand.no_model_error}.")
    elif len(unknown) and not results.variance.reason:
        notes.append(f"No standard error for {_enumerate(unknown)}: {estimand.unknown_error}.")
    if len(constant):
        reason = "every row contributes the same" if level == "model" else estimand.zero_variance
        notes.append(f"No interval for {_enumerate(constant)}: {reason}.")
    return [*notes, *estimand.remarks(results.params)]


def _tests(several: Sequence[EstimandResults]) -> list[Footnote]:
    """List the notes on tests that are not t tests by estimate and standard error."""
    tested = [r for r in several if r.estimand.null is not None and (r.bse > 0).any()]
    notes = [
        Footnote(
            r.variance.test_note.format(
                null=f"{r.estimand.null:g}", deviation=_deviation(r), error=null_heading(r)
            ),
            _short_test(r),
        )
        for r in tested
        if r.variance.test_note
    ]
    return list(dict.fromkeys(notes))


def _short_test(results: EstimandResults) -> str:
    """Say what t and P are, where they are not Student's with the standard error beside it."""
    if results.tvalues.isna().all():
        return ""
    return (
        f"t = {_deviation(results)} / ({null_heading(results)}), the standard error if the feature "
        "does not matter; P is that of a squared effect, not Student's."
    )


def _deviation(results: EstimandResults) -> str:
    estimand = results.estimand
    return f"({estimand.label} - {estimand.null:g})" if estimand.null else estimand.label


def _beside(diagnostic: EstimandResults) -> list[Footnote]:
    estimand = diagnostic.estimand
    about = f"{estimand.label}: {estimand.meaning}"
    return [Footnote(about), *map(_always, estimand.remarks(diagnostic.params))]


def _inference(results: EstimandResults, alpha: float) -> list[Footnote]:
    """List the notes on limits, the side of tests and adjustments."""
    notes = [_always(results.variance.warning)] if results.variance.warning else []
    notes += _skewness(results)
    if results.variance.interval_note and not results.variance.reason:
        notes.append(Footnote(results.variance.interval_note))
    if results.inference.rescales:
        scale = results.inference.scale.name
        notes.append(_always(f"Intervals are symmetric on the {scale} scale."))
    if results.alternative != "two-sided":
        than = "the value tested" if results.null is None else "the null value"
        side = f"One-sided: the alternative is {results.alternative} than {than}."
        notes.append(_always(side))
    if results.inference.note:
        notes.append(_always(results.inference.note))
    limits = results.inference.interval(alpha)
    sides = {"two-sided": limits, "greater": limits[:, :1], "less": limits[:, 1:]}
    infinite = np.flatnonzero(np.isinf(sides[results.alternative]).any(axis=1))
    if len(infinite):
        terms = _enumerate(results.params.index[infinite])
        notes.append(_always(f"No limit for {terms}: it lies {results.variance.too_few}."))
    return notes


def _enumerate(terms: pd.Index) -> str:
    return ", ".join(map(str, terms[:6])) + (", ..." if len(terms) > 6 else "")


def _coverage(results: EstimandResults) -> str:
    """Return what simulations say, or that there are none; nothing for one fitted model."""
    estimand, context, variance = results.estimand, results.context, results.variance
    if variance.warning:
        return ""
    case = CoverageCase(
        estimand=estimand.coverage,
        loss="" if estimand.loss is None else estimand.loss.name,
        learners=context.family,
        cov_type=variance.cov_type,
        plan=context.study_name,
        n=context.nobs,
    )
    covered = coverage_of(case)
    single = not results.inference.note and results.alternative == "two-sided"
    if covered:
        return f" {covered}" if single and not context.failed_refits else ""
    warned = context.level == "model" or variance.cov_type == "naive"
    return "" if warned else NO_SIMULATION
