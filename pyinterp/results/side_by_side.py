"""Several results in one table or figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from statsmodels.base.model import LikelihoodModelResults
from statsmodels.base.wrapper import ResultsWrapper

from pyinterp.checks import check_flag, is_list
from pyinterp.data.features import Names, check_names, names_of
from pyinterp.errors import InferenceError, OptionError, list_of, quote, short
from pyinterp.inference.digits import number_format, row_formats
from pyinterp.results.footnotes import UNPROVEN
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import TableOptions
from pyinterp.results.table import Table

if TYPE_CHECKING:
    from plotnine import ggplot


Several: TypeAlias = EstimandResults | Sequence[EstimandResults] | Mapping[str, EstimandResults]
WIDEST = 40  # characters of a number, or of a learner's name, in a table of several results
NARROWEST = 10  # characters of a column
COEFFICIENTS = "coefficients"
TWO_QUANTITIES = (
    "Numbers of {} are coefficients, those of the others the estimand: about the same term, but "
    "other quantities, unless both are slopes of a linear model."
)


class _Column(NamedTuple):
    """What a table of several results shows of one.

    Attributes
    ----------
    learner : str
    description : str
        Name of the values, such as "PFI (squared error)".
    params, bse, pvalues : Series
        By term.
    facts : dict of str to str
        The lower part of the table.
    note : str
        Side and adjustment of the tests, if they have any.
    """

    learner: str
    description: str
    params: pd.Series[float]
    bse: pd.Series[float]
    pvalues: pd.Series[float]
    facts: dict[str, str]
    note: str = ""


def summary_col(
    results: EstimandResults | Any | Sequence[EstimandResults | Any] | Mapping[str, Any],
    *,
    model_names: Sequence[str] | None = None,
    stars: bool = False,
    float_format: str | None = None,
    keep: Names | None = None,
    drop: Names | None = None,
) -> Table:
    """Put several results side by side: estimates with standard errors below, one column each.

    Parameters
    ----------
    results : EstimandResults, results of statsmodels, sequence of them, or mapping of str to them
        For example the ``pfi()`` of several learners, and ``smf.ols(...).fit()`` too, whose
        column has its coefficients. Terms of the same name share a line.
    model_names : sequence of str, optional
        Column headings; by default the names in a mapping, or of the learners, numbered
        where they repeat.
    stars : bool
        Mark p-values below 0.1, 0.05 and 0.01 with one, two and three stars.
    float_format : str, optional
        Such as ``"%.4f"``; by default four significant digits of the largest number
        of the estimand, of coefficients four decimals, as in statsmodels.
    keep, drop : str or sequence of str, optional
        Terms that are shown, in this order, and that are not; a variable such as ``"C(firm)"``
        stands for the terms of all its levels. By default all terms are shown.

    Returns
    -------
    statsmodels Summary
        With ``to``, ``as_text``, ``as_html``, ``as_latex`` and ``as_csv``.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> data = pi.datasets.load_diabetes()
    >>> learners = {"linear": LinearRegression(), "ridge": Ridge(100)}
    >>> pfis = {
    ...     name: pi.Learner.from_formula("progression ~ bmi + bp", data, learner).fit(seed=1).pfi()
    ...     for name, learner in learners.items()
    ... }
    >>> print(pi.summary_col(pfis))
              PFI (squared error)
    ========================================
                          linear       ridge
    ----------------------------------------
    bmi                     2842        2774
                           (549)       (535)
    bp                       747         770
                           (249)       (252)
    ========================================
    No. observations         442         442
    No. refits                15          15
    Loss                    3584        3586
    R² or D²               0.397       0.397
    Cov. type        half-sample half-sample
    ========================================
    <BLANKLINE>
    Standard errors in parentheses.
    """
    check_flag("stars", stars)
    if float_format is not None:
        _check_format(float_format)
    several, model_names = _with_names(results, model_names)
    columns = [_column_of(one) for one in several]
    _check_columns([one for one in several if isinstance(one, EstimandResults)])
    names = learner_names([c.learner for c in columns], model_names)
    every = list(dict.fromkeys(term for c in columns for term in c.params.index))
    terms = _choose(every, keep=keep, drop=drop)
    cells = {
        name: _cells(column, terms, _formats(column, columns, float_format), stars=stars)
        for name, column in zip(names, columns, strict=True)
    }
    estimates = pd.DataFrame(cells, index=[stub for term in terms for stub in (term, "")])
    about = _facts(columns)
    notes = ["Standard errors in parentheses."]
    if hidden := dict.fromkeys(_variable(term) for term in every if term not in terms):
        notes.append(f"Not shown: {list_of(hidden)}.")
    models = [n for n, c in zip(names, columns, strict=True) if c.description == COEFFICIENTS]
    if 0 < len(models) < len(columns):
        notes.append(TWO_QUANTITIES.format(list_of(models)))
    if stars:
        notes.append("* p < 0.1, ** p < 0.05, *** p < 0.01: P of each result's table.")
        if any(isinstance(r, EstimandResults) and r.variance.varies_as_square for r in several):
            notes.append("Stars use the s.e. at no effect, not those in parentheses.")
        notes += [f"{n}: {c.note}" for n, c in zip(names, columns, strict=True) if c.note]
    if len(rows := dict.fromkeys(c.facts.get("No. observations", "") for c in columns)) > 1:
        notes.append(
            f"Columns rest on {' and '.join(rows)} observations: they differ by these too."
        )
    if any("not proven" in c.facts.get("From a folder", "") for c in columns):
        notes.append(UNPROVEN)
    shares = [c.facts.get("R² or D²", "") for c in columns]
    if negative := [n for n, share in zip(names, shares, strict=True) if share.startswith("-")]:
        notes.append(f"{list_of(negative)}: R² or D² below 0: one constant predicts better.")
    title = "" if "Estimand" in about else columns[0].description
    blocks = [estimates, pd.DataFrame(about).T]
    return Table(blocks, notes, title=title, numbered=False, width=0, narrowest=NARROWEST)


def plot(
    results: Several,
    *,
    model_names: Sequence[str] | None = None,
    alpha: float = 0.05,
    sort: bool = True,
    top: int | None = None,
) -> ggplot:
    """Plot several results in one picture, with their intervals, a color per learner.

    Parameters
    ----------
    results : EstimandResults, list or mapping of str to EstimandResults
        With one value per feature, such as the ``pfi()`` of several learners: every measure has a
        separate panel. Or curves of one variable, such as the ``pd("x")`` of a learner and of one
        of its models, of a forest and of a linear model.
    model_names : sequence of str, optional
        One per result, different for results of the same measure; by default the names in a
        mapping, or of the learners, numbered where they repeat.
    alpha : float
        Significance level of the intervals.
    sort : bool
        Draw features in decreasing order of the first result, or else as in the data.
    top : int, optional
        How many features are drawn, the first in that order; by default all.

    Returns
    -------
    plotnine.ggplot
        To which layers, scales and a theme can be added.

    Raises
    ------
    OptionError
        If results are surfaces, or curves of different variables; or if `top` is of curves.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> data = pi.datasets.load_diabetes()
    >>> learners = {"linear": LinearRegression(), "ridge": Ridge(100)}
    >>> pfis = {
    ...     name: pi.Learner.from_formula("progression ~ bmi + bp", data, learner).fit(seed=1).pfi()
    ...     for name, learner in learners.items()
    ... }
    >>> plot = pi.plot(pfis)
    >>> plot.save("learners.png", width=5, height=3, verbose=False)
    """
    from pyinterp.results.plots.curves import overlay  # noqa: PLC0415 - slow
    from pyinterp.results.plots.points import points  # noqa: PLC0415 - slow

    every, model_names = _with_names(results, model_names)
    _check_same_axes(every)
    _check_columns(every)
    TableOptions(alpha, sort, top)
    if every[0].estimand.terms.axes:
        if top is not None:
            raise OptionError("`top` is for plots of one value per feature; these are of a grid.")
        names = learner_names([r.context.learner for r in every], model_names)
        return overlay(every, names, alpha=alpha, sort=sort)
    measures = [r.estimand.description for r in every]
    names = learner_names([r.context.learner for r in every], model_names, measures)
    panels = len(set(measures)) > 1
    return points(every, names, alpha=alpha, sort=sort, top=top, panels=panels)


def _column_of(results: object) -> _Column:
    """Return the column of results of an estimand, or of statsmodels."""
    fitted = results._results if isinstance(results, ResultsWrapper) else results
    if isinstance(fitted, LikelihoodModelResults):
        return _of_statsmodels(fitted, type(fitted.model).__name__)
    if not isinstance(results, EstimandResults):
        raise OptionError(
            "`results` must hold results of an estimand such as res.pfi(), or of a model of "
            f"statsmodels such as smf.ols(...).fit(), not {type(results).__name__}."
        )
    side = "" if results.alternative == "two-sided" else f"One-sided ({results.alternative})."
    note = f"{side} {results.inference.note}".strip()
    params, bse, pvalues = results.params, results.bse, results.pvalues
    learner, what = results.context.learner, results.estimand.description
    return _Column(learner, what, params, bse, pvalues, results.column_facts, note)


def _of_statsmodels(fitted: Any, name: str) -> _Column:
    """Return the column of coefficients, with the tests of statsmodels."""
    if np.ndim(fitted.params) != 1:
        raise OptionError(
            f"Results of statsmodels must have one coefficient per term, but {name} has "
            f"{np.shape(fitted.params)[1]} equations; use its own `summary`."
        )
    try:
        terms = list(fitted.model.data.param_names)
        params, bse, pvalues = (
            pd.Series(np.asarray(getattr(fitted, key), float), terms)
            for key in ("params", "bse", "pvalues")
        )
    except (AttributeError, NotImplementedError, ValueError) as error:
        raise OptionError(
            f"Results of statsmodels must have standard errors and p-values, which {name} has not: "
            "fit it with `fit`, not with `fit_regularized`."
        ) from error
    share = getattr(fitted, "rsquared", None)
    facts = {
        "No. observations": str(int(fitted.nobs)),
        "R², in sample": "" if share is None else f"{share:.3f}",
        "Cov. type": str(getattr(fitted, "cov_type", "")),
    }
    return _Column(name, COEFFICIENTS, params, bse, pvalues, facts)


def _variable(term: str) -> str:
    """Return the variable of a term, whose level or value stands in brackets."""
    return term.partition("[")[0]


def _choose(terms: Sequence[str], **chosen: Names | None) -> Sequence[str]:
    """Return the terms that `keep` names, but for those of `drop`; by default all."""
    of_name: dict[str, list[str]] = {}
    for term in terms:
        for name in dict.fromkeys((term, _variable(term))):
            of_name.setdefault(name, []).append(term)
    named = {}
    for argument, value in chosen.items():
        names = [] if value is None else names_of(value, argument)
        if value is not None:
            check_names(names, of_name, kind="term", argument=argument)
        named[argument] = [term for name in names for term in of_name[name]]
    every = dict.fromkeys(named["keep"] or terms)
    if shown := [term for term in every if term not in named["drop"]]:
        return shown
    raise OptionError("`keep` and `drop` must leave a term, but all that are kept are dropped.")


def _cells(
    column: _Column, terms: Sequence[str], formats: Mapping[str, str], *, stars: bool
) -> list[str]:
    """Return estimates as text, with standard errors below; empty where there is no such term."""
    cells = []
    for term in terms:
        if term not in column.params:
            cells += ["", ""]
            continue
        marks = sum(column.pvalues[term] < level for level in (0.1, 0.05, 0.01)) if stars else 0
        fmt = formats[term]
        cells += [fmt % column.params[term] + "*" * int(marks), f"({fmt % column.bse[term]})"]
    return cells


def _facts(columns: Sequence[_Column]) -> dict[str, list[str]]:
    """Return the rows of the table's lower part, a value per result; estimands if they differ."""
    descriptions = [c.description for c in columns]
    estimand = {} if len(set(descriptions)) == 1 else {"Estimand": descriptions}
    every = dict.fromkeys(name for c in columns for name in c.facts)
    names = [*(name for name in every if name != "Cov. type"), "Cov. type"]
    return estimand | {name: [c.facts.get(name, "") for c in columns] for name in names}


