"""The classes whose objects files may hold, by the names that files call them."""

from __future__ import annotations

import importlib
from typing import Any

# By module, so that a class may move and old files stay readable.
_MODULES = {
    "data.design_record": ("DesignRecord",),
    "data.sample": ("Response", "Sample"),
    "data.weights": ("Weights",),
    "distributions.families": ("Gamma", "LogNormal", "Normal", "NormalMixture", "Poisson"),
    "estimands.estimand": ("Correction", "Estimand", "Parameter", "Terms", "Words"),
    "estimands.estimate": ("Estimate",),
    "inference.bootstrap": ("BootstrapVariance",),
    "inference.contrasts": ("Contrasts",),
    "inference.half_sample.half_fits": ("HalfFits",),
    "inference.half_sample.square": ("SquareVariance",),
    "inference.half_sample.two_sides": ("ContrastVariance",),
    "inference.joint_tests": ("FlatTest", "JointTest"),
    "inference.evaluations": ("Evaluations",),
    "inference.tally": ("Tally",),
    "inference.replicates": ("CoefficientErrors", "Replicates"),
    "inference.terms": ("IntervalScale", "TermInference"),
    "inference.variance": ("Variance",),
    "learner.models": ("FitFacts",),
    "learner.models_on_record": ("Finding",),
    "learner.on_file": ("Record", "RefitRecord", "ResultsOnFile"),
    "learner.models_on_file": ("ModelsOnFile",),
    "losses.rowwise": ("Loss",),
    "resampling.resampling": ("Group",),
    "results.header": ("Context", "GoodnessOfFit"),
    "results.ranks": ("Ranks",),
    "results.results": ("EstimandResults",),
    "results.together": (
        "CausalResults",
        "ComparisonResults",
        "CurveResults",
        "ImportanceResults",
        "UncertaintyResults",
    ),
    "simulation.certify": ("Certificate",),
    "simulation.decomposition": ("Decomposition",),
    "simulation.studies.coverage": ("CoverageResults",),
    "simulation.studies.importance": ("ImportanceStudyResults",),
    "simulation.truth": ("Truth",),
    "storage.codec": ("AbsentFunction", "KeyText"),
    "whatif.whatif": ("Engine",),
}
KINDS = {name: module for module, names in _MODULES.items() for name in names}


def kind_of(name: str) -> type[Any] | None:
    """Return the class that files call by a name; None if they call none by it."""
    if name not in KINDS:
        return None
    found: type[Any] = getattr(importlib.import_module(f"pyinterp.{KINDS[name]}"), name)
    return found


def name_of(kind: type) -> str | None:
    """Return the name of a class in files; None if they may not hold its objects."""
    name = kind.__name__
    return name if KINDS.get(name) == kind.__module__.removeprefix("pyinterp.") else None
