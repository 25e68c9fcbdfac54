"""Levels that evaluation rows of a refit have and its training rows lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.data.design import Design
from pyinterp.data.sample import Sample
from pyinterp.errors import list_of, quote
from pyinterp.resampling.resampling import Resampling

WITHIN = (
    "Subtract the means of its level from each row's response and numbers, and leave the levels "
    "out; or draw within levels, `pi.Bootstrap(15, strata=...)` without `cluster`. See the page "
    '"Firms or persons over years".'
)
# Number of a part, variable, its levels, and how many evaluation rows have them.
Unseen: TypeAlias = list[tuple[int, str, list[Any], int]]


def unseen_among(parts: Mapping[int, Any], design: Design, sample: Sample | None) -> Unseen:
    """Return the unseen levels of every part, or refit, that has some; a missing value is none.

    Levels of a sample that all parts share are coded once.
    """
    every = {} if sample is None else design.categories(sample.variables)
    unseen: Unseen = []
    if sample is not None and not every:
        return unseen

    def levels(some: Sample) -> Mapping[str, pd.Categorical]:
        if sample is None:
            return design.categories(some.variables)
        where = np.searchsorted(sample.rows, some.rows)
        return {name: factor.take(where) for name, factor in every.items()}

    for k, part in parts.items():
        trained = levels(part.train)
        for name, factor in levels(part.evaluation).items():
            new = np.setdiff1d(factor.codes, np.append(trained[name].codes, -1))
            if len(new):
                rows = int(np.isin(factor.codes, new).sum())
                unseen.append((k, name, factor.categories[new].tolist(), rows))
    return unseen


def in_words(unseen: Unseen, plan: Resampling) -> str:
    """Return the levels that are unseen, their refits, and the remedy."""
    every: dict[str, dict[Any, None]] = {}
    for _, name, levels, _ in unseen:
        every.setdefault(name, {}).update(dict.fromkeys(levels))
    named = (f"{list_of(map(quote, new), 40, 1200)} of `{name}`" for name, new in every.items())
    refits = dict.fromkeys(k for k, *_ in unseen)
    strata = "draw within levels (`strata=`), " if plan.stratifies else ""
    remedy = (
        f"Merge rare levels, {strata}code ordered answers as numbers, use `pi.FittedModel` of "
        "least squares for a designed trial, or accept that they are treated as the reference "
        'level, or by trees as none (`unseen_levels="allow"`).'
    )
    if plan.cluster is not None and len(refits) == plan.number:
        remedy = f"Levels lie within clusters, which evaluate as wholes. {WITHIN}"
    return (
        f"Evaluation rows have levels that training rows lack: {' and '.join(named)}, in "
        f"{len(refits)} of {plan.number} refits ({list_of(refits)}). {remedy}"
    )


def allowed_in_words(refits: Sequence[Any], design: Design, sample: Sample | None) -> str:
    """Return how many evaluation rows have levels that training rows lack; "" if none have."""
    rows, total = Counter[str](), sum(refit.evaluation.nobs for refit in refits)
    for _, name, _, count in unseen_among(dict(enumerate(refits)), design, sample):
        rows[name] += count
    return " ".join(
        f"{count:,} of {total:,} evaluation rows of all refits have a level of {name} that "
        "training rows lack, and the effect of the reference level, or of none if every level has "
        "a column."
        f"{f' {WITHIN}' if count == total else ''}"
        for name, count in rows.items()
    )
