"""Ames housing: sale prices and properties of houses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyinterp.datasets._registry import AMES
from pyinterp.datasets._source import load_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_ames"]


def load_ames(*, data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return the sale price and 80 properties of houses sold in Ames, Iowa, from 2006 to 2010.

    The processed table of ``AmesHousing::make_ames()`` in R. Use the data for regression with many
    features of mixed type.

    Parameters
    ----------
    data_home : path, optional
        Folder of scikit-learn's download cache (default: scikit-learn's own). Not used when the
        environment variable ``PYINTERP_DATA`` names a folder with ``ames.csv``.

    Returns
    -------
    pandas.DataFrame, shape (2930, 81)
        In the source's row order: 46 columns of type category, 33 of type int64, two of type
        float64 (the coordinates). The response is ``Sale_Price`` in US$ (12789 to 755000); it is
        not the last column, for ``Longitude`` and ``Latitude`` follow it.

        ==================================================  =======================
        Columns                                             Unit
        ==================================================  =======================
        ``*_Area``, ``*_SF``, ``*_Porch``,                  square feet, except
        ``Three_season_porch``                              ``BsmtFin_SF_1``
        ``Lot_Frontage``                                    feet
        ``Year_*``, ``Mo_Sold``                             calendar year, month
        ``*_Bath``, ``*_AbvGr``, ``*_AbvGrd``,              counts
        ``Fireplaces``, ``Garage_Cars``
        ``Misc_Val``, ``Sale_Price``                        US$
        ``Longitude``, ``Latitude``                         degrees
        ==================================================  =======================

    Raises
    ------
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    Traps:

    * ``BsmtFin_SF_1`` is not an area. A slip in ``make_ames()`` stores the code of
      ``BsmtFin_Type_1`` (1 to 7, once 0) instead. It is kept, for R's results depend on it. The
      area is ``Total_Bsmt_SF - BsmtFin_SF_2 - Bsmt_Unf_SF`` in every row.
    * The text ``None`` is a level of ``Mas_Vnr_Type`` (1775 houses) and ``Misc_Feature`` (2824). A
      default ``pandas.read_csv`` turns it into NaN; this function does not.
    * No value is missing, but zero may mean unknown: ``Lot_Frontage`` is 0 in 490 rows.
      One house has ``Electrical`` equal to ``Unknown``.
    * The level ``WD`` of ``Sale_Type`` ends in a space, as in R.
    * Five houses have ``Gr_Liv_Area`` above 4000 square feet; De Cock advises to drop them.

    Levels are those that occur, unordered, sorted by character code. R has another order (and with
    it another baseline of dummy coding), and two levels that no house has: ``Hayden_Lake`` of
    ``Neighborhood`` and ``Very_Excellent`` of ``Overall_Cond``.

    ``modeldata::ames`` in R is this table without ``Overall_Qual``, ``Exter_Qual``, ``Bsmt_Qual``,
    ``Low_Qual_Fin_SF``, ``Kitchen_Qual``, ``Fireplace_Qu`` and ``Garage_Qual``. The raw data are
    coded otherwise and have missing values.

    In the CSV file 211 coordinates have a rounding error in the 16th digit. They are read as they
    are; a download is compared, and returned, with 15 digits. Nothing else differs.

    Source: Ames City Assessor's Office; OpenML data set 43926. License: none stated with the data
    (the R package AmesHousing is GPL-2, modeldata is MIT).

    References
    ----------
    D. De Cock (2011). Ames, Iowa: Alternative to the Boston Housing Data as an End of Semester
    Regression Project. Journal of Statistics Education 19(3).

    Examples
    --------
    >>> from pyinterp.datasets import load_ames
    >>> load_ames().shape  # doctest: +SKIP
    (2930, 81)
    """
    return load_table(AMES, data_home)
