"""Names of the arrays that pass between modules."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd
    from narwhals.typing import IntoDataFrame

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
TwoArrays = tuple[FloatArray, FloatArray]
# One value per row of the user's data.
Column: TypeAlias = "pd.Series[Any]"
FilePath = str | os.PathLike[str]
# How means are compared, and which of them.
MeanRelation = Literal["difference", "ratio", "odds ratio"]
DifferenceKind = Literal["reference", "adjacent", "all"]
Matrix: TypeAlias = "FloatArray | pd.DataFrame | IntoDataFrame"
