"""Splits of the user: a splitter of scikit-learn, or a list of (train, test) rows."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import PredefinedSplit

from pyinterp._typing import IntArray
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, quote, reason
from pyinterp.representation import call_form
from pyinterp.resampling.resampling import By, Reader, RefitRows, Resampling, Split, Units, part_of

LATER_ROWS = "later rows"  # `where` of splits that evaluate rows after all that train


@dataclass(frozen=True, eq=False)
class Splits(Resampling):
    """Train and evaluate on splits of the user.

    `Learner.fit` takes the splitter or the list as it is, and makes this plan of it.

    Parameters
    ----------
    splits : splitter or sequence of pairs
        An object of ``sklearn.model_selection`` with ``split``, such as ``KFold(5)``,
        ``GroupKFold()`` (with `cluster`) or ``TimeSeriesSplit()``; or two or more pairs
        ``(train, test)`` of positions in the data, or of masks. Training rows may repeat.
    cluster : str or array of shape (n,), optional
        The ``groups`` of a splitter. No cluster may stand on both sides of a split.

    Notes
    -----
    A splitter whose ``random_state`` is None takes one from the seed of `Learner.fit`.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import KFold
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> plan = pi.Splits(KFold(5, shuffle=True, random_state=1))
    >>> learner.fit(plan, seed=1).pfi().bse.round().to_dict()
    {'bmi': 392.0, 'bp': 106.0}
    """

    splits: Any
    _: KW_ONLY
    cluster: By = None
    _splits: tuple[Split, ...] = field(default=(), init=False)

    __repr__ = call_form

    def __post_init__(self) -> None:
        if _is_splitter(self.splits):
            return
        if isinstance(self.splits, str | bytes) or not isinstance(self.splits, Sequence):
            raise OptionError(
                "`splits` must be a splitter of scikit-learn or a list of (train, test) pairs of "
                f"positions, not {quote(self.splits)}."
            )
        if len(self.splits) < 2:
            raise OptionError(
                f"There must be at least 2 splits; got {len(self.splits)}. For one use "
                "`pi.Holdout`, or `pi.FittedModel` on the test rows."
            )

    @property
    def of_positions(self) -> bool:
        """Whether rows are named by their positions in the data, by a list or a splitter."""
        return not _is_splitter(self.splits) or isinstance(self.splits, PredefinedSplit)

    @property
    def number(self) -> int:
        """Number of refits; 0 before the splits are drawn, where the splitter needs the data."""
        return len(self._splits or (() if _is_splitter(self.splits) else self.splits))

    @property
    def label(self) -> str:
        """Name of the plan in tables."""
        name = f"{type(self.splits).__name__}, " if _is_splitter(self.splits) else ""
        return f"{name}{self.number} splits"

    def on(self, sample: Sample, units: Units, rng: np.random.Generator) -> Splits:
        """Return the plan with its splits drawn and checked.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.data.sample import Sample
        >>> from pyinterp.resampling.resampling import Units
        >>> rows = Sample(variables=data[["bmi"]], y=None, response=None, rows=np.arange(len(data)))
        >>> units = Units.make(rows.nobs, None, None)
        >>> plan.on(rows, units, np.random.default_rng(1)).number
        5
        """
        if _is_splitter(self.splits):
            groups = None if self.cluster is None else units.of_row
            splits = _draw(self.splits, sample, groups, rng)
        else:
            splits = [_read(pair, k, sample.nobs) for k, pair in enumerate(self.splits, 1)]
        if len(splits) < 2:
            raise OptionError(
                f"There must be at least 2 splits, but {quote(self.splits)} gives {len(splits)}; "
                "for one use `pi.Holdout`."
            )
        seen: dict[tuple[bytes, bytes], int] = {}
        for k, split in enumerate(splits, 1):
            _check(split, k, sample.nobs, units)
            key = np.sort(split.train).tobytes(), np.sort(split.evaluation).tobytes()
            if key in seen:
                raise OptionError(
                    f"Splits must differ, but split {k} is split {seen[key]} again, which would "
                    "count the same refit twice."
                )
            seen[key] = k
        new = replace(self)
        object.__setattr__(new, "_splits", tuple(splits))
        object.__setattr__(new, "note", _note(splits))
        if all(split.train.max() < split.evaluation.min() for split in splits):
            object.__setattr__(new, "where", LATER_ROWS)
        return new

    def parts(
        self, sample: Sample, units: Units, rng: np.random.Generator, read: Reader
    ) -> Iterator[RefitRows]:
        """Yield every refit's training and evaluation rows.

        Examples
        --------
        >>> import numpy as np
        >>> from pyinterp.data.sample import Sample
        >>> from pyinterp.resampling.resampling import Units
        >>> rows = Sample(variables=data[["bmi"]], y=None, response=None, rows=np.arange(len(data)))
        >>> units = Units.make(rows.nobs, None, None)
        >>> plan = plan.on(rows, units, np.random.default_rng(1))
        >>> next(plan.parts(rows, units, np.random.default_rng(1), None)).train
        <Sample: 353 rows, 1 variables>
        """
        plan = self if self._splits else self.on(sample, units, rng)
        for train, evaluation, _ in plan._splits:
            yield part_of(sample, train, evaluation, of_row=units.of_row, label=plan.label)


def plan_of(resampling: object) -> object:
    """Return `Splits` of a splitter or a list; anything else as it is."""
    if isinstance(resampling, Resampling):
        return resampling
    if _is_splitter(resampling) or isinstance(resampling, list | tuple):
        return Splits(resampling)
    return resampling


def _is_splitter(splits: object) -> bool:
    """Whether it is an object with the methods of scikit-learn's splitters."""
    methods = (getattr(splits, name, None) for name in ("split", "get_n_splits"))
    return not isinstance(splits, str | type) and all(map(callable, methods))


