"""Samplers: where the values that replace a feature come from.

The input is the rows and the names of a feature's variables. The output is the distribution of the
feature given all other variables, from which conditional importances draw.

=============  ============================================================
Module         Content
=============  ============================================================
`sampler`      The type of samplers, and the rows that they learn from
`encoding`     Rows in blocks; columns as numbers, indicators and codes
`residual`     A prediction of the feature, and the residual of another row
`categorical`  Predicted probabilities of categories
`subgroup`     Rows of the same leaf of a tree
`knockoff`     Gaussian knockoffs
`choice`       Samplers by name, and the one that suits a feature
`marginal`     Draws that ignore the other variables
`learners`     Copies and training of learners, and the default ones
`regressions`  Further default learners: additive, and stepwise
=============  ============================================================

A new sampler is a file here with a subclass of `Sampler`, and its name in `choice`.
"""

from pyinterp.samplers.categorical import Categorical
from pyinterp.samplers.choice import (
    SAMPLERS,
    SamplerLike,
    SamplerName,
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
    "check_sampler",
    "choose_sampler",
    "distinct",
    "is_conditional",
]