def _formats(
    column: _Column, columns: Sequence[_Column], float_format: str | None
) -> dict[str, str]:
    """Return the formats of a column: numbers of different estimands are in different units."""
    if float_format is not None or column.description == COEFFICIENTS:
        return dict.fromkeys(column.params.index, float_format or "%.4f")
    same = columns if len({c.description for c in columns}) == 1 else [column]
    params = np.concatenate([c.params for c in same])
    fmt = number_format(params, np.concatenate([c.bse for c in same]))
    values, errors = (np.asarray(part, np.float64) for part in (column.params, column.bse))
    return dict(zip(column.params.index, row_formats(values, errors, fmt), strict=True))


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


def _check_same_axes(results: Sequence[Any]) -> None:
    """Raise `OptionError` unless all have one value per feature, or are curves of one variable."""
    for result in results:
        if not isinstance(result, EstimandResults):
            raise OptionError(
                "`results` must hold results of an estimand such as res.pfi(), not "
                f"{type(result).__name__}."
            )
        first, terms = results[0].estimand, result.estimand.terms
        what = result.estimand.description
        if len(terms.axes) > 1:
            raise OptionError(
                "`results` must have one value per feature or be curves, which have room in one "
                f"picture; {what} is a surface. Use its `plot()`."
            )
        panels, others = (terms.facet, terms.groups), (first.terms.facet, first.terms.groups)
        if terms.axis_names != first.terms.axis_names or panels != others:
            raise OptionError(
                "`results` must all have one value per feature, or all be curves of the same "
                "variable, and have the same classes or groups of rows, a panel each: "
                f"{first.description} and {what} are not alike."
            )


