"""Pima diabetes: onset of diabetes in women of the Pima community."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, get_args

from pyinterp.checks import check_choice
from pyinterp.datasets._registry import PIMA
from pyinterp.datasets._source import load_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Zeros", "load_pima_diabetes"]

Zeros = Literal["keep", "missing"]

_ZERO_IS_MISSING = ["glucose", "pressure", "triceps", "insulin", "mass"]


def load_pima_diabetes(
    zeros: Zeros = "keep", *, data_home: str | os.PathLike[str] | None = None
) -> pd.DataFrame:
    """Return the medical measurements and the diabetes status of 768 women of Pima descent.

    At least 21 years old, living near Phoenix, Arizona. Use the data for two-class classification.

    Parameters
    ----------
    zeros : {"keep", "missing"}
        What to do with zeros that can't be: keep them, as in the source, or set them to NaN. The
        columns concerned and how often: glucose 5, pressure 35, triceps 227, insulin 374, mass 11.
    data_home : path, optional
        Folder of scikit-learn's download cache (default: scikit-learn's own). Not used when the
        environment variable ``PYINTERP_DATA`` names a folder with ``pima_diabetes.csv``.

    Returns
    -------
    pandas.DataFrame, shape (768, 9)
        In the source's row order, with the columns

        =========  ========  ====================================================
        Column     Type      Unit
        =========  ========  ====================================================
        pregnant   int64     number of pregnancies
        glucose    int64     plasma glucose two hours into an oral test, mg / dl
        pressure   int64     diastolic blood pressure, mm Hg
        triceps    int64     skin fold thickness, mm
        insulin    int64     two-hour serum insulin, mu U / ml
        mass       float64   body mass index, kg / m2
        pedigree   float64   diabetes pedigree function, no unit
        age        int64     years (21 to 81)
        diabetes   category  **response**: ``neg`` (500) or ``pos`` (268)
        =========  ========  ====================================================

        With ``zeros="missing"`` the five columns named above are float64.

    Raises
    ------
    OptionError
        If `zeros` is neither "keep" nor "missing".
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    The source has no missing value, but nobody has a blood pressure, body mass or skin fold of
    zero: these zeros are hidden missing values. A zero in ``pregnant`` (111 rows) is genuine.

    ``zeros="keep"`` agrees with ``PimaIndiansDiabetes`` of the R package mlbench and
    ``zeros="missing"`` with its ``PimaIndiansDiabetes2`` and with ``pima`` of the R package pdp,
    cell by cell.

    These are health data of an identifiable community, and UCI no longer offers them. Prefer
    another data set unless published results are to be reproduced.

    Source: National Institute of Diabetes and Digestive and Kidney Diseases; OpenML data set 37.
    License: none stated with the data. The source gives no unit of glucose; mg / dl is the usual
    one.

    References
    ----------
    J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler, R. S. Johannes (1988). Using the
    ADAP learning algorithm to forecast the onset of diabetes mellitus. Proceedings of the
    Symposium on Computer Applications and Medical Care, 261-265.

    Examples
    --------
    >>> from pyinterp.datasets import load_pima_diabetes
    >>> load_pima_diabetes(zeros="missing")["insulin"].isna().sum()  # doctest: +SKIP
    374
    """
    check_choice("zeros", zeros, get_args(Zeros))
    frame = load_table(PIMA, data_home)
    if zeros == "missing":
        measured = frame[_ZERO_IS_MISSING].astype("float64")
        frame[_ZERO_IS_MISSING] = measured.mask(measured == 0)
    return frame
