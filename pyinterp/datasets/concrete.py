"""Concrete: compressive strength of mixtures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyinterp.datasets._registry import CONCRETE
from pyinterp.datasets._source import load_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_concrete"]


def load_concrete(*, data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return the composition, age and compressive strength of concrete samples.

    There are no missing values. Use the data for regression with strong interactions (age with
    everything) and correlated features (the mixture fills one cubic meter).

    Parameters
    ----------
    data_home : path, optional
        Folder of scikit-learn's download cache (default: scikit-learn's own). Not used when the
        environment variable ``PYINTERP_DATA`` names a folder with ``concrete.csv``.

    Returns
    -------
    pandas.DataFrame, shape (1030, 9)
        In the source's row order, with the columns

        ====================  =======  ==========================================
        Column                Type     Unit
        ====================  =======  ==========================================
        cement                float64  kg per m3 of mixture
        blast_furnace_slag    float64  kg per m3 of mixture
        fly_ash               float64  kg per m3 of mixture
        water                 float64  kg per m3 of mixture
        superplasticizer      float64  kg per m3 of mixture
        coarse_aggregate      float64  kg per m3 of mixture
        fine_aggregate        float64  kg per m3 of mixture
        age                   int64    days (1 to 365, 14 distinct values)
        compressive_strength  float64  **response**: MPa (2.33 to 82.6)
        ====================  =======  ==========================================

    Raises
    ------
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    Rows repeat: 25 are copies of an earlier row. They are kept, as at UCI, so a random split puts
    copies of training rows into the test set. Zeros in slag, fly ash and superplasticizer are
    real: the mixture has none.

    UCI offers the table twice, and its spreadsheet has more digits than its text file (a strength
    of 79.98611076 instead of 79.99). This is the text file: mixtures to 0.1, strength to 0.01. A
    download with more digits is rounded to it, half up.

    Source: UCI Machine Learning Repository, data set 165, doi:10.24432/C5PK67; OpenML data set
    44959. License: CC BY 4.0 (the text that comes with the data asks to retain the copyright
    notice for Prof. I-Cheng Yeh and the citation).

    References
    ----------
    I-C. Yeh (1998). Modeling of strength of high performance concrete using artificial neural
    networks. Cement and Concrete Research 28(12), 1797-1808.

    Examples
    --------
    >>> from pyinterp.datasets import load_concrete
    >>> load_concrete().shape  # doctest: +SKIP
    (1030, 9)
    """
    return load_table(CONCRETE, data_home)
