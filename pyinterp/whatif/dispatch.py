"""The choice of the engine: an exact one if it reproduces the model's predictions, else batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV

from pyinterp._typing import FloatArray, Matrix
from pyinterp.checks import POSITIVE, check_choice, check_number
from pyinterp.data.design import ArrayDesign, Design, FrameDesign
from pyinterp.data.sample import Sample
from pyinterp.errors import DesignError, OptionError, PredictionError
from pyinterp.models.final_step import FinalStep, final_step
from pyinterp.models.overrides import overrides_prediction
from pyinterp.models.prediction_checks import check_repeatable, spread
from pyinterp.models.predictor import Predictor, learner_name, most_probable
from pyinterp.whatif.inputs import Before
from pyinterp.whatif.kernels import KernelWhatIf
from pyinterp.whatif.linear import LinearWhatIf, read_linear
from pyinterp.whatif.steps import arithmetic
from pyinterp.whatif.trees import TreesWhatIf
from pyinterp.whatif.whatif import ExactWhatIf, WhatIf

EngineName = Literal["auto", "linear", "trees", "kernel", "batched"]

# In the order in which they try to read a model: attributes are looked up faster than trees.
ENGINES: dict[str, type[ExactWhatIf]] = {
    "linear": LinearWhatIf,
    "trees": TreesWhatIf,
    "kernel": KernelWhatIf,
}
KINDS = {"linear": "a linear model", "trees": "a tree ensemble", "kernel": "a kernel machine"}

SHUFFLED_ROWS = 256
# The largest deviation from the model's own predictions, in units of their spread: rounding of sums
# in another order, in double or in single precision. What deviates more is predicted in batches.
DOUBLE, SINGLE = 1e-10, 1e-5
LEAST = 1e-300  # predictions that are all 0 have no spread


def check_engine(engine: object, memory_mb: object) -> None:
    """Raise `OptionError` unless these are an engine's name and a bound on its memory."""
    check_number("memory_mb", memory_mb, POSITIVE)
    check_choice("engine", engine, ("auto", *ENGINES, "batched"))


def dispatch(
    predictor: Predictor,
    design: Design,
    sample: Sample,
    *,
    engine: str = "auto",
    memory_mb: float = 256.0,
) -> WhatIf:
    """Return what-if predictions by an engine, after the model's own predictions were checked.

    "auto" takes an exact engine if there is one for the model and its predictions on the sample's
    rows and on what-if rows equal the model's own; else it predicts copies of rows in batches, and
    the engine's `reason` says why.
    """
    batched = WhatIf(predictor, design, sample, memory_mb=memory_mb)
    last, reasons = final_step(predictor.estimator), []
    readable = engine != "batched" and predictor.kind not in ("distribution", "answers")
    names = [*ENGINES] if engine == "auto" else [engine]
    for name in names if readable else ():
        try:
            model = ENGINES[name].read(last.model, predictor.kind)
        except Exception:  # noqa: BLE001 - what can't be read, of any library, is asked in batches
            model = None
        if model is None:
            continue
        for before, given in _ways(last, design, sample):
            exact = ENGINES[name](batched, model, before=before, design=given)
            if not (reason := _refusal(exact, last)):
                return exact
        reasons.append(reason)
    if engine not in ("auto", "batched"):
        reason = reasons[0] if reasons else f"it is not {KINDS[engine]} that can be read"
        raise OptionError(
            f'`engine="{engine}"` can\'t serve {learner_name(predictor.estimator)}: {reason}; use '
            '`engine="auto"`.'
        )
    if reasons:
        batched.engine = batched.engine._replace(reason=reasons[0])
    batched.factual = check_repeatable(predictor, design.rows_of(sample), predictor.name)
    return batched


def _ways(
    last: FinalStep, design: Design, sample: Sample
) -> Iterator[tuple[Before | None, Design]]:
    """Yield the earlier steps of a model as arithmetic, if they are, then as they are.

    Each with the design of the rows that they are given.
    """
    quick = None if last.before is None or design.singles else arithmetic(last.pipelines)
    if quick is not None and not isinstance(design, FrameDesign):
        yield quick, design
    elif quick is not None:
        dtypes = {*sample.variables[[*design.variables]].dtypes}
        if all(dtype.kind in "biuf" for dtype in dtypes):
            yield quick, ArrayDesign(design.variables)
    yield last.before, design


def with_coefficients(whatif: WhatIf, predictor: Predictor) -> WhatIf:
    """Return what-if predictions of the same model with other coefficients, by the same engine.

    It was proven to reproduce the model's predictions, whatever the coefficients. Both share what
    was made of the rows.
    """
    other = WhatIf(predictor, whatif.design, whatif.sample, memory_mb=whatif.memory_mb)
    if isinstance(whatif, LinearWhatIf):
        model = read_linear(final_step(predictor.estimator).model, predictor.kind)
        other = LinearWhatIf(other, model, inputs=whatif.inputs)
    other.memo = whatif.memo
    return other


def dispatch_labels(whatif: WhatIf, *, engine: str) -> WhatIf:
    """Return what-if predictions of the labels that a model's own ``predict`` says.

    Probabilities serve where the most probable class is that label: of models without a
    ``predict`` that says labels, and where an exact engine computes them and `predict` agrees on
    the sample's rows and on what-if rows.
    """
    predictor, design, sample = whatif.predictor.as_kind("label"), whatif.design, whatif.sample
    if predictor is whatif.predictor:
        return whatif
    # Rows alone would prove it for no other models: the rules of these are known.
    if isinstance(whatif, TreesWhatIf | LinearWhatIf):
        both, others = _rows_of_proof(whatif)
        labels = predictor(both)
        probabilities, _ = whatif.predictions_with_rounding(others())
        ordered = whatif.predictor.in_order(probabilities)
        if np.array_equal(most_probable(ordered), labels.argmax(axis=-1)):
            return whatif
    engine = "batched" if engine == "batched" else "auto"
    return dispatch(predictor, design, sample, engine=engine, memory_mb=whatif.memory_mb)


