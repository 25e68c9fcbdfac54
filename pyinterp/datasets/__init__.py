"""Public data sets of the examples: each loader returns a data frame with a named response.

======================  =====================  ========================  =====================
Loader                  Rows x columns         Response                  Source
======================  =====================  ========================  =====================
``load_wine_quality``   1599 x 12, 4898 x 12   ``quality``               folder, else OpenML
``load_concrete``       1030 x 9               ``compressive_strength``  folder, else OpenML
``load_pima_diabetes``  768 x 9                ``diabetes``              folder, else OpenML
``load_airfoil``        1503 x 6               ``sound_pressure``        folder, else OpenML
``load_ames``           2930 x 81              ``Sale_Price``            folder, else OpenML
``load_diabetes``       442 x 11               ``progression``           scikit-learn, offline
======================  =====================  ========================  =====================

No data come with the package. If the environment variable ``PYINTERP_DATA`` names a folder, the
CSV files there are read. If it is unset or empty, scikit-learn downloads the data from OpenML into
its own cache. Either way the table is compared with a pinned SHA-256, and a table that differs is
an error.

Every loader is imported on first use, so that importing this package imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyinterp.datasets.airfoil import load_airfoil
    from pyinterp.datasets.ames import load_ames
    from pyinterp.datasets.concrete import load_concrete
    from pyinterp.datasets.diabetes import load_diabetes
    from pyinterp.datasets.pima import load_pima_diabetes
    from pyinterp.datasets.wine import load_wine_quality

__all__ = [
    "load_airfoil",
    "load_ames",
    "load_concrete",
    "load_diabetes",
    "load_pima_diabetes",
    "load_wine_quality",
]

_HOME = {
    "load_airfoil": "airfoil",
    "load_ames": "ames",
    "load_concrete": "concrete",
    "load_diabetes": "diabetes",
    "load_pima_diabetes": "pima",
    "load_wine_quality": "wine",
}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name` (PEP 562)."""
    if name in _HOME:
        value = getattr(importlib.import_module(f"pyinterp.datasets.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pyinterp.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
