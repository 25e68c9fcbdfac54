"""Results side by side: tests of learners, tables and plots of several results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from pyinterp.checks import (
    check_alpha,
    check_choice,
    check_count,
    check_flag,
    check_mapping,
    is_list,
)
from pyinterp.errors import InferenceError, OptionError, did_you_mean, list_of, quote
from pyinterp.estimands.estimand import Estimand, Estimate, Terms
from pyinterp.inference import Alternative, CovType, Replicates, combine, variance
from pyinterp.inference.independent import independent_difference, independent_variance
from pyinterp.inference.options import InferenceOptions
from pyinterp.learner.independence import check_independent, context_of_all
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metric_functions import MetricLike
from pyinterp.losses.rowwise import LossLike
from pyinterp.parameters import takes
from pyinterp.ranges import REAL
from pyinterp.results.columns import COEFFICIENTS, Column, column_of
from pyinterp.results.comparison_results import ComparisonResults
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import Table, number_format
from pyinterp.whatif import Engine

if TYPE_CHECKING:
    from plotnine import ggplot

    from pyinterp.results.plots.style import Style

__all__ = ["compare", "plot", "summary_col"]

Comparable: TypeAlias = Interpretable | EstimandResults
Several: TypeAlias = EstimandResults | Sequence[EstimandResults] | Mapping[str, EstimandResults]
Pairs: TypeAlias = Literal["reference", "all"]
WIDEST = 40  # characters of a number in a table of several results


@takes()
def compare(
    first: Comparable | Sequence[Comparable] | Mapping[str, Comparable],
    *others: Comparable,
    loss: LossLike | None = None,
    metric: MetricLike | None = None,
    names: Sequence[str] | None = None,
    reference: str | int = 0,
    pairs: Pairs = "reference",
    paired: bool = True,
    rope: float | None = None,
    cov_type: CovType | None = None,
    alternative: Alternative = "two-sided",
    p_adjust: str | None = None,
    simultaneous: bool = False,
) -> ComparisonResults:
    r"""Comparison of learners: a reference minus each of the others, or all pairs.

    Paired, on the same resamples, by default. Per refit both are evaluated on the same rows, so the
    difference :math:`\delta_d = L_d^{(1)} - L_d^{(2)}` is one number per refit, to which the
    variance of the plan applies: with the default plan that of half-sampling, M df, M the number of
    pairs (15). ``cov_type="corrected"``, the default of plans without pairs, has
    :math:`(1/m + n_2/n_1) s_\delta^2` and m - 1 df, the corrected t test of Nadeau and Bengio
    (2003) used in Molnar et al. (2021, section 9).

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
        Names of the learners; by default those of their estimators.
    reference : str or int
        Name or position of the results from which all others are subtracted.
    pairs : {"reference", "all"}
        "all" compares all pairs, each with the first of the two minus the second. `p_adjust` and
        `simultaneous` allow for their number.
    paired : bool
        False is for results of different, independent data sets: estimates are independent, the
        variance of a difference is the sum of variances, and the degrees of freedom of t are those
        of Welch and Satterthwaite (the smallest of several differences). Results of the same data
        are refused, whatever their resamples.
    rope : float, optional
        Half the width of the region of practical equivalence, differences from -rope to rope. Notes
        then have the Bayesian correlated t test (Corani and Benavoli 2015; Benavoli et al. 2017):
        posterior probabilities that a difference is below, in and above the region, as in
        ``results.rope_test``. For ``cov_type="corrected"`` only.
    {inference}

    Returns
    -------
    ComparisonResults
        The differences. ``ranks()`` has the probability that each learner is best, second, ...

    Raises
    ------
    InferenceError
        If the results do not rest on the same resamples of the same data, and are `paired`; or if
        they rest on the same data, and are not.

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
    options = InferenceOptions(
        cov_type=cov_type, alternative=alternative, p_adjust=p_adjust, simultaneous=simultaneous
    )
    check_choice("pairs", pairs, get_args(Pairs))
    check_flag("paired", paired)
    every, names = _listed_results(first, others, names)
    results = [_as_results(r, loss, metric, cov_type) for r in every]
    labels = _names([r.context.learner for r in results], names)
    places = _places(labels, reference, pairs)
    for one, other in places:
        _check_comparable(results[one], results[other], paired=paired)
    contrasts = [f"{labels[one]} - {labels[other]}" for one, other in places]
    base = results[places[0][0]]
    replicates = (_paired_differences if paired else _independent_differences)(results, places)
    spread = (
        variance(replicates, options.cov_type)
        if paired
        else independent_variance([r.variance for r in results], places)
    )
    learners = labels if pairs == "all" else [labels[places[0][0]], *(labels[j] for _, j in places)]
    differences = replace(
        base,
        estimand=_difference(base.estimand, contrasts, places, paired=paired),
        replicates=replicates,
        variance=spread,
        context=replace(
            base.context if paired else context_of_all([r.context for r in results], labels),
            learner=_learners(learners, pairs),
            specification="",
            formula=_common([r.context.formula for r in results]),
            engine=_engines(results),
        ),
        fit=None,
        corrected_params=None,
        diagnostic=_of_both([r.diagnostic for r in results]) if paired else None,
        alternative=options.alternative,
        p_adjust=options.p_adjust,
        simultaneous=options.simultaneous,
        rows=base.rows if paired else (),
        labels=base.labels if paired else (),
    )
    compared = ComparisonResults.of(differences, tuple(labels), tuple(places), base)
    return compared if rope is None else _with_rope(compared, rope)


