"""Numbers that a fitted model takes as names of levels: it knows nothing between them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from pyinterp._typing import Column, FloatArray
from pyinterp.data.columns import is_category
from pyinterp.data.design import Design
from pyinterp.errors import DesignError, PredictionError
from pyinterp.models.final_step import entrance, final_step
from pyinterp.models.libraries import library_of
from pyinterp.models.library import Booster
from pyinterp.models.predictor import Predictor

ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)
ROWS, MOST_VALUES = 50, 50
SAME = 1e-12  # of the largest prediction: what is equal but for rounding
CLEARLY = 1e-6  # of the largest at both ends and outside: enough to ask no more values


def codes_of(predictor: Predictor, design: Design, variables: pd.DataFrame) -> frozenset[str]:
    """Return the numbers that a fitted model takes as categories, though its formula does not.

    What the model declares decides, and what it predicts where it declares nothing: either values
    between the observed ones are refused, or it can't tell unseen values apart, below the smallest
    and above the largest, and predicts them unlike both ends, or like all between and unlike some
    observed value. Two values are a number.

    Parameters
    ----------
    predictor : Predictor
    design : Design
        How it encodes variables.
    variables : pandas.DataFrame
        All rows.
    """
    rows = variables.take(np.unique(np.linspace(0, len(variables) - 1, ROWS).astype(int)))
    declared, codes = _facts_of(predictor.estimator, design, rows), set[str]()
    for name in set(map(str, variables)) - design.discrete:
        column = variables[name]
        if is_category(column):
            continue
        count = len(np.unique(column.to_numpy()[: 2 * MOST_VALUES]))
        if count <= MOST_VALUES + 1:  # as most numbers have not; a missing one is none
            count = column.nunique()
        if count < 3:
            continue
        few = count <= MOST_VALUES
        if name in declared or (few and _tells_no_values_apart(predictor, design, rows, column)):
            codes.add(name)
    return frozenset(codes)


def _facts_of(fitted: Any, design: Design, rows: pd.DataFrame) -> set[str]:
    """Return the variables that a model, or the encoder before it, was told are categories."""
    last = final_step(fitted)
    inside = getattr(last.model, "inside", getattr(last.model, "regressor_", None))
    if calibrated := getattr(last.model, "calibrated_classifiers_", None):
        inside = calibrated[0].estimator
    if last.before is None and inside is not None:  # a wrapper that is given the same rows
        return _facts_of(inside, design, rows)
    encoded = (
        set() if last.before is None else _inputs_of_encoders(entrance(fitted), len(design.columns))
    )
    model = last.model.booster if isinstance(last.model, Booster) else last.model
    categories, found = set(library_of(model).categories(model)), set[str]()
    for name in map(str, rows) if encoded or categories else ():
        driven = set(design.driven([name]).tolist())
        inputs = driven
        if categories and last.before is not None:
            other = rows.assign(**{name: rows[name].to_numpy()[::-1]})
            made = (last.before(design.encode(frame)) for frame in (rows, other))
            one, two = (np.asarray(x.toarray() if hasattr(x, "toarray") else x) for x in made)
            inputs = set(np.flatnonzero((one != two).any(axis=0)).tolist())
        if driven <= encoded or (inputs and inputs <= categories):
            found.add(name)
    return found


def _inputs_of_encoders(first: Any, number: int) -> set[int]:
    """Return the positions of the columns that an encoder of categories is given."""
    if isinstance(first, ENCODERS):
        return set(range(number))
    found = set[int]()
    for name, step, _ in getattr(first, "transformers_", ()):
        if any(isinstance(part, ENCODERS) for _, part in getattr(step, "steps", [("", step)])):
            found.update(first._transformer_to_input_indices.get(name, ()))
    return found


def _tells_no_values_apart(
    predictor: Predictor, design: Design, rows: pd.DataFrame, column: Column
) -> bool:
    """Whether a model refuses values between the observed ones, or predicts all unseen alike."""
    seen = np.unique(column.dropna().to_numpy(np.float64))
    gaps = np.diff(seen)

    def at(values: FloatArray) -> FloatArray | None:
        """Return predictions of all rows at every value, or None if some are refused."""
        frame = rows.iloc[np.tile(np.arange(len(rows)), len(values))].reset_index(drop=True)
        frame[str(column.name)] = np.repeat(values, len(rows))
        try:
            with warnings.catch_warnings(action="ignore"):  # of unknown levels
                answer = predictor(design.encode(frame))
        except (DesignError, PredictionError) as error:
            # What is predicted, but is not finite, is not refused.
            return np.full((len(values), 1), np.inf) if error.__cause__ is None else None
        return answer.reshape(len(values), -1)

    # Three values, at distances from which a symmetric function is not the same; and both ends.
    below, above = seen[0] - gaps[0] * np.array([2.3, 1.0]), seen[-1] + 1.4 * gaps[-1]
    first = at(np.array([*below, above, seen[0], seen[-1]]))
    outside = None if first is None else first[:3]
    if predictor.kind == "label" or (outside is not None and not np.isfinite(outside).all()):
        outside = None  # a label is the same for most values
    if outside is not None and _differs(outside, outside, CLEARLY, first).any():
        return False
    # Near a value a tree predicts what it does at the value, a peak too.
    known, between = at(seen), at(seen[:-1] + 0.99 * gaps)
    if known is None or between is None or outside is None:
        return known is not None and between is None
    if _differs(outside, outside, SAME, known).any():
        return False
    alike = not _differs(between, outside, SAME, known).any()
    differs = _differs(known, outside, SAME, known)
    return bool((alike and differs.any()) or differs[[0, -1]].all())


def _differs(values: FloatArray, outside: FloatArray, share: float, among: Any) -> Any:
    """Return which values' predictions differ from those outside by a share of the largest."""
    return (np.abs(values - outside[0]) > share * float(np.abs(among).max())).any(axis=1)
