"""Public data sets of the examples: each loader returns a data frame with a named response.

======================  =====================  ========================  =====================
Loader                  Rows x columns         Response                  Source
======================  =====================  ========================  =====================
``load_wine_quality``   1599 x 12              ``quality``               this package, offline
white wines             4898 x 12              ``quality``               folder, else OpenML
``load_concrete``       1030 x 9               ``compressive_strength``  folder, else OpenML
``load_pima_diabetes``  768 x 9                ``diabetes``              folder, else OpenML
``load_airfoil``        1503 x 6               ``sound_pressure``        folder, else OpenML
``load_ames``           2930 x 81              ``Sale_Price``            folder, else OpenML
``load_diabetes``       442 x 11               ``progression``           scikit-learn, offline
======================  =====================  ========================  =====================

Red wines come with the package; ``wine_quality_red.txt`` has their source and license. Of the data
that are not offline, if the environment variable ``PYINTERP_DATA`` names a folder, the CSV files
there are read. If it is unset or empty, scikit-learn downloads the data from OpenML into its own
cache. Either way the table is compared with a pinned SHA-256, and a table that differs is an error.

``load`` takes a data set by name; all are in `loaders`. Importing this package imports no
third-party module.
"""

from pyinterp.datasets.loaders import (
    load,
    load_airfoil,
    load_ames,
    load_concrete,
    load_diabetes,
    load_pima_diabetes,
    load_wine_quality,
)

__all__ = [
    "load",
    "load_airfoil",
    "load_ames",
    "load_concrete",
    "load_diabetes",
    "load_pima_diabetes",
    "load_wine_quality",
]
