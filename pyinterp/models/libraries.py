"""The libraries of learners that the package knows, and the library of an estimator.

A library is recognized by the names of the modules of classes: none is imported for it.
"""

from __future__ import annotations

from typing import Any

from pyinterp.models.catboost import CATBOOST
from pyinterp.models.glum import GLUM
from pyinterp.models.library import Library
from pyinterp.models.lightgbm import LIGHTGBM
from pyinterp.models.scikit_learn import SCIKIT_LEARN
from pyinterp.models.skorch import SKORCH
from pyinterp.models.statsmodels import STATSMODELS
from pyinterp.models.xgboost import XGBOOST

LIBRARIES = (STATSMODELS, SCIKIT_LEARN, XGBOOST, LIGHTGBM, CATBOOST, GLUM, SKORCH)
OTHER = Library(package="", regular=False)
BY_PACKAGE = {library.package: library for library in LIBRARIES}
# Modules whose classes everybody's estimators inherit.
BASES = ("sklearn.base", "sklearn.utils.")


def library_of(model: Any) -> Library:
    """Return the library of an estimator, a fitted model or a class, by the names of modules.

    A class outside of them belongs to that of the nearest class that it inherits.
    """
    is_class = isinstance(model, type)
    for library in LIBRARIES:
        if library.recognizes is not None and library.recognizes(model):
            return library
    for kind in (model if is_class else type(model)).__mro__:
        library = BY_PACKAGE.get(kind.__module__.partition(".")[0], OTHER)
        known = library is not OTHER and (is_class or library.recognizes is None)
        if known and not kind.__module__.startswith(BASES):
            return library
    return OTHER
