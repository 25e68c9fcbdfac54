"""The analysis behind results: data, learner, refits, and how well rows are predicted."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, Literal

import numpy as np

from pyinterp import __version__
from pyinterp._typing import IntArray
from pyinterp.models.specification import choices
from pyinterp.representation import about, frozen
from pyinterp.resampling import is_half
from pyinterp.resampling.refits import Refit, estimating
from pyinterp.whatif import Engine

# As titles say them.
LEVELS = {"learner": "learner", "model": "one fitted model", "population": "population"}
PACKAGES = ("numpy", "pandas", "scikit-learn", "statsmodels", "patsy")


NOTHING = "one {} predicts better. The table describes a learner that found nothing{}."
OR_OTHER = ", or that predicts something else than the response column (signed times)"


@frozen
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
    verdict : str
        What an explained share below 0 says of the learner.
    """

    name: str
    loss: float
    bse: float
    share_name: str
    explained_share: float
    kind: str = "Loss"
    verdict: str = NOTHING.format("constant", "")

    @property
    def share_text(self) -> str:
        """The explained share as tables print it, empty if there is none."""
        share = self.explained_share
        if not self.share_name or not np.isfinite(share):
            return ""
        return f"{share:.3f}" if share > -1000 else f"{share:.3g}"


@frozen
class Context:
    """The analysis behind a result.

    Attributes
    ----------
    level : {"learner", "model", "population"}
        Whether estimates are means over refits, of one fitted model, or of nature.
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
        Column and type of weights, and their effective or distinct rows; empty without weights.
    clusters : str
        Column and number of clusters; empty without clusters.
    n_clusters : int
        Number of clusters; 0 without clusters.
    offset : str
        Column of the offset or exposure; empty without one.
    groups : str
        Groups of rows that have separate estimates, with their numbers of rows.
    plan : str
        Resampling plan; for one model, where its evaluation rows come from.
    study_name : str
        Name under which published simulations studied the plan; empty if they did not.
    where : {"out of sample", "later rows", "partly in sample", "in sample", "evaluation rows"}
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
    folder : str
        How many refits a folder had from an earlier call, and whether one that was made again
        proved them; empty if none.
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
    choices : str
        What searches inside the learner chose, and in how many refits; empty for none.
    """

    level: Literal["learner", "model", "population"]
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
    n_clusters: int = 0
    offset: str = ""
    groups: str = ""
    subgroup: str = ""
    folder: str = ""
    plan_note: str = ""
    missing_note: str = ""
    formula: str = ""
    specification: str = ""
    family: str = ""
    choices: str = ""

    __repr__ = about


def context_of(refits: Sequence[Refit], **words: Any) -> Context:
    """Describe an analysis: counts of its refits, and the words of other fields."""
    for_estimate = estimating(refits)
    return Context(
        refits=len(for_estimate),
        pairs=len([r for r in refits if is_half(r.group)]) // 2,
        n_train=float(np.mean([r.n_train for r in for_estimate])),
        n_evaluation=float(np.mean([r.evaluation.n_units for r in for_estimate])),
        engine=Engine(""),
        date=datetime.date.today().strftime("%a, %d %b %Y"),
        resamples=fingerprints(refits),
        versions=versions_of_packages(),
        choices=choices([r.predictor.estimator for r in refits]),
        **words,
    )


def facts_of_clusters(cluster: object, labels: IntArray | None) -> dict[str, Any]:
    """Return the attributes of a `Context` that describe the clusters of rows."""
    if labels is None:
        return {}
    count = len(np.unique(labels))
    words = f"{cluster} ({count})" if isinstance(cluster, str) else str(count)
    return {"clusters": words, "n_clusters": count}


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
def versions_of_packages() -> tuple[tuple[str, str], ...]:
    """Return names and versions of the packages behind the numbers."""
    versions = [("pyinterp-stats", __version__)]  # of a source tree that is not installed too
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append((name, importlib.metadata.version(name)))
    return tuple(versions)
