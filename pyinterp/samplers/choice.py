"""The samplers by name, and which one suits a feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import pandas as pd

from pyinterp.errors import OptionError, check_choice
from pyinterp.samplers.base import Sampler, Target
from pyinterp.samplers.categorical import Categorical
from pyinterp.samplers.covariates import is_category
from pyinterp.samplers.knockoff import Knockoff
from pyinterp.samplers.residual import Residual
from pyinterp.samplers.subgroup import Subgroup

__all__ = ["SAMPLERS", "SamplerLike", "SamplerName", "check_names", "choose_sampler"]

SamplerName: TypeAlias = Literal["conditional", "residual", "categorical", "subgroup", "knockoff"]
SamplerLike: TypeAlias = SamplerName | Sampler | Mapping[str, "SamplerName | Sampler"]

SAMPLERS: Mapping[str, Callable[[], Sampler]] = {
    "residual": Residual,
    "categorical": Categorical,
    "subgroup": Subgroup,
    "knockoff": Knockoff,
}


def choose_sampler(wanted: SamplerLike, target: Target, population: pd.DataFrame) -> Sampler:
    """Return the sampler for a feature, checked.

    "conditional" is "residual" for numbers of more than two values and groups of them,
    "categorical" for all other variables, "subgroup" for all other groups.
    """
    if isinstance(wanted, Mapping):
        return choose_sampler(wanted.get(target.name, "conditional"), target, population)
    if isinstance(wanted, Sampler):
        sampler = wanted
    else:
        check_choice("sampler", wanted, ("conditional", *SAMPLERS))
        name = _suitable(target, population) if wanted == "conditional" else wanted
        sampler = SAMPLERS[name]()
    sampler.check(target, population)
    return sampler


def _suitable(target: Target, population: pd.DataFrame) -> str:
    columns = [population[name] for name in target.variables]
    numbers = not target.discrete and not any(is_category(column) for column in columns)
    if len(columns) > 1:
        return "residual" if numbers else "subgroup"
    return "residual" if numbers and columns[0].nunique() > 2 else "categorical"


def check_names(wanted: SamplerLike, features: Mapping[str, object]) -> None:
    """Raise `OptionError` if a mapping of samplers names a feature that is not there."""
    if isinstance(wanted, Mapping):
        unknown = [name for name in wanted if name not in features]
        if unknown:
            raise OptionError(
                f"`sampler` names {unknown[0]!r}, which is not a feature asked for. Features: "
                f"{', '.join(features)}."
            )