def _note(splits: Sequence[Split]) -> str:
    """Return a footnote on the target of the variance; empty if it is for any use."""
    sizes = sorted({len(pd.unique(split.train)) for split in splits})
    if sizes[-1] <= 1.2 * sizes[0]:
        return ""
    return (
        f"Refits train on {sizes[0]} to {sizes[-1]} rows, and estimates are means over "
        "them; a variance takes them as alike."
    )


def _draw(
    splitter: Any, sample: Sample, groups: IntArray | None, rng: np.random.Generator
) -> list[Split]:
    """Return the splits of a splitter of scikit-learn."""
    splitter = copy.copy(splitter)
    seed = int(rng.integers(2**31 - 1))
    if getattr(splitter, "random_state", seed) is None:
        splitter.random_state = seed
    try:
        with warnings.catch_warnings():
            # Splitters that ignore clusters are refused if they split one.
            warnings.filterwarnings("ignore", message=".*groups parameter is ignored")
            pairs = list(splitter.split(sample.variables, sample.y, groups))
    except Exception as error:
        lacks_groups = groups is None and "group" in str(error).lower()
        hint = " Its groups are `pi.Splits(splitter, cluster=...)`." if lacks_groups else ""
        why = reason(error).rstrip(".")
        raise OptionError(
            f"{type(splitter).__name__} can't split the {sample.nobs} rows: {why}.{hint}"
        ) from error
    return [Split(np.asarray(train, np.intp), np.asarray(test, np.intp)) for train, test in pairs]


def _read(pair: Any, k: int, nobs: int) -> Split:
    """Return a pair of positions or masks as positions."""
    if not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
        raise OptionError(
            f"Every split must be a pair (train, test) of positions or masks; split {k} is "
            f"{quote(pair)}."
        )
    return Split(_positions(pair[0], k, "train", nobs), _positions(pair[1], k, "test", nobs))


def _positions(rows: Any, k: int, side: str, nobs: int) -> IntArray:
    """Return the positions of a user's rows of one side of split k, by numbers or a mask."""
    try:
        array = np.asarray(rows)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim == 1 and array.dtype == bool:
        if len(array) != nobs:
            raise OptionError(
                f"A mask must have a value for each of the {nobs} rows, but the {side} rows of "
                f"split {k} have {len(array)}."
            )
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise OptionError(
            f"The {side} rows of split {k} must be whole positions, 0 to {nobs - 1}, or a mask, "
            f"not {quote(rows)}."
        )
    return array.astype(np.intp)


def _check(split: Split, k: int, nobs: int, units: Units) -> None:
    """Raise `OptionError` if a split can't train and evaluate a refit."""
    train, test, _ = split
    for side, rows in (("train", train), ("test", test)):
        if not len(rows):
            raise OptionError(f"Split {k} has no {side} rows; leave it out.")
        wrong = rows[(rows < 0) | (rows >= nobs)]
        if len(wrong):
            raise OptionError(
                f"Rows are counted from 0 to {nobs - 1}, but split {k} has {side} row {wrong[0]}; "
                "positions are those of the data, not its index."
            )
    if len(pd.unique(test)) < len(test):
        raise OptionError(f"Split {k} has a test row twice; each may evaluate a refit once.")
    both = np.intersect1d(train, test)
    if len(both):
        raise OptionError(
            f"Train and test rows must be apart, but split {k} has {len(both)} rows in both, "
            f"such as {both[0]}."
        )
    across = np.intersect1d(units.of_row[train], units.of_row[test])
    if len(across):
        raise OptionError(
            f"No cluster may stand on both sides, but split {k} has {len(across)} that do; use a "
            "splitter of groups, such as GroupKFold."
        )
