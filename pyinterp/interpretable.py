"""What can be asked of a fitted learner or model: one method per estimand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy.typing as npt
import pandas as pd
from statsmodels.iolib.summary import Summary

from pyinterp.analysis import Analysis
from pyinterp.causal import CausalResults
from pyinterp.errors import OptionError, check_choice
from pyinterp.estimands.averages import Average
from pyinterp.estimands.base import Estimand, names_of
from pyinterp.estimands.causal import causal_effects, causal_importance, causal_share
from pyinterp.estimands.effects import PDKind, partial_dependence
from pyinterp.estimands.flatness import Spread, flatness
from pyinterp.estimands.grids import Grid
from pyinterp.estimands.h_statistic import Order, h_statistic
from pyinterp.estimands.interaction import Sets, vint
from pyinterp.estimands.loco import leave_one_covariate_out
from pyinterp.estimands.native import Native, native_importance
from pyinterp.estimands.permutation import Permutations, Replacement, permutation_importance
from pyinterp.estimands.positivity import positivity, samplers_of
from pyinterp.estimands.relation import Relation
from pyinterp.estimands.risk import RiskRelation, risk
from pyinterp.estimands.scales import Scale
from pyinterp.estimands.scored import metric_importance
from pyinterp.estimands.variable_importance import Adjustment, amvim, cvim, mvim
from pyinterp.importance import ImportanceResults
from pyinterp.inference import CovType, variance
from pyinterp.losses import LossLike
from pyinterp.metrics import MetricLike
from pyinterp.options import Reading, options_of, reading_of
from pyinterp.results import EstimandResults
from pyinterp.samplers import SamplerLike

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["Interpretable"]


class Interpretable:
    """Methods common to a fitted learner and a single fitted model: one per estimand."""

    _analysis: Analysis

    def pfi(
        self,
        features: str | Sequence[str] | None = None,
        *,
        loss: LossLike | None = None,
        metric: MetricLike | None = None,
        permutations: Permutations | Mapping[str, npt.ArrayLike] = "auto",
        relation: Relation = "difference",
        sampler: Replacement = "marginal",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        r"""Permutation feature importance (PFI), marginal or conditional.

        .. math:: PFI_S = E[L(Y, f(\tilde X_S, X_C))] - E[L(Y, f(X))]

        where :math:`\tilde X_S` is drawn from the marginal law of the feature, independently of all
        else (Molnar et al. 2021, eqs 3, 4 and 8), or from its law given all other variables. For a
        learner it is the mean over refits of the PFI on each refit's evaluation rows.

        Parameters
        ----------
        features : str or sequence of str, optional
            Features (variables, or groups of variables, which move jointly); by default all.
        loss : str, Loss or callable, optional
            "squared", "absolute", "huber", "poisson", "gamma" for regression; "log", "brier",
            "zero_one" for classification; or a function ``loss(y, prediction)``, elementwise. The
            default is "squared", or "log" for classifiers with probabilities.
        metric : str or Metric, optional
            Instead of a loss, a metric of all rows together: "rmse", "mae", "mape", "mse", "rsq"
            (squared correlation), "rsq_trad", "accuracy", "bal_accuracy", "youden", "logloss",
            "brier" or "roc_auc", named as in R's yardstick. The importance is the mean over
            permutations of how much worse it gets.
        permutations : "auto", "all", int or mapping
            "all" takes the mean over all ordered pairs of different rows, the U-statistic
            :math:`e_{switch}` of Fisher, Rudin and Dominici (2019), without Monte Carlo error. A
            number K takes K balanced permutations: no row is its own donor and each meets K
            different donors. "auto" is "all" as long as rows times distinct values of the feature
            stay at most 250,000 per refit, else as many permutations as that allows, at least
            10. For tree ensembles and linear models, which have exact engines, the bound is
            1e8, and there is none with squared error. With a metric "auto" is 10; there is no
            mean over all pairs. A mapping gives, per feature, the permutations of the rows of one
            fitted model, shape (n, K).
        relation : {"difference", "ratio"}
            How the two expected losses are compared, per refit.
        sampler : str, Sampler or mapping
            How values that replace a feature are drawn: "marginal", or given the other variables by
            "residual", "categorical", "subgroup" or "knockoff"; "conditional" takes the one that
            suits the feature. A mapping gives samplers by feature. See `pyinterp.samplers`.
        **reading
            ``cov_type``, ``alternative``, ``p_adjust``: see `Reading`.

        Returns
        -------
        EstimandResults
            In units of the loss; one term per feature.

        Raises
        ------
        LossError
            If the learner's predictions can't serve the loss.
        """
        subject = self._analysis.subject
        if metric is not None:
            if loss is not None or sampler != "marginal":
                other = "loss" if loss is not None else "sampler"
                raise OptionError(f"Give `metric` or `{other}`, not both.")
            number = None if isinstance(permutations, str) else permutations
            if permutations == "all":
                raise OptionError(
                    'A metric is not a mean over rows, so `permutations="all"` is not defined for '
                    "it; give their number, or a loss."
                )
            by_metric = metric_importance(
                subject, features, metric=metric, permutations=number, relation=relation
            )
            return self._results(by_metric, reading, None)
        if isinstance(permutations, Mapping):
            raise OptionError(
                'Given permutations are for a `metric`, for example the metric "mse" instead of '
                "the squared loss."
            )
        estimand = permutation_importance(
            subject,
            features,
            loss=loss,
            permutations=permutations,
            relation=relation,
            sampler=sampler,
        )
        return self._results(estimand, reading, loss)

    def mvim(
        self,
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        r"""Marginal variable importance metric (MVIM): marginal PFI under squared loss.

        .. math:: MVIM = E[(Y - f(\tilde X_j, X_{-j}))^2] - E[(Y - f(X))^2]

        (Khan, Saarela and Kustra 2025, eq. 3). Under positivity and conditional ignorability, and
        as far as the learner is right, the mean squared effect of exchanging the feature between
        rows (their Theorems 1 and 2).

        Parameters
        ----------
        features, permutations, **reading
            As for `pfi`.

        Returns
        -------
        EstimandResults
            In squared units of the response; for two classes, of the indicator of the second.
        """
        estimand = mvim(self._analysis.subject, features, permutations=permutations)
        return self._results(estimand, reading, self._squared)

    def cvim(
        self,
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        r"""Conditional variable importance metric (CVIM): conditional PFI under squared loss.

        .. math:: CVIM = E[(Y - f(\tilde X_j, X_{-j}))^2] - E[(Y - f(X))^2],
            \quad \tilde X_j \sim X_j \mid X_{-j}

        (Khan, Saarela and Kustra 2025, eqs 19 and 24-26, Algorithm 2). It does not extrapolate, and
        it is twice what LOCO estimates.

        Parameters
        ----------
        features, permutations, sampler, **reading
            As for `pfi`.

        Returns
        -------
        EstimandResults
            In squared units of the response; for two classes, of the indicator of the second.
            Tables show R²_j of `positivity` beside it.
        """
        estimand = cvim(
            self._analysis.subject, features, permutations=permutations, sampler=sampler
        )
        return self._results(estimand, reading, self._squared)

    def amvim(
        self,
        features: str | Sequence[str] | None = None,
        *,
        method: Adjustment = "linear",
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        r"""Adjusted MVIM: marginal importance without extrapolation, under an assumption.

        .. math:: AMVIM = CVIM / (1 - R^2_j) \quad \text{or} \quad 2 V(f_j(X_j))

        Parameters
        ----------
        features : str or sequence of str, optional
            As for `pfi`.
        method : {"linear", "additive"}
            "linear" (Khan, Saarela and Kustra 2025, eq. 33) holds if the feature enters linearly,
            without interactions, and its variance given the others is constant. "additive" (eq. 6,
            with the accumulated local effect as :math:`f_j`) holds if the feature enters
            additively, in whatever form, and whatever its variance.
        permutations, sampler
            As for `pfi`, with "linear".
        **reading
            See `Reading`.

        Returns
        -------
        EstimandResults
            In squared units of the response. Missing where R²_j is 0.999 or more; computed at
            R²_j = 0 in refits where it is negative.
        """
        estimand = amvim(
            self._analysis.subject,
            features,
            method=method,
            permutations=permutations,
            sampler=sampler,
        )
        return self._results(estimand, reading, self._squared)

    def importance(
        self,
        measures: str | Sequence[str] = ("mvim", "cvim", "amvim"),
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **reading: Unpack[Reading],
    ) -> ImportanceResults:
        """Return several importances of the same features in one table.

        Parameters
        ----------
        measures : str or sequence of str
            Names of methods: "pfi", "mvim", "cvim", "amvim", "loco".
        features : str or sequence of str, optional
            As for `pfi`.
        permutations, sampler
            As for `pfi`; the sampler of those that are conditional.
        **reading
            See `Reading`.

        Returns
        -------
        ImportanceResults
        """
        names = names_of(measures, "measures")
        drawn: dict[str, Any] = {"permutations": permutations, **reading}
        given: dict[str, Any] = {"sampler": sampler, **drawn}
        known: dict[str, Callable[[], EstimandResults]] = {
            "pfi": lambda: self.pfi(features, **drawn),
            "mvim": lambda: self.mvim(features, **drawn),
            "cvim": lambda: self.cvim(features, **given),
            "amvim": lambda: self.amvim(features, **given),
            "loco": lambda: self.loco(features, **reading),
        }
        for name in names:
            check_choice("measures", name, known)
        return ImportanceResults({name: known[name]() for name in names})

    def positivity(
        self,
        features: str | Sequence[str] | None = None,
        *,
        sampler: SamplerLike = "conditional",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        r"""Positivity diagnostic: how much of a feature the other variables determine.

        .. math:: R^2_j = 1 - V(X_j \mid X_{-j}) / V(X_j)

        (Khan, Saarela and Kustra 2025, eq. 17), out of sample. Above 0.9 tables warn: the feature
        hardly varies given the others.

        Parameters
        ----------
        features, sampler, **reading
            As for `pfi`.

        Returns
        -------
        EstimandResults
            Between 0 and 1, or negative where the features are predicted worse than by their mean.
        """
        estimand = positivity(self._analysis.subject, features, sampler=sampler)
        return self._results(estimand, reading, None)

    def plot_positivity(self, feature: str, *, sampler: SamplerLike = "conditional") -> ggplot:
        """Plot a feature against its prediction from all other variables, out of sample.

        Rows near the line leave a conditional importance little to work with; a number that is
        fixed by the others lies on it. For a category, the probabilities of its levels by the
        observed level.

        Parameters
        ----------
        feature : str
            One variable.
        sampler
            As for `pfi`.
        """
        from pyinterp import plots  # noqa: PLC0415 - plotnine takes a second to import

        analysis = self._analysis
        chosen = analysis.subject.choose(feature)
        (own,) = samplers_of(analysis.subject, chosen, sampler).values()
        estimating = {refit.number for refit in analysis.estimating}
        observed, predicted = [], []
        for case, refit in zip(analysis.cases, analysis.refits, strict=True):
            if refit.number not in estimating:
                continue
            law = case.law(own, chosen[feature])
            if law.predicted is None:
                raise OptionError(
                    f"The sampler of {feature!r} makes no prediction that can be plotted "
                    f"({own.label}); use another, or plot one variable of a group."
                )
            rows = pd.Index(case.sample.rows)
            observed.append(case.sample.variables[feature].set_axis(rows))
            predicted.append(pd.DataFrame(law.predicted, columns=law.levels or None, index=rows))
        seen, found = pd.concat(observed), pd.concat(predicted)
        context = analysis.context
        caption = f"Out of sample; {context.refits} refits ({context.plan})"
        # A row that several refits evaluate is shown once.
        once = seen[~seen.index.duplicated()].sort_index()
        return plots.agreement(once, found.groupby(found.index).mean(), caption)

    def causal(
        self,
        feature: str,
        *,
        grid: Grid = "quantile",
        points: int | None = None,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        **reading: Unpack[Reading],
    ) -> CausalResults:
        r"""Causal reading of one feature: effects, importance and share of variance by plug-in.

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
        permutations, sampler
            As for `pfi`.
        **reading
            See `Reading`.

        Returns
        -------
        CausalResults
        """
        subject = self._analysis.subject
        options: dict[str, Any] = {"permutations": permutations, "sampler": sampler}
        importance = causal_importance(subject, feature, **options)
        share = causal_share(subject, feature, **options)
        effects = causal_effects(subject, feature, grid=grid, points=points)
        return CausalResults(
            effects=self._results(effects, reading, self._squared),
            importance=self._results(importance, reading, self._squared),
            share=self._results(share, reading, self._squared),
        )

    def loco(
        self,
        features: str | Sequence[str] | None = None,
        *,
        loss: LossLike | None = None,
        relation: Relation = "difference",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        r"""Leave-one-covariate-out importance (LOCO): the loss without a feature, minus with it.

        .. math:: LOCO_S = E[L(Y, f_{-S}(X_C))] - E[L(Y, f(X))]

        where :math:`f_{-S}` is the learner trained on the same rows without the feature (Lei et
        al. 2018, section 6; Khan, Saarela and Kustra 2025, section 2.2). For a learner it is the
        mean over refits. Unlike `pfi` it asks no model about rows that do not occur, and where
        another feature can stand in for this one it is small. The truth may be negative: a learner
        may predict better without a feature.

        Every refit is trained again without each feature, under the joblib backend and `n_jobs` of
        the fit, on the same rows and with the same seeds, so that the two differ by the feature
        and not by chance. Without a variable of a formula all terms that use it go; if no column
        is left, the prediction is the loss's best constant for the training rows. The models are
        not kept, but their predictions are: other losses and relations, and features that have
        been asked for, need no training.

        Parameters
        ----------
        features : str or sequence of str, optional
            Features (variables, or groups of variables, left out jointly); by default all.
        loss : str, Loss or callable, optional
            As for `pfi`.
        relation : {"difference", "ratio"}
            How the two expected losses are compared, per refit.
        **reading
            ``cov_type``, ``alternative``, ``p_adjust``: see `Reading`.

        Returns
        -------
        EstimandResults
            In units of the loss; one term per feature.

        Raises
        ------
        OptionError
            For a `FittedModel`, which has no learner to train, and for a learner that refers to
            columns by position.
        LossError
            If the learner's predictions can't serve the loss, or no column is left and the loss
            states no best constant.
        RefitError
            If the learner can't be trained without a feature, for example because it names it.

        Notes
        -----
        Under squared loss and the true regression function f, LOCO is
        :math:`E\,V(f(X) \mid X_C)` (Verdinelli and Wasserman 2024; Williamson et al. 2021): for a
        linear function :math:`\beta^2 V(X_S \mid X_C)`. For an additive one of independent
        features `pfi` is twice as large.
        """
        self._analysis.need_trainer()
        estimand = leave_one_covariate_out(
            self._analysis.subject, features, loss=loss, relation=relation
        )
        return self._results(estimand, reading, loss)

    def pd(
        self,
        features: str | Sequence[str],
        *,
        grid: Grid = "quantile",
        points: int | None = None,
        kind: PDKind = "pd",
        scale: Scale | None = None,
        which_class: Any = None,
        average: Average = "mean",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        """Partial dependence (PD) on one or two variables, with its ICE curves.

        .. math:: PD_S(x) = E[f(x, X_C)]

        estimated by the mean over evaluation rows and, for a learner, over refits (Molnar et al.
        2021, eqs 2 and 7). The grid is fixed from all rows.

        Parameters
        ----------
        features : str or sequence of two str
            The variables.
        grid : {"quantile", "equidistant", "unique", "r"}, RGrid, array, mapping or DataFrame
            See `pyinterp.estimands.grids.grid_values`; "r" and `pi.RGrid` are the grids of R's
            pdp. An array, a mapping from variables to arrays, or a frame with one row per
            point, is used as it is. Categories give their levels unless they are in it.
        points : int, optional
            Grid points per variable; 20 for one variable, 10 each for two.
        kind : {"pd", "ice", "c-ice", "d-ice"}
            "ice" adds every row's curve to the plot. "c-ice" subtracts each curve's value at the
            first grid point, "d-ice" takes its slope; estimates and intervals are then of the
            centered curve or of the slope.
        scale : {"probability", "logit", "centered-logit"} or callable, optional
            For classifiers. The centered logit of a class is log p minus its mean over the classes,
            per row, as in R's pdp; the logit is the same for more than two classes, and for
            two, log p - log(1 - p), is twice as large. A function is applied to each prediction
            before the average, such as ``np.exp`` for a model of a logarithm.
        which_class : label or list of labels, optional
            For classifiers; by default the second of two classes, or all of more.
        average : {"mean", "median", "trimmed", "exemplar"}
            How the rows' curves are averaged. "trimmed" leaves out 10 % at either end.
            "exemplar" is no average, but the one curve of a made-up row of medians and most
            frequent levels.
        **reading
            ``cov_type``, ``alternative``, ``p_adjust``: see `Reading`.

        Returns
        -------
        EstimandResults
            In units of the prediction; one term per grid point (and class). ``row_frame()`` has
            the ICE curves.

        Raises
        ------
        OptionError
            If a variable, level or class is unknown, or the grid can't be used.
        """
        estimand = partial_dependence(
            self._analysis.subject,
            features,
            grid=grid,
            points=points,
            kind=kind,
            scale=scale,
            which_class=which_class,
            average=average,
        )
        return self._results(estimand, reading, None)

    def firm(
        self,
        features: str | Sequence[str] | None = None,
        *,
        spread: Spread = "sd",
        ice: bool = False,
        **options: Any,
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
            Variables; by default all, those of groups one by one.
        spread : {"sd", "mad", "iqr"}
            Spread of the curve of a number: standard deviation, median absolute deviation (times
            1.4826) or interquartile range (type 7). Whole numbers and booleans are numbers, as in
            vip, unless the formula makes categories of numbers, as ``C(year)`` does.
        ice : bool
            Take the spread of every row's own curve, and their mean: what the feature does where
            interactions cancel in the mean curve.
        **options
            Options of `pd` (``grid``, ``points``, ``scale``, ``which_class``; a mapping of grids
            may have several variables) and of inference (``cov_type``, ``alternative``,
            ``p_adjust``, ``simultaneous``; see `Reading`).

        Returns
        -------
        EstimandResults
            In units of the prediction; one term per feature (and class). `corrected` has the
            corrected values: of standard deviations only, not of categories, "mad", "iqr" or
            ``ice=True``. There is no test of 0.

        Raises
        ------
        OptionError
            If a variable, level or class is unknown, or the grid can't be used.
        """
        reading, curve = reading_of(options)
        estimand = flatness(self._analysis.subject, features, spread=spread, ice=ice, **curve)
        return self._results(estimand, reading, None)

    def vint(self, pairs: Sets | None = None, **options: Any) -> EstimandResults:
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
        **options
            Options of `pd` and of inference, as for `firm`.

        Returns
        -------
        EstimandResults
            In units of the prediction; one term per pair (and class). There is no test of 0.

        Raises
        ------
        OptionError
            If a variable, level or class is unknown, a pair is not one, or the grid can't be used.
        """
        reading, curve = reading_of(options)
        return self._results(vint(self._analysis.subject, pairs, **curve), reading, None)

    def h_statistic(
        self,
        features: str | Sets | None = None,
        *,
        order: Order = "overall",
        normalize: bool = True,
        squared: bool = True,
        rows: int = 500,
        eps: float = 0.0,
        scale: Scale | None = None,
        which_class: Any = None,
        **reading: Unpack[Reading],
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
            many. Of "total" those whose effects are taken away.
        order : {"overall", "pairwise", "three-way", "total", "importance"}
            Interactions of a feature with any others, of two, of three, all interactions together;
            or the importance of a feature, interactions included.
        normalize : bool
            Divide by the variance in the denominator. A share of next to nothing can be large:
            without it values are in units of the prediction and can be compared between pairs.
        squared : bool
            If not, take the root.
        rows : int
            Evaluation rows of a refit that are used at most, drawn at random. The work grows with
            their square.
        eps : float
            Mean squares of at most this count as 0, in squared units of the prediction (1e-10 in
            hstats). Rounding errors always do, and 0/0 is 0.
        scale, which_class
            As for `pd`.
        **reading
            ``cov_type``, ``alternative``, ``p_adjust``, ``simultaneous``: see `Reading`.

        Returns
        -------
        EstimandResults
            One term per feature, pair or triple (and class). There is no test of 0.

        Raises
        ------
        OptionError
            If a feature or class is unknown, or a pair is not one.
        """
        estimand = h_statistic(
            self._analysis.subject,
            features,
            order=order,
            normalize=normalize,
            squared=squared,
            rows=rows,
            eps=eps,
            scale=scale,
            which_class=which_class,
        )
        return self._results(estimand, reading, None)

    def native_importance(
        self,
        type: Native | None = None,  # noqa: A002 - vip's name
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        r"""Native importance: what the fitted model itself reports.

        For columns beside those of other importances. It asks for no predictions and is no mean
        over rows: for one fitted model there is no interval, for a learner that over refits.

        Parameters
        ----------
        type : {"stat", "raw", "impurity", "olden", "garson"}, optional
            By default the first of "stat", "impurity", "olden" and "raw" that the model has.

            "stat": t or z statistic of each column of the design but the intercept, with its sign,
            of statsmodels results and `statsmodels_learner`. "raw": coefficient of each column.
            "impurity": ``feature_importances_`` of trees and ensembles, summed over the columns
            of each feature. "olden", "garson": weights of networks of one hidden layer
            (scikit-learn's MLPRegressor and MLPClassifier), per input; see
            `pyinterp.estimands.native.olden` and `garson`.
        **reading
            ``cov_type``, ``alternative``, ``p_adjust``, ``simultaneous``: see `Reading`.

        Returns
        -------
        EstimandResults
            One term per column or feature (and class). R's ``vip::vi_model`` gives the absolute
            value of t, z and coefficients, and their sign in a column of its own.

        Raises
        ------
        OptionError
            If the model has no importance, or not this one.
        """
        analysis = self._analysis
        estimand = native_importance(analysis.subject, analysis.cases[0].whatif, type)
        return self._results(estimand, reading, None)

    def loss(
        self,
        loss: LossLike | None = None,
        *,
        relation: RiskRelation = "loss",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        """Expected loss on evaluation rows, or the share of it that the features explain.

        Parameters
        ----------
        loss : str, Loss or callable, optional
            As for `pfi`.
        relation : {"loss", "explained"}
            "explained" gives R² for squared loss and D² for others: one minus the ratio to the
            loss of the best constant prediction of the training rows (of the evaluation rows for a
            `FittedModel`, whose training rows are not known).
        **reading
            ``cov_type``, ``alternative``, ``p_adjust``: see `Reading`.

        Returns
        -------
        EstimandResults
            With one term.
        """
        estimand = risk(self._analysis.subject, loss=loss, relation=relation)
        return self._results(estimand, reading, loss)

    def summary(self, alpha: float = 0.05, *, sort: bool = True) -> Summary:
        """Return the summary of `pfi` with default options."""
        return self.pfi().summary(alpha, sort=sort)

    def __repr__(self) -> str:
        context = self._analysis.context
        made = f", {context.refits} refits ({context.plan})" if context.level == "learner" else ""
        return f"<{type(self).__name__}: {context.learner}{made}, {context.nobs} rows>"

    @property
    def _squared(self) -> LossLike:
        """The squared error; of classes, that of their indicators."""
        return "squared" if self._analysis.subject.predictor.classes is None else "brier"

    def _results(
        self, estimand: Estimand, reading: Reading, loss: LossLike | None
    ) -> EstimandResults:
        options = options_of(reading)
        analysis = self._analysis
        evidence = analysis.evidence(estimand)
        beside = estimand.diagnostic
        axis_names = estimand.terms.axis_names
        return EstimandResults(
            estimand=estimand,
            evidence=evidence,
            variance=variance(evidence, options.cov_type),
            context=replace(analysis.context, engine=analysis.engine_of(estimand)),
            fit=analysis.fit(loss),
            rows=tuple(r.evaluation.rows for r in analysis.estimating),
            alternative=options.alternative,
            p_adjust=options.p_adjust,
            simultaneous=options.simultaneous,
            support={n: analysis.subject.population.variables[n].to_numpy() for n in axis_names},
            diagnostic=None if beside is None else self._results(beside, {}, None),
            corrected=_corrected(analysis, estimand, options.cov_type),
        )


def _corrected(
    analysis: Analysis, estimand: Estimand, cov_type: CovType | None
) -> pd.Series[float] | None:
    """Return estimates without the bias that the sampling variance of the means makes."""
    correction = estimand.correction
    if correction is None:
        return None
    means = analysis.evidence(
        replace(estimand, read=correction.underlying, floor=None, correction=None)
    )
    values = correction.correct(means.per_refit.mean(axis=0), variance(means, cov_type).cov)
    index = pd.Index(estimand.terms.names, name="term")
    return pd.Series(values, index=index, name="corrected")
