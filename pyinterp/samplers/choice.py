"""The samplers by name, and which one suits a feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import pandas as pd

from pyinterp.errors import OptionError, check_choice
from pyinterp.sample import is_category
from pyinterp.samplers.base import Sampler, Target
from pyinterp.samplers.categorical import Categorical
from pyinterp.samplers.covariates import few_whole_numbers
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

    "conditional" is "residual" for numbers and groups of them, "categorical" for categories and
    for at most ten whole numbers, which may be codes, "subgroup" for all other groups.
    """
    if isinstance(wanted, Mapping):
        return choose_sampler(wanted.get(target.name, "conditional"), target, population)
    if isinstance(wanted, Sampler):
        sampler = wanted
    elif isinstance(wanted, str):
        check_choice("sampler", wanted, ("conditional", *SAMPLERS))
        name = _suitable(target, population) if wanted == "conditional" else wanted
        sampler = SAMPLERS[name]()
    else:
        raise OptionError(
            "`sampler` must be a name, a sampler such as `pi.samplers.Residual()`, or a mapping "
            f"from features to these; got {wanted!r}."
        )
    try:
        hash(sampler)
    except TypeError as error:
        raise OptionError(
            "A sampler must be hashable, as laws are kept by sampler: make its class a dataclass "
            f"with `frozen=True`; {type(sampler).__name__} is not."
        ) from error
    sampler.check(target, population)
    return sampler


def _suitable(target: Target, population: pd.DataFrame) -> str:
    columns = [population[name] for name in target.variables]
    numbers = not target.discrete and not any(is_category(column) for column in columns)
    if len(columns) > 1:
        return "residual" if numbers else "subgroup"
    few = numbers and (columns[0].nunique() <= 2 or few_whole_numbers(columns[0]))
    return "residual" if numbers and not few else "categorical"


def check_names(wanted: SamplerLike, features: Mapping[str, object]) -> None:
    """Raise `OptionError` if a mapping of samplers names a feature that is not there."""
    if isinstance(wanted, Mapping):
        unknown = [name for name in wanted if name not in features]
        if unknown:
            raise OptionError(
                f"`sampler` names {unknown[0]!r}, which is not a feature asked for. Features: "
                f"{', '.join(features)}."
            )
