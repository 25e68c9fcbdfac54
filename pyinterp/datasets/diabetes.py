"""Diabetes progression: scikit-learn's bundled data, in the units of measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_diabetes"]


def load_diabetes() -> pd.DataFrame:
    """Return the baseline measurements and the one-year progression of 442 diabetes patients.

    Bundled with scikit-learn, so neither a folder nor a network is needed. There are no missing
    values. Use the data for examples that must run anywhere.

    Returns
    -------
    pandas.DataFrame, shape (442, 11)
        All columns of type float64:

        ===========  ==========================================================
        Column       Unit
        ===========  ==========================================================
        age          years
        sex          1 or 2 (the source doesn't say which is which)
        bmi          body mass index, kg / m2
        bp           average blood pressure, mm Hg
        s1           total serum cholesterol
        s2           low-density lipoproteins
        s3           high-density lipoproteins
        s4           total cholesterol divided by high-density lipoproteins
        s5           possibly the logarithm of serum triglycerides
        s6           blood sugar
        progression  **response**: disease progression one year after baseline
                     (25 to 346, no unit)
        ===========  ==========================================================

    Notes
    -----
    This is ``sklearn.datasets.load_diabetes(as_frame=True, scaled=False).frame`` with ``target``
    renamed. scikit-learn's default scales every feature to mean 0 and sum of squares 1; these are
    the unscaled values. The serum measurements have no stated units.

    The serum columns are collinear: ``s2`` and ``s3`` explain 86 percent of the variance of
    ``s1``. These are not the Pima data of `load_pima_diabetes`.

    Source: the data of the paper below, as bundled with scikit-learn. License: none stated with
    the data; scikit-learn, which distributes them, is BSD-3-Clause.

    References
    ----------
    B. Efron, T. Hastie, I. Johnstone, R. Tibshirani (2004). Least angle regression. Annals of
    Statistics 32(2), 407-499.

    Examples
    --------
    >>> from pyinterp.datasets import load_diabetes
    >>> load_diabetes().shape
    (442, 11)
    >>> float(load_diabetes()["progression"].median())
    140.5
    """
    from sklearn import datasets  # noqa: PLC0415

    frame = datasets.load_diabetes(as_frame=True, scaled=False).frame
    return cast("pd.DataFrame", frame.rename(columns={"target": "progression"}))
