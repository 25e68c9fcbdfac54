"""Regression-style tables of partial dependence and importance for any learner.

Every public name is imported on first use, so that ``import pyinterp`` itself imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # "as" hands a name on to type checkers
    from pyinterp import datasets as datasets
    from pyinterp import distributions as distributions
    from pyinterp import estimators as estimators
    from pyinterp import r_style as r_style
    from pyinterp import samplers as samplers
    from pyinterp import simulation as simulation
    from pyinterp.estimands.effects.grids import RGrid as RGrid
    from pyinterp.estimands.estimand import Estimand as Estimand
    from pyinterp.estimands.estimand import Parameter as Parameter
    from pyinterp.estimands.estimand import Terms as Terms
    from pyinterp.estimands.estimand import Words as Words
    from pyinterp.estimands.estimate import Estimate as Estimate
    from pyinterp.estimands.risk import mean_over_rows as mean_over_rows
    from pyinterp.inference import register_variance as register_variance
    from pyinterp.learner.compare import compare as compare
    from pyinterp.learner.fitted_model import FittedModel as FittedModel
    from pyinterp.learner.learner import Learner as Learner
    from pyinterp.learner.learner import LearnerResults as LearnerResults
    from pyinterp.learner.learner import join as join
    from pyinterp.losses.metrics import Metric as Metric
    from pyinterp.losses.rowwise import Loss as Loss
    from pyinterp.models.adapters import statsmodels_learner as statsmodels_learner
    from pyinterp.models.distributional import Distributional as Distributional
    from pyinterp.models.early_stopping import EarlyStopping as EarlyStopping
    from pyinterp.papers import replicate as replicate
    from pyinterp.report_page import cite as cite
    from pyinterp.report_page import report as report
    from pyinterp.resampling import Bootstrap as Bootstrap
    from pyinterp.resampling import CrossValidation as CrossValidation
    from pyinterp.resampling import FreshDraws as FreshDraws
    from pyinterp.resampling import HalfSampling as HalfSampling
    from pyinterp.resampling import Holdout as Holdout
    from pyinterp.resampling import NestedBootstrap as NestedBootstrap
    from pyinterp.resampling import NestedCrossValidation as NestedCrossValidation
    from pyinterp.resampling import Splits as Splits
    from pyinterp.resampling import Subsampling as Subsampling
    from pyinterp.results.results import EstimandResults as EstimandResults
    from pyinterp.results.side_by_side import plot as plot
    from pyinterp.results.side_by_side import summary_col as summary_col
    from pyinterp.results.together import CausalResults as CausalResults
    from pyinterp.results.together import CurveResults as CurveResults
    from pyinterp.results.together import ImportanceResults as ImportanceResults
    from pyinterp.results.together import UncertaintyResults as UncertaintyResults
    from pyinterp.simulation.certify import certify as certify
    from pyinterp.storage import load as load
    from pyinterp.whatif import ExactWhatIf as ExactWhatIf
    from pyinterp.whatif import register_engine as register_engine

__version__ = "0.1.0.dev0"

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
    "report_page": ("cite", "report"),
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
__all__ = [*sorted((*_FOLDERS, *_HOME))]  # noqa: PLE0604 - they are strings


def __getattr__(name: str) -> Any:
    """Import the module that holds `name` (PEP 562)."""
    if name in _FOLDERS:
        return importlib.import_module(f"pyinterp.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"pyinterp.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pyinterp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
