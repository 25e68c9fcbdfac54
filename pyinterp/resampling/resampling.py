"""Base classes of resampling plans, which yield the rows of every refit."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import SHARE, check_number
from pyinterp.data.sample import Sample
from pyinterp.errors import DataError, OptionError, RefitWarning, level_of_caller
from pyinterp.representation import about

By: TypeAlias = str | npt.ArrayLike | None
# Turns data in the user's form into a sample.
Reader: TypeAlias = Callable[[Any], Sample]
REDRAWS = 200
# Of a random sample of evaluation rows: how many it needs, and its share below which one is warned.
LEAST_SAMPLE, SMALL_SHARE = 40, 0.1
FEW_ROWS = (
    "`max_evaluation_rows={}` is less than a tenth of {} rows: with 50 of 1,000 rows, 95% "
    "intervals of the loss covered 82% in simulations where errors were skewed (94% with all "
    "rows), and 95% where they were normal. More rows are safer."
)


class Group(NamedTuple):
    """The pair or bootstrap sample that a refit belongs to.

    Attributes
    ----------
    kind : {"pair", "bootstrap"}
        Refits of a pair train each on the rows that evaluate the other. Refits of a bootstrap use
        splits of the same bootstrap sample.
    number : int
        Which pair or bootstrap sample.
    """

    kind: Literal["pair", "bootstrap"]
    number: int


def is_half(group: Group | None) -> TypeGuard[Group]:
    """Whether a refit is one of a pair on complementary halves."""
    return group is not None and group.kind == "pair"


class RefitRows(NamedTuple):
    """One refit's rows, with the numbers of distinct rows or clusters of the plan.

    The evaluation rows are those in a simple random sample, a `share` of all (`some_rows`).
    """

    train: Sample
    evaluation: Sample
    n_train: int
    n_evaluation: int
    group: Group | None = None
    share: float = 1.0

    def keep(self, rows: IntArray, share: float) -> RefitRows:
        """Return the part with only its evaluation rows among `rows`, a `share` of all."""
        kept = np.flatnonzero(np.isin(self.evaluation.rows, rows))
        return self._replace(evaluation=self.evaluation.some(kept), share=share)

    def __repr__(self) -> str:
        return about(self, f"{self.train.nobs} rows train", f"{self.evaluation.nobs} evaluate")


class Split(NamedTuple):
    """Units that train and units that evaluate, repeats allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from pyinterp.resampling import Split
    >>> Split(train=np.arange(7), evaluation=np.arange(7, 10))
    <Split: 7 units train, 3 evaluate>
    """

    train: IntArray
    evaluation: IntArray
    group: Group | None = None

    def __repr__(self) -> str:
        return about(self, f"{len(self.train)} units train", f"{len(self.evaluation)} evaluate")


@dataclass(frozen=True)
class Units:
    """The units of resampling: rows, or whole clusters of rows, within strata.

    Attributes
    ----------
    of_row : ndarray of int, shape (n,)
        The unit of every row, 0, 1, ...
    strata : ndarray of int, shape (number of units,)
        The stratum of every unit.
    """

    of_row: IntArray
    strata: IntArray

    @classmethod
    def make(
        cls, nobs: int, cluster: npt.NDArray[Any] | None, strata: npt.NDArray[Any] | None
    ) -> Units:
        """Give every unit a number; clusters must not straddle strata."""
        of_row = np.arange(nobs) if cluster is None else np.unique(cluster, return_inverse=True)[1]
        of_unit = np.zeros(int(of_row.max()) + 1, np.intp)
        if strata is not None:
            codes = np.unique(strata, return_inverse=True)[1]
            of_unit[of_row] = codes
            torn = of_row[of_unit[of_row] != codes]
            if len(torn):
                raise DataError(
                    f"A cluster must lie within one stratum, but cluster number {torn[0]} does "
                    "not; choose strata that are constant within clusters."
                )
        return cls(of_row.astype(np.intp), of_unit)

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.strata)

    def within_strata(self) -> list[IntArray]:
        """Return the units of each stratum."""
        order = np.argsort(self.strata, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.strata[order])) + 1)

    def rows(self, units: IntArray) -> IntArray:
        """Return the rows of `units`, in order, a repeated unit's rows repeated."""
        order: IntArray = np.argsort(self.of_row, kind="stable")
        if self.count == len(order):
            return order[units]
        blocks = np.split(order, np.cumsum(np.bincount(self.of_row))[:-1])
        return np.concatenate([order[:0], *(blocks[unit] for unit in units)])

    def __repr__(self) -> str:
        return about(self, f"{self.count} units of {len(self.of_row)} rows")


