"""Samplers by name, and the choice of the one that suits a feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, TypeGuard

import pandas as pd

from pyinterp.checks import check_choice, is_hashable
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.samplers.categorical import Categorical
from pyinterp.samplers.covariates import few_whole_numbers
from pyinterp.samplers.knockoff import Knockoff
from pyinterp.samplers.residual import Residual
from pyinterp.samplers.sampler import Sampler, Target
from pyinterp.samplers.subgroup import Subgroup

__all__ = [
    "SAMPLERS",
    "SamplerLike",
    "SamplerName",
    "check_names",
    "check_sampler",
    "choose_sampler",
    "is_conditional",
]

SamplerName: TypeAlias = Literal["conditional", "residual", "categorical", "subgroup", "knockoff"]
SamplerLike: TypeAlias = SamplerName | Sampler | Mapping[str, "SamplerName | Sampler"]

SAMPLERS: Mapping[str, Callable[[], Sampler]] = {
    "residual": Residual,
    "categorical": Categorical,
    "subgroup": Subgroup,
    "knockoff": Knockoff,
}


def choose_sampler(choice: SamplerLike, target: Target, population: pd.DataFrame) -> Sampler:
    """Return the sampler of a feature; raise `OptionError` if it can't draw the feature.

    "conditional" is "residual" for numbers and groups of them, "categorical" for categories and
    for at most ten whole numbers, which may be codes, "subgroup" for all other groups.
    """
    check_sampler(choice)
    if isinstance(choice, Mapping):
        return choose_sampler(choice.get(target.name, "conditional"), target, population)
    if isinstance(choice, Sampler):
        sampler = choice
    else:
        name = _suitable(target, population) if choice == "conditional" else choice
        sampler = SAMPLERS[name]()
    _check_observed(target, population)
    sampler.check(target, population)
    return sampler


def _check_observed(target: Target, population: pd.DataFrame) -> None:
    """Raise `OptionError` if a variable of the feature is missing in some rows."""
    for name in target.variables:
        if missing := int(population[name].isna().sum()):
            raise OptionError(
                f"A sampler learns `{name}` from the other variables, but it is missing in "
                f"{missing} of {len(population)} rows; name other features, or leave those rows "
                'out by `missing="drop"`.'
            )


def is_conditional(sampler: object) -> TypeGuard[SamplerLike]:
    """Whether values are drawn given the other variables: all samplers but "marginal"."""
    return not (isinstance(sampler, str) and sampler == "marginal")


def check_sampler(sampler: object) -> None:
    """Raise `OptionError` unless `sampler` is a sampler, its name, or a mapping to these."""
    if isinstance(sampler, Mapping):
        if not sampler:
            raise OptionError(
                "`sampler` must name the sampler of at least one feature, as in {'age': "
                "'subgroup'}; got an empty mapping. Leave it out for the default."
            )
        for one in sampler.values():
            _check_one(one)
    else:
        _check_one(sampler)


def _check_one(sampler: object) -> None:
    """Raise `OptionError` unless `sampler` is a sampler that can be hashed, or its name."""
    if isinstance(sampler, str):
        check_choice("sampler", sampler, ("conditional", *SAMPLERS))
    elif not isinstance(sampler, Sampler):
        raise OptionError(
            "`sampler` must be a name, a sampler such as `pi.samplers.Residual()`, or a mapping "
            f"from features to these; got {quote(sampler)}."
        )
    elif not is_hashable(sampler):
        raise OptionError(
            "A sampler must be hashable, as laws are kept by sampler: make its class a dataclass "
            f"with `frozen=True`; {type(sampler).__name__} is not."
        )


def _suitable(target: Target, population: pd.DataFrame) -> str:
    """Return the name of the sampler that "conditional" stands for."""
    columns = [population[name] for name in target.variables]
    numbers = not target.discrete and not any(is_category(column) for column in columns)
    if len(columns) > 1:
        return "residual" if numbers else "subgroup"
    few = numbers and (columns[0].nunique() <= 2 or few_whole_numbers(columns[0]))
    return "residual" if numbers and not few else "categorical"


def check_names(sampler: SamplerLike, features: Mapping[str, object]) -> None:
    """Raise `OptionError` if a mapping of samplers names a feature that is not there."""
    if isinstance(sampler, Mapping):
        unknown = [name for name in sampler if name not in features]
        if unknown:
            raise OptionError(
                f"`sampler` names {quote(unknown[0])}, which is not a feature asked for. Features: "
                f"{list_of(features)}."
            )
