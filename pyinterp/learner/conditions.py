"""Methods for positivity, which conditional importance needs, and for causal effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from pyinterp.data.row_data import Rows
from pyinterp.errors import OptionError, quote
from pyinterp.estimands.causal import causal_effects, causal_importance, causal_share
from pyinterp.estimands.effects.grids import Grid
from pyinterp.estimands.importance.permutation import Permutations
from pyinterp.estimands.positivity import positivity, samplers_of
from pyinterp.learner.fitted_models import ONE_GROUP, FittedModels, Inference
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults
from pyinterp.results.together import CausalResults
from pyinterp.samplers import SamplerLike

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["Conditions"]


class Conditions(FittedModels):
    """Methods for positivity and causal effects."""

    @takes()
    def positivity(
        self,
        features: str | Sequence[str] | None = None,
        *,
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Positivity diagnostic: the share of a feature's variance that the others explain.

        .. math:: R^2_j = 1 - V(X_j \mid X_{-j}) / V(X_j)

        (Khan, Saarela and Kustra 2025, eq. 17), out of sample. Above 0.9 tables warn: the feature
        hardly varies given the others.

        Parameters
        ----------
        {features}
        {sampler}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            Between 0 and 1, or negative where the features are predicted worse than by their mean.
        """
        estimand = positivity(self.analysis.problem, features, sampler=sampler)
        return self.estimate(estimand, **inference)

    @takes()
    def plot_positivity(
        self, feature: str, *, sampler: SamplerLike = "conditional", rows: Rows = None
    ) -> ggplot:
        """Plot a feature against its prediction from all other variables, out of sample.

        Rows near the line leave a conditional importance little to work with; a number that is
        fixed by the others lies on it. For a category, the probabilities of its levels by the
        observed level.

        Parameters
        ----------
        feature : str
            One variable.
        {sampler}
        {rows}
        """
        from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

        if not isinstance(feature, str):
            raise OptionError(
                f"`plot_positivity` is about one variable; `feature` must be its name, not "
                f"{quote(feature)}."
            )
        analysis = self.analysis if rows is None else self.analysis.among(rows)
        variables = analysis.problem.choose(feature)
        (feature_sampler,) = samplers_of(analysis.problem, variables, sampler).values()
        estimating = {refit.number for refit in analysis.estimating}
        observed, predicted = [], []
        for case, refit in zip(analysis.cases, analysis.refits, strict=True):
            if refit.number not in estimating:
                continue
            distribution = case.conditional(feature_sampler, variables[feature])
            if distribution.prediction is None:
                raise OptionError(
                    f"The sampler of {quote(feature)} makes no prediction that can be plotted "
                    f"({feature_sampler.label}); use another, or plot one variable of a group."
                )
            rows = pd.Index(case.sample.rows)
            observed.append(case.sample.variables[feature].set_axis(rows))
            levels = distribution.levels or None
            predicted.append(pd.DataFrame(distribution.prediction, columns=levels, index=rows))
        values, predictions = pd.concat(observed), pd.concat(predicted)
        context = analysis.context
        caption = f"Out of sample; {context.refits} refits ({context.plan})"
        # A row that several refits evaluate is shown once.
        once = values[~values.index.duplicated()].sort_index()
        return plots.agreement(once, predictions.groupby(predictions.index).mean(), caption)

    @takes(refused={"by": ONE_GROUP})
    def causal(
        self,
        feature: str,
        *,
        grid: Grid = "quantile",
        points: int | None = None,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> CausalResults:
        r"""Causal effects, importance and share of variance of one feature, by plug-in.

        With f in the place of :math:`E(Y_x \mid Z)`, :math:`CATE(x, x^*, z) = f(x, z) - f(x^*, z)`:
        its mean over rows; MVIM and CVIM as mean squares of it (Khan, Saarela and Kustra 2025,
        Theorems 1 to 5) beside their permutation estimates; and CVIM / (2 V(Y)), the share of
        variance that the feature explains causally (Chen et al. 2020). Causal only under the
        assumptions that the table states.

        Parameters
        ----------
        feature : str
            One variable.
        grid, points
            As for `pd`; effects are against the first level or the smallest value.
        {permutations}
        {sampler}
        {rows}
        {inference}

        Returns
        -------
        CausalResults
        """
        problem = self.analysis.problem
        options: dict[str, Any] = {"permutations": permutations, "sampler": sampler}
        importance = causal_importance(problem, feature, **options)
        share = causal_share(problem, feature, **options)
        effects = causal_effects(problem, feature, grid=grid, points=points)
        return CausalResults(
            effects=self.estimate(effects, **inference),
            importance=self.estimate(importance, **inference),
            share=self.estimate(share, **inference),
        )
