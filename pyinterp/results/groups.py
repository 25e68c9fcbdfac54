"""Differences between the groups of one result, as linear hypotheses."""

from __future__ import annotations

import numpy as np

from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.estimands.estimand import Terms
from pyinterp.inference.contrasts import Hypotheses

__all__ = ["differences_of"]


def differences_of(terms: Terms, reference: str | None) -> Hypotheses:
    """Return the hypotheses that every group has the values of the reference, term by term."""
    levels = terms.groups
    if not levels:
        raise OptionError(
            "Differences are between groups, and these results have none: ask with `by=`, as in "
            '`pfi(by="sex")`.'
        )
    base = levels[0] if reference is None else reference
    if not isinstance(base, str) or base not in levels:
        raise OptionError(
            f"`reference` must be one of the groups {list_of(levels)}, not {quote(reference)}."
            + did_you_mean(str(reference), levels)
        )
    q = len(terms.names) // len(levels)
    one, at = np.eye(q), levels.index(base)
    weights, names = [], []
    for k, level in enumerate(levels):
        if k != at:
            row = np.zeros((q, len(levels), q))
            row[:, k], row[:, at] = one, -one
            weights.append(row.reshape(q, -1))
            names += [f"{stub} | {level} - {base}" for stub in terms.stubs[:q]]
    matrix = np.concatenate(weights)
    return Hypotheses(
        weights=matrix, target=np.zeros(len(matrix)), names=names, terms=list(terms.names)
    )
