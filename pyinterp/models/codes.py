"""Numbers that a fitted model takes as names of levels: it knows nothing between them."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from pyinterp._typing import FloatArray
from pyinterp.data.columns import is_category
from pyinterp.data.design import Design
from pyinterp.errors import DesignError, PredictionError
from pyinterp.models.final_step import entrance, final_step
from pyinterp.models.predictor import Predictor

ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)
ROWS, MOST_VALUES = 50, 50
SAME = 1e-12  # of the largest prediction: what is equal but for rounding


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
    counts = variables.nunique()
    numbers = [
        str(name)
        for name, column in variables.items()
        if name not in design.discrete and not is_category(column) and counts[name] > 2
    ]
    rows = variables.iloc[np.unique(np.linspace(0, len(variables) - 1, ROWS).astype(int))]
    declared = _declared(predictor.estimator, design, rows, numbers)
    return frozenset(
        name
        for name in numbers
        if name in declared
        or (
            counts[name] <= MOST_VALUES
            and _tells_no_values_apart(predictor, design, rows, variables[name])
        )
    )


def _declared(
    fitted: Any, design: Design, rows: pd.DataFrame, numbers: Collection[str]
) -> set[str]:
    """Return the numbers that a model, or the encoder before it, was told are categories."""
    last = final_step(fitted)
    if last.before is None and (inside := _inside(last.model)) is not None:
        return _declared(inside, design, rows, numbers)
    encoded, categories = _encoded(entrance(fitted), design.columns), _categories(last.model)
    found = set()
    for name in numbers if encoded or categories else ():
        driven = set(design.driven([name]).tolist())
        inputs = driven
        if categories and last.before is not None:
            other = rows.assign(**{name: rows[name].to_numpy()[::-1]})
            one, two = (_table(last.before(design.encode(frame))) for frame in (rows, other))
            inputs = set(np.flatnonzero((one != two).any(axis=0)).tolist())
        if driven <= encoded or (inputs and inputs <= categories):
            found.add(name)
    return found


def _inside(model: Any) -> Any:
    """Return the fitted model in a wrapper that changes its predictions only; None of others."""
    if calibrated := getattr(model, "calibrated_classifiers_", None):
        return calibrated[0].estimator
    names = ("inside", "regressor_", "estimator_")
    return next((getattr(model, name) for name in names if hasattr(model, name)), None)


def _encoded(first: Any, columns: Collection[str]) -> set[int]:
    """Return the positions of columns that are given to an encoder of categories."""
    if isinstance(first, ENCODERS):
        return set(range(len(columns)))
    names, found = pd.Index(columns), set[int]()
    for _, step, chosen in getattr(first, "transformers_", ()):
        if any(isinstance(part, ENCODERS) for _, part in getattr(step, "steps", [("", step)])):
            every = [chosen] if isinstance(chosen, str) else chosen
            by_name = all(isinstance(one, str) for one in every)
            places = names.get_indexer(every) if by_name else np.arange(len(names))[every]
            found.update(places.tolist())
    return found


def _categories(model: Any) -> set[int]:
    """Return the positions of inputs that a model of trees takes as categories."""
    booster = getattr(model, "booster", None) or getattr(model, "booster_", model)
    if hasattr(model, "get_booster"):
        booster = model.get_booster()
    package = type(booster).__module__.partition(".")[0]
    if package == "lightgbm":
        infos = booster.dump_model(num_iteration=1)["feature_infos"]
        names = booster.feature_name()
        return {j for j, name in enumerate(names) if infos.get(name, {}).get("values")}
    if package == "xgboost":
        return {j for j, kind in enumerate(booster.feature_types or ()) if kind == "c"}
    if package == "catboost":
        return set(booster.get_cat_feature_indices())
    mask = getattr(model, "is_categorical_", None)  # of histogram boosting
    return set() if mask is None else set(np.flatnonzero(mask).tolist())


def _tells_no_values_apart(
    predictor: Predictor, design: Design, rows: pd.DataFrame, column: pd.Series[Any]
) -> bool:
    """Whether a model refuses values between the observed ones, or predicts all unseen alike."""
    seen = np.unique(column.dropna().to_numpy(dtype=np.float64))
    gaps = np.diff(seen)

    def at(values: FloatArray) -> FloatArray | None:
        """Return predictions of all rows at every value, or None if some are refused."""
        name = str(column.name)
        frames = [rows.assign(**{name: np.full(len(rows), value)}) for value in values]
        try:
            with warnings.catch_warnings(action="ignore"):  # of unknown levels
                answer = predictor(design.encode(pd.concat(frames, ignore_index=True)))
        except (DesignError, PredictionError) as error:
            # What is predicted, but is not finite, is not refused.
            return np.full((len(values), 1), np.inf) if error.__cause__ is None else None
        return answer.reshape(len(values), -1)

    # Near a value a tree predicts what it does at the value, a peak too.
    known, between = at(seen), at(seen[:-1] + 0.99 * gaps)
    if known is None or between is None:
        return known is not None
    if predictor.kind == "label":  # which is the same for most values
        return False
    # Three values, at distances from which a symmetric function is not the same.
    outside = at(np.array([seen[0] - 2.3 * gaps[0], seen[0] - gaps[0], seen[-1] + 1.4 * gaps[-1]]))
    if outside is None or not np.isfinite(outside).all():
        return False
    size = SAME * float(np.abs(known).max())

    def differs(values: FloatArray) -> Any:
        return (np.abs(values - outside[0]) > size).any(axis=1)

    if differs(outside).any():
        return False
    alike = differs(known).any() and not differs(between).any()
    return bool(alike or differs(known[[0, -1]]).all())


def _table(inputs: Any) -> Any:
    return np.asarray(inputs.toarray() if hasattr(inputs, "toarray") else inputs)
