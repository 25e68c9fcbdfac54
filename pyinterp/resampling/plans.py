"""Plans that split the rows at hand, or bootstrap samples of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_choice, check_count
from pyinterp.errors import DataError, OptionError
from pyinterp.representation import call_form
from pyinterp.resampling.resampling import By, Group, Split, Splitting, Units, check_fraction

SplitBy: TypeAlias = Literal["row", "copy"]

# The bootstrap's expected share of distinct rows.
FRACTION = 0.632
LEAST_PAIRS, LEAST_ROWS, LEAST_CLUSTERS = 5, 40, 12


@dataclass(frozen=True, eq=False, kw_only=True)
class _Draws(Splitting):
    """A plan whose refits train on draws of units within strata that depend on nothing else."""

    stratifies: ClassVar[bool] = True
    replaces: ClassVar[bool] = False  # draws with replacement
    fraction = FRACTION

    strata: By = None
    cluster: By = None

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("refits", self.refits)
        if not self.replaces:
            check_fraction(self.fraction)

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.resampling.resampling import Units
        >>> units = Units.make(100, None, None)
        >>> sum(1 for _ in plan.split(units, np.random.default_rng(1), None)) == plan.refits
        True
        """
        for _ in range(self.refits):
            yield from self.redraw(partial(self.draw, units, rng), units, classes)

    def draw(self, units: Units, rng: np.random.Generator) -> list[Split]:
        """Draw a fraction of the units, of every stratum, to train; the others evaluate.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.resampling.resampling import Units
        >>> units = Units.make(10, None, None)
        >>> plan.draw(units, np.random.default_rng(1))
        [<Split: 6 units train, 4 evaluate>]
        """
        strata = units.within_strata()
        counts = np.array(list(map(len, strata)))
        # The largest remainders are rounded up, so that the total is round(fraction * n).
        exact = self.fraction * counts
        sizes = np.floor(exact).astype(np.intp)
        remainder = round(self.fraction * units.count) - int(sizes.sum())
        sizes[np.argsort(sizes - exact, kind="stable")[:remainder]] += 1
        train = np.concatenate(list(map(partial(rng.choice, replace=self.replaces), strata, sizes)))
        return [Split(np.sort(train), np.setdiff1d(np.arange(units.count), train))]


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(_Draws):
    """Draw n units with replacement to train; evaluate on the others (out of bag).

    Parameters
    ----------
    refits : int
        Number of refits. Molnar et al. (2021, section 8) recommend about 15.
    strata : str or array of shape (n,), optional
        Draw within the levels of this column of the data.
    cluster : str or array of shape (n,), optional
        Draw whole clusters, the levels of this column: repeated measures of one subject never
        stand on both sides.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> plan = pi.Bootstrap(5)
    >>> learner.fit(plan, seed=1).pfi().bse.round().to_dict()
    {'bmi': 261.0, 'bp': 166.0}
    """

    label: ClassVar[str] = "bootstrap"
    study: ClassVar[str] = "bootstrap"
    replaces: ClassVar[bool] = True
    fraction = 1.0

    refits: int = 15


@dataclass(frozen=True, eq=False, repr=False)
class Subsampling(_Draws):
    """Draw a fraction of the units without replacement to train; evaluate on the others.

    Parameters
    ----------
    refits : int
        Number of refits.
    fraction : float
        Share of units that train; 0.632 is the bootstrap's expected share of distinct rows.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> plan = pi.Subsampling(5, fraction=0.5)
    >>> learner.fit(plan, seed=1).pfi().bse.round().to_dict()
    {'bmi': 258.0, 'bp': 119.0}
    """

    study: ClassVar[str] = "subsampling"

    refits: int = 15
    _: KW_ONLY
    fraction: float = FRACTION

    @property
    def label(self) -> str:
        """Name of the plan in tables."""
        return f"subsampling, {self.fraction:.3g}"


