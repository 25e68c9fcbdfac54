"""Wine quality: physicochemical tests and taste of Portuguese Vinho Verde."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, get_args

from pyinterp.checks import check_choice
from pyinterp.datasets._registry import WINE
from pyinterp.datasets._source import load_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["WineColor", "load_wine_quality"]

WineColor = Literal["red", "white"]


def load_wine_quality(
    color: WineColor = "red", *, data_home: str | os.PathLike[str] | None = None
) -> pd.DataFrame:
    """Return the physicochemical measurements and the taste score of red or white wines.

    Samples of Vinho Verde from the north of Portugal. There are no missing values. Use the data
    for regression on a response with few distinct values.

    Parameters
    ----------
    color : {"red", "white"}
        Which of the two tables.
    data_home : path, optional
        Folder of scikit-learn's download cache (default: scikit-learn's own). Not used when the
        environment variable ``PYINTERP_DATA`` names a folder with ``wine_quality_red.csv`` and
        ``wine_quality_white.csv``.

    Returns
    -------
    pandas.DataFrame, shape (1599, 12) for red, (4898, 12) for white
        In the source's row order, with the columns

        ====================  =======  =====================================
        Column                Type     Unit
        ====================  =======  =====================================
        fixed_acidity         float64  g (tartaric acid) / dm3
        volatile_acidity      float64  g (acetic acid) / dm3
        citric_acid           float64  g / dm3
        residual_sugar        float64  g / dm3
        chlorides             float64  g (sodium chloride) / dm3
        free_sulfur_dioxide   float64  mg / dm3
        total_sulfur_dioxide  float64  mg / dm3
        density               float64  g / cm3
        pH                    float64  none
        sulphates             float64  g (potassium sulphate) / dm3
        alcohol               float64  percent by volume
        quality               int64    **response**: median score of at least
                                       three tasters, from 0 to 10
        ====================  =======  =====================================

    Raises
    ------
    OptionError
        If `color` is neither "red" nor "white".
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    Rows repeat: 240 of the red and 937 of the white wines are copies of an earlier row. They are
    kept, as at UCI, so a random split puts copies of training rows into the test set.

    The score takes six values for red (3 to 8, with counts 10, 53, 681, 638, 199, 18) and seven for
    white (3 to 9, with counts 20, 163, 1457, 2198, 880, 175, 5). Expect ties and steps.

    Source: UCI Machine Learning Repository, data set 186; OpenML data sets 44972 (red) and 44971
    (white). License: CC BY 4.0 (UCI; the file that comes with the data says "public available for
    research" and asks for the citation).

    References
    ----------
    P. Cortez, A. Cerdeira, F. Almeida, T. Matos, J. Reis (2009). Modeling wine preferences by data
    mining from physicochemical properties. Decision Support Systems 47(4), 547-553.
    doi:10.1016/j.dss.2009.05.016

    Examples
    --------
    >>> from pyinterp.datasets import load_wine_quality
    >>> load_wine_quality("red").shape  # doctest: +SKIP
    (1599, 12)
    """
    check_choice("color", color, get_args(WineColor))
    return load_table(WINE[color], data_home)
