"""Names of the arrays that pass between modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
# How means are compared.
MeanRelation: TypeAlias = Literal["difference", "ratio", "odds ratio"]


class ForeignFrame(Protocol):
    """A frame of another library than pandas."""

    @property
    def shape(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...


Matrix: TypeAlias = "npt.NDArray[np.float64] | pd.DataFrame | ForeignFrame"
