"""Footnotes of tables: short ones for every reader, full ones for papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.inference.coverage import coverage_of
from pyinterp.inference.half_sample.constants import LARGEST_IDLE_SHARE, LARGEST_SKEWNESS
from pyinterp.losses.rowwise import Loss

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults


NotesOption: TypeAlias = Literal["short", "full", "none"]
NO_MEAN = {
    "one row": "the prediction of one made-up row is no mean over rows",
    "model": "a number that the model reports is not a mean over rows; only refits of the learner "
    "show its sampling error",
}
NO_VALUE = "not defined in some refit"
NO_SIMULATION = "No simulations say how often such intervals cover."
UNPROVEN = (
    "Nothing could be proven of the refits from a folder: trained again on the same rows, the "
    "learner predicts otherwise each time, or fails. They may be of another learner."
)
MANY_TESTS = 20
OF_GROUPS = (
    "P is about this learner; `products(feature, group)` tests whether nature has such differences."
)
OF_LEARNER = "P is about this learner; `population()` tests whether nature needs the feature."

# Level at which a value differs from the null value.
NOMINAL = 0.05
FEW_ROWS = (
    "Few rows decide {terms}: the skewness of rows' contributions over root n is above "
    f"{LARGEST_SKEWNESS:g}. On one side 6% of such intervals or more may miss, not 2.5%."
)
FEW_REFITS = (
    "Share of refits on halves that never use the feature: {terms}. 95% intervals of such rows "
    "covered 76% of 201 simulated data sets."
)

LIMITS_OF_SQUARE = (
    "Limits are the hull of two t intervals: of the effect, the root of the importance, and with "
    "the standard error s0 = c / t at no effect. With c = {c}, q the quantile of t and a from "
    "std err^2 = 2 a^2 + 4 a max(c, 0), the lower limit is the smaller one of "
    "(root(c + a) - q root(a))^2, where a negative root counts as 0, and c - q s0, and the upper "
    "one (root(c + a) + q root(a))^2. For c of 0 or less they are c - q s0 and that, or c + q s0 "
    "if this is negative."
)
ASYMMETRIC = "Limits are asymmetric, as estimates vary more the larger they are."
ASYMMETRIC_WITH_TEST = "Limits are asymmetric, and t takes the s.e. at {zero}."
# A short footnote has the first sentence of what a value means.
SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")
WHAT_P_TESTS = (
    "P tests whether the truth is {null} for this learner, not whether the response depends on the "
    "feature: where features are correlated, one that the response does not need has an "
    "importance too."
)
OF_KERNELS = "In 200 simulations, tests of kernel ridge at 5% rejected 9% of irrelevant features."
ONE_SIDED_SQUARE = (
    "One-sided ({side}): a square has no sign, so P is the two-sided P, or 1 if the estimate is on "
    "the other side; the limit is one of the two-sided ones."
)


class Footnote(NamedTuple):
    """A footnote.

    Attributes
    ----------
    text : str
        All of a short footnote; empty if short footnotes leave it out.
    more : str
        What a full footnote adds.
    marks : frozenset of (str, str)
        Rows that carry its number, each as the heading of its block and the term.
    """

    text: str
    more: str = ""
    marks: frozenset[tuple[str, str]] = frozenset()


def notes_of(
    several: Sequence[EstimandResults],
    headings: Sequence[str],
    frames: Sequence[pd.DataFrame],
    alpha: float,
    option: NotesOption,
    *,
    before: Sequence[Footnote],
) -> list[Footnote]:
    """List the footnotes of a table of one or several estimands of one analysis, in `text`.

    They name rows of the frames alone, which are printed. Notes that several have in common stand
    once; their meanings stand in the header.
    """
    if option == "none":
        return []
    full, alone = option == "full", len(several) == 1
    # Printed rows in the order of the results' terms.
    each = [
        (results, frame.iloc[results.params.index.get_indexer(frame.index).argsort()])
        for results, frame in zip(several, frames, strict=True)
    ]
    diagnostics = {
        diagnostic: _beside(frame, results, diagnostic, alpha)
        for results, frame in zip(several, frames, strict=True)
        for diagnostic in results.diagnostics
    }
    notes = [
        *in_words(before, full),
        *_with_labels(headings, [_about(*e, alone=alone) for e in each], full),
        *_with_labels(headings, [_intervals(r, alone=alone) for r in several], full),
        *_with_labels(headings, [_tests(r, alpha, alone=alone) for r in several], full),
        *_of_rows([*each, *diagnostics.items()], headings),
        *_with_labels(headings, [_limits(*e) for e in each], full),
        *_of_analysis(several[0]),
    ]
    for diagnostic, rows in diagnostics.items():
        notes += map(Footnote, _on(diagnostic, rows, diagnostic.warning_column))
    return list(dict.fromkeys(notes))


def notes_of_tests(results: EstimandResults, *, single: bool) -> list[Footnote]:
    """List the footnotes of hypotheses: on values, intervals, single terms, and the analysis."""
    variance = results.variance
    meaning, *more = SENTENCES.split(results.estimand.words.meaning)
    return [
        Footnote(meaning, " ".join(more)),
        Footnote(variance.note, variance.interval_note),
        Footnote(
            (OF_GROUPS if results.estimand.terms.groups else OF_LEARNER)
            * (results.estimand.parameter.effect and results.context.level == "learner")
        ),
        *(_of_square(results) if single else ()),
        Footnote(variance.warning),
        *_of_analysis(results),
    ]


def _of_analysis(results: EstimandResults) -> list[Footnote]:
    """List the notes on the learner, the folder, the plan and missing values."""
    context, fit = results.context, results.fit
    worse = f"{fit.share_name} below 0: {fit.verdict}" if fit and fit.explained_share < 0 else ""
    unproven = UNPROVEN if "not proven" in context.folder else ""
    notes = (worse, unproven, context.plan_note, context.missing_note)
    return [*map(Footnote, filter(None, notes))]


def _beside(
    frame: pd.DataFrame, results: EstimandResults, diagnostic: EstimandResults, alpha: float
) -> pd.DataFrame:
    """Return the rows of a diagnostic that are printed beside a frame's rows."""
    rows = diagnostic.summary_frame(alpha)
    return rows[rows.index.isin(frame.index)] if {*rows.index} <= {*results.exog_names} else rows


