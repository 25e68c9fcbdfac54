"""Numbers that a fitted model was told are names of levels: it knows nothing between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from pyinterp.data.columns import is_category
from pyinterp.data.design import Design
from pyinterp.models.final_step import entrance, final_step
from pyinterp.models.libraries import library_of
from pyinterp.models.library import Booster
from pyinterp.models.predictor import Predictor

ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)
ROWS = 50  # that earlier steps transform, to see which inputs a variable drives


def codes_of(predictor: Predictor, design: Design, variables: pd.DataFrame) -> frozenset[str]:
    """Return the numbers that a fitted model takes as categories, though its formula does not.

    What the model declares decides, or an encoder before it. Two values are a number.

    Parameters
    ----------
    predictor : Predictor
    design : Design
        How it encodes variables.
    variables : pandas.DataFrame
        All rows.
    """
    rows = variables.iloc[np.unique(np.linspace(0, len(variables) - 1, ROWS).astype(int))]
    declared = _facts_of(predictor.estimator, design, rows) - design.discrete
    return frozenset(
        name
        for name in declared
        if not is_category(variables[name]) and variables[name].nunique() > 2
    )


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
    categories, found = _categories_of_trees(last.model), set[str]()
    for name in map(str, rows) if encoded or categories else ():
        driven = set(design.driven([name]).tolist())
        inputs = driven
        if categories and last.before is not None:
            other = rows.assign(**{name: rows[name].to_numpy()[::-1]})
            one, two = (_table(last.before(design.encode(frame))) for frame in (rows, other))
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


def _categories_of_trees(model: Any) -> set[int]:
    """Return the positions of inputs that a model of trees takes as categories."""
    inside = model.booster if isinstance(model, Booster) else model
    return set(library_of(inside).categories(inside))


def _table(inputs: Any) -> Any:
    return np.asarray(inputs.toarray() if hasattr(inputs, "toarray") else inputs)
