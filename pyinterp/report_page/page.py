"""A page on one analysis: its loss, importances, effects, methods and references."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from pyinterp._typing import FilePath
from pyinterp.checks import check_alpha, check_count, check_text
from pyinterp.data.features import Names, names_of
from pyinterp.errors import OptionError, quote
from pyinterp.learner.interpretable import Interpretable
from pyinterp.report_page.citations import as_text, papers_of
from pyinterp.results.header import Context
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import TableOfEstimands
from pyinterp.storage.files import target_of, whole_file

Tables = Mapping[str, Sequence[EstimandResults]]

DPI = 192  # twice as many as screens have
WIDTH = 7.0  # of pictures, in inches
ROW = 0.28  # of one feature
CURVE = 3.2
MOST_INTERACTING = 4  # features among which pairs are asked


def report(
    res: Interpretable,
    path: FilePath,
    *,
    title: str | None = None,
    features: Names | None = None,
    top: int = 6,
    alpha: float = 0.05,
) -> Path:
    """Write one page on an analysis, as an HTML file that needs no others.

    The page has the loss, permutation importances, partial dependences with bands, a paragraph on
    methods, references and versions. It has interactions if an exact engine makes them cheap.
    Without a response, importances are the flatness of partial dependence (FIRM).

    Parameters
    ----------
    res : LearnerResults or FittedModel
        The analysis: the result of `Learner.fit`, or a `FittedModel`.
    path : path
        File to write, such as "wine.html". An existing one is replaced.
    title : str, optional
        Title of the page; by default the response and the learner.
    features : str or sequence of str, optional
        Variables whose partial dependence is shown; by default the `top` most important ones.
    top : int
        Number of variables, if `features` does not name them.
    alpha : float
        Significance level of intervals.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    OptionError
        If `res` is not such a result, no file can have this path, or an option does not suit it.
    OSError
        If the file can't be written.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1)
    >>> pi.report(res, "report.html", features="bmi").name
    'report.html'
    """
    if not isinstance(res, Interpretable):
        raise OptionError(
            "`report` is of the results of `Learner.fit`, or of a `FittedModel`, not of "
            f"{quote(res)}."
        )
    check_alpha(alpha)
    check_count("top", top)
    if title is not None:
        check_text("title", title)
    target_of(path)  # an error before the work
    with_response = res.analysis.problem.sample.y is not None
    importance = res.pfi() if with_response else res.firm()
    order = [*map(str, importance.params.sort_values(ascending=False, kind="stable").index)]
    groups = res.analysis.problem.features
    single = [name for name in order if groups.get(name) == (name,)]  # a group has no curve
    shown = single[:top] if features is None else names_of(features)
    curves, pairs = [res.pd(name) for name in shown], []
    if len(order) > 1 and importance.engine.name.endswith("exact"):
        pairs = [res.h_statistic(order[:MOST_INTERACTING], order="pairwise")]
    asked = {"pfi" if with_response else "firm": [importance], "pd": curves, "h": pairs}
    rests_on = {key for several in asked.values() for one in several for key in papers_of(one)}
    papers = "\n".join(f"<li>{escape(text)}</li>" for text in sorted(map(as_text, rests_on)))
    parts = [
        _section("Importance of features", *_bars(importance, alpha)),
        _section("Partial dependence", *_curves(curves, alpha)),
        *(_section("Interactions", *_bars(pair, alpha)) for pair in pairs),
        _section("Methods", f"<p>{escape(_methods(asked))}</p>"),
        _section("References", f"<ul>{papers}</ul>"),
    ]
    if with_response:
        loss = _html_table(res.loss(), alpha, header=True)
        parts.insert(0, _section("Analysis and expected loss", loss))
    context = importance.context
    heading = title or f"{context.endog_name or 'Model'}: {context.learner}"
    versions = ", ".join(f"{name} {number}" for name, number in context.versions)
    frame = files("pyinterp.report_page").joinpath("page.html").read_text("utf-8")
    page = Template(frame).substitute(
        title=escape(heading),
        body="\n".join(parts),
        footer=escape(f"{context.date}. Made with {versions}."),
    )
    with whole_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return Path(path)


def _section(heading: str, *parts: str) -> str:
    """Return parts of a page under a heading."""
    return "\n".join([f"<h2>{escape(heading)}</h2>", *parts])


def _bars(results: EstimandResults, alpha: float) -> list[str]:
    """Return the picture of one value per feature, as high as it has rows, and its table."""
    height = 1.4 + ROW * len(results.params)
    picture = _picture(results, results.plot(alpha), height)
    return [picture, _html_table(results, alpha)]


def _curves(several: Sequence[EstimandResults], alpha: float) -> Iterator[str]:
    """Yield pictures of curves with one axis, and tables, which a click on their label opens."""
    from pyinterp.results.plots.curves import on_one_axis  # noqa: PLC0415 - of plotnine

    plots = [results.plot(alpha) for results in several]
    plots = on_one_axis(plots, several, alpha=alpha) if plots else []
    for results, plot in zip(several, plots, strict=True):
        label, table = f"Table of {results.estimand.description}", _html_table(results, alpha)
        details = f"<details><summary>{escape(label)}</summary>\n{table}\n</details>"
        yield f"{_picture(results, plot, CURVE)}\n{details}"


def _picture(results: EstimandResults, plot: Any, height: float) -> str:
    """Return a plot as a picture inside the page; in words its caption and first numbers.

    A plot that is higher than usual needs that for its names, and keeps it.
    """
    from plotnine import options, theme  # noqa: PLC0415 - plotnine takes a second to import

    first = [f"{term}: {value:.4g}" for term, value in results.params.head(3).items()]
    texts = (f"{results.estimand.description}. {', '.join(first)}.", plot.labels.caption)
    words = " ".join(" ".join(texts).split())
    high = plot.theme.getp("figure_size")[1]
    height = max(height, high) if high > options.figure_size[1] else height
    drawing, size = io.BytesIO(), theme(figure_size=(WIDTH, height))
    (plot + size).save(drawing, format="png", dpi=DPI, verbose=False)
    data = base64.b64encode(drawing.getvalue()).decode("ascii")
    return (
        f'<figure><img src="data:image/png;base64,{data}" '
        f'alt="{escape(words)}" style="width: {WIDTH:g}in"></figure>'
    )


def _html_table(results: TableOfEstimands, alpha: float, *, header: bool = False) -> str:
    """Return a summary table with its full footnotes."""
    table = results.summary(alpha, notes="full").as_html(header=header)
    return f'<div class="tables" tabindex="0">{table}</div>'


def _methods(asked: Tables) -> str:
    """Return sentences on the data, the learner, its refits, every estimand and the intervals.

    Parameters
    ----------
    asked : mapping of str to list of EstimandResults
        What the page shows; the first has the variance that is described.
    """
    several = [results for some in asked.values() for results in some]
    first, context = several[0], several[0].context
    formula = f", with the formula “{context.formula}”" if context.formula else ""
    learner = f"The learner is {context.specification or context.learner}{formula}."
    sentences = [_data(context), learner, _evaluation(context)]
    words = [results.estimand.words for results in several]
    sentences += dict.fromkeys(f"{word.heading}: {word.meaning}" for word in words)
    if first.bse.gt(0).any():
        sentences.append(first.variance.note)
    sentences.append(f"Predictions of what-if rows: {first.engine.name}.")
    if context.seed is not None:
        sentences.append(f"Seed: {context.seed}.")
    return " ".join(filter(None, sentences))


def _data(context: Context) -> str:
    """Return the sentences on the rows: how many, their weights, and what was left out."""
    what = f"The response {context.endog_name}" if context.endog_name else "A model"
    parts = [f"{what} was analyzed in {context.nobs} observations"]
    if context.weighting:
        parts.append(f", weighted by {context.weighting}")
    if context.dropped_rows:
        parts.append(f"; {context.dropped_rows} others have missing values")
    return " ".join(filter(None, (f"{''.join(parts)}.", context.missing_note)))


def _evaluation(context: Context) -> str:
    """Return how the learner was refitted, and which rows evaluate."""
    if context.level == "model":
        where = {
            "in sample": "the rows that trained it, so that its loss and importances are optimistic"
        }.get(context.where, "rows that it is given, as if they had not trained it")
        return f"One fitted model is interpreted on {where}; intervals do not allow for refits."
    text = (
        f"It was trained {context.refits} times, on {context.n_train:.0f} {context.unit} on "
        f"average, and evaluated on {context.n_evaluation:.0f} ({context.plan}, {context.where})"
    )
    if context.pairs:
        text += (
            f"; {context.pairs} pairs of refits on complementary halves of the data give "
            "standard errors"
        )
    return f"{text}. Estimates are means over refits."
