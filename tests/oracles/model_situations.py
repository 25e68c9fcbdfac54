"""Situations in which a model meets the package: data of odd scales, names, types and indexes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import Phase
from hypothesis import strategies as st

NAMES = {
    "plain": ("x1", "x2", "x3"),
    "spaces": ("a b", "b_a", "c d e"),
    "dots": ("a.b", "b.", ".c"),
    "unicode": ("größe", "年齢", "naïve é"),
    "clash": ("y", "loss", "row"),
    "numbers": ("1", "2", "10"),
}
LABELS = {
    "strings": ("no", "maybe", "yes"),
    "ints": (7, -3, 100),
    "floats": (2.0, 0.0, 1.0),
    "codes": (0, 1, 2),
    "bools": (True, False),
}
INDEXES = ["range", "shuffled", "strings", "dates", "duplicates", "multi"]
CONTAINERS = ["frame", "array", "fortran", "read-only", "float32", "Int64", "mixed"]
ONCE = [Phase.generate]  # a failing case is small as it is, and costs too much to shrink
OFFSETS = [0.0, 0.0, 1.0, -1e3, 1e6, 1e8]
SCALES = [1.0, 1.0, 1e-8, 1e-3, 1e3, 1e8]


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What hypothesis draws; all else follows from it."""

    seed: int
    n_train: int
    n_eval: int
    same_rows: bool
    y_offset: float
    y_scale: float
    x_offset: float
    x_scale: float
    names: str
    container: str
    index: str
    columns: str  # "normal", "ties", "constant", "rare" or "duplicate rows"
    labels: str
    classes: int
    lose_class: bool

    def __post_init__(self):
        """Offsets leave at least half of the digits."""
        for name in ("x", "y"):
            least = 1e-8 * abs(getattr(self, f"{name}_offset"))
            scale = max(getattr(self, f"{name}_scale"), least)
            object.__setattr__(self, f"{name}_scale", scale)

    @property
    def rng(self):
        """The same stream at every call."""
        return np.random.default_rng(self.seed)


def situations():
    return st.builds(
        Situation,
        seed=st.integers(0, 2**31),
        n_train=st.integers(24, 60),
        n_eval=st.integers(6, 40),
        same_rows=st.booleans(),
        y_offset=st.sampled_from(OFFSETS),
        y_scale=st.sampled_from(SCALES),
        x_offset=st.sampled_from(OFFSETS),
        x_scale=st.sampled_from(SCALES),
        names=st.sampled_from(sorted(NAMES)),
        container=st.sampled_from(CONTAINERS),
        index=st.sampled_from(INDEXES),
        columns=st.sampled_from(["normal", "ties", "constant", "rare", "duplicate rows"]),
        labels=st.sampled_from(sorted(LABELS)),
        classes=st.sampled_from([2, 3]),
        lose_class=st.booleans(),
    )


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows that train and rows that evaluate, with the response `y` of each kind.

    `signal` is a standardized response, from which kinds of models make theirs.
    """

    train: Any
    X: Any
    signal_train: np.ndarray
    signal: np.ndarray
    names: tuple[str, ...]


def table(case, *, tame=False, levels=False, frame=False):
    """Make the data of a situation: three numbers and, if asked for, a category `g`.

    `tame` keeps features near 0 and of scale 1, for models that overflow elsewhere.
    """
    rng = case.rng
    z = _columns(case, rng)
    g = rng.integers(0, 3, len(z))
    signal = z[:, 0] - 0.5 * z[:, 1] + 0.4 * z[:, 0] * z[:, 2] + 0.5 * rng.normal(size=len(z))
    signal = signal + levels * (g - 1.0)
    x = z if tame else case.x_offset + case.x_scale * z
    first = np.arange(case.n_train)
    second = first if case.same_rows else np.arange(case.n_train, len(z))
    rows = _container(case, x, g if levels else None, frame=frame or levels)
    index = _index(case, rng, len(second))
    return Table(
        train=_take(rows, first, None),
        X=_take(rows, second, index),
        signal_train=signal[first],
        signal=signal[second],
        names=NAMES[case.names] + (("g",) if levels else ()),
    )


def _columns(case, rng):
    z = rng.normal(size=(case.n_train + case.n_eval, 3))
    if case.columns == "ties" or case.container == "Int64":
        z = np.round(z)
    if case.columns == "constant":
        z[:, 2] = 1.0
    if case.columns == "rare":
        z[:, 2] = 0.0
        z[[0, -1], 2] = 1.0
    if case.columns == "duplicate rows":
        z = z[rng.integers(0, max(3, len(z) // 3), len(z))]
    return z


def _container(case, x, g, *, frame):
    if case.container == "float32":
        x = x.astype(np.float32)
    if not frame and case.container in {"array", "fortran", "read-only", "float32"}:
        x = np.asfortranarray(x) if case.container == "fortran" else x
        x.flags.writeable = case.container != "read-only"
        return x
    rows = pd.DataFrame(x, columns=list(NAMES[case.names]))
    if case.container == "Int64":
        rows = rows.round().clip(-(2**52), 2**52).astype("int64").astype("Int64")
    if case.container == "mixed":
        rows.isetitem(1, (rows.iloc[:, 1] > rows.iloc[:, 1].median()).astype(bool))
        rows.isetitem(2, rows.iloc[:, 2].astype("float32"))
    if g is not None:
        letters = np.array(["v", "u", "w"])[g]
        rows["g"] = pd.Categorical(letters, categories=["w", "v", "never", "u"])
    return rows


def _index(case, rng, n):
    makers = {
        "range": lambda: pd.RangeIndex(n),
        "shuffled": lambda: pd.Index(rng.permutation(n) + 5),
        "strings": lambda: pd.Index([f"row {i}" for i in rng.permutation(n)]),
        "dates": lambda: pd.date_range("2020-02-28", periods=n),
        "duplicates": lambda: pd.Index(rng.integers(0, 3, n)),
        "multi": lambda: pd.MultiIndex.from_arrays([np.arange(n) // 4, np.arange(n) % 4]),
    }
    return makers[case.index]()


def _take(rows, which, index):
    if isinstance(rows, pd.DataFrame):
        taken = rows.iloc[which]
        return taken if index is None else taken.set_axis(index)
    taken = np.array(rows[which], order="F" if rows.flags.f_contiguous else "C")
    taken.flags.writeable = rows.flags.writeable
    return taken
