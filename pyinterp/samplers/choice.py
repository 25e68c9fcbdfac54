"""Samplers by name, and the choice of the one that suits a feature."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeGuard

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, is_hashable
from pyinterp.data.columns import is_category
from pyinterp.data.features import check_names
from pyinterp.errors import OptionError, quote
from pyinterp.models.predictor import learner_name
from pyinterp.models.sample_weight import weight_option
from pyinterp.samplers.categorical import Categorical
from pyinterp.samplers.knockoff import Knockoff
from pyinterp.samplers.residual import Residual
from pyinterp.samplers.sampler import Sampler, Target
from pyinterp.samplers.subgroup import Subgroup

SamplerName = Literal["conditional", "residual", "categorical", "subgroup", "knockoff"]
SamplerLike = SamplerName | Sampler | Mapping[str, "SamplerName | Sampler"]

MOST_CODES = 10  # whole numbers that may be codes of categories

SAMPLERS = {
    "residual": Residual,
    "categorical": Categorical,
    "subgroup": Subgroup,
    "knockoff": Knockoff,
}


def choose_sampler(choice: SamplerLike, target: Target, sample: pd.DataFrame) -> Sampler:
    """Return the sampler of a feature; raise `OptionError` if it can't draw the feature.

    "conditional" is "residual" for numbers and groups of them. It is "categorical" for categories
    and for at most ten whole numbers, which may be codes. It is "subgroup" for all other groups.
    """
    check_sampler(choice)
    sampler = choice.get(target.name, "conditional") if isinstance(choice, Mapping) else choice
    if isinstance(sampler, str):
        name = _suitable(target, sample) if sampler == "conditional" else sampler
        sampler = SAMPLERS[name]()
    sampler.check(target, sample)
    return sampler


def check_draws(sampler: Sampler, weights: FloatArray | None, cvim_of: str = "") -> None:
    """Raise `OptionError` if a sampler takes no weights of rows, or its draws serve no CVIM."""
    if cvim_of and not sampler.independent_draws:  # as knockoffs
        raise OptionError(
            "CVIM needs draws that do not depend on the feature's own value given the others, but "
            f"those for `{cvim_of}` do ({sampler.label}); use another sampler, or "
            '`pfi(sampler="knockoff")`.'
        )
    if weights is not None and not sampler.takes_weights:
        raise OptionError(
            f"{type(sampler).__name__} takes no sampling weights, because it learns the law of "
            "rows that weigh the same; use another sampler, or leave `weights` out."
        )
    estimator = getattr(sampler, "estimator", None)
    if weights is not None and estimator is not None and weight_option(estimator) is None:
        raise OptionError(
            f"{learner_name(estimator)} takes no `sample_weight` in `fit`, so that the sampler "
            "would learn from the sample as if it were the population; use an estimator that "
            "takes it, or the sampler's own."
        )


def is_conditional(sampler: object) -> TypeGuard[SamplerLike]:
    """Whether values are drawn given the other variables: all samplers but "marginal"."""
    return not (isinstance(sampler, str) and sampler == "marginal")


def check_sampler(sampler: object, features: Collection[str] | None = None) -> None:
    """Raise `OptionError` unless `sampler` is a sampler, its name, or a mapping to these.

    The mapping is from some of the `features`, if these are given.
    """
    each = list(sampler.values()) if isinstance(sampler, Mapping) else [sampler]
    if not each:
        raise OptionError(
            "`sampler` must name the sampler of at least one feature, as in {'age': "
            "'subgroup'}; got an empty mapping. Leave it out for the default."
        )
    for one in each:
        if isinstance(one, str):
            check_choice("sampler", one, ("conditional", *SAMPLERS))
        elif not isinstance(one, Sampler):
            raise OptionError(
                "`sampler` must be a name, a sampler such as `pi.samplers.Residual()`, or a "
                f"mapping from features to these; got {quote(one)}."
            )
        elif not is_hashable(one):
            raise OptionError(
                "A sampler must be hashable, as laws are kept by sampler: make its class a "
                f"dataclass with `frozen=True`; {type(one).__name__} is not."
            )
    if isinstance(sampler, Mapping) and features is not None:
        check_names(list(sampler), features, argument="sampler")


def _suitable(target: Target, sample: pd.DataFrame) -> str:
    """Return the name of the sampler that "conditional" stands for."""
    columns = [sample[name] for name in target.variables]
    if target.discrete or any(map(is_category, columns)):
        return "subgroup" if len(columns) > 1 else "categorical"
    if len(columns) > 1:
        return "residual"
    values = columns[0].dropna().unique()
    whole = bool((values.astype(np.float64) % 1 == 0).all())
    few = len(values) <= 2 or (len(values) <= MOST_CODES and whole)
    return "categorical" if few else "residual"
