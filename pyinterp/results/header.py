"""The analysis behind results, and the headers of tables that say it."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from pyinterp._typing import IntArray
from pyinterp.errors import short
from pyinterp.inference.digits import number_format
from pyinterp.representation import about
from pyinterp.resampling.refits import Refit, estimating
from pyinterp.whatif import Engine

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["Context", "GoodnessOfFit", "clusters_in_words", "context_of", "fingerprints"]

PACKAGES = ("pyinterp-stats", "numpy", "pandas", "scikit-learn", "statsmodels", "patsy")


Fact: TypeAlias = tuple[str, str]
LONGEST_FORMULA = 100
LONG = 22  # characters of a value from which on it has a line of its own
ALONE = ["Formula:", "Learner:", "Weights:", "Clusters:", "Offset:"]
ALONE += ["Groups, rows:", "Subgroup, rows:"]
GAP = "  "


@dataclass(frozen=True, kw_only=True)
class GoodnessOfFit:
    """How well the evaluation rows are predicted.

    Attributes
    ----------
    name : str
        Name of the loss.
    loss, bse : float
        Mean loss and its standard error (missing where it is not defined).
    share_name : str
        "R²" for squared loss, "D²" for others; empty if the loss has no best constant.
    explained_share : float
    kind : str
        What tables call the number: "Loss" or "Metric".
    """

    name: str
    loss: float
    bse: float
    share_name: str
    explained_share: float
    kind: str = "Loss"

    @property
    def share_text(self) -> str:
        """The explained share as tables print it, empty if there is none."""
        share = self.explained_share
        if not self.share_name or not np.isfinite(share):
            return ""
        return f"{share:.3f}" if share > -1000 else f"{share:.3g}"


@dataclass(frozen=True, kw_only=True)
class Context:
    """The analysis behind a result.

    Attributes
    ----------
    level : {"learner", "model"}
        Whether estimates are means over refits or of one fitted model.
    endog_name : str
        Name of the response; empty if there is none.
    learner : str
        Name of the estimator.
    nobs : int
        Rows analyzed.
    dropped_rows : int
        Rows left out because of missing values.
    missing_note : str
        Footnote on rows with missing values, left out or kept; empty if there are none.
    weighting : str
        Column and type of weights, and what they make of the rows; empty without weights.
    clusters : str
        Column and number of clusters; empty without clusters.
    offset : str
        Column of the offset or exposure; empty without one.
    groups : str
        Groups of rows that have estimates of their own, with their numbers of rows.
    plan : str
        Resampling plan; for one model, where its evaluation rows come from.
    study_name : str
        Name under which published simulations studied the plan; empty if they did not.
    where : {"out of sample", "partly in sample", "in sample", "evaluation rows"}
        Whether the evaluation rows trained the models too.
    refits : int
        Refits whose mean is the estimate.
    pairs : int
        Pairs of refits on complementary halves.
    failed_refits : int
        Refits that failed.
    unit : {"rows", "clusters"}
        What is resampled.
    n_train, n_evaluation : float
        Mean number of distinct rows (or clusters) that train and evaluate a refit.
    engine : Engine
        What computed the predictions.
    seed : int, str or None
        All seeds of results that are compared, as text.
    date : str
    resamples : tuple
        Hashes of every refit's rows: two results can be paired only if these are equal.
    subgroup : str
        Number and name of the rows that evaluate, if they are a subgroup; empty if they are all.
    plan_note : str
        Footnote on the plan; empty if there is none.
    versions : tuple of (str, str)
        Versions of the packages behind the numbers.
    formula : str
        Formula of the learner; empty without one.
    specification : str
        The estimator with its settings; empty where `learner` says it all.
    family : str
        Kind of learner, as studies of coverage name it; empty for others.
    """

    level: Literal["learner", "model"]
    endog_name: str
    learner: str
    nobs: int
    dropped_rows: int
    plan: str
    where: str
    refits: int
    pairs: int
    failed_refits: int
    n_train: float
    n_evaluation: float
    engine: Engine
    seed: int | str | None
    date: str
    resamples: tuple[bytes, ...]
    versions: tuple[tuple[str, str], ...]
    study_name: str = ""
    unit: str = "rows"
    weighting: str = ""
    clusters: str = ""
    offset: str = ""
    groups: str = ""
    subgroup: str = ""
    plan_note: str = ""
    missing_note: str = ""
    formula: str = ""
    specification: str = ""
    family: str = ""

    def __repr__(self) -> str:
        return about(self, self.learner, self.plan, f"{self.nobs} rows")


def context_of(refits: Sequence[Refit], **words: Any) -> Context:
    """Describe an analysis: what is counted in its refits, and the words of other fields."""
    for_estimate = estimating(refits)
    return Context(
        refits=len(for_estimate),
        pairs=sum(r.group is not None and r.group.kind == "pair" for r in refits) // 2,
        n_train=float(np.mean([r.n_train for r in for_estimate])),
        n_evaluation=float(np.mean([r.n_evaluation for r in for_estimate])),
        engine=Engine(""),
        date=datetime.date.today().strftime("%a, %d %b %Y"),
        resamples=fingerprints(refits),
        versions=_versions(),
        **words,
    )


def clusters_in_words(cluster: object, labels: IntArray | None) -> str:
    """Return column and number of the clusters of rows; empty without clusters."""
    if labels is None:
        return ""
    count = str(len(np.unique(labels)))
    return f"{cluster} ({count})" if isinstance(cluster, str) else count


def fingerprints(refits: Sequence[Refit]) -> tuple[bytes, ...]:
    """Return a hash of every refit's rows."""
    hashes = []
    for refit in refits:
        digest, rows = blake2b(digest_size=16), refit.evaluation
        for part in (refit.train_rows, rows.rows, rows.y, rows.weights):
            if part is not None:
                digest.update(np.ascontiguousarray(part).tobytes())
        hashes.append(digest.digest())
    return tuple(hashes)


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    versions = []
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append((name, importlib.metadata.version(name)))
    return tuple(versions)