@dataclass(frozen=True, eq=False, repr=False)
class Holdout(_Draws):
    """Train once on a fraction of the units and evaluate on the others.

    One fitted model has no learner-level standard error. Intervals are for this model on new
    rows.

    Parameters
    ----------
    fraction : float
        Share of units that train.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> plan = pi.Holdout(0.7)
    >>> learner.fit(plan, seed=1).pfi().bse.round().to_dict()
    {'bmi': 529.0, 'bp': 204.0}
    """

    fraction: float = FRACTION

    @property
    def label(self) -> str:
        """Name of the plan in tables."""
        return f"holdout, {self.fraction:.3g}"


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(_Draws):
    """Repeated k-fold cross-validation: train on k - 1 folds, evaluate on the other.

    Parameters
    ----------
    folds : int
        Number of folds k.
    repeats : int
        Number of partitions into folds; there are ``folds * repeats`` refits.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> plan = pi.CrossValidation(5)
    >>> learner.fit(plan, seed=1).pfi().bse.round().to_dict()
    {'bmi': 504.0, 'bp': 149.0}
    """

    folds: int = 10
    _: KW_ONLY
    repeats: int = 1

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)
        check_count("repeats", self.repeats)

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.folds * self.repeats

    @property
    def label(self) -> str:
        """Name of the plan in tables."""
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"{self.folds}-fold cross-validation{times}"

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Deal the units into folds, for every repeat.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.resampling.resampling import Units
        >>> units = Units.make(10, None, None)
        >>> next(plan.split(units, np.random.default_rng(1), None))
        <Split: 8 units train, 2 evaluate>
        """
        if self.folds > units.count:
            raise DataError(
                f"There must be at least as many rows or clusters as folds; got {units.count} "
                f"for {self.folds} folds."
            )

        def deal() -> list[Split]:
            # Dealing one stratum after the other keeps folds equal in size and in strata.
            shuffled = np.concatenate([rng.permutation(s) for s in units.within_strata()])
            fold = np.empty(units.count, np.intp)
            fold[shuffled] = np.arange(units.count) % self.folds
            return [
                Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k))
                for k in range(self.folds)
            ]

        for _ in range(self.repeats):
            yield from self.redraw(deal, units, classes)


@dataclass(frozen=True, eq=False, repr=False)
class HalfSampling(_Draws):
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
        Refused: half-sampling draws rows. If the design fixes the shares of strata (case-control,
        stratified survey), standard errors of levels are too large, those of ratios and
        differences less.

    Notes
    -----
    There are ``refits + 2 * pairs`` fits on 24.5 n training rows by default, against 9.5 n for
    ``Subsampling(15)``.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> plan = pi.HalfSampling(5, pairs=5)
    >>> learner.fit(plan, seed=1).pfi().bse.round().to_dict()
    {'bmi': 553.0, 'bp': 206.0}
    """

    label: ClassVar[str] = "half-sampling"
    study: ClassVar[str] = "half-sampling"
    stratifies: ClassVar[bool] = False

    refits: int = 15
    _: KW_ONLY
    pairs: int = 15

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
                "`strata` can't be given to half-sampling, which draws rows; leave it out. If the "
                "design fixes the shares of strata (case-control, stratified survey), standard "
                "errors of levels are then too large; ratios and differences are affected less."
            )

    @property
    def number(self) -> int:
        """Number of refits, those for the variance included."""
        return self.refits + 2 * self.pairs

    def lacking(self, groups: Sequence[Group | None]) -> str:
        """Return the requirement if too many refits failed; a pair counts only if both succeed."""
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
        """Yield the units of every refit for the estimate, then of every pair.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.resampling.resampling import Units
        >>> units = Units.make(100, None, None)
        >>> next(plan.split(units, np.random.default_rng(1), None))
        <Split: 63 units train, 37 evaluate>
        """
        what, least, other, page = "rows", LEAST_ROWS, "pi.Bootstrap(15)", ""
        if self.cluster is not None:
            what, least, other = "clusters", LEAST_CLUSTERS, "pi.Bootstrap(15, cluster=...)"
            page = ' (the page "A field trial of 3 to 11 blocks")'
        if units.count < least:
            raise DataError(
                f"Half-sampling needs at least {least} {what}, below which its intervals are "
                f"not known to cover; got {units.count}. `{other}` gives estimates without "
                f"intervals{page}."
            )

        def halves(pair: int) -> list[Split]:
            """Split units into random halves; if their number is odd a random one is larger."""
            shuffled = rng.permutation(units.count)
            middle = (units.count + int(rng.integers(2))) // 2
            first, second = np.sort(shuffled[:middle]), np.sort(shuffled[middle:])
            group = Group("pair", pair)
            return [Split(first, second, group), Split(second, first, group)]

        yield from super().split(units, rng, classes)
        for pair in range(self.pairs):
            yield from self.redraw(partial(halves, pair), units, classes)


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
        pool = np.unique(sample) if self.split_by == "row" else sample
        shuffled = rng.permutation(len(pool))
        first = round(self.fraction * len(pool))
        train, evaluation = (np.sort(pool[part]) for part in np.split(shuffled, [first]))
        if self.split_by == "row":
            trains = np.isin(sample, train)
            train, evaluation = sample[trains], sample[~trains]
        return [Split(train, evaluation, group)]
