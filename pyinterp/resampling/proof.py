"""Proof that kept refits are of this call: one is made again, and must predict the same."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from pyinterp._typing import FloatArray
from pyinterp.data.design import Design
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, quote, short
from pyinterp.resampling.checkpoint import Checkpoint

Answers: TypeAlias = Mapping[Any, FloatArray]  # of a refit, by name
SAME = 1e-9  # of the standard deviation: threads add up in another order
ROUNDING = 1e-4  # of the largest number, at least: predictions may be equal but for rounding
PACKAGES = {"numpy", "scipy", "pandas", "patsy", "sklearn", "pyinterp"}


def digest_of(samples: Iterable[Sample], *, positions: bool = False) -> str:
    """Return a digest of rows: of their values, or of their `positions` in the data alone.

    Names of rows and the order of columns do not count.
    """
    digest = sha256()
    for sample in samples:
        digest.update(f"{sample.nobs} {sample.response}".encode())
        digest.update(sample.rows.astype(np.int64).tobytes())
        if positions:
            continue
        for part in (sample.y, sample.clusters, sample.weights):
            digest.update(b"-" if part is None else part.tobytes())
        for name in sorted(sample.variables, key=str):
            values = pd.util.hash_pandas_object(sample.variables[name], index=False)
            digest.update(f"{name} ".encode() + values.to_numpy().tobytes())
    return digest.hexdigest()


def circumstances(estimator: Any, design: Design) -> dict[str, str]:
    """Return in words what refits rest on: settings, columns, versions and the processor."""
    settings = {"learner": estimator, **estimator.get_params(deep=True)}
    packages = {type(value).__module__.partition(".")[0] for value in settings.values()} | PACKAGES
    # What libraries of linear algebra find tells processors apart that have one name.
    kinds = sorted({each["architecture"] for each in threadpool_info() if "architecture" in each})
    return {
        **{name: quote(value, 1000) for name, value in settings.items()},
        "learner": type(estimator).__name__,
        "columns": ", ".join(map(str, design.columns)),
        "python": platform.python_version(),
        **{p: str(getattr(sys.modules.get(p), "__version__", "")) for p in sorted(packages)},
        "machine": " ".join([platform.system(), platform.machine(), *kinds]),
    }


def prove(
    number: int,
    kept: Answers,
    again: Answers,
    make: Callable[[], Answers],
    checkpoint: Checkpoint,
    here: Mapping[str, str],
) -> bool:
    """Return whether a refit that was made again answers as the one that is kept.

    False if nothing can be proven, because the learner never repeats what it does.

    Parameters
    ----------
    number : int
        Of the refit.
    kept, again : mapping of str to ndarray
        What the two answer.
    make : callable
        Makes the refit once more, and returns what it answers.
    checkpoint : Checkpoint
    here : mapping of str to str
        The circumstances.

    Raises
    ------
    OptionError
        If it is of another learner. The message has the settings and versions that differ.
    """
    again = again or make()  # a failure may be by chance
    apart = _distance(again, kept)
    if apart <= SAME:
        return True
    if _distance(make(), make()) > SAME:
        return False
    there = checkpoint.facts.get("words", {})
    differ = [name for name in {**there, **here} if here.get(name) != there.get(name)]
    words = [
        f"{n}: {short(there.get(n, 'none'), 40)} there, {short(here.get(n, 'none'), 40)} here"
        for n in differ
    ]
    code = "its code, or a file that it reads"
    if kept.keys() != again.keys():
        code = "it fails now, or `measure` asks for something else"
    why = short("; ".join(words), 150) or f"no setting differs: {code}"
    far = f"by {apart:.2g} standard deviations" if apart < np.inf else "other names or shapes"
    trees = "On another processor trees may split otherwise. " if "machine" in differ else ""
    raise OptionError(
        f"{str(checkpoint.folder)!r} keeps refits of another learner: refit {number}, made again, "
        f"answers otherwise ({far}); {why}. {trees}Give another folder."
    )


def _distance(some: Answers, others: Answers) -> float:
    """Return the largest difference in standard deviations, infinite of other names or shapes."""
    if some.keys() != others.keys():
        return np.inf
    return max((_apart(some[name], others[name]) for name in some), default=0.0)


def _apart(one: FloatArray, other: FloatArray) -> float:
    lacking = np.isnan(other)
    if one.shape != other.shape or not np.array_equal(np.isnan(one), lacking):
        return np.inf
    one, other = one[~lacking], other[~lacking]
    scale = max(other.std(), ROUNDING * np.abs(other).max()) if len(other) else 0.0
    return float(np.abs(one - other).max(initial=0.0) / (scale or 1.0))
