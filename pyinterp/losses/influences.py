"""Whether influences of rows on a metric add up, as those of smooth functions do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pyinterp._typing import FloatArray, IntArray

__all__ = ["NOT_SMOOTH", "add_up"]

NOT_SMOOTH = "the metric jumps where the weights of rows change a little, as medians do"
# Groups of rows that are left out together, and the multiple of their effects' sum of squares by
# which influences may miss it: below 0.1, rarely up to 1, for smooth functions of 20 rows and more;
# a million for a median of weighted rows. Where rows that are left out have no more than so many
# different effects, as on a median, a quantile or a count, groups must do what is foretold: those
# of a median miss by 0.05 to 5.
GROUPS = 12
DISAGREEMENT, STRICT = 2, 0.02
FEW_EFFECTS = 3
ROUNDING = 1e-9


def add_up(
    influence: FloatArray,
    weights: FloatArray,
    value: float,
    value_of: Callable[[IntArray], float | None],
    *,
    counts: bool,
) -> bool:
    """Return whether leaving out several rows does about what their influences say, over groups.

    Parameters
    ----------
    influence : ndarray of shape (n,)
        With mean 0.
    weights : ndarray of shape (n,)
    value : float
        The metric of all rows.
    value_of : callable
        Returns the metric of some rows, or None if they have none, as rows of one class.
    counts : bool
        Whether a smooth metric may have few different effects of rows, as one of labels.
    """
    n = len(influence)
    size = round(np.sqrt(n))
    if n < 3 * size:
        return True
    order = np.random.default_rng(0).permuted(np.tile(np.arange(n), (GROUPS, 1)), axis=1)
    foretold, change = np.empty(GROUPS), np.empty(GROUPS)
    for k, (out, kept) in enumerate(zip(order[:, :size], order[:, size:], strict=True)):
        foretold[k] = -influence[out].mean() * size / n * weights.sum() / weights[kept].sum()
        rest = value_of(kept)
        change[k] = foretold[k] if rest is None else rest - value
    off, largest = change - foretold, np.abs(influence).max()
    if max(np.abs(change).max(), np.abs(off).max()) <= ROUNDING * max(abs(value), largest):
        return True
    effects = len(np.unique(np.round(influence / largest, 6))) if largest else 1
    share = STRICT if not counts and effects <= FEW_EFFECTS else DISAGREEMENT
    return bool((off @ off) <= share * (change @ change))
