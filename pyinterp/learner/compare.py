"""Results side by side: paired tests of learners, tables and plots of several results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from pyinterp.checks import check_alpha, check_flag, is_list
from pyinterp.errors import InferenceError, OptionError, quote
from pyinterp.estimands.estimand import Estimand, Estimate, Terms
from pyinterp.inference import Alternative, CovType, Replicates, combine, variance
from pyinterp.inference.options import InferenceOptions
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.rowwise import LossLike
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import Table, number_format
from pyinterp.whatif import Engine

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["compare", "plot_col", "summary_col"]

WIDEST = 40  # characters of a number in a table of several results


@takes()
def compare(
    first: Interpretable | EstimandResults,
    *others: Interpretable | EstimandResults,
    loss: LossLike | None = None,
    names: Sequence[str] | None = None,
    cov_type: CovType | None = None,
    alternative: Alternative = "two-sided",
    p_adjust: str | None = None,
    simultaneous: bool = False,
) -> EstimandResults:
    r"""Paired comparison of learners on the same resamples: `first` minus each of the others.

    Per refit both are evaluated on the same rows, so the difference
    :math:`\delta_d = L_d^{(1)} - L_d^{(2)}` is one number per refit, to which the variance of the
    plan applies: with the default plan that of half-sampling, M df, M the number of pairs (15).
    ``cov_type="corrected"``, the default of plans without pairs, has
    :math:`(1/m + n_2/n_1) s_\delta^2` and m - 1 df, the corrected t test of Nadeau and Bengio
    (2003) used in Molnar et al. (2021, section 9).

    Parameters
    ----------
    first, *others : LearnerResults, FittedModel or EstimandResults
        Learners are compared by their expected loss (negative: `first` is better). Results of the
        same estimand, such as two ``pfi()``, are compared term by term.
    loss : str, Loss or callable, optional
        For learners; by default squared loss, or log loss for classifiers.
    names : sequence of str, optional
        Names of the learners; by default those of their estimators.
    {inference}

    Returns
    -------
    EstimandResults
        The differences.

    Raises
    ------
    InferenceError
        If the results do not rest on the same resamples of the same data.

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
    >>> bool(pi.compare(*fits).params.iloc[0] < 0)
    True
    """
    options = InferenceOptions(
        cov_type=cov_type, alternative=alternative, p_adjust=p_adjust, simultaneous=simultaneous
    )
    if not others:
        raise OptionError("A comparison needs at least two results; got one.")
    results = [_as_results(r, loss) for r in (first, *others)]
    labels = _names(results, names)
    contrasts = [f"{labels[0]} - {label}" for label in labels[1:]]
    replicates = _paired_differences(results)
    base = results[0]
    return replace(
        base,
        estimand=_difference(base.estimand, contrasts),
        replicates=replicates,
        variance=variance(replicates, options.cov_type),
        context=replace(base.context, learner=_learners(labels), engine=_engines(results)),
        fit=None,
        corrected_params=None,
        alternative=options.alternative,
        p_adjust=options.p_adjust,
        simultaneous=options.simultaneous,
    )


def _paired_differences(results: Sequence[EstimandResults]) -> Replicates:
    """Return the estimates per refit of the first results minus those of each of the others."""
    base, differences = results[0], []
    for other in results[1:]:
        _check_comparable(base, other)
        differences.append(combine(Estimate.minus, [base.replicates, other.replicates]))
    return combine(lambda *parts: Estimate.stack(parts), differences)


def _difference(estimand: Estimand, contrasts: Sequence[str]) -> Estimand:
    """Return the estimand of the differences, which has no bound and is 0 under the null."""
    return replace(
        estimand,
        terms=_terms(estimand.terms, contrasts, single=len(estimand.terms.names) == 1),
        label="difference",
        title=f"difference in {estimand.title}",
        coverage="",
        quantity=f"difference in {estimand.quantity or estimand.label}",
        null=0.0,
        lower_bound=None,
        meaning=_meaning(estimand, contrasts),
        notes=(),
        correction=None,
        exact="",
        zero_variance="the two agree exactly in every refit",
    )


def summary_col(
    results: EstimandResults | Sequence[EstimandResults],
    *,
    model_names: Sequence[str] | None = None,
    stars: bool = False,
    float_format: str | None = None,
) -> Table:
    """Put several results side by side: estimates with standard errors below, one column each.

    Parameters
    ----------
    results : EstimandResults or sequence of EstimandResults
        For example the ``pfi()`` of several learners.
    model_names : sequence of str, optional
        Column headings; by default the learners' names, numbered where they repeat.
    stars : bool
        Mark p-values below 0.1, 0.05 and 0.01 with one, two and three stars.
    float_format : str, optional
        Such as ``"%.4f"``; by default four significant digits of the largest number
        of the estimand.

    Returns
    -------
    statsmodels Summary
        With ``as_text``, ``as_html``, ``as_latex`` and ``as_csv``.
    """
    results = _list(results)
    check_flag("stars", stars)
    if float_format is not None:
        _check_format(float_format)
    columns = _names(results, model_names)
    descriptions = [r.estimand.description for r in results]
    # Numbers of different estimands are in different units.
    alike = [results] if len(set(descriptions)) == 1 else [[r] for r in results]
    formats = [
        _format(group) if float_format is None else float_format for group in alike for _ in group
    ]
    terms = list(dict.fromkeys(t for r in results for t in r.estimand.terms.names))
    fmt_txt = {**fmt_params, "data_fmts": ["%s"]}
    estimates = SimpleTable(
        _cells(results, terms, formats, stars=stars),
        headers=columns,
        stubs=[stub for term in terms for stub in (term, "")],
        title=descriptions[0] if len(set(descriptions)) == 1 else "",
        txt_fmt=fmt_txt,
    )
    about = _facts(results)
    facts = SimpleTable(list(about.values()), stubs=list(about), txt_fmt=fmt_txt)
    widths = [
        max(*pair)
        for pair in zip(estimates.get_colwidths("txt"), facts.get_colwidths("txt"), strict=True)
    ]
    for table in (estimates, facts):
        table.output_formats["txt"]["colwidths"] = widths
    notes = [_errors_note(results, stars=stars)]
    if stars:
        notes.append("* p < 0.1, ** p < 0.05, *** p < 0.01")
        notes += _test_notes(results, columns)
    return Table([estimates, facts], notes, sum(widths) + len(widths) - 1)


def plot_col(
    results: EstimandResults | Sequence[EstimandResults],
    *,
    model_names: Sequence[str] | None = None,
    alpha: float = 0.05,
    sort: bool = True,
) -> ggplot:
    """Plot several results side by side: estimates with their intervals, one color per learner.

    Parameters
    ----------
    results : EstimandResults or sequence of EstimandResults
        With one value per feature, such as the ``pfi()`` of several learners. Every measure has a
        panel of its own.
    model_names : sequence of str, optional
        One per result, different for results of the same measure; by default the learners' names,
        numbered where they repeat.
    alpha : float
        Significance level of the intervals.
    sort : bool
        Draw features in decreasing order of the first result, or else as in the data.

    Returns
    -------
    plotnine.ggplot
        To which layers, scales and a theme can be added.
    """
    from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

    results = _list(results)
    check_alpha(alpha)
    check_flag("sort", sort)
    _check_one_value(results)
    names = _names_by_measure(results, model_names)
    panels = len({r.estimand.description for r in results}) > 1
    return plots.together(results, names, alpha=alpha, sort=sort, panels=panels)


def _check_one_value(results: Sequence[EstimandResults]) -> None:
    """Raise `OptionError` unless results have one value per feature."""
    for result in results:
        if result.estimand.terms.axes:
            raise OptionError(
                "`results` must have one value per feature, as importances have, not a curve or a "
                f"surface: {result.estimand.description}. Use its `plot()`."
            )


def _cells(
    results: Sequence[EstimandResults], terms: Sequence[str], formats: Sequence[str], *, stars: bool
) -> list[list[str]]:
    """Return two rows per term, its estimates and their standard errors, a column per result."""
    rows: list[list[str]] = []
    columns = list(zip(results, formats, strict=True))
    for term in terms:
        rows.append([_estimate_cell(r, term, fmt, stars=stars) for r, fmt in columns])
        rows.append([_error_cell(r, term, fmt, at_null=stars) for r, fmt in columns])
    return rows


def _facts(results: Sequence[EstimandResults]) -> dict[str, list[str]]:
    """Return the rows of the table's lower part, a value per result; estimands if they differ."""
    descriptions = [r.estimand.description for r in results]
    estimand = {} if len(set(descriptions)) == 1 else {"Estimand": descriptions}
    return {
        **estimand,
        "No. observations": [str(r.nobs) for r in results],
        "No. refits": [str(r.context.refits) for r in results],
        "Loss": [f"{r.fit.loss:.4g}" if r.fit else "" for r in results],
        "R² or D²": [
            f"{r.fit.explained_share:.3f}" if r.fit and r.fit.share_name else "" for r in results
        ],
        "Cov. type": [r.variance.label for r in results],
    }


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


