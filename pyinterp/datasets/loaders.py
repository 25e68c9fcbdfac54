"""The loaders: one function that loads any data set, and one for each with its description."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeAlias, get_args

from pyinterp.checks import check_choice
from pyinterp.datasets._docstrings import docstring
from pyinterp.datasets._registry import DATA_SETS
from pyinterp.datasets._source import load_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "load",
    "load_airfoil",
    "load_ames",
    "load_concrete",
    "load_diabetes",
    "load_pima_diabetes",
    "load_wine_quality",
]

P = ParamSpec("P")
Folder: TypeAlias = str | os.PathLike[str] | None
WineColor = Literal["red", "white"]
Zeros = Literal["keep", "missing"]

_ZERO_IS_MISSING = ["glucose", "pressure", "triceps", "insulin", "mass"]


def load(name: str, *, data_home: Folder = None) -> pd.DataFrame:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        "wine_quality_red", "wine_quality_white", "concrete", "pima_diabetes", "airfoil", "ames"
        or "diabetes". The functions ``load_...`` describe the data sets.
    data_home : path, optional
        Folder of scikit-learn's download cache (default: scikit-learn's own), for data that come
        neither with this package nor with scikit-learn. Not used when the environment variable
        ``PYINTERP_DATA`` names a folder with the CSV files.

    Returns
    -------
    pandas.DataFrame
        In the source's row order.

    Raises
    ------
    OptionError
        If there is no data set of that name.
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Examples
    --------
    >>> from pyinterp.datasets import load
    >>> load("diabetes").shape
    (442, 11)
    """
    check_choice("name", name, tuple(DATA_SETS))
    return load_table(DATA_SETS[name], data_home)


def _loads(*names: str) -> Callable[[Callable[P, pd.DataFrame]], Callable[P, pd.DataFrame]]:
    """Let the docstring of a loader describe the data sets that it loads."""

    def described(loader: Callable[P, pd.DataFrame]) -> Callable[P, pd.DataFrame]:
        loader.__doc__ = docstring(loader, [DATA_SETS[name] for name in names])
        return loader

    return described


@_loads("wine_quality_red", "wine_quality_white")
def load_wine_quality(color: WineColor = "red", *, data_home: Folder = None) -> pd.DataFrame:
    """Return the physicochemical measurements and the taste score of red or white wines.

    color : {"red", "white"}
        Which of the two tables.
    """
    check_choice("color", color, get_args(WineColor))
    return load(f"wine_quality_{color}", data_home=data_home)


@_loads("concrete")
def load_concrete(*, data_home: Folder = None) -> pd.DataFrame:
    """Return the composition, age and compressive strength of concrete samples."""
    return load("concrete", data_home=data_home)


@_loads("pima_diabetes")
def load_pima_diabetes(zeros: Zeros = "keep", *, data_home: Folder = None) -> pd.DataFrame:
    """Return the medical measurements and the diabetes status of 768 women of Pima descent.

    zeros : {"keep", "missing"}
        What to do with zeros that can't be: keep them, as in the source, or set them to NaN. The
        columns concerned and how often: glucose 5, pressure 35, triceps 227, insulin 374, mass 11.
        With "missing" these five are float64.
    """
    check_choice("zeros", zeros, get_args(Zeros))
    frame = load("pima_diabetes", data_home=data_home)
    if zeros == "missing":
        measured = frame[_ZERO_IS_MISSING].astype("float64")
        frame[_ZERO_IS_MISSING] = measured.mask(measured == 0)
    return frame


@_loads("airfoil")
def load_airfoil(*, data_home: Folder = None) -> pd.DataFrame:
    """Return the design and the sound pressure level of airfoils in a wind tunnel."""
    return load("airfoil", data_home=data_home)


@_loads("ames")
def load_ames(*, data_home: Folder = None) -> pd.DataFrame:
    """Return the sale price and 80 properties of houses sold in Ames, Iowa, from 2006 to 2010."""
    return load("ames", data_home=data_home)


@_loads("diabetes")
def load_diabetes() -> pd.DataFrame:
    """Return the baseline measurements and the one-year progression of 442 diabetes patients."""
    return load("diabetes")
