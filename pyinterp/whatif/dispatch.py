"""The choice of the engine: an exact one if it reproduces the model's predictions, else batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice
from pyinterp.data.design import Design
from pyinterp.data.sample import Sample
from pyinterp.errors import DesignError, OptionError, PredictionError
from pyinterp.models.final_step import FinalStep, final_step
from pyinterp.models.prediction_checks import spread
from pyinterp.models.predictor import (
    ClassOrder,
    Kind,
    Predictor,
    learner_name,
    most_probable,
)
from pyinterp.whatif.batches import BatchedWhatIf
from pyinterp.whatif.calibration import Before, calibrated_forest, calibrated_linear, final_steps
from pyinterp.whatif.forest import Forest
from pyinterp.whatif.inputs import Inputs
from pyinterp.whatif.linear import (
    LinearModel,
    LinearWhatIf,
    contiguous,
    library_terms,
    read_linear,
)
from pyinterp.whatif.read_forest import levels_of, read_forest
from pyinterp.whatif.trees import TreesWhatIf
from pyinterp.whatif.whatif import WhatIf

__all__ = ["ENGINES", "EngineName", "dispatch", "dispatch_labels", "with_coefficients"]

EngineName: TypeAlias = Literal["auto", "trees", "linear", "batched"]
# Whether some input depends on variables and on others of all.
Mixes: TypeAlias = Callable[[Sequence[str], Sequence[str]], bool]
ENGINES = ("auto", "trees", "linear", "batched")
_KINDS = {"trees": "a tree ensemble", "linear": "a linear model"}

# Libraries whose models predict other rows by the same rule as the rows that are checked.
LIBRARIES = {"sklearn", "xgboost", "lightgbm", "statsmodels", "pyinterp"}

HARMLESS = {"fit", "get_params", "set_params", "_get_tags", "_more_tags", "_abc_impl"}
SHUFFLED_ROWS = 256

# The largest deviation from the model's own predictions, in units of their spread: rounding of sums
# in another order, in double or in single precision. What deviates more is predicted in batches.
DOUBLE, SINGLE = 1e-10, 1e-5
LEAST = 1e-300  # predictions that are all 0 have no spread


def dispatch(
    predictor: Predictor,
    design: Design,
    sample: Sample,
    *,
    engine: EngineName = "auto",
    memory_mb: float = 256.0,
) -> WhatIf:
    """Return what-if predictions by an engine, after the model's own predictions were checked.

    "auto" takes an exact engine if there is one for the model and its predictions on the sample's
    rows and on what-if rows equal the model's own; else it predicts copies of rows in batches, and
    the engine's `reason` says why.
    """
    check_choice("engine", engine, ENGINES)
    batched = BatchedWhatIf(predictor, design, sample, memory_mb=memory_mb)
    if engine == "batched":
        return batched.check()
    reasons: dict[str, str] = {}
    engines = () if predictor.kind in ("distribution", "answers") else _exact_engines(batched)
    for name, exact, tolerance in engines:
        if engine in ("auto", name):
            try:
                return _proven(exact, name, tolerance)
            except _UnsuitedError as error:
                reasons[name] = str(error)
    if engine != "auto":
        reason = reasons.get(engine, f"it is not {_KINDS[engine]} that can be read")
        raise OptionError(
            f'`engine="{engine}"` can\'t serve {learner_name(predictor.estimator)}: {reason}; use '
            '`engine="auto"`.'
        )
    if reasons:
        batched.engine = batched.engine._replace(reason=next(iter(reasons.values())))
    return batched.check()


def with_coefficients(whatif: WhatIf, predictor: Predictor, *, memory_mb: float = 256.0) -> WhatIf:
    """Return what-if predictions of the same model with other coefficients, by the same engine.

    It was proven to reproduce the model's predictions, whatever the coefficients.
    """
    batched = BatchedWhatIf(predictor, whatif.design, whatif.sample, memory_mb=memory_mb)
    if isinstance(whatif, LinearWhatIf) and (terms := _linear_terms(predictor)) is not None:
        return LinearWhatIf(batched, model=terms[0], inputs=whatif.inputs)
    return batched


def dispatch_labels(
    whatif: WhatIf, *, engine: EngineName = "auto", memory_mb: float = 256.0
) -> WhatIf:
    """Return what-if predictions of the labels that a model's own ``predict`` says.

    Probabilities serve where the most probable class is that label: of models without a
    ``predict`` that says labels, and where an exact engine computes them and `predict` agrees on
    the sample's rows and on what-if rows.
    """
    predictor = whatif.predictor.as_kind("label")
    if predictor is whatif.predictor or _largest_decides(whatif, predictor):
        return whatif
    return dispatch(
        predictor,
        whatif.design,
        whatif.sample,
        engine="batched" if engine == "batched" else "auto",
        memory_mb=memory_mb,
    )


def _largest_decides(whatif: WhatIf, labels: Predictor) -> bool:
    """Whether an exact engine's most probable classes are the model's own labels.

    Models that have such an engine are those whose rule is known; rows alone would prove it for
    no others.
    """
    if not isinstance(whatif, TreesWhatIf | LinearWhatIf):
        return False
    others = _whatif_rows(whatif)
    both = pd.concat([whatif.sample.variables, others], ignore_index=True)
    said = labels(whatif.design.encode(both)).argmax(axis=-1)
    return bool(np.array_equal(most_probable(whatif.compute(others)[0]), said))


class _UnsuitedError(Exception):
    """An exact engine can't serve a model; the message says why."""


