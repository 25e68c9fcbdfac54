"""Which engine answers for a model: an exact one if it reproduces the model, else batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

import numpy as np

from pyinterp.design import Design, IntArray, Matrix
from pyinterp.engine.batched import BatchedWhatIf
from pyinterp.engine.forest import read_forest
from pyinterp.engine.inputs import Inputs, final_step
from pyinterp.engine.linear import LinearWhatIf, own_terms, read_linear
from pyinterp.engine.trees import TreesWhatIf
from pyinterp.engine.whatif import WhatIf
from pyinterp.errors import OptionError, check_choice
from pyinterp.predictive import Predictor, learner_name
from pyinterp.sample import FloatArray, Sample

__all__ = ["ENGINES", "EngineName", "dispatch"]

EngineName: TypeAlias = Literal["auto", "trees", "linear", "batched"]
ENGINES = ("auto", "trees", "linear", "batched")
_KINDS = {"trees": "a tree ensemble", "linear": "a linear model"}

# Whose models predict elsewhere as they do on the rows that are checked.
LIBRARIES = {"sklearn", "xgboost", "lightgbm", "statsmodels", "pyinterp"}

# Relative to the largest prediction: rounding of sums in another order, or of single precision.
DOUBLE, SINGLE = 1e-12, 1e-5


def dispatch(
    predictor: Predictor,
    design: Design,
    sample: Sample,
    *,
    engine: EngineName = "auto",
    memory_mb: float = 256.0,
) -> WhatIf:
    """Return what-if predictions by the wanted engine.

    "auto" takes an exact engine if it can read the model and its predictions on the sample's rows
    equal the model's own, else predicts copies of rows in batches, and says so in its `name`.
    """
    check_choice("engine", engine, ENGINES)
    batched = BatchedWhatIf(predictor, design, sample, memory_mb=memory_mb)
    if engine == "batched":
        return batched
    reasons: dict[str, str] = {}
    for name, exact, tolerance in _readings(predictor, design, sample, memory_mb):
        if engine not in ("auto", name):
            continue
        reasons[name] = _differs(exact, batched.factual, tolerance)
        if not reasons[name]:
            vars(exact)["factual"] = batched.factual  # predicted already
            return exact
    if engine != "auto":
        reason = reasons.get(engine, f"it is not {_KINDS[engine]} that can be read")
        raise OptionError(
            f'`engine="{engine}"` can\'t serve {learner_name(predictor.estimator)}: {reason}; use '
            '`engine="auto"`.'
        )
    if reasons:
        batched.name = f"batched ({next(iter(reasons.values()))})"
    return batched


def _readings(
    predictor: Predictor, design: Design, sample: Sample, memory_mb: float
) -> Iterator[tuple[str, TreesWhatIf | LinearWhatIf, float]]:
    """Yield the exact engines that may serve, each with its name and tolerance."""
    final, before = final_step(predictor.estimator)

    def inputs(
        cast: Callable[[FloatArray, IntArray], FloatArray],
        before: Callable[[Matrix], Any] | None = before,
    ) -> Inputs:
        return Inputs(design, sample, before=before, cast=cast)

    forest = read_forest(final) if predictor.kind != "label" else None
    if forest is not None:
        tolerance = SINGLE if type(final).__module__.startswith("xgboost") else DOUBLE
        yield (
            "trees",
            TreesWhatIf(
                predictor, design, sample,
                forest=forest, inputs=inputs(forest.cast), memory_mb=memory_mb,
            ),
            tolerance,
        )  # fmt: skip
    for model in read_linear(final, predictor.kind):
        yield (
            "linear",
            LinearWhatIf(
                predictor, design, sample,
                model=model, inputs=inputs(_as_given, own_terms(final) or before),
                memory_mb=memory_mb,
            ),
            DOUBLE,
        )  # fmt: skip


def _as_given(inputs: FloatArray, _: IntArray) -> FloatArray:
    return np.ascontiguousarray(inputs)


def _differs(exact: TreesWhatIf | LinearWhatIf, factual: FloatArray, tolerance: float) -> str:
    """Return why an engine's predictions on the rows as they are can't be used, if so."""
    what = exact.name.partition(",")[0]
    final, _ = final_step(exact.predictor.estimator)
    proba = exact.predictor.kind == "probability" and getattr(final, "predict_proba", None)
    method = proba or getattr(final, "predict", None)
    if str(getattr(method, "__module__", "")).partition(".")[0] not in LIBRARIES:
        return "its `predict` is its own"  # what it does beyond these rows can't be seen
    try:
        own = exact.own()
    except (ValueError, TypeError, IndexError, KeyError):
        return f"the {what} engine can't tell the model's inputs from the design"
    bound = tolerance * max(float(np.abs(factual).max()), 1e-300)
    if own.shape != factual.shape or not np.abs(own - factual).max() <= bound:
        return f"the {what} engine does not reproduce its predictions"
    return ""
