"""Methods for effects: partial dependence, and the statistics computed from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, Unpack, overload

from pyinterp.checks import check_flag
from pyinterp.data.features import names_of
from pyinterp.estimands.effects.ale import accumulated_local_effects
from pyinterp.estimands.effects.conditional_dependence import dependence, m_plot
from pyinterp.estimands.effects.grids import Grid, grids_of
from pyinterp.estimands.effects.partial_dependence import Average, PDKind, PDOf
from pyinterp.estimands.effects.scales import Scale
from pyinterp.estimands.effects.slopes import Step, average_marginal_effects, means_by_level, slopes
from pyinterp.estimands.importance.flatness import Spread, flatness
from pyinterp.estimands.importance.permutation import Replacement
from pyinterp.estimands.interaction.h_statistic import Order, h_statistic
from pyinterp.estimands.interaction.vint import Sets, vint
from pyinterp.inference.contrasts import Contrasts, MeanRelation, Ratio
from pyinterp.learner.fitted_models import FittedModels, Inference
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults
from pyinterp.results.together import CurveResults

Names: TypeAlias = str | Sequence[str]


class PredictionOptions(Inference, total=False):
    """Options of all that is computed from predictions: on which scale, and of which class."""

    scale: Scale | None
    which_class: Any


class CurveOptions(PredictionOptions, total=False):
    """Options of all curves over a grid."""

    grid: Grid
    points: int | None


class PDOptions(CurveOptions, total=False):
    """Options of ``pd``."""

    of: PDOf
    kind: PDKind
    average: Average
    sampler: Replacement


class Effects(FittedModels):
    """Methods for effects: how predictions depend on variables."""

    @overload
    def pd(
        self, features: Names, *, together: Literal[True] = True, **options: Unpack[PDOptions]
    ) -> EstimandResults: ...

    @overload
    def pd(
        self, features: Names, *, together: Literal[False], **options: Unpack[PDOptions]
    ) -> CurveResults: ...

    @overload
    def pd(
        self, features: None = None, *, together: bool = True, **options: Unpack[PDOptions]
    ) -> CurveResults: ...

    @takes()
    def pd(
        self,
        features: str | Sequence[str] | None = None,
        *,
        together: bool = True,
        **options: Unpack[PDOptions],
    ) -> EstimandResults | CurveResults:
        """Partial dependence (PD) on one to three variables, with its ICE curves.

        .. math:: PD_S(x) = E[f(x, X_C)]

        The estimate is the mean over evaluation rows and, for a learner, over refits (Molnar et
        al. 2021, eqs 2 and 7). All rows determine the grid, once for all refits.

        Parameters
        ----------
        features : str or sequence of str, optional
            One variable, or two or three that are set together. By default every variable has a
            curve.
        together : bool
            Whether the variables of a list are set together. If not, each of them has a curve.
        {grid}
        {points}
        of : {"prediction", "entropy", "nll"}
            The quantity that is averaged: predictions, the entropy of the predictive distribution,
            or the negative log likelihood of the rows' responses (Wood et al. 2024). The last two
            are in nats. They need a learner that predicts a distribution or class probabilities,
            and they exclude `scale`. `which_class` then compares one class with all others
            together.
        {kind}
        {scale}
        {which_class}
        {average}
        sampler : "marginal", str, Sampler or mapping
            "marginal" is the PD. "conditional", "residual" and "categorical" give the M-plot,
            :math:`E[f(x, X_C) | X_j = x]`. For it, a model of the variable weights each row by how
            likely the value x is, given the row's other variables.
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults or CurveResults
            Estimates in units of the prediction, one term per grid point and class.
            ``row_frame()`` has the ICE curves. `CurveResults` holds one `EstimandResults` per
            variable; it is returned without `features`, and with ``together=False``.

        Raises
        ------
        OptionError
            If a variable, level or class is unknown, or the grid can't be used.

        Examples
        --------
        >>> curve = res.pd("bmi", points=3).summary_frame()
        >>> curve[["estimate", "conf_low", "conf_high"]].round(1)
                   estimate  conf_low  conf_high
        term
        bmi[18]        79.4      56.3      102.5
        bmi[25.7]     144.8     135.4      154.2
        bmi[42.2]     284.8     254.1      315.5
        >>> res.pd("sex").params.round(1).to_dict()
        {'sex[1]': 154.1, 'sex[2]': 145.2}
        """
        check_flag("together", together)
        if features is not None and together:
            return self._estimate(dependence, features, **options)
        problem = self.analysis.problem
        variables = [name for feature in problem.features.values() for name in feature]
        names = variables if features is None else names_of(features)
        grids = grids_of(names, options.pop("grid", "quantile"))
        return CurveResults(
            self._together(
                lambda fit: {
                    n: fit._estimate(dependence, n, grid=grids[n], **options) for n in grids
                }
            )
        )

    @takes()
    def firm(
        self,
        features: str | Sequence[str] | None = None,
        *,
        spread: Spread = "sd",
        ice: bool = False,
        kind: PDKind = "pd",
        average: Average = "mean",
        **options: Unpack[CurveOptions],
    ) -> EstimandResults:
        r"""Flatness of partial dependence (FIRM), an importance that needs no loss.

        .. math:: i(x_j) = \Big\{\frac{1}{G - 1} \sum_{g=1}^G
            \big[PD_j(x_g) - \overline{PD}_j\big]^2 \Big\}^{1/2}

        over the G grid points; of a category :math:`(\max PD_j - \min PD_j) / 4` (Greenwell,
        Boehmke and McCarthy 2018, eq. 4). Grid points count alike, whatever the density of
        the feature. For a learner it is the mean over refits, which is biased upward: noise makes
        a curve vary. Beside it stands the flatness of the mean curve without that noise,

        .. math:: \Big\{ s^2(PD_j) - \frac{tr(C V)}{G - 1} \Big\}_+^{1/2}

        where V is the sampling covariance of the curve under `cov_type` and C the centering
        matrix. R's ``vip::vi_firm`` gives the plain value, to 12 digits on the same grid.

        Parameters
        ----------
        features : str or sequence of str, optional
            Variables; by default all, members of groups one by one.
        spread : {"sd", "mad", "iqr"}
            Spread of the curve of a number: standard deviation, median absolute deviation (times
            1.4826) or interquartile range (type 7). Whole numbers and booleans are numbers, as in
            vip, unless the formula makes categories of numbers, as ``C(year)`` does.
        ice : bool
            Take the spread of every row's curve, and their mean: the effect of the feature where
            interactions cancel in the mean curve.
        grid, points, kind, scale, which_class, average
            Of the curves, as for `pd`; a mapping of grids may have several variables.
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In units of the prediction; one term per feature (and class). `corrected_params` has the
            corrected values: of standard deviations only, not of categories, "mad", "iqr" or
            ``ice=True``. There is no test of 0.

        Raises
        ------
        OptionError
            If a variable, level or class is unknown, or the grid can't be used.

        Examples
        --------
        >>> res.firm().params.round(1).to_dict()
        {'sex': 6.4, 'bmi': 47.0, 'bp': 24.7}
        """
        return self._estimate(
            flatness, features, spread=spread, ice=ice, kind=kind, average=average, **options
        )

    @takes()
    def vint(
        self,
        pairs: Sets | None = None,
        *,
        kind: PDKind = "pd",
        average: Average = "mean",
        **options: Unpack[CurveOptions],
    ) -> EstimandResults:
        r"""Interaction of pairs of variables by the flatness of partial dependence (vint).

        .. math:: v_{jk} = \tfrac12 \Big[ sd_a\, sd_b\, PD_{jk}(a, b) + sd_b\, sd_a\,
            PD_{jk}(a, b) \Big]

        over grid points a of :math:`x_j` and b of :math:`x_k` (Greenwell, Boehmke and McCarthy
        2018, section 3.2), the standard deviation of categories too, as R's ``vip::vint`` of
        version 0.3 has it, to 12 digits on the same grid. It can't see effects of two categories
        that cross; `h_statistic` can.

        Parameters
        ----------
        pairs : sequence of str or of pairs of str, optional
            Variables, of which all pairs are taken, or pairs; by default all pairs.
        grid, points, kind, scale, which_class, average
            Of the surfaces, as for `firm`.
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In units of the prediction; one term per pair (and class). There is no test of 0.

        Raises
        ------
        OptionError
            If a variable, level or class is unknown, a pair is not one, or the grid can't be used.

        Examples
        --------
        >>> product = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
        >>> product.fit(pi.Holdout(0.7), seed=1).vint().params.round(2).to_dict()
        {'bmi:bp': 4.91}
        """
        return self._estimate(vint, pairs, kind=kind, average=average, **options)

    @takes()
    def h_statistic(
        self,
        features: str | Sets | None = None,
        *,
        order: Order = "overall",
        normalize: bool = True,
        squared: bool = True,
        most_rows: int = 500,
        eps: float = 0.0,
        **options: Unpack[PredictionOptions],
    ) -> EstimandResults:
        r"""Friedman and Popescu's H: the share of the prediction's variance due to interactions.

        With F partial dependences at the evaluation rows and f the prediction, all centered
        (Friedman and Popescu 2008, section 8.1):

        .. math::
            \text{overall} &= \overline{(f - F_j - F_{-j})^2} / \overline{f^2} \\
            \text{pairwise} &= \overline{(F_{jk} - F_j - F_k)^2} / \overline{F_{jk}^2} \\
            \text{three-way} &=
                \overline{(F_{jkl} - F_{jk} - F_{jl} - F_{kl} + F_j + F_k + F_l)^2}
                / \overline{F_{jkl}^2} \\
            \text{total} &= \overline{(f - \textstyle\sum_j F_j)^2} / \overline{f^2} \\
            \text{importance} &= \overline{(f - F_{-j})^2} / \overline{f^2}

        They are ``h2_overall``, ``h2_pairwise``, ``h2_threeway``, ``h2`` and ``pd_importance`` of
        R's hstats, to 12 digits on the same rows. A row is a point at which effects are evaluated
        and a background over which they average; standard errors count both.

        Parameters
        ----------
        features : str or sequence, optional
            Features (variables, or groups of variables). Of pairs and triples: features of which
            all are taken, or a list of tuples. By default all, which of pairs and triples can be
            many. For "total", those whose main effects are
            subtracted.
        order : {"overall", "pairwise", "three-way", "total", "importance"}
            Interactions of a feature with any others, of two, of three, all interactions together;
            or the importance of a feature, interactions included.
        normalize : bool
            Divide by the variance in the denominator. A share of next to nothing can be large:
            without it values are in units of the prediction and can be compared between pairs.
        squared : bool
            If not, take the root.
        most_rows : int
            Evaluation rows of a refit that are used at most, drawn at random. The work grows with
            their square.
        eps : float
            Mean squares of at most this count as 0, in squared units of the prediction (1e-10 in
            hstats). Those of at most 1e-12 of the variance of the prediction always do, and 0/0
            is 0.
        {scale}
        {which_class}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            One term per feature, pair or triple (and class). There is no test of 0.

        Raises
        ------
        OptionError
            If a feature or class is unknown, or a pair is not one.

        Examples
        --------
        >>> product = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
        >>> product.fit(pi.Holdout(0.7), seed=1).h_statistic().params.round(3).to_dict()
        {'bmi': 0.002, 'bp': 0.002}
        """
        return self._estimate(
            h_statistic,
            features,
            order=order,
            normalize=normalize,
            squared=squared,
            most_rows=most_rows,
            eps=eps,
            **options,
        )

    @takes()
    def ale(
        self, features: str | Sequence[str], **options: Unpack[CurveOptions]
    ) -> EstimandResults:
        r"""Accumulated local effect (ALE) of one variable, or of two beyond each.

        .. math:: ALE_j(x) = \sum_{b \le b(x)} \frac1{n_b} \sum_{i: x_i \in (q_{b-1}, q_b]}
            [f(q_b, x_{-j,i}) - f(q_{b-1}, x_{-j,i})] - const

        (Apley and Zhu 2020, eqs 15 and 16). Every row is moved within its interval only, so
        nothing is extrapolated. The mean over rows is 0. R's ``ALEPlot`` and iml give the same
        numbers on the same edges where no cell is empty. Of a number and a category it is the
        effect of ``ALEPlot``: second differences over levels in their order.

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

        Examples
        --------
        >>> res.ale("bmi", points=4).summary_frame().iloc[:, :3].round(1)
                   value  estimate  std_error
        term
        bmi[18]     18.0     -78.2        8.1
        bmi[24.1]   24.1     -26.4        3.7
        bmi[27.8]   27.8       5.0        2.6
        bmi[42.2]   42.2     127.2       12.7
        """
        return self._estimate(accumulated_local_effects, features, **options)

    @takes()
    def m_plot(
        self, features: str | Sequence[str], *, span: float = 0.2, **options: Unpack[CurveOptions]
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

        Examples
        --------
        >>> res.m_plot("bmi", grid=[20, 25, 30]).summary_frame().iloc[:, :3].round(1)
                 value  estimate  std_error
        term
        bmi[20]   20.0      80.3        5.9
        bmi[25]   25.0     138.2        4.8
        bmi[30]   30.0     190.1        6.5
        """
        return self._estimate(m_plot, features, span=span, **options)

    @takes()
    def slopes(
        self, features: str | Sequence[str], *, step: Step = None, **options: Unpack[CurveOptions]
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

        Examples
        --------
        >>> res.slopes("bmi", grid=[20, 30]).summary_frame().iloc[:, :3].round(2)
                 value  estimate  std_error
        term
        bmi[20]   20.0      8.49       0.83
        bmi[30]   30.0      8.49       0.83
        """
        return self._estimate(slopes, features, step=step, **options)

    @overload
    def ame(
        self, features: Any = None, *, step: Step = None, **options: Unpack[PredictionOptions]
    ) -> EstimandResults: ...

    @overload
    def ame(
        self, features: str, *, relation: Ratio, **options: Unpack[PredictionOptions]
    ) -> Contrasts: ...

    @takes()
    def ame(
        self,
        features: str | Sequence[str] | None = None,
        *,
        step: Step = None,
        relation: MeanRelation = "difference",
        **options: Unpack[PredictionOptions],
    ) -> EstimandResults | Contrasts:
        r"""Average marginal effects: mean slopes at the rows' values.

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
        relation : {"difference", "ratio", "odds ratio"}
            Of one category, how its levels are compared with the first: ratios of mean predictions
            and marginal odds ratios of mean probabilities are those of ``pd(...).differences``,
            with their tests on the scale of the logarithm.
        {scale}
        {which_class}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults, or Contrasts for ratios
            In units of the prediction per unit of the variable; one term per number, and per level
            but the first of a category or a number of two values (and class).

        Raises
        ------
        OptionError
            If a variable is unknown or constant, or the model predicts steps.

        Examples
        --------
        >>> res.ame(["bmi", "bp"]).conf_int().round(2)
                 0      1
        term
        bmi   6.36  10.62
        bp    1.09   1.88
        """
        if str(relation) == "difference":
            return self._estimate(average_marginal_effects, features, step=step, **options)
        means = self._estimate(means_by_level, features, **options)
        first = means and means.estimand.terms.layout["value"][0]  # nothing, if one only asks
        return means and means.differences(first, relation=relation)