def _format(results: Sequence[EstimandResults]) -> str:
    return number_format(
        np.concatenate([np.asarray(r.params, float) for r in results]),
        np.concatenate([np.asarray(r.bse, float) for r in results]),
    )


def _as_results(result: Any, loss: LossLike | None) -> EstimandResults:
    """Return results as they are, and the expected loss of a learner."""
    if isinstance(result, EstimandResults):
        if loss is not None:
            raise OptionError("`loss` is for comparing learners; results have their own.")
        return result
    if isinstance(result, Interpretable):
        return result.loss(loss)
    raise OptionError(
        "Only results of Learner.fit, FittedModel or one of their estimands can be compared, not "
        f"{type(result).__name__}."
    )


def _check_comparable(one: EstimandResults, other: EstimandResults) -> None:
    """Raise `InferenceError` unless estimands, terms and resamples are the same."""
    same = one.estimand.terms.names == other.estimand.terms.names
    alike = one.estimand.description == other.estimand.description
    if not (same and alike and one.estimand.key == other.estimand.key):
        raise InferenceError(
            "Only the same estimand of the same terms can be compared; got "
            f"{one.estimand.description} and {other.estimand.description}."
        )
    if one.context.resamples != other.context.resamples:
        raise InferenceError(
            "A paired comparison needs the same resamples of the same data, but these results have "
            "different ones; fit both with the same plan and seed."
        )