def _common(formulas: Sequence[str]) -> str:
    """Return the formula of all results; empty if they have different ones."""
    return formulas[0] if len(set(formulas)) == 1 else ""


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


def _places(labels: list[str], reference: str | int, pairs: Pairs) -> list[tuple[int, int]]:
    """Return the positions of the two results of every difference."""
    count = len(labels)
    if isinstance(reference, str):
        if reference not in labels:
            raise OptionError(
                f"`reference` must be the name of one of the results, {list_of(labels)}, or its "
                f"position, not {quote(reference)}.{did_you_mean(reference, labels)}"
            )
        first = labels.index(reference)
    else:
        check_count("reference", reference, 0, count - 1)
        first = int(reference)
    if pairs == "all":
        if first:
            raise OptionError(
                '`reference` is for `pairs="reference"`; with all pairs there is none.'
            )
        return list(combinations(range(count), 2))
    return [(first, other) for other in range(count) if other != first]


def _paired_differences(
    results: Sequence[EstimandResults], places: Sequence[tuple[int, int]]
) -> Replicates:
    """Return the estimates per refit of the first results of pairs minus those of the second."""
    differences = [
        combine(Estimate.minus, [results[one].replicates, results[other].replicates])
        for one, other in places
    ]
    return combine(lambda *parts: Estimate.stack(parts), differences)


def _independent_differences(
    results: Sequence[EstimandResults], places: Sequence[tuple[int, int]]
) -> Replicates:
    return independent_difference([r.replicates for r in results], places)


def _of_both(diagnostics: Sequence[EstimandResults | None]) -> EstimandResults | None:
    """Return what stands beside two results, if it is the same: it is not of the learner then."""
    first, *others = diagnostics
    # The one difference of results of one term has the learners' names, not the term's.
    if first is None or len(others) != 1 or others[0] is None or len(first.params) == 1:
        return None
    return first if first.params.equals(others[0].params) else None


