"""Which engine answers for a model: an exact one if it reproduces the model, else batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.design import Design, IntArray
from pyinterp.engine.batched import BatchedWhatIf
from pyinterp.engine.inputs import Inputs, final_step
from pyinterp.engine.linear import LinearWhatIf, own_terms, read_linear
from pyinterp.engine.read_forest import read_forest
from pyinterp.engine.trees import TreesWhatIf
from pyinterp.engine.whatif import WhatIf
from pyinterp.errors import DesignError, OptionError, PredictionError, check_choice
from pyinterp.predictive import Predictor, learner_name
from pyinterp.sample import FloatArray, Sample

__all__ = ["ENGINES", "EngineName", "dispatch"]

EngineName: TypeAlias = Literal["auto", "trees", "linear", "batched"]
ENGINES = ("auto", "trees", "linear", "batched")
_KINDS = {"trees": "a tree ensemble", "linear": "a linear model"}

# Whose models predict elsewhere as they do on the rows that are checked.
LIBRARIES = {"sklearn", "xgboost", "lightgbm", "statsmodels", "pyinterp"}

HARMLESS = {"fit", "get_params", "set_params", "_get_tags", "_more_tags", "_abc_impl"}
SHUFFLED = 256

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
        if engine in ("auto", name):
            reasons[name] = _differs(exact, tolerance)
            if not reasons[name]:
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

    forest = read_forest(final) if predictor.kind != "label" else None
    if forest is not None:
        tolerance = SINGLE if type(final).__module__.startswith("xgboost") else DOUBLE
        levels = getattr(getattr(final, "booster_", None), "pandas_categorical", None) or ()
        given = Inputs(design, sample, before=before, levels=levels, cast=forest.cast)
        yield (
            "trees",
            TreesWhatIf(
                predictor, design, sample, forest=forest, inputs=given, memory_mb=memory_mb
            ),
            tolerance,
        )
    model = read_linear(final, predictor.kind)
    if model is not None:
        encode, mixes = own_terms(final) or (before, None)
        given = Inputs(design, sample, before=encode, mixes=mixes, cast=_as_given)
        yield (
            "linear",
            LinearWhatIf(predictor, design, sample, model=model, inputs=given, memory_mb=memory_mb),
            DOUBLE,
        )


def _as_given(inputs: FloatArray, _: IntArray) -> FloatArray:
    return np.ascontiguousarray(inputs)


def _differs(exact: TreesWhatIf | LinearWhatIf, tolerance: float) -> str:
    """Return why an engine can't be used, if so: its predictions are compared with the model's.

    On the rows as they are, which the engine then keeps, and on what-if rows.
    """
    what, rows = exact.name.partition(",")[0], exact.sample.variables
    if _predicts_in_its_own_way(exact.predictor.estimator):
        return "its `predict` is its own"  # what it does beyond these rows can't be seen
    both, n = pd.concat([rows, _shuffled(rows)], ignore_index=True), len(rows)
    try:
        expected = exact.predictor(exact.design.encode(both))
    except (DesignError, PredictionError):
        return "some what-if rows can't be predicted"
    try:
        found = np.concatenate([exact.own(), exact.predict(both[n:])])
        rounding = exact.rounding(both)
    except (DesignError, ValueError, TypeError, IndexError, KeyError):
        return f"the {what} engine can't tell the model's inputs from the design"
    if found.shape != expected.shape:
        return f"the {what} engine does not reproduce its predictions"
    for own, model in ((found[:n], expected[:n]), (found[n:], expected[n:])):
        allowed = tolerance * max(float(np.abs(model).max()), 1e-300) + rounding
        if not np.abs(own - model).max() <= allowed < np.inf:
            return f"the {what} engine does not reproduce its predictions"
    vars(exact)["factual"] = expected[:n]  # a cached property: predicted already
    return ""


def _shuffled(variables: pd.DataFrame) -> pd.DataFrame:
    """Return some rows of which every variable is another row's: what-if rows, to be checked."""
    rng = np.random.default_rng(0)
    n = min(len(variables), SHUFFLED)
    return pd.DataFrame(
        {
            name: column.take(rng.permutation(len(variables))[:n]).array
            for name, column in variables.items()
        }
    )


def _predicts_in_its_own_way(estimator: Any) -> bool:
    """Whether a class outside the libraries changes more than training."""
    for part in (estimator, final_step(estimator)[0]):
        for kind in type(part).__mro__:
            if kind.__module__.partition(".")[0] in LIBRARIES:
                break
            own = {name for name in vars(kind) if not name.startswith("__")}
            if own - HARMLESS:
                return True
    return False
