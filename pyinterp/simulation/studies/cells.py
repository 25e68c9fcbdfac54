"""Types of studies: rows, terms of a row, and numbers that add up over blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar

from pyinterp._typing import FloatArray

__all__ = [
    "KINDS",
    "AnyRecord",
    "CoverageRow",
    "Importance",
    "ImportanceRecord",
    "ImportanceRow",
    "ImportanceSums",
    "Interval",
    "IntervalRecord",
    "IntervalSums",
    "Kind",
    "Mean",
    "MeanRecord",
    "MeanSums",
    "Measure",
    "Pool",
    "Record",
    "Row",
    "Sums",
    "Target",
    "Term",
    "TrueImportance",
    "TruthRow",
    "importance_records",
    "interval_records",
    "mean_records",
    "pool_records",
]

Measure: TypeAlias = Literal["mvim", "cvim"]


# Rows: data sets and fits that all terms share ----------------------------------------------------


@dataclass(frozen=True)
class TruthRow:
    """Refits of a learner on fresh data of n rows, whose mean estimates are the truth."""

    kind: ClassVar[str] = "truth"
    process: str
    learner: str
    n: int


@dataclass(frozen=True)
class CoverageRow:
    """Data sets of n rows, to each of which a learner is fitted with a plan."""

    kind: ClassVar[str] = "coverage"
    process: str
    learner: str
    n: int
    plan: str


@dataclass(frozen=True)
class ImportanceRow:
    """Models of a learner on n training rows; other validation rows or blocks are other rows.

    `validation` is the number of validation rows that the models of a block share, `block` the
    number of those models.
    """

    kind: ClassVar[str] = "importance"
    process: str
    learner: str
    n: int
    validation: int
    block: int
    features: tuple[str, ...]
    measures: tuple[str, ...]


Row: TypeAlias = TruthRow | CoverageRow | ImportanceRow


# Terms: what is estimated in a row ----------------------------------------------------------------


class Mean(NamedTuple):
    """The mean of an estimand over refits."""

    estimand: str


class Interval(NamedTuple):
    """The intervals of an estimand by a variance estimator."""

    estimand: str
    cov_type: str


class Importance(NamedTuple):
    """An importance of a feature."""

    feature: str
    measure: Measure


Term: TypeAlias = Mean | Interval | Importance


class Target(NamedTuple):
    """The truth that intervals should hold: the mean of an estimand for a learner at n."""

    process: str
    learner: str
    n: int
    estimand: str


class TrueImportance(NamedTuple):
    """The truth of estimated importances: an importance of the process."""

    process: str
    feature: str
    measure: str


# Sums: numbers of a term --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sums:
    """Numbers that add up over the repetitions of a term; `labels`, if there are any, stay."""

    def plus(self, other: Self) -> Self:
        """Return the sums over the repetitions of both."""
        names = [field.name for field in fields(self) if field.name != "labels"]
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, eq=False)
class MeanSums(Sums):
    """Estimates and their squares, shape (terms,), by `labels`, the names of the terms."""

    labels: tuple[str, ...]
    sums: FloatArray
    squares: FloatArray


@dataclass(frozen=True, eq=False)
class IntervalSums(Sums):
    """`COLUMNS` of intervals, shape (terms, columns), and squared shares of terms covered."""

    sums: FloatArray
    shares: float


@dataclass(frozen=True, eq=False)
class ImportanceSums(Sums):
    """Components of an importance, one number each per block of models, and their squares."""

    sums: FloatArray
    squares: FloatArray


# Records ------------------------------------------------------------------------------------------

R = TypeVar("R", bound=Row)
T = TypeVar("T", bound=Term)
S = TypeVar("S", bound=Sums)


class Record(NamedTuple, Generic[R, T, S]):
    """Sums over the repetitions of some blocks of a row, for one term.

    Attributes
    ----------
    row : TruthRow, CoverageRow or ImportanceRow
    term : Mean, Interval or Importance
    blocks : tuple of int
        One block, or several that were added up.
    size : int
        Number of repetitions.
    sums : MeanSums, IntervalSums or ImportanceSums
    settings : dict or None
        The options that the numbers depend on; None in files of early versions.
    """

    row: R
    term: T
    blocks: tuple[int, ...]
    size: int
    sums: S
    settings: dict[str, Any] | None = None

    def size_of(self, block: int) -> int:
        """Return the number of repetitions of a block; of several, only the last may be smaller."""
        if self.settings is None:
            return self.size // len(self.blocks)
        whole = int(self.settings["block"])
        rest = self.size - whole * (len(self.blocks) - 1)
        return rest if block == max(self.blocks) else whole


AnyRecord: TypeAlias = Record[Any, Any, Any]
MeanRecord: TypeAlias = Record[TruthRow, Mean, MeanSums]
IntervalRecord: TypeAlias = Record[CoverageRow, Interval, IntervalSums]
ImportanceRecord: TypeAlias = Record[ImportanceRow, Importance, ImportanceSums]


def mean_records(records: Iterable[AnyRecord]) -> list[MeanRecord]:
    """Return the records of the truth of coverage studies."""
    return [record for record in records if isinstance(record.row, TruthRow)]


def interval_records(records: Iterable[AnyRecord]) -> list[IntervalRecord]:
    """Return the records of the coverage of coverage studies."""
    return [record for record in records if isinstance(record.row, CoverageRow)]


def importance_records(records: Iterable[AnyRecord]) -> list[ImportanceRecord]:
    """Return the records of studies of importances."""
    return [record for record in records if isinstance(record.row, ImportanceRow)]


class Kind(NamedTuple):
    """The types of a row, of its terms and of their sums."""

    row: type[Any]
    term: type[Any]
    sums: type[Any]


KINDS = {
    "truth": Kind(TruthRow, Mean, MeanSums),
    "coverage": Kind(CoverageRow, Interval, IntervalSums),
    "importance": Kind(ImportanceRow, Importance, ImportanceSums),
}


class Pool(NamedTuple, Generic[S]):
    """The sum of all records of a row and term."""

    blocks: tuple[int, ...]
    size: int
    sums: S


def pool_records(records: Iterable[Record[R, T, S]]) -> dict[R, dict[T, Pool[S]]]:
    """Add records up, by row and term, in the order of their blocks."""
    rows: dict[R, list[Record[R, T, S]]] = {}
    for record in records:
        rows.setdefault(record.row, []).append(record)
    return {row: _by_term(same) for row, same in rows.items()}


def _by_term(records: list[Record[R, T, S]]) -> dict[T, Pool[S]]:
    terms: dict[T, Pool[S]] = {}
    for record in sorted(records, key=lambda record: min(record.blocks)):
        pool = terms.get(record.term)
        terms[record.term] = (
            Pool(record.blocks, record.size, record.sums)
            if pool is None
            else Pool(
                pool.blocks + record.blocks, pool.size + record.size, pool.sums.plus(record.sums)
            )
        )
    return terms