def _on(results: EstimandResults, rows: pd.DataFrame, values: pd.Series[float]) -> list[str]:
    """List the footnotes on the values of printed rows."""
    return results.estimand.words.on(values.where(values.index.isin(rows.index)))


def in_words(notes: Iterable[Footnote], full: bool) -> list[Footnote]:
    """Return footnotes that are not empty, with all that they say in `text`."""
    if full:
        notes = [Footnote(f"{n.text} {n.more}".strip(), marks=n.marks) for n in notes]
    return [note._replace(more="") for note in notes if note.text]


def _with_labels(
    headings: Sequence[str], notes: Sequence[Iterable[Footnote]], full: bool
) -> Iterator[Footnote]:
    """Yield the notes on several estimands, with their labels unless they are on all of them."""
    labels: dict[Footnote, list[str]] = {}
    for heading, some in zip(headings, notes, strict=True):
        for note in in_words(some, full):
            labels.setdefault(note, []).append(heading)
    for note, names in labels.items():
        label = "" if len(names) == len(headings) else f"{', '.join(dict.fromkeys(names))}: "
        yield note._replace(text=f"{label}{note.text}")


def _about(results: EstimandResults, rows: pd.DataFrame, *, alone: bool) -> Iterator[Footnote]:
    """Yield the notes on the meaning of values, on harm, and on missing values.

    A parameter with `no_effect` is the square of an effect: an estimate below it says that the
    feature does harm. A table `alone`, not joined with others, says what its values mean.
    """
    estimand, null, engine = results.estimand, results.null, results.context.engine
    params, bse, mcse = rows["estimate"].to_numpy(), rows["std_error"].to_numpy(), rows["mcse"]
    words, terms, error, harm = estimand.words, [*rows.index], mcse.max(), ""
    squares = estimand.parameter.no_effect is not None
    if null is not None and squares and (rows["conf_high"].to_numpy() < null).any():
        harm = f"{f'Below {null:g}' if null else 'Negative'}: predictions are better that way."
    meaning, *more = SENTENCES.split(words.meaning)
    if results.context.where == "evaluation rows":  # the best constant is of these
        meaning = meaning.replace("the rows that trained", "these rows")
    more += ["" if error > 0 else words.exact or ""]
    if alone:
        yield Footnote(f"{meaning} {harm}".rstrip(), " ".join(more))
    else:
        yield Footnote(harm)
    for note in (*words.notes, *_on_terms(words.notes_on, terms, len(terms))):
        yield Footnote("", note)
    if estimand.correction is not None and results.corrected_params is not None:
        yield Footnote("", estimand.correction.note)
    if error > 0:
        size = f"at most {error:.2g}, {words.inexact}"
        yield Footnote(f"Monte Carlo standard error of the estimates: {size}.")
    if engine.reason:
        yield Footnote("", f"Engine: {engine.name} ({engine.reason}).")
    none = [*compress(terms, np.isnan(params))]
    reasons = {n: f"No estimate for {{}}: {words.missing.get(n, NO_VALUE)}." for n in none}
    yield from map(Footnote, _on_terms(reasons, none))
    constant = [*compress(terms, bse == 0)]
    unknown = [*compress(terms, ~np.isnan(params) & np.isnan(bse))]
    if results.without_error:
        yield Footnote(f"No standard error: {NO_MEAN[estimand.basis]}.")
    elif unknown and not results.variance.reason:
        yield Footnote(f"No standard error for {_enumerate(unknown)}: {words.unknown_error}.")
    if constant:
        yield Footnote(f"No interval for {_enumerate(constant)}: {results.zero_variance}.")
    yield from map(Footnote, _on(results, rows, results.params))