class Resampling(ABC):
    """A plan for training and evaluating refits.

    Attributes
    ----------
    shares_data : bool
        Whether refits share rows, so that the naive variance is too small.
    stratifies : bool
        Whether the plan can draw within strata.
    study : str
        Name under which published simulations studied the plan with its defaults; empty if they
        did not.
    refits : int
        Number of refits, of plans that are told it.
    where : str
        Whether evaluation rows train the model too: "out of sample", "later rows" or "partly in
        sample".
    note : str
        Footnote on the plan; empty if there is none.
    """

    shares_data: ClassVar[bool] = True
    stratifies: ClassVar[bool] = False
    study: ClassVar[str] = ""
    strata: By = None
    cluster: By = None
    refits: int = 1
    where: str = "out of sample"
    note: str = ""

    @property
    def study_name(self) -> str:
        """Name under which published simulations studied this plan; empty if they did not."""
        if not self.study or self.strata is not None:
            return ""
        own = {**vars(self), "cluster": None}
        if own != {name: getattr(type(self), name, None) for name in own}:
            return ""
        return self.study + " of clusters" * (self.cluster is not None)

    def on(self, sample: Sample, units: Units, rng: np.random.Generator) -> Resampling:
        """Return the plan for these rows; another one only if it depends on them.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.data.sample import Sample
        >>> from pyinterp.resampling.resampling import Units
        >>> rows = Sample(variables=data[["bmi"]], y=None, response=None, rows=np.arange(len(data)))
        >>> units = Units.make(rows.nobs, None, None)
        >>> plan.on(rows, units, np.random.default_rng(1)) is plan
        True
        """
        return self

    @property
    def number(self) -> int:
        """Number of refits, those for the variance included."""
        return self.refits

    @property
    @abstractmethod
    def label(self) -> str:
        """Name of the plan in tables."""

    @abstractmethod
    def parts(
        self, sample: Sample, units: Units, rng: np.random.Generator, read: Reader
    ) -> Iterator[RefitRows]:
        """Yield the training and evaluation rows of every refit, in the order of refits.

        Parameters
        ----------
        sample : Sample
            All rows.
        units : Units
            The units of resampling.
        rng : numpy.random.Generator
            The stream for splits.
        read : callable
            Turns data in the user's form into a sample, for plans that draw new rows.
        """

    def lacking(self, groups: Sequence[Group | None]) -> str:
        """Return the requirement, in words, if too many refits failed; empty if they suffice.

        Parameters
        ----------
        groups : sequence of (Group or None)
            The groups of the refits that succeeded.
        """
        least = min(2, self.number)
        if len(groups) >= least:
            return ""
        return f"At least {least} refits must succeed, but {len(groups)} of {self.number} did."


