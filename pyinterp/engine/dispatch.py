"""Which engine answers for a model: an exact one if it reproduces the model, else batches."""

from __future__ import annotations

import warnings
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
# Rounding beyond this share of the largest prediction would hide a wrong reading.
CLEAR = 1e-6


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
    try:
        whatif = _whatif_rows(exact)
        both = pd.concat([rows, whatif], ignore_index=True)
        expected = exact.predictor(exact.design.encode(both))
    except (DesignError, PredictionError):
        return "some what-if rows can't be predicted"
    try:
        found, rounding = exact.checked(whatif)
    except (DesignError, ValueError, TypeError, IndexError, KeyError):
        return f"the {what} engine can't tell the model's inputs from the design"
    n = len(rows)
    reason = _compared(found, expected, n, tolerance, rounding)
    if reason:
        return f"the {what} engine {reason}"
    vars(exact)["factual"] = expected[:n]  # a cached property: predicted already
    return ""


def _compared(
    found: FloatArray,
    expected: FloatArray,
    n: int,
    tolerance: float,
    rounding: FloatArray | float,
) -> str:
    """Return what is wrong with predictions of `n` rows as they are, and of what-if rows."""
    if found.shape == expected.shape:
        if not np.max(rounding) <= CLEAR * np.abs(expected).max():
            return "can't be checked, its terms are too large"
        off = np.abs(found - expected) - rounding
        allowed = [tolerance * max(float(np.abs(e).max()), 1e-300) for e in np.split(expected, [n])]
        if off[:n].max() <= allowed[0] and off[n:].max() <= allowed[1]:
            return ""
    return "does not reproduce its predictions"


def _whatif_rows(exact: TreesWhatIf | LinearWhatIf) -> pd.DataFrame:
    """Return what-if rows: shuffled ones, and those of levels that no row has."""
    rows = exact.sample.variables
    unused = _unused_levels(rows)
    try:
        with warnings.catch_warnings(action="error"):
            exact.predictor(exact.design.encode(unused))
    except (DesignError, PredictionError, Warning):  # a level that the model does not know
        unused = unused[:0]
    return pd.concat([_shuffled(rows), unused], ignore_index=True)


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


def _unused_levels(variables: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every level that no row has: grids may ask for it."""
    made = [variables.iloc[:0]]
    for name, column in variables.select_dtypes("category").items():
        unused = column.cat.categories.difference(pd.Index(column.unique()), sort=False)
        rows = variables.iloc[np.zeros(len(unused), np.intp)]
        made.append(rows.assign(**{str(name): unused.astype(column.dtype)}))
    return pd.concat(made, ignore_index=True)


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
