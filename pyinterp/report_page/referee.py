"""A page that answers the questions of a referee for one analysis, from what it measured."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from itertools import pairwise
from os import PathLike
from string import Formatter
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from pyinterp.errors import InferenceError, OptionError, PyinterpError, list_of, quote
from pyinterp.inference.half_sample.constants import LARGEST_SKEWNESS
from pyinterp.inference.half_sample.variance import variance_parts
from pyinterp.inference.replicates import covariance
from pyinterp.learner.interpretable import Interpretable
from pyinterp.report_page.page import html_table, resource, section, write_page
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
    features are measured if they were not.

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
        raise OptionError(
            "`referee` is of `Learner.fit` with several refits, whose spread answers, not of "
            f"{quote(res)}."
        )
    if path is not None:
        target_of(path)  # an error before the work
    pfi, why = res.pfi(features, p_adjust="holm"), ""
    if pfi.pvalues.isna().all():
        raise InferenceError(f"`referee` needs P of importances: {pfi.variance.reason or 'none'}.")
    squared = pfi.fit is not None and pfi.fit.name == "squared error"
    several = ["pfi", "cvim" if squared else "conditional_pfi"]
    try:
        table: TableOfEstimands = res.importance(several, features, p_adjust="holm")
    except PyinterpError as error:
        table, why = pfi, str(error)
    facts = _facts(res, pfi, table.parts[-1], why) | _order(pfi)
    said = {
        words.pop("question"): " ".join(
            text.format(**facts)
            for key, text in words.items()
            if _is_said(key.removeprefix("unless_"), text, facts) is not key.startswith("unless_")
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


def _is_said(key: str, text: str, facts: Mapping[str, Any]) -> bool:
    """Whether all is there that fills a sentence, or what it is called by."""
    fields = [name for _, name, *_ in Formatter().parse(text) if name]
    return all(facts[name] != "" for name in fields) and facts.get(key) != ""


def _facts(
    res: Interpretable, pfi: EstimandResults, given: EstimandResults, why: str
) -> dict[str, Any]:
    """Return what fills the sentences of ``referee.toml``; empty texts leave theirs out."""
    context, fit, used, harm = pfi.context, pfi.fit, *_in_use(pfi)
    top = str(pfi.params.idxmax())
    own, limits = float(pfi.params[top]), pfi.inference.interval(LEVEL)[pfi.params.argmax()]
    rows = np.sort(pfi.row_frame()[top].to_numpy())
    few = max(round(len(rows) / 100), 1)
    both = used & (given.pvalues < LEVEL)
    tied = used & False if given.diagnostic is None else given.diagnostic.params > TIED
    chosen = {"used": used} if why else {"both": both, "marginal": used & ~both}
    chosen |= {"unused": ~used & ~harm, "harm": harm, "tied": tied}
    chosen["skewed"] = pfi.row_warnings["skewness"] > LARGEST_SKEWNESS
    square, frequency = pfi.variance.varies_as_square, "frequency" in context.weighting
    share = "" if fit is None else f"{fit.share_name} = {fit.share_text} {context.where}"
    return {
        **dict.fromkeys(("both", "used", "marginal"), ""),
        **{name: list_of(pfi.params.index[where], most=20) for name, where in chosen.items()},
        **vars(context),
        "poor": share if fit is not None and fit.explained_share <= 0 else "",
        "why": why,
        "loss": "" if fit is None else fit.name,
        "square": f"{top}, {own:.4g} [{limits[0]:.4g}, {limits[1]:.4g}], reaches "
        f"{own - limits[0]:.4g} down and {limits[1] - own:.4g} up" if square else "",
        "plain": "" if square else pfi.variance.label,
        "null": f"{pfi.null:g}",
        "count": len(used),
        "raw": int((replace(pfi, p_adjust=None).pvalues < LEVEL).sum()),
        "holm": int((used | harm).sum()),
        "few": few,
        "rows": len(rows),
        "top": top,
        "less": f"{1 - rows[:-few].mean() / rows.mean():.0%}",
        "notes": res.analysis.facts.plan_note,
        "sampling": "" if frequency else context.weighting,
        "frequency": context.weighting if frequency else "",
        "model": ", ".join(
            filter(None, (context.specification or context.learner, context.formula))
        ),
        "fits": len(res.analysis.refits),
        "versions": ", ".join(f"{name} {number}" for name, number in context.versions),
    }  # fmt: skip


def _in_use(pfi: EstimandResults) -> tuple[pd.Series[bool], pd.Series[bool]]:
    """Return which features are shown to be used, and which to do harm."""
    differs, above = pfi.pvalues < LEVEL, pfi.params > (pfi.null or 0.0)
    return differs & above, differs & ~above


def _order(pfi: EstimandResults) -> dict[str, str]:
    """Return what refits say of the order under another seed, and with half of the pairs."""
    order, replicates, swaps = np.argsort(-pfi.params.to_numpy(), kind="stable"), pfi.replicates, []
    order = order[_in_use(pfi)[0].to_numpy()[order]]
    by_refits = covariance(replicates.per_refit) / replicates.number
    if pfi.context.pairs:
        by_refits = variance_parts(replicates).by_refits
    names, values = pfi.exog_names, pfi.inference.estimate
    for j, k in pairwise(order):
        b = by_refits[j, j] + by_refits[k, k] - 2 * by_refits[j, k]
        p = stats.norm.sf((values[j] - values[k]) / np.sqrt(2 * b)) if b > 0 else 0.0
        swaps += [f"{names[j]} and {names[k]} (probability {p:.2f})"] if p >= LEVEL else []
    own = pfi.variance.bse_error is not None and pfi.context.refits != 2 * pfi.context.pairs
    errors = pfi.summary_frame().iloc[pfi.params.argmax()]
    now = float(errors["std_error_mcse"] / errors["std_error"])
    return {
        "order": list_of([names[j] for j in order], most=20) if len(order) > 1 else "",
        "swaps": "; ".join(swaps),
        "kept": "" if swaps or len(order) < 2 else f"{LEVEL:.0%}",
        "half": f"{now * np.sqrt(2):.0%}" if own else "",
        "now": f"{now:.0%}",
    }
