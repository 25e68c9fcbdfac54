"""What processes are made of: draws of features, and columns as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

FloatArray: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = npt.NDArray[Any]


def columns(frame: pd.DataFrame, *names: str) -> list[FloatArray]:
    """Return columns as arrays of floats."""
    return [frame[name].to_numpy(dtype=np.float64) for name in names]


def uniform(n: int, rng: np.random.Generator, *, names: Sequence[str]) -> pd.DataFrame:
    """Draw independent features, uniform on [0, 1]."""
    return pd.DataFrame(rng.random((n, len(names))), columns=list(names))