def _refusal(exact: ExactWhatIf, last: FinalStep) -> str:
    """Return why an engine's predictions do not equal the model's own; "" if they do.

    They are compared on the rows as they are and on what-if rows. The model predicts all rows at
    once, the engine each row alone: a model whose predictions depend on the other rows, as on their
    mean, differs. The engine then keeps its predictions of the rows as they are, so that factual
    and what-if predictions have the same rounding errors.
    """
    parts = [*last.wrappers, last.model]
    if isinstance(last.model, CalibratedClassifierCV):
        for pair in last.model.calibrated_classifiers_:
            inside = final_step(pair.estimator)
            parts += [*inside.wrappers, inside.model]
    if any(map(overrides_prediction, parts)):
        return "its `predict` is its own"  # what it does elsewhere can't be seen
    design = exact.design
    try:
        both, whatif = _rows_of_proof(exact)
        model = exact.predictor(both)
    except (DesignError, PredictionError):
        return "some what-if rows can't be predicted"
    try:
        computed, rounding = exact.predictions_with_rounding(whatif())
    except (DesignError, ValueError, TypeError, IndexError, KeyError):
        return f"the {exact.name} engine can't tell the model's inputs from the design"
    computed, rounding = map(exact.predictor.in_order, (computed, rounding))
    hidden, apart = 0.0, np.inf
    if computed.shape == model.shape:
        hidden, apart = _largest([rounding, computed - model], model)
    single = design.single or getattr(exact.model, "single_sums", False)
    tolerance = SINGLE if single else DOUBLE
    if not hidden <= tolerance:
        return "rounding of its terms is not small beside its predictions' spread"
    if not apart <= tolerance:
        return f"the {exact.name} engine does not reproduce its predictions"
    exact.factual = computed[: exact.sample.nobs]
    exact.engine = exact.engine._replace(error=max(apart, hidden))
    return ""


def _largest(deviations: Sequence[FloatArray], predictions: FloatArray) -> Iterator[float]:
    """Yield the largest of several deviations from predictions, in units of their spread.

    That from a prediction far from the others is in units of its distance from their median. Where
    all rows are predicted the same, and deviate alike, the size of the predictions is the unit.
    """
    distance = np.abs(predictions - np.median(predictions, axis=0))
    unit = np.maximum(distance, np.maximum(spread(predictions), LEAST))
    finite = np.isfinite(unit).all()
    constant = (predictions == predictions[0]).all(axis=0)
    for deviation in deviations:
        size = unit
        if constant.any():
            alike = constant & (deviation == deviation[0]).all(axis=0)
            size = np.where(alike, np.maximum(np.abs(predictions), LEAST), unit)
        yield float((np.abs(deviation) / size).max()) if finite else np.inf


def _rows_of_proof(exact: ExactWhatIf) -> tuple[Matrix, Callable[[], FloatArray]]:
    """Return the sample's rows and what-if rows as the model is given them, and inputs of these.

    In what-if rows every variable is another row's, or a category has a level that no row has.
    """
    design, inputs = exact.design, exact.inputs
    size = min(-(-exact.sample.nobs // 2), SHUFFLED_ROWS)  # of half of the rows means are others
    shuffled = inputs.shuffle(size)
    if shuffled is not None and not design.discrete:
        numbers = np.concatenate(shuffled)
        both: Matrix = numbers
        if isinstance(design, FrameDesign):
            both = design.form.write(pd.DataFrame(numbers, columns=list(design.variables)))
        return both, partial(inputs.through, shuffled[1])
    rows = exact.sample.variables
    unused = _unused_levels(rows)
    if unused is not None:
        try:
            with warnings.catch_warnings(action="error"):
                exact.predictor(design.encode(unused))
        except (DesignError, PredictionError, Warning):  # a level that the model does not know
            unused = None
    if shuffled is not None:
        others = [] if unused is None else [np.asarray(inputs.design.encode(unused))]
        whatif = np.concatenate([shuffled[1], *others])
        return np.concatenate([shuffled[0], whatif]), partial(inputs.through, whatif)
    rng = np.random.default_rng(0)
    columns = {n: c.array.take(rng.permutation(len(rows))[:size]) for n, c in rows.items()}
    frame = pd.concat([pd.DataFrame(columns), unused], ignore_index=True)
    return design.encode(pd.concat([rows, frame], ignore_index=True)), partial(inputs.of, frame)


def _unused_levels(variables: pd.DataFrame) -> pd.DataFrame | None:
    """Return a row for every level that no row has, as grids may have it; None if all are there."""
    parts = []
    for name, column in variables.select_dtypes("category").items():
        every = column.cat.categories
        unused = np.setdiff1d(np.arange(len(every)), column.cat.codes)
        if len(unused):
            levels = pd.Categorical.from_codes(unused, every, column.cat.ordered)
            rows = variables.iloc[np.zeros(len(unused), np.intp)]
            parts.append(rows.assign(**{str(name): levels}))
    return pd.concat(parts, ignore_index=True) if parts else None
