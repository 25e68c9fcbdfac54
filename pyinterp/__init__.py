"""Regression-style tables of partial dependence and importance for any learner.

Every public name is imported on first use, so that ``import pyinterp`` itself imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyinterp import datasets, r_style, samplers, simulation
    from pyinterp.adapters import statsmodels_learner
    from pyinterp.comparison import compare, summary_col
    from pyinterp.estimands.grids import RGrid
    from pyinterp.fitted import FittedModel
    from pyinterp.learner import Learner, LearnerResults
    from pyinterp.losses import Loss
    from pyinterp.resampling import (
        Bootstrap,
        CrossValidation,
        FreshDraws,
        HalfSampling,
        Holdout,
        NestedBootstrap,
        NestedCrossValidation,
        Subsampling,
    )
    from pyinterp.results import EstimandResults

__version__ = "0.1.0.dev0"

__all__ = [
    "Bootstrap",
    "CrossValidation",
    "EstimandResults",
    "FittedModel",
    "FreshDraws",
    "HalfSampling",
    "Holdout",
    "Learner",
    "LearnerResults",
    "Loss",
    "NestedBootstrap",
    "NestedCrossValidation",
    "RGrid",
    "Subsampling",
    "compare",
    "datasets",
    "r_style",
    "samplers",
    "simulation",
    "statsmodels_learner",
    "summary_col",
]

_HOME = {
    "Bootstrap": "resampling",
    "CrossValidation": "resampling",
    "EstimandResults": "results",
    "FittedModel": "fitted",
    "FreshDraws": "resampling",
    "HalfSampling": "resampling",
    "Holdout": "resampling",
    "Learner": "learner",
    "LearnerResults": "learner",
    "Loss": "losses",
    "NestedBootstrap": "resampling",
    "NestedCrossValidation": "resampling",
    "RGrid": "estimands.grids",
    "Subsampling": "resampling",
    "compare": "comparison",
    "statsmodels_learner": "adapters",
    "summary_col": "comparison",
}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name` (PEP 562)."""
    if name in ("datasets", "r_style", "samplers", "simulation"):
        return importlib.import_module(f"pyinterp.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"pyinterp.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pyinterp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