def _exact_engines(
    batched: BatchedWhatIf,
) -> Iterator[tuple[str, TreesWhatIf | LinearWhatIf, float]]:
    """Yield the exact engines for this kind of model, each with its name and tolerance."""
    predictor, design, sample = batched.predictor, batched.design, batched.sample
    last = final_step(predictor.estimator)
    inside = next(iter(final_steps(last)), last).model
    double = SINGLE if design.single else DOUBLE

    trees = _trees(last) if predictor.kind != "label" else None
    if trees is not None:
        forest, before = trees
        if (link := _in_order(forest.link, predictor.order)) is not forest.link:
            forest = replace(forest, link=link)
        inputs = Inputs(design, sample, before=before, levels=levels_of(inside), cast=forest.cast)
        tolerance = SINGLE if type(inside).__module__.startswith("xgboost") else double
        yield "trees", TreesWhatIf(batched, forest=forest, inputs=inputs), tolerance
    terms = _linear_terms(predictor)
    if terms is not None:
        model, encode, mixes = terms
        inputs = Inputs(design, sample, before=encode, mixes=mixes, cast=contiguous)
        yield "linear", LinearWhatIf(batched, model=model, inputs=inputs), double


@dataclass(frozen=True)
class _LinkInOrder:
    """A link, its classes in the order that is reported."""

    link: Callable[[FloatArray], FloatArray]
    order: ClassOrder

    def __call__(self, sums: FloatArray) -> FloatArray:
        return self.order(self.link(sums))


def _in_order(
    link: Callable[[FloatArray], FloatArray], order: ClassOrder | None
) -> Callable[[FloatArray], FloatArray]:
    """Return a link whose classes are ordered as the predictions are."""
    return link if order is None or order.same else _LinkInOrder(link, order)


def _trees(last: FinalStep) -> tuple[Forest, Before | None] | None:
    """Return the trees of a model and what makes their inputs; None if it has none."""
    forest = read_forest(last.model)
    return calibrated_forest(last) if forest is None else (forest, last.before)


def _linear_terms(
    predictor: Predictor,
) -> tuple[LinearModel, Before | None, Mixes | None] | None:
    """Return coefficients, what makes their inputs and which these mix; None if there are none."""
    terms = _terms(final_step(predictor.estimator), predictor.kind)
    if terms is None:
        return None
    model, before, mixes = terms
    if (inverse := _in_order(model.inverse, predictor.order)) is not model.inverse:
        model = replace(model, inverse=inverse)
    return model, before, mixes


def _terms(last: FinalStep, kind: Kind) -> tuple[LinearModel, Before | None, Mixes | None] | None:
    model = read_linear(last.model, kind)
    if model is not None:
        return model, *(library_terms(last.model) or (last.before, None))
    calibrated = calibrated_linear(last) if kind == "probability" else None
    return None if calibrated is None else (*calibrated, None)


