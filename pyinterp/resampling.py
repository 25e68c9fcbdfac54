"""Resampling plans: which rows train and which evaluate each refit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pyinterp.design import IntArray
from pyinterp.errors import DataError, OptionError
from pyinterp.sample import FloatArray, Sample

__all__ = [
    "Bootstrap",
    "CrossValidation",
    "FreshDraws",
    "Holdout",
    "Part",
    "Resampling",
    "Subsampling",
    "Units",
]

By: TypeAlias = str | npt.ArrayLike | None
REDRAWS = 200


class Part(NamedTuple):
    """One refit's rows, and how many distinct rows or clusters they are."""

    train: Sample
    evaluation: Sample
    n_train: int
    n_evaluation: int


class Split(NamedTuple):
    """Units that train (repeats allowed) and units that evaluate."""

    train: IntArray
    evaluation: IntArray


@dataclass(frozen=True)
class Units:
    """What is resampled: rows, or whole clusters of rows, within strata.

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
        count = int(of_row.max()) + 1
        if strata is None:
            return cls(of_row.astype(np.intp), np.zeros(count, np.intp))
        codes = np.unique(strata, return_inverse=True)[1]
        of_unit = np.zeros(count, np.intp)
        of_unit[of_row] = codes
        if (of_unit[of_row] != codes).any():
            unit = int(of_row[np.flatnonzero(of_unit[of_row] != codes)[0]])
            raise DataError(
                f"A cluster must lie within one stratum, but cluster number {unit} does not; "
                "choose strata that are constant within clusters."
            )
        return cls(of_row.astype(np.intp), of_unit)

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.strata)

    def within_strata(self) -> Iterator[IntArray]:
        """Yield the units of each stratum."""
        for stratum in np.unique(self.strata):
            yield np.flatnonzero(self.strata == stratum)

    def rows(self, units: IntArray) -> IntArray:
        """Return the rows of `units`, in order, a repeated unit's rows repeated."""
        order: IntArray = np.argsort(self.of_row, kind="stable")
        starts = np.searchsorted(self.of_row[order], np.arange(self.count + 1))
        blocks = [order[starts[u] : starts[u + 1]] for u in units]
        return np.concatenate(blocks) if blocks else np.empty(0, np.intp)


