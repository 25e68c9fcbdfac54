"""Splits of bootstrap samples, which show the error of resampling itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_choice, check_count
from pyinterp.representation import call_form
from pyinterp.resampling.resampling import By, Group, Split, Splitting, Units, check_fraction

SplitBy: TypeAlias = Literal["row", "copy"]


@dataclass(frozen=True, eq=False)
class NestedBootstrap(Splitting):
    """Draw bootstrap samples of the rows and split each of them several times (Khan et al. 2025).

    Algorithms 1 and 2 of Khan et al. use this plan. The estimate is the mean over all refits. The
    means of the bootstrap samples show its sampling error; see ``cov_type="bootstrap"``.

    Parameters
    ----------
    bootstraps : int
        Number B of bootstrap samples, each of n draws with replacement. Percentile intervals at
        level alpha need more than 2 / alpha - 1 samples. For 95% that is 40.
    splits : int
        Number k of splits of each sample into rows that train and rows that evaluate.
    fraction : float
        Share that trains: of a sample's distinct rows or, for ``split_by="copy"``, of its n draws;
        by default 0.67, as Khan et al. train on two thirds.
    split_by : {"row", "copy"}
        "row" keeps all copies of a row on one side of a split: no row both trains and evaluates.
        "copy" is the algorithm as printed, which splits the n draws. A share 1 - exp(-fraction) of
        the evaluation draws, about half, has a copy that trains. Losses and importances then come
        in part from copies of training rows. "copy" is for comparison.
    cluster : str or array of shape (n,), optional
        Draw and split whole clusters, the levels of this column; they take the place of rows.

    Notes
    -----
    There are ``bootstraps * splits`` fits: 1,000 by default. A bootstrap sample has 0.632 n
    distinct rows. So "row" trains on about 0.42 n distinct rows, some more than once. The estimate
    is for a learner with this little data. A row that was drawn twice evaluates twice. Copies
    donate feature values to each other, which lowers an importance by a share of about 1/n.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> plan = pi.NestedBootstrap(5, 2)
    >>> learner.fit(plan, seed=1).pfi().bse.round().to_dict()
    {'bmi': 946.0, 'bp': 417.0}
    """

    bootstraps: int = 100
    splits: int = 10
    _: KW_ONLY
    fraction: float = 0.67
    split_by: SplitBy = "row"
    cluster: By = None

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("bootstraps", self.bootstraps, least=2)
        check_count("splits", self.splits)
        check_fraction(self.fraction)
        check_choice("split_by", self.split_by, get_args(SplitBy))
        if self.split_by == "copy":
            object.__setattr__(self, "where", "partly in sample")

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.bootstraps * self.splits

    @property
    def label(self) -> str:
        """Name of the plan in tables."""
        by = ", by copy" if self.split_by == "copy" else ""
        return f"nested bootstrap, {self.bootstraps} x {self.splits}{by}"

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.resampling.resampling import Units
        >>> units = Units.make(10, None, None)
        >>> next(plan.split(units, np.random.default_rng(1), None))
        <Split: 7 units train, 3 evaluate>
        """

        def sample_of(stream: np.random.Generator) -> list[Split]:
            sample = np.sort(stream.integers(units.count, size=units.count))
            # No split of a sample that lacks a class could train on every class.
            return [Split(sample, sample)]

        for number, stream in enumerate(rng.spawn(self.bootstraps)):
            ((sample, _, _),) = self.redraw(partial(sample_of, stream), units, classes)
            draw = partial(self._draw, sample, stream, Group("bootstrap", number))
            for _ in range(self.splits):
                yield from self.redraw(draw, units, classes)

    def _draw(self, sample: IntArray, rng: np.random.Generator, group: Group) -> list[Split]:
        """Return one split of a bootstrap sample, by rows or by copies of rows."""
        pool = np.unique(sample) if self.split_by == "row" else sample
        shuffled = rng.permutation(len(pool))
        first = round(self.fraction * len(pool))
        train, evaluation = (np.sort(pool[part]) for part in np.split(shuffled, [first]))
        if self.split_by == "row":
            trains = np.isin(sample, train)
            train, evaluation = sample[trains], sample[~trains]
        return [Split(train, evaluation, group)]
