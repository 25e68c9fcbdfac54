"""Regression-style tables of partial dependence and importance for any learner.

Every public name is imported on first use, so that ``import pyinterp`` itself imports nothing else.
"""

from __future__ import annotations

import importlib
import warnings
from os import scandir, sep
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyinterp import datasets, distributions, estimators, r_style, samplers, simulation
    from pyinterp.estimands.effects.grids import RGrid
    from pyinterp.estimands.estimand import Estimand, Parameter, Terms, Words
    from pyinterp.estimands.estimate import Estimate
    from pyinterp.estimands.risk import mean_over_rows
    from pyinterp.inference import register_variance
    from pyinterp.learner.compare import compare
    from pyinterp.learner.fitted_model import FittedModel
    from pyinterp.learner.learner import Learner, LearnerResults, join
    from pyinterp.losses.metrics import Metric
    from pyinterp.losses.rowwise import Loss
    from pyinterp.models.adapters import statsmodels_learner
    from pyinterp.models.distributional import Distributional
    from pyinterp.models.early_stopping import EarlyStopping
    from pyinterp.papers import replicate
    from pyinterp.report_page import cite, referee, report
    from pyinterp.resampling import (
        Bootstrap,
        CrossValidation,
        FreshDraws,
        HalfSampling,
        Holdout,
        NestedBootstrap,
        NestedCrossValidation,
        Splits,
        Subsampling,
    )
    from pyinterp.results.results import EstimandResults
    from pyinterp.results.side_by_side import plot, summary_col
    from pyinterp.results.together import (
        CausalResults,
        CurveResults,
        ImportanceResults,
        UncertaintyResults,
    )
    from pyinterp.simulation.certify import certify
    from pyinterp.storage import load
    from pyinterp.whatif import ExactWhatIf, register_engine

__version__ = "0.1.0.dev0"

__all__ = [
    "Bootstrap",
    "CausalResults",
    "CrossValidation",
    "CurveResults",
    "Distributional",
    "EarlyStopping",
    "Estimand",
    "EstimandResults",
    "Estimate",
    "ExactWhatIf",
    "FittedModel",
    "FreshDraws",
    "HalfSampling",
    "Holdout",
    "ImportanceResults",
    "Learner",
    "LearnerResults",
    "Loss",
    "Metric",
    "NestedBootstrap",
    "NestedCrossValidation",
    "Parameter",
    "RGrid",
    "Splits",
    "Subsampling",
    "Terms",
    "UncertaintyResults",
    "Words",
    "certify",
    "cite",
    "compare",
    "datasets",
    "distributions",
    "estimators",
    "join",
    "load",
    "mean_over_rows",
    "plot",
    "r_style",
    "referee",
    "register_engine",
    "register_variance",
    "replicate",
    "report",
    "samplers",
    "simulation",
    "statsmodels_learner",
    "summary_col",
]

_FOLDERS = ("datasets", "distributions", "estimators", "r_style", "samplers", "simulation")
# Names by the module that has them.
_NAMES = {
    "estimands.effects.grids": ("RGrid",),
    "estimands.estimand": ("Estimand", "Parameter", "Terms", "Words"),
    "estimands.estimate": ("Estimate",),
    "estimands.risk": ("mean_over_rows",),
    "inference": ("register_variance",),
    "learner.compare": ("compare",),
    "learner.fitted_model": ("FittedModel",),
    "learner.learner": ("Learner", "LearnerResults", "join"),
    "losses.metrics": ("Metric",),
    "losses.rowwise": ("Loss",),
    "models.adapters": ("statsmodels_learner",),
    "models.distributional": ("Distributional",),
    "models.early_stopping": ("EarlyStopping",),
    "papers": ("replicate",),
    "report_page": ("cite", "referee", "report"),
    "resampling": (
        "Bootstrap",
        "CrossValidation",
        "FreshDraws",
        "HalfSampling",
        "Holdout",
        "NestedBootstrap",
        "NestedCrossValidation",
        "Splits",
        "Subsampling",
    ),
    "results.results": ("EstimandResults",),
    "results.side_by_side": ("plot", "summary_col"),
    "results.together": (
        "CausalResults",
        "CurveResults",
        "ImportanceResults",
        "UncertaintyResults",
    ),
    "simulation.certify": ("certify",),
    "storage": ("load",),
    "whatif": ("ExactWhatIf", "register_engine"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name` (PEP 562)."""
    if name in _FOLDERS:
        return importlib.import_module(f"pyinterp.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"pyinterp.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    words = importlib.import_module("pyinterp.hints").sentence(name)
    raise AttributeError(words or f"module 'pyinterp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})


def _with_namesake() -> bool:
    """Whether PyPI's other `pyinterp` is installed in the same folder, its files among ours."""
    try:
        entries = [entry.name for entry in scandir(__path__[0].rpartition(sep)[0])]
    except OSError:  # in an archive
        return False
    return any(name.startswith("pyinterp-") and name.endswith(".dist-info") for name in entries)


if _with_namesake():
    warnings.warn(
        "PyPI's `pyinterp`, for geospatial interpolation, is installed beside `pyinterp-stats`, "
        "and their files overwrite each other: run `pip uninstall pyinterp pyinterp-stats`, then "
        "install one of them.",
        stacklevel=2,
    )