class Resampling(ABC):
    """A plan for training and evaluating refits.

    Attributes
    ----------
    shares_data : bool
        Whether refits share rows, so that the naive variance is too small.
    """

    shares_data: ClassVar[bool] = True
    strata: By = None
    cluster: By = None

    @property
    def studied(self) -> str:
        """Name under which published simulations studied this plan; empty if they did not."""
        return ""

    @property
    @abstractmethod
    def number(self) -> int:
        """Number of refits."""

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
            Turns data in the user's form into a Sample, for plans with rows of their own.
        """

    def correction(self, n_train: float, n_evaluation: float) -> float:
        """Return c of the variance (1/m + c) s²: n2/n1 when refits share rows, else 0."""
        return n_evaluation / n_train if self.shares_data else 0.0


class _Splitting(Resampling):
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
        for split in self._splits(units, rng, classes):
            train, evaluation = units.rows(split.train), units.rows(split.evaluation)
            _check_size(train, evaluation, self.label, population.nobs)
            yield Part(
                population.take(train),
                population.take(evaluation),
                n_train=len(np.unique(split.train)),
                n_evaluation=len(split.evaluation),
            )

    @abstractmethod
    def _splits(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""


def _redraw(
    draw: Callable[[], Split], units: Units, classes: FloatArray | None, label: str
) -> Split:
    """Draw until both parts have rows and the training rows have every class."""
    one_sided = 0
    for _ in range(REDRAWS):
        split = draw()
        if not len(split.evaluation) or not len(split.train):
            one_sided += 1
        elif classes is None or _all_present(classes, units.rows(np.unique(split.train))):
            return split
    if one_sided == REDRAWS:
        raise DataError(
            "Every refit needs rows that train and rows that evaluate, but "
            f"{REDRAWS} draws of {label} did not give both; there are {units.count} rows or "
            f"clusters in {len(np.unique(units.strata))} strata: use larger strata, or more rows."
        )
    raise DataError(
        f"Every refit's training rows must hold every class, but {REDRAWS} draws of {label} did "
        "not; merge rare classes or give `strata=` the response."
    )


@dataclass(frozen=True, eq=False)
class Bootstrap(_Splitting):
    """Draw n units with replacement to train; evaluate on those not drawn (out of bag).

    Parameters
    ----------
    refits : int
        Number of refits. Molnar et al. (2021, section 8) recommend about 15.
    strata : str or array of shape (n,), optional
        Draw within the levels of this column of the data.
    cluster : str or array of shape (n,), optional
        Draw whole clusters, the levels of this column: repeated measures of one subject never
        stand on both sides.
    """

    refits: int = 15
    _: KW_ONLY
    strata: By = None
    cluster: By = None

    def __post_init__(self) -> None:
        _check_count("refits", self.refits)

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.refits

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return "bootstrap"

    @property
    def studied(self) -> str:
        """Name under which published simulations studied this plan."""
        return "bootstrap" if self.cluster is None and self.strata is None else ""

    def _splits(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        def draw() -> Split:
            train = np.concatenate(
                [rng.choice(stratum, size=len(stratum)) for stratum in units.within_strata()]
            )
            return Split(np.sort(train), np.setdiff1d(np.arange(units.count), train))

        for _ in range(self.refits):
            yield _redraw(draw, units, classes, self.label)


@dataclass(frozen=True, eq=False)
class Subsampling(_Splitting):
    """Draw a fraction of the units without replacement to train; evaluate on the others.

    Parameters
    ----------
    refits : int
        Number of refits.
    fraction : float
        Share of units that train; 0.632 is the bootstrap's expected share of distinct rows.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.
    """

    refits: int = 15
    _: KW_ONLY
    fraction: float = 0.632
    strata: By = None
    cluster: By = None

    def __post_init__(self) -> None:
        _check_count("refits", self.refits)
        _check_fraction(self.fraction)

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.refits

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return f"subsampling, {self.fraction:.3g}"

    @property
    def studied(self) -> str:
        """Name under which published simulations studied this plan."""
        plain = self.cluster is None and self.strata is None and self.fraction == 0.632
        return "subsampling" if plain else ""

    def _splits(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        for _ in range(self.refits):
            yield _redraw(lambda: _subsample(units, self.fraction, rng), units, classes, self.label)


@dataclass(frozen=True, eq=False)
class Holdout(_Splitting):
    """Train once on a fraction of the units and evaluate on the others.

    One fitted model has no learner-level standard error; intervals are those of that model on
    new rows.

    Parameters
    ----------
    fraction : float
        Share of units that train.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.
    """

    fraction: float = 0.632
    _: KW_ONLY
    strata: By = None
    cluster: By = None

    def __post_init__(self) -> None:
        _check_fraction(self.fraction)

    @property
    def number(self) -> int:
        """Number of refits."""
        return 1

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return f"holdout, {self.fraction:.3g}"

    def _splits(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        yield _redraw(lambda: _subsample(units, self.fraction, rng), units, classes, self.label)


@dataclass(frozen=True, eq=False)
class CrossValidation(_Splitting):
    """Repeated k-fold cross-validation: train on k - 1 folds, evaluate on the other.

    Parameters
    ----------
    folds : int
        Number of folds k.
    repeats : int
        Number of partitions into folds; there are ``folds * repeats`` refits.
    strata, cluster : str or array of shape (n,), optional
        As in `Bootstrap`.
    """

    folds: int = 10
    _: KW_ONLY
    repeats: int = 1
    strata: By = None
    cluster: By = None

    def __post_init__(self) -> None:
        _check_count("folds", self.folds, least=2)
        _check_count("repeats", self.repeats)

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.folds * self.repeats

    @property
    def label(self) -> str:
        """What tables call the plan."""
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"{self.folds}-fold cross-validation{times}"

    def _splits(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        if self.folds > units.count:
            raise DataError(
                f"There must be at least as many rows or clusters as folds; got {units.count} "
                f"for {self.folds} folds."
            )

        def deal() -> IntArray:
            # Dealing one stratum after the other keeps folds equal in size and in strata.
            shuffled = np.concatenate([rng.permutation(s) for s in units.within_strata()])
            fold = np.empty(units.count, np.intp)
            fold[shuffled] = np.arange(units.count) % self.folds
            return fold

        def split(fold: IntArray, k: int) -> Split:
            return Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k))

        def complete() -> IntArray:
            for _ in range(REDRAWS):
                fold = deal()
                if classes is None or all(
                    _all_present(classes, units.rows(split(fold, k).train))
                    for k in range(self.folds)
                ):
                    return fold
            raise DataError(
                f"Every refit's training rows must hold every class, but {REDRAWS} partitions into "
                f"{self.folds} folds did not; merge rare classes or give `strata=` the response."
            )

        for _ in range(self.repeats):
            fold = complete()
            for k in range(self.folds):
                yield split(fold, k)


@dataclass(frozen=True, eq=False)
class FreshDraws(Resampling):
    """Draw new data for every refit from a known process: the "ideal" setting of simulations.

    Refits share no rows, so the naive variance is right (c = 0).

    Parameters
    ----------
    generator : callable
        ``generator(rng)`` returns new data in the form given to the learner: a DataFrame with
        the formula's variables and response, or ``(endog, exog)``.
    refits : int
        Number of refits.
    fraction : float
        Share of each draw's rows that train; the rest evaluate.
    """

    shares_data: ClassVar[bool] = False

    generator: Callable[[np.random.Generator], Any]
    refits: int = 15
    _: KW_ONLY
    fraction: float = 0.632

    def __post_init__(self) -> None:
        _check_count("refits", self.refits)
        _check_fraction(self.fraction)
        if not callable(self.generator):
            raise OptionError(
                "`generator` must be a function of a numpy Generator that returns data, "
                f"not {self.generator!r}."
            )

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.refits

    @property
    def label(self) -> str:
        """What tables call the plan."""
        return "fresh draws"

    def parts(
        self,
        population: Sample,
        units: Units,
        rng: np.random.Generator,
        read: Callable[[Any], Sample],
    ) -> Iterator[Part]:
        """Yield every refit's own rows: the first `fraction` train, the rest evaluate."""
        seen = 0
        for k, stream in enumerate(rng.spawn(self.refits), start=1):
            sample = _with_classes_of(population, read(self.generator(stream)), k)
            # Row i of one draw is not row i of another: rows are numbered through.
            sample = replace(sample, rows=np.arange(seen, seen + sample.nobs))
            seen += sample.nobs
            first = round(self.fraction * sample.nobs)
            rows = np.arange(sample.nobs)
            _check_size(rows[:first], rows[first:], self.label, sample.nobs)
            _check_classes(sample, rows[:first], k)
            yield Part(
                sample.take(rows[:first]),
                sample.take(rows[first:]),
                n_train=first,
                n_evaluation=sample.nobs - first,
            )


