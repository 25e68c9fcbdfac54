"""Airfoil self-noise: a designed experiment in a wind tunnel."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyinterp.datasets._registry import AIRFOIL
from pyinterp.datasets._source import load_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_airfoil"]


def load_airfoil(*, data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return the design and the sound pressure level of airfoils in a wind tunnel.

    NACA 0012 airfoil blades of several sizes. There are no missing values and no repeated rows.
    Use the data for regression on a smooth response with dependent features.

    Parameters
    ----------
    data_home : path, optional
        Folder of scikit-learn's download cache (default: scikit-learn's own). Not used when the
        environment variable ``PYINTERP_DATA`` names a folder with ``airfoil.csv``.

    Returns
    -------
    pandas.DataFrame, shape (1503, 6)
        In the source's row order, with the columns

        ======================  =======  =========================================
        Column                  Type     Unit
        ======================  =======  =========================================
        frequency               int64    Hz (200 to 20000)
        angle_of_attack         float64  degrees (0 to 22.2)
        chord_length            float64  m (0.0254 to 0.3048)
        free_stream_velocity    float64  m / s (31.7 to 71.3)
        displacement_thickness  float64  m, suction side (0.0004 to 0.0584)
        sound_pressure          float64  **response**: scaled level, dB (103.38 to
                                         140.987)
        ======================  =======  =========================================

    Raises
    ------
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    A designed experiment: the features have only 21, 27, 6, 4 and 105 distinct values, with strong
    ties and dependence. Velocity and chord length are better read as groups than as continua, and
    partial dependence extrapolates where thickness, angle and chord don't occur together.

    Source: UCI Machine Learning Repository, data set 291, doi:10.24432/C5VW2C; OpenML data set
    44957. License: CC BY 4.0.

    References
    ----------
    T. F. Brooks, D. S. Pope, M. A. Marcolini (1989). Airfoil self-noise and prediction. NASA
    Reference Publication 1218.

    Examples
    --------
    >>> from pyinterp.datasets import load_airfoil
    >>> load_airfoil().shape  # doctest: +SKIP
    (1503, 6)
    """
    return load_table(AIRFOIL, data_home)
