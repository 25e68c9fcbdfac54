"""The order of a category's levels by how alike their rows are in the other variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.columns import is_category
from pyinterp.samplers.sampler import codes_of

__all__ = ["similarity_order"]


def similarity_order(data: pd.DataFrame, name: str, levels: Sequence[Any]) -> list[Any]:
    """Return levels in the order of classical scaling to one dimension.

    The distance of two levels is the sum over all other variables of the Kolmogorov-Smirnov
    distance, at 100 quantiles of all rows, or for categories of the total variation distance
    (Apley and Zhu 2020; R's ``ALEPlot``). The direction is that in which the first level is in the
    lower half.
    """
    codes = codes_of(data[name], list(levels))
    distance = np.zeros((len(levels), len(levels)))
    for other in data.columns.drop(name):
        shares = _shares(data[other], codes, len(levels))
        apart = np.abs(shares[:, None, :] - shares[None, :, :])
        distance += apart.sum(axis=2) / 2 if is_category(data[other]) else apart.max(axis=2)
    place = _scaling(distance)
    return [levels[k] for k in np.argsort(place if place[0] <= 0 else -place, kind="stable")]


def _shares(column: pd.Series[Any], codes: IntArray, k: int) -> FloatArray:
    """Return every level's shares of another category, or its distribution function."""
    if is_category(column):
        # A missing value is a level of its own here.
        values: npt.NDArray[Any] = pd.factorize(column, use_na_sentinel=False)[0]
        at = np.eye(values.max() + 1)[values]
    else:
        x = column.to_numpy(dtype=np.float64)
        edges = np.nanquantile(x, np.linspace(0, 1, 100))
        at = np.column_stack([x[:, None] <= edges, np.isnan(x)]).astype(np.float64)
    return np.array([at[codes == level].mean(axis=0) for level in range(k)])


def _scaling(distance: FloatArray) -> FloatArray:
    """Return the first coordinate of classical multidimensional scaling; 0 if all are alike."""
    center = np.eye(len(distance)) - 1 / len(distance)
    values, vectors = np.linalg.eigh(-center @ np.square(distance) @ center / 2)
    coordinate = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
    return np.asarray(np.round(coordinate, 12))  # levels that are alike keep their order