def _intervals(results: EstimandResults, *, alone: bool) -> list[Footnote]:
    """List the notes on intervals: their aim or absence, and in full notes their coverage."""
    variance = results.variance
    if results.without_error:
        return []
    if variance.reason:
        return [Footnote(f"No standard errors and intervals: {variance.reason}.")]
    if results.estimand.parameter.share and results.inference.no_limits:
        return [Footnote(f"No intervals: {results.inference.no_limits}.")]
    coverage = coverage_note(results)
    # Variances that are no default are known to fall short, which short notes say too.
    short = coverage == NO_SIMULATION or variance.cov_type != "half-sample"
    covers = Footnote(coverage) if short else Footnote("", coverage)
    they = "They" if alone else "Intervals"
    shape = ""
    if variance.varies_as_square and (results.inference.bse > 0).any():
        tested = results.null is not None
        shape = ASYMMETRIC_WITH_TEST.format(zero=f"{results.null:g}") if tested else ASYMMETRIC
    elif results.inference.on_log_scale:
        scale, (low, high) = results.inference.scale.name, results.inference.scale.range
        of = f" of {high:g} - {results.estimand.words.label}" * bool(np.isinf(low))
        shape = f"{they} are symmetric on the {scale} scale{of}."
    if alone:
        notes = [Footnote(f"{variance.note} {shape}".strip())]
    else:  # notes that several have in common stand once
        notes = [Footnote(variance.note), Footnote(shape)]
    return [*notes, covers, Footnote(variance.warning)]


def _tests(results: EstimandResults, alpha: float, *, alone: bool) -> Iterator[Footnote]:
    """Yield the notes on limits, t and P, on sides, and on adjustments for many terms."""
    variance, null, inference = results.variance, results.null, results.inference
    if variance.reason or not (inference.bse > 0).any():
        return
    if variance.varies_as_square:
        yield from _of_square(results)
    elif results.alternative != "two-sided":
        than = "the value tested" if null is None else "the null value"
        yield Footnote(f"One-sided: the alternative is {results.alternative} than {than}.")
    yield Footnote("", variance.interval_note)
    if null is not None:
        yield Footnote("", variance.test_note.format(null=f"{null:g}"))
        yield Footnote(
            OF_LEARNER * (bool(results.diagnostics) and results.context.level == "learner")
        )
    terms = f"the {inference.count} terms of each measure, not over all measures"
    adjusted = inference.note if alone else inference.note_on(terms)
    if inference.simultaneous and variance.of_t:
        adjusted += f" Limits take {inference.quantile(alpha):.4f} as the quantile of t."
    if adjusted and any(each.estimand.parameter.only for each in results.diagnostics):
        adjusted += " Limits and P of the other columns are for one feature each."
    yield Footnote(adjusted)
    count = int(results.pvalues.notna().sum())
    if count > MANY_TESTS and not adjusted:
        chance = f"about {count / 20:.0f} reject by chance if all truths are {null:g}"
        yield Footnote(f"Of {count} tests at 5% {chance}; use `p_adjust`.")


def _of_square(results: EstimandResults) -> Iterator[Footnote]:
    """Say by which law P follows from t, and why limits are not estimate -/+ t std err."""
    variance, null = results.variance, results.null
    zero = f"{0.0 if null is None else null:g}"
    estimate = f"(estimate - {zero})" if null else "estimate"
    yield Footnote("", LIMITS_OF_SQUARE.format(c=estimate.strip("()")))
    if null is None:
        return
    p = "P before adjustment: " if results.inference.note else ""
    at = f"at {zero}" if null else f"if the truth is {zero}"
    yield Footnote(
        "",
        f"t = {estimate} / its s.e. {at}, not std err ({p}Student's t, {variance.df:g} df): "
        f"± 2 std err may hold {zero} though P < 0.05.",
    )
    yield Footnote("", WHAT_P_TESTS.format(null=zero))
    if results.alternative != "two-sided":
        yield Footnote(ONE_SIDED_SQUARE.format(side=results.alternative))
    if results.context.family == "kernel ridge":
        yield Footnote(OF_KERNELS)


