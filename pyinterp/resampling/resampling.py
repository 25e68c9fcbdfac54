"""Base classes of resampling plans, which yield the rows of every refit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import SHARE, check_number
from pyinterp.data.sample import Sample
from pyinterp.errors import DataError
from pyinterp.representation import about
from pyinterp.resampling.units import Units

__all__ = [
    "REDRAWS",
    "By",
    "Group",
    "Part",
    "Resampling",
    "Split",
    "Splitting",
    "all_present",
    "check_fraction",
    "check_size",
    "redraw",
]

By: TypeAlias = str | npt.ArrayLike | None
REDRAWS = 200


class Group(NamedTuple):
    """The pair, fold or bootstrap sample that a refit belongs to.

    Attributes
    ----------
    kind : {"pair", "fold", "bootstrap"}
        Refits of a pair train each on the rows that evaluate the other. Those of a fold leave it
        out: one is evaluated on it, the inner ones on the other folds, each leaving that out too.
        Those of a bootstrap are on splits of the same bootstrap sample.
    number : int
        Which pair, fold or bootstrap sample.
    inner : bool
        Whether the refit leaves out another fold too.
    size : int
        Of a fold, how many refits leave it out: the number of folds.
    """

    kind: Literal["pair", "fold", "bootstrap"]
    number: int
    inner: bool = False
    size: int = 0

    @property
    def estimates(self) -> bool:
        """Whether the refit counts for the estimate."""
        return self.kind != "pair" and not self.inner


class Part(NamedTuple):
    """One refit's rows, with the numbers of distinct rows or clusters."""

    train: Sample
    evaluation: Sample
    n_train: int
    n_evaluation: int
    group: Group | None = None

    def __repr__(self) -> str:
        return about(self, f"{self.train.nobs} rows train", f"{self.evaluation.nobs} evaluate")


class Split(NamedTuple):
    """Units that train and units that evaluate, repeats allowed."""

    train: IntArray
    evaluation: IntArray
    group: Group | None = None

    def __repr__(self) -> str:
        return about(self, f"{len(self.train)} units train", f"{len(self.evaluation)} evaluate")


class Resampling(ABC):
    """A plan for training and evaluating refits.

    Attributes
    ----------
    shares_data : bool
        Whether refits share rows, so that the naive variance is too small.
    stratifies : bool
        Whether the plan can draw within strata.
    """

    shares_data: ClassVar[bool] = True
    stratifies: ClassVar[bool] = False
    strata: By = None
    cluster: By = None

    @property
    def study_name(self) -> str:
        """Name under which published simulations studied this plan; empty if they did not."""
        return ""

    @property
    def where(self) -> str:
        """Whether evaluation rows train the model too: "out of sample", or "partly in sample"."""
        return "out of sample"

    @property
    def note(self) -> str:
        """Footnote on the plan; empty if there is none."""
        return ""

    def on(self, population: Sample, units: Units, rng: np.random.Generator) -> Resampling:
        """Return the plan for these rows; another one only if it depends on them."""
        return self

    @property
    @abstractmethod
    def number(self) -> int:
        """Number of refits, those for the variance included."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What tables call the plan."""

    @abstractmethod
    def parts(
        self,
        population: Sample,
        units: Units,
        rng: np.random.Generator,
        read: Callable[[Any], Sample],
    ) -> Iterator[Part]:
        """Yield every refit's training and evaluation rows.

        Parameters
        ----------
        population : Sample
            All rows.
        units : Units
            What to resample.
        rng : numpy.random.Generator
            The stream for splits.
        read : callable
            Turns data in the user's form into a Sample, for plans that draw new rows.
        """

    def lacking(self, groups: Sequence[Group | None]) -> str:
        """Return what the plan needs, in words, if too many refits failed; empty if they suffice.

        Parameters
        ----------
        groups : sequence of (Group or None)
            The groups of the refits that succeeded.
        """
        least = min(2, self.number)
        if len(groups) >= least:
            return ""
        return f"At least {least} refits must succeed, but {len(groups)} of {self.number} did."

    def correction(self, n_train: float, n_evaluation: float) -> float:
        """Return c of the variance (1/m + c) s²: n2/n1 when refits share rows, else 0."""
        return n_evaluation / n_train if self.shares_data else 0.0


class Splitting(Resampling):
    """A plan that splits the rows at hand."""

    def parts(
        self,
        population: Sample,
        units: Units,
        rng: np.random.Generator,
        read: Callable[[Any], Sample],
    ) -> Iterator[Part]:
        """Yield every refit's training and evaluation rows."""
        categorical = population.response is not None and population.response.classes is not None
        classes = population.y if categorical else None
        for split in self.split(units, rng, classes):
            train, evaluation = units.rows(split.train), units.rows(split.evaluation)
            check_size(train, evaluation, self.label, population.nobs)
            yield Part(
                population.take(train),
                population.take(evaluation),
                n_train=len(np.unique(split.train)),
                n_evaluation=len(np.unique(split.evaluation)),
                group=split.group,
            )

    @abstractmethod
    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""


def redraw(
    draw: Callable[[], Split],
    units: Units,
    classes: FloatArray | None,
    label: str,
    *,
    strata: bool = True,
) -> Split:
    """Draw until both parts have rows and the training rows have every class.

    `strata` says whether the plan can draw within strata, for advice.
    """
    one_sided = 0
    for _ in range(REDRAWS):
        split = draw()
        if not len(split.evaluation) or not len(split.train):
            one_sided += 1
        elif classes is None or all_present(classes, units.rows(np.unique(split.train))):
            return split
    if one_sided == REDRAWS:
        raise DataError(
            "Every refit needs rows that train and rows that evaluate, but "
            f"{REDRAWS} draws of {label} did not give both; there are {units.count} rows or "
            f"clusters in {len(np.unique(units.strata))} strata: use larger strata, or more rows."
        )
    advice = " or give `strata=` the response" if strata else ""
    raise DataError(
        f"Every refit's training rows must hold every class, but {REDRAWS} draws of {label} did "
        f"not; merge rare classes{advice}."
    )


def all_present(classes: FloatArray, rows: IntArray) -> bool:
    """Whether every class occurs in `rows`."""
    return len(np.unique(classes[rows])) == len(np.unique(classes))


def check_size(train: IntArray, evaluation: IntArray, label: str, nobs: int) -> None:
    """Raise `DataError` unless both parts have at least two rows."""
    trains, evaluates = len(np.unique(train)), len(np.unique(evaluation))
    if trains < 2 or evaluates < 2:
        raise DataError(
            "Every refit needs at least 2 distinct training rows and 2 evaluation rows, but "
            f"{label} of {nobs} rows gave {trains} and {evaluates}."
        )


def check_fraction(value: object) -> None:
    """Raise `OptionError` unless `value` is a share between 0 and 1."""
    check_number("fraction", value, SHARE, " It is the share of rows that train.")
