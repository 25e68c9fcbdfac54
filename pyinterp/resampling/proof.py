"""Proof that kept refits are of this call: one is made again, and must predict the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError
from pyinterp.resampling.checkpoint import Checkpoint

Answers: TypeAlias = Mapping[Any, FloatArray]  # of a refit, by name
SAME = 1e-9  # of the standard deviation: threads add up in another order
ROUNDING = 1e-4  # of the largest number, at least: predictions may be equal but for rounding


def digest_of(
    samples: Iterable[Sample], *, among: IntArray | None = None, named: bool = True
) -> str:
    """Return a digest of rows: of their values, or of their places `among` the analyzed ones alone.

    Names of rows, the order of columns and the types of numbers do not count, nor, unless they are
    `named`, the names of columns.
    """
    digest = sha256()
    for sample in samples:
        digest.update(f"{sample.nobs} {sample.response}".encode())
        if among is not None:
            digest.update(np.searchsorted(among, sample.rows).astype(np.int64).tobytes())
            continue
        for part in (sample.y, sample.clusters, sample.weights):
            digest.update(b"-" if part is None else part.tobytes())
        columns = []
        for name, column in sample.variables.items():
            if is_numeric_dtype(column) and not is_bool_dtype(column):
                column = column.astype(np.float64)  # noqa: PLW2901
            values = pd.util.hash_pandas_object(column, index=False).to_numpy()
            columns.append(f"{name if named else ''} ".encode() + sha256(values.tobytes()).digest())
        digest.update(b"".join(sorted(columns)))
    return digest.hexdigest()


def prove(
    number: int,
    kept: Answers,
    make: Callable[[], Answers],
    checkpoint: Checkpoint,
    *,
    times: int = 1,
) -> bool:
    """Return whether a refit that is made again answers as the one that is kept.

    False if nothing can be proven, because the learner never repeats what it does.

    Parameters
    ----------
    number : int
        Of the refit.
    kept : mapping of str to ndarray
        What it answers.
    make : callable
        Makes the refit once more, and returns what it answers; nothing if it fails.
    checkpoint : Checkpoint
    times : int
        How often it must answer the same.

    Raises
    ------
    OptionError
        If it is of another learner.
    """
    for _ in range(times):
        apart = _distance(make() or make(), kept)  # a failure may be by chance
        if apart > SAME:
            break
    else:
        return True
    if kept and _distance(make(), make()) > SAME:
        return False
    far = f"by {apart:.2g} standard deviations" if apart < np.inf else "other names or shapes"
    raise OptionError(
        f"{str(checkpoint.folder)!r} keeps refits of another learner: refit {number}, made again, "
        f"answers otherwise ({far}). A setting, its code, a file that it reads, a version, the "
        "processor, or what `measure` asks is another. Give another folder."
    )


def _distance(some: Answers, others: Answers) -> float:
    """Return the largest difference in standard deviations, infinite if names or shapes differ."""
    if some.keys() != others.keys():
        return np.inf
    return max((_apart(some[name], others[name]) for name in some), default=0.0)


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Return the largest difference of two arrays, in standard deviations of the second."""
    lacking = np.isnan(other)
    if one.shape != other.shape or not np.array_equal(np.isnan(one), lacking):
        return np.inf
    one, other = one[~lacking], other[~lacking]
    scale = max(other.std(), ROUNDING * np.abs(other).max()) if len(other) else 0.0
    return float(np.abs(one - other).max(initial=0.0) / (scale or 1.0))