def _with_names(
    results: Any, model_names: Sequence[str] | None
) -> tuple[list[Any], Sequence[str] | None]:
    """Return one result, several, or the results of a mapping with its names."""
    if isinstance(results, Mapping):
        if model_names is not None:
            raise OptionError("`model_names` are the names in the mapping `results`; leave it out.")
        results, model_names = list(results.values()), [str(name) for name in results]
    several = list(results) if is_list(results) else [results]
    if not several:
        raise OptionError("`results` must hold at least one result.")
    return several, model_names


def _check_columns(results: Sequence[EstimandResults]) -> None:
    """Raise `InferenceError` if lines of results would be of several columns."""
    for other in results[1:]:
        other_columns(results[0], other)


def other_columns(one: EstimandResults, other: EstimandResults) -> list[str]:
    """Return the variables that order the same rows otherwise in two results of terms.

    Raises
    ------
    InferenceError
        If a variable has another name in the other, as columns of arrays in another order have.
    """
    a, b = one.data, other.data
    if one.context.resamples != other.context.resamples or one.estimand.parameter.better:
        return []
    same = {name for name in a if name in b and a[name].equals(b[name])}
    here, there = ({n: _order_of(of[n]) for n in of if n not in same} for of in (a, b))
    apart = [str(n) for n in here if n in there and here[n] != there[n]]
    for name, second in ((m, n) for m in here for n in there if m in apart or n in apart):
        if here[name] == there[second]:
            raise InferenceError(
                "Terms are paired by name, columns of arrays by position, but "
                f"`{name}` of one result has the values of `{second}` of another: give both the "
                "columns in one order, or a data frame, whose columns go by name."
            )
    return apart


