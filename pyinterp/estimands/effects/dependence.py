"""The partial dependence that options ask for: marginal, or given the variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pyinterp.data.features import names_of
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.estimands.effects.conditional_dependence import conditional_dependence
from pyinterp.estimands.effects.grids import Grid, Points, RGrid
from pyinterp.estimands.effects.partial_dependence import partial_dependence
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.samplers import is_conditional

__all__ = ["dependence", "grids_of"]

# What only the marginal partial dependence has.
MARGINAL_ONLY = {"of": "prediction", "kind": "pd", "average": "mean"}


def dependence(
    problem: Problem, features: str | Sequence[str], *, sampler: Any, **options: Any
) -> Estimand:
    """Return partial dependence, or conditional partial dependence if a sampler is named."""
    if not is_conditional(sampler):
        return partial_dependence(problem, features, **options)
    for option, default in MARGINAL_ONLY.items():
        if options.pop(option) != default:
            raise OptionError(
                f"Conditional partial dependence is a weighted mean of predictions: leave "
                f'`{option}` out, or `sampler="marginal"`.'
            )
    names = names_of(features)
    return conditional_dependence(
        problem, names[0] if len(names) == 1 else names, sampler=sampler, **options
    )


def grids_of(names: Sequence[str], grid: Grid) -> dict[str, Grid]:
    """Return the grid of every variable; raise `OptionError` if it is of one only, or of none."""
    if not names:
        raise OptionError("`features` must name at least one variable.")
    if isinstance(grid, Mapping):
        unknown = [name for name in grid if name not in names]
        if unknown:
            raise OptionError(
                f"`grid` names {quote(unknown[0])}, which is not among {list_of(names)}."
            )
        return {name: grid.get(name, "quantile") for name in names}
    if not isinstance(grid, str | RGrid) or isinstance(grid, pd.DataFrame | Points):
        raise OptionError(
            "A grid for all variables must be a rule, or a mapping such as {'a': [0, 1]}, not "
            f"{quote(grid)}."
        )
    return dict.fromkeys(names, grid)
