"""Levels that evaluation rows of a refit have and its training rows lack."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.data.design import Design, FormulaDesign
from pyinterp.data.sample import Sample
from pyinterp.errors import list_of, quote
from pyinterp.resampling.resampling import Part, Resampling

Levels: TypeAlias = Mapping[str, pd.Categorical]
Unseen: TypeAlias = list[tuple[int, str, list[Any]]]  # number of a part, variable, its levels
Read: TypeAlias = Callable[[pd.DataFrame], Any]
MOST = 50  # different numbers that may be codes, which a pipeline encodes


def levels_for(estimator: Any, variables: pd.DataFrame) -> Levels:
    """Return the levels of columns that an estimator may encode itself."""
    inside = getattr(estimator, "estimator", getattr(estimator, "regressor", estimator))
    coded = hasattr(estimator, "steps") or hasattr(inside, "steps")
    return {
        str(name): pd.Categorical(column)
        for name, column in variables.items()
        if not pd.api.types.is_numeric_dtype(column.dtype)
        or (coded and column[: 20 * MOST].nunique() <= MOST)
    }


def unseen_among(parts: Mapping[int, Part], levels: Callable[[Sample], Levels]) -> Unseen:
    """Return the unseen levels of every part that has some; a missing value is none."""
    unseen = []
    for k, part in parts.items():
        trained = levels(part.train)
        for name, factor in levels(part.evaluation).items():
            new = np.setdiff1d(factor.codes, np.append(trained[name].codes, -1))
            if len(new):
                unseen.append((k, name, factor.categories[new].tolist()))
    return unseen


def unread(unseen: Unseen, parts: Mapping[int, Part], train: Callable[[int], Read]) -> Unseen:
    """Return the unseen levels of variables of which a learner can't read some, by trial.

    ``train(k)`` trains on a part and returns a function of rows. It must read a row that trained,
    but not one that differs from it by an unseen level.
    """
    trial, names = cache(train), set()

    def fails(k: int, rows: pd.DataFrame) -> bool:
        try:
            trial(k)(rows)
        except Exception:  # noqa: BLE001 - whatever a library raises; refits say what else fails
            return True
        return False

    for name, k in {name: k for k, name, _ in reversed(unseen)}.items():
        known, values = parts[k].train.variables, parts[k].evaluation.variables[name]
        new = values[values.notna() & ~values.isin(known[name])].array
        rows = known.iloc[[0] * len(new)].reset_index(drop=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # refits have the same
            if not fails(k, rows) and fails(k, rows.assign(**{name: new})):
                names.add(name)
    return [one for one in unseen if one[1] in names]


def in_words(unseen: Unseen, plan: Resampling, design: Design) -> str:
    """Return which levels are unseen in which refits, and what to do, by design or by encoder."""
    every: dict[str, dict[Any, None]] = {}
    for _, name, levels in unseen:
        every.setdefault(name, {}).update(dict.fromkeys(levels))
    named = (f"{list_of(map(quote, new), 40, 1200)} of `{name}`" for name, new in every.items())
    refits = dict.fromkeys(k for k, _, _ in unseen)
    strata = "draw within levels (`strata=`), " if plan.stratifies else ""
    accept = 'as the encoder of a pipeline says (`handle_unknown="ignore"`)'
    if isinstance(design, FormulaDesign):
        accept = 'as the reference level (`unseen_levels="allow"`)'
    return (
        f"Evaluation rows have levels that training rows lack: {' and '.join(named)}, in "
        f"{len(refits)} of {plan.number} refits ({list_of(refits)}). Merge rare levels, {strata}or "
        f"accept that they are treated {accept}."
    )
