"""Which engine answers for a model: the exact one if it reproduces the model, else batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.design import Design, FrameDesign, Matrix
from pyinterp.engine.batched import BatchedWhatIf
from pyinterp.engine.forest import read_forest
from pyinterp.engine.trees import TreesWhatIf
from pyinterp.engine.whatif import WhatIf
from pyinterp.errors import OptionError, check_choice
from pyinterp.predictive import Predictor, learner_name
from pyinterp.sample import FloatArray, Sample

__all__ = ["ENGINES", "EngineName", "dispatch"]

EngineName: TypeAlias = Literal["auto", "trees", "batched"]
ENGINES = ("auto", "trees", "batched")

# Relative to the largest prediction: rounding of sums in another order, or of single precision.
DOUBLE, SINGLE = 1e-12, 1e-5


def dispatch(
    predictor: Predictor,
    design: Design,
    sample: Sample,
    *,
    engine: EngineName = "auto",
    support: pd.DataFrame | None = None,
    memory_mb: float = 256.0,
) -> WhatIf:
    """Return what-if predictions by the wanted engine.

    "auto" takes the exact engine for tree ensembles if its predictions on the sample's rows equal
    the model's own, else predicts copies of rows in batches, and says so in its `name`.
    """
    check_choice("engine", engine, ENGINES)
    batched = BatchedWhatIf(predictor, design, sample, memory_mb=memory_mb)
    if engine == "batched":
        return batched
    trees, reason = _trees(predictor, design, sample, support, memory_mb)
    if trees is not None:
        return trees
    if engine == "trees":
        raise OptionError(
            f'`engine="trees"` can\'t serve {learner_name(predictor.estimator)}: {reason}; use '
            '`engine="auto"`.'
        )
    if reason != NOT_TREES:
        batched.name = f"batched ({reason})"
    return batched


NOT_TREES = "it is not a tree ensemble that can be read"


def _trees(
    predictor: Predictor,
    design: Design,
    sample: Sample,
    support: pd.DataFrame | None,
    memory_mb: float,
) -> tuple[TreesWhatIf | None, str]:
    final, transform = _split(predictor.estimator, design)
    forest = read_forest(final)
    if forest is None or predictor.kind == "label":
        return None, NOT_TREES
    trees = TreesWhatIf(
        predictor,
        design,
        sample,
        forest=forest,
        transform=transform,
        support=support,
        memory_mb=memory_mb,
    )
    try:
        own = trees.own()
    except (ValueError, TypeError, IndexError, KeyError):
        return None, "the trees' inputs can't be told from the design"
    factual = trees.factual
    single = type(final).__module__.startswith("xgboost")
    tolerance = (SINGLE if single else DOUBLE) * max(float(np.abs(factual).max()), 1e-300)
    if own.shape != factual.shape or not np.abs(own - factual).max() <= tolerance:
        return None, "walking the trees does not reproduce its predictions"
    return trees, ""


def _split(estimator: Any, design: Design) -> tuple[Any, Callable[[Matrix], FloatArray] | None]:
    """Return the last step of a pipeline and what turns design rows into its inputs."""
    steps = getattr(estimator, "steps", None)
    final = steps[-1][1] if steps else estimator
    before = estimator[:-1].transform if steps and len(steps) > 1 else None
    if before is None and not isinstance(design, FrameDesign):
        return final, None

    def transform(matrix: Matrix) -> FloatArray:
        return _numbers(matrix if before is None else before(matrix))

    return final, transform


def _numbers(made: Any) -> FloatArray:
    """Return columns as numbers, categories as their codes."""
    if isinstance(made, pd.DataFrame):
        columns = [
            c.cat.codes.where(c.cat.codes >= 0) if isinstance(c.dtype, pd.CategoricalDtype) else c
            for _, c in made.items()
        ]
        return np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])
    dense = made.toarray() if hasattr(made, "toarray") else made
    return np.asarray(dense, dtype=np.float64)