def _with_rope(compared: ComparisonResults, rope: float) -> ComparisonResults:
    """Return the comparison with notes on what its region of practical equivalence holds."""
    frame = compared.rope_test(rope)
    notes = [
        f"Bayesian correlated t test, {term}: P(below -{rope:g}) = {below:.3f}, "
        f"P(within {rope:g} of 0) = {within:.3f}, P(above {rope:g}) = {above:.3f}."
        for term, (below, within, above) in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    estimand = compared.estimand
    return replace(compared, estimand=replace(estimand, notes=(*estimand.notes, *notes)))


def _difference(
    estimand: Estimand,
    contrasts: Sequence[str],
    places: Sequence[tuple[int, int]],
    *,
    paired: bool,
) -> Estimand:
    """Return the estimand of the differences, which has no bound and is 0 under the null."""
    return replace(
        estimand,
        terms=_terms(estimand.terms, contrasts, single=len(estimand.terms.names) == 1),
        label="difference",
        title=f"difference in {estimand.title}",
        coverage=tuple(f"difference in {name}" for name in estimand.coverage),
        quantity=f"difference in {estimand.quantity or estimand.label}",
        null=0.0,
        lower_bound=None,
        range=REAL,
        meaning=_meaning(estimand, contrasts, places, paired=paired),
        notes=(),
        correction=None,
        better="",
        exact="",
        zero_variance="the two agree exactly in every refit",
    )


def summary_col(
    results: EstimandResults | Any | Sequence[EstimandResults | Any],
    *,
    model_names: Sequence[str] | None = None,
    stars: bool = False,
    float_format: str | None = None,
) -> Table:
    """Put several results side by side: estimates with standard errors below, one column each.

    Parameters
    ----------
    results : EstimandResults, results of statsmodels, or sequence of them
        For example the ``pfi()`` of several learners, and ``smf.ols(...).fit()`` beside them, whose
        column has its coefficients. Terms of the same name share a line.
    model_names : sequence of str, optional
        Column headings; by default the learners' names, numbered where they repeat.
    stars : bool
        Mark p-values below 0.1, 0.05 and 0.01 with one, two and three stars.
    float_format : str, optional
        Such as ``"%.4f"``; by default four significant digits of the largest number
        of the estimand, of coefficients four decimals, as in statsmodels.

    Returns
    -------
    statsmodels Summary
        With ``as_text``, ``as_html``, ``as_latex`` and ``as_csv``.
    """
    check_flag("stars", stars)
    if float_format is not None:
        _check_format(float_format)
    columns = [column_of(one) for one in (results if is_list(results) else [results])]
    if not columns:
        raise OptionError("`results` must hold at least one result.")
    names = _names([c.learner for c in columns], model_names)
    descriptions = list(dict.fromkeys(c.description for c in columns))
    formats = _formats(columns) if float_format is None else [float_format] * len(columns)
    terms = list(dict.fromkeys(term for c in columns for term in c.params.index))
    fmt_txt = {**fmt_params, "data_fmts": ["%s"]}
    estimates = SimpleTable(
        _cells(columns, terms, formats, stars=stars),
        headers=names,
        stubs=[stub for term in terms for stub in (term, "")],
        title=descriptions[0] if len(descriptions) == 1 else "",
        txt_fmt=fmt_txt,
    )
    about = _facts(columns)
    facts = SimpleTable(list(about.values()), stubs=list(about), txt_fmt=fmt_txt)
    widths = [
        max(*pair)
        for pair in zip(estimates.get_colwidths("txt"), facts.get_colwidths("txt"), strict=True)
    ]
    for table in (estimates, facts):
        table.output_formats["txt"]["colwidths"] = widths
    notes = [_errors_note(columns, stars=stars), *_meaning_notes(columns, names)]
    if stars:
        notes.append("* p < 0.1, ** p < 0.05, *** p < 0.01")
        notes += [f"{n}: {c.note}" for n, c in zip(names, columns, strict=True) if c.note]
    return Table([estimates, facts], notes, sum(widths) + len(widths) - 1)


def _meaning_notes(columns: Sequence[Column], names: Sequence[str]) -> list[str]:
    """Return the note on what differs where coefficients stand beside estimands."""
    models = [n for n, c in zip(names, columns, strict=True) if c.description == COEFFICIENTS]
    if not 0 < len(models) < len(columns):
        return []
    return [
        f"Numbers of {list_of(models)} are coefficients, those of the others the estimand: a line "
        "is about the same term, but its numbers are different quantities, in different units."
    ]


def plot(
    results: Several,
    *,
    model_names: Sequence[str] | None = None,
    alpha: float = 0.05,
    sort: bool = True,
    style: Style = "light",
) -> ggplot:
    """Plot several results in one picture, with their intervals, a color per learner.

    Parameters
    ----------
    results : EstimandResults, list or mapping of str to EstimandResults
        With one value per feature, such as the ``pfi()`` of several learners: every measure has a
        panel of its own. Or curves of one variable, such as the ``pd("x")`` of a learner and of one
        of its models, of a forest and of a linear model.
    model_names : sequence of str, optional
        One per result, different for results of the same measure; by default the names in a
        mapping, or those of the learners, numbered where they repeat.
    alpha : float
        Significance level of the intervals.
    sort : bool
        Draw features in decreasing order of the first result, or else as in the data.
    style : {"light", "dark"}
        The ground on which marks are drawn.

    Returns
    -------
    plotnine.ggplot
        To which layers, scales and a theme can be added.

    Raises
    ------
    OptionError
        If results are surfaces, or curves of different variables.
    """
    from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

    if isinstance(results, Mapping):
        if model_names is not None:
            raise OptionError("`model_names` are the names in the mapping `results`; leave it out.")
        results, model_names = list(results.values()), [str(name) for name in results]
    results = _list(results)
    check_alpha(alpha)
    check_flag("sort", sort)
    check_choice("style", style, ("light", "dark"))
    _check_same_axes(results)
    if results[0].estimand.terms.axes:
        names = _names([r.context.learner for r in results], model_names)
        figure = plots.overlay(results, names, alpha=alpha, sort=sort)
    else:
        names = _names_by_measure(results, model_names)
        panels = len({r.estimand.description for r in results}) > 1
        figure = plots.together(results, names, alpha=alpha, sort=sort, panels=panels)
    drawn: ggplot = plots.in_style(figure, style)
    return drawn


def _check_same_axes(results: Sequence[EstimandResults]) -> None:
    """Raise `OptionError` unless all have one value per feature, or are curves of one variable."""
    first = results[0].estimand.terms
    for result in results:
        terms = result.estimand.terms
        what = result.estimand.description
        if len(terms.axes) > 1:
            raise OptionError(
                "`results` must have one value per feature or be curves, which have room in one "
                f"picture; {what} is a surface. Use its `plot()`."
            )
        if terms.axis_names != first.axis_names:
            raise OptionError(
                "`results` must all have one value per feature, or all be curves of the same "
                f"variable: {results[0].estimand.description} and {what} are not."
            )
        if terms.facet != first.facet or terms.groups != first.groups:
            raise OptionError(
                "`results` must have the same classes or groups of rows, a panel each; "
                f"{results[0].estimand.description} and {what} have not."
            )


def _cells(
    columns: Sequence[Column], terms: Sequence[str], formats: Sequence[str], *, stars: bool
) -> list[list[str]]:
    """Return two rows per term, its estimates and their standard errors, a column per result."""
    rows: list[list[str]] = []
    pairs = list(zip(columns, formats, strict=True))
    for term in terms:
        rows.append([_estimate_cell(c, term, fmt, stars=stars) for c, fmt in pairs])
        rows.append([_error_cell(c, term, fmt, at_null=stars) for c, fmt in pairs])
    return rows


def _facts(columns: Sequence[Column]) -> dict[str, list[str]]:
    """Return the rows of the table's lower part, a value per result; estimands if they differ."""
    descriptions = [c.description for c in columns]
    estimand = {} if len(set(descriptions)) == 1 else {"Estimand": descriptions}
    every = dict.fromkeys(name for c in columns for name in c.facts)
    names = [*(name for name in every if name != "Cov. type"), "Cov. type"]
    return estimand | {name: [c.facts.get(name, "") for c in columns] for name in names}


def _list(results: object) -> list[EstimandResults]:
    """Return one result or several as a list."""
    if isinstance(results, EstimandResults):
        return [results]
    several: list[EstimandResults] = []
    for one in results if is_list(results) else [results]:
        if not isinstance(one, EstimandResults):
            raise OptionError(
                "`results` must hold results of an estimand such as res.pfi(), not "
                f"{type(one).__name__}."
            )
        several.append(one)
    if not several:
        raise OptionError("`results` must hold at least one result.")
    return several


def _check_format(float_format: object) -> None:
    """Raise `OptionError` unless `float_format` sets one number, in few characters."""
    try:
        text = float_format % 1.0 if isinstance(float_format, str) else ""
    except (TypeError, ValueError):
        text = ""
    if not text or text == float_format or len(text) > WIDEST:
        raise OptionError(
            f'`float_format` must be a format of one number such as "%.4f", not '
            f"{quote(float_format)}."
        )


def _engines(results: Sequence[EstimandResults]) -> Engine:
    """Return the engines of all learners as one."""
    engines = [r.context.engine for r in results]
    return Engine.of_all(engines)._replace(name=" / ".join(dict.fromkeys(e.name for e in engines)))


def _formats(columns: Sequence[Column]) -> list[str]:
    """Return a format per column: numbers of different estimands are in different units."""
    alike = len({c.description for c in columns}) == 1
    groups = [columns if alike else [c] for c in columns]
    return [
        "%.4f"
        if group[0].description == COEFFICIENTS
        else number_format(
            np.concatenate([np.asarray(c.params, float) for c in group]),
            np.concatenate([np.asarray(c.bse, float) for c in group]),
        )
        for group in groups
    ]


def _as_results(
    result: Any, loss: LossLike | None, metric: MetricLike | None, cov_type: CovType | None
) -> EstimandResults:
    """Return results as they are, and the expected loss, or the metric, of a learner."""
    if loss is not None and metric is not None:
        raise OptionError("Give `loss` or `metric`, not both.")
    if isinstance(result, EstimandResults):
        if loss is not None or metric is not None:
            which = "loss" if metric is None else "metric"
            raise OptionError(f"`{which}` is for comparing learners; results have their own.")
        if cov_type is None or cov_type == result.cov_type:
            return result
        return replace(result, variance=variance(result.replicates, cov_type))
    if isinstance(result, Interpretable):
        if metric is not None:
            return result.metric(metric, cov_type=cov_type)
        return result.loss(loss, cov_type=cov_type)
    raise OptionError(
        "Only results of Learner.fit, FittedModel or one of their estimands can be compared, not "
        f"{type(result).__name__}."
    )


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
    if not (same and alike and (not paired or one.estimand.key == other.estimand.key)):
        raise InferenceError(
            "Only the same estimand of the same terms can be compared; got "
            f"{one.estimand.description} and {other.estimand.description}."
        )
    if not paired:
        check_independent(one, other)
    elif one.context.resamples != other.context.resamples:
        raise InferenceError(
            "A paired comparison needs the same resamples of the same data, but these results have "
            f"different ones; {_remedy(one, other)}, or, if they are of different, independent "
            "data sets, use `paired=False`."
        )


def _remedy(one: EstimandResults, other: EstimandResults) -> str:
    """Return how to have two results on the same rows."""
    if one.context.missing_note != other.context.missing_note:
        return (
            "one learner was given rows with missing values that the other was not: make both "
            'with `missing="drop"`'
        )
    return "fit both with the same plan and seed"


def _names(learners: list[str], names: Sequence[str] | None) -> list[str]:
    """Return the names of learners: the user's, or the estimators', numbered if they repeat."""
    if names is not None:
        labels = _checked_names(names, len(learners))
        if len(set(labels)) < len(labels):
            raise OptionError(f"Names must be different, which {quote(labels)} are not.")
        return labels
    if len(set(learners)) == len(learners):
        return learners
    return [f"{name} ({k})" for k, name in enumerate(learners, start=1)]


def _checked_names(names: Sequence[str], count: int) -> list[str]:
    labels = list(names) if is_list(names) else []
    if len(labels) != count or not all(isinstance(n, str) and n.strip() for n in labels):
        raise OptionError(
            f"There must be {count} names, a list of strings that are not empty; got "
            f"{quote(names)}."
        )
    return labels


def _names_by_measure(results: list[EstimandResults], names: Sequence[str] | None) -> list[str]:
    """Return the names of learners, which may repeat for another measure."""
    labels = None if names is None else _checked_names(names, len(results))
    measures = [r.estimand.description for r in results]
    names_by_place: dict[int, str] = {}
    for measure in dict.fromkeys(measures):
        places = [k for k, one in enumerate(measures) if one == measure]
        some = None if labels is None else [labels[k] for k in places]
        names_by_place |= zip(
            places, _names([results[k].context.learner for k in places], some), strict=True
        )
    return [names_by_place[k] for k in range(len(results))]


def _terms(terms: Terms, contrasts: Sequence[str], *, single: bool) -> Terms:
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


def _learners(labels: Sequence[str], pairs: Pairs) -> str:
    if pairs == "all" and len(labels) > 2:
        return f"all pairs of {len(labels)}"
    others = labels[1] if len(labels) == 2 else f"{len(labels) - 1} others"
    return f"{labels[0]} - {others}"


def _meaning(
    estimand: Estimand,
    contrasts: Sequence[str],
    places: Sequence[tuple[int, int]],
    *,
    paired: bool,
) -> str:
    to_one = len({one for one, _ in places}) == 1
    several = "the first minus each of the others" if to_one else "all pairs"
    if to_one and places[0][0]:
        several = "the reference minus each of the others"
    listed = contrasts[0] if len(contrasts) == 1 else several
    how = "paired by resample" if paired else "of independent estimates"
    sign = {"smaller": "Negative", "larger": "Positive"}.get(estimand.better, "")
    first = "first" if len(contrasts) == 1 or (to_one and not places[0][0]) else "first of the two"
    direction = f" {sign}: the {first} predicts better." if sign else ""
    return f"{estimand.description}: {listed}, {how}.{direction}"


def _errors_note(columns: Sequence[Column], *, stars: bool) -> str:
    """Return the note on the numbers in parentheses; with stars, tests divide by these errors."""
    other = [c for c in columns if c.null is not None and not c.bse.equals(c.bse_null)]
    if stars and other:
        plain = "" if len(other) == len(columns) else "; plain ones where tests do not take these"
        values = " or ".join(sorted({f"{c.null:g}" for c in other}))
        return f"In parentheses, s.e. at {values}: errors if that is the true value{plain}."
    return "Standard errors in parentheses."


def _error_cell(column: Column, term: str, fmt: str, *, at_null: bool) -> str:
    if term not in column.bse:
        return ""
    errors = column.bse_null if at_null and column.null is not None else column.bse
    return f"({fmt % errors[term]})"


def _estimate_cell(column: Column, term: str, fmt: str, *, stars: bool) -> str:
    if term not in column.params:
        return ""
    p = column.pvalues[term]
    marks = sum(p < level for level in (0.1, 0.05, 0.01)) if stars else 0
    return fmt % column.params[term] + "*" * int(marks)