def _names(results: list[EstimandResults], names: Sequence[str] | None) -> list[str]:
    """Return the names of learners: the user's, or the estimators', numbered if they repeat."""
    if names is not None:
        labels = _checked_names(names, len(results))
        if len(set(labels)) < len(labels):
            raise OptionError(f"Names must be different, which {quote(labels)} are not.")
        return labels
    learners = [r.context.learner for r in results]
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
        names_by_place |= zip(places, _names([results[k] for k in places], some), strict=True)
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


def _learners(labels: Sequence[str]) -> str:
    others = labels[1] if len(labels) == 2 else f"{len(labels) - 1} others"
    return f"{labels[0]} - {others}"


def _meaning(estimand: Estimand, contrasts: Sequence[str]) -> str:
    listed = contrasts[0] if len(contrasts) == 1 else "the first minus each of the others"
    sign = ""
    if estimand.null is None and not estimand.terms.axes:
        sign = " Negative: the first predicts better."
    return f"{estimand.description}: {listed}, paired by resample.{sign}"


def _test_notes(results: Sequence[EstimandResults], columns: Sequence[str]) -> list[str]:
    """Return notes on side and adjustment of p-values, for columns that have any."""
    notes = []
    for name, r in zip(columns, results, strict=True):
        side = "" if r.alternative == "two-sided" else f"One-sided ({r.alternative})."
        note = f"{side} {r.inference.note}".strip()
        if note:
            notes.append(f"{name}: {note}")
    return notes


def _errors_note(results: Sequence[EstimandResults], *, stars: bool) -> str:
    """Return the note on the numbers in parentheses; with stars, tests divide by these errors."""
    nulls = {f"{r.null:g}" for r in results if r.null is not None and not r.bse.equals(r.bse_null)}
    if stars and nulls:
        others = all(r.null is None or not r.bse.equals(r.bse_null) for r in results)
        plain = "" if others else "; plain ones where tests do not take these"
        values = " or ".join(sorted(nulls))
        return f"In parentheses, s.e. at {values}: errors if that is the true value{plain}."
    return "Standard errors in parentheses."


def _error_cell(result: EstimandResults, term: str, fmt: str, *, at_null: bool) -> str:
    if term not in result.bse:
        return ""
    errors = result.bse_null if at_null and result.null is not None else result.bse
    return f"({fmt % errors[term]})"


def _estimate_cell(result: EstimandResults, term: str, fmt: str, *, stars: bool) -> str:
    if term not in result.params:
        return ""
    p = result.pvalues[term]
    marks = sum(p < level for level in (0.1, 0.05, 0.01)) if stars else 0
    return fmt % result.params[term] + "*" * int(marks)