def facts_of(results: EstimandResults, estimand: str, *, date: bool) -> list[Fact]:
    """Return names and values of a table's header.

    Parameters
    ----------
    results : EstimandResults
    estimand : str
        What the table is of.
    date : bool
        Whether with the date. What no seed and no refit can change has neither.
    """
    context, fit = results.context, results.fit
    dropped = f" ({context.dropped_rows} dropped)" if context.dropped_rows else ""
    refits = str(context.refits)
    if context.pairs:
        apart = context.refits != 2 * context.pairs
        pairs = f"{context.pairs} pairs"
        refits = f"{context.refits}, and {pairs}" if apart else pairs
    if context.failed_refits:
        refits += f" ({context.failed_refits} failed)"
    facts = [
        ("Dep. variable:", context.endog_name),
        ("Estimand:", estimand),
        ("Formula:", short(context.formula, LONGEST_FORMULA)),
        ("Learner:", context.specification or context.learner),
        ("Groups, rows:", context.groups),
        ("Subgroup, rows:", context.subgroup),
        ("No. observations:", f"{context.nobs}{dropped}"),
        ("Weights:", context.weighting),
        ("Clusters:", context.clusters),
        ("Offset:", context.offset),
        ("Resampling:", context.plan),
    ]
    if context.n_train > 0:
        sizes = f"{context.n_train:.0f} / {context.n_evaluation:.0f}"
        facts += [("No. refits:", refits), (f"Train / evaluation {context.unit}:", sizes)]
    if fit is not None:
        number = number_format(np.array([fit.loss]), np.array([fit.bse]))
        spread = f" (s.e. {number % fit.bse})" if fit.bse > 0 else ""
        facts += [
            (f"{fit.kind}:", fit.name),
            (f"{fit.kind}, {context.where}:", f"{number % fit.loss}{spread}"),
            (f"{fit.share_name}, {context.where}:", fit.share_text),
        ]
    facts += [
        ("Df:", f"{results.df_resid:g}" if results.use_t else ""),
        ("Cov. type:", results.variance.label),
        ("Intervals for:", "" if results.has_test else "new rows only"),
        ("Engine:", context.engine.name),
    ]
    # Nothing was drawn: one model that was fitted elsewhere, and no draws of values.
    elsewhere = context.level == "model" and context.where == "evaluation rows"
    exact = bool(results.estimand.words.exact) and results.diagnostic is None
    if not (elsewhere and exact and not (results.mcse > 0).any()):
        facts.append(("Seed:", "none" if context.seed is None else str(context.seed)))
        facts += [("Date:", context.date)] if date else []
    return [(name, value) for name, value in facts if value]


def header_rows(facts: Sequence[Fact], legend: Sequence[Fact]) -> list[tuple[Fact, ...]]:
    """Return the rows of a header: two short facts each, or one that is long or explains."""
    rows: list[tuple[Fact, ...]] = []
    room = False  # beside the last fact
    for fact in facts:
        long = fact[0] in ALONE or len(fact[1]) > LONG
        if room and not long:
            rows[-1] = (*rows[-1], fact)
        else:
            rows.append((fact,))
        room = not (room or long)
    return [*rows, *((fact,) for fact in legend)]


class _Settings(textwrap.TextWrapper):
    """Breaks lines at spaces, and after parentheses, as learners with their settings have."""

    wordsep_simple_re = re.compile(r"(\s+|(?<=\())")


def header_lines(
    facts: Sequence[Fact], legend: Sequence[Fact], width: int
) -> tuple[list[str], int]:
    """Return the header as lines of text, and how wide it is: at least `width` characters."""
    rows = header_rows(facts, legend)
    name = max((len(row[0][0]) for row in rows), default=0)
    pairs = [map(len, one + two) for one, two in (row for row in rows if len(row) == 2)]
    _, value, other, last = map(max, zip((0, 0, 0, 0), *pairs, strict=True))
    width = max(width, name + value + other + last + 2 + len(GAP))
    value += max(0, (width - name - value - other - last - 2 - len(GAP)) // 2)
    lines: list[str] = []
    for row in rows:
        if len(row) == 2:
            (one, text), (two, more) = row
            lines.append(f"{one:<{name}} {text:<{value}}{GAP}{two:<{other}} {more}")
            continue
        ((one, text),) = row
        lines_of = _Settings if one == "Learner:" else textwrap.TextWrapper
        wrapper = lines_of(width - name - 1, break_long_words=False, break_on_hyphens=False)
        first, *others = wrapper.wrap(text) or [""]
        lines += [f"{one:<{name}} {first}", *(f"{'':<{name}} {other}" for other in others)]
    return lines, width