def _order_of(column: pd.Series[Any]) -> int:
    """Return a hash of how a column orders rows, or divides them: the same in all units."""
    if not is_numeric_dtype(column):
        return hash(pd.factorize(column)[0].tobytes())
    return hash(column.rank().to_numpy(np.float64, na_value=np.nan).tobytes())


def learner_names(
    learners: list[str], names: Sequence[str] | None, measures: Sequence[str] | None = None
) -> list[str]:
    """Return the names of learners: the user's, or the estimators', numbered if they repeat.

    A name may repeat for another of the `measures`, which are one per learner.
    """
    by = np.zeros(len(learners)) if measures is None else np.array(measures)
    if names is None:
        usual = pd.Series([short(name, WIDEST) for name in learners])
        groups = usual.groupby(by)
        repeats = groups.transform("nunique") < groups.transform("size")
        numbers = (groups.cumcount() + 1).astype(str)
        return usual.where(~repeats, usual + " (" + numbers + ")").tolist()
    labels = list(names) if is_list(names) else []
    if len(labels) != len(learners) or not all(isinstance(n, str) and n.strip() for n in labels):
        raise OptionError(
            f"There must be {len(learners)} names, a list of strings that are not empty; got "
            f"{quote(names)}."
        )
    if len(set(zip(labels, by, strict=True))) < len(labels):
        raise OptionError(f"Names must be different, which {quote(labels)} are not.")
    return labels
