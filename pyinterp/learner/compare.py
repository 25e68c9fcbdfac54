"""Tests of learners, and of results, against each other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from pyinterp.checks import check_choice, check_count, check_flag, check_mapping, is_list
from pyinterp.errors import InferenceError, OptionError, list_of
from pyinterp.estimands.estimand import Estimand, Parameter, Terms
from pyinterp.inference import Alternative, CovType, RefitSums, check_inference, combine, variance
from pyinterp.inference.independent import independent_difference, independent_variance
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metric_functions import MetricLike
from pyinterp.losses.rowwise import LossLike
from pyinterp.parameters import takes
from pyinterp.results.header import Context
from pyinterp.results.results import EstimandResults
from pyinterp.results.side_by_side import learner_names, other_columns
from pyinterp.results.together import ComparisonResults
from pyinterp.storage import NAMELESS, text_of
from pyinterp.whatif import Engine

Comparable = Interpretable | EstimandResults
Contrasts = Literal["reference", "all"]

# Share of the rows that are common to the same data, where so many rows are distinct.
IN_COMMON, DISTINCT = 0.5, 0.9

# In the words of specifications: settings without which trees have interactions, and numbers of
# trees.
CONSTRAINT = re.compile(r"interaction_c|max_depth=1\b|(num_leaves|max_leaf_nodes)=2\b")
TREES = re.compile(r"(?:max_iter|n_estimators|iterations)=\d+")
UNDERFITS = (
    "One of the learners has no or fewer interactions, and as many trees as the other: it may need "
    "more of them, so that a difference may be its underfitting and proves no interaction."
)


@takes()
def compare(
    first: Comparable | Sequence[Comparable] | Mapping[str, Comparable],
    *others: Comparable,
    loss: LossLike | None = None,
    metric: MetricLike | None = None,
    names: Sequence[str] | None = None,
    reference: str | int = 0,
    contrasts: Contrasts = "reference",
    paired: bool = True,
    cov_type: CovType | None = None,
    alternative: Alternative = "two-sided",
    p_adjust: str | None = None,
    simultaneous: bool = False,
) -> ComparisonResults:
    r"""Comparison of learners: a reference minus each of the others, or all pairs.

    Paired, on the same resamples, by default. Per refit both are evaluated on the same rows, so the
    difference :math:`\delta_d = L_d^{(1)} - L_d^{(2)}` is one number per refit, to which the
    variance of the plan applies: with the default plan by half-sampling, M df, M the number of
    pairs (15). ``cov_type="corrected"``, the default of plans without pairs, has
    :math:`(1/m + n_2/n_1) s_\delta^2` and m - 1 df, the corrected t test of Nadeau and Bengio
    (2003) used in Molnar et al. (2021, section 9).

    Terms must have the same names in one order, which ``features=`` sets. Columns of arrays are
    named by position: results of the same columns in another order are refused.

    Parameters
    ----------
    first, *others : LearnerResults, FittedModel or EstimandResults
        Learners are compared by their expected loss (negative: the first of a difference is
        better), or a metric. Results of the same estimand, such as two ``pfi()``, are compared term
        by term. `first` can also be a list of all results, or a mapping from names to them.
    loss : str, Loss or callable, optional
        For learners; by default squared loss, or log loss for classifiers.
    metric : str, Metric or callable, optional
        For learners, instead of a loss; as in ``results.metric``.
    names : sequence of str, optional
        Names of the learners; by default the names of their estimators.
    reference : str or int
        Name or position of the results from which all others are subtracted.
    contrasts : {"reference", "all"}
        "all" compares all pairs, each with the first of the two minus the second. `p_adjust` and
        `simultaneous` allow for their number.
    paired : bool
        False is for results of different, independent data sets: estimates are independent, the
        variance of a difference is the sum of variances, and the degrees of freedom of t are those
        of Welch and Satterthwaite (the smallest of several differences). Results of the same data
        are refused, whatever their resamples.

    Returns
    -------
    ComparisonResults
        The differences. ``ranks()`` has the probability that each learner is best, second, ...

    Raises
    ------
    InferenceError
        If the results do not rest on the same resamples of the same data, and are `paired`; or if
        they rest on the same data, and are not. If columns have other names in one of them.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> data = pi.datasets.load_diabetes()
    >>> fits = [
    ...     pi.Learner.from_formula("progression ~ .", data, learner).fit(seed=1)
    ...     for learner in (LinearRegression(), DecisionTreeRegressor())
    ... ]
    >>> bool(pi.compare(fits).params.iloc[0] < 0)
    True
    """
    check_inference(cov_type, alternative, p_adjust, simultaneous=simultaneous)
    check_choice("contrasts", contrasts, get_args(Contrasts))
    check_flag("paired", paired)
    if loss is not None and metric is not None:
        raise OptionError("Give `loss` or `metric`, not both.")
    every, names = _listed_results(first, others, names)
    results = [_as_results(r, loss, metric, cov_type) for r in every]
    labels = learner_names([r.context.learner for r in results], names)
    places = _places(labels, reference, contrasts)
    for one, other in places:
        _check_comparable(results[one], results[other], paired=paired)
    names_of_contrasts = [f"{labels[one]} - {labels[other]}" for one, other in places]
    base, contexts = results[places[0][0]], [r.context for r in results]
    learners = (
        labels if contrasts == "all" else [labels[places[0][0]], *(labels[j] for _, j in places)]
    )
    engine = Engine.of_all([context.engine for context in contexts])
    context = replace(
        base.context if paired else _context_of_all(contexts, labels),
        learner=_learners(learners, contrasts),
        specification="",
        folder=" / ".join(dict.fromkeys(filter(None, (c.folder for c in contexts)))),
        formula=base.context.formula if len({c.formula for c in contexts}) == 1 else "",
        engine=engine._replace(name=" / ".join(dict.fromkeys(c.engine.name for c in contexts))),
    )
    notes = [context.plan_note]
    if any(_tests_underfitting(contexts[i], contexts[j]) for i, j in places):
        notes.append(UNDERFITS)
    apart = [name for i, j in places for name in other_columns(results[i], results[j])]
    if apart:
        notes.append(f"{list_of(dict.fromkeys(apart))}: other values in one of the results.")
    context = replace(context, plan_note=" ".join(filter(None, notes)))
    if paired:
        parts = [result.replicates for result in results]
        two = [(parts[one], parts[other]) for one, other in places]
        differences = RefitSums.stack([a.sums.minus(b.sums) for a, b in two])
        replicates = combine([part for pair in two for part in pair], differences)
        spread = variance(replicates, cov_type)
    else:
        replicates = independent_difference([r.replicates for r in results], places)
        spread = independent_variance([r.variance for r in results], places)
    meaning = _meaning(base.estimand, names_of_contrasts, places, labels, paired=paired)
    every_row = slice(None if paired else 0)
    difference = replace(
        base,
        estimand=_difference(base.estimand, names_of_contrasts, meaning),
        replicates=replicates,
        variance=spread,
        context=context,
        fit=None,
        corrected_params=None,
        diagnostic=_of_both([r.diagnostic for r in results]) if paired else None,
        alternative=alternative,
        p_adjust=p_adjust,
        simultaneous=bool(simultaneous),
        rows=base.rows[every_row],
        labels=base.labels[every_row],
    )
    return ComparisonResults(
        **difference._state(),
        learners=tuple(labels),
        places=tuple(places),
        better=base.estimand.parameter.better,
        quantity=base.estimand.description,
    )


def _tests_underfitting(*two: Context) -> bool:
    """Whether one of two learners of a class, with as many trees, may have no interactions."""
    texts = [context.specification for context in two]
    alike = {(text.partition("(")[0], *TREES.findall(text)) for text in texts}
    return len(alike) == 1 and len({bool(CONSTRAINT.search(text)) for text in texts}) == 2


def _listed_results(
    first: object, others: Sequence[Comparable], names: Sequence[str] | None
) -> tuple[list[object], Sequence[str] | None]:
    """Return all results, and their names if a mapping or `names` has them."""
    if isinstance(first, Mapping):
        if names is not None:
            raise OptionError("Give names as keys of a mapping or as `names`, not both.")
        check_mapping("first", first, '{"forest": res_rf, "linear": res_lm}')
        names, first = list(first), list(first.values())
    together = is_list(first)
    if together and others:
        raise OptionError("Give all results in one list or mapping, or all as arguments, not both.")
    every = list(first) if is_list(first) else [first, *others]
    if len(every) < 2:
        raise OptionError("A comparison needs at least two results; got one.")
    return every, names


def _places(labels: list[str], reference: str | int, contrasts: Contrasts) -> list[tuple[int, int]]:
    """Return the positions of the two results of every difference."""
    count = len(labels)
    if isinstance(reference, str):
        check_choice("reference", reference, labels)
        first = labels.index(reference)
    else:
        check_count("reference", reference, 0, count - 1)
        first = int(reference)
    if contrasts == "all":
        if first:
            raise OptionError(
                '`reference` is for `contrasts="reference"`; with all pairs there is none.'
            )
        return list(combinations(range(count), 2))
    return [(first, other) for other in range(count) if other != first]


def _of_both(diagnostics: Sequence[EstimandResults | None]) -> EstimandResults | None:
    """Return the diagnostic of two results, if it is the same: it is not of the learner then."""
    first, *others = diagnostics
    # The one difference of results of one term has the learners' names, not the term's.
    if first is None or len(others) != 1 or others[0] is None or len(first.params) == 1:
        return None
    return first if first.params.equals(others[0].params) else None


def _difference(estimand: Estimand, contrasts: Sequence[str], meaning: str) -> Estimand:
    """Return the estimand of the differences, which has no bound and is 0 under the null."""
    return replace(
        estimand,
        terms=_terms(estimand.terms, contrasts, single=len(estimand.terms.names) == 1),
        words=replace(
            estimand.words,
            label="difference",
            title=f"difference in {estimand.words.title}",
            quantity=f"difference in {estimand.words.quantity or estimand.words.label}",
            meaning=meaning,
            notes=(),
            exact=None,
            zero_variance="the two agree exactly in every refit",
        ),
        parameter=Parameter(null=0.0, effect=estimand.parameter.effect),
        coverage=tuple(f"difference in {name}" for name in estimand.coverage),
        correction=None,
    )


def _as_results(
    result: Any, loss: LossLike | None, metric: MetricLike | None, cov_type: CovType | None
) -> EstimandResults:
    """Return results as they are, and the expected loss, or the metric, of a learner."""
    if isinstance(result, Interpretable):
        if metric is None:
            return result.loss(loss, cov_type=cov_type)
        return result.metric(metric, cov_type=cov_type)
    if not isinstance(result, EstimandResults):
        raise OptionError(
            "Only results of Learner.fit, FittedModel or one of their estimands can be compared, "
            f"not {type(result).__name__}."
        )
    if loss is not None or metric is not None:
        which = "loss" if metric is None else "metric"
        raise OptionError(f"`{which}` is for comparing learners; results have their own.")
    if cov_type is None or cov_type == result.cov_type:
        return result
    return replace(result, variance=variance(result.replicates, cov_type))


def _check_comparable(one: EstimandResults, other: EstimandResults, *, paired: bool) -> None:
    """Raise `InferenceError` unless estimands and terms are the same; and resamples, if paired."""
    same = one.estimand.terms.names == other.estimand.terms.names
    alike = one.estimand.description == other.estimand.description
    if alike and not same:
        few, more = (list_of(result.estimand.terms.names, most=4) for result in (one, other))
        raise InferenceError(
            "Only results with the same terms can be compared; these have "
            f"{few} and {more}: ask both for the same, as `features=` does."
        )
    if not (same and alike and (not paired or _same_key(one, other))):
        raise InferenceError(
            "Only the same estimand of the same terms, by one `loss=`, can be compared; got "
            f"{one.estimand.description} and {other.estimand.description}."
        )
    if not paired:
        _check_independent(one, other)
    elif one.context.resamples != other.context.resamples:
        remedy = "fit both with the same plan and seed"
        if one.context.missing_note != other.context.missing_note:
            remedy = (
                "one learner was given rows with missing values that the other was not: make both "
                'with `missing="drop"`, or put an imputer into the pipeline of the other'
            )
        raise InferenceError(
            "A paired comparison needs the same resamples of the same data, but these results have "
            f"different ones; {remedy}, or, if they are of different, independent data sets, use "
            "`paired=False`."
        )


def _same_key(one: EstimandResults, other: EstimandResults) -> bool:
    """Whether two results have the same estimand; results of files keep the text of its key."""
    keys = one.estimand.key, other.estimand.key
    first, second = map(text_of, keys)
    # Functions without names may be different ones.
    return keys[0] == keys[1] or (first == second and NAMELESS not in first)


def _check_independent(one: EstimandResults, other: EstimandResults) -> None:
    """Raise `InferenceError` if two results rest on the same rows of data."""
    same_rows = one.context.resamples == other.context.resamples
    # Models that were not trained on the rows, and evaluated on others each, may be of one table.
    trained = one.context.n_train + other.context.n_train > 0
    apart = not trained and not len(np.intersect1d(one.rows, other.rows))
    if not same_rows and (apart or not _same_data(one, other)):
        return
    raise InferenceError(
        "`paired=False` is for independent estimates, but these results rest on the same resamples "
        "of the same data; leave it out."
        if same_rows
        else "`paired=False` is for estimates of independent data sets, but these results rest on "
        "the same data: fit both with the same plan and seed, and leave `paired` out; groups of "
        "rows are compared by `by=` and `differences()`."
    )


def _same_data(one: EstimandResults, other: EstimandResults) -> bool:
    """Whether columns that both have are equal in every row, in any order, or in most rows.

    Rows in common are no accident where hardly any rows repeat.
    """
    shared = [name for name in one.data if name in other.data]
    if not shared or "fresh draws" in (one.context.plan, other.context.plan):
        return False  # the data are no part of fresh draws
    small, large = sorted((one.data[shared], other.data[shared]), key=len)
    if len(small) == len(large):
        pairs = ((small[name], large[name]) for name in shared)
        # Missing values are equal too; levels may have other categories.
        if all(a.equals(b) or np.array_equal(a.to_numpy(), b.to_numpy()) for a, b in pairs):
            return True
    few, many = (pd.util.hash_pandas_object(frame, index=False) for frame in (small, large))
    common = float(few.isin(many).mean())
    return common > IN_COMMON and many.nunique() > DISTINCT * len(many)


def _context_of_all(contexts: Sequence[Context], labels: Sequence[str]) -> Context:
    """Return the header of differences of independent results; a note has the data of each."""
    return replace(
        contexts[0],
        nobs=sum(context.nobs for context in contexts),
        groups=", ".join(f"{n}: {c.nobs}" for n, c in zip(labels, contexts, strict=True)),
        weighting="",
        clusters="",
        offset="",
        dropped_rows=sum(context.dropped_rows for context in contexts),
        failed_refits=0,
        plan=" / ".join(dict.fromkeys(context.plan for context in contexts)),
        seed=" / ".join(dict.fromkeys(str(context.seed) for context in contexts)),
        n_train=0.0,
        resamples=tuple(part for context in contexts for part in context.resamples),
        subgroup="",
        plan_note="; ".join(
            f"{label}: {_side(context)}" for label, context in zip(labels, contexts, strict=True)
        )
        + ".",
    )


def _side(context: Context) -> str:
    """Return in words on which data one of the results rests."""
    rows = f"{context.nobs} rows" + (f" ({context.weighting})" if context.weighting else "")
    of = f", subgroup {context.subgroup}" if context.subgroup else ""
    if context.n_train == 0:
        return f"{rows}{of}, seed {context.seed}"
    failed = f", {context.failed_refits} failed" if context.failed_refits else ""
    return (
        f"{rows}{of}, {context.plan} ({context.refits} refits{failed}; {context.n_train:.0f} "
        f"{context.unit} train, {context.n_evaluation:.0f} evaluate), seed {context.seed}"
    )


def _terms(terms: Terms, contrasts: Sequence[str], *, single: bool) -> Terms:
    """Return the terms of contrasts of learners: one per contrast if the measure is one number."""
    if single:
        return Terms.plain(contrasts)
    if len(contrasts) == 1:
        return terms
    layout = pd.concat([terms.layout] * len(contrasts), ignore_index=True)
    layout["contrast"] = np.repeat(contrasts, len(terms.names))
    return replace(
        terms,
        names=tuple(f"{c}: {name}" for c in contrasts for name in terms.names),
        layout=layout,
        facet="contrast" if terms.axes else None,
    )


def _learners(labels: Sequence[str], contrasts: Contrasts) -> str:
    """Return which learners are compared, in words, for the header."""
    if contrasts == "all" and len(labels) > 2:
        return f"all pairs of {len(labels)}"
    others = labels[1] if len(labels) == 2 else f"{len(labels) - 1} others"
    return f"{labels[0]} - {others}"


def _meaning(
    estimand: Estimand,
    contrasts: Sequence[str],
    places: Sequence[tuple[int, int]],
    labels: Sequence[str],
    *,
    paired: bool,
) -> str:
    """Return the footnote on what a difference of two learners means, and on its sign."""
    to_one = len({one for one, _ in places}) == 1
    reference = labels[places[0][0]]
    several = f"{reference} minus each of the others" if to_one else "all pairs"
    listed = contrasts[0] if len(contrasts) == 1 else several
    how = "paired by resample" if paired else "of independent estimates"
    first = reference if to_one else "the first of the two"
    direction = {
        "smaller": f"; negative: {first} predicts better",
        "larger": f"; positive: {first} predicts better",
    }.get(estimand.parameter.better or "", "")
    return f"{estimand.description}: {listed}, {how}{direction}."
