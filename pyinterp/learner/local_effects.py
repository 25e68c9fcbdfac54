"""Methods for effects near the data: accumulated, marginal, and slopes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from pyinterp.estimands.effects.ale import accumulated_local_effects
from pyinterp.estimands.effects.grids import Grid
from pyinterp.estimands.effects.m_plot import m_plot
from pyinterp.estimands.effects.scales import Scale
from pyinterp.estimands.effects.slopes import Step, average_marginal_effects, slopes
from pyinterp.learner.fitted_models import FittedModels, Inference
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults

__all__ = ["LocalEffects"]


class LocalEffects(FittedModels):
    """Methods for effects that stay near the rows: ALE, M-plot, slopes, marginal effects."""

    @takes()
    def ale(
        self,
        features: str | Sequence[str],
        *,
        grid: Grid = "quantile",
        points: int | None = None,
        scale: Scale | None = None,
        which_class: Any = None,
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Accumulated local effect (ALE) of one variable, or of two beyond each.

        .. math:: ALE_j(x) = \sum_{b \le b(x)} \frac1{n_b} \sum_{i: x_i \in (q_{b-1}, q_b]}
            [f(q_b, x_{-j,i}) - f(q_{b-1}, x_{-j,i})] - const

        (Apley and Zhu 2020, eqs 15 and 16). Every row is moved within its own interval only, so
        nothing is extrapolated. The mean over rows is 0. R's ``ALEPlot`` and iml give the same
        numbers on the same edges where no cell is empty. Of a number and a category it is that of
        ``ALEPlot``: second differences over levels in their order.

        Parameters
        ----------
        features : str or sequence of two str
            The variable, or two, of which one at least is a number.
        grid : {"quantile", "equidistant", "unique", "r"}, RGrid, array or mapping
            The edges of the intervals; "quantile" takes observed values (type 1), as in R. Of a
            category the levels in the order in which they are accumulated: by default their own
            if they are ordered, else by how alike their rows are in the other variables, as in
            ``ALEPlot``; a list of levels is another order.
        {points}
        {scale}
        {which_class}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In units of the prediction; one term per edge or level (and class).

        Raises
        ------
        OptionError
            If a variable, level or class is unknown, or both of two variables are categories.
        """
        estimand = accumulated_local_effects(
            self.analysis.problem,
            features,
            grid=grid,
            points=points,
            scale=scale,
            which_class=which_class,
        )
        return self.estimate(estimand, **inference)

    @takes()
    def m_plot(
        self,
        features: str | Sequence[str],
        *,
        grid: Grid = "quantile",
        points: int | None = None,
        span: float = 0.2,
        scale: Scale | None = None,
        which_class: Any = None,
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Mean prediction of rows near a value, :math:`E[f(X) | X_j = x]` (M-plot).

        What goes with the variable counts as its effect (Apley and Zhu 2020, section 1). If it is
        independent of the others the M-plot is the partial dependence. `pd` with
        ``sampler="conditional"`` has the same aim by way of a model of the variable.

        Parameters
        ----------
        features : str
            One variable.
        {grid}
        {points}
        span : float
            Share of the rows that a local line is put through, weighted by distance (tricube), as
            in R's ``loess(degree=1)``. Categories, and numbers of at most ten values, are grouped
            by value and have no use for it.
        {scale}
        {which_class}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In units of the prediction; one term per grid point (and class).

        Raises
        ------
        OptionError
            If the variable is unknown, or the grid leaves its observed range.
        """
        estimand = m_plot(
            self.analysis.problem,
            features,
            grid=grid,
            points=points,
            span=span,
            scale=scale,
            which_class=which_class,
        )
        return self.estimate(estimand, **inference)

    @takes()
    def slopes(
        self,
        features: str | Sequence[str],
        *,
        step: Step = None,
        grid: Grid = "quantile",
        points: int | None = None,
        scale: Scale | None = None,
        which_class: Any = None,
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Derivative of the partial dependence on a number, with a band.

        .. math:: \frac1h E[f(x + h/2, X_C) - f(x - h/2, X_C)]

        A central difference for every row at every grid point. ``pd(kind="d-ice")`` takes
        differences between neighboring grid points.

        Parameters
        ----------
        features : str
            One number.
        step : float or "sd", optional
            The width h; "sd" is one standard deviation of the variable. By default 1e-4 of its
            range, which models that predict steps, such as trees, refuse.
        {grid}
        {points}
        {scale}
        {which_class}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In units of the prediction per unit of the variable; one term per grid point (and
            class).

        Raises
        ------
        OptionError
            If the variable is unknown, a category or constant, or the model predicts steps.
        """
        estimand = slopes(
            self.analysis.problem,
            features,
            step=step,
            grid=grid,
            points=points,
            scale=scale,
            which_class=which_class,
        )
        return self.estimate(estimand, **inference)

    @takes()
    def ame(
        self,
        features: str | Sequence[str] | None = None,
        *,
        step: Step = None,
        scale: Scale | None = None,
        which_class: Any = None,
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Average marginal effects: mean slopes at the rows' own values.

        .. math:: E\Big[\frac{\partial f(X)}{\partial x_j}\Big]

        by central differences; of a category, or a number of two values, mean changes from the
        first. They are the ``get_margeff()`` of statsmodels. For statsmodels results in a
        `FittedModel`, so are their standard errors, of coefficients given the rows; for other
        models they are of rows, and for a learner of training too.

        Parameters
        ----------
        features : str or sequence of str, optional
            Variables; by default all.
        step : float or "sd", optional
            Width of the differences; "sd" is one standard deviation of each variable. By default
            1e-4 of its range, which models that predict steps, such as trees, refuse.
        {scale}
        {which_class}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In units of the prediction per unit of the variable; one term per number, and per level
            but the first of a category or a number of two values (and class).

        Raises
        ------
        OptionError
            If a variable is unknown or constant, or the model predicts steps.
        """
        estimand = average_marginal_effects(
            self.analysis.problem,
            features,
            step=step,
            scale=scale,
            which_class=which_class,
        )
        return self.estimate(estimand, **inference)
