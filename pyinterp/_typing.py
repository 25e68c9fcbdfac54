"""Names of the arrays that pass between modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd
    from narwhals.typing import IntoDataFrame

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
# One value per row of the user's data.
Column: TypeAlias = "pd.Series[Any]"
# How means are compared, and which of them.
MeanRelation: TypeAlias = Literal["difference", "ratio", "odds ratio"]
DifferenceKind: TypeAlias = Literal["reference", "adjacent", "all"]
Matrix: TypeAlias = "FloatArray | pd.DataFrame | IntoDataFrame"
