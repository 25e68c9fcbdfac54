"""Samplers: where the values that replace a feature come from.

In come the rows and the names of a feature's variables; out goes the distribution of the feature
given all other variables, from which conditional importances draw. `residual`, `categorical`,
`subgroup` and `knockoff` are samplers, `choice` picks one for a feature, `marginal` has draws that
ignore the other variables. A new sampler is a subclass of `Sampler`.
"""

from pyinterp.samplers.categorical import Categorical
from pyinterp.samplers.choice import (
    SAMPLERS,
    SamplerLike,
    SamplerName,
    check_names,
    check_sampler,
    choose_sampler,
    is_conditional,
)
from pyinterp.samplers.knockoff import Knockoff
from pyinterp.samplers.marginal import Distinct, balanced_permutations, distinct
from pyinterp.samplers.residual import Residual
from pyinterp.samplers.sampler import ConditionalDistribution, Draws, LearningRows, Sampler, Target
from pyinterp.samplers.subgroup import Subgroup

__all__ = [
    "SAMPLERS",
    "Categorical",
    "ConditionalDistribution",
    "Distinct",
    "Draws",
    "Knockoff",
    "LearningRows",
    "Residual",
    "Sampler",
    "SamplerLike",
    "SamplerName",
    "Subgroup",
    "Target",
    "balanced_permutations",
    "check_names",
    "check_sampler",
    "choose_sampler",
    "distinct",
    "is_conditional",
]
