"""A page that answers the questions of a referee for one analysis, from what it measured."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from html import escape
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from pyinterp.errors import InferenceError, OptionError, PyinterpError, list_of, quote
from pyinterp.estimands.population import of_population
from pyinterp.estimands.requests import key_of
from pyinterp.inference.half_sample.constants import LARGEST_SKEWNESS
from pyinterp.inference.half_sample.variance import variance_parts
from pyinterp.inference.replicates import covariance
from pyinterp.learner.interpretable import Interpretable
from pyinterp.report_page.page import html_table, resource, section, write_page
from pyinterp.results.footnotes import coverage_note
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import TableOfEstimands
from pyinterp.storage.files import target_of

LEVEL, TIED = 0.05, 0.8
WIDTH = 100


def referee(
    res: Interpretable,
    path: str | PathLike[str] | None = None,
    *,
    features: str | Sequence[str] | None = None,
) -> str:
    r"""Answer ten questions of a referee for this analysis, from what it measured.

    Relevant or only correlated, why intervals are not symmetric, what P tests, how many rows
    decide, whether another seed would change the order, time order, clusters, weights, missing
    values, software. No model is trained for it: permutation importances and those given the other
    features are measured if they were not; P relevant of `population` is told if it was.

    Parameters
    ----------
    res : LearnerResults
        Of `Learner.fit`, with several refits and a response.
    path : path, optional
        An HTML page to write, such as "referee.html". An existing one is replaced.
    features : str or sequence of str, optional
        Features to ask about; by default all.

    Returns
    -------
    str
        The page as text.

    Raises
    ------
    OptionError
        If `res` is no such fit, or no file can have this path.
    InferenceError
        If the fit has no tests of importances.

    Notes
    -----
    Another seed draws other refits, of which the estimates have the covariance B. For two
    features whose importances differ by d, with the variance :math:`b = B_{11} + B_{22} - 2
    B_{12}` of d, it swaps them with probability :math:`\Phi(-d / \sqrt{2 b})`.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> text = pi.referee(learner.fit(seed=1))
    >>> "7. Do rows belong together?" in text
    True
    """
    if not isinstance(res, Interpretable) or res.analysis.context.level != "learner":
        raise OptionError(f"`referee` is of a fit with several refits, not of {quote(res)}.")
    if path is not None:
        target_of(path)  # an error before the work
    pfi, why = res.pfi(features, p_adjust="holm"), ""
    if pfi.pvalues.isna().all():
        raise InferenceError(f"`referee` needs P: {pfi.variance.reason or 'importances are 0'}.")
    squared = pfi.fit is not None and pfi.fit.name == "squared error"
    several = ["pfi", "cvim" if squared else "conditional_pfi"]
    try:
        table: TableOfEstimands = res.importance(several, features, p_adjust="holm")
    except PyinterpError as error:
        table, why = pfi, str(error)
    facts = _facts(pfi, table.parts[-1], why) | {"notes": res.analysis.facts.plan_note}
    facts |= {"relevant": "", "cost": ""} | _in_nature(res, features)
    said = {
        words.pop("question"): " ".join(
            text.format(**facts, fits=len(res.analysis.refits))
            for key, text in words.items()
            if bool(facts.get(key.removeprefix("unless_"), True)) is not key.startswith("unless_")
        )
        for words in tomllib.loads(resource("referee.toml")).values()
    }
    if path is not None:
        parts = [section(question, f"<p>{escape(text)}</p>") for question, text in said.items()]
        parts.insert(1, html_table(table, LEVEL))
        write_page(path, f"For the referee: {pfi.endog_names}", parts, pfi.context)
    fill = partial(textwrap.fill, width=WIDTH, initial_indent="   ", subsequent_indent="   ")
    blocks = [f"{k}. {q}\n{fill(said[q])}" for k, q in enumerate(said, 1)]
    return "\n".join([str(table.summary(notes="none")), *blocks])


def _facts(pfi: EstimandResults, given: EstimandResults, why: str) -> dict[str, Any]:
    """Return what ``referee.toml`` tells; nothing leaves a sentence of its name out."""
    context, fit, differs = pfi.context, pfi.fit, pfi.pvalues < LEVEL
    used = differs & (pfi.params > (pfi.null or 0.0))
    both, top, at = used & (given.pvalues < LEVEL), str(pfi.params.idxmax()), pfi.params.argmax()
    tied = none = used & False
    if given.diagnostic is not None:
        tied = given.diagnostic.params > TIED
    chosen = {"used": used if why else none, "both": none if why else both,
              "marginal": none if why else used & ~both,
              "unused": ~differs, "harm": differs & ~used, "tied": tied,
              "skewed": pfi.row_warnings["skewness"] > LARGEST_SKEWNESS}  # fmt: skip
    own, (low, high) = float(pfi.params[top]), pfi.inference.interval(LEVEL)[at]
    alone = replace(pfi, p_adjust=None)  # as intervals are
    rows, square = np.sort(pfi.row_frame()[top].to_numpy()), pfi.variance.varies_as_square
    few, frequency = max(round(len(rows) / 100), 1), "frequency" in context.weighting
    poor = fit is not None and fit.explained_share <= 0
    reach = f"[{low:.4g}, {high:.4g}], reaches {own - low:.4g} down and {high - own:.4g} up"
    names = context.specification or context.learner, context.formula
    return {
        **vars(context),
        **{name: list_of(pfi.params.index[where], most=20) for name, where in chosen.items()},
        **_order(pfi, used.to_numpy()),
        "poor": f"{fit.share_name} = {fit.share_text} {context.where}" if fit and poor else "",
        "why": why, "loss": fit.name if fit else "", "top": top, "null": f"{pfi.null:g}",
        "square": reach if square else "", "simulated": coverage_note(alone),
        "plain": "" if square else reach, "own": own, "label": pfi.variance.label,
        "many": len(used) > 1, "count": len(used),
        "holm": int(differs.sum()), "raw": int((alone.pvalues < LEVEL).sum()),
        "few": few, "rows": len(rows),
        "less": f"{1 - rows[:-few].mean() / rows.mean():.0%}" if used[top] else "",
        "sampling": "" if frequency else context.weighting,
        "frequency": context.weighting if frequency else "",
        "model": ", ".join(filter(None, names)),
        "versions": ", ".join(f"{name} {number}" for name, number in context.versions),
    }  # fmt: skip


def _in_nature(res: Interpretable, features: str | Sequence[str] | None) -> dict[str, str]:
    """Return features whose P relevant is small, if `population` was asked, or what it costs."""
    try:
        analysis, problem = res.analysis.cross_fits, res.analysis.problem
        for default in (False, True):
            asked = of_population(problem, features, read="relevance", default=default)
            if key_of(asked) in analysis.tallies:
                p = res.estimate(asked, p_adjust="holm").pvalues
                return {"relevant": list_of(p.index[p < LEVEL], most=20) or "no feature"}
        return {"cost": str(2 * len(analysis.refits) * len(problem.choose(features)))}
    except PyinterpError:  # a plan or a learner that has none
        return {}


def _order(pfi: EstimandResults, used: npt.NDArray[np.bool_]) -> dict[str, str]:
    """Return what refits say of the order under another seed, and with half of the pairs."""
    replicates, names, values = pfi.replicates, pfi.exog_names, pfi.inference.estimate
    order = [k for k in np.argsort(-values, kind="stable") if used[k]]
    by_refits = covariance(replicates.per_refit) / replicates.number
    if pfi.context.pairs:
        by_refits = variance_parts(replicates).by_refits
    swaps = []
    for j, k in pairwise(order):
        b = by_refits[j, j] + by_refits[k, k] - 2 * by_refits[j, k]
        p = stats.norm.sf((values[j] - values[k]) / np.sqrt(2 * b)) if b > 0 else 0.0
        swaps += [f"{names[j]} and {names[k]} (probability {p:.2f})"] if p >= LEVEL else []
    errors, several = pfi.summary_frame().iloc[pfi.params.argmax()], len(order) > 1
    now = float(errors["std_error_mcse"] / errors["std_error"])
    own = pfi.context.pairs and pfi.context.refits != 2 * pfi.context.pairs
    return {
        "order": list_of([names[j] for j in order], most=20) if several else "",
        "swaps": "; ".join(swaps),
        "kept": f"{LEVEL:.0%}" if several and not swaps else "",
        "half": f"{now * np.sqrt(2):.0%}" if own else "",
        "now": f"{now:.0%}",
    }
