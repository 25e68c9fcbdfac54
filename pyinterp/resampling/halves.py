"""Refits on subsamples for the estimate, and on complementary halves for its variance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_count
from pyinterp.errors import DataError, OptionError
from pyinterp.representation import call_form
from pyinterp.resampling.plans import subsample
from pyinterp.resampling.resampling import REDRAWS, By, Group, Split, Splitting, all_present, redraw
from pyinterp.resampling.units import Units

__all__ = ["FRACTION", "HalfSampling", "complementary"]

FRACTION = 0.632
LEAST_PAIRS, LEAST_UNITS = 5, 40


@dataclass(frozen=True, eq=False)
class HalfSampling(Splitting):
    """Refits on .632 of the units for the estimate, pairs of refits on halves for its variance.

    The estimate is the mean over `refits` that train on 0.632 n units, drawn without replacement,
    and are evaluated on the others. Each of the `pairs` splits the units into two random halves;
    one refit trains on the first and is evaluated on the second, another the reverse. Two disjoint
    training sets show all of the variance that training causes, which refits on overlapping ones
    hide; see ``cov_type="half-sample"``.

    Parameters
    ----------
    refits : int
        Number of refits for the estimate; 0 estimates with the halves themselves, that is for
        training sets of n/2.
    pairs : int
        Number of pairs M, at least 5; the degrees of freedom of t. 8 suffice when training is
        dear.
    cluster : str or array of shape (n,), optional
        Draw whole clusters, the levels of this column.
    strata : None
        Refused: halves with the same share of every class would hide the variance of that share.

    Notes
    -----
    There are ``refits + 2 * pairs`` fits on 24.5 n training rows by default, against 9.5 n for
    ``Subsampling(15)``.
    """

    refits: int = 15
    _: KW_ONLY
    pairs: int = 15
    cluster: By = None
    strata: By = None

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("refits", self.refits, least=0)
        if self.refits == 1:
            raise OptionError("`refits` must be 0 or at least 2: one refit has no variance.")
        check_count("pairs", self.pairs)
        if self.pairs < LEAST_PAIRS:
            raise OptionError(
                f"`pairs` must be at least {LEAST_PAIRS}, not {self.pairs}: with fewer, intervals "
                "are not known to cover."
            )
        if self.strata is not None:
            raise OptionError(
                "`strata` can't be given to half-sampling: halves with the same share of every "
                "stratum would hide the variance of that share; leave it out."
            )

    @property
    def number(self) -> int:
        """Number of refits, those for the variance included."""
        return self.refits + 2 * self.pairs

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return "half-sampling"

    @property
    def study_name(self) -> str:
        """Name under which published simulations studied this plan."""
        plain = self.refits == 15 and self.pairs == 15 and self.cluster is None
        return "half-sampling" if plain else ""

    def lacking(self, groups: Sequence[Group | None]) -> str:
        """Return what is needed if too many refits failed; a pair counts only if both succeed."""
        numbers = [group.number for group in groups if group is not None]
        pairs, refits = len(numbers) - len(set(numbers)), len(groups) - len(numbers)
        if pairs >= LEAST_PAIRS and refits >= min(2, self.refits):
            return ""
        needed = f"{LEAST_PAIRS} pairs of which both succeed"
        outcome = f"{pairs} of {self.pairs} pairs are whole"
        if self.refits:
            needed = f"2 refits for the estimate and {needed}"
            outcome = f"{refits} of {self.refits} refits succeeded and {outcome}"
        return f"Half-sampling needs at least {needed}, but {outcome}."

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""
        if units.count < LEAST_UNITS:
            what = "rows" if self.cluster is None else "clusters"
            other = f"pi.Bootstrap(15{'' if self.cluster is None else ', cluster=...'})"
            raise DataError(
                f"Half-sampling needs at least {LEAST_UNITS} {what}, below which its intervals are "
                f"not known to cover; got {units.count}. `{other}` gives estimates, with intervals "
                "that are too narrow."
            )
        for _ in range(self.refits):
            yield redraw(
                lambda: subsample(units, FRACTION, rng), units, classes, self.label, strata=False
            )
        for pair in range(self.pairs):
            first, second = complementary(units, rng, classes)
            yield Split(first, second, Group("pair", pair))
            yield Split(second, first, Group("pair", pair))


def complementary(
    units: Units, rng: np.random.Generator, classes: FloatArray | None
) -> tuple[IntArray, IntArray]:
    """Split units into random halves, both with every class; n odd: a random one is larger."""
    for _ in range(REDRAWS):
        shuffled = rng.permutation(units.count)
        middle = (units.count + int(rng.integers(2))) // 2
        first, second = np.sort(shuffled[:middle]), np.sort(shuffled[middle:])
        if classes is None or all(
            all_present(classes, units.rows(half)) for half in (first, second)
        ):
            return first, second
    raise DataError(
        f"Both halves must hold every class, but {REDRAWS} draws of half-sampling did not give "
        "that; merge rare classes."
    )
