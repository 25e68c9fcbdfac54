"""Regression-style tables of partial dependence and importance for any learner.

Every public name is imported on first use, so that ``import pyinterp`` itself imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyinterp import datasets, r_style, samplers, simulation
    from pyinterp.estimands.effects.grids import RGrid
    from pyinterp.learner.compare import compare, summary_col
    from pyinterp.learner.fitted import FittedModel
    from pyinterp.learner.learner import Learner, LearnerResults
    from pyinterp.losses.rowwise import Loss
    from pyinterp.models.adapters import statsmodels_learner
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
    from pyinterp.results.results import EstimandResults

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
    "EstimandResults": "results.results",
    "FittedModel": "learner.fitted",
    "FreshDraws": "resampling",
    "HalfSampling": "resampling",
    "Holdout": "resampling",
    "Learner": "learner.learner",
    "LearnerResults": "learner.learner",
    "Loss": "losses.rowwise",
    "NestedBootstrap": "resampling",
    "NestedCrossValidation": "resampling",
    "RGrid": "estimands.effects.grids",
    "Subsampling": "resampling",
    "compare": "learner.compare",
    "statsmodels_learner": "models.adapters",
    "summary_col": "learner.compare",
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
