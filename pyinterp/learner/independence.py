"""Comparisons of independent data sets: a check that they are, and headers of all sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from pyinterp.errors import InferenceError
from pyinterp.results.header import Context
from pyinterp.results.results import EstimandResults

# Share of the rows that are common to the same data, where so many rows are distinct.
IN_COMMON, DISTINCT = 0.5, 0.9


def check_independent(one: EstimandResults, other: EstimandResults) -> None:
    """Raise `InferenceError` if two results rest on the same rows of data."""
    same_rows = one.context.resamples == other.context.resamples
    if not same_rows and (not _same_data(one, other) or _fitted_elsewhere(one, other)):
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


def _fitted_elsewhere(one: EstimandResults, other: EstimandResults) -> bool:
    """Whether these are models that were not trained on the rows, and evaluated on others each."""
    if one.context.n_train > 0 or other.context.n_train > 0:
        return False
    nothing = np.empty(0, dtype=np.intp)
    rows, others = (np.concatenate([nothing, *results.rows]) for results in (one, other))
    return not len(np.intersect1d(rows, others))


def context_of_all(contexts: Sequence[Context], labels: Sequence[str]) -> Context:
    """Return the header of differences of independent results; a note has what each rests on."""
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
    """Return in words what one of the results rests on."""
    rows = f"{context.nobs} rows" + (f" ({context.weighting})" if context.weighting else "")
    of = f", subgroup {context.subgroup}" if context.subgroup else ""
    if context.n_train == 0:
        return f"{rows}{of}, seed {context.seed}"
    failed = f", {context.failed_refits} failed" if context.failed_refits else ""
    return (
        f"{rows}{of}, {context.plan} ({context.refits} refits{failed}; {context.n_train:.0f} "
        f"{context.unit} train, {context.n_evaluation:.0f} evaluate), seed {context.seed}"
    )
