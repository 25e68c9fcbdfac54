"""All methods of a fitted learner or model: one per estimand."""

from __future__ import annotations

from pyinterp.data.row_data import Rows
from pyinterp.estimands.metric import metric_of_rows
from pyinterp.estimands.risk import RiskRelation, risk
from pyinterp.inference import Alternative, CovType
from pyinterp.learner.conditions import Conditions
from pyinterp.learner.effects import Effects
from pyinterp.learner.importances import Importances
from pyinterp.learner.local_effects import LocalEffects
from pyinterp.learner.subgroups import By
from pyinterp.learner.uncertainties import Uncertainties
from pyinterp.losses.metric_functions import MetricLike
from pyinterp.losses.rowwise import LossLike
from pyinterp.parameters import takes
from pyinterp.results.footnotes import NotesOption
from pyinterp.results.results import EstimandResults
from pyinterp.results.table import Table

__all__ = ["Interpretable"]


class Interpretable(Effects, LocalEffects, Importances, Conditions, Uncertainties):
    """Methods common to a fitted learner and a single fitted model: one per estimand."""

    @takes()
    def loss(
        self,
        loss: LossLike | None = None,
        *,
        relation: RiskRelation = "loss",
        rows: Rows = None,
        by: By = None,
        cov_type: CovType | None = None,
        alternative: Alternative = "two-sided",
        p_adjust: str | None = None,
        simultaneous: bool = False,
    ) -> EstimandResults:
        """Expected loss on evaluation rows, or the share of it that the features explain.

        Parameters
        ----------
        {loss}
        relation : {"loss", "explained"}
            "explained" gives R² for squared loss and D² for others: one minus the ratio to the
            loss of the best constant prediction of the training rows (of the evaluation rows for a
            `FittedModel`, whose training rows are not known).
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            With one term.
        """
        estimand = risk(self.analysis.problem, loss=loss, relation=relation)
        return self.estimate(
            estimand,
            rows=rows,
            by=by,
            cov_type=cov_type,
            alternative=alternative,
            p_adjust=p_adjust,
            simultaneous=simultaneous,
        )

    @takes()
    def metric(
        self,
        metric: MetricLike,
        *,
        rows: Rows = None,
        by: By = None,
        cov_type: CovType | None = None,
        alternative: Alternative = "two-sided",
        p_adjust: str | None = None,
        simultaneous: bool = False,
    ) -> EstimandResults:
        """Metric of all evaluation rows together, such as an area under a curve.

        It has the sign that it is defined with: "neg_mean_absolute_error" is negative. For a
        learner it is the mean over refits of the metric on each refit's evaluation rows. The
        standard error of one model is that of the mean of the rows' influences, which are
        derivatives of the metric with respect to the rows' weights.

        Parameters
        ----------
        {metric}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            With one term.

        Raises
        ------
        LossError
            If the learner's predictions can't serve the metric.
        """
        return self.estimate(
            metric_of_rows(self.analysis.problem, metric),
            rows=rows,
            by=by,
            cov_type=cov_type,
            alternative=alternative,
            p_adjust=p_adjust,
            simultaneous=simultaneous,
        )

    @takes()
    def summary(
        self,
        alpha: float = 0.05,
        *,
        sort: bool = True,
        title: str | None = None,
        notes: NotesOption = "short",
        decimals: int | None = None,
    ) -> Table:
        """Return the summary of `pfi` with default options.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        sort : bool
            Print features in decreasing order of their estimates.
        {table}
        """
        return self.pfi().summary(alpha, sort=sort, title=title, notes=notes, decimals=decimals)