def _proven(
    exact: TreesWhatIf | LinearWhatIf, what: str, tolerance: float
) -> TreesWhatIf | LinearWhatIf:
    """Return an exact engine if its predictions equal the model's own; else raise.

    They are compared on the rows as they are and on what-if rows. The model predicts all rows at
    once, the engine each row alone: a model whose predictions depend on the other rows, as on their
    mean, differs. The engine then keeps its own predictions of the rows as they are, so that
    factual and what-if predictions have the same rounding errors.
    """
    if _predicts_in_its_own_way(exact.predictor.estimator):
        raise _UnsuitedError("its `predict` is its own")  # what it does elsewhere can't be seen
    try:
        rows, whatif = exact.sample.variables, _whatif_rows(exact)
        both = pd.concat([rows, whatif], ignore_index=True)
        model = exact.predictor(exact.design.encode(both))
    except (DesignError, PredictionError) as error:
        raise _UnsuitedError("some what-if rows can't be predicted") from error
    try:
        computed, rounding = exact.compute(whatif)
    except (DesignError, ValueError, TypeError, IndexError, KeyError) as error:
        raise _UnsuitedError(
            f"the {what} engine can't tell the model's inputs from the design"
        ) from error
    if computed.shape != model.shape:
        raise _UnsuitedError(f"the {what} engine does not reproduce its predictions")
    hidden, apart = _largest(rounding, model), _largest(computed - model, model)
    if not hidden <= tolerance:
        raise _UnsuitedError("rounding of its terms is not small beside its predictions' spread")
    if not apart <= tolerance:
        raise _UnsuitedError(f"the {what} engine does not reproduce its predictions")
    exact.keep(computed[: len(rows)], max(apart, hidden))
    return exact


def _largest(deviation: FloatArray, predictions: FloatArray) -> float:
    """Return the largest deviation from predictions, in units of their spread.

    That from a prediction far from the others is in units of its distance from their median. Where
    all rows are predicted the same, and deviate alike, the size of the predictions is the unit.
    """
    distance = np.abs(predictions - np.median(predictions, axis=0))
    unit = np.maximum(distance, np.maximum(spread(predictions), LEAST))
    if not np.isfinite(unit).all():
        return np.inf
    same = (predictions == predictions[0]).all(axis=0) & (deviation == deviation[0]).all(axis=0)
    unit = np.where(same, np.maximum(np.abs(predictions), LEAST), unit)
    return float((np.abs(deviation) / unit).max())


def _whatif_rows(exact: TreesWhatIf | LinearWhatIf) -> pd.DataFrame:
    """Return what-if rows: shuffled rows, and rows with levels that no row has."""
    rows = exact.sample.variables
    unused = _unused_levels(rows)
    if unused.empty:
        return _shuffle(rows)
    try:
        with warnings.catch_warnings(action="error"):
            exact.predictor(exact.design.encode(unused))
    except (DesignError, PredictionError, Warning):  # a level that the model does not know
        unused = unused[:0]
    return pd.concat([_shuffle(rows), unused], ignore_index=True)


def _shuffle(variables: pd.DataFrame) -> pd.DataFrame:
    """Return some rows in which every variable comes from another row, as in what-if rows."""
    rng = np.random.default_rng(0)
    # Half of the rows, so that their means are others.
    n = min(-(-len(variables) // 2), SHUFFLED_ROWS)
    return pd.DataFrame(
        {
            name: column.array.take(rng.permutation(len(variables))[:n])
            for name, column in variables.items()
        }
    )


def _unused_levels(variables: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every level that no row has, as grids may have it."""
    unused: dict[str, pd.Index] = {}
    for name, column in variables.select_dtypes("category").items():
        used = np.bincount(column.cat.codes + 1, minlength=len(column.cat.categories) + 1)[1:]
        unused[str(name)] = column.cat.categories[used == 0]
    rows = variables.iloc[np.zeros(sum(map(len, unused.values())), np.intp)].reset_index(drop=True)
    start = 0
    for name, levels in unused.items():
        if stop := len(levels):
            column = rows[name].copy()
            column.iloc[start : start + stop] = levels
            rows, start = rows.assign(**{name: column}), start + stop
    return rows


def _predicts_in_its_own_way(estimator: Any) -> bool:
    """Whether a class outside the known libraries overrides more than training."""
    last = final_step(estimator)
    inside = final_steps(last)
    wrappers = [wrapper for each in (last, *inside) for wrapper in each.wrappers]
    for part in (*wrappers, last.model, *(each.model for each in inside)):
        for kind in type(part).__mro__:
            if kind.__module__.partition(".")[0] in LIBRARIES:
                break
            methods = {name for name in vars(kind) if not name.startswith("__")}
            if methods - HARMLESS:
                return True
    return False