def _of_rows(
    tables: Sequence[tuple[EstimandResults, pd.DataFrame]], headings: Sequence[str]
) -> list[Footnote]:
    """Warn of intervals that few of the data's rows decide, or few refits."""
    marked: dict[str, dict[tuple[str, str], str]] = {FEW_ROWS: {}, FEW_REFITS: {}}
    for k, (results, rows) in enumerate(tables):  # diagnostics come last
        variance, words = results.variance, results.estimand.words
        if k >= len(headings) and len(words.as_columns) < 2:  # without limits and P
            continue
        if variance.reason or not variance.of_t or variance.cov_type == "delta":  # rows as they are
            continue
        heading = headings[k] if k < len(headings) else words.label
        names, replicates = results.exog_names, results.replicates
        skewness = dict(zip(names, replicates.skewness, strict=True))
        idle = dict(zip(names, replicates.idle_share, strict=True))
        some = rows[rows["std_error"].to_numpy() > 0]
        for term, p in zip(some.index, some["p_value"], strict=True):
            # Not rows whose interval holds the null value: intervals of unused features are wide.
            differs = results.null is None or p < NOMINAL
            if differs and skewness[term] > LARGEST_SKEWNESS:
                marked[FEW_ROWS][heading, term] = f"{term} ({skewness[term]:.2f})"
            if idle[term] > LARGEST_IDLE_SHARE:
                marked[FEW_REFITS][heading, term] = f"{term} ({idle[term]:.0%})"
    return [
        Footnote(note.format(terms=_enumerate(words.values())), marks=frozenset(words))
        for note, words in marked.items()
        if words
    ]


def _limits(results: EstimandResults, rows: pd.DataFrame) -> Iterator[Footnote]:
    """Yield the note on limits that are infinite."""
    low, high = np.isinf(rows["conf_low"].to_numpy()), np.isinf(rows["conf_high"].to_numpy())
    infinite = {"less": high, "greater": low}.get(results.alternative, low | high)
    if infinite.any():
        names = _enumerate(rows.index[infinite])
        yield Footnote(f"No limit for {names}: it lies {results.variance.too_few}.")


def _on_terms(notes: Mapping[str, str], terms: Iterable[str], most: int = 6) -> list[str]:
    """Return the notes of terms, each with the names of those that share it."""
    names: dict[str, list[str]] = {}
    for term in terms:
        if term in notes:
            names.setdefault(notes[term], []).append(term)
    return [note.replace("{}", _enumerate(some, most)) for note, some in names.items()]


def _enumerate(terms: Iterable[object], most: int = 6) -> str:
    """Return the names of terms, the first of many."""
    names = list(dict.fromkeys(map(str, terms)))
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def coverage_note(results: EstimandResults) -> str:
    """Return the coverage in simulations, or that there are none; nothing for one model."""
    estimand, context, variance = results.estimand, results.context, results.variance
    if variance.warning:
        return ""
    covered = coverage_of(
        tuple(estimand.coverage),
        loss=estimand.score.name if isinstance(estimand.score, Loss) else "",
        learners=context.family,
        cov_type=variance.cov_type,
        plan=context.study_name + (" of some rows" if context.groups or context.subgroup else ""),
        n=context.nobs,
    )
    if covered:
        single = not results.inference.note and results.alternative == "two-sided"
        return covered if single and not context.failed_refits else ""
    return "" if context.level != "learner" or variance.cov_type == "naive" else NO_SIMULATION


def headings_of(several: Sequence[EstimandResults]) -> list[str]:
    """Return headings of the estimates: labels, or descriptions if one label has two meanings."""
    estimands = [results.estimand for results in several]
    labels = [name for name, _ in {*[(e.words.label, e.words.meaning) for e in estimands]}]
    return [e.words.label if labels.count(e.words.label) == 1 else e.description for e in estimands]


def legend_of(several: Sequence[EstimandResults], headings: Sequence[str]) -> list[tuple[str, str]]:
    """Return headings of columns with their meaning, if no footnote has it."""
    meanings: dict[str, str] = {}
    diagnostics: list[EstimandResults] = []
    columns: list[EstimandResults] = []
    for heading, results in zip(headings, several, strict=True):
        diagnostics += results.diagnostics
        if meanings and results.estimand.words.as_columns[0][1]:
            columns.append(results)
        elif len(several) > 1:
            meanings[f"{heading}:"] = results.estimand.words.meaning
    for each in [*diagnostics, *columns]:
        words = each.estimand.words
        for _, heading, meaning in words.as_columns:
            meanings[f"{heading or words.label}:"] = meaning or words.meaning
    return list(meanings.items())