def _with_classes_of(population: Sample, fresh: Sample, k: int) -> Sample:
    """Return fresh rows whose response counts positions in the population's classes."""
    known, own = population.response, fresh.response
    if known is None or own is None or fresh.y is None or known.classes == own.classes:
        return fresh
    place = {label: j for j, label in enumerate(known.classes or ())}
    for label in own.classes or ():
        if label not in place:
            raise DataError(
                f"Fresh draws must have the classes of the learner's data, {list(place)}, but draw "
                f"{k} has class {label!r} of `{known.name}`."
            )
    positions = np.array([place[label] for label in own.classes or ()], dtype=np.float64)
    return replace(fresh, y=positions[fresh.y.astype(np.intp)], response=known)


def _check_classes(fresh: Sample, train: IntArray, k: int) -> None:
    if fresh.y is None or fresh.response is None or fresh.response.classes is None:
        return
    for position, label in enumerate(fresh.response.classes):
        if position not in fresh.y[train]:
            raise DataError(
                f"Every refit's training rows must hold every class, but fresh draw {k} has no "
                f"training row of class {label!r}; draw more rows."
            )


def _all_present(classes: FloatArray, rows: IntArray) -> bool:
    return len(np.unique(classes[rows])) == len(np.unique(classes))


def _subsample(units: Units, fraction: float, rng: np.random.Generator) -> Split:
    strata = list(units.within_strata())
    sizes = _shares(np.array([len(s) for s in strata]), fraction)
    train = np.concatenate(
        [rng.choice(s, size=k, replace=False) for s, k in zip(strata, sizes, strict=True)]
    )
    return Split(np.sort(train), np.setdiff1d(np.arange(units.count), train))


def _shares(counts: npt.NDArray[np.int64], fraction: float) -> npt.NDArray[np.int64]:
    """Return how many of each stratum to draw: their total is round(fraction * n)."""
    exact = fraction * counts
    sizes: npt.NDArray[np.int64] = np.floor(exact).astype(np.int64)
    short = round(fraction * int(counts.sum())) - int(sizes.sum())
    sizes[np.argsort(sizes - exact, kind="stable")[:short]] += 1
    return sizes


def _check_size(train: IntArray, evaluation: IntArray, label: str, nobs: int) -> None:
    if len(np.unique(train)) < 2 or len(evaluation) < 2:
        raise DataError(
            f"Every refit needs at least 2 distinct training rows and 2 evaluation rows, but "
            f"{label} of {nobs} rows gave {len(np.unique(train))} and {len(evaluation)}."
        )


def _check_count(name: str, value: object, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"`{name}` must be a whole number of at least {least}, not {value!r}.")


def _check_fraction(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, float | np.floating) or not 0 < value < 1:
        raise OptionError(
            f"`fraction` must be a number in (0, 1), the share of rows that train, not {value!r}."
        )