class Splitting(Resampling):
    """A plan that splits the rows at hand.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> from pyinterp.resampling import Split, Splitting
    >>> from sklearn.linear_model import LinearRegression
    >>> class Rolling(Splitting):
    ...     number = 4
    ...     label = "rolling origin, 4 windows"
    ...     def split(self, units, rng, classes):
    ...         for end in (100, 200, 300, 400):
    ...             yield Split(np.arange(end), np.arange(end, end + 42))
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> learner.fit(Rolling(), seed=1).loss().params.round().to_dict()
    {'loss': 3758.0}
    """

    def parts(
        self, sample: Sample, units: Units, rng: np.random.Generator, read: Reader
    ) -> Iterator[RefitRows]:
        """Yield the training and evaluation rows of every refit, as units that `split` draws.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.data.sample import Sample
        >>> from pyinterp.resampling.resampling import Units
        >>> rows = Sample(variables=data[["bmi"]], y=None, response=None, rows=np.arange(len(data)))
        >>> units = Units.make(rows.nobs, None, None)
        >>> part = next(plan.parts(rows, units, np.random.default_rng(1), None))
        >>> part.train, part.evaluation
        (<Sample: 279 rows, 1 variables>, <Sample: 163 rows, 1 variables>)
        """
        categorical = sample.response is not None and sample.response.classes is not None
        classes = sample.y if categorical else None
        splits = list(self.split(units, rng, classes))
        if len(splits) != self.number:  # else tables would speak of refits that failed
            raise OptionError(
                f"`number` of a plan must be its number of splits, but {self.label} has "
                f"`number = {self.number}` and yields {len(splits)}."
            )
        for train, evaluation, group in splits:
            sides = units.rows(train), units.rows(evaluation)
            yield part_of(sample, *sides, of_row=units.of_row, label=self.label, group=group)

    @abstractmethod
    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit.

        Examples
        --------
        >>> from pyinterp.resampling.resampling import Units
        >>> units = Units.make(442, None, None)
        >>> next(Rolling().split(units, np.random.default_rng(1), None))
        <Split: 100 units train, 42 evaluate>
        """

    def redraw(
        self, draw: Callable[[], list[Split]], units: Units, classes: FloatArray | None
    ) -> list[Split]:
        """Draw splits until each has units, and rows of every class, on both sides.

        If none of 200 draws has rows of every class that evaluate, as one is too rare, the first
        that trains on all of them is taken.

        Raises
        ------
        DataError
            If none of 200 draws is like that; it states the problem of the last.
        """

        def every_class(side: str) -> bool:
            """Whether this side of every split holds all classes."""
            if classes is None:
                return True
            held = (np.unique(classes[units.rows(getattr(split, side))]) for split in splits)
            return {len(np.unique(classes))}.issuperset(map(len, held))

        trained: list[Split] = []
        for _ in range(REDRAWS):
            splits = draw()
            whole = all(len(train) > 0 and len(evaluation) > 0 for train, evaluation, _ in splits)
            evaluated = whole and every_class("evaluation")
            if whole and (evaluated or not trained) and every_class("train"):
                trained = splits
                if evaluated:
                    break
        if trained:
            return trained
        draws = f"{REDRAWS} draws of {self.label}"
        if not whole:
            raise DataError(
                f"Every refit needs rows that train and rows that evaluate, but {draws} did not "
                f"give both; there are {units.count} rows or clusters in "
                f"{len(np.unique(units.strata))} strata: use larger strata, or more rows."
            )
        advice = " or give `strata=` the response" if self.stratifies else ""
        raise DataError(
            f"Every refit's training rows must hold every class, but {draws} did not give that; "
            f"merge rare classes{advice}."
        )


def part_of(
    sample: Sample,
    train: IntArray,
    evaluation: IntArray,
    *,
    of_row: IntArray,
    label: str,
    group: Group | None = None,
) -> RefitRows:
    """Return the part with these rows; `DataError` unless both sides have two distinct ones."""
    trains, evaluates = len(pd.unique(train)), len(pd.unique(evaluation))
    if trains < 2 or evaluates < 2:
        raise DataError(
            "Every refit needs at least 2 distinct training rows and 2 evaluation rows, but "
            f"{label} of {sample.nobs} rows gave {trains} and {evaluates}."
        )
    return RefitRows(
        sample.some(train),
        sample.some(evaluation),
        n_train=len(pd.unique(of_row[train])),
        n_evaluation=len(pd.unique(of_row[evaluation])),
        group=group,
    )


def some_rows(parts: Sequence[RefitRows], most: int, rng: np.random.Generator) -> list[RefitRows]:
    r"""Return the parts with evaluation rows from one simple random sample of at most `most` rows.

    All refits share the sample, so that it is as if the data had no other rows to evaluate. A
    row's part in evaluating then varies over halves as it does with all rows, and every variance is
    right as it stands. For n rows, r of them in the sample, influences a by training and b by
    evaluating, halves give

    .. math:: E\, A = \frac{\sigma_a^2}{n} + \frac{2 \sigma_{ab}}{n} + \frac{\sigma_b^2}{r}
        = \mathrm{Var}(\bar T)

    to first order and for many refits: a half and its r/2 rows make A's last term
    :math:`\tfrac14 (2 \cdot 2 \sigma_b^2 / r)`, and a mean over refits is a mean over the sample.

    With a sample of its own for every refit, the samples average out in the mean over refits but
    not in the difference of two halves, which makes A too large. What they add to A can be
    subtracted only with an error of the size of A; and rows that evaluate once show no
    :math:`\sigma_{ab}`.

    A sample that leaves a refit fewer than 2 distinct rows is drawn again, at most 200 times: its
    law is that of a simple random sample given that none is left so. Of the default plan and 40
    rows that excludes next to none, of 10 folds and 50 rows three in ten.

    Raises
    ------
    OptionError
        If the sample is below 40 rows of more, or none of 200 leaves every refit 2 rows.
    """
    every = np.unique(np.concatenate([part.evaluation.rows for part in parts]))
    if len(every) <= most:
        return list(parts)
    if most < LEAST_SAMPLE:
        raise OptionError(
            f"`max_evaluation_rows` must be at least {LEAST_SAMPLE}, or no fewer than the data "
            f"have, not {most} of {len(every)} rows: intervals from fewer are not known to cover."
        )
    share = most / len(every)
    if share < SMALL_SHARE:
        warnings.warn(FEW_ROWS.format(most, len(every)), RefitWarning, level_of_caller())
    for _ in range(REDRAWS):
        rows = rng.choice(every, most, replace=False)
        some = (p.evaluation.rows[np.isin(p.evaluation.rows, rows)] for p in parts)
        if all(len(pd.unique(those)) >= 2 for those in some):
            return [part.keep(rows, share) for part in parts]
    raise OptionError(
        "`max_evaluation_rows` must leave every refit at least 2 evaluation rows, but "
        f"{REDRAWS} samples of {most} of {len(every)} rows did not; use more rows, or a plan of "
        "fewer folds."
    )


def check_fraction(value: object) -> None:
    """Raise `OptionError` unless `value` is a share between 0 and 1."""
    check_number("fraction", value, SHARE, " It is the share of rows that train.")
